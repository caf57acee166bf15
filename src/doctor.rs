//! Says whether the program can do its job on this machine, and what to do if not.
//!
//! [`Facts`] are gathered from the machine; [`Report::new`] judges them, so
//! every system's findings are tested on any system.

mod gather;
#[cfg(test)]
mod tests;

use std::{fmt, path::PathBuf, time::Duration};

use serde::Serialize;

use crate::{
    answer::launch::{no_runner, obstacle_hint, start_message},
    sandbox::{
        NoRunner, Runner, StartError, System,
        requirements::{Edition, Obstacle, Virtualization, Windows},
    },
    texts::{TEXTS, fill},
};

/// What is the case on a machine.
#[derive(Debug)]
pub struct Facts {
    /// The operating system.
    pub system: System,
    /// Its name where that is more than the kind of system.
    pub system_name: String,
    /// The processor that this program was built for, such as `x86_64`.
    pub processor: String,
    /// Supported protocol revisions, oldest first.
    pub revisions: Vec<String>,
    /// What came of fetching the catalog.
    pub catalog: CatalogFact,
    /// Number of services in the catalog that is compiled in.
    pub embedded: usize,
    /// The program that opens sandbox files.
    pub runner: Result<Runner, NoRunner>,
    /// What is wrong with that program.
    pub runner_fault: Option<StartError>,
    /// Whether it was chosen by `TABLECLOTH_WSB_RUNNER`.
    pub runner_is_custom: bool,
    /// What is known of a Windows machine.
    pub windows: Windows,
    /// The temporary folder by the name that is used.
    pub temp: PathBuf,
    /// The folder in which a file written there really was, or why none could be
    /// written, in the system's words.
    pub temp_written: Result<PathBuf, String>,
}

/// What came of fetching the catalog.
#[derive(Debug)]
pub struct CatalogFact {
    /// Where it is, without a password.
    pub address: String,
    /// Host and port of the proxy in between.
    pub proxy: Option<String>,
    /// How long it took.
    pub took: Duration,
    /// The number of services, or why there are none.
    pub outcome: Result<usize, CatalogFault>,
}

/// Why the catalog could not be fetched.
#[derive(Debug)]
pub struct CatalogFault {
    /// What it comes from in the end, for who knows networks.
    pub cause: String,
    /// What it means and what to do, for everyone.
    pub reason: String,
}

/// How good a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As it should be.
    Ok,
    /// Worth knowing; the main job works.
    Warning,
    /// Finding and opening a site cannot work like this.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at, for scripts.
    pub name: &'static str,
    /// How good it is.
    pub status: Status,
    /// What was found.
    pub text: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// All findings.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether sites can be found and opened here.
    pub ok: bool,
    /// In the order in which to read them.
    pub findings: Vec<Finding>,
}

impl Finding {
    fn new(name: &'static str, status: Status, text: impl Into<String>) -> Self {
        Self {
            name,
            status,
            text: text.into(),
            hint: None,
        }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl Report {
    /// Judges the facts.
    #[must_use]
    pub fn new(facts: &Facts) -> Self {
        let mut findings = about(facts);
        findings.push(catalog(&facts.catalog));
        findings.push(offline(facts.embedded));
        findings.push(runner(facts));
        // What Windows Sandbox needs does not matter to a program of the user's own.
        if facts.system == System::Windows && !facts.runner_is_custom {
            let edition = edition(&facts.windows, facts.runner.is_ok());
            // Of no use where the edition has no sandbox.
            let matters = edition.status != Status::Bad;
            findings.push(edition);
            if matters {
                findings.push(virtualization(facts));
            }
        }
        findings.push(temp(facts));
        Self {
            ok: findings.iter().all(|finding| finding.status != Status::Bad),
            findings,
        }
    }
}

/// A line for each finding, its hint indented below, and what it comes to.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = &TEXTS.doctor;
        for finding in &self.findings {
            // Words, because not every console has the symbols or the colours.
            let sign = match finding.status {
                Status::Ok => &texts.signs.ok,
                Status::Warning => &texts.signs.warning,
                Status::Bad => &texts.signs.bad,
            };
            writeln!(f, "[{sign}] {}", finding.text)?;
            if let Some(hint) = &finding.hint {
                writeln!(f, "       {hint}")?;
            }
        }
        let verdict = if self.ok {
            &texts.verdict.ok
        } else {
            &texts.verdict.bad
        };
        writeln!(f, "\n{verdict}")
    }
}

/// What helps whoever reads a report from elsewhere.
fn about(facts: &Facts) -> Vec<Finding> {
    let texts = &TEXTS.doctor;
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    let platform = [
        ("system", facts.system_name.as_str()),
        ("processor", &facts.processor),
    ];
    let revisions = facts.revisions.join(", ");
    let protocol = [("revisions", revisions.as_str())];
    vec![
        Finding::new("version", Status::Ok, fill(&texts.version, &version)),
        Finding::new("platform", Status::Ok, fill(&texts.platform, &platform)),
        Finding::new("protocol", Status::Ok, fill(&texts.protocol, &protocol)),
    ]
}

fn catalog(fact: &CatalogFact) -> Finding {
    let texts = &TEXTS.doctor.catalog;
    let seconds = format!("{:.1}", fact.took.as_secs_f64());
    let proxy = fact.proxy.as_deref();
    let told = |template: &str, name: &str, value: &str| {
        fill(
            template,
            &[
                ("address", fact.address.as_str()),
                ("seconds", &seconds),
                ("proxy", proxy.unwrap_or_default()),
                (name, value),
            ],
        )
    };
    match &fact.outcome {
        Ok(count) => {
            let template = match proxy {
                Some(_) => &texts.reached_by_proxy,
                None => &texts.reached,
            };
            let text = told(template, "count", &count.to_string());
            Finding::new("catalog", Status::Ok, text)
        }
        Err(CatalogFault { cause, reason }) => {
            let hint = match proxy {
                Some(_) => told(&texts.proxy_hint, "reason", reason),
                None => reason.clone(),
            };
            // A warning, because there is the catalog that is compiled in.
            let text = told(&texts.failed, "cause", cause);
            Finding::new("catalog", Status::Warning, text).hint(hint)
        }
    }
}

fn offline(embedded: usize) -> Finding {
    let texts = &TEXTS.doctor;
    if embedded == 0 {
        return Finding::new("offline", Status::Warning, &*texts.offline_empty);
    }
    let text = fill(&texts.offline, &[("count", &embedded.to_string())]);
    Finding::new("offline", Status::Ok, text)
}

fn runner(facts: &Facts) -> Finding {
    let texts = &TEXTS.doctor.runner;
    let runner = match &facts.runner {
        Ok(runner) => runner,
        Err(reason) => {
            let (error, hint) = no_runner(*reason);
            let text = fill(&texts.missing, &[("error", error)]);
            return Finding::new("runner", Status::Bad, text).hint(hint);
        }
    };
    let Some(fault) = &facts.runner_fault else {
        let program = runner.program.to_string_lossy();
        let values = [("runner", runner.label.as_str()), ("program", &program)];
        return Finding::new("runner", Status::Ok, fill(&texts.ready, &values));
    };
    let values = [
        ("runner", runner.label.as_str()),
        ("message", &start_message(fault)),
    ];
    let hint = if facts.runner_is_custom {
        &texts.broken_custom_hint
    } else {
        no_runner(NoRunner::MacSandboxMissing).1
    };
    Finding::new("runner", Status::Bad, fill(&texts.broken, &values)).hint(hint)
}

/// What the edition means. The runner's hint says what to do about it.
fn edition(windows: &Windows, sandbox_is_there: bool) -> Finding {
    let texts = &TEXTS.doctor.edition;
    let (status, text) = match windows.edition() {
        // That it is there says more than the name of the edition.
        _ if sandbox_is_there => (Status::Ok, &texts.ok),
        Edition::Home => (Status::Bad, &texts.home),
        Edition::Without => (Status::Bad, &texts.not_offered),
        _ if windows.is_too_old() => (Status::Bad, &texts.too_old),
        Edition::WithSandbox => (Status::Ok, &texts.ok),
        Edition::Unknown => {
            let finding = Finding::new("edition", Status::Warning, &*texts.unknown);
            return finding.hint(&*texts.unknown_hint);
        }
    };
    Finding::new("edition", status, text)
}

fn virtualization(facts: &Facts) -> Finding {
    let texts = &TEXTS.doctor.virtualization;
    let finding = |status, text: &String| Finding::new("virtualization", status, text);
    match facts.windows.virtualization() {
        Virtualization::On => finding(Status::Ok, &texts.on),
        Virtualization::Blocked(obstacle) => {
            let text = match obstacle {
                Obstacle::Processor => &texts.processor,
                Obstacle::NxOff => &texts.nx_off,
                _ => &texts.off,
            };
            let finding = finding(Status::Bad, text);
            match facts.runner {
                Ok(_) => finding.hint(obstacle_hint(obstacle)),
                // The same advice is there already.
                Err(_) => finding,
            }
        }
        Virtualization::Nested => finding(Status::Warning, &texts.nested).hint(&*texts.nested_hint),
        Virtualization::Unknown => {
            finding(Status::Warning, &texts.unknown).hint(&*texts.unknown_hint)
        }
    }
}

fn temp(facts: &Facts) -> Finding {
    let texts = &TEXTS.doctor.temp;
    let folder = facts.temp.to_string_lossy();
    match &facts.temp_written {
        Ok(real) if *real == facts.temp => {
            // The system's name for it may end with a separator.
            let text = fill(&texts.ok, &[("folder", &real.to_string_lossy())]);
            Finding::new("temp", Status::Ok, text)
        }
        Ok(real) => {
            let real = real.to_string_lossy();
            let text = fill(&texts.ok_elsewhere, &[("folder", &folder), ("real", &real)]);
            Finding::new("temp", Status::Ok, text)
        }
        Err(message) => {
            let text = fill(&texts.bad, &[("folder", &folder), ("message", message)]);
            let hint = &TEXTS.tools.launch_sandbox.file_failed_hint;
            Finding::new("temp", Status::Bad, text).hint(fill(hint, &[("folder", &folder)]))
        }
    }
}
