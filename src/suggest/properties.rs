//! Properties of suggestions for any request over any small catalog.

use std::time::{Duration, Instant};

use proptest::{collection::vec, option, prelude::*, sample::select};

use super::*;
use crate::search::search;

/// Pieces of requests of every kind.
const PIECES: [&str; 24] = [
    "홈택스",
    "홈텍스",
    "ghaxortm",
    "ㅎㅌㅅ",
    "연말정산",
    "카뱅",
    "국민",
    "은행",
    "에서",
    "하려는데",
    "이랑",
    "법인",
    "개인",
    "year-end",
    "tax",
    "Hometax",
    "Biz",
    "24",
    " ",
    ",",
    "\u{1112}\u{1161}\u{11ab}",
    "Ｈ",
    "ㅘ",
    "\u{1f600}",
];

fn request() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => "[가-힣]",
        1 => any::<String>(),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn service() -> impl Strategy<Value = Service> {
    let real = select(vec![
        "Hometax",
        "HometaxBiz",
        "KakaoBank",
        "KookminBank",
        "Gov24",
    ]);
    let id = prop_oneof![
        2 => real.prop_map(str::to_owned),
        2 => "[A-C][a-c]{0,3}(Biz)?",
        1 => any::<String>(),
    ];
    let url = select(vec![
        "",
        "https://hometax.go.kr/",
        "https://a.co.kr/x",
        "https://",
        "http://[::1",
    ]);
    (
        id,
        request(),
        option::of(request()),
        option::of(request()),
        url,
    )
        .prop_map(
            |(id, display_name, display_name_en, search_keywords, url)| Service {
                id,
                display_name,
                display_name_en,
                category: "Banking".to_owned(),
                url: url.to_owned(),
                search_keywords,
                ..Service::default()
            },
        )
}

fn check(catalog: &Catalog, suggestions: &[Suggestion<'_>]) -> Result<(), TestCaseError> {
    prop_assert!(suggestions.len() <= MOST);
    for (index, suggestion) in suggestions.iter().enumerate() {
        let is_real = catalog
            .services()
            .iter()
            .any(|service| std::ptr::eq(service, suggestion.service));
        prop_assert!(is_real, "{:?}", suggestion);
        let is_repeat = suggestions[..index]
            .iter()
            .any(|other| std::ptr::eq(other.service, suggestion.service));
        prop_assert!(!is_repeat, "{:?}", suggestion);
        prop_assert!(!suggestion.reason.is_empty());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn suggestions_are_few_real_and_different(
        services in vec(service(), 0..12),
        query in request(),
        category in option::of(select(vec!["Banking", "banking", "", "None"])),
    ) {
        let catalog = Catalog::new(services, vec![]);
        let suggester = catalog.suggester();
        let results = search(&catalog, &query, category, 15);
        check(&catalog, &suggester.suggest(&catalog, &query, category, &results))?;
        check(&catalog, &suggester.suggest(&catalog, &query, category, &[]))?;
        check(&catalog, &suggester.near_ids(&catalog, &query))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn long_requests_end(services in vec(service(), 1..12), unit in request()) {
        prop_assume!(!unit.is_empty());
        let catalog = Catalog::new(services, vec![]);
        let query = unit.repeat(10_000 / unit.len() + 1);
        let start = Instant::now();
        check(&catalog, &catalog.suggester().suggest(&catalog, &query, None, &[]))?;
        check(&catalog, &catalog.suggester().near_ids(&catalog, &query))?;
        // Far above what it takes, for machines that are busy.
        prop_assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
}
