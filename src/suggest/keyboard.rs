//! Text as the keys that type it on the Korean standard keyboard (2-set, KS X 5002).
//!
//! In this form one slip of a finger is one difference, and text typed in the
//! wrong layout is the same as the text that was meant: 홈택스 and `ghaxortm`.

use super::fold::is_hangul;

/// Keys of the 19 leading consonants, in Unicode order.
const LEADING: [&str; 19] = [
    "r", "r", "s", "e", "e", "f", "a", "q", "q", "t", "t", "d", "w", "w", "c", "z", "x", "v", "g",
];
/// Keys of the 21 vowels.
const VOWELS: [&str; 21] = [
    "k", "o", "i", "o", "j", "p", "u", "p", "h", "hk", "ho", "hl", "y", "n", "nj", "np", "nl", "b",
    "m", "ml", "l",
];
/// Keys of the 27 trailing consonants, after none.
const TRAILING: [&str; 28] = [
    "", "r", "r", "rt", "s", "sw", "sg", "e", "f", "fr", "fa", "fq", "ft", "fx", "fv", "fg", "a",
    "q", "qt", "t", "t", "d", "w", "c", "z", "x", "v", "g",
];
/// Keys of the lone letters from U+3131.
const LONE: [&str; 51] = [
    "r", "r", "rt", "s", "sw", "sg", "e", "e", "f", "fr", "fa", "fq", "ft", "fx", "fv", "fg", "a",
    "q", "q", "qt", "t", "t", "d", "w", "w", "c", "z", "x", "v", "g", "k", "o", "i", "o", "j", "p",
    "u", "p", "h", "hk", "ho", "hl", "y", "n", "nj", "np", "nl", "b", "m", "ml", "l",
];
/// The initial consonants, as lone letters.
const INITIALS: [char; 19] = [
    'ㄱ', 'ㄲ', 'ㄴ', 'ㄷ', 'ㄸ', 'ㄹ', 'ㅁ', 'ㅂ', 'ㅃ', 'ㅅ', 'ㅆ', 'ㅇ', 'ㅈ', 'ㅉ', 'ㅊ', 'ㅋ',
    'ㅌ', 'ㅍ', 'ㅎ',
];

/// The keys that type the letters, without regard to shift.
#[must_use]
pub fn strokes(letters: &[char]) -> Vec<u8> {
    let mut strokes = Vec::with_capacity(letters.len() * 3);
    for &letter in letters {
        let code = letter as usize;
        match letter {
            '가'..='힣' => {
                let index = code - '가' as usize;
                for part in [
                    LEADING[index / 588],
                    VOWELS[index % 588 / 28],
                    TRAILING[index % 28],
                ] {
                    strokes.extend_from_slice(part.as_bytes());
                }
            }
            'ㄱ'..='ㅣ' => strokes.extend_from_slice(LONE[code - 'ㄱ' as usize].as_bytes()),
            _ if letter.is_ascii() => strokes.push(letter.to_ascii_lowercase() as u8),
            // Any letter that no key types: different from all that keys type.
            _ => strokes.push(0x80 | u8::try_from(code % 0x7f).unwrap_or_default()),
        }
    }
    strokes
}

/// The syllables that these keys type in the Korean layout, if they type nothing else
/// but digits.
#[must_use]
pub fn syllables(keys: &[char]) -> Option<String> {
    let mut typed = String::new();
    let mut rest: String = keys.iter().collect();
    if !rest.is_ascii() {
        return None;
    }
    while !rest.is_empty() {
        let digit = rest.chars().next().filter(char::is_ascii_digit);
        let (length, syllable) = digit.map(|digit| (1, digit)).or_else(|| syllable(&rest))?;
        typed.push(syllable);
        rest.drain(..length);
    }
    Some(typed)
}

/// The first syllable and how many keys it takes. A consonant before a vowel belongs
/// to the next syllable.
fn syllable(keys: &str) -> Option<(usize, char)> {
    let longest = |parts: &[&str], keys: &str| {
        let found = (0..)
            .zip(parts)
            .filter(|(_, part)| !part.is_empty() && keys.starts_with(**part));
        // Of parts with the same keys the plain one comes first, or the one before the shifted.
        found
            .max_by_key(|(index, part)| (part.len(), std::cmp::Reverse(*index)))
            .map(|(index, part)| (index, part.len()))
    };
    let (leading, mut length) = longest(&LEADING, keys)?;
    let (vowel, taken) = longest(&VOWELS, &keys[length..])?;
    length += taken;
    let rest = &keys[length..];
    let mut trailing = longest(&TRAILING, rest);
    if let Some((_, taken)) = trailing
        && longest(&VOWELS, &rest[taken..]).is_some()
    {
        trailing = longest(&TRAILING, &rest[..taken - 1]);
    }
    let (trailing, taken) = trailing.unwrap_or_default();
    let code: u32 = '가' as u32 + (leading * 21 + vowel) * 28 + trailing;
    Some((length + taken, char::from_u32(code)?))
}

/// The initial consonants of Korean syllables, other letters as they are.
#[must_use]
pub fn initials(letters: &[char]) -> String {
    letters
        .iter()
        .map(|&letter| match letter {
            '가'..='힣' => INITIALS[(letter as usize - '가' as usize) / 588],
            other => other,
        })
        .collect()
}

/// Whether the letters are lone Korean consonants, perhaps with digits or Latin letters.
#[must_use]
pub fn is_initials(letters: &[char]) -> bool {
    let consonants = letters
        .iter()
        .filter(|letter| matches!(letter, 'ㄱ'..='ㅎ'))
        .count();
    // ㅎㅎ is laughter.
    let all_the_same = letters.iter().all(|letter| *letter == letters[0]);
    consonants >= 2
        && !all_the_same
        && letters
            .iter()
            .all(|&letter| matches!(letter, 'ㄱ'..='ㅎ') || !is_hangul(letter))
}

/// Whether two keys lie side by side, so that a finger takes one for the other.
#[must_use]
pub fn are_neighbours(one: u8, other: u8) -> bool {
    let place = |key: u8| {
        ["qwertyuiop", "asdfghjkl", "zxcvbnm"]
            .iter()
            .enumerate()
            .find_map(|(row, keys)| Some((row, keys.bytes().position(|k| k == key)?)))
    };
    let (Some((row, column)), Some((other_row, other_column))) = (place(one), place(other)) else {
        return false;
    };
    // A key touches its neighbours in the row and the two below it, half a key to the right.
    match other_row.abs_diff(row) {
        0 => column.abs_diff(other_column) == 1,
        1 if row < other_row => column == other_column || column == other_column + 1,
        1 => column == other_column || column + 1 == other_column,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> String {
        let letters: Vec<char> = text.chars().collect();
        String::from_utf8(strokes(&letters)).unwrap()
    }

    #[test]
    fn the_wrong_layout_types_the_same_keys() {
        for (meant, keys) in [
            ("홈택스", "ghaxortm"),
            ("신한은행", "tlsgksdmsgod"),
            ("농협", "shdguq"),
            ("ㅗㅐㅡㄷㅅㅁㅌ", "hometax"),
            ("노ㅑㅜㅗ무", "shinhan"),
            ("값", "rkqt"),
            ("의왕ㅢ", "dmldhkdml"),
            ("ㅖㄳ", "prt"),
        ] {
            assert_eq!(typed(meant), keys);
        }
    }

    #[test]
    fn keys_type_syllables() {
        for (keys, typed) in [
            ("ghaxortm", Some("홈택스")),
            ("zpdlqodzmdptj", Some("케이뱅크에서")),
            ("rkqtl", Some("갑시")),
            ("rkqtdl", Some("값이")),
            ("dhk", Some("와")),
            ("wjdqn24dp", Some("정부24에")),
            ("dml", Some("의")),
            ("hometax", None),
            ("bank", None),
            ("", Some("")),
        ] {
            let keys: Vec<char> = keys.chars().collect();
            assert_eq!(syllables(&keys).as_deref(), typed);
        }
    }

    #[test]
    fn every_syllable_has_keys() {
        for letter in ('가'..='힣').chain('ㄱ'..='ㅣ') {
            assert!(!strokes(&[letter]).is_empty());
        }
    }

    #[test]
    fn initials_of_words() {
        let letters: Vec<char> = "정부24".chars().collect();
        assert_eq!(initials(&letters), "ㅈㅂ24");
        for (text, are) in [
            ("ㅎㅌㅅ", true),
            ("ㅈㅂ24", true),
            ("ㅎ", false),
            ("ㅎ택스", false),
            ("ㅗㅐ", false),
        ] {
            let letters: Vec<char> = text.chars().collect();
            assert_eq!(is_initials(&letters), are, "{text}");
        }
    }

    #[test]
    fn neighbours_touch() {
        for (one, other) in [
            (b'o', b'p'),
            (b'q', b'a'),
            (b'w', b'a'),
            (b'g', b'v'),
            (b'h', b'b'),
            (b'n', b'm'),
        ] {
            assert!(
                are_neighbours(one, other) && are_neighbours(other, one),
                "{one} {other}"
            );
        }
        assert!(
            !are_neighbours(b'q', b'p')
                && !are_neighbours(b'q', b's')
                && !are_neighbours(b'q', b'z')
        );
    }
}
