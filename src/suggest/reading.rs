//! Reads one request: the clues in it, and what it says by the way.

use std::{collections::HashSet, ops::Range};

use super::{
    Suggester,
    book::{Book, Kind, pieces},
    clue::{Cause, Clue},
    fold::Folded,
    keyboard::is_initials,
    segment::{Piece, Role, segment},
};
use crate::catalog::Catalog;

/// Words of one request that are looked for in the names of services.
const MOST_HINTS: usize = 8;
/// Part of a request that must be like a task for the likeness to count.
const LEAST_ALIKE: f32 = 0.55;
/// Part of the request below which what is known of it is not trusted alone.
const LEAST_COVERED: f32 = 0.6;

/// What a request says.
#[derive(Debug, Default)]
pub struct Reading {
    /// What speaks for services.
    pub clues: Vec<Clue>,
    /// It names a service that the catalog lacks.
    pub absent: bool,
    /// It is a company's.
    pub business: bool,
    /// It is a person's.
    pub personal: bool,
}

/// A request while it is read.
pub(super) struct Reader<'a> {
    pub(super) suggester: &'a Suggester,
    pub(super) catalog: &'a Catalog,
    pub(super) query: Folded,
    pub(super) pieces: Vec<Piece>,
    /// Letters that a clue explains.
    pub(super) explained: Vec<bool>,
    categories: Vec<&'a str>,
    pub(super) reading: Reading,
}

impl Reading {
    /// Reads a request.
    #[must_use]
    pub fn new(suggester: &Suggester, catalog: &Catalog, query: &str) -> Self {
        let query = Folded::new(query);
        let pieces = segment(&query, suggester.longest_phrase(), &|key| {
            suggester.role(key)
        });
        let mut reader = Reader {
            suggester,
            catalog,
            explained: vec![false; query.len()],
            query,
            pieces,
            categories: Vec::new(),
            reading: Self::default(),
        };
        reader.read_small_words();
        reader.read_initials();
        reader.read_phrases();
        reader.read_unknown();
        reader.drop_refused();
        reader.read_alike();
        reader.read_hints();
        reader.weigh();
        reader.reading
    }
}

impl Suggester {
    pub(super) fn longest_phrase(&self) -> usize {
        self.lexicon.book.longest().max(self.own.longest())
    }

    /// What a stretch of letters is by itself.
    pub(super) fn role(&self, key: &str) -> [Option<Role>; 3] {
        let lexicon = self.lexicon;
        let phrase = self
            .meanings(key)
            .map(|(kind, _, _)| kind.weight())
            .max_by(f32::total_cmp)
            .map(Role::Phrase);
        let is_filler = lexicon.fillers.contains(key)
            || lexicon.business.contains(key)
            || lexicon.personal.contains(key)
            || lexicon.categories.contains_key(key);
        [
            phrase,
            is_filler.then_some(Role::Filler),
            lexicon.endings.contains(key).then_some(Role::Ending),
        ]
    }
}

impl Reader<'_> {
    pub(super) fn text(&self, range: &Range<usize>) -> String {
        self.query.letters[range.clone()].iter().collect()
    }

    /// What the fillers say: whose request it is, and of which kind of site.
    fn read_small_words(&mut self) {
        let lexicon = self.suggester.lexicon;
        for piece in &self.pieces {
            if piece.role != Some(Role::Filler) {
                continue;
            }
            let word = self.text(&piece.range);
            self.reading.business |= lexicon.business.contains(&word);
            self.reading.personal |= lexicon.personal.contains(&word);
            if let Some(category) = lexicon.categories.get(&word) {
                self.categories.push(category);
            }
        }
    }

    fn read_initials(&mut self) {
        let words: Vec<Range<usize>> = self.query.words().collect();
        for word in words {
            let letters = self.query.letters[word.clone()].to_vec();
            if !is_initials(&letters) {
                continue;
            }
            let typed = self.text(&word);
            for book in [&self.suggester.lexicon.book, &self.suggester.own] {
                for &entry in book.with_initials(&letters) {
                    let meant = book.entry(entry).text.clone();
                    let cause = Cause::Initials {
                        typed: typed.clone(),
                        meant,
                    };
                    self.add(book, entry, &word, 0.95, &cause);
                }
            }
        }
    }

    fn read_phrases(&mut self) {
        for index in 0..self.pieces.len() {
            let Piece { range, role } = self.pieces[index].clone();
            let Some(Role::Phrase(_)) = role else {
                continue;
            };
            let key = self.text(&range);
            for (kind, place, text) in self.suggester.meanings(&key) {
                self.explained[range.clone()].fill(true);
                let Some(place) = place else {
                    self.reading.absent = true;
                    continue;
                };
                let cause = match kind {
                    Kind::Task => Cause::Task(text.to_owned()),
                    Kind::AlsoTask => Cause::AlsoTask(text.to_owned()),
                    _ => Cause::Name(text.to_owned()),
                };
                self.reading.clues.push(Clue {
                    place,
                    weight: kind.weight(),
                    position: range.start,
                    kind,
                    everyday: self.suggester.lexicon.everyday_names.contains(&key),
                    cause,
                });
            }
        }
    }

    /// Adds the clues that an entry gives; whether it stands for an absent service.
    pub(super) fn clues_of(
        &self,
        book: &Book,
        entry: usize,
        range: &Range<usize>,
        weight: f32,
        cause: &Cause,
        clues: &mut Vec<Clue>,
    ) -> bool {
        let key: String = book.entry(entry).letters.iter().collect();
        let mut absent = false;
        for (kind, place, _) in self.suggester.meanings(&key) {
            match place {
                None => absent = true,
                Some(place) => clues.push(Clue {
                    place,
                    weight: kind.weight() * weight,
                    position: range.start,
                    kind,
                    everyday: false,
                    cause: cause.clone(),
                }),
            }
        }
        absent
    }

    fn add(&mut self, book: &Book, entry: usize, range: &Range<usize>, weight: f32, cause: &Cause) {
        let mut clues = Vec::new();
        let absent = self.clues_of(book, entry, range, weight, cause, &mut clues);
        // Initials of an absent service may well be those of another that is there.
        if absent && clues.is_empty() {
            return;
        }
        self.explained[range.clone()].fill(true);
        self.reading.clues.extend(clues);
    }

    /// The words that are neither fillers nor endings, as ranges of letters.
    pub(super) fn content(&self) -> Vec<Range<usize>> {
        let mut words: Vec<Range<usize>> = Vec::new();
        for piece in &self.pieces {
            if matches!(piece.role, Some(Role::Filler | Role::Ending)) {
                continue;
            }
            let range = piece.range.clone();
            match words.last_mut() {
                Some(word) if word.end == range.start && !self.query.is_edge(range.start) => {
                    word.end = range.end;
                }
                _ => words.push(range),
            }
        }
        words
    }

    /// Content letters, and how many of them clues explain.
    fn coverage(&self) -> f32 {
        let mut content = 0.0;
        let mut explained = 0.0;
        for piece in &self.pieces {
            for position in piece.range.clone() {
                if self.explained[position] {
                    explained += 1.0;
                    content += 1.0;
                } else if piece.role.is_none() {
                    content += 1.0;
                }
            }
        }
        if content == 0.0 {
            0.0
        } else {
            explained / content
        }
    }

    /// Takes back what is named only to be refused: not this bank but that one.
    fn drop_refused(&mut self) {
        let refusals = &self.suggester.lexicon.refusals;
        let refused: HashSet<usize> = self
            .pieces
            .iter()
            .map(|piece| &piece.range)
            .filter(|range| {
                let after: String = self.query.letters[range.end..].iter().take(8).collect();
                refusals.iter().any(|refusal| after.starts_with(refusal))
            })
            .map(|range| range.start)
            .collect();
        let is_refused = |clue: &Clue| refused.contains(&clue.position);
        if !self.reading.clues.iter().all(is_refused) {
            self.reading.clues.retain(|clue| !is_refused(clue));
        }
    }

    /// Looks for tasks that the request is like, where too little of it is known.
    fn read_alike(&mut self) {
        let is_named = self.reading.clues.iter().any(Clue::is_name);
        if is_named || self.reading.absent || self.coverage() > LEAST_COVERED {
            return;
        }
        let content = self.content();
        let words: Vec<&[char]> = content
            .into_iter()
            .map(|word| &self.query.letters[word])
            .collect();
        let wanted = pieces(&words);
        let mut clues = Vec::new();
        for book in [&self.suggester.lexicon.book, &self.suggester.own] {
            for (entry, alike) in book.alike(&wanted, LEAST_ALIKE) {
                let found = book.entry(entry);
                let text = found.text.clone();
                let cause = if found.meanings.iter().any(|meaning| meaning.kind.is_task()) {
                    Cause::Alike(text)
                } else {
                    Cause::Name(text)
                };
                self.clues_of(book, entry, &(0..0), alike * 0.95, &cause, &mut clues);
            }
        }
        self.reading.clues.extend(clues);
    }

    /// Words that stand in names of services: not enough alone, but they choose
    /// among services of the kind or for the task that is asked for.
    fn read_hints(&mut self) {
        let has_task = self.reading.clues.iter().any(|clue| !clue.is_name());
        if self.reading.absent || !has_task && self.categories.is_empty() {
            return;
        }
        let mut words: Vec<(usize, String)> = self
            .content()
            .into_iter()
            .filter(|word| word.len() >= 2)
            .map(|word| (word.start, self.text(&word)))
            .collect();
        words.truncate(MOST_HINTS);
        for (position, word) in words {
            for (place, service) in (0..).zip(self.catalog.services()) {
                // Keywords count; ids and addresses do not, which are Latin.
                let is_in_name =
                    !word.is_ascii() || service.display_name.to_lowercase().contains(&word);
                if !is_in_name || !service.search_text.contains(&word) {
                    continue;
                }
                // The kind and a word of the name together are as good as the name.
                let of_kind = self.categories.contains(&service.category.as_str());
                let (weight, cause) = if of_kind {
                    (0.9, Cause::Name(service.display_name.clone()))
                } else {
                    (0.5, Cause::Hint(word.clone()))
                };
                self.reading.clues.push(Clue {
                    place,
                    weight,
                    position,
                    kind: Kind::Name,
                    everyday: false,
                    cause,
                });
            }
        }
    }

    /// Weighs each clue by how much of the request it and the others explain,
    /// and by the kind of site that is asked for.
    fn weigh(&mut self) {
        let coverage = self.coverage();
        let positions: HashSet<usize> = self
            .reading
            .clues
            .iter()
            .map(|clue| clue.position)
            .collect();
        // Alone, or with the kind of site, an ordinary word is a name.
        let says_more = positions.len() > 1 || coverage < 1.0;
        for clue in &mut self.reading.clues {
            if clue.everyday && says_more && self.categories.is_empty() {
                clue.weight *= 0.5;
            }
            let trust = match (&clue.cause, clue.is_name()) {
                (Cause::Alike(_) | Cause::Hint(_), _) => 1.0,
                // A guess at one word of many is a guess too far.
                (Cause::Typo { .. } | Cause::Short { .. }, _) => 0.4 + 0.6 * coverage,
                (_, true) => 0.85 + 0.15 * coverage,
                (_, false) => 0.55 + 0.45 * coverage,
            };
            clue.weight *= trust;
            let service = self.catalog.services().get(clue.place as usize);
            let other_kind = !self.categories.is_empty()
                && service
                    .is_some_and(|service| !self.categories.contains(&service.category.as_str()));
            if other_kind && clue.is_name() {
                clue.weight *= 0.85;
            }
        }
    }
}
