//! The six tools: what they answer, from which arguments, and when they fetch.

use serde_json::{Value, json};

use crate::{
    catalog_server::{CatalogServer, respond, respond_slowly},
    client::{Client, Start, answer_in},
    texts::{expected_tools, wsb},
    texts::{filled, text},
};

fn session() -> (CatalogServer, Client) {
    let catalog = CatalogServer::start();
    let client = Start::with(&catalog).session();
    (catalog, client)
}

fn ids(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap();
    assert_eq!(answer["matched"], results.len());
    results
        .iter()
        .map(|result| result["id"].as_str().unwrap())
        .collect()
}

fn without(mut answer: Value, fields: &[&str]) -> Value {
    for field in fields {
        let removed = answer.as_object_mut().unwrap().shift_remove(*field);
        assert!(removed.is_some(), "{field} is in {answer}");
    }
    answer
}

#[test]
fn search_services_finds_and_orders() {
    let (_catalog, mut client) = session();
    let mut search = |arguments: Value| client.call("search_services", &arguments);

    let found = search(json!({"query": "가나은행 기업뱅킹"}));
    assert_eq!(found["query"], "가나은행 기업뱅킹");
    assert_eq!(found["totalServices"], 13);
    // Both words first; equal scores by name.
    assert_eq!(ids(&found), ["GanaBankBiz", "GanaBank", "GanaBank"]);
    assert_eq!(
        found["results"][1],
        json!({
            "id": "GanaBank",
            "displayName": "가나은행 (중복)",
            "category": "Other",
            "url": "https://second.bank.example/",
            "requiredPackages": [],
        })
    );
    assert_eq!(
        without(found["results"][2].clone(), &["compatWarning"]),
        json!({
            "id": "GanaBank",
            "displayName": "가나은행 개인뱅킹",
            "displayNameEn": "GANA BANK",
            "category": "Banking",
            "url": "https://bank.example/",
            "requiredPackages": ["ShieldWall", "키보드 보안", ""],
        })
    );
    let warning = found["results"][2]["compatWarning"].as_str().unwrap();
    assert!(warning.starts_with("보안 프로그램"), "{warning}");
    assert!(warning.contains("막을 수 있습니다 <주의>.\n"), "{warning}");
    assert!(warning.contains("둘째 줄."), "{warning}");
    assert!(!warning.contains("not part"), "{warning}");

    for (query, first) in [
        ("연말정산", "Tax24"),
        ("TAX SETTLEMENT", "Tax24"),
        ("ga,na\tshieldwall", "GanaBank"),
        ("<가나>", "GanaBank"),
        ("gana&co", "GanaBank"),
        ("license.example", "Q-net.kr_1"),
        ("creditcard", "it's"),
        // Decomposed Hangul, as typed on a Mac.
        ("\u{1109}\u{1166}\u{1100}\u{1173}\u{11b7}", "Tax24"),
    ] {
        let found = search(json!({"query": query}));
        assert_eq!(ids(&found).first(), Some(&first), "{query}");
        assert_eq!(found["query"], query);
    }
    assert!(ids(&search(json!({"query": "script text"}))).is_empty());
}

#[test]
fn search_services_without_words_lists_by_name() {
    let (_catalog, mut client) = session();
    for query in ["", " \t,\r\n"] {
        let found = client.call("search_services", &json!({"query": query, "limit": 50}));
        assert_eq!(
            ids(&found),
            [
                "Bare",
                "GanaBank",
                "GanaBank",
                "GanaBankBiz",
                "it's",
                "Spaced Id",
                "NoCategory",
                "Tax24",
                "Padded",
                "Q-net.kr_1",
                "LineEnds",
                "Emoji",
                "Wide",
            ]
        );
    }
    let bare = client.call("search_services", &json!({"query": "bare"}));
    assert_eq!(
        bare["results"],
        json!([{
            "id": "Bare",
            "displayName": "",
            "category": "Other",
            "url": "",
            "requiredPackages": [],
        }])
    );
}

#[test]
fn search_services_keeps_to_a_category() {
    let (_catalog, mut client) = session();
    for category in ["Government", "GOVERNMENT", "government"] {
        let found = client.call(
            "search_services",
            &json!({"query": "", "category": category}),
        );
        assert_eq!(ids(&found), ["Spaced Id", "Tax24", "Q-net.kr_1"]);
        assert_eq!(found["category"], category);
        assert_eq!(found["totalServices"], 13);
    }
    let nothing = client.call("search_services", &json!({"query": "", "category": "Gov"}));
    assert!(ids(&nothing).is_empty());
    // With nothing found there, the advice is to look elsewhere.
    assert_eq!(
        nothing["note"],
        text("tools.search_services.noMatchInCategoryNote")
    );
    let nothing = client.call("search_services", &json!({"query": "qqq"}));
    assert_eq!(nothing["note"], text("tools.search_services.noMatchNote"));
}

#[test]
fn search_services_takes_what_clients_send_for_nothing() {
    let (_catalog, mut client) = session();
    for category in [json!(null), json!(""), json!("  "), json!("\t\n")] {
        let found = client.call(
            "search_services",
            &json!({"query": "세금", "category": category, "limit": null}),
        );
        assert_eq!(ids(&found), ["Tax24"], "{category}");
    }
}

#[test]
fn search_services_takes_limits_in_every_form() {
    let (_catalog, mut client) = session();
    let mut count = |limit: &Value| {
        let found = client.call("search_services", &json!({"query": "", "limit": limit}));
        ids(&found).len()
    };
    for (limit, results) in [
        (json!(2), 2),
        (json!("2"), 2),
        (json!(" 2 "), 2),
        (json!(2.0), 2),
        (json!("2.0"), 2),
        (json!(null), 13),
        (json!(""), 13),
        (json!("null"), 13),
        (json!(0), 1),
        (json!(-3), 1),
        (json!("-3"), 1),
        (json!(50), 13),
        (json!(5000), 13),
        (json!(1e300), 13),
        (json!(u64::MAX), 13),
    ] {
        assert_eq!(count(&limit), results, "{limit}");
    }
    for limit in [
        json!("many"),
        json!(2.5),
        json!("2.5"),
        json!("NaN"),
        json!("inf"),
        json!(true),
        json!([2]),
        json!({"limit": 2}),
    ] {
        let refused = client.refusal("search_services", &json!({"query": "", "limit": limit}));
        let error = refused["error"].as_str().unwrap();
        assert!(
            error.contains("limit") && error.contains(&limit.to_string()),
            "{error}"
        );
    }
    client.assert_alive();
}

#[test]
fn get_service_shows_everything() {
    let (_catalog, mut client) = session();
    let service = client.call("get_service", &json!({"id": "GanaBank"}));
    let notes = service["compatNotes"].as_str().unwrap();
    assert!(
        notes.starts_with("보안") && notes.ends_with("둘째 줄."),
        "{notes:?}"
    );
    assert_eq!(
        without(service, &["compatNotes", "logoUrl"]),
        json!({
            "id": "GanaBank",
            "displayName": "가나은행 개인뱅킹",
            "displayNameEn": "GANA BANK",
            "category": "Banking",
            "url": "https://bank.example/",
            "iconUrl": "https://yourtablecloth.app/TableClothCatalog/images/GanaBank.png",
            "packages": [
                {"name": "ShieldWall", "url": "https://shield.example/setup.exe?a=1&b=2", "arguments": "/S /quiet"},
                {"name": "키보드 보안", "url": "https://key.example/kg.exe", "arguments": ""},
                {"name": "", "url": "", "arguments": ""},
            ],
            "edgeExtensions": [
                {"name": "서명 확장", "extensionId": "abcdefghijklmnop", "crxUrl": "https://edge.example/crx"},
                {"name": "", "extensionId": "", "crxUrl": ""},
            ],
            "searchKeywords": "가나;gana;\t인터넷뱅킹;\tGana&Co;<가나>",
        })
    );
}

#[test]
fn get_service_leaves_out_what_is_not_there() {
    let (_catalog, mut client) = session();
    assert_eq!(
        without(
            client.call("get_service", &json!({"id": "Bare"})),
            &["logoUrl"]
        ),
        json!({
            "id": "Bare",
            "displayName": "",
            "category": "Other",
            "url": "",
            "iconUrl": "https://yourtablecloth.app/TableClothCatalog/images/Bare.png",
            "packages": [],
            "edgeExtensions": [],
        })
    );
    // What the catalog has, but blank, is there all the same.
    let blank = client.call("get_service", &json!({"id": "GanaBankBiz"}));
    assert_eq!(blank["compatNotes"], "");
    assert_eq!(blank["searchKeywords"], "");
    let blank = client.call("get_service", &json!({"id": "Tax24"}));
    assert_eq!(blank["compatNotes"], "");
    let found = client.call("search_services", &json!({"query": "연말정산"}));
    assert!(
        found["results"][0].get("compatWarning").is_none(),
        "{found}"
    );
}

#[test]
fn get_service_compares_ids_to_the_letter() {
    let (_catalog, mut client) = session();
    for id in ["Padded", "Spaced Id", "it's", "Q-net.kr_1"] {
        let service = client.call("get_service", &json!({"id": id}));
        assert_eq!(service["id"], id);
    }
    for id in [
        "tax24",
        " Tax24",
        "Tax24 ",
        "",
        "  Padded  ",
        "Nested",
        "가나",
        "{id}",
    ] {
        let answer = client.call("get_service", &json!({"id": id}));
        assert!(answer["error"].as_str().unwrap().contains(id), "{answer}");
        assert!(answer.get("id").is_none());
    }
    let quote = client.call("get_service", &json!({"id": "it's"}));
    assert_eq!(quote["displayName"], "따옴표 \"카드\" & '페이'");
    assert_eq!(quote["url"], "https://quote.example/?q=<1>");
    let lines = client.call("get_service", &json!({"id": "LineEnds"}));
    assert_eq!(lines["searchKeywords"], "첫째\n둘째\t셋째");
}

#[test]
fn texts_are_read_as_xml_says() {
    let document = "\u{feff}<?xml version='1.0'?>\r\n<TableClothCatalog><InternetServices>\r\n\
        <Service Id='A' DisplayName='줄&#10;바꿈\t탭\r\n끝' en-US-DisplayName='' Category='' \
        Url='https://a.example/?a&#x3d;1'>\r\n<Unknown><CompatNotes>아님</CompatNotes></Unknown>\
        <CompatNotes>&#xAC00;<b>안</b>&#45208;<![CDATA[&amp;<>]]>\r\n끝</CompatNotes>\
        </Service></InternetServices></TableClothCatalog>\r\n";
    let catalog =
        CatalogServer::responding(|_, stream| respond(stream, "200 OK", &[], document.as_bytes()));
    let mut client = Start::with(&catalog).session();
    let service = client.call("get_service", &json!({"id": "A"}));
    assert_eq!(
        without(service, &["logoUrl", "iconUrl"]),
        json!({
            "id": "A",
            // A tab or line end in an attribute is a space unless written as a reference.
            "displayName": "줄\n바꿈 탭 끝",
            "displayNameEn": "",
            "category": "",
            "url": "https://a.example/?a=1",
            "packages": [],
            "edgeExtensions": [],
            "compatNotes": "가나&amp;<>\n끝",
        })
    );
}

#[test]
fn list_categories_counts_without_case() {
    let (_catalog, mut client) = session();
    for arguments in [json!({}), json!(null), json!({"unknown": 1})] {
        assert_eq!(
            client.call("list_categories", &arguments),
            json!({
                "totalServices": 13,
                "categories": [
                    {"category": "Other", "count": 3},
                    {"category": "Government", "count": 3},
                    {"category": "Banking", "count": 2},
                    {"category": "Security", "count": 2},
                    {"category": "CreditCard", "count": 1},
                    {"category": "Insurance", "count": 1},
                    {"category": "Education", "count": 1},
                ],
            })
        );
    }
    // No arguments at all.
    let response = client.request("tools/call", &json!({"name": "list_categories"}));
    assert_eq!(answer_in(&response)["totalServices"], 13);
}

#[test]
fn list_companions_finds_by_every_field() {
    let (_catalog, mut client) = session();
    let all = json!({
        "matched": 3,
        "companions": [
            {"id": "ZipTool", "displayName": "압축 도구", "displayNameEn": "Archiver", "url": "https://zip.example/"},
            {"id": "PdfReader", "displayName": "PDF 뷰어", "url": "https://pdf.example/download?a=1&b=2"},
            {"id": "", "displayName": "가상 프린터", "displayNameEn": "", "url": ""},
        ],
    });
    for arguments in [
        json!({}),
        json!(null),
        json!({"query": null}),
        json!({"query": ""}),
        json!({"query": " \t\n"}),
    ] {
        assert_eq!(client.call("list_companions", &arguments), all);
    }
    for (query, id) in [
        ("ziptool", "ZipTool"),
        (" 뷰어 ", "PdfReader"),
        ("ARCHIVER", "ZipTool"),
        ("a=1&b", "PdfReader"),
        ("가상", ""),
    ] {
        let answer = client.call("list_companions", &json!({"query": query}));
        assert_eq!(answer["matched"], 1, "{query}");
        assert_eq!(answer["companions"][0]["id"], id);
    }
    let nothing = client.call("list_companions", &json!({"query": "pdf zip"}));
    assert_eq!(nothing, json!({"matched": 0, "companions": []}));
}

#[test]
fn generate_wsb_sorts_the_ids() {
    let (_catalog, mut client) = session();
    let mut generate = |ids: Value| client.call("generate_wsb", &json!({"serviceIds": ids}));

    let plain = generate(json!(["Tax24"]));
    assert_eq!(
        plain.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["siteIds", "wsb", "usage", "securityNote"]
    );
    assert_eq!(plain["wsb"], wsb("Tax24"));

    let mixed = generate(json!([
        "x",
        " Q-net.kr_1\n",
        "Spaced Id",
        "",
        "tax24",
        "Q-net.kr_1",
        "x",
        "it's",
        "Padded",
        "Tax24'; calc; '",
        "Nested"
    ]));
    assert_eq!(mixed["siteIds"], json!(["Q-net.kr_1", "Padded"]));
    assert_eq!(
        mixed["unknownIdsIgnored"],
        json!([
            "x",
            "Spaced Id",
            "tax24",
            "x",
            "it's",
            "Tax24'; calc; '",
            "Nested"
        ])
    );
    assert_eq!(mixed["wsb"], wsb("Q-net.kr_1 Padded"));

    for (ids, unknown) in [
        (json!([]), json!([])),
        (json!(["", " "]), json!([])),
        (json!(""), json!([])),
        (json!(["it's", "it's"]), json!(["it's", "it's"])),
    ] {
        let answer = generate(ids);
        assert_eq!(answer["unknownIds"], unknown);
        assert!(answer["error"].is_string() && answer["hint"].is_string());
    }
}

#[test]
fn generate_wsb_warns_of_what_may_not_work() {
    let (_catalog, mut client) = session();
    let ids = json!({"serviceIds": ["GanaBankBiz", "GanaBank", "Tax24"]});
    let answer = client.call("generate_wsb", &ids);
    let warnings = answer["compatWarnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "blank notes warn of nothing");
    assert_eq!(warnings[0]["id"], "GanaBank");
    assert_eq!(warnings[0]["displayName"], "가나은행 개인뱅킹");
    assert!(warnings[0]["warning"].as_str().unwrap().contains("원격"));
}

#[test]
fn service_ids_come_in_every_form() {
    let (_catalog, mut client) = session();
    for ids in [
        json!(["Tax24", "Bare"]),
        json!("[\"Tax24\", \"Bare\"]"),
        json!("Tax24 Bare"),
        json!("Tax24,Bare"),
        json!(" Tax24 ,\n Bare,"),
        json!("\"Tax24 Bare\""),
    ] {
        let answer = client.call("generate_wsb", &json!({"serviceIds": ids}));
        assert_eq!(answer["siteIds"], json!(["Tax24", "Bare"]), "{ids}");
    }
    let one = client.call("generate_wsb", &json!({"serviceIds": "Tax24"}));
    assert_eq!(one["siteIds"], json!(["Tax24"]));
    // The whole arguments as JSON in a string.
    let all = client.call("generate_wsb", &json!("{\"serviceIds\": \"Tax24\"}"));
    assert_eq!(all["siteIds"], json!(["Tax24"]));

    for ids in [
        json!(null),
        json!(1),
        json!(true),
        json!({"0": "Tax24"}),
        json!([1]),
        json!(["Tax24", null]),
        json!("[1]"),
        json!([["Tax24"]]),
    ] {
        for tool in ["generate_wsb", "launch_sandbox"] {
            let refused = client.refusal(tool, &json!({"serviceIds": ids}));
            assert!(
                refused["error"].as_str().unwrap().contains("serviceIds"),
                "{ids}"
            );
        }
    }
}

#[test]
fn texts_of_another_type_are_refused_by_name() {
    let (_catalog, mut client) = session();
    for (tool, parameter) in [
        ("search_services", "query"),
        ("get_service", "id"),
        ("list_companions", "query"),
    ] {
        for value in [json!(5), json!(true), json!(["a"]), json!({"a": 1})] {
            let mut arguments = json!({});
            arguments[parameter] = value.clone();
            let refused = client.refusal(tool, &arguments);
            let error = refused["error"].as_str().unwrap();
            assert!(
                error.contains(tool)
                    && error.contains(parameter)
                    && error.contains(&value.to_string()),
                "{error}"
            );
        }
    }
    for (tool, parameter) in [("search_services", "query"), ("get_service", "id")] {
        for arguments in [json!({}), json!(null), json!({"Query": "x", "ID": "x"})] {
            let refused = client.refusal(tool, &arguments);
            assert!(refused["error"].as_str().unwrap().contains(parameter));
        }
    }
    let refused = client.refusal("search_services", &json!({"query": "", "category": 5}));
    assert!(refused["error"].as_str().unwrap().contains("category"));
    for arguments in [json!("x"), json!([]), json!(5), json!(false)] {
        let refused = client.refusal("get_service", &arguments);
        assert!(refused["error"].as_str().unwrap().contains("arguments"));
    }
    client.assert_alive();
}

#[test]
fn input_schemas_are_plain() {
    fn check(schema: &Value, path: &str) {
        for (keyword, value) in schema.as_object().unwrap_or_else(|| panic!("{path}")) {
            let path = format!("{path}/{keyword}");
            match keyword.as_str() {
                "type" => assert!(value.is_string(), "{path}"),
                "description" | "default" | "required" => {}
                "items" => check(value, &path),
                "properties" => {
                    for (name, property) in value.as_object().unwrap() {
                        check(property, &format!("{path}/{name}"));
                    }
                }
                _ => panic!("{path}"),
            }
        }
    }
    let (_catalog, mut client) = session();
    let response = client.request("tools/list", &json!({}));
    let tools = response["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), expected_tools().as_array().unwrap().len());
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object");
        check(&tool["inputSchema"], tool["name"].as_str().unwrap());
        assert!(tool.get("outputSchema").is_none());
    }
}

#[test]
fn nothing_is_fetched_before_a_call_needs_it() {
    let catalog = CatalogServer::start();
    let mut client = Start::with(&catalog).session();
    client.request("tools/list", &json!({}));
    client.request("ping", &json!({}));
    client.refusal("get_service", &json!({}));
    assert_eq!(catalog.requests().len(), 0);
    client.assert_alive();
    let requests = catalog.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].target, "GET /Catalog.xml");
    assert_eq!(
        requests[0].headers["user-agent"],
        concat!("tablecloth-mcp/", env!("CARGO_PKG_VERSION"))
    );
    for _ in 0..5 {
        client.assert_alive();
    }
    assert_eq!(catalog.requests().len(), 1);
}

#[test]
fn many_calls_share_one_fetch() {
    let catalog = CatalogServer::responding(respond_slowly);
    let mut client = Start::with(&catalog).session();
    let posted: Vec<Value> = (0..200)
        .map(|n| match n % 3 {
            0 => client.post_call("search_services", &json!({"query": "세금"})),
            1 => client.post_call("get_service", &json!({"id": "Tax24"})),
            _ => client.post_call("generate_wsb", &json!({"serviceIds": ["Tax24"]})),
        })
        .collect();
    for id in posted {
        let answer = answer_in(&client.response(&id));
        assert!(answer.get("catalogNotice").is_none(), "{answer}");
    }
    assert_eq!(catalog.requests().len(), 1);
}

#[test]
fn answers_stay_within_what_clients_take() {
    use std::fmt::Write as _;

    let mut document = String::from("<TableClothCatalog><InternetServices>");
    for n in 0..60 {
        let long = "가".repeat(5000);
        write!(
            document,
            "<Service Id='S{n}' DisplayName='{n}' Url='https://x.example/'>\
             <CompatNotes>{long}</CompatNotes><SearchKeywords>{long} 끝말{n}</SearchKeywords></Service>"
        )
        .unwrap();
    }
    document.push_str("</InternetServices></TableClothCatalog>");
    let catalog = CatalogServer::responding(move |_, stream| {
        respond(stream, "200 OK", &[], document.as_bytes())
    });
    let mut client = Start::with(&catalog).session();
    let query = "가".repeat(50_000);
    for arguments in [
        json!({"query": "", "limit": 50}),
        json!({"query": format!("{query} 가"), "limit": 50}),
    ] {
        let found = client.call("search_services", &arguments);
        let echo = arguments["query"].to_string().len();
        assert!(found.to_string().len() - echo <= 40_000);
        let kept = found["results"].as_array().unwrap().len();
        assert!(kept > 0 && kept < 50);
        assert_eq!(found["matched"], kept);
        let said = found["note"].as_str().unwrap();
        let cut = filled(
            "answer.cut",
            &[
                ("field", "results"),
                ("kept", &kept.to_string()),
                ("total", "50"),
            ],
        );
        assert!(said.starts_with(&cut), "{said}");
    }
    // What is bounded in an answer is still searched whole.
    let found = client.call("search_services", &json!({"query": "끝말7"}));
    assert_eq!(ids(&found), ["S7"]);
    let service = client.call("get_service", &json!({"id": "S7"}));
    for field in ["compatNotes", "searchKeywords"] {
        let text = service[field].as_str().unwrap();
        assert_eq!(text.chars().count(), 4000);
        assert!(text.ends_with('…'));
    }
}
