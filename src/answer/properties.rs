//! Properties of the answers over any catalog.

use std::sync::Arc;

use proptest::{collection::vec, option, prelude::*, sample::select};

use super::*;
use crate::catalog::Catalog;

/// From nothing to more than one answer holds, of what takes one to six bytes in JSON.
fn text() -> impl Strategy<Value = String> {
    let unit = select(vec!["a", "가", "\"", "\u{1}", "😀", "은행 "]);
    let length = prop_oneof![12 => 0..20_usize, 4 => 0..300_usize, 1 => 4000..5000_usize];
    prop_oneof![
        4 => (unit, length).prop_map(|(unit, length)| unit.repeat(length)),
        1 => any::<String>(),
    ]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-Za-z0-9._-]{1,12}",
        1 => "[A-Za-z0-9._-]{1,3}".prop_map(|id| id.repeat(9000)),
        1 => text().prop_map(|text| format!("x{text}")),
    ]
}

fn service() -> impl Strategy<Value = Service> {
    let programs = || vec((text(), text(), text()), 0..4);
    let texts = (id(), text(), option::of(text()), text(), text());
    let more = (
        programs(),
        programs(),
        option::of(text()),
        option::of(text()),
    );
    (texts, more, 1..40_usize).prop_map(
        |(
            (id, display_name, display_name_en, category, url),
            (packages, extensions, search_keywords, compat_notes),
            times,
        )| {
            let packages = packages.into_iter().map(|(name, url, arguments)| Package {
                name,
                url,
                arguments,
            });
            let extensions =
                extensions
                    .into_iter()
                    .map(|(name, extension_id, crx_url)| EdgeExtension {
                        name,
                        extension_id,
                        crx_url,
                    });
            let repeated = |count: usize| count * times;
            let (packages, extensions): (Vec<_>, Vec<_>) =
                (packages.collect(), extensions.collect());
            let package_count = repeated(packages.len());
            let extension_count = repeated(extensions.len());
            Service {
                id,
                display_name,
                display_name_en,
                category,
                url,
                packages: packages.into_iter().cycle().take(package_count).collect(),
                edge_extensions: extensions
                    .into_iter()
                    .cycle()
                    .take(extension_count)
                    .collect(),
                search_keywords,
                compat_notes,
                ..Service::default()
            }
        },
    )
}

/// Some services, over and over under ids of their own.
fn services() -> impl Strategy<Value = Vec<Service>> {
    (
        vec(service(), 1..6),
        prop_oneof![3 => Just(1), 1 => 1..100_usize],
    )
        .prop_map(|(services, times)| {
            let mut all = services.clone();
            for round in 1..times {
                all.extend(services.iter().map(|service| Service {
                    id: format!("{}{round}", service.id),
                    // Texts of any size are in the first round.
                    display_name: service.display_name.chars().take(20).collect(),
                    category: format!(
                        "{}{round}",
                        service.category.chars().take(20).collect::<String>()
                    ),
                    packages: vec![],
                    edge_extensions: vec![],
                    search_keywords: None,
                    ..service.clone()
                }));
            }
            all
        })
}

fn companion() -> impl Strategy<Value = Companion> {
    (text(), text(), option::of(text()), text()).prop_map(
        |(id, display_name, display_name_en, url)| Companion {
            id,
            display_name,
            display_name_en,
            url,
            search_text: String::new(),
        },
    )
}

/// Whether an answer says that something was left out.
fn said(answer: &Value) -> bool {
    let marker = TEXTS.answer.cut.split(':').next().unwrap_or_default();
    let shortened = TEXTS.answer.shortened.split(' ').next().unwrap_or_default();
    ["note", "usage", "cutNotice"]
        .iter()
        .filter_map(|field| answer[field].as_str())
        .any(|text| text.contains(marker) || text.starts_with(shortened))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn answers_stay_within_the_bound_and_say_what_is_missing(
        services in services(),
        companions in vec(companion(), 0..60),
        query in text(),
        category in option::of(text()),
        notice in option::of(Just("목록을 받지 못해 내장된 목록으로 답합니다.".to_owned())),
        others in vec(text(), 0..4),
    ) {
        let ids: Vec<String> = services.iter().map(|service| service.id.clone()).chain(others).collect();
        let served = Served { catalog: Arc::new(Catalog::new(services, companions)), notice };
        let catalog = &served.catalog;
        let selected = SiteIds::select(catalog, &ids);
        let near = format!("{}z", ids[0]);
        let found = search(catalog, &query, category.as_deref(), 50).len();
        let packages = catalog.service(&ids[0]).map_or(0, |service| service.packages.len());
        for (answer, list, entries) in [
            (search_services(&served, &query, category.as_deref(), 50), "results", found),
            (get_service(&served, &ids[0]), "packages", packages),
            (get_service(&served, &near), "none", 0),
            (list_categories(&served), "categories", catalog.categories().len()),
            (list_companions(&served, ""), "companions", catalog.companions().len()),
            (generate_wsb(&served, &ids), "siteIds", selected.services.len()),
            (generate_wsb(&served, std::slice::from_ref(&near)), "none", 0),
            (nothing_to_launch(&served, &selected), "unknownIds", selected.unknown.len()),
        ] {
            let echo = answer.get("query").map_or(0, |query| query.to_string().len());
            let size = answer.to_string().len() - echo;
            prop_assert!(size <= LARGEST, "{} bytes with {}", size, list);
            let shown = answer[list].as_array().map_or(0, Vec::len);
            prop_assert!(shown == entries || said(&answer), "{} of {} {}", shown, entries, list);
        }
    }
}
