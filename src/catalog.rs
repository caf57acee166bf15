//! The catalog of services: its model and where it comes from.
//!
//! [`parse`](parse::parse) is pure, [`source`] does the input, [`location`] decides where from.

pub mod clean;
pub mod fetch;
pub mod location;
pub mod notice;
pub mod parse;
pub mod source;

use std::{borrow::Cow, collections::HashMap, ops::Range, sync::OnceLock};

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

pub use source::{CatalogSource, Served};

use crate::suggest::Suggester;

/// All services and companions of one catalog document, in its order.
#[derive(Debug, Default)]
pub struct Catalog {
    services: Vec<Service>,
    companions: Vec<Companion>,
    by_id: HashMap<String, usize>,
    suggester: OnceLock<Suggester>,
}

/// A site, with the programs it demands.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Service {
    /// Trimmed, never empty. Repeats are possible: see [`Catalog::service`].
    pub id: String,
    /// Korean name.
    pub display_name: String,
    /// English name, where there is one.
    pub display_name_en: Option<String>,
    /// `Banking`, `Government`, …; `Other` where the catalog says nothing.
    pub category: String,
    /// The site's address, http(s) or empty.
    pub url: String,
    /// Programs the site demands.
    pub packages: Vec<Package>,
    /// Edge extensions the site demands.
    pub edge_extensions: Vec<EdgeExtension>,
    /// Further words to find it by, trimmed; empty where the element is blank.
    pub search_keywords: Option<String>,
    /// What may go wrong in a sandbox, trimmed; empty where the element is blank.
    pub compat_notes: Option<String>,
    /// What the search rule looks into, lower-cased.
    pub search_text: String,
    /// Lower-cased display name in UTF-16, the second sort key of the search.
    pub sort_key: Vec<u16>,
}

/// A program that a site demands.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Package {
    /// Product name.
    pub name: String,
    /// Where it is downloaded from, http(s) or empty.
    pub url: String,
    /// Arguments of its silent installation.
    pub arguments: String,
}

/// A browser extension that a site demands.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct EdgeExtension {
    /// Product name.
    pub name: String,
    /// Id in the extension store.
    pub extension_id: String,
    /// Update address, http(s) or empty.
    pub crx_url: String,
}

/// A program that is handy in the sandbox, whatever the site.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Companion {
    /// Trimmed id, perhaps empty.
    pub id: String,
    /// Korean name, never empty.
    pub display_name: String,
    /// English name, where there is one.
    pub display_name_en: Option<String>,
    /// Official download page, http(s) or empty.
    pub url: String,
    /// What the query of `list_companions` looks into, lower-cased.
    pub search_text: String,
}

impl Service {
    /// Where the specification says its picture lies.
    #[must_use]
    pub fn icon_url(&self) -> String {
        format!("{IMAGES}/{}.png", self.id)
    }

    /// Where its picture really lies.
    #[must_use]
    pub fn logo_url(&self) -> String {
        format!("{IMAGES}/{}/{}.png", self.category, self.id)
    }

    /// The compatibility notes, unless there are none or they are blank.
    #[must_use]
    pub fn compat_warning(&self) -> Option<&str> {
        self.compat_notes
            .as_deref()
            .filter(|notes| !notes.is_empty())
    }

    /// Fills in the fields that derive from the others.
    fn index(&mut self) {
        let lower_name = self.display_name.to_lowercase();
        let packages = self.packages.iter().map(|package| package.name.as_str());
        let fields = [self.id.as_str(), &self.display_name]
            .into_iter()
            .chain(self.display_name_en.as_deref())
            .chain([self.category.as_str(), &self.url])
            .chain(packages)
            .chain(self.search_keywords.as_deref());
        self.search_text = joined_lowercase(fields);
        self.sort_key = lower_name.encode_utf16().collect();
    }
}

impl Companion {
    fn index(&mut self) {
        let display_name_en = self.display_name_en.as_deref().unwrap_or_default();
        let fields = [&self.id, &self.display_name, display_name_en, &self.url];
        self.search_text = joined_lowercase(fields.into_iter());
    }
}

/// The fields, separated by spaces, in the form that the query is brought into, too.
fn joined_lowercase<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let mut joined = String::new();
    for (index, field) in fields.enumerate() {
        if index > 0 {
            joined.push(' ');
        }
        // In pieces that no earnest field exceeds, because both steps copy and
        // normalising can take many times the text's size.
        let mut rest = field;
        while !rest.is_empty() {
            let mut length = rest.len().min(LONGEST_PIECE);
            while !rest.is_char_boundary(length) {
                length -= 1;
            }
            let (piece, after) = rest.split_at(length);
            let normal = match is_nfc_quick(piece.chars()) {
                IsNormalized::Yes => Cow::Borrowed(piece),
                IsNormalized::No | IsNormalized::Maybe => Cow::Owned(piece.nfc().collect()),
            };
            joined.push_str(&normal.to_lowercase());
            rest = after;
        }
    }
    joined.shrink_to_fit();
    joined
}

const LONGEST_PIECE: usize = 64 * 1024;

const IMAGES: &str = "https://yourtablecloth.app/TableClothCatalog/images";

impl Catalog {
    /// A catalog of these entries.
    #[must_use]
    pub fn new(mut services: Vec<Service>, mut companions: Vec<Companion>) -> Self {
        let mut by_id = HashMap::with_capacity(services.len());
        for (index, service) in services.iter_mut().enumerate() {
            service.index();
            by_id.entry(service.id.clone()).or_insert(index);
        }
        companions.iter_mut().for_each(Companion::index);
        Self {
            services,
            companions,
            by_id,
            suggester: OnceLock::new(),
        }
    }

    /// What finds the services that a request means. Made at the first call,
    /// which takes some milliseconds.
    #[must_use]
    pub fn suggester(&self) -> &Suggester {
        self.suggester.get_or_init(|| Suggester::new(self))
    }

    /// All services in document order.
    #[must_use]
    pub fn services(&self) -> &[Service] {
        &self.services
    }

    /// All companions in document order.
    #[must_use]
    pub fn companions(&self) -> &[Companion] {
        &self.companions
    }

    /// The first service with exactly this id.
    #[must_use]
    pub fn service(&self, id: &str) -> Option<&Service> {
        self.by_id.get(id).map(|&index| &self.services[index])
    }

    /// The categories with their number of services, most first. Names that
    /// differ in case alone are one category, under the spelling met first.
    #[must_use]
    pub fn categories(&self) -> Vec<(&str, usize)> {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for service in &self.services {
            let index = *seen
                .entry(service.category.to_lowercase())
                .or_insert_with(|| {
                    counts.push((&service.category, 0));
                    counts.len() - 1
                });
            counts[index].1 += 1;
        }
        counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        counts
    }

    /// Companions whose id, names or address contain the query, ignoring case
    /// and surrounding space; all of them for a blank query.
    #[must_use]
    pub fn find_companions(&self, query: &str) -> Vec<&Companion> {
        let query = trim(query).nfc().collect::<String>().to_lowercase();
        self.companions
            .iter()
            .filter(|companion| companion.search_text.contains(&query))
            .collect()
    }
}

/// Removes what JavaScript's `trim` removes, as other implementations do: white space and the byte order mark.
#[must_use]
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// [`trim`], as a range of byte positions in `text`.
#[must_use]
pub fn trimmed_range(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start_matches(is_space).len();
    start..start + trim(text).len()
}

fn is_space(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(id: &str, category: &str) -> Service {
        Service {
            id: id.to_owned(),
            category: category.to_owned(),
            ..Service::default()
        }
    }

    #[test]
    fn the_first_of_two_equal_ids_is_found() {
        let catalog = Catalog::new(vec![service("A", "x"), service("A", "y")], vec![]);
        assert_eq!(catalog.service("A").map(|s| s.category.as_str()), Some("x"));
        assert_eq!(catalog.services().len(), 2);
        assert!(catalog.service("a").is_none());
    }

    #[test]
    fn categories_ignore_case_and_keep_first_appearance_on_ties() {
        let catalog = Catalog::new(
            vec![
                service("1", "Other"),
                service("2", "Banking"),
                service("3", "BANKING"),
                service("4", "Card"),
            ],
            vec![],
        );
        assert_eq!(
            catalog.categories(),
            [("Banking", 2), ("Other", 1), ("Card", 1)]
        );
    }

    #[test]
    fn what_is_there_but_empty_differs_from_what_is_missing() {
        let catalog = parse::parse(
            "<TableClothCatalog><InternetServices>\
             <Service Id='Empty' Category='' en-US-DisplayName=''>\
             <CompatNotes> </CompatNotes><SearchKeywords/></Service>\
             <Service Id='Missing'/>\
             <Service Id=' Padded' Category='Banking '><CompatNotes>\n 주의 \n</CompatNotes></Service>\
             </InternetServices></TableClothCatalog>"
                .as_bytes(),
        )
        .unwrap();
        let empty = catalog.service("Empty").unwrap();
        assert_eq!(empty.category, "");
        assert_eq!(empty.display_name_en.as_deref(), Some(""));
        assert_eq!(empty.search_keywords.as_deref(), Some(""));
        assert_eq!(empty.compat_notes.as_deref(), Some(""));
        assert_eq!(empty.compat_warning(), None);
        let missing = catalog.service("Missing").unwrap();
        assert_eq!(missing.category, "Other");
        assert_eq!(missing.display_name_en, None);
        assert_eq!(missing.search_keywords, None);
        assert_eq!(missing.compat_notes, None);
        let padded = catalog.service("Padded").unwrap();
        assert_eq!(padded.category, "Banking");
        assert_eq!(padded.compat_warning(), Some("주의"));
    }

    #[test]
    fn companions_are_found_by_every_field() {
        let companion = Companion {
            id: "SevenZip".to_owned(),
            display_name: "압축".to_owned(),
            display_name_en: Some("7-Zip".to_owned()),
            url: "https://example.com/".to_owned(),
            search_text: String::new(),
        };
        let catalog = Catalog::new(vec![], vec![companion]);
        for query in ["sevenzip", " 압축\n", "7-ZIP", "example.com", ""] {
            assert_eq!(catalog.find_companions(query).len(), 1, "{query:?}");
        }
        assert!(catalog.find_companions("zip 7").is_empty());
    }

    #[test]
    fn the_search_text_is_whole_whatever_its_size() {
        let decomposed: String = "우리".nfd().collect();
        for length in [0, 1, LONGEST_PIECE - 2, LONGEST_PIECE, 3 * LONGEST_PIECE] {
            let keywords = "x".repeat(length) + &decomposed + "END";
            let mut service = Service {
                search_keywords: Some(keywords),
                ..service("A", "B")
            };
            service.index();
            let expected = format!("a  b  {}우리end", "x".repeat(length));
            assert_eq!(service.search_text, expected, "{length}");
        }
    }

    #[test]
    fn a_picture_lies_in_the_category_folder() {
        let service = service("WooriBank", "Banking");
        assert!(service.icon_url().ends_with("/images/WooriBank.png"));
        assert!(
            service
                .logo_url()
                .ends_with("/images/Banking/WooriBank.png")
        );
    }
}
