//! What a person who searches probably means, beyond the words of the search rule.
//!
//! A request is folded ([`fold`]) and taken apart ([`segment`]) into phrases of
//! the [`lexicon`] and of the catalog ([`names`]). What stays unknown is looked
//! up as mistyped, typed in the other layout or cut short (`guess`), and last
//! by what it has in common with tasks. Each find is a [`Clue`] to a service;
//! the clues are weighed together.

pub mod book;
pub mod clue;
pub mod excerpt;
pub mod fold;
mod guess;
pub mod keyboard;
pub mod lexicon;
pub mod names;
pub mod near_id;
pub mod reading;
pub mod segment;
pub mod typo;

use std::collections::{BTreeMap, HashMap};

use crate::{
    catalog::{Catalog, Service, trim},
    site_ids::is_plain,
};

use book::{Book, Kind};
use clue::{Cause, Clue};
use lexicon::{LEXICON, Lexicon};
use reading::Reading;

/// Most suggestions of one answer.
pub const MOST: usize = 5;
/// Least weight of a suggestion, and least part of the best one's weight.
const LEAST: f32 = 0.5;
const LEAST_PART: f32 = 0.72;

/// A service that is probably meant.
#[derive(Debug)]
pub struct Suggestion<'a> {
    /// The service.
    pub service: &'a Service,
    /// Why it is suggested, for a person.
    pub reason: String,
}

/// Finds what is meant in one catalog.
#[derive(Debug)]
pub struct Suggester {
    lexicon: &'static Lexicon,
    /// The place in the catalog of each service of the lexicon.
    places: Vec<Option<u32>>,
    own: Book,
    /// The business site of the same institution.
    business_site: HashMap<u32, u32>,
    /// The other way round.
    personal_site: HashMap<u32, u32>,
    ids: near_id::Ids,
}

impl Suggester {
    /// A suggester for a catalog.
    #[must_use]
    pub fn new(catalog: &Catalog) -> Self {
        let lexicon = &*LEXICON;
        let mut place_of: HashMap<&str, u32> = HashMap::new();
        for (place, service) in (0..).zip(catalog.services()) {
            place_of.entry(&service.id).or_insert(place);
        }
        let business_site: HashMap<u32, u32> = place_of
            .iter()
            .filter_map(|(id, &place)| {
                let after = place_of.get(format!("{id}Biz").as_str());
                let business = after.or_else(|| place_of.get(format!("Biz{id}").as_str()))?;
                Some((place, *business))
            })
            .collect();
        let personal_site: HashMap<u32, u32> = business_site
            .iter()
            .map(|(&personal, &business)| (business, personal))
            .collect();
        let excerpt = excerpt::excerpt(catalog);
        Self {
            lexicon,
            places: lexicon
                .ids
                .iter()
                .map(|id| place_of.get(id.as_str()).copied())
                .collect(),
            own: names::book(excerpt.as_ref().unwrap_or(catalog), lexicon, &|place| {
                personal_site.contains_key(&place)
            }),
            business_site,
            personal_site,
            ids: near_id::Ids::new(catalog),
        }
    }

    /// Services that are probably meant by a query whose `results` are these,
    /// best first; none where the results show them as well.
    #[must_use]
    pub fn suggest<'a>(
        &self,
        catalog: &'a Catalog,
        query: &str,
        category: Option<&str>,
        results: &[&Service],
    ) -> Vec<Suggestion<'a>> {
        let ranking = self.rank(catalog, query, category);
        let service = |place: u32| catalog.services().get(place as usize);
        let Some(best) = ranking.order.first().and_then(|&(place, _)| service(place)) else {
            return Vec::new();
        };
        // The first result is what a reader takes; with several sites asked for, the first few.
        let is_shown = |wanted: &Service| {
            let seen = if ranking.leaders > 1 { MOST } else { 1 };
            results
                .iter()
                .take(seen)
                .any(|result| result.id == wanted.id)
        };
        let best_is_first = results.first().is_some_and(|result| result.id == best.id);
        let leaders = ranking.order.iter().take(ranking.leaders);
        if best_is_first
            && leaders
                .filter_map(|&(place, _)| service(place))
                .all(is_shown)
        {
            return Vec::new();
        }
        ranking
            .order
            .iter()
            .filter_map(|(place, cause)| {
                Some(Suggestion {
                    service: service(*place)?,
                    reason: cause.reason(),
                })
            })
            .collect()
    }

    /// Services whose ids are near one that the catalog lacks, or that it names otherwise.
    #[must_use]
    pub fn near_ids<'a>(&self, catalog: &'a Catalog, id: &str) -> Vec<Suggestion<'a>> {
        let mut places = self.ids.near(id);
        let renamed = self.lexicon.former_ids.get(trim(id));
        if let Some(place) = renamed.and_then(|&service| self.places[service as usize]) {
            places.insert(0, place);
        }
        if places.is_empty() {
            // A name given as an id, perhaps written as one.
            let words = near_id::as_words(id);
            let ranking = self.rank(catalog, &words, None);
            places.extend(ranking.order.iter().map(|&(place, _)| place));
        }
        let is_usable = |place: &u32| {
            let service = catalog.services().get(*place as usize);
            service.is_some_and(|service| is_plain(&service.id))
        };
        places.retain(is_usable);
        let mut seen = Vec::new();
        places.retain(|place| {
            !seen.contains(place) && {
                seen.push(*place);
                true
            }
        });
        places
            .into_iter()
            .take(MOST)
            .filter_map(|place| {
                let service = catalog.services().get(place as usize)?;
                let cause = Cause::Id(id.to_owned());
                Some(Suggestion {
                    service,
                    reason: cause.reason(),
                })
            })
            .collect()
    }

    /// The personal site of the institution whose business site this is, else the site itself.
    fn institution(&self, place: u32) -> u32 {
        let personal = self.personal_site.get(&place);
        personal.copied().unwrap_or(place)
    }

    fn rank(&self, catalog: &Catalog, query: &str, category: Option<&str>) -> Ranking {
        let reading = Reading::new(self, catalog, query);
        let mut clues = reading.clues;
        if reading.absent {
            // What is done at a site that is not there is not done at another,
            // and what else may be a name next to one that is not there is a guess.
            clues.retain(|clue| {
                matches!(clue.cause, Cause::Name(_)) && clue.is_name() && !clue.everyday
            });
        }
        let business = reading.business
            || clues
                .iter()
                .any(|clue| clue.is_name() && self.personal_site.contains_key(&clue.place));
        // A site of that name is meant, not one that lists the name among its keywords.
        let names: Vec<usize> = clues
            .iter()
            .filter(|clue| clue.kind == Kind::Name && matches!(clue.cause, Cause::Name(_)))
            .map(|clue| clue.position)
            .collect();
        clues.retain(|clue| clue.kind != Kind::Keyword || !names.contains(&clue.position));
        Self::add_sister_sites(catalog, &mut clues);
        self.add_business_sites(&mut clues, business, reading.personal);
        let mut scores: BTreeMap<u32, Score> = BTreeMap::new();
        for clue in clues {
            scores.entry(clue.place).or_default().add(clue);
        }
        if let Some(category) = category.filter(|category| !trim(category).is_empty()) {
            let is_in = |place: &u32| {
                let service = catalog.services().get(*place as usize);
                service.is_some_and(|service| service.category.eq_ignore_ascii_case(category))
            };
            // A category that was guessed wrong must not hide what is meant.
            if scores.keys().any(is_in) {
                scores.retain(|place, _| is_in(place));
            }
        }
        Ranking::new(scores, &|place| self.institution(place))
    }

    /// The name of an institution means its other sites too, where the task is done
    /// there: 국민건강보험 has a site for researchers.
    fn add_sister_sites(catalog: &Catalog, clues: &mut Vec<Clue>) {
        let domain = |place: u32| {
            let service = catalog.services().get(place as usize)?;
            names::domain(&service.url)
        };
        let mut added = Vec::new();
        for named in clues.iter().filter(|clue| clue.is_name()) {
            let Some(own_domain) = domain(named.place) else {
                continue;
            };
            if clues
                .iter()
                .any(|clue| !clue.is_name() && clue.place == named.place)
            {
                continue;
            }
            for task in clues.iter().filter(|clue| !clue.is_name()) {
                if domain(task.place) == Some(own_domain) {
                    added.push(Clue {
                        kind: named.kind,
                        weight: named.weight * 0.95,
                        position: named.position,
                        everyday: named.everyday,
                        ..task.clone()
                    });
                }
            }
        }
        clues.extend(added);
    }

    /// A name means the personal site and the business site of an institution,
    /// in the order the request asks for.
    fn add_business_sites(&self, clues: &mut Vec<Clue>, business: bool, personal: bool) {
        let mut added = Vec::new();
        for clue in &mut *clues {
            let Some(&place) = self.business_site.get(&clue.place) else {
                continue;
            };
            // A task says by itself whose it is, unless the request says otherwise.
            if !business && (personal || !clue.is_name()) {
                continue;
            }
            let mut other = clue.clone();
            other.place = place;
            other.cause = Cause::BusinessSite(clue.cause.meant().to_owned());
            if business {
                clue.weight *= 0.9;
            } else {
                other.weight *= 0.9;
            }
            added.push(other);
        }
        if personal && !business {
            clues.retain(|clue| !self.personal_site.contains_key(&clue.place));
        }
        clues.extend(added);
    }

    /// The services a phrase of the lexicon or of the catalog stands for here.
    fn meanings(&self, key: &str) -> impl Iterator<Item = (Kind, Option<u32>, &str)> {
        let of_lexicon = self.lexicon.book.exact(key);
        let of_catalog = self.own.exact(key);
        let known = of_lexicon.map(|entry| self.lexicon.book.entry(entry));
        let own = of_catalog.map(|entry| self.own.entry(entry));
        self.living(known, false).chain(self.living(own, true))
    }

    fn living<'e>(
        &self,
        entry: Option<&'e book::Entry>,
        of_catalog: bool,
    ) -> impl Iterator<Item = (Kind, Option<u32>, &'e str)> {
        entry.into_iter().flat_map(move |entry| {
            let is_in_catalog = {
                let key: String = entry.letters.iter().collect();
                self.own.exact(&key).is_some()
            };
            entry.meanings.iter().filter_map(move |meaning| {
                let place = if meaning.kind == Kind::Absent {
                    // Known as absent, but this catalog has it.
                    return (!is_in_catalog).then_some((Kind::Absent, None, entry.text.as_str()));
                } else if of_catalog {
                    Some(meaning.service)
                } else {
                    self.places[meaning.service as usize]
                };
                place.map(|place| (meaning.kind, Some(place), entry.text.as_str()))
            })
        })
    }
}

/// What speaks for one service.
#[derive(Debug, Default)]
struct Score {
    name: f32,
    task: f32,
    hint: f32,
    position: usize,
    cause: Option<(f32, Cause)>,
}

impl Score {
    fn add(&mut self, clue: Clue) {
        let kind = match (&clue.cause, clue.is_name()) {
            (Cause::Hint(_), _) => &mut self.hint,
            (_, true) => {
                if clue.weight > self.name {
                    self.position = clue.position;
                }
                &mut self.name
            }
            (_, false) => &mut self.task,
        };
        *kind = kind.max(clue.weight);
        if self
            .cause
            .as_ref()
            .is_none_or(|(weight, _)| clue.weight > *weight)
        {
            self.cause = Some((clue.weight, clue.cause));
        }
    }

    /// A name and a task that agree are worth more than either.
    fn total(&self) -> f32 {
        let best = self.name.max(self.task);
        let other = self.name.min(self.task);
        if best == 0.0 {
            return 0.0;
        }
        best + 0.3 * other + 0.4 * self.hint
    }
}

/// Services in the order they are suggested.
#[derive(Debug, Default)]
struct Ranking {
    order: Vec<(u32, Cause)>,
    /// How many of the first are each the best for a site that was asked for.
    leaders: usize,
}

impl Ranking {
    fn new(scores: BTreeMap<u32, Score>, institution: &dyn Fn(u32) -> u32) -> Self {
        let mut sorted: Vec<(f32, u32, usize, Cause)> = scores
            .into_iter()
            .filter_map(|(place, score)| {
                let total = score.total();
                let (_, cause) = score.cause?;
                let position = if score.name > 0.0 {
                    score.position
                } else {
                    usize::MAX
                };
                (total >= LEAST).then_some((total, place, position, cause))
            })
            .collect();
        // Catalog order, which puts the big institutions first, decides between equals.
        sorted.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let Some(best) = sorted.first().map(|&(total, ..)| total) else {
            return Self::default();
        };
        sorted.retain(|&(total, ..)| total >= best * LEAST_PART);
        // The best service for each name in the request, in its order, each institution once.
        let mut positions: Vec<usize> = sorted
            .iter()
            .map(|&(_, _, position, _)| position)
            .filter(|&position| position != usize::MAX)
            .collect();
        positions.sort_unstable();
        positions.dedup();
        let mut leading: Vec<usize> = Vec::new();
        for position in positions {
            let best = sorted.iter().position(|candidate| candidate.2 == position);
            if let Some(best) = best
                && leading
                    .iter()
                    .all(|&other| institution(sorted[other].1) != institution(sorted[best].1))
            {
                leading.push(best);
            }
        }
        let mut leaders = Vec::new();
        if leading.len() > 1 {
            for &index in &leading {
                leaders.push(sorted[index].clone());
            }
            let mut index = 0;
            sorted.retain(|_| {
                index += 1;
                !leading.contains(&(index - 1))
            });
        }
        let count = leaders.len().max(1);
        leaders.extend(sorted);
        leaders.truncate(MOST);
        Self {
            order: leaders
                .into_iter()
                .map(|(_, place, _, cause)| (place, cause))
                .collect(),
            leaders: count,
        }
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
