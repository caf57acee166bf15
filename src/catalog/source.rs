//! Serves the catalog: fetched once for all who wait, kept for half an hour,
//! and never missing, because the program carries one of its own.

use std::{
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use thiserror::Error;
use tokio::{sync::watch, time::Instant};

use super::{
    Catalog,
    fetch::{Fetch, FetchError, Fetched, LONGEST_FETCH, Validators, chain},
    location::Location,
    notice,
    parse::{ParseError, parse},
};
use crate::clock::{Clock, SystemClock};

/// How long a loaded catalog counts as fresh.
pub const FRESH_FOR: Duration = Duration::from_secs(30 * 60);
/// How long a call waits for the network when there is something to answer from.
pub const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Longest time for one load. The network's own limit comes first; this one is
/// for what has none, such as a file on a server that is gone.
const LONGEST_LOAD: Duration = LONGEST_FETCH.saturating_add(Duration::from_secs(5));
/// First pause after a failed load; it doubles with each further failure.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);

/// The catalog that is compiled in: the starter catalog of this project, or the
/// snapshot that the build was given.
static EMBEDDED: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let document = include_bytes!(concat!(env!("OUT_DIR"), "/embedded-catalog.xml"));
    // A test parses it, so the default is never used.
    Arc::new(parse(document).unwrap_or_default())
});

/// The catalog that is compiled in.
#[must_use]
pub fn embedded() -> &'static Catalog {
    &EMBEDDED
}

/// Why a load failed.
#[derive(Debug, Error)]
pub enum LoadError {
    /// No document came.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// What came is no catalog.
    #[error("catalog cannot be read")]
    Parse(#[from] ParseError),
}

/// A catalog to answer from.
#[derive(Debug, Clone)]
pub struct Served {
    /// The catalog.
    pub catalog: Arc<Catalog>,
    /// What the answer has to say of it, unless it is a fresh live one.
    pub notice: Option<String>,
}

/// Where calls get the catalog from. Clones share one.
#[derive(Clone)]
pub struct CatalogSource {
    shared: Arc<Shared>,
}

struct Shared {
    fetch: Box<dyn Fetch>,
    /// For the notices; what is fetched is up to `fetch`.
    location: Location,
    clock: Box<dyn Clock>,
    state: Mutex<State>,
    /// Whether calls answer from what there is.
    hurried: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    loaded: Option<Loaded>,
    failure: Option<Failure>,
    loading: Option<Loading>,
}

/// A load that goes on.
#[derive(Clone)]
struct Loading {
    /// Closes when it has ended.
    ended: watch::Receiver<()>,
    /// Until when calls wait for it: the longer it has taken, the less is to be hoped for.
    worth_waiting_until: Instant,
}

/// The last good catalog.
struct Loaded {
    catalog: Arc<Catalog>,
    validators: Validators,
    at: Duration,
}

/// The failures since the last good load.
struct Failure {
    error: LoadError,
    count: u32,
    at: Duration,
}

impl Failure {
    fn pause(&self) -> Duration {
        let doubled = 2_u32.saturating_pow(self.count.saturating_sub(1));
        FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
    }
}

impl CatalogSource {
    /// A source for a location. Nothing is fetched before it is asked.
    #[must_use]
    pub fn new(location: Location) -> Self {
        Self::with(Box::new(location.clone()), location, Box::new(SystemClock))
    }

    fn with(fetch: Box<dyn Fetch>, location: Location, clock: Box<dyn Clock>) -> Self {
        Self {
            shared: Arc::new(Shared {
                fetch,
                location,
                clock,
                state: Mutex::default(),
                hurried: watch::Sender::new(false),
            }),
        }
    }

    /// The best catalog to be had now: a fresh one at once, else one that a load
    /// brings within [`LONGEST_WAIT`] of its start, else the last good one, else the embedded one.
    pub async fn serve(&self) -> Served {
        if let Some(mut loading) = self.load_if_due() {
            let mut hurried = self.shared.hurried.subscribe();
            // The load is a task of its own: it goes on when this call gives up or is cancelled.
            tokio::select! {
                _ = loading.ended.changed() => {}
                () = tokio::time::sleep_until(loading.worth_waiting_until) => {}
                _ = hurried.wait_for(|&hurried| hurried) => {}
            }
        }
        self.best()
    }

    /// Loads the catalog now and to the end, whatever is known of it. What calls are
    /// answered from stays as it is.
    pub async fn try_load(&self) -> Result<Arc<Catalog>, LoadError> {
        let known = Validators::default();
        let loaded = tokio::time::timeout(LONGEST_LOAD, self.shared.fetch_and_parse(&known)).await;
        match loaded.map_err(|_| FetchError::Timeout(None))?? {
            Some((catalog, _)) => Ok(catalog),
            None => Err(FetchError::Internal("nothing was known".to_owned()).into()),
        }
    }

    /// Where the catalog is loaded from.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.shared.location
    }

    /// From now on calls answer from what there is, those that wait too.
    pub fn hurry(&self) {
        self.shared.hurried.send_replace(true);
    }

    /// Starts a load where one is due. Returns what to wait for, if anything.
    fn load_if_due(&self) -> Option<Loading> {
        let now = self.shared.clock.now();
        let mut state = self.shared.lock();
        if state.fresh(now) {
            return None;
        }
        if let Some(loading) = &state.loading {
            return Some(loading.clone());
        }
        if let Some(failure) = &state.failure
            && now < failure.at + failure.pause()
        {
            return None;
        }
        let (end, ended) = watch::channel(());
        let loading = Loading {
            ended,
            worth_waiting_until: Instant::now() + LONGEST_WAIT,
        };
        state.loading = Some(loading.clone());
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            shared.load().await;
            drop(end);
        });
        Some(loading)
    }

    fn best(&self) -> Served {
        let now = self.shared.clock.now();
        let state = self.shared.lock();
        if let Some(loaded) = &state.loaded
            && state.fresh(now)
        {
            return Served {
                catalog: Arc::clone(&loaded.catalog),
                notice: None,
            };
        }
        // What went wrong before says more than that the next attempt is under way.
        let error = state.failure.as_ref().map(|failure| &failure.error);
        let reason = notice::reason(error, &self.shared.location);
        match &state.loaded {
            Some(loaded) => Served {
                catalog: Arc::clone(&loaded.catalog),
                notice: Some(notice::stale(now.saturating_sub(loaded.at), &reason)),
            },
            None => Served {
                catalog: Arc::clone(&EMBEDDED),
                notice: Some(notice::embedded(EMBEDDED.services().len(), &reason)),
            },
        }
    }
}

impl State {
    fn fresh(&self, now: Duration) -> bool {
        self.loaded
            .as_ref()
            .is_some_and(|loaded| now.saturating_sub(loaded.at) < FRESH_FOR)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn load(self: Arc<Self>) {
        // Before the document is on its way: the machine may fall asleep at any time after.
        let asked_at = self.clock.now();
        let known = self
            .lock()
            .loaded
            .as_ref()
            .map(|loaded| loaded.validators.clone())
            .unwrap_or_default();
        // A task of its own, so that a panic in it is a failed load and no more.
        let shared = Arc::clone(&self);
        let mut work = tokio::spawn(async move { shared.fetch_and_parse(&known).await });
        let outcome = match tokio::time::timeout(LONGEST_LOAD, &mut work).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(died)) => Err(FetchError::Internal(died.to_string()).into()),
            Err(_) => {
                work.abort();
                Err(FetchError::Timeout(None).into())
            }
        };
        let mut state = self.lock();
        state.loading = None;
        match outcome {
            Ok(Some((catalog, validators))) => {
                tracing::info!(services = catalog.services().len(), "catalog loaded");
                state.failure = None;
                state.loaded = Some(Loaded {
                    catalog,
                    validators,
                    at: asked_at,
                });
            }
            Ok(None) => {
                tracing::info!("catalog has not changed");
                state.failure = None;
                if let Some(loaded) = &mut state.loaded {
                    loaded.at = asked_at;
                }
            }
            Err(error) => {
                tracing::warn!(error = chain(&error), "catalog could not be loaded");
                let count = state.failure.as_ref().map_or(0, |failure| failure.count) + 1;
                state.failure = Some(Failure {
                    error,
                    count,
                    at: self.clock.now(),
                });
            }
        }
    }

    async fn fetch_and_parse(
        &self,
        known: &Validators,
    ) -> Result<Option<(Arc<Catalog>, Validators)>, LoadError> {
        match self.fetch.fetch(known).await? {
            Fetched::NotModified => Ok(None),
            Fetched::Document { bytes, validators } => {
                let prepared = move || {
                    let catalog = parse(&bytes)?;
                    let _ = catalog.suggester();
                    Ok::<_, ParseError>(catalog)
                };
                let catalog = tokio::task::spawn_blocking(prepared)
                    .await
                    .map_err(|error| FetchError::Internal(error.to_string()))??;
                Ok(Some((Arc::new(catalog), validators)))
            }
        }
    }
}

#[cfg(test)]
mod tests;
