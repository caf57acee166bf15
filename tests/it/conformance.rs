//! The comparison of the contract, live against another server or against kept answers.
//!
//! `TABLECLOTH_CONFORMANCE_PEER="<command>"` names the other server, which must
//! serve the catalog in `TABLECLOTH_CONFORMANCE_CATALOG` (by default the one
//! beside this file). It finds the path in `CATALOG_FILE` too. Without a peer the
//! answers kept in `answers.jsonl` count; `TABLECLOTH_RECORD=1` writes them anew.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use quick_xml::{Reader, events::Event};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    client::{Client, Start, is_windows_program},
    texts::expected_tools,
};

/// Fields whose words are each server's own.
const TEXTS: [&str; 5] = ["note", "usage", "securityNote", "hint", "error"];
/// Fields that the contract adds to what the other servers answer.
const ADDITIONS: [&str; 5] = [
    "suggestions",
    "catalogNotice",
    "compatWarnings",
    "logoUrl",
    "cutNotice",
];

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it")
        .join(name)
}

/// A call whose answers are compared.
struct Case {
    tool: &'static str,
    arguments: Value,
}

/// Calls that exercise each rule of the contract, with ids and words of the catalog at hand.
fn cases(catalog: &Path) -> Vec<Case> {
    let document = fs::read_to_string(catalog).unwrap();
    let services = attributes(&document, "Service");
    let companions = attributes(&document, "Companion");
    let ids: Vec<&str> = services
        .iter()
        .map(|(id, _)| id.as_str())
        .filter(|id| !id.is_empty())
        .collect();
    let mut cases = Vec::new();
    let mut add = |tool, arguments| cases.push(Case { tool, arguments });
    searches(&mut add);
    for (id, name) in services.iter().take(40) {
        add("get_service", json!({"id": id}));
        add("search_services", json!({"query": name}));
        add("search_services", json!({"query": id, "limit": 5}));
        add("generate_wsb", json!({"serviceIds": [id]}));
    }
    lists(&mut add, &companions);
    sites(&mut add, &ids);
    refused(&mut add);
    cases
}

fn searches(add: &mut impl FnMut(&'static str, Value)) {
    for query in [
        "",
        " ",
        " ,\t\r\n",
        "은행",
        "가나은행",
        "은행 기업",
        "기업,은행\t카드",
        "은행 은행",
        "BANK bank",
        "Government",
        "보안",
        "없는말없는말",
        "은행 없는말",
        "https",
        "co.kr",
        "example",
        ";",
        "&",
        "<",
        "😀",
        "카드\u{a0}은행",
        "ＢＡＮＫ",
        "(",
        "연말정산",
        "세금",
        "tax",
    ] {
        add("search_services", json!({"query": query}));
        add("search_services", json!({"query": query, "limit": 50}));
    }
    for limit in [-1, 0, 1, 2, 3, 49, 50, 51, 1000] {
        add("search_services", json!({"query": "", "limit": limit}));
    }
    for category in [
        json!(null),
        json!(""),
        json!("  "),
        json!("Banking"),
        json!("bANKING"),
        json!("GOVERNMENT"),
        json!("Other"),
        json!("CreditCard"),
        json!("Bank"),
        json!(" Banking"),
        json!("없음"),
    ] {
        for query in ["", "은행", "세금"] {
            let arguments = json!({"query": query, "category": category});
            add("search_services", arguments);
        }
    }
}

fn lists(add: &mut impl FnMut(&'static str, Value), companions: &[(String, String)]) {
    add("list_categories", json!({}));
    add("list_companions", json!({}));
    add("list_companions", json!({"query": null}));
    for query in ["", "  ", "PDF", " pdf ", "없는것", "https", "도구", "."] {
        add("list_companions", json!({"query": query}));
    }
    for (id, name) in companions {
        add("list_companions", json!({"query": id}));
        add("list_companions", json!({"query": name}));
    }
}

fn sites(add: &mut impl FnMut(&'static str, Value), ids: &[&str]) {
    let first = ids[0];
    for id in [
        "",
        " ",
        "no-such-id",
        "가나은행",
        "{id}",
        "a'b",
        "__proto__",
        "constructor",
        &first.to_lowercase(),
        &first.to_uppercase(),
        &format!(" {first}"),
        &format!("{first} "),
    ] {
        add("get_service", json!({"id": id}));
        for tool in ["generate_wsb", "launch_sandbox"] {
            add(tool, json!({"serviceIds": [id]}));
        }
    }
    let last: Vec<&&str> = ids.iter().rev().take(5).collect();
    for ids in [
        json!([]),
        json!(["", " "]),
        json!(last),
        json!([
            first,
            first,
            format!(" {first}\n"),
            "x",
            "x",
            "",
            first.to_lowercase()
        ]),
        json!([format!("{first}'; calc; '"), "../x", "a b", "$(x)"]),
        json!(ids),
    ] {
        for tool in ["generate_wsb", "launch_sandbox"] {
            add(tool, json!({"serviceIds": ids}));
        }
    }
}

/// What neither server understands.
fn refused(add: &mut impl FnMut(&'static str, Value)) {
    for (tool, arguments) in [
        ("search_services", json!({})),
        ("search_services", json!({"query": 5})),
        ("search_services", json!({"query": "", "limit": 2.5})),
        ("search_services", json!({"query": "", "limit": true})),
        ("search_services", json!({"query": "", "category": 5})),
        ("get_service", json!({})),
        ("get_service", json!({"id": null})),
        ("get_service", json!({"id": ["x"]})),
        ("generate_wsb", json!({})),
        ("generate_wsb", json!({"serviceIds": 5})),
        ("generate_wsb", json!({"serviceIds": [5]})),
        ("launch_sandbox", json!({"serviceIds": {"x": 1}})),
    ] {
        add(tool, arguments);
    }
}

/// The `Id`, if it has one, and `DisplayName` of the elements of that name, without repeats.
fn attributes(document: &str, element: &str) -> Vec<(String, String)> {
    let mut reader = Reader::from_str(document);
    let mut found = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return found,
            Event::Start(tag) | Event::Empty(tag) if tag.name().into_inner() == element => {
                let read = |name| {
                    let attribute = tag.try_get_attribute(name).unwrap();
                    attribute.map_or_else(String::new, |attribute| {
                        let version = quick_xml::XmlVersion::Implicit1_0;
                        attribute
                            .normalized_value(version)
                            .unwrap()
                            .trim()
                            .to_owned()
                    })
                };
                let entry = (read("Id"), read("DisplayName"));
                if !found.contains(&entry) {
                    found.push(entry);
                }
            }
            _ => {}
        }
    }
}

/// Found on the path of most systems. Whatever the system, no sandbox opens.
const RUNNER: &str = "true";

fn ours(catalog: &Path, folder: &Path) -> Client {
    Start::new()
        .env("TABLECLOTH_CATALOG_URL", catalog)
        .env("TABLECLOTH_WSB_RUNNER", RUNNER)
        .env("TMPDIR", folder)
        .session()
}

fn peer(command: &str, catalog: &Path, folder: &Path) -> Client {
    let mut words = command.split_whitespace();
    let mut peer = Command::new(words.next().expect("the command is not blank"));
    peer.args(words)
        .env("CATALOG_FILE", catalog)
        .env("TABLECLOTH_CATALOG_URL", catalog)
        .env("TABLECLOTH_WSB_RUNNER", RUNNER)
        .env("TMPDIR", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut client = Client::of(&mut peer);
    client.initialize("2025-06-18");
    client
}

/// What of an answer must be the same. Of what is refused only that it is.
fn outcome(client: &mut Client, case: &Case) -> Value {
    let id = client.post_call(case.tool, &case.arguments);
    let response = client.response(&id);
    let result = &response["result"];
    if result["isError"] == true || response.get("error").is_some() {
        return json!("refused");
    }
    let text = result["content"][0]["text"].as_str().unwrap();
    let mut answer: Value = serde_json::from_str(text).unwrap();
    let fields = answer.as_object_mut().unwrap();
    fields.retain(|field, _| !ADDITIONS.contains(&field.as_str()));
    for (field, value) in fields {
        if TEXTS.contains(&field.as_str()) {
            assert!(!value.as_str().unwrap().trim().is_empty(), "{text}");
            *value = "<text>".into();
        } else if field == "wsb" {
            *value = json!({"siteIds": site_ids(value.as_str().unwrap())});
        } else if field == "wsbPath" {
            let path = value.as_str().unwrap().replace('\\', "/");
            let (_, name) = path.rsplit_once('/').unwrap();
            let id = name
                .strip_prefix("tablecloth-")
                .and_then(|rest| rest.strip_suffix(".wsb"));
            *value = id.unwrap().len().into();
        }
    }
    answer
}

/// The ids that a sandbox file sets, once its XML is read.
fn site_ids(document: &str) -> String {
    let mut reader = Reader::from_str(document);
    let mut text = String::new();
    loop {
        match reader.read_event().expect("the file is well-formed") {
            Event::Eof => break,
            Event::Text(piece) => text.push_str(&piece.xml10_content()),
            Event::GeneralRef(reference) => {
                let piece = quick_xml::escape::resolve_predefined_entity(&reference);
                text.push_str(piece.expect("the entity is known"));
            }
            _ => {}
        }
    }
    let (_, rest) = text.split_once("$env:TABLECLOTH_SITE_IDS = ''").unwrap();
    rest.split_once("'';").unwrap().0.to_owned()
}

/// What of the tools must be the same: all but the words, and how a parameter says that it may be null.
fn tools(listed: &Value) -> Value {
    let tools = listed.as_array().unwrap().iter().map(|tool| {
        let schema = &tool["inputSchema"];
        let no_properties = serde_json::Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&no_properties);
        let parameters: Value = properties
            .iter()
            .map(|(name, property)| {
                let default = property.get("default").filter(|default| !default.is_null());
                let is_described = property["description"].is_string();
                (
                    name.clone(),
                    json!({"default": default, "isDescribed": is_described}),
                )
            })
            .collect::<serde_json::Map<_, _>>()
            .into();
        let mut required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        required.sort_unstable();
        let mut annotations = tool["annotations"].clone();
        let title = annotations.as_object_mut().unwrap().shift_remove("title");
        assert_eq!(title.as_ref(), Some(&tool["title"]));
        assert!(tool["description"].is_string());
        json!({
            "name": tool["name"],
            "annotations": annotations,
            "parameters": parameters,
            "required": required,
        })
    });
    let mut tools: Vec<Value> = tools.collect();
    tools.sort_by_key(|tool| tool["name"].to_string());
    tools.into()
}

fn kept_answers(catalog: &Path, folder: &Path, cases: &[Case]) -> Vec<Value> {
    let path = here("answers.jsonl");
    if std::env::var_os("TABLECLOTH_RECORD").is_some() {
        let mut client = ours(catalog, folder);
        let lines = cases.iter().fold(String::new(), |mut lines, case| {
            let line = json!({
                "tool": case.tool,
                "arguments": case.arguments,
                "outcome": outcome(&mut client, case),
            });
            writeln!(lines, "{line}").unwrap();
            lines
        });
        fs::write(&path, lines).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = kept
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines.len(),
        cases.len(),
        "the kept answers are of other cases"
    );
    for (line, case) in lines.iter().zip(cases) {
        assert_eq!(
            (&line["tool"], &line["arguments"]),
            (&json!(case.tool), &case.arguments)
        );
    }
    lines.iter().map(|line| line["outcome"].clone()).collect()
}

#[test]
fn answers_are_those_of_the_other_servers() {
    let peer_command = std::env::var("TABLECLOTH_CONFORMANCE_PEER").unwrap_or_default();
    let catalog = match std::env::var_os("TABLECLOTH_CONFORMANCE_CATALOG") {
        Some(catalog) if !peer_command.is_empty() => PathBuf::from(catalog),
        _ => here("catalog.xml"),
    };
    let catalog = fs::canonicalize(catalog).unwrap();
    let folder = TempDir::new().unwrap();
    let cases = cases(&catalog);
    let (their_tools, theirs) = if peer_command.is_empty() {
        (
            expected_tools(),
            kept_answers(&catalog, folder.path(), &cases),
        )
    } else {
        let mut peer = peer(&peer_command, &catalog, folder.path());
        let listed = peer.request("tools/list", &json!({}))["result"]["tools"].clone();
        let answers = cases.iter().map(|case| outcome(&mut peer, case)).collect();
        (listed, answers)
    };

    let mut client = ours(&catalog, folder.path());
    let listed = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    assert_eq!(tools(&listed), tools(&their_tools));
    let mut differing = String::new();
    for (case, theirs) in cases.iter().zip(theirs) {
        if is_windows_program() && theirs["launched"] == true {
            continue;
        }
        let ours = outcome(&mut client, case);
        if ours != theirs {
            writeln!(
                differing,
                "{} {}\n  ours:   {ours}\n  theirs: {theirs}",
                case.tool, case.arguments
            )
            .unwrap();
        }
    }
    assert!(differing.is_empty(), "{differing}");
}
