//! Guesses at the words of a request that are unknown: mistyped, typed in the
//! other layout, or cut short.

use std::ops::Range;

use super::{
    book::{Book, Near},
    clue::{Cause, Clue},
    fold::Folded,
    keyboard::syllables,
    reading::Reader,
    segment::{Role, segment},
};

/// Words read as one when nothing in them is known.
const MOST_WORDS: usize = 3;
/// Stretches of one request that are looked up as mistyped, and letters of the longest:
/// beyond that it is prose, not the name of a site.
const MOST_WINDOWS: usize = 40;
const LONGEST_WINDOW: usize = 24;

/// A stretch of words in which nothing is known.
struct Window {
    range: Range<usize>,
    letters: Vec<char>,
}

impl Reader<'_> {
    /// Looks up what is unknown as mistyped, in the wrong layout, or cut short.
    pub(super) fn read_unknown(&mut self) {
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
                let content: usize = self.content().iter().map(ExactSizeIterator::len).sum();
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
        // Any two letters are near others: 세금 is not mistyped 새금.
        if window.letters.len() == 2 {
            return (self.cut_short(window, &typed), absent);
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
}
