//! Phrases and the ways to look them up: whole, mistyped, by initials, cut
//! short, or by the pieces they share.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use super::{
    fold::{Folded, is_hangul},
    keyboard::{initials, strokes},
    typo::{Trigrams, distance, is_one_letter_off, tolerance},
};

/// What a phrase is to the service it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What people call it.
    Name,
    /// A word of the catalog to find it by.
    Keyword,
    /// What people do there.
    Task,
    /// What can be done there too.
    AlsoTask,
    /// A service that the catalog lacks; it stands for none.
    Absent,
}

impl Kind {
    /// How much a phrase of this kind says about what is meant.
    #[must_use]
    pub fn weight(self) -> f32 {
        match self {
            Self::Name | Self::Absent => 1.0,
            Self::Task => 0.95,
            Self::Keyword => 0.9,
            Self::AlsoTask => 0.8,
        }
    }
}

/// One thing that a phrase means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    /// What it is to the service.
    pub kind: Kind,
    /// Number of the service, in whatever numbering the book's owner uses.
    pub service: u32,
}

/// A phrase with all it means.
#[derive(Debug)]
pub struct Entry {
    /// As people write it.
    pub text: String,
    /// Its letters, folded.
    pub letters: Vec<char>,
    /// The keys that type it.
    strokes: Vec<u8>,
    /// What it means.
    pub meanings: Vec<Meaning>,
    /// Weight of all its pieces.
    pieces: f32,
}

impl Entry {
    fn is_name(&self) -> bool {
        self.meanings
            .iter()
            .any(|meaning| meaning.kind == Kind::Name)
    }
}

/// Number of an entry in its book.
pub type EntryNumber = usize;

/// A collection of phrases.
#[derive(Debug, Default)]
pub struct Book {
    entries: Vec<Entry>,
    exact: HashMap<String, EntryNumber>,
    by_strokes: HashMap<Vec<u8>, EntryNumber>,
    by_initials: HashMap<String, Vec<EntryNumber>>,
    /// Entries that are names, by their letters.
    sorted_names: Vec<EntryNumber>,
    trigrams: Trigrams,
    /// Piece and entry, sorted.
    pieces: Vec<(u64, u32)>,
    longest: usize,
}

/// A phrase that is near what was typed.
#[derive(Debug, Clone, Copy)]
pub struct Near {
    /// Which.
    pub entry: EntryNumber,
    /// Slips between the two; zero for the same keys.
    pub slips: f32,
}

impl Book {
    /// A book of phrases, each with what it means. `is_filler` tells words that
    /// say nothing by themselves.
    #[must_use]
    pub fn new(
        phrases: impl Iterator<Item = (String, Meaning)>,
        is_filler: &dyn Fn(&str) -> bool,
    ) -> Self {
        let mut book = Self::default();
        let mut words = Vec::new();
        for (text, meaning) in phrases {
            let folded = Folded::new(&text);
            if folded.is_empty() {
                continue;
            }
            let key: String = folded.letters.iter().collect();
            if let Some(&entry) = book.exact.get(&key) {
                let meanings = &mut book.entries[entry].meanings;
                if !meanings.contains(&meaning) {
                    meanings.push(meaning);
                }
                continue;
            }
            let number = book.entries.len();
            book.longest = book.longest.max(folded.len());
            book.exact.insert(key, number);
            words.push(content_pieces(&folded, is_filler));
            book.entries.push(Entry {
                text,
                strokes: strokes(&folded.letters),
                letters: folded.letters,
                meanings: vec![meaning],
                pieces: 0.0,
            });
        }
        book.index(&words);
        book
    }

    fn index(&mut self, pieces: &[Vec<u64>]) {
        for (number, entry) in self.entries.iter().enumerate() {
            self.by_strokes
                .entry(entry.strokes.clone())
                .or_insert(number);
            self.by_initials
                .entry(initials(&entry.letters))
                .or_default()
                .push(number);
            if entry.is_name() {
                self.sorted_names.push(number);
            }
        }
        let entries = &self.entries;
        self.sorted_names
            .sort_by(|&one, &other| entries[one].letters.cmp(&entries[other].letters));
        self.trigrams = Trigrams::new(self.entries.iter().map(|entry| entry.strokes.as_slice()));
        for (number, pieces) in (0..).zip(pieces) {
            self.pieces
                .extend(pieces.iter().map(|&piece| (piece, number)));
        }
        self.pieces.sort_unstable();
        for (entry, pieces) in pieces.iter().enumerate() {
            self.entries[entry].pieces = pieces.iter().map(|&piece| self.rarity(piece)).sum();
        }
    }

    /// An entry of this book.
    #[must_use]
    pub fn entry(&self, number: EntryNumber) -> &Entry {
        &self.entries[number]
    }

    /// Letters of the longest phrase.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The phrase of these letters.
    #[must_use]
    pub fn exact(&self, key: &str) -> Option<EntryNumber> {
        self.exact.get(key).copied()
    }

    /// The phrase that is typed with the same keys, in whichever layout.
    #[must_use]
    pub fn same_keys(&self, letters: &[char]) -> Option<EntryNumber> {
        self.by_strokes.get(&strokes(letters)).copied()
    }

    /// Phrases that may have been meant by mistyped letters, nearest first.
    #[must_use]
    pub fn near(&self, letters: &[char]) -> Vec<Near> {
        let typed = strokes(letters);
        let most = tolerance(typed.len());
        if most == 0.0 {
            return Vec::new();
        }
        let mut near: Vec<Near> = self
            .trigrams
            .near(&typed, most)
            .into_iter()
            .filter_map(|number| {
                let number = number as usize;
                let entry = &self.entries[number];
                let most = most.min(tolerance(entry.strokes.len()));
                let slips = distance(&typed, &entry.strokes, most).or_else(|| {
                    let long_enough = letters.len() >= 3 && entry.letters.len() >= 3;
                    (long_enough && is_one_letter_off(letters, &entry.letters)).then_some(most)
                })?;
                Some(Near {
                    entry: number,
                    slips,
                })
            })
            .collect();
        near.sort_by(|one, other| one.slips.total_cmp(&other.slips));
        near
    }

    /// Phrases with these initials.
    #[must_use]
    pub fn with_initials(&self, letters: &[char]) -> &[EntryNumber] {
        let key: String = letters.iter().collect();
        self.by_initials.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Names that begin with these letters and go on.
    pub fn names_from<'a>(&'a self, start: &'a [char]) -> impl Iterator<Item = EntryNumber> + 'a {
        let first = self
            .sorted_names
            .partition_point(|&number| self.entries[number].letters.as_slice() < start);
        self.sorted_names[first..]
            .iter()
            .copied()
            .take_while(move |&number| self.entries[number].letters.starts_with(start))
            .filter(move |&number| self.entries[number].letters.len() > start.len())
    }

    /// Phrases that share pieces with a text, with how alike they are (0 to 1):
    /// the geometric mean of what the shared pieces weigh in either.
    #[must_use]
    pub fn alike(&self, pieces: &[u64], least: f32) -> Vec<(EntryNumber, f32)> {
        let whole: f32 = pieces.iter().map(|&piece| self.rarity(piece)).sum();
        let mut shared: Vec<(u32, f32)> = Vec::new();
        for &piece in pieces {
            let rarity = self.rarity(piece);
            let entries = self.with_piece(piece);
            shared.extend(entries.iter().map(|&(_, entry)| (entry, rarity)));
        }
        shared.sort_unstable_by_key(|&(entry, _)| entry);
        shared
            .chunk_by(|one, other| one.0 == other.0)
            .filter_map(|same| {
                let number = same[0].0 as usize;
                let weight: f32 = same.iter().map(|&(_, rarity)| rarity).sum();
                let alike = weight / (whole * self.entries[number].pieces).sqrt();
                (alike >= least).then_some((number, alike.min(1.0)))
            })
            .collect()
    }

    fn with_piece(&self, piece: u64) -> &[(u64, u32)] {
        let start = self.pieces.partition_point(|&(other, _)| other < piece);
        let length = self.pieces[start..].partition_point(|&(other, _)| other == piece);
        &self.pieces[start..start + length]
    }

    /// What a piece says: the less the more phrases have it.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn rarity(&self, piece: u64) -> f32 {
        let with = self.with_piece(piece).len() as f32;
        (1.0 + self.entries.len() as f32 / (1.0 + with)).ln()
    }
}

/// The pieces of a phrase's words that are no fillers, or of all if they are.
fn content_pieces(folded: &Folded, is_filler: &dyn Fn(&str) -> bool) -> Vec<u64> {
    let words: Vec<&[char]> = folded.words().map(|word| &folded.letters[word]).collect();
    let content: Vec<&[char]> = words
        .iter()
        .copied()
        .filter(|word| !is_filler(&word.iter().collect::<String>()))
        .collect();
    pieces(if content.is_empty() { &words } else { &content })
}

/// The pieces of words by which texts are alike: pairs of Korean letters, also
/// across words, since spacing is free; and Latin words without their endings.
#[must_use]
pub fn pieces(words: &[&[char]]) -> Vec<u64> {
    let mut pieces = Vec::new();
    let mut last = None;
    for word in words {
        for run in word.chunk_by(|&one, &other| is_hangul(one) == is_hangul(other)) {
            if is_hangul(run[0]) {
                for &letter in run {
                    if let Some(last) = last {
                        pieces.push(pair(last, letter));
                    }
                    last = Some(letter);
                }
            } else {
                last = None;
                let mut hasher = DefaultHasher::new();
                stem(run).hash(&mut hasher);
                pieces.push(hasher.finish() | 1 << 63);
            }
        }
    }
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

fn pair(one: char, other: char) -> u64 {
    u64::from(one as u32) << 32 | u64::from(other as u32)
}

/// A word without the endings that English inflects it by.
fn stem(word: &[char]) -> &[char] {
    for ending in [
        "ations", "ation", "ings", "ing", "ies", "ied", "es", "ed", "s", "e", "y",
    ] {
        let length = ending.len();
        if word.len() >= length + 3
            && word[word.len() - length..]
                .iter()
                .copied()
                .eq(ending.chars())
        {
            return &word[..word.len() - length];
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(phrases: &[(&str, Kind)]) -> Book {
        let phrases = phrases
            .iter()
            .zip(0..)
            .map(|(&(text, kind), service)| (text.to_owned(), Meaning { kind, service }));
        Book::new(phrases, &|word| word == "발급")
    }

    fn letters(text: &str) -> Vec<char> {
        Folded::new(text).letters
    }

    #[test]
    fn a_phrase_is_found_whatever_its_spacing() {
        let book = book(&[("등기부 등본", Kind::Task), ("등기부등본", Kind::AlsoTask)]);
        let entry = book.entry(book.exact("등기부등본").unwrap());
        assert_eq!(entry.meanings.len(), 2);
        assert_eq!(book.exact("등기부"), None);
    }

    #[test]
    fn a_phrase_is_found_by_keys_slips_initials_and_start() {
        let book = book(&[("홈택스", Kind::Name), ("연말정산", Kind::Task)]);
        assert_eq!(book.same_keys(&letters("ghaxortm")), Some(0));
        assert_eq!(book.near(&letters("홈텍스"))[0].entry, 0);
        assert_eq!(book.near(&letters("연말정상"))[0].entry, 1);
        assert!(book.near(&letters("위택스")).is_empty());
        assert_eq!(book.with_initials(&letters("ㅇㅁㅈㅅ")), [1]);
        assert_eq!(book.names_from(&letters("홈택")).collect::<Vec<_>>(), [0]);
        assert_eq!(book.names_from(&letters("연말")).count(), 0);
    }

    #[test]
    fn phrases_are_alike_by_shared_pieces() {
        let book = book(&[
            ("등기사항 전부 증명서 발급", Kind::Task),
            ("납세증명서", Kind::Task),
            ("unemployment benefits", Kind::Task),
        ]);
        let alike = |text: &str| {
            let folded = Folded::new(text);
            let words: Vec<&[char]> = folded.words().map(|w| &folded.letters[w]).collect();
            let mut alike = book.alike(&pieces(&words), 0.3);
            alike.sort_by(|one, other| other.1.total_cmp(&one.1));
            alike.first().map(|&(entry, _)| entry)
        };
        assert_eq!(alike("등기사항증명서"), Some(0));
        assert_eq!(alike("benefit for the unemployed"), Some(2));
        assert_eq!(alike("여권"), None);
    }
}
