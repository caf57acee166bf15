//! Answers for a person to read.

use serde_json::Value;

use crate::{
    arguments::Request,
    display_width::table,
    texts::{TEXTS, fill},
};

/// A text that was written for an assistant, in the terms of the command line.
pub(super) fn for_terminal(text: &str) -> String {
    let program = env!("CARGO_PKG_NAME");
    let mut said = text.replace("(wsbPath)", "");
    for (tool, command) in [
        ("search_services", "search"),
        ("get_service", "show"),
        ("generate_wsb", "wsb"),
        ("launch_sandbox", "open"),
    ] {
        said = said.replace(tool, &format!("'{program} {command}'"));
    }
    // What was typed is echoed, and must not steer the terminal.
    said.retain(|letter| letter == '\n' || !letter.is_control());
    said
}

/// A text field, empty where there is none.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// A list field, empty where there is none.
pub(super) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn joined(values: &[Value]) -> String {
    let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    texts.join(", ")
}

/// A table of fields of the values in a list.
fn columns(values: &[Value], fields: &[&str]) -> String {
    let rows: Vec<Vec<String>> = values
        .iter()
        .map(|value| {
            let cell = |field: &&str| match &value[*field] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            fields.iter().map(cell).collect()
        })
        .collect();
    table(&rows)
}

/// The whole answer.
pub(super) fn human(request: &Request, answer: &Value) -> String {
    match request {
        Request::Search { .. } => found(answer),
        Request::Service { .. } => details(answer),
        Request::Categories => {
            let mut shown = columns(list(answer, "categories"), &["category", "count"]);
            let total = answer["totalServices"].to_string();
            shown += &fill(&TEXTS.cli.categories_total, &[("total", &total)]);
            shown + "\n"
        }
        Request::Companions { .. } => {
            let mut shown = columns(list(answer, "companions"), &["id", "displayName", "url"]);
            let matched = answer["matched"].to_string();
            shown += &fill(&TEXTS.cli.companions_total, &[("matched", &matched)]);
            shown + "\n"
        }
        // The file alone, for redirecting.
        Request::Wsb { .. } => text(answer, "wsb").to_owned(),
        Request::Launch { .. } => launched(answer),
    }
}

fn found(answer: &Value) -> String {
    let results = list(answer, "results");
    let rows: Vec<Vec<String>> = results
        .iter()
        .map(|service| {
            let mark = service.get("compatWarning").map(|_| warning_mark());
            vec![
                text(service, "id").to_owned(),
                text(service, "displayName").to_owned(),
                text(service, "category").to_owned(),
                text(service, "url").to_owned(),
                mark.unwrap_or_default(),
            ]
        })
        .collect();
    let mut shown = table(&rows);
    let counts = fill(
        &TEXTS.cli.matched,
        &[
            ("total", &answer["totalServices"].to_string()),
            ("matched", &answer["matched"].to_string()),
        ],
    );
    shown += &counts;
    shown.push('\n');
    let suggestions = list(answer, "suggestions");
    shown += &did_you_mean(suggestions);
    // Among several results the choice is the reader's.
    let id = match (suggestions, results) {
        ([], []) => return shown,
        ([first, ..], _) | ([], [first]) => text(first, "id"),
        ([], _) => "<id>",
    };
    shown + &fill(&TEXTS.cli.open_next, &[("id", id)]) + "\n"
}

/// The suggestions as a question, if there are any.
pub(super) fn did_you_mean(suggestions: &[Value]) -> String {
    if suggestions.is_empty() {
        return String::new();
    }
    let suggested = columns(suggestions, &["id", "displayName", "url", "reason"]);
    format!("{}\n{suggested}", TEXTS.cli.did_you_mean)
}

fn warning_mark() -> String {
    format!("[{}]", TEXTS.cli.warning_mark)
}

fn details(answer: &Value) -> String {
    let mut shown = String::new();
    for field in ["displayName", "displayNameEn", "category", "url"] {
        let text = text(answer, field);
        if !text.is_empty() {
            shown.extend([text, "\n"]);
        }
    }
    let headings = &TEXTS.cli.headings;
    let mut section = |heading: &str, content: &str| {
        if !content.trim().is_empty() {
            let lines = content.lines().map(|line| format!("  {}\n", line.trim()));
            shown.extend(["\n", heading, "\n"]);
            shown.extend(lines);
        }
    };
    section(
        &headings.packages,
        &columns(list(answer, "packages"), &["name", "url"]),
    );
    section(
        &headings.edge_extensions,
        &columns(list(answer, "edgeExtensions"), &["name", "extensionId"]),
    );
    section(&headings.search_keywords, text(answer, "searchKeywords"));
    section(&headings.compat_notes, text(answer, "compatNotes"));
    shown + "\n" + &fill(&TEXTS.cli.open_next, &[("id", text(answer, "id"))]) + "\n"
}

fn launched(answer: &Value) -> String {
    let ids = joined(list(answer, "siteIds"));
    let mut shown = fill(
        &TEXTS.cli.launched,
        &[("ids", &ids), ("runner", text(answer, "runner"))],
    );
    shown.push('\n');
    shown += &fill(&TEXTS.cli.wsb_path, &[("path", text(answer, "wsbPath"))]);
    shown.push('\n');
    shown += &unknown_ids(answer);
    for warning in list(answer, "compatWarnings") {
        let name = text(warning, "displayName");
        let warning = text(warning, "warning");
        shown.extend([&warning_mark(), " ", name, ": ", warning, "\n"]);
    }
    shown + text(answer, "note") + "\n"
}

/// The line about ids that were left out, if any were.
pub(super) fn unknown_ids(answer: &Value) -> String {
    let ids = joined(list(answer, "unknownIdsIgnored"));
    if ids.is_empty() {
        return String::new();
    }
    fill(&TEXTS.cli.unknown_ids, &[("ids", &ids)]) + "\n"
}
