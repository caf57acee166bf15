//! Sorts the ids a caller gave into those the sandbox may get and the others.
//!
//! This is the gate between a model's words and a command line in the guest:
//! what passes is an id of the catalog *and* of letters, digits, `.`, `_`, `-` alone.

use std::collections::HashSet;

use crate::catalog::{Catalog, Service, trim};

/// Ids as a caller gave them, sorted.
#[derive(Debug, Default)]
pub struct SiteIds<'a> {
    /// The services to open, in the order given, without repeats.
    pub services: Vec<&'a Service>,
    /// What is no id of the catalog, trimmed, in the order given, with repeats.
    pub unknown: Vec<String>,
}

impl<'a> SiteIds<'a> {
    /// Sorts the given ids. Blank ones are dropped.
    #[must_use]
    pub fn select(catalog: &'a Catalog, given: &[String]) -> Self {
        let mut selected = Self::default();
        let mut seen = HashSet::new();
        for id in given {
            let id = trim(id);
            if id.is_empty() {
                continue;
            }
            match catalog.service(id).filter(|_| is_plain(id)) {
                Some(service) => {
                    if seen.insert(id) {
                        selected.services.push(service);
                    }
                }
                None => selected.unknown.push(id.to_owned()),
            }
        }
        selected
    }

    /// The ids of [`Self::services`].
    #[must_use]
    pub fn accepted(&self) -> Vec<&'a str> {
        self.services
            .iter()
            .map(|service| service.id.as_str())
            .collect()
    }
}

/// Whether an id is safe inside a quoted command: `^[A-Za-z0-9._-]+$`.
fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        let services = ["WooriBank", "KBank", "Q-net", "Bad Id", "it's"]
            .map(|id| Service {
                id: id.to_owned(),
                ..Service::default()
            })
            .to_vec();
        Catalog::new(services, vec![])
    }

    fn select(given: &[&str]) -> (Vec<String>, Vec<String>) {
        let catalog = catalog();
        let given: Vec<String> = given.iter().map(|&id| id.to_owned()).collect();
        let ids = SiteIds::select(&catalog, &given);
        let accepted = ids.accepted().into_iter().map(str::to_owned).collect();
        (accepted, ids.unknown)
    }

    #[test]
    fn known_ids_keep_their_order_without_repeats() {
        let (accepted, unknown) = select(&["Q-net", " KBank\n", "", "Q-net", "\u{3000}WooriBank"]);
        assert_eq!(accepted, ["Q-net", "KBank", "WooriBank"]);
        assert!(unknown.is_empty());
    }

    #[test]
    fn everything_else_is_reported_with_repeats() {
        let (accepted, unknown) = select(&["x", "wooribank", "x", "KBank", " "]);
        assert_eq!(accepted, ["KBank"]);
        assert_eq!(unknown, ["x", "wooribank", "x"]);
    }

    #[test]
    fn an_id_of_the_catalog_that_could_break_out_is_refused() {
        let (accepted, unknown) = select(&["Bad Id", "it's"]);
        assert!(accepted.is_empty());
        assert_eq!(unknown, ["Bad Id", "it's"]);
    }
}
