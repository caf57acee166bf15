//! Fetches the catalog document from the network or a file.

use std::{
    error::Error as StdError, fs::File, future::Future, io::Read as _, path::Path, pin::Pin,
    time::Duration,
};

use reqwest::{Certificate, Client, StatusCode, Url, header, redirect};
use thiserror::Error;

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
    Redirect(#[source] reqwest::Error),
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
                    let bytes = blocking(move || read_file(&path)).await??;
                    Ok(Fetched::Document {
                        bytes,
                        validators: Validators::default(),
                    })
                }
                Self::Web(url) => download(url.clone(), known).await,
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

fn read_file(path: &Path) -> Result<Vec<u8>, FetchError> {
    // Opening a named pipe would wait for a writer.
    if !std::fs::metadata(path).map_err(FetchError::File)?.is_file() {
        return Err(FetchError::File(std::io::Error::other(
            "not a regular file",
        )));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .map_err(FetchError::File)?
        .take(LARGEST_DOCUMENT as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(FetchError::File)?;
    if bytes.len() > LARGEST_DOCUMENT {
        return Err(FetchError::TooLarge);
    }
    Ok(bytes)
}

async fn download(url: Url, known: &Validators) -> Result<Fetched, FetchError> {
    // Reading the system's certificates takes time that other calls need not wait for.
    let client = blocking(client).await??;
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
        status => return Err(FetchError::Status(status)),
    }
    let validators = Validators {
        etag: response.headers().get(header::ETAG).cloned(),
        last_modified: response.headers().get(header::LAST_MODIFIED).cloned(),
    };
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(classify)? {
        if bytes.len() + chunk.len() > LARGEST_DOCUMENT {
            return Err(FetchError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Fetched::Document { bytes, validators })
}

/// A client for one fetch: there is one every half hour, and the certificates
/// and proxies of the moment count.
fn client() -> Result<Client, FetchError> {
    // Fails where it is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("tablecloth-mcp/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(LONGEST_CONNECT)
        .timeout(LONGEST_FETCH)
        .redirect(redirect::Policy::custom(follow));
    if let Some(path) = setting::read(setting::SSL_CERT_FILE) {
        builder = builder.tls_certs_merge(certificates(Path::new(&path))?);
    }
    builder
        .build()
        .map_err(|error| FetchError::Internal(chain(&error)))
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, FetchError> {
    let unreadable =
        |detail: String| FetchError::CertificateFile(format!("{}: {detail}", path.display()));
    let pem = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let certificates =
        Certificate::from_pem_bundle(&pem).map_err(|error| unreadable(chain(&error)))?;
    if certificates.is_empty() {
        return Err(unreadable("no certificate in it".to_owned()));
    }
    Ok(certificates)
}

fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let first_is_loopback = attempt.previous().first().is_some_and(is_loopback);
    let target_is_safe =
        attempt.url().scheme() == "https" || first_is_loopback && is_loopback(attempt.url());
    if attempt.previous().len() > MOST_REDIRECTS {
        attempt.error("too many redirects")
    } else if target_is_safe {
        attempt.follow()
    } else {
        attempt.error("redirect to an address that is not https")
    }
}

/// Sorts an error of the client by what a user can do about it.
fn classify(error: reqwest::Error) -> FetchError {
    if error.is_redirect() {
        FetchError::Redirect(error)
    } else if is_certificate_fault(&error) {
        FetchError::Certificate(error)
    } else if error.is_timeout() {
        FetchError::Timeout(Some(error))
    } else if error.is_body() || error.is_decode() {
        FetchError::Interrupted(error)
    } else if error.is_connect() && is_proxy_fault(&error) {
        FetchError::Proxy(Some(error))
    } else {
        FetchError::Connect(error)
    }
}

/// The error and what caused it, outermost first.
fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    fn next<'a>(error: &&'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
        let error = *error;
        // An I/O error hides the error it was made from behind its own accessor.
        match error.downcast_ref::<std::io::Error>() {
            Some(io) => io.get_ref().map(|inner| inner as &(dyn StdError + 'static)),
            None => error.source(),
        }
    }
    std::iter::successors(Some(error), next)
}

fn is_certificate_fault(error: &reqwest::Error) -> bool {
    causes(error)
        .filter_map(|cause| cause.downcast_ref::<rustls::Error>())
        .any(|fault| {
            matches!(
                fault,
                // The system verifiers of Windows and macOS report through the latter two.
                rustls::Error::InvalidCertificate(_)
                    | rustls::Error::General(_)
                    | rustls::Error::Other(_)
            )
        })
}

/// The client does not type its proxy faults, it words them.
fn is_proxy_fault(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| {
        let words = cause.to_string();
        words.contains("proxy") || words.contains("tunnel")
    })
}

/// An error and its causes in one line.
#[must_use]
pub fn chain(error: &(dyn StdError + 'static)) -> String {
    causes(error)
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}
