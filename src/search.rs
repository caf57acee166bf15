//! The search rule that all implementations of the specification share: how
//! many of the query's words a service's text contains.

use std::{cmp::Reverse, collections::HashSet};

use unicode_normalization::UnicodeNormalization as _;

use crate::catalog::{Catalog, Service, trim};

/// Fewest and most results of one search.
pub const LIMITS: std::ops::RangeInclusive<usize> = 1..=50;
/// Results of a search that asks for no number.
pub const DEFAULT_LIMIT: usize = 15;

/// The services that contain most of the query's words, best first; all of
/// them for a query without words. A category that is not blank keeps only the
/// services in it, ignoring case.
#[must_use]
pub fn search<'a>(
    catalog: &'a Catalog,
    query: &str,
    category: Option<&str>,
    limit: usize,
) -> Vec<&'a Service> {
    let tokens = tokens(query);
    let category = category
        .filter(|category| !trim(category).is_empty())
        .map(str::to_lowercase);
    let mut scored: Vec<(usize, &Service)> = catalog
        .services()
        .iter()
        .filter(|service| {
            category
                .as_ref()
                .is_none_or(|category| service.category.to_lowercase() == *category)
        })
        .map(|service| (score(service, &tokens), service))
        .filter(|&(score, _)| score > 0)
        .collect();
    // The sort is stable: catalog order decides last.
    scored.sort_by(|(score, service), (other_score, other)| {
        (Reverse(score), &service.sort_key).cmp(&(Reverse(other_score), &other.sort_key))
    });
    scored
        .into_iter()
        .take(limit.clamp(*LIMITS.start(), *LIMITS.end()))
        .map(|(_, service)| service)
        .collect()
}

fn score(service: &Service, tokens: &[String]) -> usize {
    if tokens.is_empty() {
        return 1;
    }
    tokens
        .iter()
        .filter(|token| service.search_text.contains(token.as_str()))
        .count()
}

/// The query's different words, composed and lower-cased.
fn tokens(query: &str) -> Vec<String> {
    let query = query.nfc().collect::<String>().to_lowercase();
    let mut seen = HashSet::new();
    query
        .split([' ', ',', '\t', '\r', '\n'])
        .filter(|token| !token.is_empty() && seen.insert(*token))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, option, prelude::*, sample::select};

    use super::*;
    use crate::catalog::Package;

    fn catalog(names: &[(&str, &str)]) -> Catalog {
        let services = names
            .iter()
            .enumerate()
            .map(|(index, (name, category))| Service {
                id: format!("S{index}"),
                display_name: (*name).to_owned(),
                category: (*category).to_owned(),
                ..Service::default()
            })
            .collect();
        Catalog::new(services, vec![])
    }

    fn names<'a>(found: &[&'a Service]) -> Vec<&'a str> {
        found.iter().map(|s| s.display_name.as_str()).collect()
    }

    #[test]
    fn more_words_come_first_then_the_name() {
        let catalog = catalog(&[
            ("나 은행", "B"),
            ("가 은행 카드", "B"),
            ("가 은행", "B"),
            ("다", "B"),
        ]);
        let found = search(&catalog, "은행 카드, 은행", None, 15);
        assert_eq!(names(&found), ["가 은행 카드", "가 은행", "나 은행"]);
    }

    #[test]
    fn names_are_ordered_by_utf16_code_units() {
        // U+FF21 lies above the surrogates of U+1F600 in code points, below in code units.
        let catalog = catalog(&[
            ("\u{ff21}", "x"),
            ("\u{1f600}", "x"),
            ("b", "x"),
            ("A", "x"),
        ]);
        let found = search(&catalog, "", None, 15);
        assert_eq!(names(&found), ["A", "b", "\u{1f600}", "\u{ff21}"]);
    }

    #[test]
    fn equal_names_keep_catalog_order() {
        let catalog = catalog(&[("가", "x"), ("가", "y")]);
        let found = search(&catalog, "가", None, 15);
        assert_eq!((found[0].id.as_str(), found[1].id.as_str()), ("S0", "S1"));
    }

    #[test]
    fn decomposed_hangul_finds_what_composed_hangul_finds() {
        let catalog = catalog(&[("국민은행", "Banking")]);
        let decomposed: String = "국민은행".nfd().collect();
        assert_eq!(search(&catalog, &decomposed, None, 15).len(), 1);
    }

    #[test]
    fn the_category_is_compared_whole_and_without_case() {
        let catalog = catalog(&[("가", "Banking"), ("나", "Other")]);
        assert_eq!(names(&search(&catalog, "", Some("bAnKing"), 15)), ["가"]);
        assert_eq!(search(&catalog, "", Some(" \t"), 15).len(), 2);
        assert!(search(&catalog, "", Some("Bank"), 15).is_empty());
    }

    #[test]
    fn the_limit_is_clamped() {
        let many: Vec<_> = (0..60).map(|_| ("은행", "B")).collect();
        let catalog = catalog(&many);
        assert_eq!(search(&catalog, "은행", None, 0).len(), 1);
        assert_eq!(search(&catalog, "은행", None, 1000).len(), 50);
    }

    /// A few words that meet often, whole and in part, and now and then any text.
    fn words() -> impl Strategy<Value = String> {
        const WORDS: [&str; 12] = [
            "은행",
            "카드",
            "국민",
            "KB",
            "kb",
            "Ａ",
            "İ",
            "ΑΣ",
            "\u{1112}\u{1161}\u{11ab}",
            "한",
            "ß",
            "\u{1f600}",
        ];
        let word =
            prop_oneof![8 => select(WORDS.to_vec()).prop_map(str::to_owned), 1 => any::<String>()];
        vec((word, select(vec![" ", ",", "\n", "", "\u{3000}"])), 0..4)
            .prop_map(|words| words.into_iter().map(|(word, gap)| word + gap).collect())
    }

    fn service() -> impl Strategy<Value = Service> {
        let name = "[A-C]{1,2}";
        let category = select(vec!["Banking", "BANKING", "Card", ""]);
        let texts = (words(), option::of(words()), words(), option::of(words()));
        (name, category, texts, vec(words(), 0..3)).prop_map(
            |(id, category, (display_name, display_name_en, url, search_keywords), packages)| {
                let packages = packages.into_iter();
                Service {
                    id,
                    category: category.to_owned(),
                    display_name,
                    display_name_en,
                    url,
                    search_keywords,
                    packages: packages
                        .map(|name| Package {
                            name,
                            ..Package::default()
                        })
                        .collect(),
                    ..Service::default()
                }
            },
        )
    }

    /// The rule as the specification words it, without anything prepared.
    fn recomputed(
        services: &[Service],
        query: &str,
        category: Option<&str>,
        limit: usize,
    ) -> Vec<usize> {
        let composed = |text: &str| text.nfc().collect::<String>().to_lowercase();
        let query = composed(query);
        let separators = [' ', ',', '\t', '\r', '\n'];
        let tokens: std::collections::BTreeSet<&str> = query
            .split(separators)
            .filter(|token| !token.is_empty())
            .collect();
        let wanted = category.filter(|category| !category.trim().is_empty());
        let mut found = Vec::new();
        for (place, service) in services.iter().enumerate() {
            let mut fields = vec![service.id.as_str(), &service.display_name];
            fields.extend(service.display_name_en.as_deref());
            fields.extend([service.category.as_str(), &service.url]);
            fields.extend(service.packages.iter().map(|package| package.name.as_str()));
            fields.extend(service.search_keywords.as_deref());
            let fields: Vec<String> = fields.into_iter().map(composed).collect();
            let text = fields.join(" ");
            let matched = tokens.iter().filter(|&&token| text.contains(token)).count();
            let is_in = wanted
                .is_none_or(|wanted| wanted.to_lowercase() == service.category.to_lowercase());
            if is_in && (matched > 0 || tokens.is_empty()) {
                let name: Vec<u16> = service.display_name.to_lowercase().encode_utf16().collect();
                found.push((Reverse(matched), name, place));
            }
        }
        found.sort();
        found.truncate(limit.clamp(1, 50));
        found.into_iter().map(|(_, _, place)| place).collect()
    }

    proptest! {
        #[test]
        fn results_follow_the_rule(
            services in vec(service(), 0..60),
            query in words(),
            category in option::of(select(vec!["banking", "Card", " ", "Car", ""])),
            limit in prop_oneof![0..60_usize, any::<usize>()],
        ) {
            let expected = recomputed(&services, &query, category, limit);
            let catalog = Catalog::new(services, vec![]);
            // By address: that is how a result is known to be of the catalog, and once.
            let places: Vec<usize> = search(&catalog, &query, category, limit)
                .into_iter()
                .filter_map(|found| catalog.services().iter().position(|s| std::ptr::eq(s, found)))
                .collect();
            prop_assert_eq!(places, expected);
        }
    }
}
