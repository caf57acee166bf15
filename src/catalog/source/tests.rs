//! The source with a scripted network and a clock that is set by hand.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, Ordering},
};

use reqwest::{StatusCode, header::HeaderValue};
use tokio::time::Instant;

use super::*;
use crate::catalog::fetch::Fetching;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);

/// What one fetch does.
#[derive(Clone)]
enum Step {
    /// Brings a catalog with one service of this id.
    Brings(&'static str),
    BringsDocument(&'static [u8]),
    NotModified,
    Fails,
    Panics,
    Takes(Duration, Box<Step>),
}
use Step::{Brings, BringsDocument, Fails, NotModified, Panics, Takes};

fn takes(seconds: u64, step: Step) -> Step {
    Takes(Duration::from_secs(seconds), Box::new(step))
}

#[derive(Clone, Default)]
struct Network(Arc<Mutex<(VecDeque<Step>, Vec<Validators>)>>);

impl Network {
    fn then(&self, step: Step) {
        self.0.lock().unwrap().0.push_back(step);
    }

    fn asked(&self) -> usize {
        self.0.lock().unwrap().1.len()
    }

    fn last_asked_with(&self) -> Validators {
        self.0.lock().unwrap().1.last().unwrap().clone()
    }
}

impl Fetch for Network {
    fn fetch<'a>(&'a self, known: &'a Validators) -> Fetching<'a> {
        let mut script = self.0.lock().unwrap();
        script.1.push(known.clone());
        let mut step = script.0.pop_front().expect("a fetch that is not expected");
        Box::pin(async move {
            while let Takes(time, then) = step {
                tokio::time::sleep(time).await;
                step = *then;
            }
            match step {
                Brings(id) => Ok(Fetched::Document {
                    bytes: format!(
                        "<TableClothCatalog><InternetServices><Service Id='{id}'/>\
                         </InternetServices></TableClothCatalog>"
                    )
                    .into_bytes(),
                    validators: Validators {
                        etag: Some(HeaderValue::from_static(id)),
                        last_modified: None,
                    },
                }),
                BringsDocument(bytes) => Ok(Fetched::Document {
                    bytes: bytes.to_vec(),
                    validators: Validators::default(),
                }),
                NotModified => Ok(Fetched::NotModified),
                Fails => Err(FetchError::Status(StatusCode::BAD_GATEWAY)),
                Panics => panic!("as scripted"),
                Takes(..) => unreachable!("handled above"),
            }
        })
    }
}

#[derive(Clone, Default)]
struct HandClock(Arc<AtomicU64>);

impl HandClock {
    fn advance(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap();
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Duration {
        // As far from zero as a machine that has run for a while.
        DAY + Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

struct World {
    network: Network,
    clock: HandClock,
    source: CatalogSource,
}

fn world(steps: impl IntoIterator<Item = Step>) -> World {
    let (network, clock) = (Network::default(), HandClock::default());
    steps.into_iter().for_each(|step| network.then(step));
    let source = CatalogSource::with(
        Box::new(network.clone()),
        Location::parse("https://catalog.example/c.xml"),
        Box::new(clock.clone()),
    );
    World {
        network,
        clock,
        source,
    }
}

impl World {
    /// Serves after `time` has gone by, and says from what: an id or `embedded`, and the notice.
    async fn serve_after(&self, time: Duration) -> (String, Option<String>) {
        self.clock.advance(time);
        tokio::time::sleep(time).await;
        told(&self.source.serve().await)
    }

    async fn serve(&self) -> (String, Option<String>) {
        self.serve_after(Duration::ZERO).await
    }
}

fn told(served: &Served) -> (String, Option<String>) {
    let services = served.catalog.services();
    let from = if Arc::ptr_eq(&served.catalog, &EMBEDDED) {
        "embedded"
    } else {
        &services[0].id
    };
    (from.to_owned(), served.notice.clone())
}

fn live(id: &str) -> (String, Option<String>) {
    (id.to_owned(), None)
}

#[track_caller]
fn assert_stale((from, notice): &(String, Option<String>), id: &str, parts: &[&str]) {
    assert_eq!(from, id);
    let notice = notice.as_deref().expect("a notice");
    for part in parts {
        assert!(notice.contains(part), "{part} in {notice}");
    }
}

#[test]
fn the_embedded_catalog_has_services() {
    assert!(EMBEDDED.services().len() > 10);
    let document = include_bytes!(concat!(env!("OUT_DIR"), "/embedded-catalog.xml"));
    assert!(parse(document).is_ok());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_fetched_before_it_is_asked() {
    let world = world([]);
    tokio::time::sleep(DAY).await;
    assert_eq!(world.network.asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_loaded_catalog_is_fresh_for_half_an_hour() {
    let world = world([Brings("A"), Brings("B")]);
    assert_eq!(world.serve().await, live("A"));
    let almost = Duration::from_millis(15 * 60_000 - 1);
    assert_eq!(world.serve_after(15 * MINUTE).await, live("A"));
    assert_eq!(world.serve_after(almost).await, live("A"));
    assert_eq!(world.network.asked(), 1);
    let at_last = Duration::from_millis(1);
    assert_eq!(world.serve_after(at_last).await, live("B"));
    assert_eq!(world.network.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_slept_for_a_day_does_not_serve_yesterdays_catalog_as_fresh() {
    let world = world([Brings("A"), Fails, Brings("B")]);
    assert_eq!(world.serve().await, live("A"));
    // Timers stand still during sleep, the clock does not.
    world.clock.advance(3 * DAY);
    let served = told(&world.source.serve().await);
    assert_stale(&served, "A", &["3일", "502"]);
    world.clock.advance(DAY);
    assert_eq!(told(&world.source.serve().await), live("B"));
}

#[tokio::test(start_paused = true)]
async fn a_catalog_is_as_old_as_the_question_for_it() {
    let world = world([takes(1, Brings("A")), Brings("B")]);
    let source = world.source.clone();
    let call = tokio::spawn(async move { source.serve().await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    // Asleep in the middle of the load.
    world.clock.advance(DAY);
    assert_stale(&told(&call.await.unwrap()), "A", &["24시간"]);
    assert_eq!(world.serve().await, live("B"));
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_share_one_fetch() {
    let world = world([takes(2, Brings("A"))]);
    let calls: Vec<_> = (0..200)
        .map(|_| {
            let source = world.source.clone();
            tokio::spawn(async move { source.serve().await })
        })
        .collect();
    for call in calls {
        assert_eq!(told(&call.await.unwrap()), live("A"));
    }
    assert_eq!(world.network.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_does_not_cancel_the_fetch_for_others() {
    let world = world([takes(2, Brings("A"))]);
    let source = world.source.clone();
    let first = tokio::spawn(async move { source.serve().await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let source = world.source.clone();
    let second = tokio::spawn(async move { source.serve().await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    first.abort();
    assert_eq!(told(&second.await.unwrap()), live("A"));
    assert_eq!(world.network.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_fetch_goes_on_when_every_call_is_cancelled() {
    let world = world([takes(2, Brings("A"))]);
    let source = world.source.clone();
    let only = tokio::spawn(async move { source.serve().await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    only.abort();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.serve().await, live("A"));
    assert_eq!(world.network.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_five_seconds_and_the_fetch_goes_on_behind_it() {
    let world = world([takes(12, Brings("A"))]);
    let start = Instant::now();
    let (from, notice) = world.serve().await;
    assert_eq!(start.elapsed(), LONGEST_WAIT);
    assert_eq!(from, "embedded");
    assert!(notice.unwrap().contains(&pending()));
    assert_eq!(world.serve_after(Duration::from_secs(8)).await, live("A"));
    assert_eq!(world.network.asked(), 1);
}

fn pending() -> String {
    crate::texts::TEXTS.catalog.reason.pending.clone()
}

#[tokio::test(start_paused = true)]
async fn a_slow_refresh_serves_the_last_good_catalog_meanwhile() {
    let world = world([Brings("A"), takes(6, Brings("B"))]);
    world.serve().await;
    let served = world.serve_after(40 * MINUTE).await;
    assert_stale(&served, "A", &["40분", &pending()]);
    assert_eq!(world.serve_after(Duration::from_secs(2)).await, live("B"));
}

#[tokio::test(start_paused = true)]
async fn a_first_start_without_a_network_answers_from_the_embedded_catalog() {
    let world = world([Fails]);
    let (from, notice) = world.serve().await;
    assert_eq!(from, "embedded");
    let count = EMBEDDED.services().len().to_string();
    let notice = notice.unwrap();
    for part in [count.as_str(), "502", "catalog.example"] {
        assert!(notice.contains(part), "{notice}");
    }
}

#[tokio::test(start_paused = true)]
async fn failures_are_retried_after_a_growing_pause_and_not_at_every_call() {
    let world = world((0..40).map(|_| Fails));
    let mut pauses = Vec::new();
    let mut last = None;
    // A call every second for an hour.
    for second in 0..3600_u64 {
        let before = world.network.asked();
        world.serve_after(Duration::from_secs(1)).await;
        if world.network.asked() > before {
            pauses.extend(last.map(|last| second - last));
            last = Some(second);
        }
    }
    assert_eq!(pauses[..8], [5, 10, 20, 40, 80, 160, 300, 300]);
    assert!(pauses[8..].iter().all(|&pause| pause == 300));
}

#[tokio::test(start_paused = true)]
async fn recovery_shows_at_the_next_refresh_and_ends_the_pauses() {
    let world = world([Fails, Fails, Brings("A"), Fails, Brings("B")]);
    assert_eq!(world.serve().await.0, "embedded");
    assert_eq!(
        world.serve_after(Duration::from_secs(5)).await.0,
        "embedded"
    );
    assert_eq!(world.serve_after(Duration::from_secs(10)).await, live("A"));
    // The next failure starts with the short pause again.
    assert_stale(&world.serve_after(31 * MINUTE).await, "A", &["31분", "502"]);
    assert_stale(
        &world.serve_after(Duration::from_secs(4)).await,
        "A",
        &["31분"],
    );
    assert_eq!(world.serve_after(Duration::from_secs(1)).await, live("B"));
}

#[tokio::test(start_paused = true)]
async fn the_last_failure_is_told_while_the_next_attempt_goes_on() {
    let world = world([Fails, takes(60, Brings("A"))]);
    world.serve().await;
    let (_, notice) = world.serve_after(Duration::from_secs(5)).await;
    assert!(notice.unwrap().contains("502"));
}

#[tokio::test(start_paused = true)]
async fn a_bad_document_never_replaces_a_good_one() {
    let bad: [&[u8]; 8] = [
        b"",
        b"\xef\xbb\xbf",
        b"<html>sign in</html>",
        b"<TableClothCatalog/>",
        b"<TableClothCatalog><InternetServices><Service Id='B'/>",
        b"<TableClothCatalog><InternetServices><Service Id='B & C'/></InternetServices></TableClothCatalog>",
        b"\x1f\x8b\x08",
        b"\xff\xfe<\x00",
    ];
    let world = world([Brings("A")]);
    world.serve().await;
    for (n, document) in bad.into_iter().enumerate() {
        world.network.then(BringsDocument(document));
        assert_stale(&world.serve_after(31 * MINUTE).await, "A", &["원인"]);
        assert_eq!(world.network.asked(), n + 2);
    }
    // The validators stay those of the good one, too.
    world.network.then(NotModified);
    assert_eq!(world.serve_after(31 * MINUTE).await, live("A"));
    assert_eq!(
        world.network.last_asked_with().etag,
        Some(HeaderValue::from_static("A"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_catalog_that_has_not_changed_is_fresh_again() {
    let world = world([Brings("A"), NotModified, NotModified, Brings("B")]);
    assert_eq!(world.serve().await, live("A"));
    assert_eq!(world.network.last_asked_with(), Validators::default());
    for asked in 2..4 {
        assert_eq!(world.serve_after(31 * MINUTE).await, live("A"));
        assert_eq!(world.serve_after(29 * MINUTE).await, live("A"));
        assert_eq!(world.network.asked(), asked);
        let etag = world.network.last_asked_with().etag;
        assert_eq!(etag, Some(HeaderValue::from_static("A")));
    }
    assert_eq!(world.serve_after(31 * MINUTE).await, live("B"));
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_panics_is_a_failure_like_others() {
    let world = world([Panics, takes(1, Panics), Brings("A"), Panics, Brings("B")]);
    let (from, notice) = world.serve().await;
    assert_eq!(from, "embedded");
    let internal = &crate::texts::TEXTS.catalog.reason.internal;
    assert!(notice.unwrap().contains(internal));
    // Not tried anew at every call.
    world.serve().await;
    assert_eq!(world.network.asked(), 1);
    assert_eq!(
        world.serve_after(Duration::from_secs(5)).await.0,
        "embedded"
    );
    assert_eq!(world.serve_after(Duration::from_secs(10)).await, live("A"));
    assert_stale(&world.serve_after(31 * MINUTE).await, "A", &[internal]);
    assert_eq!(world.serve_after(MINUTE).await, live("B"));
}

#[tokio::test(start_paused = true)]
async fn a_fetch_without_end_is_given_up() {
    let world = world([takes(1_000_000, Brings("A")), Brings("B")]);
    let start = Instant::now();
    let mut calls = 0;
    while world.serve_after(LONGEST_WAIT).await != live("B") {
        calls += 1;
        assert!(calls < 20, "wedged");
    }
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(world.network.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn calls_wait_for_a_load_together_not_one_after_the_other() {
    let world = world([takes(20, Brings("A"))]);
    let start = Instant::now();
    assert_eq!(world.serve_after(Duration::ZERO).await.0, "embedded");
    assert_eq!(start.elapsed(), LONGEST_WAIT);
    // The load has had its time; it goes on, but nobody waits for it any more.
    assert_eq!(world.serve_after(Duration::ZERO).await.0, "embedded");
    assert_eq!(start.elapsed(), LONGEST_WAIT);
    assert_eq!(world.serve_after(Duration::from_secs(16)).await, live("A"));
}

#[tokio::test(start_paused = true)]
async fn in_a_hurry_calls_answer_from_what_there_is() {
    let world = world([takes(20, Brings("A"))]);
    let start = Instant::now();
    let waiting = tokio::spawn({
        let source = world.source.clone();
        async move { told(&source.serve().await) }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.source.hurry();
    assert_eq!(waiting.await.unwrap().0, "embedded");
    assert_eq!(world.serve_after(Duration::ZERO).await.0, "embedded");
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}
