//! JSON-RPC and MCP: every revision, every opening, and whatever else a client may send.

use serde_json::{Value, json};

use crate::{
    catalog_server::{CatalogServer, respond_slowly},
    client::{Client, Start, answer_in},
    texts::{expected_tools, text},
};

const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];
const LATEST_WITH_INITIALIZE: &str = "2025-11-25";

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

fn spawn() -> (CatalogServer, Client) {
    let catalog = CatalogServer::start();
    let client = Start::with(&catalog).spawn();
    (catalog, client)
}

/// The metadata that each request carries since revision 2026-07-28.
fn meta(revision: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The next message, an error without an id or with that one.
fn expect_error(client: &mut Client, id: &Value, code: i64) {
    let message = client.next().expect("the session goes on");
    assert_eq!(message["id"], *id, "{message}");
    assert_eq!(message["error"]["code"], code, "{message}");
    assert!(message["error"]["message"].is_string());
}

#[test]
fn every_revision_is_negotiated() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // This one has no initialize, so a client that sends it all the same gets the last that has.
        ("2026-07-28", LATEST_WITH_INITIALIZE),
        ("2099-01-01", LATEST_WITH_INITIALIZE),
        ("", LATEST_WITH_INITIALIZE),
    ] {
        let (_catalog, mut client) = spawn();
        let answer = client.initialize(asked);
        assert_eq!(answer["protocolVersion"], agreed, "{asked}");
        assert_eq!(answer["capabilities"], json!({"tools": {}}));
        let listed = client.request("tools/list", &json!({}));
        assert_eq!(
            listed["result"],
            json!({"tools": expected_tools()}),
            "{asked}"
        );
        client.assert_alive();
        assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    }
}

#[test]
fn initialize_takes_what_there_is() {
    for params in [
        json!(null),
        json!({}),
        json!({"protocolVersion": null}),
        json!({"protocolVersion": 5, "capabilities": [], "clientInfo": "x"}),
        json!({"protocolVersion": "2025-06-18"}),
        json!({"protocolVersion": "2025-06-18", "capabilities": {"sampling": 1}, "clientInfo": {"name": 1}}),
    ] {
        let (_catalog, mut client) = spawn();
        let response = client.request("initialize", &params);
        let agreed = response["result"]["protocolVersion"].as_str();
        assert!(
            agreed.is_some_and(|agreed| REVISIONS.contains(&agreed)),
            "{params}: {response}"
        );
        client.assert_alive();
    }
}

#[test]
fn initialize_may_come_again() {
    let (_catalog, mut client) = spawn();
    for revision in ["2025-06-18", "2024-11-05", "2025-11-25"] {
        assert_eq!(client.initialize(revision)["protocolVersion"], revision);
        client.assert_alive();
    }
}

#[test]
fn discover_opens_a_session() {
    let (_catalog, mut client) = spawn();
    let meta = meta("2026-07-28");
    let response = client.request("server/discover", &json!({"_meta": meta}));
    let discovered = &response["result"];
    assert_eq!(discovered["supportedVersions"], json!(REVISIONS));
    assert_eq!(discovered["instructions"], text("server.instructions"));
    assert_eq!(discovered["capabilities"], json!({"tools": {}}));

    let listed = client.request("tools/list", &json!({"_meta": meta}));
    assert_eq!(listed["result"]["tools"], expected_tools());
    assert_eq!(listed["result"]["resultType"], "complete");
    let called = client.request(
        "tools/call",
        &json!({"_meta": meta, "name": "get_service", "arguments": {"id": "Tax24"}}),
    );
    assert_eq!(called["result"]["resultType"], "complete");
    assert_eq!(answer_in(&called)["displayName"], "세금이사");
    // Arguments that the protocol library cannot read itself.
    let called = client.request(
        "tools/call",
        &json!({"_meta": meta, "name": "get_service", "arguments": "{\"id\": \"Tax24\"}"}),
    );
    assert_eq!(answer_in(&called)["displayName"], "세금이사");
}

#[test]
fn discover_then_initialize_in_one_process() {
    let (_catalog, mut client) = spawn();
    let opened = client.request("server/discover", &json!({"_meta": meta("2026-07-28")}));
    assert!(opened["result"].is_object(), "{opened}");
    assert_eq!(
        client.initialize("2025-06-18")["protocolVersion"],
        "2025-06-18"
    );
    let listed = client.request("tools/list", &json!({}));
    assert_eq!(listed["result"], json!({"tools": expected_tools()}));
    client.assert_alive();
    // And back.
    let again = client.request("server/discover", &json!({"_meta": meta("2026-07-28")}));
    assert_eq!(again["result"]["supportedVersions"], json!(REVISIONS));
    client.assert_alive();
}

#[test]
fn discover_that_cannot_be_answered_is_refused() {
    let (_catalog, mut client) = spawn();
    let response = client.request("server/discover", &json!({}));
    assert_eq!(response["error"]["code"], INVALID_PARAMS, "{response}");
    let response = client.request("server/discover", &json!({"_meta": meta("2099-01-01")}));
    assert_eq!(
        response["error"]["data"]["supported"],
        json!(REVISIONS),
        "{response}"
    );
    client.initialize("2025-06-18");
    client.assert_alive();
}

#[test]
fn any_request_may_come_first() {
    for method in [
        "tools/list",
        "ping",
        "logging/setLevel",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "completion/complete",
        "tools/call",
        "subscriptions/listen",
        "tasks/list",
        "no/such/method",
    ] {
        let (_catalog, mut client) = spawn();
        let params = match method {
            "logging/setLevel" => json!({"level": "debug"}),
            _ => json!({}),
        };
        let response = client.request(method, &params);
        match method {
            "tools/list" => assert_eq!(response["result"]["tools"], expected_tools()),
            "ping" => assert_eq!(response["result"], json!({})),
            _ => assert!(
                response["result"].is_object() || response["error"]["code"].is_i64(),
                "{response}"
            ),
        }
        client.initialize("2025-06-18");
        client.assert_alive();
    }
}

#[test]
fn calls_need_no_opening() {
    let (_catalog, mut client) = spawn();
    client.assert_alive();
}

#[test]
fn notifications_are_passed_over() {
    let (_catalog, mut client) = spawn();
    for params in [
        json!({}),
        json!(null),
        json!([1]),
        json!("x"),
        json!({"requestId": 99, "reason": 5, "level": {}}),
    ] {
        for method in [
            "notifications/initialized",
            "notifications/cancelled",
            "notifications/progress",
            "notifications/roots/list_changed",
            "notifications/unknown",
            "tools/list",
            "initialize",
            "tools/call",
        ] {
            client.notify(method, &params);
        }
    }
    client.send_line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    client.initialize("2025-06-18");
    client.assert_alive();
    client.close_input();
    assert_eq!(
        client.rest(),
        [] as [Value; 0],
        "notifications have no response"
    );
}

#[test]
fn unknown_methods_are_refused() {
    let (_catalog, mut client) = spawn();
    client.initialize("2025-06-18");
    for method in [
        "no/such",
        "",
        "tools/",
        "TOOLS/LIST",
        "한글",
        "rpc.discover",
    ] {
        for params in [json!({}), json!(null), json!({"a": [1, {"b": null}]})] {
            let response = client.request(method, &params);
            assert_eq!(response["error"]["code"], METHOD_NOT_FOUND, "{response}");
        }
    }
    client.assert_alive();
}

#[test]
fn known_methods_with_unreadable_params_are_refused() {
    let (_catalog, mut client) = spawn();
    client.initialize("2025-06-18");
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", json!({"name": 5})),
        ("tools/call", json!({"arguments": {}})),
        ("tools/call", json!({"name": "no_such_tool"})),
        ("tools/call", json!({"name": ""})),
        ("tools/call", json!([])),
        ("tools/call", json!("get_service")),
        ("tools/list", json!([])),
        ("tools/list", json!(5)),
    ] {
        let response = client.request(method, &params);
        assert_eq!(
            response["error"]["code"], INVALID_PARAMS,
            "{method} {params}: {response}"
        );
    }
    // Null is as good as nothing.
    assert!(client.request("tools/list", &json!(null))["result"].is_object());
    assert!(client.request("ping", &json!(null))["result"].is_object());
    let call = json!({"name": "list_categories", "arguments": null, "_meta": null});
    assert_eq!(
        answer_in(&client.request("tools/call", &call))["totalServices"],
        13
    );
    let call = json!({"name": "list_categories", "_meta": {"progressToken": 7}, "extra": true});
    assert_eq!(
        answer_in(&client.request("tools/call", &call))["totalServices"],
        13
    );
    client.assert_alive();
}

#[test]
fn lines_that_are_no_json_are_refused() {
    let (_catalog, mut client) = spawn();
    client.initialize("2025-06-18");
    for line in [
        &b"garbage"[..],
        b"{",
        b"}",
        b"\"",
        b"{\"jsonrpc\":\"2.0\",}",
        b"{'jsonrpc':'2.0'}",
        b"nul",
        b"\x00\x01\x02",
        b"\x1b[31m",
        b"Content-Length: 52",
        b"\xff\xfe{\x00}\x00",
        b"{\"jsonrpc\":\"2.0\"} {\"jsonrpc\":\"2.0\"}",
    ] {
        client.send_bytes(&[line, b"\n"].concat());
        expect_error(&mut client, &Value::Null, PARSE_ERROR);
    }
    client.assert_alive();
}

#[test]
fn broken_requests_are_refused_by_their_id() {
    let (_catalog, mut client) = spawn();
    client.initialize("2025-06-18");
    for (line, id) in [
        (&b"{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"ping\""[..], json!(71)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":72,\"method\":\"ping\",}", json!(72)),
        // Invalid UTF-8 inside a string.
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":\"u\",\"method\":\"tools/call\",\"params\":{\"name\":\"\xc8\xa8\xc5\xc3\"}}",
            json!("u"),
        ),
        (b"{\"jsonrpc\":\"2.0\",\"id\":73,\"method\":\"ping\",\"params\":{\"x\":1e999}}", json!(73)),
        // A lone surrogate.
        (b"{\"jsonrpc\":\"2.0\",\"id\":74,\"method\":\"ping\",\"params\":{\"x\":\"\\ud800\"}}", json!(74)),
    ] {
        client.send_bytes(&[line, b"\n"].concat());
        expect_error(&mut client, &id, PARSE_ERROR);
    }
    client.assert_alive();
}

#[test]
fn json_that_is_no_request_is_refused() {
    let (_catalog, mut client) = spawn();
    client.initialize("2025-06-18");
    for (line, id) in [
        ("5", json!(null)),
        ("null", json!(null)),
        ("\"ping\"", json!(null)),
        ("true", json!(null)),
        ("{}", json!(null)),
        (r#"{"id":81,"method":"ping"}"#, json!(81)),
        (r#"{"jsonrpc":"1.0","id":82,"method":"ping"}"#, json!(82)),
        (r#"{"jsonrpc":2.0,"id":83,"method":"ping"}"#, json!(83)),
        (r#"{"jsonrpc":null,"id":"84","method":"ping"}"#, json!("84")),
        (r#"{"jsonrpc":"2.0","id":85}"#, json!(85)),
        (r#"{"jsonrpc":"2.0","id":86,"method":5}"#, json!(86)),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            json!(null),
        ),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, json!(null)),
        ("[]", json!(null)),
        ("[5]", json!(null)),
    ] {
        client.send_line(line);
        expect_error(&mut client, &id, INVALID_REQUEST);
    }
    // Answers to nothing we asked.
    client.send_line(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    client.send_line(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#);
    client.send_line(r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}"#);
    client.assert_alive();
}

#[test]
fn line_ends_blank_lines_and_byte_order_marks_do_not_matter() {
    let (_catalog, mut client) = spawn();
    client.send_bytes(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":\"bom\",\"method\":\"ping\"}\r\n");
    client.send_bytes(b"\n\r\n  \n\t\r\n\xef\xbb\xbf\n");
    client.send_bytes(b"  {\"jsonrpc\":\"2.0\",\"id\":\"spaces\",\"method\":\"ping\"}  \n");
    // In pieces, in the middle of a character.
    let line = r#"{"jsonrpc":"2.0","id":"조각","method":"ping"}"#.as_bytes();
    for byte in line {
        client.send_bytes(&[*byte]);
    }
    client.send_bytes(b"\n");
    for id in ["bom", "spaces", "조각"] {
        assert_eq!(client.response(&json!(id))["result"], json!({}));
    }
    client.assert_alive();
}

#[test]
fn a_batch_is_answered_one_by_one() {
    let (_catalog, mut client) = spawn();
    client.send(&json!([
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "tools/call",
         "params": {"name": "get_service", "arguments": {"id": "Tax24"}}},
        5,
        {"jsonrpc": "2.0", "id": "c", "method": "no/such"},
    ]));
    assert_eq!(client.response(&json!("a"))["result"], json!({}));
    assert_eq!(answer_in(&client.response(&json!("b")))["id"], "Tax24");
    assert_eq!(
        client.response(&json!(null))["error"]["code"],
        INVALID_REQUEST
    );
    assert_eq!(
        client.response(&json!("c"))["error"]["code"],
        METHOD_NOT_FOUND
    );
    client.assert_alive();
}

#[test]
fn ids_come_back_as_they_were() {
    let (_catalog, mut client) = spawn();
    for id in [
        "\"\"",
        "\"x\"",
        "\"한글 😀 \\\"\\\\\"",
        "0",
        "-1",
        "1.5",
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
    ] {
        client.send_line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"get_service","arguments":{{"id":"Tax24"}}}}}}"#
        ));
        let id: Value = serde_json::from_str(id).unwrap();
        assert_eq!(answer_in(&client.response(&id))["id"], "Tax24");
    }
    let long = "가".repeat(10_000);
    client.send(&json!({"jsonrpc": "2.0", "id": long, "method": "ping"}));
    assert_eq!(client.response(&json!(long))["result"], json!({}));
    // Beyond 64 bits a number is rounded at best; the session goes on.
    for id in [
        "18446744073709551616",
        "1e400",
        "123456789012345678901234567890",
    ] {
        client.send_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert!(client.next().is_some());
    }
    client.assert_alive();
}

#[test]
fn equal_ids_in_flight_are_each_answered() {
    let catalog = CatalogServer::responding(respond_slowly);
    let mut client = Start::with(&catalog).spawn();
    for service in ["Tax24", "Bare", "Emoji"] {
        client.send(&json!({
            "jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": "get_service", "arguments": {"id": service}},
        }));
    }
    let mut answered: Vec<String> = (0..3)
        .map(|_| {
            answer_in(&client.response(&json!(7)))["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    answered.sort();
    assert_eq!(answered, ["Bare", "Emoji", "Tax24"]);
}

#[test]
fn a_cancelled_call_is_not_answered_and_harms_no_other() {
    let catalog = CatalogServer::responding(respond_slowly);
    let mut client = Start::with(&catalog).session();
    let cancelled = client.post_call("get_service", &json!({"id": "Tax24"}));
    catalog.wait_for_requests(1);
    let other = client.post_call("get_service", &json!({"id": "Bare"}));
    client.notify(
        "notifications/cancelled",
        &json!({"requestId": cancelled, "reason": "test"}),
    );
    // What was never asked, or is answered already, can be cancelled as well.
    for id in [json!("nothing"), json!(0), json!(null), json!({})] {
        client.notify("notifications/cancelled", &json!({"requestId": id}));
    }
    assert_eq!(answer_in(&client.response(&other))["id"], "Bare");
    client.notify("notifications/cancelled", &json!({"requestId": other}));
    client.assert_alive();
    assert_eq!(
        catalog.requests().len(),
        1,
        "the fetch went on for the other call"
    );
    client.close_input();
    assert_eq!(client.rest(), [] as [Value; 0]);
}

#[test]
fn a_cancelled_call_does_not_cancel_the_fetch() {
    let catalog = CatalogServer::responding(respond_slowly);
    let mut client = Start::with(&catalog).session();
    let cancelled = client.post_call("get_service", &json!({"id": "Tax24"}));
    catalog.wait_for_requests(1);
    client.notify("notifications/cancelled", &json!({"requestId": cancelled}));
    client.assert_alive();
    assert_eq!(catalog.requests().len(), 1);
}

#[test]
fn deep_nesting_is_refused() {
    let (_catalog, mut client) = spawn();
    client.initialize("2025-06-18");
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let depth = 200_000;
        let value = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let short = value.len() < 1024 * 1024;
        client.send_line(&format!(
            r#"{{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{{"name":"get_service","arguments":{{"id":{value}}}}}}}"#
        ));
        let code = if short { PARSE_ERROR } else { INVALID_REQUEST };
        expect_error(&mut client, &json!("deep"), code);
        // Never closed.
        client.send_line(&open.repeat(depth));
        let message = client.next().unwrap();
        assert!(message["error"]["code"].is_i64() && message["id"].is_null());
    }
    client.assert_alive();
}

#[test]
fn huge_lines_are_refused_in_bounded_memory() {
    let (_catalog, mut client) = spawn();
    client.initialize("2025-06-18");
    let huge = "x".repeat(20 * 1024 * 1024);
    client.send_line(&format!(
        r#"{{"jsonrpc":"2.0","id":"huge","method":"tools/call","params":{{"name":"search_services","arguments":{{"query":"{huge}"}}}}}}"#
    ));
    expect_error(&mut client, &json!("huge"), INVALID_REQUEST);
    client.send_line(&huge);
    expect_error(&mut client, &Value::Null, INVALID_REQUEST);
    // What parses to much more than its text.
    let many = "[],".repeat(300_000);
    client.send_line(&format!(
        r#"{{"jsonrpc":"2.0","id":"many","method":"ping","params":{{"x":[{many}0]}}}}"#
    ));
    client.response(&json!("many"));
    client.assert_alive();
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string(format!("/proc/{}/status", client.pid())).unwrap();
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok())
            .unwrap();
        assert!(peak < 120 * 1024, "{peak} kB");
    }
}

#[test]
fn a_flood_of_requests_is_answered_whole() {
    let (_catalog, mut client) = spawn();
    client.initialize("2025-06-18");
    let mut lines = String::new();
    for n in 0..3000 {
        use std::fmt::Write as _;
        writeln!(
            lines,
            r#"{{"jsonrpc":"2.0","id":"n{n}","method":"tools/call","params":{{"name":"list_categories"}}}}"#
        )
        .unwrap();
    }
    client.send_bytes(lines.as_bytes());
    let mut answered: Vec<String> = (0..3000)
        .map(|_| client.next().unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    answered.sort();
    answered.dedup();
    assert_eq!(answered.len(), 3000);
}

#[test]
fn a_last_line_without_an_end_counts() {
    let catalog = CatalogServer::start();
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "get_service", "arguments": {"id": "Tax24"}},
    });
    let finished = Start::with(&catalog).run_on(call.to_string().as_bytes());
    assert_eq!(finished.code, Some(0));
    let messages = finished.messages();
    assert_eq!(messages.len(), 1);
    assert_eq!(answer_in(&messages[0])["id"], "Tax24");
}
