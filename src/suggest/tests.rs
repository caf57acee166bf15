//! Requests of every kind, over the starter catalog.

use unicode_normalization::UnicodeNormalization as _;

use super::*;
use crate::{catalog::parse::parse, search::search};

fn catalog() -> Catalog {
    parse(include_bytes!("../../shared/starter-catalog.xml")).unwrap()
}

/// Ids and reasons of what is suggested.
fn suggested(catalog: &Catalog, query: &str, category: Option<&str>) -> Vec<(String, String)> {
    let results = search(catalog, query, category, 15);
    catalog
        .suggester()
        .suggest(catalog, query, category, &results)
        .into_iter()
        .map(|suggestion| (suggestion.service.id.clone(), suggestion.reason))
        .collect()
}

fn ids(query: &str) -> Vec<String> {
    let suggested = suggested(&catalog(), query, None);
    suggested.into_iter().map(|(id, _)| id).collect()
}

/// What a reader sees first is this service, suggested or found.
#[track_caller]
fn assert_first(query: &str, id: &str) {
    let mut ids = ids(query);
    let catalog = catalog();
    let found = search(&catalog, query, None, 15);
    ids.extend(found.iter().map(|service| service.id.clone()));
    assert_eq!(
        ids.first().map(String::as_str),
        Some(id),
        "{query}: {ids:?}"
    );
}

#[test]
fn tasks_lead_to_the_site_where_they_are_done() {
    assert_first("연말정산", "Hometax");
    assert_first("주민등록등본", "Gov24");
    assert_first("등기부등본 열람", "Iros");
    assert_first("실업급여 신청하려고", "Work24");
    assert_first("year-end tax settlement", "Hometax");
    assert_first("apply for unemployment benefits", "Work24");
}

#[test]
fn what_is_refused_is_not_suggested() {
    for query in [
        "신한은행 말고 국민은행",
        "신한은행말고 국민은행에서 이체",
        "국민은행 열어줘 신한은행 말고",
    ] {
        assert_first(query, "KookminBank");
        let ids = ids(query);
        assert!(
            !ids.iter().any(|id| id.starts_with("Shinhan")),
            "{query}: {ids:?}"
        );
    }
    // Refused and nothing else: it is still what is talked about.
    assert_first("신한은행 말고", "ShinhanBank");
}

#[test]
fn nicknames_and_former_names_are_names() {
    assert_first("카뱅", "KakaoBank");
    assert_first("현카", "HyundaiCard");
    assert_first("대구은행", "iMBank");
    assert_first("외환은행", "KEBHanaBank");
}

#[test]
fn particles_and_endings_do_not_hide_a_name() {
    for query in [
        "홈택스에서",
        "홈택스로 들어가줘",
        "홈택스에서 연말정산 하려는데",
        "홈택스 좀 열어줄래?",
    ] {
        assert_first(query, "Hometax");
    }
    assert_first("카카오뱅크에 로그인하고 싶은데요", "KakaoBank");
}

#[test]
fn spacing_and_form_do_not_matter() {
    assert_first("홈 택스", "Hometax");
    assert_first("카카오 뱅크", "KakaoBank");
    assert_first(&"홈택스에서".nfd().collect::<String>(), "Hometax");
    assert_first("정부２４", "Gov24");
}

#[test]
fn slips_of_the_finger_are_seen_through() {
    for (query, id) in [
        ("홈텍스", "Hometax"),
        ("홈스택", "Hometax"),
        ("hometx", "Hometax"),
        ("카카오벵크", "KakaoBank"),
        ("국민은헹", "KookminBank"),
        ("연말정상", "Hometax"),
        ("정뷰24에서", "Gov24"),
    ] {
        assert_first(query, id);
    }
}

#[test]
fn the_wrong_keyboard_layout_is_seen_through() {
    assert_first("ghaxortm", "Hometax");
    assert_first("wjdqn24", "Gov24");
    assert_first("ㅗㅐㅡㄷㅅㅁㅌ", "Hometax");
}

#[test]
fn initials_stand_for_names() {
    assert_first("ㅎㅌㅅ", "Hometax");
    assert_first("ㄱㅁㅇㅎ", "KookminBank");
    assert_first("ㅈㅂ24", "Gov24");
}

#[test]
fn the_personal_site_comes_first_unless_a_company_asks() {
    assert_eq!(ids("카뱅"), ["KakaoBank", "KakaoBankBiz"]);
    assert_first("농협 법인 계좌 조회", "NHInternetBankBiz");
    assert_first("케이뱅크 개인사업자 통장", "KBankBiz");
    // The word is part of the bank's name here.
    assert_first("기업은행 들어가줘", "IBKBank");
}

#[test]
fn two_sites_in_one_request_come_first_both() {
    let ids = ids("신한은행이랑 우리은행 열어줘");
    assert_eq!(ids[..2], ["ShinhanBank", "WooriBank"]);
}

#[test]
fn what_is_not_there_gets_no_suggestion() {
    for query in [
        "토스뱅크 계좌 개설",
        "업비트",
        "코레일 예매하려고",
        "한전 전기요금 조회",
        "국민신문고 민원",
    ] {
        assert!(ids(query).is_empty(), "{query}: {:?}", ids(query));
    }
}

#[test]
fn what_the_search_rule_answers_gets_none() {
    for query in [
        "은행",
        "국민은행",
        "hometax",
        "현대카드",
        "",
        " ",
        "?!",
        "인터넷",
        "조회",
    ] {
        assert!(ids(query).is_empty(), "{query}: {:?}", ids(query));
    }
}

#[test]
fn a_category_chooses_among_what_is_meant_but_hides_nothing() {
    let service = |id: &str, name: &str, category: &str| Service {
        id: id.to_owned(),
        display_name: name.to_owned(),
        category: category.to_owned(),
        ..Service::default()
    };
    let services = vec![
        service("MeritzSecurity", "메리츠증권", "Security"),
        service("MeritzFire", "메리츠화재", "Insurance"),
    ];
    let catalog = Catalog::new(services, vec![]);
    let ids = |category| {
        let suggested = suggested(&catalog, "메리츠에서", Some(category)).into_iter();
        suggested.map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(ids("insurance"), ["MeritzFire"]);
    assert_eq!(ids(" "), ["MeritzSecurity", "MeritzFire"]);
    // Guessed wrong.
    assert_eq!(ids("Government"), ["MeritzSecurity", "MeritzFire"]);
}

#[test]
fn reasons_say_what_was_understood() {
    let catalog = catalog();
    let reason = |query| suggested(&catalog, query, None)[0].1.clone();
    let texts = &crate::texts::TEXTS.suggestions;
    let filled = |template: &str, typed, meant| {
        crate::texts::fill(template, &[("typed", typed), ("meant", meant)])
    };
    assert_eq!(reason("연말정산"), filled(&texts.task, "", "연말정산"));
    assert_eq!(reason("카뱅"), filled(&texts.name, "", "카뱅"));
    assert_eq!(
        reason("국민은헹"),
        filled(&texts.typo, "국민은헹", "국민은행")
    );
    assert_eq!(
        reason("ghaxortm"),
        filled(&texts.layout, "ghaxortm", "홈택스")
    );
    assert_eq!(
        reason("ㅎㅌㅅ"),
        filled(&texts.initials, "ㅎㅌㅅ", "홈택스")
    );
}

#[test]
fn ids_that_are_not_there_lead_to_near_ones() {
    let catalog = catalog();
    let near = |id| {
        let near = catalog.suggester().near_ids(&catalog, id).into_iter();
        near.map(|suggestion| suggestion.service.id.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(near("DGBDaeguBank"), ["iMBank"]);
    assert_eq!(near("hometax"), ["Hometax"]);
    assert_eq!(near("Hometex"), ["Hometax"]);
    assert_eq!(near("국민은행")[0], "KookminBank");
    assert_eq!(near("Kookmin")[0], "KookminBank");
    assert!(near("토스뱅크").is_empty() && near("Nowhere").is_empty() && near("").is_empty());
}

#[test]
fn an_absent_service_that_the_catalog_has_after_all_is_found() {
    let service = |id: &str, name: &str| Service {
        id: id.to_owned(),
        display_name: name.to_owned(),
        ..Service::default()
    };
    let catalog = Catalog::new(vec![service("TossBank", "토스뱅크 개인뱅킹")], vec![]);
    let suggested = suggested(&catalog, "토스뱅크에서 계좌 개설", None);
    assert_eq!(
        suggested.first().map(|(id, _)| id.as_str()),
        Some("TossBank")
    );
}
