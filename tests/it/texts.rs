//! What is read by users and models equals `shared/strings.json`.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::{catalog_server::CatalogServer, client::Start};

static STRINGS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../shared/strings.json")).unwrap());

/// The text under a key such as `server.instructions`.
pub(crate) fn text(key: &str) -> &'static str {
    let value = key.split('.').fold(&*STRINGS, |value, part| &value[part]);
    value.as_str().unwrap_or_else(|| panic!("no text {key}"))
}

/// The text with values in its places.
pub(crate) fn filled(key: &str, values: &[(&str, &str)]) -> String {
    let mut filled = text(key).to_owned();
    for (name, value) in values {
        let place = format!("{{{name}}}");
        assert!(filled.contains(&place), "{key} has {place}");
        filled = filled.replace(&place, value);
    }
    filled
}

/// The sandbox file for these sites.
pub(crate) fn wsb(ids: &str) -> String {
    let template = include_str!("../../shared/wsb-template.xml");
    assert_eq!(template.matches("__SITEIDS__").count(), 1);
    template.replace(
        "__SITEIDS__",
        &format!(" $env:TABLECLOTH_SITE_IDS = ''{ids}'';"),
    )
}

/// `tools_list.json` with its texts filled in: a string `$<key>` stands for a text.
pub(crate) fn expected_tools() -> Value {
    let mut tools = serde_json::from_str(include_str!("tools_list.json")).unwrap();
    fill_in(&mut tools);
    tools
}

fn fill_in(value: &mut Value) {
    match value {
        Value::String(key) => {
            if let Some(key) = key.strip_prefix('$') {
                *value = text(key).into();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(fill_in),
        Value::Object(fields) => fields.values_mut().for_each(fill_in),
        _ => {}
    }
}

#[test]
fn instructions() {
    let catalog = CatalogServer::start();
    let mut client = Start::with(&catalog).spawn();
    let answer = client.initialize("2025-06-18");
    assert_eq!(answer["instructions"], text("server.instructions"));
    assert_eq!(
        answer["serverInfo"],
        json!({"name": "tablecloth-mcp", "version": env!("CARGO_PKG_VERSION")})
    );
}

#[test]
fn tool_list() {
    let catalog = CatalogServer::start();
    let mut client = Start::with(&catalog).session();
    let response = client.request("tools/list", &json!({}));
    let expected = expected_tools();
    for (tool, expected) in response["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .zip(expected.as_array().unwrap())
    {
        assert_eq!(tool, expected);
    }
    assert_eq!(response["result"], json!({"tools": expected}));
    // A client may cut what is longer (claude-code#41593).
    for tool in expected.as_array().unwrap() {
        assert!(tool["description"].as_str().unwrap().chars().count() < 2000);
    }
}

#[test]
fn answers() {
    let catalog = CatalogServer::start();
    let mut client = Start::with(&catalog).session();

    let found = client.call("search_services", &json!({"query": "가나은행"}));
    assert_eq!(found["note"], text("tools.search_services.resultNote"));
    let nothing = client.call("search_services", &json!({"query": "없는곳"}));
    assert_eq!(nothing["note"], text("tools.search_services.noMatchNote"));

    let unknown = client.call("get_service", &json!({"id": "Nowhere"}));
    let error = filled("tools.get_service.errorNotFound", &[("id", "Nowhere")]);
    assert_eq!(
        unknown,
        json!({"error": error, "hint": text("tools.get_service.hintNotFound")})
    );

    let near = client.call("get_service", &json!({"id": "ganabank"}));
    let reason = filled("suggestions.id", &[("meant", "ganabank")]);
    assert_eq!(near["suggestions"][0]["id"], "GanaBank");
    assert_eq!(near["suggestions"][0]["reason"], reason);
    let meant = client.call("search_services", &json!({"query": "가나은행에서"}));
    let reason = filled("suggestions.name", &[("meant", "가나은행")]);
    assert_eq!(meant["suggestions"][0]["reason"], reason);

    let made = client.call(
        "generate_wsb",
        &json!({"serviceIds": ["Tax24", "Q-net.kr_1"]}),
    );
    assert_eq!(made["wsb"], wsb("Tax24 Q-net.kr_1"));
    assert_eq!(made["usage"], text("tools.generate_wsb.usage"));
    assert_eq!(made["securityNote"], text("sandbox.securityNote"));

    let no_ids = json!({"serviceIds": ["?"]});
    assert_eq!(
        client.call("generate_wsb", &no_ids),
        json!({
            "error": text("tools.generate_wsb.errorNoValidIds"),
            "unknownIds": ["?"],
            "hint": text("tools.generate_wsb.hintNoValidIds"),
        })
    );
    assert_eq!(
        client.call("launch_sandbox", &no_ids),
        json!({
            "launched": false,
            "error": text("tools.launch_sandbox.errorNoValidIds"),
            "unknownIds": ["?"],
            "hint": text("tools.launch_sandbox.hintNoValidIds"),
        })
    );
}

#[test]
fn refusals() {
    let catalog = CatalogServer::start();
    let mut client = Start::with(&catalog).session();
    let hint = text("arguments.hint");

    let missing = filled(
        "arguments.missing",
        &[
            ("tool", "get_service"),
            ("parameter", "id"),
            ("wanted", text("arguments.wanted.string")),
        ],
    );
    assert_eq!(
        client.refusal("get_service", &json!({})),
        json!({"error": missing, "hint": hint})
    );

    for (tool, arguments, parameter, got, wanted) in [
        ("get_service", json!({"id": [1]}), "id", "[1]", "string"),
        (
            "search_services",
            json!({"query": "q", "limit": "many"}),
            "limit",
            "\"many\"",
            "integer",
        ),
        (
            "generate_wsb",
            json!({"serviceIds": {"a": 1}}),
            "serviceIds",
            "{\"a\":1}",
            "stringList",
        ),
    ] {
        let error = filled(
            "arguments.wrongType",
            &[
                ("tool", tool),
                ("parameter", parameter),
                ("wanted", text(&format!("arguments.wanted.{wanted}"))),
                ("got", got),
            ],
        );
        assert_eq!(
            client.refusal(tool, &arguments),
            json!({"error": error, "hint": hint})
        );
    }

    let error = filled(
        "arguments.notAnObject",
        &[
            ("tool", "list_companions"),
            ("got", "[]"),
            ("wanted", text("arguments.wanted.object")),
        ],
    );
    assert_eq!(
        client.refusal("list_companions", &json!([])),
        json!({"error": error, "hint": hint})
    );

    let response = client.request("tools/call", &json!({"name": "open_bank"}));
    let names: Vec<&str> = expected_names();
    let message = filled(
        "arguments.unknownTool",
        &[("tool", "open_bank"), ("tools", &names.join(", "))],
    );
    assert_eq!(response["error"]["message"], message);
    assert_eq!(response["error"]["code"], -32602);
}

fn expected_names() -> Vec<&'static str> {
    vec![
        "search_services",
        "get_service",
        "list_categories",
        "list_companions",
        "generate_wsb",
        "launch_sandbox",
    ]
}
