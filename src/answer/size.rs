//! Keeps an answer within a size that clients take, and says what was left out.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::{Map, Value};

use crate::{
    catalog::clean::bounded,
    texts::{TEXTS, fill},
};

/// Largest answer, in bytes of JSON without the echo of the query. Clients
/// refuse or cut results above some 25,000 tokens (claude-code#41593).
pub const LARGEST: usize = 40_000;

/// Bytes that the notice of one cut list takes at most.
const ROOM_FOR_NOTICE: usize = 300;

/// Shortens the longest lists of an answer that is too large, then its longest
/// texts, and says so.
pub(super) fn cut(answer: &mut Value) {
    let echo = answer.get("query").map_or(0, size);
    if size(answer).saturating_sub(echo) <= LARGEST {
        return;
    }
    let mut notices = Vec::new();
    if let Some(fields) = answer.as_object_mut() {
        bound_texts_of_lists(fields, &mut notices);
    }
    let mut total = size(answer).saturating_sub(echo);
    let Some(fields) = answer.as_object_mut() else {
        return;
    };
    let mut lengths: BTreeMap<String, usize> = BTreeMap::new();
    while total > LARGEST {
        let longest = fields
            .iter_mut()
            .filter_map(|(name, value)| Some((name, value.as_array_mut()?)))
            // What was opened or is in the file is never denied.
            .filter(|(name, list)| !list.is_empty() && name.as_str() != "siteIds")
            .max_by_key(|(_, list)| list.iter().map(size).sum::<usize>());
        let Some((name, list)) = longest else {
            shorten(fields, total - LARGEST, &mut notices);
            break;
        };
        if !lengths.contains_key(name) {
            lengths.insert(name.clone(), list.len());
            total += ROOM_FOR_NOTICE;
        }
        while total > LARGEST
            && let Some(dropped) = list.pop()
        {
            total -= size(&dropped) + 1;
        }
    }
    for (name, all) in lengths {
        let kept = fields[&name].as_array().map_or(0, Vec::len);
        let values = [
            ("field", name.as_str()),
            ("kept", &kept.to_string()),
            ("total", &all.to_string()),
        ];
        notices.push(fill(&TEXTS.answer.cut, &values));
        if matches!(name.as_str(), "results" | "companions") {
            fields.insert("matched".to_owned(), kept.into());
        }
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

/// Bounds each text of a list, such as a given id that the catalog lacks.
fn bound_texts_of_lists(fields: &mut Map<String, Value>, notices: &mut Vec<String>) {
    for (name, value) in fields {
        let mut shortened = false;
        for text in value.as_array_mut().into_iter().flatten() {
            if let Some(Cow::Owned(kept)) = text.as_str().map(bounded) {
                *text = kept.into();
                shortened = true;
            }
        }
        if shortened {
            notices.push(fill(&TEXTS.answer.shortened, &[("field", name)]));
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
