//! The root certificates that `SSL_CERT_FILE` adds.

use std::path::Path;

use reqwest::Certificate;
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};

use super::{FetchError, fault::chain, read_file};

/// Reads a PEM file. As OpenSSL does, it passes over what cannot be used as
/// long as something can: bundles of companies are seldom flawless.
pub(super) fn read(path: &Path) -> Result<Vec<Certificate>, FetchError> {
    let unusable =
        |detail: String| FetchError::CertificateFile(format!("{}: {detail}", path.display()));
    let pem = read_file(path)
        .map_err(|error| unusable(error.to_string()))?
        .ok_or_else(|| unusable("too large".to_owned()))?;
    let mut fault = "no certificate in it".to_owned();
    let mut usable = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        match certificate {
            Ok(der) => match RootCertStore::empty().add(der.clone()) {
                Ok(()) => usable.extend(Certificate::from_der(&der)),
                Err(error) => fault = chain(&error),
            },
            Err(error) => fault = chain(&error),
        }
    }
    if usable.is_empty() {
        return Err(unusable(fault));
    }
    Ok(usable)
}
