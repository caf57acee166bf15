//! `doctor`: what it finds on this machine, and how it says so.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    catalog_server::CatalogServer,
    client::{Finished, Start},
    inapplicable::Inapplicable,
    texts::{filled, text},
};

fn findings(finished: &Finished) -> Value {
    assert_eq!(finished.stderr, "");
    assert_eq!(finished.stdout.lines().count(), 1, "one line for scripts");
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    let ok = report["ok"].as_bool().unwrap();
    assert_eq!(finished.code, Some(i32::from(!ok)), "{report}");
    report["findings"].clone()
}

#[track_caller]
fn find<'a>(findings: &'a Value, name: &str) -> &'a Value {
    let mut findings = findings.as_array().unwrap().iter();
    findings.find(|finding| finding["name"] == name).unwrap()
}

/// The program under test serves as a runner: it is there and can be started.
fn with_runner(start: Start) -> Start {
    let program = fs::canonicalize(crate::client::program()).unwrap();
    start.env("TABLECLOTH_WSB_RUNNER", program)
}

#[test]
fn a_machine_with_a_runner_is_in_order() {
    if Inapplicable::UnixFiles.here() {
        return;
    }
    let catalog = CatalogServer::start();
    let temp = TempDir::new().unwrap();
    let start = with_runner(Start::with(&catalog)).env("TMPDIR", temp.path());
    let shown = start.clone().args(["doctor"]).run();
    assert_eq!(shown.code, Some(0), "{}", shown.stdout);
    assert_eq!(shown.stderr, "");
    let sign = format!("[{}] ", text("doctor.signs.ok"));
    let (lines, verdict) = shown.stdout.split_once("\n\n").unwrap();
    assert!(lines.lines().all(|line| line.starts_with(&sign)), "{lines}");
    assert_eq!(verdict, format!("{}\n", text("doctor.verdict.ok")));

    let findings = findings(&start.args(["doctor", "--json"]).run());
    let names: Vec<_> = findings
        .as_array()
        .unwrap()
        .iter()
        .map(|f| &f["name"])
        .collect();
    let expected = [
        "version", "platform", "protocol", "catalog", "offline", "runner", "temp",
    ];
    assert_eq!(names, expected);
    let reached = find(&findings, "catalog")["text"].as_str().unwrap();
    assert!(
        reached.contains(&catalog.url()) && reached.contains("13"),
        "{reached}"
    );
    for finding in findings.as_array().unwrap() {
        assert_eq!(finding["status"], "ok", "{finding}");
        let text = finding["text"].as_str().unwrap();
        assert!(!text.contains('{'), "{text}");
    }
    assert_eq!(
        fs::read_dir(temp.path()).unwrap().count(),
        0,
        "nothing stays"
    );
}

#[test]
fn without_a_runner_it_says_what_to_do() {
    if Inapplicable::OtherSystem.here() {
        return;
    }
    let catalog = CatalogServer::start();
    let shown = Start::with(&catalog).args(["doctor"]).run();
    assert_eq!(shown.code, Some(1));
    let error = text("tools.launch_sandbox.runnerUnsupportedError");
    let expected = format!(
        "[{}] {}\n       {}\n",
        text("doctor.signs.bad"),
        filled("doctor.runner.missing", &[("error", error)]),
        text("tools.launch_sandbox.runnerUnsupportedHint"),
    );
    assert!(shown.stdout.contains(&expected), "{}", shown.stdout);
    assert!(
        shown
            .stdout
            .ends_with(&format!("\n\n{}\n", text("doctor.verdict.bad")))
    );

    let start = Start::with(&catalog).env("TABLECLOTH_WSB_RUNNER", "/no/such/runner");
    let findings = findings(&start.args(["doctor", "--json"]).run());
    let runner = find(&findings, "runner");
    assert_eq!(runner["status"], "bad");
    let missing = filled(
        "tools.launch_sandbox.messageNotFound",
        &[("program", "/no/such/runner")],
    );
    assert!(
        runner["text"].as_str().unwrap().contains(&missing),
        "{runner}"
    );
    assert_eq!(runner["hint"], text("doctor.runner.brokenCustomHint"));
}

#[test]
fn a_catalog_out_of_reach_is_named_and_no_obstacle() {
    if Inapplicable::UnixFiles.here() {
        return;
    }
    // A port that nobody listens on any more.
    let address = CatalogServer::start().url();
    let start = with_runner(Start::new()).args(["doctor", "--json"]);
    for (address, reason) in [
        (
            address.as_str(),
            filled("catalog.reason.connect", &[("host", "127.0.0.1")]),
        ),
        (
            "ftp://catalog.example/c.xml",
            filled(
                "catalog.reason.address",
                &[("value", "ftp://catalog.example/c.xml")],
            ),
        ),
    ] {
        let finished = start.clone().env("TABLECLOTH_CATALOG_URL", address).run();
        assert_eq!(finished.code, Some(0), "{}", finished.stdout);
        let findings = findings(&finished);
        let catalog = find(&findings, "catalog");
        assert_eq!(catalog["status"], "warning");
        assert!(
            catalog["text"].as_str().unwrap().contains(address),
            "{catalog}"
        );
        assert_eq!(catalog["hint"], reason);
        assert_eq!(find(&findings, "offline")["status"], "ok");
    }
}

#[test]
fn a_temporary_folder_that_cannot_be_written_is_named() {
    if Inapplicable::UnixFiles.here() {
        return;
    }
    let catalog = CatalogServer::start();
    let temp = TempDir::new().unwrap();
    let gone = temp.path().join("없는 폴더");
    let start = with_runner(Start::with(&catalog)).env("TMPDIR", &gone);
    let findings = findings(&start.args(["doctor", "--json"]).run());
    let found = find(&findings, "temp");
    assert_eq!(found["status"], "bad");
    let folder = gone.to_str().unwrap();
    assert!(found["text"].as_str().unwrap().contains(folder), "{found}");
    let hint = filled("tools.launch_sandbox.fileFailedHint", &[("folder", folder)]);
    assert_eq!(found["hint"], hint);
}
