//! Sorts the ids a caller gave into those the sandbox may get and the others.
//!
//! This is the gate between a model's words and a command line in the guest:
//! what passes is an id of the catalog *and* of letters, digits, `.`, `_`, `-` alone,
//! and all that pass fit a command line.

use std::collections::HashSet;

use crate::catalog::{Catalog, Service, trim};

/// Most bytes of accepted ids, with a space after each: several times all ids of
/// a real catalog. Windows takes commands of 32,767 characters, and an answer
/// must show the file whole.
pub const MOST_BYTES: usize = 16 * 1024;

/// Ids as a caller gave them, sorted.
#[derive(Debug, Default)]
pub struct SiteIds<'a> {
    /// The services to open, in the order given, without repeats.
    pub services: Vec<&'a Service>,
    /// What is no id of the catalog or has no room, trimmed, in the order given, with repeats.
    pub unknown: Vec<String>,
}

impl<'a> SiteIds<'a> {
    /// Sorts the given ids. Blank ones are dropped.
    #[must_use]
    pub fn select(catalog: &'a Catalog, given: &[String]) -> Self {
        let mut selected = Self::default();
        let mut seen = HashSet::new();
        let mut room = MOST_BYTES;
        for id in given {
            let id = trim(id);
            if id.is_empty() {
                continue;
            }
            if seen.contains(id) {
                continue;
            }
            match catalog.service(id).filter(|_| is_plain(id)) {
                Some(service) if id.len() < room => {
                    room -= id.len() + 1;
                    seen.insert(id);
                    selected.services.push(service);
                }
                _ => selected.unknown.push(id.to_owned()),
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
#[must_use]
pub fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

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

    #[test]
    fn all_that_pass_fit_a_command_line() {
        let ids: Vec<String> = (0..2000)
            .map(|number| format!("Service{number:05}"))
            .collect();
        let huge = "x".repeat(MOST_BYTES);
        let services = ids.iter().chain([&huge]).map(|id| Service {
            id: id.clone(),
            ..Service::default()
        });
        let catalog = Catalog::new(services.collect(), vec![]);
        let given: Vec<String> = [&huge].into_iter().chain(&ids).cloned().collect();
        let selected = SiteIds::select(&catalog, &given);
        let fit = MOST_BYTES / (ids[0].len() + 1);
        assert_eq!(selected.accepted(), ids[..fit]);
        assert_eq!(selected.unknown[0], huge);
        assert_eq!(selected.unknown[1..], ids[fit..]);
    }

    /// Ids that meet often, plain ones and others, with space around now and then.
    fn id() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[ \u{3000}\n]?[AB._'; -]{0,3}[ \u{feff}]?",
            1 => "[AB][\u{0}-\u{7f}]B?",
            1 => any::<String>(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn the_gate_lets_through_plain_ids_of_the_catalog_alone(
            known in vec(id(), 0..40),
            given in vec(id(), 0..20),
        ) {
            let services = known.iter().map(|id| Service { id: trim(id).to_owned(), ..Service::default() });
            let catalog = Catalog::new(services.collect(), vec![]);
            // Some of the catalog's own, as they stand there.
            let given: Vec<String> = given.into_iter().chain(known.iter().step_by(3).cloned()).collect();
            let ids = SiteIds::select(&catalog, &given);
            let accepted = ids.accepted();
            for id in &accepted {
                let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
                prop_assert!(!id.is_empty() && id.chars().all(plain), "{:?}", id);
                prop_assert!(known.iter().any(|known| trim(known) == *id), "{:?}", id);
            }
            // All of what was given and not blank, each once in its place, is accepted or unknown.
            let mut accepted = accepted.into_iter().peekable();
            let mut unknown = ids.unknown.iter().peekable();
            let mut met: Vec<&str> = Vec::new();
            for id in given.iter().map(|id| trim(id)).filter(|id| !id.is_empty()) {
                if accepted.next_if_eq(&id).is_some() {
                    prop_assert!(!met.contains(&id), "{:?} is repeated", id);
                    met.push(id);
                } else if !met.contains(&id) {
                    prop_assert_eq!(unknown.next().map(String::as_str), Some(id));
                }
            }
            prop_assert!(accepted.next().is_none() && unknown.next().is_none());
        }
    }
}
