//! Answers stay within bounds whatever the catalog holds, and say what is missing.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::catalog::Catalog;

fn served(services: Vec<Service>, companions: Vec<Companion>) -> Served {
    Served {
        catalog: Arc::new(Catalog::new(services, companions)),
        notice: None,
    }
}

/// A service with much of everything; each text in units of `unit`.
fn fat(id: &str, unit: &str, programs: usize) -> Service {
    let text = unit.repeat(20_000);
    let package = Package {
        name: text.clone(),
        url: text.clone(),
        arguments: text.clone(),
    };
    let extension = EdgeExtension {
        name: text.clone(),
        extension_id: text.clone(),
        crx_url: text.clone(),
    };
    Service {
        id: id.to_owned(),
        display_name: text.clone(),
        display_name_en: Some(text.clone()),
        category: text.clone(),
        url: text.clone(),
        packages: vec![package; programs],
        edge_extensions: vec![extension; programs],
        search_keywords: Some(text.clone()),
        compat_notes: Some(text),
        ..Service::default()
    }
}

#[test]
fn no_answer_exceeds_the_bound_and_what_is_cut_is_said() {
    for unit in ["a", "가", "\"", "\n", "😀"] {
        for programs in [0, 3] {
            let services = vec![fat("A", unit, programs), fat("B", unit, programs)];
            let companion = Companion {
                display_name: unit.repeat(20_000),
                display_name_en: Some(unit.repeat(20_000)),
                ..Companion::default()
            };
            let served = served(services, vec![companion; 9]);
            let ids = ["A".to_owned(), "B".to_owned()];
            for (what, answer) in [
                ("search", search_services(&served, "", None, 50)),
                ("show", get_service(&served, "A")),
                ("near", get_service(&served, "AB")),
                ("categories", list_categories(&served)),
                ("companions", list_companions(&served, "")),
                ("wsb", generate_wsb(&served, &ids)),
            ] {
                let length = answer.to_string().len();
                assert!(length <= LARGEST, "{what} {unit:?} {programs}: {length}");
            }
            let shown = get_service(&served, "A").to_string();
            // Nine texts of 4,000 letters fit, and nothing else does.
            let fits = unit == "a" && programs == 0;
            assert_ne!(shown.contains("내용이 많아"), fits, "{unit:?}");
        }
    }
}

#[test]
fn long_ids_are_bounded_wherever_they_show() {
    let id = "x".repeat(30_000);
    let served = served(vec![fat(&id, "a", 0)], vec![]);
    let answer = get_service(&served, &id);
    for field in ["id", "iconUrl", "logoUrl", "displayName"] {
        let text = answer[field].as_str().unwrap();
        assert!(text.chars().count() <= 4000, "{field}");
        assert!(text.ends_with('…'), "{field}");
    }
}

#[test]
fn an_answer_within_the_bound_is_whole() {
    let service = Service {
        id: "A".to_owned(),
        search_keywords: Some("가".repeat(3000)),
        ..Service::default()
    };
    let answer = get_service(&served(vec![service], vec![]), "A");
    assert_eq!(
        answer["searchKeywords"].as_str().unwrap().chars().count(),
        3000
    );
    assert!(!answer.to_string().contains("내용이 많아"));
}

#[test]
fn a_sandbox_file_is_whole_however_many_ids_are_given() {
    let ids: Vec<String> = (0..5000).map(|number| format!("Service{number}")).collect();
    let services = ids.iter().map(|id| Service {
        id: id.clone(),
        ..Service::default()
    });
    let answer = generate_wsb(&served(services.collect(), vec![]), &ids);
    assert!(answer.to_string().len() <= LARGEST);
    let file = answer["wsb"].as_str().unwrap();
    assert!(file.trim_end().ends_with("</Configuration>"));
    assert!(answer["usage"].as_str().unwrap().contains("내용이 많아"));
}

#[test]
fn an_unknown_id_is_given_back_whole_while_it_fits() {
    let served = served(vec![], vec![]);
    let long = "x".repeat(5000);
    let answer = generate_wsb(&served, std::slice::from_ref(&long));
    assert_eq!(answer["unknownIds"], json!([long]));
    let answer = generate_wsb(&served, &["x".repeat(100_000)]);
    let kept = answer["unknownIds"][0].as_str().unwrap();
    assert!(kept.chars().count() == 4000 && kept.ends_with('…'));
    assert!(answer.to_string().contains("내용이 많아"));
}
