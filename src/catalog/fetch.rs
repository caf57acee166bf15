//! Fetches the catalog document from the network or a file.

mod certificates;
mod fault;

use std::{fs::File, future::Future, io, io::Read as _, path::Path, pin::Pin, time::Duration};

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{Client, ClientBuilder, StatusCode, Url, header, redirect};
use thiserror::Error;

pub use self::fault::{chain, root};
use super::location::{Location, is_loopback};
use crate::setting;

/// Longest time for one fetch in all.
pub const LONGEST_FETCH: Duration = Duration::from_secs(30);
/// Longest time to connect to one address; short enough that a host's other
/// address gets its turn where IPv6 is broken.
const LONGEST_CONNECT: Duration = Duration::from_secs(5);
/// Largest document, in bytes after decompression.
pub const LARGEST_DOCUMENT: usize = 16 * 1024 * 1024;
const MOST_REDIRECTS: usize = 5;

/// How much time and memory a download may take.
#[derive(Debug, Clone, Copy)]
struct Limits {
    connect: Duration,
    total: Duration,
    bytes: usize,
}

const LIMITS: Limits = Limits {
    connect: LONGEST_CONNECT,
    total: LONGEST_FETCH,
    bytes: LARGEST_DOCUMENT,
};

/// What the server said of the version it sent, for asking again.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Validators {
    /// `ETag`.
    pub etag: Option<header::HeaderValue>,
    /// `Last-Modified`.
    pub last_modified: Option<header::HeaderValue>,
}

/// What a fetch brought.
#[derive(Debug)]
pub enum Fetched {
    /// The version asked about is still the current one.
    NotModified,
    /// A document, not looked at yet.
    Document {
        /// Its bytes, decompressed.
        bytes: Vec<u8>,
        /// For the next fetch.
        validators: Validators,
    },
}

/// Why there is no document. The network's own words are in the source chain.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The setting names no usable place.
    #[error("catalog address cannot be used: {0}")]
    Address(String),
    /// The file cannot be read.
    #[error("catalog file cannot be read")]
    File(#[source] std::io::Error),
    /// The certificates of `SSL_CERT_FILE` cannot be read.
    #[error("certificates of SSL_CERT_FILE cannot be read: {0}")]
    CertificateFile(String),
    /// Nobody answers at the address.
    #[error("cannot connect")]
    Connect(#[source] reqwest::Error),
    /// The proxy cannot be reached or refuses.
    #[error("cannot connect through the proxy")]
    Proxy(#[source] Option<reqwest::Error>),
    /// The server's certificate is not trusted.
    #[error("certificate is not trusted")]
    Certificate(#[source] reqwest::Error),
    /// It took too long.
    #[error("timed out")]
    Timeout(#[source] Option<reqwest::Error>),
    /// An answer that is no success.
    #[error("answered with status {0}")]
    Status(StatusCode),
    /// A redirect that is not followed.
    #[error("redirect refused")]
    Redirect(#[source] Option<reqwest::Error>),
    /// The answer broke off or cannot be decompressed.
    #[error("answer broke off")]
    Interrupted(#[source] reqwest::Error),
    /// The document exceeds [`LARGEST_DOCUMENT`].
    #[error("document is larger than {LARGEST_DOCUMENT} bytes")]
    TooLarge,
    /// No HTTP client could be made, or a task of ours died.
    #[error("internal fault: {0}")]
    Internal(String),
}

/// Future of a fetch.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Fetched, FetchError>> + Send + 'a>>;

/// Something that brings the catalog document.
pub trait Fetch: Send + Sync {
    /// Brings the document, unless `known` still describes the current one.
    fn fetch<'a>(&'a self, known: &'a Validators) -> Fetching<'a>;
}

impl Fetch for Location {
    fn fetch<'a>(&'a self, known: &'a Validators) -> Fetching<'a> {
        Box::pin(async move {
            match self {
                Self::Unusable(value) => Err(FetchError::Address(value.clone())),
                Self::File(path) => {
                    let path = path.clone();
                    let bytes = blocking(move || read_document(&path)).await??;
                    Ok(Fetched::Document {
                        bytes,
                        validators: Validators::default(),
                    })
                }
                Self::Web(url) => download(url.clone(), known, LIMITS).await,
            }
        })
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, FetchError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| FetchError::Internal(error.to_string()))
}

fn read_document(path: &Path) -> Result<Vec<u8>, FetchError> {
    read_file(path)
        .map_err(FetchError::File)?
        .ok_or(FetchError::TooLarge)
}

/// Reads a file, or nothing if it exceeds [`LARGEST_DOCUMENT`].
fn read_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // Opening a named pipe would wait for a writer, and a device may have no end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(LARGEST_DOCUMENT as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() <= LARGEST_DOCUMENT).then_some(bytes))
}

async fn download(url: Url, known: &Validators, limits: Limits) -> Result<Fetched, FetchError> {
    // Reading the system's certificates takes time that other calls need not wait for.
    let Web { client, proxies } = {
        let url = url.clone();
        blocking(move || Web::new(&url, limits)).await??
    };
    let classify = |error| fault::classify(error, proxies.as_ref());
    let mut request = client.get(url);
    if let Some(etag) = &known.etag {
        request = request.header(header::IF_NONE_MATCH, etag);
    }
    if let Some(last_modified) = &known.last_modified {
        request = request.header(header::IF_MODIFIED_SINCE, last_modified);
    }
    let mut response = request.send().await.map_err(classify)?;
    match response.status() {
        StatusCode::OK => {}
        StatusCode::NOT_MODIFIED if *known != Validators::default() => {
            return Ok(Fetched::NotModified);
        }
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => return Err(FetchError::Proxy(None)),
        // To an address of a kind that the client does not even try.
        status if status.is_redirection() && response.headers().contains_key(header::LOCATION) => {
            return Err(FetchError::Redirect(None));
        }
        status => return Err(FetchError::Status(status)),
    }
    let validators = Validators {
        etag: response.headers().get(header::ETAG).cloned(),
        last_modified: response.headers().get(header::LAST_MODIFIED).cloned(),
    };
    let announced = response.content_length().unwrap_or_default();
    if usize::try_from(announced).map_or(true, |announced| announced > limits.bytes) {
        return Err(FetchError::TooLarge);
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(classify)? {
        if bytes.len() + chunk.len() > limits.bytes {
            return Err(FetchError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Fetched::Document { bytes, validators })
}

/// A client for one fetch: there is one every half hour, and the certificates
/// and proxies of the moment count.
struct Web {
    client: Client,
    /// The proxies that the client uses, if it may use any.
    proxies: Option<Matcher>,
}

impl Web {
    fn new(url: &Url, limits: Limits) -> Result<Self, FetchError> {
        // Fails where it is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let added = match setting::read(setting::SSL_CERT_FILE) {
            Some(path) => certificates::read(Path::new(&path))?,
            None => Vec::new(),
        };
        let builder = || {
            Client::builder()
                .user_agent(concat!("tablecloth-mcp/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(limits.connect)
                .timeout(limits.total)
                .redirect(redirect::Policy::custom(follow))
        };
        let build = |builder: ClientBuilder| {
            let client = builder.build();
            client.map_err(|error| fault::classify(error, None))
        };
        if url.scheme() == "https" {
            return Ok(Self {
                client: build(builder().tls_certs_merge(added))?,
                proxies: Some(Matcher::from_system()),
            });
        }
        // Plain http is for this machine alone: a proxy would carry it elsewhere.
        // Nor does it need roots, so it must not fail on a machine that has none.
        let client = build(builder().no_proxy().tls_certs_merge(added.clone()))
            .or_else(|_| build(builder().no_proxy().tls_certs_only(added)))?;
        Ok(Self {
            client,
            proxies: None,
        })
    }
}

/// The proxy that requests to a location go through, as `host:port`, without a password.
#[must_use]
pub fn proxy(location: &Location) -> Option<String> {
    let Location::Web(url) = location else {
        return None;
    };
    if url.scheme() != "https" {
        return None;
    }
    let address = url.as_str().parse().ok()?;
    let proxy = Matcher::from_system().intercept(&address)?;
    let host = proxy.uri().host()?;
    Some(match proxy.uri().port_u16() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    // What comes from elsewhere must not send us to a service on this machine.
    let never_left = attempt.previous().iter().all(is_loopback);
    let target_is_safe =
        attempt.url().scheme() == "https" || never_left && is_loopback(attempt.url());
    if attempt.previous().len() > MOST_REDIRECTS {
        attempt.error("too many redirects")
    } else if target_is_safe {
        attempt.follow()
    } else {
        attempt.error("redirect to an address that is not https")
    }
}

#[cfg(test)]
mod tests;
