//! The names a catalog itself gives its services, taken from their fields, so
//! that a service the lexicon has never heard of is found too.

use std::collections::HashMap;

use super::{
    book::{Book, Kind, Meaning},
    fold,
    lexicon::Lexicon,
};
use crate::catalog::{Catalog, Service};

/// What follows a company's English name, and says nothing.
const LEGAL_FORMS: [&str; 12] = [
    "co",
    "ltd",
    "inc",
    "corp",
    "corporation",
    "company",
    "limited",
    "llc",
    "plc",
    "korea",
    "of",
    "the",
];

/// A book of the catalog's names and keywords; a service's number is its place.
/// A name that a business site shares with the personal one is the latter's.
#[must_use]
pub fn book(catalog: &Catalog, lexicon: &Lexicon, is_business_site: &dyn Fn(u32) -> bool) -> Book {
    let services = catalog.services();
    let words: Vec<Vec<String>> = services.iter().map(words).collect();
    let mut bearers: HashMap<&str, u32> = HashMap::new();
    for word in words.iter().flatten() {
        *bearers.entry(word).or_default() += 1;
    }
    let is_small = |word: &str| {
        lexicon.fillers.contains(word)
            || lexicon.business.contains(word)
            || lexicon.personal.contains(word)
            || lexicon.categories.contains_key(word)
    };
    // Also a word that is made of such words: 증명서발급.
    let says_nothing = |word: &str| {
        is_small(word)
            || word
                .char_indices()
                .skip(1)
                .any(|(cut, _)| is_small(&word[..cut]) && is_small(&word[cut..]))
    };
    let phrases = (0..)
        .zip(services.iter().zip(&words))
        .flat_map(|(number, (service, words))| {
            let is_business_site = is_business_site(number);
            let mut names = whole_names(service, &says_nothing);
            if is_business_site {
                names.truncate(1);
            }
            let mut phrases: Vec<(String, Kind)> =
                names.into_iter().map(|name| (name, Kind::Name)).collect();
            // A word of a short name stands for the service if no third one bears it
            // (a bank's personal and business sites are two). A long one describes.
            let telling = service
                .display_name
                .split_whitespace()
                .filter(|word| !says_nothing(&fold::key(word)))
                .count();
            let own = words.iter().filter(|word| {
                (telling <= 2 || word.is_ascii())
                    && word.chars().count() > 1
                    && !says_nothing(word)
                    && !lexicon.endings.contains(*word)
                    && bearers
                        .get(word.as_str())
                        .is_some_and(|&count| count == 1 || count == 2 && !is_business_site)
            });
            phrases.extend(own.map(|word| (word.clone(), Kind::Name)));
            let keywords = service.search_keywords.as_deref().unwrap_or_default();
            phrases.extend(
                keywords
                    .split([';', ',', '\t', '\n', '\r'])
                    // Two letters are a place or a part of a name, not an institution.
                    .filter(|keyword| keyword.trim().chars().count() > 2)
                    .map(|keyword| (keyword.trim().to_owned(), Kind::Keyword)),
            );
            phrases.into_iter().map(move |(text, kind)| {
                let service = number;
                (text, Meaning { kind, service })
            })
        });
    Book::new(phrases, &|word| lexicon.fillers.contains(word))
}

/// The names as they stand, and without what all of their kind have in common.
fn whole_names(service: &Service, says_nothing: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut names = vec![service.display_name.clone()];
    let without_brackets = service.display_name.split('(').next().unwrap_or_default();
    let mut words: Vec<&str> = without_brackets.split_whitespace().collect();
    while words.len() > 1
        && words
            .last()
            .is_some_and(|word| says_nothing(&fold::key(word)))
    {
        words.pop();
    }
    names.push(words.join(" "));
    if let Some(english) = &service.display_name_en {
        let without_brackets = english.split('(').next().unwrap_or_default();
        let mut words: Vec<&str> = without_brackets
            .split([' ', ',', '.'])
            .filter(|word| !word.is_empty())
            .collect();
        names.push(words.join(" "));
        while words.len() > 1
            && words
                .last()
                .is_some_and(|word| LEGAL_FORMS.contains(&word.to_lowercase().as_str()))
        {
            words.pop();
        }
        names.push(words.join(" "));
    }
    names
}

/// The words of its Korean name and the name in its address, folded.
fn words(service: &Service) -> Vec<String> {
    let mut words: Vec<String> = service
        .display_name
        .split([' ', '(', ')'])
        .map(fold::key)
        .filter(|word| !word.is_empty())
        .collect();
    words.extend(site_name(&service.url));
    words.sort_unstable();
    words.dedup();
    words
}

/// The part of an address that is registered for one institution: `nhis.or.kr`.
#[must_use]
pub fn domain(url: &str) -> Option<&str> {
    let host = url.split("//").nth(1)?.split(['/', ':', '?']).next()?;
    let dots: Vec<usize> = host.rmatch_indices('.').map(|(dot, _)| dot).collect();
    // Under a country the kind of organisation comes first.
    let is_country = dots.first().is_some_and(|dot| host.len() - dot == 3);
    let labels = if is_country { 3 } else { 2 };
    Some(dots.get(labels - 1).map_or(host, |dot| &host[dot + 1..]))
}

/// The part of an address by which people know the site: `kbstar` of `www.kbstar.com`.
fn site_name(url: &str) -> Option<String> {
    let host = url.split("//").nth(1)?.split(['/', ':', '?']).next()?;
    let mut labels: Vec<&str> = host.split('.').collect();
    // The country, the kind of organisation, and at least one before them.
    while labels.len() > 1 && labels.last().is_some_and(|label| label.len() <= 3) {
        labels.pop();
    }
    let name = labels.last()?;
    (name.len() > 3).then(|| fold::key(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_in_an_address() {
        for (url, name) in [
            ("https://www.kbstar.com/", Some("kbstar")),
            ("https://biz.suhyup-bank.com/x", Some("suhyupbank")),
            ("https://hometax.go.kr/", Some("hometax")),
            ("https://www.citibank.co.kr:443", Some("citibank")),
            ("https://www.ibk.co.kr/", None),
            ("", None),
        ] {
            assert_eq!(site_name(url).as_deref(), name, "{url}");
        }
    }

    #[test]
    fn the_domain_of_an_institution() {
        for (url, registered) in [
            ("https://nhiss.nhis.or.kr/x", Some("nhis.or.kr")),
            ("https://www.nhis.or.kr:443/", Some("nhis.or.kr")),
            ("http://scourt.go.kr", Some("scourt.go.kr")),
            ("https://biz.kebhana.com/", Some("kebhana.com")),
            ("https://localhost/", Some("localhost")),
            ("", None),
        ] {
            assert_eq!(domain(url), registered, "{url}");
        }
    }

    #[test]
    fn a_service_unknown_to_the_lexicon_has_its_names() {
        let service = Service {
            id: "NewBank".to_owned(),
            display_name: "새별은행 개인뱅킹".to_owned(),
            display_name_en: Some("Saebyeol Bank Co., Ltd. (Corp.)".to_owned()),
            search_keywords: Some("새별;별은행".to_owned()),
            ..Service::default()
        };
        let catalog = Catalog::new(vec![service], vec![]);
        let book = book(&catalog, &super::super::lexicon::LEXICON, &|_| false);
        for name in ["새별은행개인뱅킹", "새별은행", "saebyeolbank", "별은행"] {
            assert!(book.exact(name).is_some(), "{name}");
        }
        assert!(book.exact("개인뱅킹").is_none());
    }
}
