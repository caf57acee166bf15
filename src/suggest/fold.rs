//! The form in which queries and phrases are compared: composed, half-width,
//! lower case, without spaces and signs, but knowing where words began.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Longest query that is looked at, in letters. A request is a sentence, not a document.
pub const LONGEST: usize = 120;

/// A folded text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Folded {
    /// Letters and digits.
    pub letters: Vec<char>,
    /// For each position, and the one behind the last: whether a word may begin or end there.
    edges: Vec<Edge>,
}

/// What lies between two letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Inside,
    /// The script changes, as before a particle in `hometax에서`.
    Soft,
    /// A space or sign, or the end of the text.
    Hard,
}

impl Folded {
    /// Folds a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut folded = Self::default();
        let mut edge = Edge::Hard;
        for character in text.nfc().flat_map(half_width) {
            if is_combining_mark(character) {
                continue;
            }
            if !character.is_alphanumeric() {
                edge = Edge::Hard;
                continue;
            }
            for letter in character.to_lowercase() {
                if folded.letters.len() == LONGEST {
                    break;
                }
                let changes = folded
                    .letters
                    .last()
                    .is_some_and(|&last| is_hangul(last) != is_hangul(letter));
                if changes {
                    edge = edge.max(Edge::Soft);
                }
                folded.edges.push(edge);
                folded.letters.push(letter);
                edge = Edge::Inside;
            }
        }
        folded.edges.push(Edge::Hard);
        folded
    }

    /// Number of letters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.letters.len()
    }

    /// Whether there is no letter.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Whether a word begins or ends before this letter.
    #[must_use]
    pub fn is_edge(&self, position: usize) -> bool {
        self.edges
            .get(position)
            .is_none_or(|&edge| edge > Edge::Inside)
    }

    /// Whether a space or sign stands before this letter.
    #[must_use]
    pub fn is_hard_edge(&self, position: usize) -> bool {
        self.edges
            .get(position)
            .is_none_or(|&edge| edge == Edge::Hard)
    }

    /// The words between spaces and signs, as ranges of letters.
    pub fn words(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let ends: Vec<usize> = (1..=self.len())
            .filter(|&end| self.is_hard_edge(end))
            .collect();
        ends.into_iter().scan(0, |start, end| {
            let word = *start..end;
            *start = end;
            Some(word)
        })
    }
}

/// The letters of a text as one string.
#[must_use]
pub fn key(text: &str) -> String {
    Folded::new(text).letters.into_iter().collect()
}

/// Full-width letters and the like as their ordinary forms. Lone Korean
/// consonants stay what they are: initials.
fn half_width(character: char) -> impl Iterator<Item = char> {
    let ordinary = is_hangul(character) || character.is_ascii();
    let plain = ordinary.then_some(character);
    plain
        .into_iter()
        .chain((!ordinary).then(|| character.nfkc()).into_iter().flatten())
}

/// Whether it is a Korean syllable or a lone Korean letter as a keyboard makes it.
#[must_use]
pub fn is_hangul(character: char) -> bool {
    matches!(character, '가'..='힣' | 'ㄱ'..='ㅣ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_and_spacing_do_not_matter() {
        let decomposed: String = "국민은행".nfd().collect();
        for text in ["국민은행", "국민 은행", " 국민-은행! ", &decomposed] {
            assert_eq!(key(text), "국민은행");
        }
        assert_eq!(key("ＩＢＫ　기업은행 정부２４"), "ibk기업은행정부24");
        assert_eq!(key("ㅎㅌㅅ"), "ㅎㅌㅅ");
        assert_eq!(key("…!?"), "");
    }

    #[test]
    fn words_are_remembered() {
        let folded = Folded::new("hometax에서, 연말정산");
        let words: Vec<_> = folded.words().collect();
        assert_eq!(words, [0..9, 9..13]);
        assert!(folded.is_edge(7) && !folded.is_hard_edge(7));
        assert!(!folded.is_edge(8) && folded.is_edge(13));
        assert_eq!(Folded::new("").words().count(), 0);
    }

    #[test]
    fn a_document_is_not_a_query() {
        assert_eq!(Folded::new(&"가 ".repeat(10_000)).len(), LONGEST);
    }
}
