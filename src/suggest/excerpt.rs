//! What the suggestions learn from a catalog that holds far more text than a catalog should.

use crate::catalog::{Catalog, Service};

/// Most text that is learnt from, in bytes; the public catalog has a fraction
/// of it. A phrase takes many times its length in the book.
const MOST: usize = 4 * 1024 * 1024;
/// Most text of one service, so that one odd entry costs only itself.
const MOST_OF_ONE: usize = 64 * 1024;

/// The part of a catalog to learn from, with every service in its place;
/// nothing where all of the catalog will do.
#[must_use]
pub fn excerpt(catalog: &Catalog) -> Option<Catalog> {
    let services = catalog.services();
    let is_modest = |service: &Service| size(service) <= MOST_OF_ONE;
    if services.iter().all(is_modest) && services.iter().map(size).sum::<usize>() <= MOST {
        return None;
    }
    let mut room = MOST;
    let mut learnt = 0;
    let excerpts = services.iter().map(|service| {
        if !is_modest(service) || size(service) > room {
            return Service::default();
        }
        room -= size(service);
        learnt += 1;
        Service {
            display_name: service.display_name.clone(),
            display_name_en: service.display_name_en.clone(),
            url: service.url.clone(),
            search_keywords: service.search_keywords.clone(),
            ..Service::default()
        }
    });
    let excerpt = Catalog::new(excerpts.collect(), Vec::new());
    let all = services.len();
    tracing::warn!(learnt, all, "catalog is too large to suggest all of it");
    Some(excerpt)
}

fn size(service: &Service) -> usize {
    let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    service.display_name.len()
        + optional(&service.display_name_en)
        + service.url.len()
        + optional(&service.search_keywords)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(name: &str, keywords: usize) -> Service {
        Service {
            id: name.to_owned(),
            display_name: name.to_owned(),
            search_keywords: Some("x".repeat(keywords)),
            ..Service::default()
        }
    }

    fn names(catalog: &Catalog) -> Vec<&str> {
        let services = catalog.services().iter();
        services
            .map(|service| service.display_name.as_str())
            .collect()
    }

    #[test]
    fn a_catalog_of_ordinary_size_is_learnt_whole() {
        let services = (0..100).map(|_| service("A", 10_000)).collect();
        assert!(excerpt(&Catalog::new(services, vec![])).is_none());
    }

    #[test]
    fn one_odd_service_costs_only_itself() {
        let services = vec![service("A", 9), service("B", MOST_OF_ONE), service("C", 9)];
        let excerpt = excerpt(&Catalog::new(services, vec![])).unwrap();
        assert_eq!(names(&excerpt), ["A", "", "C"]);
    }

    #[test]
    fn what_is_learnt_has_an_end() {
        let services = (0..1000).map(|_| service("A", 60_000)).collect();
        let excerpt = excerpt(&Catalog::new(services, vec![])).unwrap();
        assert_eq!(excerpt.services().len(), 1000);
        assert!(excerpt.services().iter().map(size).sum::<usize>() <= MOST);
        assert_eq!(names(&excerpt)[0], "A");
    }
}
