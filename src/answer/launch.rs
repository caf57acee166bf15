//! The answers of `launch_sandbox`.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::{CompatWarning, NoValidIds, Suggested, compat_warnings, finish, near_ids};
use crate::{
    catalog::Served,
    sandbox::{LaunchError, Launched, NoRunner, StartError, requirements::Obstacle},
    site_ids::SiteIds,
    texts::{TEXTS, fill},
};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Opening<'a> {
    launched: bool,
    runner: &'a str,
    site_ids: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unknown_ids_ignored: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggested<'a>>,
    wsb_path: Cow<'a, str>,
    note: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compat_warnings: Vec<CompatWarning<'a>>,
    security_note: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NotOpening<'a> {
    launched: bool,
    error: String,
    hint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    runner: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wsb_path: Option<Cow<'a, str>>,
}

/// Answers `launch_sandbox`, given ids with at least one service and what came
/// of opening them.
#[must_use]
pub fn launch_sandbox(
    served: &Served,
    ids: &SiteIds<'_>,
    outcome: &Result<Launched, LaunchError>,
) -> Value {
    match outcome {
        Ok(launched) => finish(
            served,
            &Opening {
                launched: true,
                runner: &launched.runner,
                site_ids: ids.accepted(),
                unknown_ids_ignored: &ids.unknown,
                suggestions: near_ids(served, &ids.unknown),
                wsb_path: launched.wsb_path.to_string_lossy(),
                note: fill(
                    &TEXTS.tools.launch_sandbox.note_template,
                    &[("runner", &launched.runner)],
                ),
                compat_warnings: compat_warnings(ids),
                security_note: &TEXTS.sandbox.security_note,
            },
        ),
        Err(error) => finish(served, &not_opening(error)),
    }
}

/// Answers `launch_sandbox` where no given id is one of the catalog.
#[must_use]
pub fn nothing_to_launch(served: &Served, ids: &SiteIds<'_>) -> Value {
    let texts = &TEXTS.tools.launch_sandbox;
    finish(
        served,
        &NoValidIds {
            launched: Some(false),
            error: &texts.error_no_valid_ids,
            unknown_ids: &ids.unknown,
            hint: &texts.hint_no_valid_ids,
            suggestions: near_ids(served, &ids.unknown),
        },
    )
}

fn not_opening(error: &LaunchError) -> NotOpening<'_> {
    let texts = &TEXTS.tools.launch_sandbox;
    match error {
        LaunchError::NoRunner(reason) => {
            let (error, hint) = no_runner(*reason);
            NotOpening {
                launched: false,
                error: error.to_owned(),
                hint: hint.to_owned(),
                runner: None,
                wsb_path: None,
            }
        }
        LaunchError::File { folder, source } => NotOpening {
            launched: false,
            error: fill(
                &texts.file_failed_error,
                &[("message", &source.to_string())],
            ),
            hint: fill(
                &texts.file_failed_hint,
                &[("folder", &folder.to_string_lossy())],
            ),
            runner: None,
            wsb_path: None,
        },
        LaunchError::Start {
            runner,
            wsb_path,
            source,
        } => {
            let hint = match source {
                StartError::Cancelled => &texts.runner_cancelled_hint,
                _ => &texts.runner_launch_failed_hint,
            };
            NotOpening {
                launched: false,
                error: fill(
                    &texts.runner_launch_failed_error,
                    &[("runner", runner), ("message", &start_message(source))],
                ),
                hint: hint.clone(),
                runner: Some(runner),
                wsb_path: Some(wsb_path.to_string_lossy()),
            }
        }
    }
}

/// What it means that no program opens the file here, and what to do about it.
#[must_use]
pub fn no_runner(reason: NoRunner) -> (&'static str, &'static str) {
    let texts = &TEXTS.tools.launch_sandbox;
    match reason {
        NoRunner::WindowsSandboxMissing(obstacle) => {
            let hint = obstacle.map_or(texts.runner_windows_missing_hint.as_str(), obstacle_hint);
            (&texts.runner_windows_missing_error, hint)
        }
        NoRunner::MacSandboxMissing => (
            &texts.runner_mac_not_found_error,
            &texts.runner_mac_not_found_hint,
        ),
        NoRunner::Unsupported => (
            &texts.runner_unsupported_error,
            &texts.runner_unsupported_hint,
        ),
    }
}

/// What to do about what keeps Windows Sandbox from working.
#[must_use]
pub fn obstacle_hint(obstacle: Obstacle) -> &'static str {
    let texts = &TEXTS.tools.launch_sandbox;
    match obstacle {
        Obstacle::Home => &texts.runner_windows_home_hint,
        Obstacle::NotOffered => &texts.runner_windows_not_offered_hint,
        Obstacle::TooOld => &texts.runner_windows_old_hint,
        Obstacle::Processor => &texts.runner_windows_processor_hint,
        Obstacle::NxOff => &texts.runner_windows_nx_hint,
        Obstacle::VirtualizationOff => &texts.runner_windows_virtualization_hint,
        Obstacle::FeatureOff => &texts.runner_windows_feature_hint,
    }
}

/// Why a program did not start, for a person to read.
#[must_use]
pub fn start_message(error: &StartError) -> String {
    let texts = &TEXTS.tools.launch_sandbox;
    match error {
        StartError::NotFound(program) => fill(
            &texts.message_not_found,
            &[("program", &program.to_string_lossy())],
        ),
        StartError::NotExecutable(program) => fill(
            &texts.message_not_executable,
            &[("program", &program.to_string_lossy())],
        ),
        StartError::Exited(code) => fill(&texts.message_exited, &[("code", &code.to_string())]),
        StartError::Killed(signal) => {
            fill(&texts.message_killed, &[("signal", &signal.to_string())])
        }
        StartError::Cancelled => texts.message_cancelled.clone(),
        StartError::System(error) => error.to_string(),
    }
}
