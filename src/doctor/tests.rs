use std::path::Path;

use super::*;
use crate::sandbox::{Start, requirements::Hypervisor};

/// A machine on which everything is in order.
fn machine(system: System) -> Facts {
    let (label, program, start) = match system {
        System::Windows => (
            "Windows Sandbox",
            r"C:\Windows\System32\WindowsSandbox.exe",
            Start::ByShell,
        ),
        System::Mac => (
            "macSandbox",
            "/Applications/MacSandbox.app/Contents/MacOS/MacSandbox",
            Start::Directly,
        ),
        System::Other => ("custom (/opt/run)", "/opt/run", Start::Directly),
    };
    Facts {
        system,
        system_name: "Name 1".to_owned(),
        processor: "x86_64".to_owned(),
        revisions: vec!["2024-11-05".to_owned(), "2025-06-18".to_owned()],
        catalog: CatalogFact {
            address: "https://catalog.example/c.xml".to_owned(),
            proxy: None,
            took: Duration::from_millis(340),
            outcome: Ok(567),
        },
        embedded: 42,
        runner: Ok(Runner {
            label: label.to_owned(),
            program: program.into(),
            start,
        }),
        runner_fault: None,
        runner_is_custom: system == System::Other,
        windows: Windows {
            edition: Some("Professional".to_owned()),
            build: Some(22_631),
            processor: Some("AMD64".to_owned()),
            firmware: Some(true),
            slat: Some(true),
            nx: Some(true),
            hypervisor: Some(Hypervisor::None),
        },
        temp: "/tmp".into(),
        temp_written: Ok("/tmp".into()),
    }
}

/// A Windows machine without the sandbox.
fn windows_without(change: impl FnOnce(&mut Windows)) -> Facts {
    let mut facts = machine(System::Windows);
    change(&mut facts.windows);
    facts.runner = Err(NoRunner::WindowsSandboxMissing(
        facts.windows.reason_missing(),
    ));
    facts
}

#[track_caller]
fn find<'a>(report: &'a Report, name: &str) -> &'a Finding {
    let mut findings = report.findings.iter();
    findings.find(|finding| finding.name == name).unwrap()
}

/// The names of the findings that are not good.
fn not_good(report: &Report) -> Vec<(&str, Status)> {
    report
        .findings
        .iter()
        .filter(|finding| finding.status != Status::Ok)
        .map(|finding| (finding.name, finding.status))
        .collect()
}

#[track_caller]
fn hint<'a>(report: &'a Report, name: &str) -> &'a str {
    find(report, name).hint.as_deref().unwrap()
}

#[test]
fn a_machine_in_order_has_no_complaint() {
    for system in [System::Windows, System::Mac, System::Other] {
        let report = Report::new(&machine(system));
        assert!(report.ok);
        assert_eq!(not_good(&report), [], "{system:?}");
        let shown = report.to_string();
        // One line each, a blank one and the verdict.
        assert_eq!(shown.lines().count(), report.findings.len() + 2, "{shown}");
        for part in ["Name 1", "x86_64", "2024-11-05", "567", "0.3", "42"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains('{'), "{shown}");
        let names: Vec<_> = report.findings.iter().map(|finding| finding.name).collect();
        let of_windows = names.contains(&"edition") && names.contains(&"virtualization");
        assert_eq!(of_windows, system == System::Windows);
    }
}

#[test]
fn whatever_is_wrong_has_a_sign_and_advice() {
    let bad = machine(System::Windows);
    let bad = Facts {
        temp_written: Err("denied".to_owned()),
        ..bad
    };
    let report = Report::new(&bad);
    let shown = report.to_string();
    let sign = &TEXTS.doctor.signs.bad;
    assert!(shown.contains(&format!("\n[{sign}] ")), "{shown}");
    assert!(shown.ends_with(&format!("\n\n{}\n", TEXTS.doctor.verdict.bad)));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["ok"], false);
    let last = json["findings"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["name"], "temp");
    assert_eq!(last["status"], "bad");
    assert!(last["text"].as_str().unwrap().contains("denied"));
    assert!(last["hint"].as_str().unwrap().contains("/tmp"));
    assert_eq!(json["findings"][0].get("hint"), None);
}

#[test]
fn windows_home_has_no_sandbox_whatever_else_is_off() {
    let report = Report::new(&windows_without(|windows| {
        windows.edition = Some("CoreSingleLanguage".to_owned());
    }));
    assert!(!report.ok);
    assert_eq!(
        not_good(&report),
        [("runner", Status::Bad), ("edition", Status::Bad)]
    );
    let texts = &TEXTS.tools.launch_sandbox;
    assert_eq!(hint(&report, "runner"), texts.runner_windows_home_hint);
    // Nothing that turns the feature on where the edition has none.
    for word in ["dism", "powershell", "BIOS", "레지스트리"] {
        assert!(!report.to_string().contains(word), "{word}");
    }
}

#[test]
fn windows_pro_is_told_what_to_turn_on() {
    let texts = &TEXTS.tools.launch_sandbox;
    let report = Report::new(&windows_without(|_| ()));
    assert_eq!(not_good(&report), [("runner", Status::Bad)]);
    assert_eq!(hint(&report, "runner"), texts.runner_windows_feature_hint);

    let report = Report::new(&windows_without(|windows| windows.firmware = Some(false)));
    assert_eq!(
        not_good(&report),
        [("runner", Status::Bad), ("virtualization", Status::Bad)]
    );
    let expected = &texts.runner_windows_virtualization_hint;
    assert_eq!(hint(&report, "runner"), *expected);

    let report = Report::new(&windows_without(|windows| *windows = Windows::default()));
    assert_eq!(hint(&report, "runner"), texts.runner_windows_missing_hint);
    assert_eq!(find(&report, "edition").status, Status::Warning);
    assert_eq!(find(&report, "virtualization").status, Status::Warning);
}

#[test]
fn a_sandbox_that_is_there_needs_virtualization_too() {
    let mut facts = machine(System::Windows);
    facts.windows.firmware = Some(false);
    let report = Report::new(&facts);
    assert!(!report.ok);
    assert_eq!(not_good(&report), [("virtualization", Status::Bad)]);

    // While Hyper-V runs, the firmware's setting reads as off.
    facts.windows.hypervisor = Some(Hypervisor::Own);
    assert!(Report::new(&facts).ok);
    // The sandbox is there, so the edition has it, whatever its name.
    facts.windows.edition = Some("CloudEdition".to_owned());
    assert_eq!(not_good(&Report::new(&facts)), []);

    facts.windows.hypervisor = Some(Hypervisor::Outer);
    let report = Report::new(&facts);
    assert!(report.ok);
    assert_eq!(not_good(&report), [("virtualization", Status::Warning)]);
}

#[test]
fn a_program_of_the_users_own_needs_none_of_that() {
    let mut facts = windows_without(|windows| windows.edition = Some("Core".to_owned()));
    facts.runner_is_custom = true;
    facts.runner = machine(System::Other).runner;
    assert_eq!(not_good(&Report::new(&facts)), []);

    facts.runner_fault = Some(StartError::NotFound("/opt/run".into()));
    let report = Report::new(&facts);
    assert!(!report.ok);
    assert_eq!(not_good(&report), [("runner", Status::Bad)]);
    assert!(find(&report, "runner").text.contains("(/opt/run)"));
    let expected = &TEXTS.doctor.runner.broken_custom_hint;
    assert_eq!(hint(&report, "runner"), *expected);
}

#[test]
fn other_systems_are_told_what_opens_files_there() {
    let texts = &TEXTS.tools.launch_sandbox;
    for (system, reason, expected) in [
        (
            System::Mac,
            NoRunner::MacSandboxMissing,
            &texts.runner_mac_not_found_hint,
        ),
        (
            System::Other,
            NoRunner::Unsupported,
            &texts.runner_unsupported_hint,
        ),
    ] {
        let mut facts = machine(system);
        facts.runner_is_custom = false;
        facts.runner = Err(reason);
        let report = Report::new(&facts);
        assert!(!report.ok);
        assert_eq!(not_good(&report), [("runner", Status::Bad)]);
        assert_eq!(hint(&report, "runner"), *expected);
    }
}

#[test]
fn without_the_catalog_the_compiled_in_one_does() {
    let mut facts = machine(System::Mac);
    facts.catalog.outcome = Err(CatalogFault {
        cause: "invalid peer certificate: UnknownIssuer".to_owned(),
        reason: "Trust it.".to_owned(),
    });
    let report = Report::new(&facts);
    assert!(report.ok, "sites can still be found and opened");
    assert_eq!(not_good(&report), [("catalog", Status::Warning)]);
    let text = &find(&report, "catalog").text;
    assert!(text.contains("https://catalog.example/c.xml"), "{text}");
    assert!(text.contains("UnknownIssuer"), "{text}");
    assert_eq!(hint(&report, "catalog"), "Trust it.");
}

#[test]
fn the_proxy_is_named_whether_it_works_or_not() {
    let mut facts = machine(System::Mac);
    facts.catalog.proxy = Some("proxy.example:3128".to_owned());
    let report = Report::new(&facts);
    let text = &find(&report, "catalog").text;
    assert!(text.contains("proxy.example:3128"), "{text}");

    facts.catalog.outcome = Err(CatalogFault {
        cause: "refused".to_owned(),
        reason: "Look at it.".to_owned(),
    });
    let report = Report::new(&facts);
    let hint = hint(&report, "catalog");
    assert!(hint.starts_with("Look at it. "), "{hint}");
    assert!(hint.contains("proxy.example:3128"), "{hint}");
}

#[test]
fn the_real_place_of_the_temporary_folder_is_told() {
    let mut facts = machine(System::Mac);
    facts.temp_written = Ok(Path::new("/private/tmp").to_owned());
    let report = Report::new(&facts);
    assert!(report.ok);
    let text = &find(&report, "temp").text;
    assert!(text.contains("/private/tmp"), "{text}");
}
