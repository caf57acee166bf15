//! Reads one request: the clues in it, and what it says by the way.

use std::ops::Range;

use super::{
    Suggester,
    book::{Book, Kind, Near, pieces},
    clue::{Cause, Clue},
    fold::Folded,
    keyboard::is_initials,
    segment::{Piece, Role, segment},
};
use crate::catalog::Catalog;

/// Words read as one when nothing in them is known.
const MOST_WORDS: usize = 3;
/// Part of a request that must be like a task for the likeness to count.
const LEAST_ALIKE: f32 = 0.62;
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

/// A stretch of words in which nothing is known.
struct Window {
    range: Range<usize>,
    letters: Vec<char>,
}

struct Reader<'a> {
    suggester: &'a Suggester,
    catalog: &'a Catalog,
    query: Folded,
    pieces: Vec<Piece>,
    /// Letters that a clue explains.
    explained: Vec<bool>,
    categories: Vec<&'a str>,
    reading: Reading,
}

impl Reading {
    /// Reads a request.
    #[must_use]
    pub fn new(suggester: &Suggester, catalog: &Catalog, query: &str) -> Self {
        let query = Folded::new(query);
        let longest = suggester
            .lexicon
            .book
            .longest()
            .max(suggester.own.longest());
        let pieces = segment(&query, longest, &|key| suggester.role(key));
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
        reader.read_alike();
        reader.read_hints();
        reader.weigh();
        reader.reading
    }
}

impl Suggester {
    /// What a stretch of letters is by itself.
    fn role(&self, key: &str) -> [Option<Role>; 3] {
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
    fn text(&self, range: &Range<usize>) -> String {
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
                    cause,
                });
            }
        }
    }

    /// Looks up what is unknown as mistyped, in the wrong layout, or cut short.
    fn read_unknown(&mut self) {
        for run in self.unknown_runs() {
            let windows = self.windows(&run);
            let mut best: Option<(f32, Vec<Clue>, bool, Range<usize>)> = None;
            for window in windows {
                let (clues, absent) = self.guess(&window);
                let weight = clues
                    .iter()
                    .map(|clue| clue.weight)
                    .fold(if absent { 0.9 } else { 0.0 }, f32::max);
                #[expect(clippy::cast_precision_loss, reason = "lengths are small")]
                let worth = weight * window.letters.len() as f32;
                if worth > best.as_ref().map_or(0.0, |best| best.0) {
                    best = Some((worth, clues, absent, window.range));
                }
            }
            if let Some((_, clues, absent, range)) = best {
                self.explained[range].fill(true);
                self.reading.absent |= absent;
                self.reading.clues.extend(clues);
            }
        }
    }

    /// Stretches between phrases that hold something unknown, as the words in them.
    fn unknown_runs(&self) -> Vec<Vec<Range<usize>>> {
        let mut runs: Vec<Vec<Range<usize>>> = vec![Vec::new()];
        let mut has_unknown = vec![false];
        for piece in &self.pieces {
            let is_phrase = matches!(piece.role, Some(Role::Phrase(_)));
            if is_phrase || self.explained[piece.range.start] {
                runs.push(Vec::new());
                has_unknown.push(false);
                continue;
            }
            let (Some(run), Some(unknown)) = (runs.last_mut(), has_unknown.last_mut()) else {
                continue;
            };
            *unknown |= piece.role.is_none();
            match run.last_mut() {
                Some(word) if !self.query.is_hard_edge(piece.range.start) => {
                    word.end = piece.range.end;
                }
                _ => run.push(piece.range.clone()),
            }
        }
        runs.into_iter()
            .zip(has_unknown)
            .filter_map(|(run, unknown)| unknown.then_some(run))
            .collect()
    }

    /// One to three words in a row, whole and without their endings.
    fn windows(&self, run: &[Range<usize>]) -> Vec<Window> {
        let mut windows = Vec::new();
        for first in 0..run.len() {
            for last in first..run.len().min(first + MOST_WORDS) {
                let mut range = run[first].start..run[last].end;
                loop {
                    let letters = self.query.letters[range.clone()].to_vec();
                    if letters.len() >= 2 {
                        windows.push(Window {
                            range: range.clone(),
                            letters,
                        });
                    }
                    let Some(end) = self.without_ending(&range, run[last].start) else {
                        break;
                    };
                    range.end = end;
                }
            }
        }
        windows
    }

    /// Where the stretch ends without its last ending or filler.
    fn without_ending(&self, range: &Range<usize>, word: usize) -> Option<usize> {
        let lexicon = self.suggester.lexicon;
        let first = range.start.max(word) + 1;
        (first..range.end).rev().find(|&start| {
            let tail = self.text(&(start..range.end));
            lexicon.endings.contains(&tail)
                || tail.chars().count() > 1 && lexicon.fillers.contains(&tail)
        })
    }

    /// What may have been meant by unknown letters, and whether that is absent.
    fn guess(&self, window: &Window) -> (Vec<Clue>, bool) {
        let typed: String = window.letters.iter().collect();
        let mut clues = Vec::new();
        let mut absent = false;
        let books = [&self.suggester.lexicon.book, &self.suggester.own];
        for book in books {
            if let Some(entry) = book.same_keys(&window.letters) {
                let cause = Cause::Layout {
                    typed: typed.clone(),
                    meant: book.entry(entry).text.clone(),
                };
                absent |= self.clues_of(book, entry, &window.range, 0.95, &cause, &mut clues);
            }
        }
        if !clues.is_empty() || absent {
            return (clues, absent);
        }
        let near: Vec<(&Book, Near)> = books
            .into_iter()
            .flat_map(|book| {
                book.near(&window.letters)
                    .into_iter()
                    .map(move |near| (book, near))
            })
            .filter(|(book, near)| self.is_alive(book, near.entry))
            .collect();
        let fewest = near
            .iter()
            .map(|(_, near)| near.slips)
            .fold(f32::INFINITY, f32::min);
        for (book, near) in near {
            if near.slips <= fewest {
                let cause = Cause::Typo {
                    typed: typed.clone(),
                    meant: book.entry(near.entry).text.clone(),
                };
                let weight = 0.95 - 0.1 * near.slips;
                absent |=
                    self.clues_of(book, near.entry, &window.range, weight, &cause, &mut clues);
            }
        }
        if clues.is_empty() && !absent && window.letters.len() >= 2 {
            clues = self.cut_short(window, &typed);
        }
        (clues, absent)
    }

    /// A name of which these letters are the start, if it is one institution's.
    fn cut_short(&self, window: &Window, typed: &str) -> Vec<Clue> {
        let mut clues = Vec::new();
        for book in [&self.suggester.lexicon.book, &self.suggester.own] {
            for entry in book.names_from(&window.letters).take(20) {
                let cause = Cause::Short {
                    typed: typed.to_owned(),
                    meant: book.entry(entry).text.clone(),
                };
                self.clues_of(book, entry, &window.range, 0.75, &cause, &mut clues);
            }
        }
        let business_of = |place: u32| self.suggester.business_site.get(&place).copied();
        let institution = |clue: &Clue| {
            let personal = self.suggester.business_site.iter();
            personal
                .filter(|&(_, &business)| business == clue.place)
                .map(|(&personal, _)| personal)
                .next()
                .unwrap_or(clue.place)
        };
        let first = clues.first().map(institution);
        let one = clues.iter().all(|clue| Some(institution(clue)) == first);
        if !one {
            clues.clear();
        }
        // The business site comes by itself where there is one.
        clues.retain(|clue| first.and_then(business_of) != Some(clue.place));
        clues
    }

    fn is_alive(&self, book: &Book, entry: usize) -> bool {
        let key: String = book.entry(entry).letters.iter().collect();
        self.suggester.meanings(&key).next().is_some()
    }

    /// Adds the clues that an entry gives; whether it stands for an absent service.
    fn clues_of(
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

    /// The words that are neither fillers nor endings.
    fn content(&self) -> Vec<&[char]> {
        let pieces = self.pieces.iter();
        pieces
            .filter(|piece| !matches!(piece.role, Some(Role::Filler | Role::Ending)))
            .map(|piece| &self.query.letters[piece.range.clone()])
            .collect()
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

    /// Looks for tasks that the request is like, where too little of it is known.
    fn read_alike(&mut self) {
        let is_named = self.reading.clues.iter().any(Clue::is_name);
        if is_named || self.reading.absent || self.coverage() > LEAST_COVERED {
            return;
        }
        let wanted = pieces(&self.content());
        let mut clues = Vec::new();
        for book in [&self.suggester.lexicon.book, &self.suggester.own] {
            for (entry, alike) in book.alike(&wanted, LEAST_ALIKE) {
                let cause = Cause::Alike(book.entry(entry).text.clone());
                self.clues_of(book, entry, &(0..0), alike * 0.95, &cause, &mut clues);
            }
        }
        self.reading.clues.extend(clues);
    }

    /// Words that stand in names of services: not enough alone, but they choose
    /// among services of the kind or for the task that is asked for.
    fn read_hints(&mut self) {
        let mut words: Vec<(usize, String)> = Vec::new();
        for piece in &self.pieces {
            let is_word = match piece.role {
                None => true,
                Some(Role::Phrase(_)) => piece.range.len() <= 3,
                Some(_) => false,
            };
            if is_word && piece.range.len() >= 2 {
                words.push((piece.range.start, self.text(&piece.range)));
            }
        }
        for run in self.unknown_runs() {
            for window in self.windows(&run) {
                words.push((window.range.start, window.letters.iter().collect()));
            }
        }
        for (position, word) in words {
            for (place, service) in (0..).zip(self.catalog.services()) {
                if !service.search_text.contains(&word)
                    || !service.display_name.to_lowercase().contains(&word)
                {
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
                    cause,
                });
            }
        }
    }

    /// Weighs each clue by how much of the request it and the others explain,
    /// and by the kind of site that is asked for.
    fn weigh(&mut self) {
        let coverage = self.coverage();
        for clue in &mut self.reading.clues {
            let trust = match (&clue.cause, clue.is_name()) {
                (Cause::Alike(_) | Cause::Hint(_), _) => 1.0,
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
