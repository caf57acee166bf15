//! Reads one request: the clues in it, and what it says by the way.

use std::{collections::HashSet, ops::Range};

use super::{
    Suggester,
    book::{Book, Kind, Near, pieces},
    clue::{Cause, Clue},
    fold::Folded,
    keyboard::{is_initials, syllables},
    segment::{Piece, Role, segment},
};
use crate::catalog::Catalog;

/// Words read as one when nothing in them is known.
const MOST_WORDS: usize = 3;
/// Stretches of one request that are looked up as mistyped, and letters of the longest:
/// beyond that it is prose, not the name of a site.
const MOST_WINDOWS: usize = 40;
const LONGEST_WINDOW: usize = 24;
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
    fn longest_phrase(&self) -> usize {
        self.lexicon.book.longest().max(self.own.longest())
    }

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
                    everyday: self.suggester.lexicon.everyday_names.contains(&key),
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
                // One word of many that is near an absent name does not make the request one for it.
                let content: usize = self.content().iter().map(|word| word.len()).sum();
                self.reading.absent |= absent && range.len() * 2 >= content;
                self.explained[range].fill(true);
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

    /// One to three words in a row, whole and without what follows a noun.
    fn windows(&self, run: &[Range<usize>]) -> Vec<Window> {
        let mut windows = Vec::new();
        for first in 0..run.len() {
            for last in first..run.len().min(first + MOST_WORDS) {
                let start = run[first].start;
                for end in self.ends(start.max(run[last].start), run[last].end) {
                    if windows.len() == MOST_WINDOWS {
                        return windows;
                    }
                    let range = start..end;
                    if (2..=LONGEST_WINDOW).contains(&range.len()) && self.has_unknown(&range) {
                        let letters = self.query.letters[range.clone()].to_vec();
                        windows.push(Window { range, letters });
                    }
                }
            }
        }
        windows
    }

    fn has_unknown(&self, range: &Range<usize>) -> bool {
        self.pieces
            .iter()
            .any(|piece| piece.role.is_none() && range.contains(&piece.range.start))
    }

    /// Where a word may end: at its end, or before particles and fillers there.
    fn ends(&self, start: usize, end: usize) -> Vec<usize> {
        let lexicon = self.suggester.lexicon;
        let mut ends = vec![end];
        let mut looked = 0;
        while let Some(&end) = ends.get(looked) {
            looked += 1;
            for cut in start + 1..end {
                let tail = self.text(&(cut..end));
                let is_tail = lexicon.particles.contains(&tail)
                    || end - cut > 1 && lexicon.fillers.contains(&tail);
                if is_tail && !ends.contains(&cut) {
                    ends.push(cut);
                }
            }
        }
        ends
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
        if clues.is_empty() && !absent {
            absent = self.in_other_layout(window, &typed, &mut clues);
        }
        if !clues.is_empty() || absent {
            return (clues, absent);
        }
        // 삼성 is not mistyped, though no single service is called so.
        let services = self.catalog.services();
        let is_word = window.letters.len() == 2
            && services.iter().any(|service| service.search_text.contains(&typed));
        if is_word {
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

    /// Reads Latin letters as the syllables their keys type; whether they name an
    /// absent service. Only if all that comes out is known: most words of other
    /// languages type some syllables.
    fn in_other_layout(&self, window: &Window, typed: &str, clues: &mut Vec<Clue>) -> bool {
        let Some(meant) = syllables(&window.letters) else {
            return false;
        };
        let meant = Folded::new(&meant);
        let suggester = self.suggester;
        let longest = suggester.longest_phrase();
        let pieces = segment(&meant, longest, &|key| suggester.role(key));
        if pieces.iter().any(|piece| piece.role.is_none()) {
            return false;
        }
        let mut absent = false;
        for piece in pieces {
            let key: String = meant.letters[piece.range].iter().collect();
            for (kind, place, text) in suggester.meanings(&key) {
                let Some(place) = place else {
                    absent = true;
                    continue;
                };
                clues.push(Clue {
                    place,
                    weight: kind.weight() * 0.95,
                    position: window.range.start,
                    kind,
                    everyday: false,
                    cause: Cause::Layout {
                        typed: typed.to_owned(),
                        meant: text.to_owned(),
                    },
                });
            }
        }
        absent
    }

    /// A name of which these letters are the start, if all that begins so is one
    /// institution's.
    fn cut_short(&self, window: &Window, typed: &str) -> Vec<Clue> {
        const MANY: usize = 12;
        let mut clues = Vec::new();
        for book in [&self.suggester.lexicon.book, &self.suggester.own] {
            for (count, entry) in book.beginning_with(&window.letters).enumerate() {
                let cause = Cause::Short {
                    typed: typed.to_owned(),
                    meant: book.entry(entry).text.clone(),
                };
                let absent = self.clues_of(book, entry, &window.range, 0.75, &cause, &mut clues);
                if absent || count == MANY {
                    return Vec::new();
                }
            }
        }
        let institution = |clue: &Clue| self.suggester.institution(clue.place);
        let first = clues.first().map(institution);
        if !clues.iter().all(|clue| Some(institution(clue)) == first) {
            return Vec::new();
        }
        // The business site comes by itself where there is one.
        clues.retain(|clue| clue.is_name() && Some(clue.place) == first);
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
    fn content(&self) -> Vec<Range<usize>> {
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
                let cause = Cause::Alike(book.entry(entry).text.clone());
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
                clue.weight *= 0.6;
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
