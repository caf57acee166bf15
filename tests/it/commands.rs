//! The command line: the tools' functions for people and scripts.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    catalog_server::CatalogServer,
    client::{Finished, Start},
    inapplicable::Inapplicable,
    texts::{filled, text, wsb},
};

fn run(catalog: &CatalogServer, words: &[&str]) -> Finished {
    Start::with(catalog).args(words).run()
}

#[test]
fn json_is_the_answer_of_the_tool() {
    let catalog = CatalogServer::start();
    let mut client = Start::with(&catalog).session();
    for (words, tool, arguments, code) in [
        (
            &["search", "가나은행", "기업뱅킹"][..],
            "search_services",
            json!({"query": "가나은행 기업뱅킹"}),
            0,
        ),
        (
            &["search", "가나", "--category", "banking", "--limit", "1"],
            "search_services",
            json!({"query": "가나", "category": "banking", "limit": 1}),
            0,
        ),
        (&["search", ""], "search_services", json!({"query": ""}), 0),
        (
            &["search", "없는곳"],
            "search_services",
            json!({"query": "없는곳"}),
            1,
        ),
        (
            &["show", "GanaBank"],
            "get_service",
            json!({"id": "GanaBank"}),
            0,
        ),
        (
            &["show", "ganabank"],
            "get_service",
            json!({"id": "ganabank"}),
            1,
        ),
        (&["categories"], "list_categories", json!({}), 0),
        (&["companions"], "list_companions", json!({}), 0),
        (
            &["companions", "pdf"],
            "list_companions",
            json!({"query": "pdf"}),
            0,
        ),
        (
            &["companions", "x", "y"],
            "list_companions",
            json!({"query": "x y"}),
            1,
        ),
        (
            &["wsb", "Tax24", "x", "GanaBank"],
            "generate_wsb",
            json!({"serviceIds": ["Tax24", "x", "GanaBank"]}),
            0,
        ),
        (
            &["wsb", "x"],
            "generate_wsb",
            json!({"serviceIds": ["x"]}),
            1,
        ),
        (
            &["open", "x"],
            "launch_sandbox",
            json!({"serviceIds": ["x"]}),
            1,
        ),
    ] {
        let finished = run(&catalog, &[words, &["--json"]].concat());
        assert_eq!(finished.code, Some(code), "{words:?}");
        let answer: Value = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!(answer, client.call(tool, &arguments), "{words:?}");
        assert_eq!(finished.stdout.lines().count(), 1, "one line for scripts");
    }
}

/// A text in which a person reads of commands instead of tools.
fn for_people(key: &str) -> String {
    text(key)
        .replace("search_services", "'tablecloth-mcp search'")
        .replace("generate_wsb", "'tablecloth-mcp wsb'")
        .replace("(wsbPath)", "")
}

#[test]
fn search_for_people() {
    let catalog = CatalogServer::start();
    let found = run(&catalog, &["search", "가나은행"]);
    assert_eq!(found.code, Some(0));
    let counts = filled("cli.matched", &[("total", "13"), ("matched", "3")]);
    let next = filled("cli.openNext", &[("id", "<id>")]);
    let mark = text("cli.warningMark");
    // Columns line up where a Korean letter takes two.
    assert_eq!(
        found.stdout,
        format!(
            "\
GanaBank     가나은행 (중복)    Other    https://second.bank.example/
GanaBank     가나은행 개인뱅킹  Banking  https://bank.example/         [{mark}]
GanaBankBiz  가나은행 기업뱅킹  Banking  https://biz.bank.example/
{counts}
{next}
"
        )
    );
    assert_eq!(found.stderr, "");

    let nothing = run(&catalog, &["search", "없는곳"]);
    assert_eq!(nothing.code, Some(1));
    assert_eq!(nothing.stderr, format!("{}\n", text("cli.nothingFound")));

    // Only one to open, and then the one that is suggested first.
    let next = filled("cli.openNext", &[("id", "Tax24")]);
    for words in ["세금", "tax24"] {
        let one = run(&catalog, &["search", words]);
        assert!(
            one.stdout.ends_with(&format!("\n{next}\n")),
            "{}",
            one.stdout
        );
    }
}

#[test]
fn show_for_people() {
    let catalog = CatalogServer::start();
    let shown = run(&catalog, &["show", "GanaBank"]);
    assert_eq!(shown.code, Some(0));
    assert_eq!(shown.stderr, "");
    for part in [
        "가나은행 개인뱅킹\nGANA BANK\nBanking\nhttps://bank.example/\n",
        "  ShieldWall   https://shield.example/setup.exe?a=1&b=2\n",
        "  키보드 보안  https://key.example/kg.exe\n",
        "  서명 확장  abcdefghijklmnop\n",
        "  둘째 줄.\n",
        text("cli.headings.packages"),
        text("cli.headings.edgeExtensions"),
        text("cli.headings.searchKeywords"),
        text("cli.headings.compatNotes"),
        &filled("cli.openNext", &[("id", "GanaBank")]),
    ] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let bare = run(&catalog, &["show", "Bare"]);
    assert_eq!(
        bare.stdout,
        format!("Other\n\n{}\n", filled("cli.openNext", &[("id", "Bare")]))
    );

    let unknown = run(&catalog, &["show", "ganabank"]);
    assert_eq!(unknown.code, Some(1));
    assert_eq!(unknown.stdout, "");
    let error = filled("tools.get_service.errorNotFound", &[("id", "ganabank")]);
    let hint = for_people("tools.get_service.hintNotFound");
    let question = text("cli.didYouMean");
    let asked = format!("{error}\n{hint}\n{question}\nGanaBank  ");
    assert!(unknown.stderr.starts_with(&asked), "{}", unknown.stderr);
}

#[test]
fn lists_for_people() {
    let catalog = CatalogServer::start();
    let categories = run(&catalog, &["categories"]);
    assert_eq!(categories.code, Some(0));
    let total = filled("cli.categoriesTotal", &[("total", "13")]);
    assert_eq!(
        categories.stdout,
        format!(
            "\
Other       3
Government  3
Banking     2
Security    2
CreditCard  1
Insurance   1
Education   1
{total}
"
        )
    );

    let companions = run(&catalog, &["companions"]);
    assert_eq!(companions.code, Some(0));
    let total = filled("cli.companionsTotal", &[("matched", "3")]);
    assert_eq!(
        companions.stdout,
        format!(
            "\
ZipTool    압축 도구    https://zip.example/
PdfReader  PDF 뷰어     https://pdf.example/download?a=1&b=2
           가상 프린터
{total}
"
        )
    );
    assert_eq!(run(&catalog, &["companions", "없는것"]).code, Some(1));
}

#[test]
fn wsb_prints_the_file() {
    let catalog = CatalogServer::start();
    let made = run(&catalog, &["wsb", "Tax24", "Padded"]);
    assert_eq!(made.code, Some(0));
    assert_eq!(made.stdout, wsb("Tax24 Padded"));
    assert_eq!(made.stderr, "");

    let mixed = run(&catalog, &["wsb", "x", "Tax24"]);
    assert_eq!(mixed.code, Some(0));
    assert_eq!(mixed.stdout, wsb("Tax24"));
    let left_out = filled("cli.unknownIds", &[("ids", "x")]);
    assert_eq!(mixed.stderr, format!("{left_out}\n"));

    let none = run(&catalog, &["wsb", "x"]);
    assert_eq!(none.code, Some(1));
    assert_eq!(none.stdout, "");
    let error = text("tools.generate_wsb.errorNoValidIds");
    let hint = for_people("tools.generate_wsb.hintNoValidIds");
    assert_eq!(none.stderr, format!("{error}\n{hint}\n"));
}

#[test]
fn wsb_saves_the_file() {
    let catalog = CatalogServer::start();
    let folder = TempDir::new().unwrap();
    let start = Start::with(&catalog).folder(folder.path());
    let save = |ids: &[&str], path: &str| {
        let words = [&["wsb"], ids, &["-o", path]].concat();
        start.clone().args(words).run()
    };
    let saved = save(&["Tax24"], "식탁보 1.wsb");
    assert_eq!(saved.code, Some(0));
    assert_eq!(saved.stdout, "");
    let said = filled("cli.saved", &[("path", "식탁보 1.wsb")]);
    assert_eq!(saved.stderr, format!("{said}\n"));
    let path = folder.path().join("식탁보 1.wsb");
    assert_eq!(fs::read_to_string(&path).unwrap(), wsb("Tax24"));

    // A second time over the first.
    let again = save(&["x", "Bare"], "식탁보 1.wsb");
    assert_eq!(again.code, Some(0));
    let left_out = filled("cli.unknownIds", &[("ids", "x")]);
    assert_eq!(again.stderr, format!("{left_out}\n{said}\n"));
    assert_eq!(fs::read_to_string(&path).unwrap(), wsb("Bare"));

    // Beside the answer for a script, and with the file on stdout.
    let both = start
        .clone()
        .args(["wsb", "Tax24", "--json", "-o", "식탁보 1.wsb"])
        .run();
    let answer: Value = serde_json::from_str(&both.stdout).unwrap();
    assert_eq!(answer["wsb"], wsb("Tax24"));
    assert_eq!(fs::read_to_string(&path).unwrap(), wsb("Tax24"));
    assert_eq!(save(&["Bare"], "-").stdout, wsb("Bare"));

    for bad in ["", ".", "no/such/folder/x.wsb", "식탁보 1.wsb/x.wsb"] {
        let refused = save(&["Tax24"], bad);
        assert_ne!(refused.code, Some(0), "{bad:?}");
        assert_eq!(refused.stdout, "");
        assert!(!refused.stderr.is_empty(), "{bad:?}");
        assert!(!refused.stderr.contains("panicked"), "{}", refused.stderr);
    }
    // Without a valid id there is nothing to save.
    let none = save(&["x"], "none.wsb");
    assert_eq!(none.code, Some(1));
    assert!(!folder.path().join("none.wsb").exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn open_launches() {
    use std::os::unix::fs::PermissionsExt as _;

    if Inapplicable::Script.here() {
        return;
    }
    let catalog = CatalogServer::start();
    let folder = TempDir::new().unwrap();
    let runner = folder.path().join("runner");
    fs::write(&runner, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&runner, fs::Permissions::from_mode(0o755)).unwrap();
    let label = format!("custom ({})", runner.display());
    let start = Start::with(&catalog)
        .env("TABLECLOTH_WSB_RUNNER", &runner)
        .env("TMPDIR", folder.path());
    let opened = start.clone().args(["open", "Tax24", "x", "GanaBank"]).run();
    assert_eq!(opened.code, Some(0), "{}", opened.stderr);
    for part in [
        filled(
            "cli.launched",
            &[("ids", "Tax24, GanaBank"), ("runner", &label)],
        ),
        filled("cli.unknownIds", &[("ids", "x")]),
        filled("tools.launch_sandbox.noteTemplate", &[("runner", &label)]),
        format!(
            "[{}] 가나은행 개인뱅킹: 보안 프로그램",
            text("cli.warningMark")
        ),
    ] {
        assert!(opened.stdout.contains(&part), "{part}: {}", opened.stdout);
    }

    fs::write(&runner, "#!/bin/sh\nexit 9\n").unwrap();
    let failed = start.args(["open", "Tax24"]).run();
    assert_eq!(failed.code, Some(1));
    assert_eq!(failed.stdout, "");
    let message = filled("tools.launch_sandbox.messageExited", &[("code", "9")]);
    let error = filled(
        "tools.launch_sandbox.runnerLaunchFailedError",
        &[("runner", &label), ("message", &message)],
    );
    let hint = for_people("tools.launch_sandbox.runnerLaunchFailedHint");
    let kept = filled("cli.wsbPath", &[("path", "")]);
    let (advice, file) = failed.stderr.split_once(kept.trim_end()).unwrap();
    assert_eq!(advice, format!("{error}\n{hint}\n"));
    assert!(std::path::Path::new(file.trim()).is_file(), "{file}");
}

#[test]
fn open_says_where_it_would_work() {
    if Inapplicable::OtherSystem.here() {
        return;
    }
    let catalog = CatalogServer::start();
    let refused = run(&catalog, &["open", "Tax24"]);
    assert_eq!(refused.code, Some(1));
    assert_eq!(refused.stdout, "");
    let error = text("tools.launch_sandbox.runnerUnsupportedError");
    let hint = for_people("tools.launch_sandbox.runnerUnsupportedHint");
    assert_eq!(refused.stderr, format!("{error}\n{hint}\n"));
}

#[test]
fn wrong_usage() {
    for words in [
        &["search"][..],
        &["show"],
        &["show", "a", "b"],
        &["wsb"],
        &["wsb", "-o"],
        &["open"],
        &["categories", "x"],
        &["serve", "x"],
        &["doctor", "x"],
        &["no-such-command"],
        &["--no-such-option"],
        &["search", "x", "--limit"],
        &["search", "x", "--limit", "many"],
        &["search", "x", "--limit", "2.5"],
        &["search", "x", "--no-such-option"],
    ] {
        let refused = Start::new().args(words).run();
        assert_eq!(refused.code, Some(2), "{words:?}");
        assert_eq!(refused.stdout, "", "{words:?}");
        assert!(!refused.stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn help_and_version() {
    for words in [["--version"], ["-V"]] {
        let shown = Start::new().args(words).run();
        assert_eq!(shown.code, Some(0));
        let version = concat!("tablecloth-mcp ", env!("CARGO_PKG_VERSION"), "\n");
        assert_eq!(shown.stdout, version);
    }
    let help = Start::new().args(["help"]).run();
    assert_eq!(help.code, Some(0));
    assert_eq!(help.stdout, Start::new().args(["--help"]).run().stdout);
    let help = Start::new().args(["help", "wsb"]).run();
    assert_eq!(help.code, Some(0));
    assert!(
        help.stdout.contains(text("cli.args.output")),
        "{}",
        help.stdout
    );

    for words in [["--help"], ["-h"]] {
        let shown = Start::new().args(words).run();
        assert_eq!(shown.code, Some(0));
        assert_eq!(shown.stderr, "");
        assert!(shown.stdout.contains(text("cli.about")), "{}", shown.stdout);
        assert!(
            shown.stdout.contains(text("cli.afterHelp")),
            "{}",
            shown.stdout
        );
        for command in [
            "serve",
            "search",
            "show",
            "categories",
            "companions",
            "wsb",
            "open",
            "doctor",
        ] {
            let about = text(&format!("cli.commands.{command}"));
            assert!(shown.stdout.contains(about), "{command}");
            let own = Start::new().args([command, "--help"]).run();
            assert_eq!(own.code, Some(0));
            assert!(own.stdout.contains(about), "{command}");
        }
    }
}

#[test]
fn serve_is_the_default_and_silent() {
    let catalog = CatalogServer::start();
    for words in [&[][..], &["serve"]] {
        let mut client = Start::with(&catalog).args(words).session();
        client.request("tools/list", &json!({}));
        client.assert_alive();
        assert_eq!(client.finish(), "");
    }
}

#[test]
fn an_answer_from_another_catalog_says_so() {
    let start = Start::new().env("TABLECLOTH_CATALOG_URL", "/no/such/Catalog.xml");
    let shown = start.args(["show", "Hometax"]).run();
    assert_eq!(shown.code, Some(0));
    assert!(shown.stdout.contains("hometax.go.kr"), "{}", shown.stdout);
    let (notice, _) = text("catalog.noticeEmbedded").split_once('{').unwrap();
    assert!(shown.stderr.starts_with(notice), "{}", shown.stderr);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_fault() {
    use std::{io::Read as _, process::Stdio};

    let catalog = CatalogServer::start();
    for words in [
        &["search", ""][..],
        &["search", "", "--json"],
        &["show", "GanaBank"],
        &["categories"],
        &["wsb", "Tax24"],
        &["--help"],
        &["--version"],
    ] {
        let start = Start::with(&catalog).args(words);
        let mut child = start.command().stdin(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{words:?}: {said}");
        assert_eq!(said, "", "{words:?}");
    }
}
