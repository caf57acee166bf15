//! How far two texts are apart in slips of the finger, and which texts are near one.

use super::keyboard::are_neighbours;

/// A slip costs this much; one onto a neighbouring key, less.
const SLIP: f32 = 1.0;
const NEIGHBOUR: f32 = 0.6;

/// The cost of the slips between two key sequences, if it is at most `most`:
/// a key left out, added, taken for another, or two in the wrong order.
#[must_use]
pub fn distance(one: &[u8], other: &[u8], most: f32) -> Option<f32> {
    #[expect(clippy::cast_precision_loss, reason = "lengths are small")]
    let gap = one.len().abs_diff(other.len()) as f32;
    if gap * SLIP > most {
        return None;
    }
    let width = other.len() + 1;
    let mut before_last = vec![0.0; width];
    let mut last: Vec<f32> = std::iter::successors(Some(0.0), |cost| Some(cost + SLIP))
        .take(width)
        .collect();
    let mut current = vec![0.0; width];
    for (i, &key) in one.iter().enumerate() {
        current[0] = last[0] + SLIP;
        let mut least = current[0];
        for (j, &other_key) in other.iter().enumerate() {
            let replaced = if key == other_key {
                0.0
            } else if are_neighbours(key, other_key) {
                NEIGHBOUR
            } else {
                SLIP
            };
            let mut cost = (last[j] + replaced)
                .min(last[j + 1] + SLIP)
                .min(current[j] + SLIP);
            if i > 0 && j > 0 && key == other[j - 1] && one[i - 1] == other_key {
                cost = cost.min(before_last[j - 1] + SLIP);
            }
            current[j + 1] = cost;
            least = least.min(cost);
        }
        if least > most {
            return None;
        }
        std::mem::swap(&mut before_last, &mut last);
        std::mem::swap(&mut last, &mut current);
    }
    let cost = last[other.len()];
    (cost <= most).then_some(cost)
}

/// Whether one syllable or letter was left out, doubled or swapped with the next.
#[must_use]
pub fn is_one_letter_off(typed: &[char], meant: &[char]) -> bool {
    let start = typed
        .iter()
        .zip(meant)
        .take_while(|(one, other)| one == other)
        .count();
    let (typed, meant) = (&typed[start..], &meant[start..]);
    match (typed, meant) {
        ([_, typed @ ..], _) if typed == meant => true,
        (_, [_, meant @ ..]) if typed == meant => true,
        ([a, b, typed @ ..], [c, d, meant @ ..]) => a == d && b == c && typed == meant,
        _ => false,
    }
}

/// The slips that a text of so many keys may have to be taken for another.
#[must_use]
pub fn tolerance(keys: usize) -> f32 {
    match keys {
        0..5 => 0.0,
        5..10 => 1.0,
        10..16 => 1.6,
        _ => 2.2,
    }
}

/// Finds key sequences that share three keys in a row with a given one.
#[derive(Debug, Default)]
pub struct Trigrams {
    /// Trigram and number of the sequence, sorted.
    places: Vec<(u32, u32)>,
}

impl Trigrams {
    /// An index of sequences; their place in the list is their number.
    #[must_use]
    pub fn new<'a>(sequences: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut places = Vec::new();
        for (number, sequence) in (0..).zip(sequences) {
            places.extend(trigrams(sequence).map(|trigram| (trigram, number)));
        }
        places.sort_unstable();
        places.dedup();
        Self { places }
    }

    /// Numbers of sequences that may be within `slips` of this one, each once.
    #[must_use]
    pub fn near(&self, sequence: &[u8], slips: f32) -> Vec<u32> {
        let mut own: Vec<u32> = trigrams(sequence).collect();
        own.sort_unstable();
        own.dedup();
        let mut shared = Vec::new();
        for trigram in &own {
            let start = self.places.partition_point(|(other, _)| other < trigram);
            let same = self.places[start..]
                .iter()
                .take_while(|(other, _)| other == trigram);
            shared.extend(same.map(|&(_, number)| number));
        }
        shared.sort_unstable();
        // A slip spoils three trigrams, a swap four.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "slips are few and positive"
        )]
        let spoilt = (slips * 4.0).ceil() as usize;
        let needed = own.len().saturating_sub(spoilt).max(1);
        shared
            .chunk_by(|one, other| one == other)
            .filter(|same| same.len() >= needed)
            .map(|same| same[0])
            .collect()
    }
}

fn trigrams(sequence: &[u8]) -> impl Iterator<Item = u32> {
    // The ends count, so that short words have enough of them.
    let at = |index: usize| match index.checked_sub(2) {
        Some(index) => sequence.get(index).copied().unwrap_or(1),
        None => 1,
    };
    (0..sequence.len() + 2)
        .map(move |start| u32::from_be_bytes([0, at(start), at(start + 1), at(start + 2)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::{fold::Folded, keyboard::strokes};

    fn slips(typed: &str, meant: &str) -> Option<f32> {
        let keys = |text| strokes(&Folded::new(text).letters);
        distance(&keys(typed), &keys(meant), 3.0)
    }

    #[test]
    fn slips_are_counted() {
        for (typed, meant, cost) in [
            ("홈택스", "홈택스", 0.0),
            ("홈텍스", "홈택스", NEIGHBOUR),
            ("카카오벵크", "카카오뱅크", NEIGHBOUR),
            ("국민은앵", "국민은행", SLIP),
            ("hometx", "hometax", SLIP),
            ("kakoabank", "kakaobank", SLIP),
            ("homettax", "hometax", SLIP),
        ] {
            assert_eq!(slips(typed, meant), Some(cost), "{typed}");
        }
        assert_eq!(slips("우리은행", "카카오뱅크"), None);
        assert_eq!(slips("", "국민"), None);
        assert_eq!(slips("", ""), Some(0.0));
    }

    #[test]
    fn whole_syllables_may_be_left_out_doubled_or_swapped() {
        let off = |typed: &str, meant: &str| {
            let letters = |text| Folded::new(text).letters;
            is_one_letter_off(&letters(typed), &letters(meant))
        };
        for typed in [
            "카오뱅크",
            "카카오뱅",
            "카카카오뱅크",
            "카카뱅오크",
            "카카오크",
        ] {
            assert!(off(typed, "카카오뱅크"), "{typed}");
        }
        for typed in ["카카오뱅크", "카카오벵크", "카오크", "국민은행"] {
            assert!(!off(typed, "카카오뱅크"), "{typed}");
        }
    }

    #[test]
    fn near_texts_are_among_those_looked_at() {
        let meant = ["홈택스", "국민은행", "정부24", "hometax"];
        let keys: Vec<_> = meant
            .iter()
            .map(|text| strokes(&Folded::new(text).letters))
            .collect();
        let index = Trigrams::new(keys.iter().map(Vec::as_slice));
        for (typed, number) in [
            ("홈텍스", 0),
            ("국민은헹", 1),
            ("정뷰24", 2),
            ("hoemtax", 3),
        ] {
            let keys = strokes(&Folded::new(typed).letters);
            assert!(index.near(&keys, 1.0).contains(&number), "{typed}");
        }
    }
}
