//! A catalog document, as a server or someone between could send it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tablecloth_mcp::{
    answer,
    catalog::{Served, parse::parse},
};

/// Larger catalogs are for the benchmarks.
const MOST: usize = 2000;

fuzz_target!(|document: &[u8]| {
    let Ok(catalog) = parse(document) else {
        return;
    };
    if catalog.services().len() >= MOST {
        return;
    }
    let _ = catalog.suggester();
    let first = &catalog.services()[0];
    // Its own words lead deepest into the search.
    let query = format!("{} {} 연말정산", first.display_name, first.id);
    let ids = [first.id.clone(), format!("{}x", first.id)];
    let served = Served {
        catalog: catalog.into(),
        notice: None,
    };
    let search = answer::search_services(&served, &query, None, 50);
    let echo = search["query"].to_string().len();
    for (answer, echo) in [
        (search, echo),
        (answer::get_service(&served, &ids[0]), 0),
        (answer::list_categories(&served), 0),
        (answer::list_companions(&served, ""), 0),
        (answer::generate_wsb(&served, &ids), 0),
    ] {
        let length = answer.to_string().len() - echo;
        assert!(length <= answer::LARGEST, "{length} bytes: {answer}");
    }
});
