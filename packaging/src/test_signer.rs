//! What the tests sign, with what, and when.

use std::time::Duration;

use der::DateTime;

use crate::{certificate::Certificate, sign::sign, signing_key::SigningKey};

pub(crate) const RSA_KEY: &str = include_str!("../tests/keys/rsa.key.pem");
pub(crate) const P256_KEY: &str = include_str!("../tests/keys/p256.key.pem");

/// A key and the certificates that go with it.
pub(crate) struct TestSigner {
    pub(crate) key: SigningKey,
    pub(crate) certificates: Vec<Certificate>,
}

impl TestSigner {
    pub(crate) fn new(key: &str, certificates: &str) -> Self {
        Self {
            key: SigningKey::from_pem(key.as_bytes()).unwrap(),
            certificates: Certificate::from_pem(certificates.as_bytes()).unwrap(),
        }
    }

    pub(crate) fn rsa() -> Self {
        Self::new(RSA_KEY, include_str!("../tests/keys/rsa.cert.pem"))
    }

    pub(crate) fn p256() -> Self {
        Self::new(P256_KEY, include_str!("../tests/keys/p256.cert.pem"))
    }

    pub(crate) fn sign(&self, file: &[u8]) -> Vec<u8> {
        sign(file, self.certificates.clone(), &self.key, time()).unwrap()
    }
}

/// 2027-01-15T08:00:00Z
pub(crate) fn time() -> DateTime {
    DateTime::from_unix_duration(Duration::from_secs(1_800_000_000)).unwrap()
}

/// A zip with one empty file, `a`.
pub(crate) fn small_zip() -> Vec<u8> {
    let mut zip = b"PK\x03\x04".to_vec();
    zip.extend([0; 22]);
    zip.extend([1, 0, 0, 0, b'a']);
    let directory = u8::try_from(zip.len()).unwrap();
    zip.extend(b"PK\x01\x02");
    zip.extend([0; 24]);
    zip.extend([1, 0]);
    zip.extend([0; 16]);
    zip.push(b'a');
    let size = u8::try_from(zip.len()).unwrap() - directory;
    zip.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend([size, 0, 0, 0, directory, 0, 0, 0, 0, 0]);
    zip
}
