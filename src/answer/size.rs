//! Keeps an answer within a size that clients take, and says what was left out.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::texts::{TEXTS, fill};

/// Largest answer, in bytes of JSON without the echo of the query. Clients
/// refuse or cut results above some 25,000 tokens (claude-code#41593).
pub const LARGEST: usize = 40_000;

/// Shortens the longest lists of an answer that is too large, then its longest
/// texts, and says so.
pub(super) fn cut(answer: &mut Value) {
    let echo = answer.get("query").map_or(0, size);
    let mut total = size(answer).saturating_sub(echo);
    if total <= LARGEST {
        return;
    }
    let Some(fields) = answer.as_object_mut() else {
        return;
    };
    let mut notices = Vec::new();
    while total > LARGEST {
        let longest = fields
            .iter_mut()
            .filter_map(|(name, value)| Some((name.as_str(), value.as_array_mut()?)))
            .filter(|(_, list)| !list.is_empty())
            .max_by_key(|(_, list)| list.iter().map(size).sum::<usize>());
        let Some((name, list)) = longest else {
            shorten(fields, total - LARGEST, &mut notices);
            break;
        };
        let all = list.len();
        while total > LARGEST
            && let Some(dropped) = list.pop()
        {
            total -= size(&dropped) + 1;
        }
        let kept = list.len();
        let notice = fill(
            &TEXTS.answer.cut,
            &[
                ("field", name),
                ("kept", &kept.to_string()),
                ("total", &all.to_string()),
            ],
        );
        // Room for the notice itself, which is at most as long as this.
        total += size(&Value::from(notice.as_str())) + 16;
        if matches!(name, "results" | "companions") {
            fields.insert("matched".to_owned(), kept.into());
        }
        notices.push(notice);
    }
    let notices = notices.join(" ");
    // In a text of the answer where it has one, so that its fields stay the same.
    match ["note", "usage"]
        .into_iter()
        .find(|&text| fields.contains_key(text))
    {
        Some(text) => {
            let said = fields[text].as_str().unwrap_or_default();
            fields[text] = format!("{notices} {said}").into();
        }
        None => {
            fields.insert("cutNotice".to_owned(), notices.into());
        }
    }
}

/// Texts that an answer cannot do without in full.
const WHOLE: [&str; 8] = [
    "query",
    "wsb",
    "note",
    "usage",
    "securityNote",
    "catalogNotice",
    "error",
    "hint",
];

/// Halves the longest texts, over and over, until the answer is shorter by `excess` bytes.
fn shorten(fields: &mut Map<String, Value>, excess: usize, notices: &mut Vec<String>) {
    let mut shortened = BTreeSet::new();
    let mut saved = 0;
    // Room for the notice as well, which names no more than each field once.
    while saved < excess + 1000 {
        let longest = fields
            .iter_mut()
            .filter(|(name, value)| value.is_string() && !WHOLE.contains(&name.as_str()))
            .max_by_key(|(_, value)| size(value));
        let Some((name, value)) = longest else {
            break;
        };
        let text = value.as_str().unwrap_or_default();
        let count = text.chars().count();
        if count < 100 {
            break;
        }
        let kept: String = text.chars().take(count / 2).collect();
        let before = size(value);
        *value = format!("{}…", kept.trim_end_matches('…')).into();
        saved += before.saturating_sub(size(value));
        shortened.insert(name.clone());
    }
    for field in shortened {
        notices.push(fill(&TEXTS.answer.shortened, &[("field", &field)]));
    }
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}
