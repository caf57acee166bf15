//! What a search costs with suggestions, and what it takes to prepare them.
//!
//! `cargo bench` measures over catalogs made from the compiled-in one. Name a
//! catalog file in `TABLECLOTH_BENCH_CATALOG` to measure over that one.
#![allow(
    missing_docs,
    reason = "the macros of criterion make undocumented items"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop at a fault")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use tablecloth_mcp::{
    catalog::{Catalog, Service, parse::parse},
    search::{DEFAULT_LIMIT, search},
    suggest::Suggester,
};

/// One request of each kind.
const QUERIES: [&str; 12] = [
    "연말정산",
    "국민은행",
    "카뱅",
    "홈택스에서 연말정산 하려는데",
    "홈텍스",
    "ghaxortm",
    "ㅎㅌㅅ",
    "신한은행이랑 우리은행 열어줘",
    "year-end tax settlement",
    "농협 법인 계좌 조회",
    "토스뱅크 계좌 개설",
    "아무것도 모르는 사람이 길게 적은 무슨 말인지 알 수 없는 부탁",
];

/// A catalog of so many services: the real ones, then copies under other names.
fn catalog(count: usize) -> Catalog {
    let document = match std::env::var("TABLECLOTH_BENCH_CATALOG") {
        Ok(path) => std::fs::read(path).unwrap(),
        Err(_) => include_bytes!("../shared/starter-catalog.xml").to_vec(),
    };
    let real = parse(&document).unwrap();
    let copies = real.services().iter().cycle().zip(0..count);
    let services = copies.map(|(service, number)| {
        let round = number / real.services().len();
        if round == 0 {
            return service.clone();
        }
        Service {
            id: format!("{}{round}", service.id),
            display_name: format!("{} {round}호점", service.display_name),
            ..service.clone()
        }
    });
    Catalog::new(services.collect(), vec![])
}

fn measure(criterion: &mut Criterion) {
    for count in [272, 27_200] {
        let catalog = catalog(count);
        criterion.bench_function(&format!("index of {count} services"), |bencher| {
            bencher.iter(|| Suggester::new(black_box(&catalog)));
        });
        let suggester = Suggester::new(&catalog);
        for query in QUERIES {
            criterion.bench_function(&format!("{count} services: {query}"), |bencher| {
                bencher.iter(|| {
                    let query = black_box(query);
                    let results = search(&catalog, query, None, DEFAULT_LIMIT);
                    suggester.suggest(&catalog, query, None, &results).len()
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1))
        .sample_size(20);
    targets = measure
}
criterion_main!(benches);
