//! Cleaning of catalog texts, which end up in an assistant's context and in a browser.

use std::borrow::Cow;

/// Longest text of one field in an answer, in characters.
pub const LONGEST_FIELD: usize = 4000;

/// Text without control characters (tab and line ends stay), without the
/// characters that reorder text for display (Unicode's `Bidi_Control`) and
/// without invisible ones that spell text for a model alone (tags and the
/// variation selectors of the same plane).
#[must_use]
pub fn text(text: impl Into<String>) -> String {
    let mut text = text.into();
    text.retain(|character| !is_unwanted(character));
    text
}

fn is_unwanted(character: char) -> bool {
    let control = character.is_control() && !matches!(character, '\t' | '\n' | '\r');
    let bidi_control = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    let spells_unseen = matches!(character, '\u{e0000}'..='\u{e0fff}');
    control || bidi_control || spells_unseen
}

/// The address if it is an http(s) one, else nothing.
#[must_use]
pub fn url(url: String) -> String {
    let is_web = |scheme: &str| {
        url.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if is_web("https://") || is_web("http://") {
        url
    } else {
        String::new()
    }
}

/// The text, cut with an ellipsis to [`LONGEST_FIELD`] characters.
#[must_use]
pub fn bounded(text: &str) -> Cow<'_, str> {
    if text.chars().nth(LONGEST_FIELD).is_none() {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(LONGEST_FIELD - 1).collect();
    Cow::Owned(kept + "…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_bidi_overrides_go() {
        let dirty = "우리\u{0}\u{1b}[31m\u{202e}은행\u{2066}\t\n\u{200f}\u{7f}\u{85}\u{e0041}";
        assert_eq!(text(dirty), "우리[31m은행\t\n");
    }

    #[test]
    fn only_web_addresses_stay() {
        for kept in ["https://a.kr/", "HTTP://a.kr", "http://한글.한국/경로"] {
            assert_eq!(url(kept.to_owned()), kept);
        }
        for dropped in [
            "javascript:alert(1)",
            "file:///c:/x",
            "ms-settings:",
            "",
            "http:/",
            "은",
        ] {
            assert_eq!(url(dropped.to_owned()), "");
        }
    }

    #[test]
    fn long_texts_are_cut_with_an_ellipsis() {
        let fits = "가".repeat(LONGEST_FIELD);
        assert_eq!(bounded(&fits), fits);
        let cut = bounded(&"가".repeat(LONGEST_FIELD + 1)).into_owned();
        assert_eq!(cut.chars().count(), LONGEST_FIELD);
        assert!(cut.ends_with("가…"));
    }
}
