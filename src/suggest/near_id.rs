//! Ids that are near one that the catalog lacks.

use super::typo::{distance, tolerance};
use crate::catalog::{Catalog, trim};

/// The ids of a catalog, folded to lower case.
#[derive(Debug)]
pub struct Ids(Vec<String>);

impl Ids {
    /// The ids of a catalog.
    #[must_use]
    pub fn new(catalog: &Catalog) -> Self {
        let services = catalog.services().iter();
        Self(services.map(|service| plain(&service.id)).collect())
    }

    /// Places of the ids that differ from this one in case or signs alone, or
    /// else in the fewest slips.
    #[must_use]
    pub fn near(&self, id: &str) -> Vec<u32> {
        let id = plain(trim(id));
        let places = || (0_u32..).zip(&self.0);
        let same: Vec<u32> = places()
            .filter(|(_, other)| **other == id)
            .map(|(place, _)| place)
            .collect();
        if !same.is_empty() {
            return same;
        }
        // An id is not typed by a person: one letter of a short one is another id.
        let most = tolerance(id.len().saturating_sub(2));
        if most == 0.0 {
            return Vec::new();
        }
        let mut near: Vec<(f32, u32)> = places()
            .filter_map(|(place, other)| {
                Some((distance(id.as_bytes(), other.as_bytes(), most)?, place))
            })
            .collect();
        near.sort_by(|one, other| one.0.total_cmp(&other.0));
        near.into_iter().map(|(_, place)| place).collect()
    }
}

fn plain(id: &str) -> String {
    id.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .take(80)
        .collect()
}

/// An id as words: `KookminBank` as `Kookmin Bank`.
#[must_use]
pub fn as_words(id: &str) -> String {
    let mut words = String::with_capacity(id.len() + 8);
    let mut last_is_lower = false;
    for character in id.chars() {
        if character.is_uppercase() && last_is_lower {
            words.push(' ');
        }
        last_is_lower = character.is_lowercase();
        words.push(if character.is_alphanumeric() {
            character
        } else {
            ' '
        });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Service;

    #[test]
    fn case_signs_and_slips_are_forgiven() {
        let services = ["WooriBank", "Q-net", "Hometax", "KBank"]
            .map(|id| Service {
                id: id.to_owned(),
                ..Service::default()
            })
            .to_vec();
        let ids = Ids::new(&Catalog::new(services, vec![]));
        for (id, places) in [
            ("wooribank", vec![0]),
            (" Woori_Bank", vec![0]),
            ("qnet", vec![1]),
            ("Hometex", vec![2]),
            ("WoorBank", vec![0]),
            ("Nowhere", vec![]),
            ("", vec![]),
            ("CBank", vec![]),
        ] {
            assert_eq!(ids.near(id), places, "{id}");
        }
    }

    #[test]
    fn an_id_is_read_as_words() {
        assert_eq!(as_words("KookminBankBiz"), "Kookmin Bank Biz");
        assert_eq!(as_words("국민은행"), "국민은행");
    }
}
