//! Sorts the faults of the network by what a user can do about them.

use std::error::Error as StdError;

use hyper_util::client::proxy::matcher::Matcher;

use super::FetchError;

/// Sorts an error of the client, which used these proxies.
pub(super) fn classify(error: reqwest::Error, proxies: Option<&Matcher>) -> FetchError {
    // The client refuses addresses of other schemes before it asks whether to
    // follow; the first address is known to be good.
    let unusable_target = error.is_builder() && error.url().is_some();
    if error.is_redirect() || unusable_target {
        FetchError::Redirect(Some(error))
    } else if is_certificate_fault(&error) {
        FetchError::Certificate(error)
    } else if error.is_connect() && went_through(proxies, &error) {
        // A proxy that is silent included.
        FetchError::Proxy(Some(error))
    } else if error.is_timeout() {
        FetchError::Timeout(Some(error))
    } else if error.is_connect() {
        FetchError::Connect(error)
    } else if error.is_builder() {
        FetchError::Internal(chain(&error))
    } else {
        FetchError::Interrupted(error)
    }
}

/// Whether a proxy was in charge of the address that failed. The client does
/// not say: the words of some of its errors do, but so does an address with
/// "proxy" in it.
fn went_through(proxies: Option<&Matcher>, error: &reqwest::Error) -> bool {
    let address = error.url().and_then(|url| url.as_str().parse().ok());
    proxies
        .zip(address)
        .is_some_and(|(proxies, address)| proxies.intercept(&address).is_some())
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

/// An error and its causes in one line.
#[must_use]
pub fn chain(error: &(dyn StdError + 'static)) -> String {
    causes(error)
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

/// What an error comes from in the end, such as the fault of a certificate.
#[must_use]
pub fn root(error: &(dyn StdError + 'static)) -> String {
    causes(error).last().unwrap_or(error).to_string()
}
