//! `shared/intents.json`: what people call the services and do there, and the
//! words of a request that say nothing about which service is meant.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use serde::Deserialize;

use super::{
    book::{Book, Kind, Meaning},
    fold,
};

/// The lexicon, as compiled in.
pub static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::compiled_in);

/// The file's text.
const FILE: &str = include_str!("../../shared/intents.json");

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    services: HashMap<String, Intents>,
    categories: HashMap<String, Vec<String>>,
    business_words: Vec<String>,
    personal_words: Vec<String>,
    absent: Vec<String>,
    language: Language,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Intents {
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    tasks: Vec<String>,
    #[serde(default)]
    also_tasks: Vec<String>,
    #[serde(default)]
    former_ids: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Language {
    everyday_names: Vec<String>,
    particles: Vec<String>,
    endings: Vec<String>,
    fillers: Vec<String>,
    fillers_english: Vec<String>,
    refusals: Vec<String>,
}

/// What is known of services, whatever the catalog.
#[derive(Debug)]
pub struct Lexicon {
    /// The services' ids; a place in the list is the number used in the book.
    pub ids: Vec<String>,
    /// Names and tasks of the services, and the absent ones.
    pub book: Book,
    /// Ids that were changed, with the number of the service.
    pub former_ids: HashMap<String, u32>,
    /// Words for a category, folded, with the category.
    pub categories: HashMap<String, String>,
    /// Words that say the request is a company's, folded.
    pub business: HashSet<String>,
    /// Words that say the request is a person's, folded.
    pub personal: HashSet<String>,
    /// Names that are ordinary words too, folded.
    pub everyday_names: HashSet<String>,
    /// Particles, which follow nouns, folded.
    pub particles: HashSet<String>,
    /// Particles and endings of verbs, folded.
    pub endings: HashSet<String>,
    /// Words that say nothing about the service, folded.
    pub fillers: HashSet<String>,
    /// Words that refuse what stands before them.
    pub refusals: Vec<String>,
}

impl Lexicon {
    /// Makes the lexicon, which takes some milliseconds. [`LEXICON`] is one for all.
    #[must_use]
    pub fn compiled_in() -> Self {
        // A test reads the file, so the default is never used.
        Self::new(serde_json::from_str(FILE).unwrap_or_default())
    }

    fn new(file: File) -> Self {
        let keys = |words: &[String]| words.iter().map(|word| fold::key(word)).collect();
        let language = &file.language;
        let fillers: HashSet<String> = keys(
            &[
                language.fillers.as_slice(),
                language.fillers_english.as_slice(),
                language.refusals.as_slice(),
            ]
            .concat(),
        );
        let mut services: Vec<(String, Intents)> = file.services.into_iter().collect();
        // The map's order changes from run to run.
        services.sort_by(|(one, _), (other, _)| one.cmp(other));
        // What is left of a task must not be a name, or a word that says something else.
        let taken: HashSet<String> = services
            .iter()
            .flat_map(|(_, intents)| &intents.names)
            .chain(file.categories.values().flatten())
            .chain(&file.business_words)
            .chain(&file.personal_words)
            .map(|word| fold::key(word))
            .collect();
        let mut phrases = Vec::new();
        let mut former_ids = HashMap::new();
        for (service, (_, intents)) in (0..).zip(&services) {
            for (kind, texts) in [
                (Kind::Name, &intents.names),
                (Kind::Task, &intents.tasks),
                (Kind::AlsoTask, &intents.also_tasks),
            ] {
                for text in texts {
                    phrases.push((text.clone(), Meaning { kind, service }));
                    if kind.is_task()
                        && let Some(short) = without_tail(text, &fillers)
                        && !taken.contains(&fold::key(&short))
                    {
                        let kind = Kind::AlsoTask;
                        phrases.push((short, Meaning { kind, service }));
                    }
                }
            }
            former_ids.extend(intents.former_ids.iter().map(|id| (id.clone(), service)));
        }
        let nobody = Meaning {
            kind: Kind::Absent,
            service: u32::MAX,
        };
        phrases.extend(file.absent.into_iter().map(|text| (text, nobody.clone())));
        let categories = file.categories.iter().flat_map(|(category, words)| {
            let words = words.iter();
            words.map(|word| (fold::key(word), category.clone()))
        });
        Self {
            book: Book::new(phrases.into_iter(), &|word| fillers.contains(word)),
            ids: services.into_iter().map(|(id, _)| id).collect(),
            former_ids,
            categories: categories.collect(),
            business: keys(&file.business_words),
            personal: keys(&file.personal_words),
            everyday_names: keys(&language.everyday_names),
            particles: keys(&language.particles),
            endings: keys(&[language.particles.as_slice(), language.endings.as_slice()].concat()),
            fillers,
            refusals: language
                .refusals
                .iter()
                .map(|word| fold::key(word))
                .collect(),
        }
    }
}

/// A task without the general words at its end: 휴폐업 조회 as 휴폐업. What is left
/// has to be particular enough to stand for the task.
fn without_tail(task: &str, fillers: &HashSet<String>) -> Option<String> {
    let mut words: Vec<&str> = task.split_whitespace().collect();
    let all = words.len();
    while words
        .last()
        .is_some_and(|word| fillers.contains(&fold::key(word)))
    {
        words.pop();
    }
    let left = words.join(" ");
    // One English word is hardly ever.
    let is_particular = words.len() > 1 || !left.is_ascii();
    (words.len() < all && is_particular && fold::key(&left).chars().count() >= 3).then_some(left)
}

#[cfg(test)]
mod tests {
    use unicode_normalization::is_nfc;

    use super::*;
    use crate::catalog::parse::parse;

    fn file() -> File {
        serde_json::from_str(FILE).unwrap()
    }

    fn phrases(intents: &Intents) -> impl Iterator<Item = &String> {
        let tasks = intents.tasks.iter().chain(&intents.also_tasks);
        intents.names.iter().chain(tasks)
    }

    #[test]
    fn the_file_is_well_formed() {
        assert!(is_nfc(FILE));
        let file = file();
        let mut names = 0;
        let mut tasks = 0;
        for (id, intents) in &file.services {
            let mut seen = HashSet::new();
            for phrase in phrases(intents) {
                let key = fold::key(phrase);
                assert!(
                    !key.is_empty() && phrase.trim() == phrase,
                    "{id}: {phrase:?}"
                );
                assert!(seen.insert(key), "{id}: {phrase} is there twice");
            }
            names += intents.names.len();
            tasks += intents.tasks.len();
        }
        assert!(names >= 250 && tasks >= 600);
    }

    #[test]
    fn the_file_does_not_contradict_itself() {
        let file = file();
        let mut bearers: HashMap<String, &str> = HashMap::new();
        for (id, intents) in &file.services {
            for name in &intents.names {
                bearers.insert(fold::key(name), id);
            }
        }
        let mut known = HashSet::new();
        for (id, intents) in &file.services {
            for phrase in phrases(intents) {
                let key = fold::key(phrase);
                let is_own_name = intents.names.contains(phrase);
                let bearer = bearers.get(&key);
                assert!(
                    is_own_name || bearer.is_none_or(|bearer| bearer == id),
                    "{phrase} is a task of {id} and a name of {bearer:?}"
                );
                known.insert(key);
            }
        }
        for absent in &file.absent {
            assert!(
                !known.contains(&fold::key(absent)),
                "{absent} is not absent"
            );
        }
    }

    /// Against the starter catalog: each of its services has intents. Against a whole
    /// catalog, which `TABLECLOTH_TEST_CATALOG` names: each id of the file is there.
    #[test]
    fn every_id_is_real() {
        let file = file();
        let starter = parse(include_bytes!("../../shared/starter-catalog.xml")).unwrap();
        for service in starter.services() {
            assert!(file.services.contains_key(&service.id), "{}", service.id);
        }
        if let Ok(path) = std::env::var("TABLECLOTH_TEST_CATALOG") {
            let whole = parse(&std::fs::read(path).unwrap()).unwrap();
            for id in file.services.keys() {
                assert!(whole.service(id).is_some(), "{id}");
            }
            for service in starter.services() {
                assert_eq!(
                    whole
                        .service(&service.id)
                        .map(|real| (&real.display_name, &real.url)),
                    Some((&service.display_name, &service.url))
                );
            }
        }
    }
}
