//! Takes a request apart: phrases that are known, endings, fillers, the rest.
//!
//! A phrase begins where a word does or where something known ended, so that
//! 한전 is not found in 신한전세대출; and a short one must not be followed by
//! something unknown in the same word, so that 국민 is not found in 국민신문고.

use std::ops::Range;

use super::fold::{Folded, is_hangul};

/// What a stretch of a request is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Role {
    /// A known phrase, with what it is worth (about 1).
    Phrase(f32),
    /// A word that says nothing about the service.
    Filler,
    /// A particle or an ending of the word before.
    Ending,
}

/// A stretch of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Its letters.
    pub range: Range<usize>,
    /// What it is; nothing for what is not known.
    pub role: Option<Role>,
}

/// What the last piece was, as far as it decides what may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Short,
    Long,
    Filler,
    Ending,
    Unknown,
}

const STATES: [After; 5] = [
    After::Short,
    After::Long,
    After::Filler,
    After::Ending,
    After::Unknown,
];
/// Letters from which a phrase is too particular to stand in a word by chance.
const LONG: usize = 4;
/// Letters of the longest filler or ending looked for.
const LONGEST_WORD: usize = 10;

#[derive(Debug, Clone, Copy)]
struct Step {
    worth: f32,
    from: usize,
    before: After,
    role: Option<Role>,
}

/// Takes a request apart, given what a stretch of letters is by itself and the
/// longest phrase.
#[must_use]
pub fn segment(
    query: &Folded,
    longest_phrase: usize,
    role: &dyn Fn(&str) -> [Option<Role>; 3],
) -> Vec<Piece> {
    let end = query.len();
    // Best way to each position, by what came last. The start counts as after a filler.
    let mut best: Vec<[Option<Step>; STATES.len()]> = vec![[None; STATES.len()]; end + 1];
    best[0][After::Filler as usize] = Some(Step {
        worth: 0.0,
        from: 0,
        before: After::Filler,
        role: None,
    });
    let longest = longest_phrase.max(LONGEST_WORD);
    for start in 0..end {
        let reached = best[start];
        if reached.iter().all(Option::is_none) {
            continue;
        }
        let mut key = String::new();
        for stop in start + 1..=end.min(start + longest) {
            key.push(query.letters[stop - 1]);
            // A Latin word or number is known whole or not at all.
            let cut = !query.is_edge(stop) && !is_hangul(query.letters[stop - 1]);
            if cut {
                continue;
            }
            for role in role(&key).into_iter().flatten() {
                for before in STATES {
                    let Some(step) = reached[before as usize] else {
                        continue;
                    };
                    if let Some((after, gain)) = follow(query, start..stop, before, role) {
                        let step = Step {
                            worth: step.worth + gain,
                            from: start,
                            before,
                            role: Some(role),
                        };
                        improve(&mut best[stop][after as usize], step);
                    }
                }
            }
        }
        for before in STATES {
            let Some(step) = reached[before as usize] else {
                continue;
            };
            let gain = if query.is_edge(start) || before == After::Unknown {
                0.0
            } else {
                match before {
                    After::Short | After::Ending => continue,
                    After::Long => -1.5,
                    _ => -0.5,
                }
            };
            let step = Step {
                worth: step.worth + gain - 0.01,
                from: start,
                before,
                role: None,
            };
            improve(&mut best[start + 1][After::Unknown as usize], step);
        }
    }
    trace(&best)
}

/// What a stretch is worth after what came before, if it may stand there.
fn follow(query: &Folded, range: Range<usize>, before: After, role: Role) -> Option<(After, f32)> {
    #[expect(clippy::cast_precision_loss, reason = "lengths are small")]
    let length = range.len() as f32;
    let begins = query.is_edge(range.start);
    match role {
        Role::Phrase(weight) => {
            let after = if range.len() < LONG {
                After::Short
            } else {
                After::Long
            };
            let may_begin = begins || before != After::Unknown;
            // One letter means something only as a word of its own.
            let whole = begins && query.is_edge(range.end);
            (may_begin && (range.len() > 1 || whole)).then(|| (after, weight * length.powf(1.4)))
        }
        Role::Filler => {
            let may_begin = begins || matches!(before, After::Short | After::Long | After::Filler);
            let whole = begins && query.is_edge(range.end);
            (may_begin && (range.len() > 1 || whole)).then_some((After::Filler, 0.3 * length))
        }
        Role::Ending => {
            let may_follow = before != After::Unknown && !query.is_hard_edge(range.start);
            may_follow.then_some((After::Ending, 0.1 * length))
        }
    }
}

fn improve(best: &mut Option<Step>, step: Step) {
    if best.is_none_or(|best| step.worth > best.worth) {
        *best = Some(step);
    }
}

/// The pieces on the best way to the end, unknown letters in one piece as far
/// as they are one word.
fn trace(best: &[[Option<Step>; STATES.len()]]) -> Vec<Piece> {
    let mut position = best.len() - 1;
    let last = STATES.into_iter().max_by(|&one, &other| {
        let worth = |state: After| {
            best[position][state as usize].map_or(f32::NEG_INFINITY, |step| step.worth)
        };
        worth(one).total_cmp(&worth(other))
    });
    let mut state = last.unwrap_or(After::Unknown);
    let mut pieces: Vec<Piece> = Vec::new();
    while position > 0 {
        let Some(step) = best[position][state as usize] else {
            break;
        };
        pieces.push(Piece {
            range: step.from..position,
            role: step.role,
        });
        position = step.from;
        state = step.before;
    }
    pieces.reverse();
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(query: &str) -> String {
        let query = Folded::new(query);
        let role = |key: &str| {
            let phrase = [
                "홈택스",
                "국민",
                "국민은행",
                "연말정산",
                "우리",
                "한전",
                "hometax",
                "국민은행이체",
            ]
            .contains(&key)
            .then_some(Role::Phrase(1.0));
            let filler = ["신고", "열어줘", "나", "하려는데"]
                .contains(&key)
                .then_some(Role::Filler);
            let ending = ["에서", "은", "이랑", "이"]
                .contains(&key)
                .then_some(Role::Ending);
            [phrase, filler, ending]
        };
        let mut shown = Vec::new();
        for piece in segment(&query, 8, &role) {
            let text: String = query.letters[piece.range].iter().collect();
            shown.push(match piece.role {
                Some(Role::Phrase(_)) => format!("[{text}]"),
                Some(Role::Filler) => format!("({text})"),
                Some(Role::Ending) => format!("~{text}"),
                None => text,
            });
        }
        shown.join("")
    }

    #[test]
    fn a_request_is_taken_apart() {
        for (query, taken) in [
            (
                "홈택스에서 연말정산 하려는데",
                "[홈택스]~에서[연말정산](하려는데)",
            ),
            ("홈 택스연말정산열어줘", "[홈택스][연말정산](열어줘)"),
            ("국민은행이랑 우리", "[국민은행]~이랑[우리]"),
            ("hometax에서", "[hometax]~에서"),
            ("myhometax", "myhometax"),
            ("국민신문고", "국민신문고"),
            ("신한전세", "신한전세"),
            ("나", "(나)"),
            ("", ""),
        ] {
            assert_eq!(pieces(query), taken, "{query}");
        }
    }
}
