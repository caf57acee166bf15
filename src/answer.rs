//! The answers of the tools, in the shape the contract gives them.
//!
//! Fields without a value are left out. Texts of the catalog are bounded here,
//! on their way out, so that the search still sees all of them.

use std::{borrow::Cow, collections::BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    catalog::{Companion, EdgeExtension, Package, Served, Service, clean::bounded},
    sandbox::{LaunchError, Launched, NoRunner, StartError},
    search::search,
    site_ids::SiteIds,
    suggest::{self, Suggestion},
    texts::{LaunchSandbox, TEXTS, fill},
    wsb::wsb,
};

/// Largest answer, in bytes of JSON without the echo of the query. Clients
/// refuse or cut results above some 25,000 tokens (claude-code#41593).
pub const LARGEST: usize = 40_000;

/// Answer of `search_services`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Search<'a> {
    query: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'a str>,
    total_services: usize,
    matched: usize,
    results: Vec<Found<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggested<'a>>,
    note: &'a str,
}

/// A service that is probably meant.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Suggested<'a> {
    id: Cow<'a, str>,
    display_name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name_en: Option<Cow<'a, str>>,
    category: Cow<'a, str>,
    url: Cow<'a, str>,
    reason: String,
}

impl<'a> From<Suggestion<'a>> for Suggested<'a> {
    fn from(suggestion: Suggestion<'a>) -> Self {
        let service = suggestion.service;
        Self {
            id: bounded(&service.id),
            display_name: bounded(&service.display_name),
            display_name_en: service.display_name_en.as_deref().map(bounded),
            category: bounded(&service.category),
            url: bounded(&service.url),
            reason: bounded(&suggestion.reason).into_owned(),
        }
    }
}

/// Services whose ids are near unknown ones, each once.
fn near_ids<'a>(served: &'a Served, unknown: &[String]) -> Vec<Suggested<'a>> {
    let catalog = &served.catalog;
    let mut suggested: Vec<Suggested<'_>> = Vec::new();
    // Whoever gives hundreds of wrong ids is not helped by five suggestions.
    for id in unknown.iter().take(suggest::MOST) {
        for suggestion in catalog.suggester().near_ids(catalog, id) {
            let is_new = suggested
                .iter()
                .all(|other| other.id != suggestion.service.id);
            if is_new && suggested.len() < suggest::MOST {
                suggested.push(suggestion.into());
            }
        }
    }
    suggested
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Found<'a> {
    id: Cow<'a, str>,
    display_name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name_en: Option<Cow<'a, str>>,
    category: Cow<'a, str>,
    url: Cow<'a, str>,
    required_packages: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compat_warning: Option<Cow<'a, str>>,
}

impl<'a> From<&'a Service> for Found<'a> {
    fn from(service: &'a Service) -> Self {
        let packages = service.packages.iter();
        Self {
            id: bounded(&service.id),
            display_name: bounded(&service.display_name),
            display_name_en: service.display_name_en.as_deref().map(bounded),
            category: bounded(&service.category),
            url: bounded(&service.url),
            required_packages: packages.map(|package| bounded(&package.name)).collect(),
            compat_warning: service.compat_warning().map(bounded),
        }
    }
}

/// Answers `search_services`.
#[must_use]
pub fn search_services(
    served: &Served,
    query: &str,
    category: Option<&str>,
    limit: usize,
) -> Value {
    let catalog = &served.catalog;
    let found = search(catalog, query, category, limit);
    let suggestions = catalog
        .suggester()
        .suggest(catalog, query, category, &found);
    let texts = &TEXTS.tools.search_services;
    let note = if found.is_empty() {
        &texts.no_match_note
    } else {
        &texts.result_note
    };
    finish(
        served,
        &Search {
            query,
            category,
            total_services: served.catalog.services().len(),
            matched: found.len(),
            results: found.into_iter().map(Found::from).collect(),
            suggestions: suggestions.into_iter().map(Into::into).collect(),
            note,
        },
    )
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    id: Cow<'a, str>,
    display_name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name_en: Option<Cow<'a, str>>,
    category: Cow<'a, str>,
    url: Cow<'a, str>,
    icon_url: String,
    logo_url: String,
    packages: Vec<PackageDetails<'a>>,
    edge_extensions: Vec<ExtensionDetails<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search_keywords: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compat_notes: Option<Cow<'a, str>>,
}

#[derive(Debug, Serialize)]
struct PackageDetails<'a> {
    name: Cow<'a, str>,
    url: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ExtensionDetails<'a> {
    name: Cow<'a, str>,
    extension_id: Cow<'a, str>,
    crx_url: Cow<'a, str>,
}

impl<'a> From<&'a Package> for PackageDetails<'a> {
    fn from(package: &'a Package) -> Self {
        Self {
            name: bounded(&package.name),
            url: bounded(&package.url),
            arguments: bounded(&package.arguments),
        }
    }
}

impl<'a> From<&'a EdgeExtension> for ExtensionDetails<'a> {
    fn from(extension: &'a EdgeExtension) -> Self {
        Self {
            name: bounded(&extension.name),
            extension_id: bounded(&extension.extension_id),
            crx_url: bounded(&extension.crx_url),
        }
    }
}

#[derive(Debug, Serialize)]
struct NotFound<'a> {
    error: String,
    hint: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggested<'a>>,
}

/// Answers `get_service`.
#[must_use]
pub fn get_service(served: &Served, id: &str) -> Value {
    let Some(service) = served.catalog.service(id) else {
        let texts = &TEXTS.tools.get_service;
        return finish(
            served,
            &NotFound {
                error: fill(&texts.error_not_found, &[("id", &bounded(id))]),
                hint: &texts.hint_not_found,
                suggestions: near_ids(served, &[id.to_owned()]),
            },
        );
    };
    finish(
        served,
        &Details {
            id: bounded(&service.id),
            display_name: bounded(&service.display_name),
            display_name_en: service.display_name_en.as_deref().map(bounded),
            category: bounded(&service.category),
            url: bounded(&service.url),
            icon_url: bounded(&service.icon_url()).into_owned(),
            logo_url: bounded(&service.logo_url()).into_owned(),
            packages: service.packages.iter().map(Into::into).collect(),
            edge_extensions: service.edge_extensions.iter().map(Into::into).collect(),
            search_keywords: service.search_keywords.as_deref().map(bounded),
            compat_notes: service.compat_notes.as_deref().map(bounded),
        },
    )
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Categories<'a> {
    total_services: usize,
    categories: Vec<CategoryCount<'a>>,
}

#[derive(Debug, Serialize)]
struct CategoryCount<'a> {
    category: Cow<'a, str>,
    count: usize,
}

/// Answers `list_categories`.
#[must_use]
pub fn list_categories(served: &Served) -> Value {
    let categories = served.catalog.categories();
    finish(
        served,
        &Categories {
            total_services: served.catalog.services().len(),
            categories: categories
                .into_iter()
                .map(|(category, count)| CategoryCount {
                    category: bounded(category),
                    count,
                })
                .collect(),
        },
    )
}

#[derive(Debug, Serialize)]
struct Companions<'a> {
    matched: usize,
    companions: Vec<FoundCompanion<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FoundCompanion<'a> {
    id: Cow<'a, str>,
    display_name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name_en: Option<Cow<'a, str>>,
    url: Cow<'a, str>,
}

impl<'a> From<&'a Companion> for FoundCompanion<'a> {
    fn from(companion: &'a Companion) -> Self {
        Self {
            id: bounded(&companion.id),
            display_name: bounded(&companion.display_name),
            display_name_en: companion.display_name_en.as_deref().map(bounded),
            url: bounded(&companion.url),
        }
    }
}

/// Answers `list_companions`.
#[must_use]
pub fn list_companions(served: &Served, query: &str) -> Value {
    let found = served.catalog.find_companions(query);
    finish(
        served,
        &Companions {
            matched: found.len(),
            companions: found.into_iter().map(Into::into).collect(),
        },
    )
}

/// A chosen service that may not work in a sandbox.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CompatWarning<'a> {
    id: &'a str,
    display_name: Cow<'a, str>,
    warning: Cow<'a, str>,
}

fn compat_warnings<'a>(ids: &SiteIds<'a>) -> Vec<CompatWarning<'a>> {
    ids.services
        .iter()
        .filter_map(|service| {
            Some(CompatWarning {
                id: &service.id,
                display_name: bounded(&service.display_name),
                warning: bounded(service.compat_warning()?),
            })
        })
        .collect()
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Generated<'a> {
    site_ids: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unknown_ids_ignored: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggested<'a>>,
    wsb: String,
    usage: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compat_warnings: Vec<CompatWarning<'a>>,
    security_note: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NoValidIds<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    launched: Option<bool>,
    error: &'a str,
    unknown_ids: &'a [String],
    hint: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggested<'a>>,
}

/// Answers `generate_wsb`.
#[must_use]
pub fn generate_wsb(served: &Served, service_ids: &[String]) -> Value {
    let ids = SiteIds::select(&served.catalog, service_ids);
    let texts = &TEXTS.tools.generate_wsb;
    if ids.services.is_empty() {
        return finish(
            served,
            &NoValidIds {
                launched: None,
                error: &texts.error_no_valid_ids,
                unknown_ids: &ids.unknown,
                hint: &texts.hint_no_valid_ids,
                suggestions: near_ids(served, &ids.unknown),
            },
        );
    }
    let site_ids = ids.accepted();
    finish(
        served,
        &Generated {
            wsb: wsb(&site_ids),
            site_ids,
            unknown_ids_ignored: &ids.unknown,
            suggestions: near_ids(served, &ids.unknown),
            usage: &texts.usage,
            compat_warnings: compat_warnings(&ids),
            security_note: &TEXTS.sandbox.security_note,
        },
    )
}

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
            let (error, hint) = match reason {
                NoRunner::WindowsSandboxMissing => (
                    &texts.runner_windows_missing_error,
                    &texts.runner_windows_missing_hint,
                ),
                NoRunner::MacSandboxMissing => (
                    &texts.runner_mac_not_found_error,
                    &texts.runner_mac_not_found_hint,
                ),
                NoRunner::Unsupported => (
                    &texts.runner_unsupported_error,
                    &texts.runner_unsupported_hint,
                ),
            };
            NotOpening {
                launched: false,
                error: error.clone(),
                hint: hint.clone(),
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
                    &[
                        ("runner", runner),
                        ("message", &start_message(source, texts)),
                    ],
                ),
                hint: hint.clone(),
                runner: Some(runner),
                wsb_path: Some(wsb_path.to_string_lossy()),
            }
        }
    }
}

fn start_message(error: &StartError, texts: &LaunchSandbox) -> String {
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

/// An answer for arguments that cannot be understood and for faults of our own.
#[must_use]
pub fn refusal(error: &str) -> Value {
    serde_json::json!({"error": error, "hint": TEXTS.arguments.hint})
}

/// Makes the JSON of an answer, with what it has to say of the catalog, and
/// within [`LARGEST`].
fn finish(served: &Served, answer: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(answer).unwrap_or_default();
    if let Some(notice) = &served.notice {
        value["catalogNotice"] = notice.as_str().into();
    }
    cut(&mut value);
    value
}

/// Shortens the longest lists of an answer that is too large, then its longest
/// texts, and says so.
fn cut(answer: &mut Value) {
    let echo = answer.get("query").map_or(0, size);
    let mut total = size(answer).saturating_sub(echo);
    if total <= LARGEST {
        return;
    }
    let Some(fields) = answer.as_object_mut() else {
        return;
    };
    let mut notices = Vec::new();
    while total > LARGEST {
        let longest = fields
            .iter_mut()
            .filter_map(|(name, value)| Some((name.as_str(), value.as_array_mut()?)))
            .filter(|(_, list)| !list.is_empty())
            .max_by_key(|(_, list)| list.iter().map(size).sum::<usize>());
        let Some((name, list)) = longest else {
            shorten(fields, total - LARGEST, &mut notices);
            break;
        };
        let all = list.len();
        while total > LARGEST
            && let Some(dropped) = list.pop()
        {
            total -= size(&dropped) + 1;
        }
        let kept = list.len();
        let notice = fill(
            &TEXTS.answer.cut,
            &[
                ("field", name),
                ("kept", &kept.to_string()),
                ("total", &all.to_string()),
            ],
        );
        // Room for the notice itself, which is at most as long as this.
        total += size(&Value::from(notice.as_str())) + 16;
        if matches!(name, "results" | "companions") {
            fields.insert("matched".to_owned(), kept.into());
        }
        notices.push(notice);
    }
    let notices = notices.join(" ");
    // In a text of the answer where it has one, so that its fields stay the same.
    match ["note", "usage"]
        .into_iter()
        .find(|&text| fields.contains_key(text))
    {
        Some(text) => {
            let said = fields[text].as_str().unwrap_or_default();
            fields[text] = format!("{notices} {said}").into();
        }
        None => {
            fields.insert("cutNotice".to_owned(), notices.into());
        }
    }
}

/// Texts that an answer cannot do without in full.
const WHOLE: [&str; 8] = [
    "query",
    "wsb",
    "note",
    "usage",
    "securityNote",
    "catalogNotice",
    "error",
    "hint",
];

/// Halves the longest texts, over and over, until the answer is shorter by `excess` bytes.
fn shorten(fields: &mut Map<String, Value>, excess: usize, notices: &mut Vec<String>) {
    let mut shortened = BTreeSet::new();
    let mut saved = 0;
    // Room for the notice as well, which names no more than each field once.
    while saved < excess + 1000 {
        let longest = fields
            .iter_mut()
            .filter(|(name, value)| value.is_string() && !WHOLE.contains(&name.as_str()))
            .max_by_key(|(_, value)| size(value));
        let Some((name, value)) = longest else {
            break;
        };
        let text = value.as_str().unwrap_or_default();
        let count = text.chars().count();
        if count < 100 {
            break;
        }
        let kept: String = text.chars().take(count / 2).collect();
        let before = size(value);
        *value = format!("{}…", kept.trim_end_matches('…')).into();
        saved += before.saturating_sub(size(value));
        shortened.insert(name.clone());
    }
    for field in shortened {
        notices.push(fill(&TEXTS.answer.shortened, &[("field", &field)]));
    }
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

#[cfg(test)]
mod tests;
