//! Documents that mean harm.

use std::time::{Duration, Instant};

use super::*;

#[test]
fn declared_entities_are_never_expanded() {
    let laughs: Vec<String> = (0..10)
        .map(|level: u32| match level.checked_sub(1) {
            Some(below) => format!("<!ENTITY a{level} '{}'>", format!("&a{below};").repeat(10)),
            None => "<!ENTITY a0 'lol'>".to_owned(),
        })
        .collect();
    let laughs = laughs.concat();
    let declarations = [
        laughs.as_str(),
        "<!ENTITY a9 SYSTEM 'file:///etc/passwd'>",
        "<!ENTITY a9 SYSTEM 'http://169.254.169.254/latest'>",
        "<!ENTITY a9 PUBLIC 'x' 'https://example.com/x'>",
        "<!ENTITY % p SYSTEM 'https://example.com/x.dtd'> %p;",
        "<!ENTITY a9 'plain'>",
        "<!ENTITY a9 '&a9;'>",
        "<!ENTITY amp 'replaced'><!ENTITY a9 ''>",
    ];
    for declaration in declarations {
        let with = |services: &str| {
            let document = format!(
                "<?xml version='1.0'?><!DOCTYPE TableClothCatalog [{declaration}]>{}",
                catalog(services)
            );
            parse(document.as_bytes())
        };
        for used in [
            "<Service Id='A' DisplayName='&a9;'/>",
            "<Service Id='A'><CompatNotes>&a9;</CompatNotes></Service>",
            "<Service Id='A'><Unknown>&a9;</Unknown></Service>",
            "<Service Id='A'/>&a9;",
        ] {
            assert!(
                matches!(with(used), Err(ParseError::Malformed { .. })),
                "{declaration} {used}"
            );
        }
        // Declared and not used, they do no harm.
        let catalog = with("<Service Id='A' DisplayName='a&amp;b'/>").unwrap();
        assert_eq!(catalog.services()[0].display_name, "a&b");
    }
}

#[test]
fn an_external_document_type_is_not_fetched() {
    let document = format!(
        "<!DOCTYPE TableClothCatalog SYSTEM 'https://example.com/x.dtd'>{}",
        catalog("<Service Id='A'/>")
    );
    assert!(parse(document.as_bytes()).is_ok());
}

#[test]
fn nesting_has_a_bottom() {
    let nested = |depth: usize| {
        format!(
            "<Service Id='A'>{}{}</Service>",
            "<x>".repeat(depth),
            "</x>".repeat(depth)
        )
    };
    assert!(read(&nested(50)).is_ok());
    for depth in [100, 200_000] {
        assert!(
            matches!(read(&nested(depth)), Err(ParseError::Malformed { .. })),
            "{depth}"
        );
    }
}

const DIRTY: &str = "a\u{0}b\u{1b}[31m\u{202e}c\u{2066}d\u{200f}\u{7f}\u{9b}\u{e0041}";
const CLEAN: &str = "ab[31mcd";

#[test]
fn every_text_is_cleaned() {
    // The ways a character can get in: raw, and by reference.
    let referenced: String = DIRTY
        .chars()
        .map(|character| match character {
            '\0' => String::new(),
            other => format!("&#{};", u32::from(other)),
        })
        .collect();
    for dirty in [DIRTY, &referenced] {
        let document = format!(
            "<TableClothCatalog><Companions><Companion Id='{dirty}' DisplayName='{dirty}' en-US-DisplayName='{dirty}' \
             Url='https://{dirty}'/></Companions><InternetServices><Service Id='{dirty}' DisplayName='{dirty}' \
             en-US-DisplayName='{dirty}' Category='{dirty}' Url='https://{dirty}'><Packages><Package Name='{dirty}' \
             Url='https://{dirty}' Arguments='{dirty}'/></Packages><EdgeExtensions><EdgeExtension Name='{dirty}' \
             ExtensionId='{dirty}' CrxUrl='https://{dirty}'/></EdgeExtensions><SearchKeywords>{dirty}</SearchKeywords>\
             <CompatNotes>{dirty}</CompatNotes></Service></InternetServices></TableClothCatalog>"
        );
        let catalog = parse(document.as_bytes()).unwrap();
        let service = &catalog.services()[0];
        let companion = &catalog.companions()[0];
        let (package, extension) = (&service.packages[0], &service.edge_extensions[0]);
        for text in [
            &service.id,
            &service.display_name,
            service.display_name_en.as_ref().unwrap(),
            &service.category,
            &package.name,
            &package.arguments,
            &extension.name,
            &extension.extension_id,
            service.search_keywords.as_ref().unwrap(),
            service.compat_notes.as_ref().unwrap(),
            &companion.id,
            &companion.display_name,
            companion.display_name_en.as_ref().unwrap(),
        ] {
            assert_eq!(text, CLEAN);
        }
        for url in [
            &service.url,
            &package.url,
            &extension.crx_url,
            &companion.url,
        ] {
            assert_eq!(url, &format!("https://{CLEAN}"));
        }
    }
}

#[test]
fn an_id_of_nothing_but_dirt_is_no_id() {
    let dirt = "\u{202e}\u{feff}&#x202d; ";
    let catalog = read(&format!("<Service Id='{dirt}'/><Service Id='A'/>")).unwrap();
    assert_eq!(ids(&catalog), ["A"]);
    let name = "<Companions><Companion DisplayName='\u{202e}'/></Companions><InternetServices>";
    let document = catalog_with(name);
    assert!(parse(document.as_bytes()).unwrap().companions().is_empty());
}

fn catalog_with(start: &str) -> String {
    catalog("<Service Id='A'/>").replacen("<InternetServices>", start, 1)
}

#[test]
fn addresses_that_are_not_of_the_web_are_dropped() {
    for url in [
        "javascript:alert(1)",
        "JavaScript://x",
        "data:text/html,x",
        "file:///etc/passwd",
        "\\\\host\\share",
        "ms-windows-store:x",
        "//example.com",
        "ftp://example.com",
        "http:",
    ] {
        let service = only(&format!(
            "<Service Id='A' Url='{url}'><Packages><Package Url='{url}'/></Packages>\
             <EdgeExtensions><EdgeExtension CrxUrl='{url}'/></EdgeExtensions></Service>"
        ));
        let urls = [
            service.url,
            service.packages[0].url.clone(),
            service.edge_extensions[0].crx_url.clone(),
        ];
        assert_eq!(urls, [const { String::new() }; 3], "{url}");
    }
}

#[test]
fn what_could_take_memory_or_time_without_end_is_refused() {
    let attributes: Vec<String> = (0..200_000).map(|n| format!(" a{n}=''")).collect();
    let attributes = attributes.concat();
    let declared: Vec<String> = (0..50_000).map(|n| format!("<!ENTITY e{n} 'x'>")).collect();
    let declared = declared.concat();
    let documents = [
        (
            "attributes",
            catalog(&format!("<Service Id='A'{attributes}/>")),
        ),
        (
            "attributes elsewhere",
            catalog(&format!("<X{attributes}/><Service Id='A'/>")),
        ),
        ("services", catalog(&"<Service Id='A'/>".repeat(200_000))),
        ("nameless services", catalog(&"<Service/>".repeat(400_000))),
        (
            "packages",
            catalog(&format!(
                "<Service Id='A'><Packages>{}</Packages></Service>",
                "<Package/>".repeat(1_001)
            )),
        ),
        (
            "companions",
            catalog_with(&format!(
                "<Companions>{}</Companions><InternetServices>",
                "<Companion DisplayName='x'/>".repeat(200_000)
            )),
        ),
        (
            "unknown elements",
            catalog(&format!("<Service Id='A'/>{}", "<x/>".repeat(1_000_000))),
        ),
    ];
    for (what, document) in documents {
        let start = Instant::now();
        let outcome = parse(document.as_bytes());
        assert!(matches!(outcome, Err(ParseError::TooMany)), "{what}");
        assert!(start.elapsed() < Duration::from_secs(5), "{what}");
    }
    // Costs nothing: what is declared is not kept.
    let document = format!("<!DOCTYPE x [{declared}]>{}", catalog("<Service Id='A'/>"));
    assert!(parse(document.as_bytes()).is_ok());
}
