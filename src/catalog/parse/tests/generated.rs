//! Properties that hold for every document.

use proptest::{collection::vec, option, prelude::*};

use super::*;
use crate::catalog::clean;

/// As XML, in an attribute or a text.
fn escaped(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '<' | '&' | '>' | '"' | '\'' | '\t' | '\n' | '\r' => {
                format!("&#{};", u32::from(character))
            }
            other => other.to_string(),
        })
        .collect()
}

#[derive(Debug)]
struct Entry {
    id: String,
    name: String,
    category: Option<String>,
    packages: Vec<String>,
    keywords: Option<String>,
    notes: Option<String>,
}

impl Entry {
    fn xml(&self) -> String {
        let category = self
            .category
            .as_ref()
            .map(|category| format!("Category=\"{}\"", escaped(category)));
        let packages: Vec<String> = self
            .packages
            .iter()
            .map(|name| format!("<Package Name=\"{}\"/>", escaped(name)))
            .collect();
        let packages = packages.concat();
        let element = |name: &str, text: &Option<String>| {
            text.as_ref()
                .map(|text| format!("<{name}>{}</{name}>", escaped(text)))
                .unwrap_or_default()
        };
        format!(
            "<Service Id=\"{}\" DisplayName=\"{}\" {}><Packages>{packages}</Packages>{}{}</Service>",
            escaped(&self.id),
            escaped(&self.name),
            category.unwrap_or_default(),
            element("SearchKeywords", &self.keywords),
            element("CompatNotes", &self.notes),
        )
    }
}

fn entry() -> impl Strategy<Value = Entry> {
    (
        prop_oneof!["[A-Za-z0-9._-]{1,12}", any::<String>()],
        any::<String>(),
        option::of(any::<String>()),
        vec(any::<String>(), 0..4),
        option::of(any::<String>()),
        option::of(any::<String>()),
    )
        .prop_map(|(id, name, category, packages, keywords, notes)| Entry {
            id,
            name,
            category,
            packages,
            keywords,
            notes,
        })
}

/// Pieces that a catalog is made of, in no good order.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<TableClothCatalog>",
        "</TableClothCatalog>",
        "<InternetServices>",
        "</InternetServices>",
        "<Service Id='A'>",
        "<Service Id='B'/>",
        "</Service>",
        "<Packages>",
        "<Package Name='P'/>",
        "</Packages>",
        "<SearchKeywords>",
        "</SearchKeywords>",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<!DOCTYPE x [",
        "]>",
        "<?x",
        "?>",
        "&amp;",
        "&",
        ";",
        "'",
        "\"",
        "<",
        ">",
        "/",
        "=",
        "가",
        "\u{feff}",
        " ",
    ]);
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..2000)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn any_text_in_a_catalog_is_survived(text in any::<String>()) {
        let _ = read(&text);
    }

    #[test]
    fn any_order_of_pieces_is_survived(pieces in soup()) {
        let _ = parse(pieces.as_bytes());
        let _ = read(&pieces);
    }

    #[test]
    fn every_service_with_an_id_comes_back(entries in vec(entry(), 1..8)) {
        let document: String = entries.iter().map(Entry::xml).collect();
        let outcome = read(&document);
        let expected: Vec<&Entry> = entries
            .iter()
            .filter(|entry| !trim(&clean::text(&entry.id)).is_empty())
            .collect();
        if expected.is_empty() {
            prop_assert!(matches!(outcome, Err(ParseError::NoServices)));
            return Ok(());
        }
        let catalog = outcome.unwrap();
        prop_assert_eq!(catalog.services().len(), expected.len());
        for (service, entry) in catalog.services().iter().zip(expected) {
            let cleaned = |text: &str| trim(&clean::text(text)).to_owned();
            let category = entry.category.as_deref().map_or("Other".to_owned(), cleaned);
            let packages: Vec<String> = entry.packages.iter().map(|name| cleaned(name)).collect();
            let names: Vec<&str> = service.packages.iter().map(|package| package.name.as_str()).collect();
            prop_assert_eq!(&service.id, &cleaned(&entry.id));
            prop_assert_eq!(&service.display_name, &cleaned(&entry.name));
            prop_assert_eq!(&service.category, &category);
            prop_assert_eq!(&service.search_keywords, &entry.keywords.as_deref().map(cleaned));
            prop_assert_eq!(&service.compat_notes, &entry.notes.as_deref().map(cleaned));
            prop_assert_eq!(names, packages);
        }
    }
}
