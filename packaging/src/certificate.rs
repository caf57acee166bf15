//! X.509 certificates: what they say, and whether they may do what they are used for.

use std::fmt::Write as _;

use der::{DateTime, Decode, asn1::ObjectIdentifier};
use ring::digest::{SHA256, digest};
use rustls_pki_types::{
    CertificateDer,
    pem::{self, PemObject},
};
use thiserror::Error;
use x509_cert::{
    TbsCertificate,
    ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage},
    name::Name,
};

use crate::public_key::{PublicKey, PublicKeyError};

/// Why a certificate cannot be used.
#[derive(Debug, Error)]
pub(crate) enum CertificateError {
    #[error("not a PEM file with certificates")]
    Pem(#[source] pem::Error),
    #[error("no certificate (`BEGIN CERTIFICATE`) in the file")]
    None,
    #[error("malformed certificate or signature")]
    Malformed(#[from] der::Error),
    #[error("the certificate of {subject}")]
    Key {
        subject: String,
        source: PublicKeyError,
    },
    #[error(
        "the certificate of {subject} is valid from {from} to {to}, which {time}, the time of signing, is not in"
    )]
    NotValid {
        subject: String,
        from: DateTime,
        to: DateTime,
        time: DateTime,
    },
    #[error("the certificate of {subject} is not for {purpose}: {extension} says so")]
    Purpose {
        subject: String,
        purpose: &'static str,
        extension: &'static str,
    },
}

const CODE_SIGNING: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.3");

/// A certificate and the bytes it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Certificate {
    der: CertificateDer<'static>,
    parsed: x509_cert::Certificate,
}

impl Certificate {
    /// Reads one in DER.
    pub(crate) fn from_der(der: Vec<u8>) -> Result<Self, CertificateError> {
        let parsed = x509_cert::Certificate::from_der(&der)?;
        let der = CertificateDer::from(der);
        Ok(Self { der, parsed })
    }

    /// Reads all that are in a PEM file; at least one.
    pub(crate) fn from_pem(pem: &[u8]) -> Result<Vec<Self>, CertificateError> {
        let certificates = CertificateDer::pem_slice_iter(pem)
            .map(|der| Self::from_der(der.map_err(CertificateError::Pem)?.to_vec()))
            .collect::<Result<Vec<_>, _>>()?;
        if certificates.is_empty() {
            return Err(CertificateError::None);
        }
        Ok(certificates)
    }

    pub(crate) fn der(&self) -> &CertificateDer<'static> {
        &self.der
    }

    pub(crate) fn fields(&self) -> &TbsCertificate {
        self.parsed.tbs_certificate()
    }

    /// SHA-256 of the certificate.
    pub(crate) fn fingerprint(&self) -> Vec<u8> {
        digest(&SHA256, &self.der).as_ref().to_vec()
    }

    /// The subject's name, as one line (RFC 4514).
    pub(crate) fn subject(&self) -> String {
        printable(self.fields().subject())
    }

    /// The issuer's name, as one line (RFC 4514).
    pub(crate) fn issuer(&self) -> String {
        printable(self.fields().issuer())
    }

    pub(crate) fn is_self_issued(&self) -> bool {
        self.fields().issuer() == self.fields().subject()
    }

    /// First and last second of validity.
    pub(crate) fn validity(&self) -> (DateTime, DateTime) {
        let validity = self.fields().validity();
        (
            validity.not_before.to_date_time(),
            validity.not_after.to_date_time(),
        )
    }

    /// The key. Its kind is not looked at.
    pub(crate) fn public_key(&self) -> PublicKey<'_> {
        PublicKey::of(self.fields().subject_public_key_info())
    }

    /// Whether it may sign a bundle at `time`: kind of key, validity, and, where they are there, key usage and extended key usage.
    pub(crate) fn check_signer(&self, time: DateTime) -> Result<(), CertificateError> {
        self.public_key()
            .check()
            .map_err(|source| CertificateError::Key {
                subject: self.subject(),
                source,
            })?;
        self.check_validity(time)?;
        let purpose = "signing";
        if let Some((_, usage)) = self.fields().get_extension::<KeyUsage>()?
            && !usage.digital_signature()
            && !usage.non_repudiation()
        {
            return Err(self.purpose(purpose, "its key usage"));
        }
        if let Some((_, usage)) = self.fields().get_extension::<ExtendedKeyUsage>()?
            && !usage.0.contains(&CODE_SIGNING)
        {
            return Err(self.purpose(purpose, "its extended key usage, which lacks code signing,"));
        }
        Ok(())
    }

    /// Whether it may vouch for other certificates at `time`: validity, basic constraints and, where it is there, key usage.
    pub(crate) fn check_authority(&self, time: DateTime) -> Result<(), CertificateError> {
        self.check_validity(time)?;
        let purpose = "issuing certificates";
        if !self
            .fields()
            .get_extension::<BasicConstraints>()?
            .is_some_and(|(_, constraints)| constraints.ca)
        {
            return Err(self.purpose(purpose, "its basic constraints, absent or without cA,"));
        }
        if let Some((_, usage)) = self.fields().get_extension::<KeyUsage>()?
            && !usage.key_cert_sign()
        {
            return Err(self.purpose(purpose, "its key usage"));
        }
        Ok(())
    }

    fn check_validity(&self, time: DateTime) -> Result<(), CertificateError> {
        let (from, to) = self.validity();
        if (from..=to).contains(&time) {
            return Ok(());
        }
        Err(CertificateError::NotValid {
            subject: self.subject(),
            from,
            to,
            time,
        })
    }

    fn purpose(&self, purpose: &'static str, extension: &'static str) -> CertificateError {
        CertificateError::Purpose {
            subject: self.subject(),
            purpose,
            extension,
        }
    }
}

/// A name for a terminal: what would move the cursor or turn the text round is spelled out.
fn printable(name: &Name) -> String {
    let mut text = String::new();
    for character in name.to_string().chars() {
        if character.is_control()
            || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            // Writing to a string does not fail.
            let _ = write!(text, "{}", character.escape_unicode());
        } else {
            text.push(character);
        }
    }
    if text.is_empty() {
        text.push_str("(no name)");
    }
    text
}
