//! The answers of the tools, in the shape the specification gives them.
//!
//! Fields without a value are left out. Texts of the catalog are bounded here,
//! on their way out, so that the search still sees all of them.

pub mod launch;
mod size;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::{
    catalog::{Companion, EdgeExtension, Package, Served, Service, clean::bounded, trim},
    search::search,
    site_ids::SiteIds,
    suggest::{self, Suggestion},
    texts::{TEXTS, fill},
    wsb::wsb,
};

pub use launch::{launch_sandbox, nothing_to_launch};
pub use size::LARGEST;

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
    let is_narrowed = category.is_some_and(|category| !trim(category).is_empty());
    let note = match (found.is_empty(), is_narrowed) {
        (false, _) => &texts.result_note,
        (true, true) => &texts.no_match_in_category_note,
        (true, false) => &texts.no_match_note,
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
    size::cut(&mut value);
    value
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
