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
pub static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    // A test reads the file, so the default is never used.
    let file = serde_json::from_str(FILE).unwrap_or_default();
    Lexicon::new(file)
});

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
    particles: Vec<String>,
    endings: Vec<String>,
    fillers: Vec<String>,
    fillers_english: Vec<String>,
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
    /// Particles and endings, folded.
    pub endings: HashSet<String>,
    /// Words that say nothing about the service, folded.
    pub fillers: HashSet<String>,
}

impl Lexicon {
    fn new(file: File) -> Self {
        let keys = |words: &[String]| words.iter().map(|word| fold::key(word)).collect();
        let language = &file.language;
        let fillers: HashSet<String> = keys(
            &[
                language.fillers.as_slice(),
                language.fillers_english.as_slice(),
            ]
            .concat(),
        );
        let mut services: Vec<(String, Intents)> = file.services.into_iter().collect();
        // The map's order changes from run to run.
        services.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut phrases = Vec::new();
        let mut former_ids = HashMap::new();
        for (service, (_, intents)) in (0..).zip(&services) {
            for (kind, texts) in [
                (Kind::Name, &intents.names),
                (Kind::Task, &intents.tasks),
                (Kind::AlsoTask, &intents.also_tasks),
            ] {
                let of_kind = texts.iter();
                phrases.extend(of_kind.map(|text| (text.clone(), Meaning { kind, service })));
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
            endings: keys(&[language.particles.as_slice(), language.endings.as_slice()].concat()),
            fillers,
        }
    }
}
