//! What a session shows of the catalog's state.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    client::{Client, Start},
    texts::{filled, text},
};

/// A call waits five seconds for the network; the rest is for a busy machine.
const LONGEST_CALL: Duration = Duration::from_secs(20);

/// Asks for something of the catalog. The answer comes in time, and the session goes on.
pub(crate) fn ask(client: &mut Client) -> Value {
    let start = Instant::now();
    let answer = client.call("search_services", &json!({"query": "은행"}));
    assert!(start.elapsed() < LONGEST_CALL, "{:?}", start.elapsed());
    client.request("ping", &json!({}));
    answer
}

/// The first answer of a server, which then ends without having panicked.
pub(crate) fn first_answer(start: &Start) -> Value {
    let mut client = start.session();
    let answer = ask(&mut client);
    let log = client.finish();
    assert!(!log.contains("panicked"), "{log}");
    answer
}

/// The answer comes from the live catalog.
#[track_caller]
pub(crate) fn assert_live(answer: &Value) {
    assert_eq!(answer.get("catalogNotice"), None, "{answer}");
}

/// The answer comes from the embedded catalog, for the reason under
/// `catalog.reason.<key>`, and says so.
#[track_caller]
pub(crate) fn assert_embedded(answer: &Value, key: &str) {
    let notice = answer["catalogNotice"].as_str();
    let notice = notice.unwrap_or_else(|| panic!("no notice in {answer}"));
    let count = answer["totalServices"].to_string();
    let said = filled(
        "catalog.noticeEmbedded",
        &[("count", &count), ("reason", "\0")],
    );
    let (before, after) = said.split_once('\0').unwrap();
    let reason = notice
        .strip_prefix(before)
        .and_then(|rest| rest.strip_suffix(after))
        .unwrap_or_else(|| panic!("not embedded: {notice}"));
    // Texts have at most two places, filled by what the fault and the address are.
    let parts: Vec<&str> = text(&format!("catalog.reason.{key}"))
        .split(['{', '}'])
        .step_by(2)
        .collect();
    let mut rest = reason;
    for part in &parts {
        let Some(place) = rest.find(part) else {
            panic!("not {key}: {reason}");
        };
        rest = &rest[place + part.len()..];
    }
    assert!(
        !answer["results"].as_array().unwrap().is_empty(),
        "{answer}"
    );
}

/// The first answer of a server for this address is an embedded one for this reason.
#[track_caller]
pub(crate) fn assert_reason(start: &Start, key: &str) -> String {
    let answer = first_answer(start);
    assert_embedded(&answer, key);
    answer["catalogNotice"].as_str().unwrap().to_owned()
}
