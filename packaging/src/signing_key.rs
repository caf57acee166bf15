//! The private keys that sign a bundle, and how.
//!
//! A signature must depend on its inputs alone. RSA with PKCS#1 v1.5 padding does; `ring`, which checks the signatures as well,
//! makes it, and not the `rsa` crate, for which a timing side channel is reported (RUSTSEC-2023-0071). `ring` draws a random
//! number for each ECDSA signature, so that kind is made by `ecdsa` and `p256`, which derive it from key and message (RFC 6979).

use der::{Decode, asn1::ObjectIdentifier};
use ecdsa::hazmat::sign_prehashed_rfc6979;
use p256::{NistP256, elliptic_curve::sec1::ToSec1Point as _, pkcs8::PrivateKeyInfoRef};
use ring::{
    digest::{SHA256, digest},
    error::{KeyRejected, Unspecified},
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use rustls_pki_types::{
    PrivateKeyDer,
    pem::{self, PemObject},
};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::public_key::{EC_PUBLIC_KEY, P256, PublicKey, RSA_ENCRYPTION};

/// Why a private key cannot be used.
#[derive(Debug, Error)]
pub(crate) enum SigningKeyError {
    #[error(
        "the key is encrypted; decrypt it to a file of its own first: openssl pkey -in KEY -out PLAIN"
    )]
    Encrypted,
    #[error("no private key (PKCS#8, PKCS#1 or SEC1) in the PEM file")]
    Pem(#[source] pem::Error),
    #[error("the private key is malformed")]
    Malformed,
    #[error("private key of an unsupported kind ({0}); use RSA of 2048 to 4096 bits or P-256")]
    Unsupported(String),
    #[error("RSA key refused ({0}); use one of 2048 to 4096 bits")]
    Rsa(KeyRejected),
    #[error("signing failed")]
    Failed,
}

impl From<Unspecified> for SigningKeyError {
    fn from(_: Unspecified) -> Self {
        Self::Failed
    }
}

/// Length in bytes of an ECDSA signature in DER. One with r of 33 bytes and s of 32 has it, as every other lower one does.
const ECDSA_LENGTH: usize = 71;

/// A private key.
pub(crate) enum SigningKey {
    // `ring` keeps no way to zeroize it.
    Rsa(Box<RsaKeyPair>),
    /// Zeroized when dropped.
    P256(p256::SecretKey),
}

impl SigningKey {
    /// Reads a key in PEM: PKCS#8, PKCS#1 or SEC1, not encrypted.
    pub(crate) fn from_pem(pem: &[u8]) -> Result<Self, SigningKeyError> {
        let encrypted = b"ENCRYPTED";
        if pem
            .windows(encrypted.len())
            .any(|window| window == encrypted)
        {
            return Err(SigningKeyError::Encrypted);
        }
        let key = PrivateKeyDer::from_pem_slice(pem).map_err(SigningKeyError::Pem)?;
        match &*Zeroizing::new(key) {
            PrivateKeyDer::Pkcs1(key) => Self::rsa(key.secret_pkcs1_der()),
            PrivateKeyDer::Sec1(key) => p256::SecretKey::from_sec1_der(key.secret_sec1_der())
                .map(Self::P256)
                .map_err(|_| {
                    SigningKeyError::Unsupported("an elliptic curve that is not P-256".into())
                }),
            PrivateKeyDer::Pkcs8(key) => Self::pkcs8(key.secret_pkcs8_der()),
            _ => Err(SigningKeyError::Malformed),
        }
    }

    fn pkcs8(key: &[u8]) -> Result<Self, SigningKeyError> {
        let key = PrivateKeyInfoRef::from_der(key).map_err(|_| SigningKeyError::Malformed)?;
        let curve = || {
            key.algorithm
                .parameters?
                .decode_as::<ObjectIdentifier>()
                .ok()
        };
        match key.algorithm.oid {
            RSA_ENCRYPTION => Self::rsa(key.private_key.as_bytes()),
            EC_PUBLIC_KEY if curve() == Some(P256) => p256::SecretKey::try_from(key)
                .map(Self::P256)
                .map_err(|_| SigningKeyError::Malformed),
            EC_PUBLIC_KEY => Err(SigningKeyError::Unsupported(
                "an elliptic curve that is not P-256".into(),
            )),
            other => Err(SigningKeyError::Unsupported(other.to_string())),
        }
    }

    fn rsa(pkcs1: &[u8]) -> Result<Self, SigningKeyError> {
        RsaKeyPair::from_der(pkcs1)
            .map(|key| Self::Rsa(Box::new(key)))
            .map_err(SigningKeyError::Rsa)
    }

    /// Whether `public` is the other half of this key.
    pub(crate) fn fits(&self, public: &PublicKey) -> bool {
        match self {
            Self::Rsa(key) => key.public().as_ref() == public.bytes(),
            Self::P256(key) => key.public_key().to_sec1_point(false).as_bytes() == public.bytes(),
        }
    }

    /// Length in bytes of each signature the key makes.
    pub(crate) fn signature_length(&self) -> usize {
        match self {
            Self::Rsa(key) => key.public().modulus_len(),
            Self::P256(_) => ECDSA_LENGTH,
        }
    }

    /// Signs the SHA-256 of `message`; for one message always the same, and of [`Self::signature_length`].
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningKeyError> {
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                // The random number only blinds; the result is the same for each.
                key.sign(
                    &RSA_PKCS1_SHA256,
                    &SystemRandom::new(),
                    message,
                    &mut signature,
                )?;
                Ok(signature)
            }
            Self::P256(key) => sign_ecdsa(key, message),
        }
    }
}

/// An ECDSA signature of [`ECDSA_LENGTH`].
///
/// The length of one in DER varies, but must be known before the zip that holds it is signed. Padding would be a place to
/// change bytes, and the official tool refuses it; so signatures are made until one has the length, which half of them have.
/// What tells them apart is the additional data that RFC 6979, section 3.6, provides for: none, then a count. Whoever sees the
/// one that is kept learns nothing of the key: the choice depends on the public signature alone.
fn sign_ecdsa(key: &p256::SecretKey, message: &[u8]) -> Result<Vec<u8>, SigningKeyError> {
    type Digest = <NistP256 as ecdsa::DigestAlgorithm>::Digest;
    let hash = digest(&SHA256, message);
    let scalar = Zeroizing::new(key.to_nonzero_scalar());
    (0..=u8::MAX)
        .map(|count| {
            let count = if count == 0 { &[][..] } else { &[count] };
            let (signature, _) =
                sign_prehashed_rfc6979::<NistP256, Digest>(&scalar, hash.as_ref(), count);
            signature.normalize_s().to_der().as_bytes().to_vec()
        })
        .find(|signature| signature.len() == ECDSA_LENGTH)
        .ok_or(SigningKeyError::Failed)
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};

    use super::*;
    use crate::test_signer::{P256_KEY, RSA_KEY, TestSigner};

    fn refused(pem: &str) -> SigningKeyError {
        match SigningKey::from_pem(pem.as_bytes()) {
            Ok(_) => panic!("accepted"),
            Err(error) => error,
        }
    }

    #[test]
    fn each_form_of_a_key_is_the_same_key() {
        let keys = [
            (TestSigner::rsa(), RSA_KEY),
            (
                TestSigner::rsa(),
                include_str!("../tests/keys/rsa.pkcs1.key.pem"),
            ),
            (TestSigner::p256(), P256_KEY),
            (
                TestSigner::p256(),
                include_str!("../tests/keys/p256.sec1.key.pem"),
            ),
        ];
        for (signer, pem) in keys {
            let key = SigningKey::from_pem(pem.as_bytes()).unwrap();
            assert!(key.fits(&signer.certificates[0].public_key()));
            assert_eq!(
                key.sign(b"text").unwrap(),
                signer.key.sign(b"text").unwrap()
            );
        }
    }

    #[test]
    fn keys_that_cannot_sign_are_refused() {
        for encrypted in [
            include_str!("../tests/keys/p256.encrypted.key.pem"),
            include_str!("../tests/keys/rsa.encrypted.key.pem"),
        ] {
            assert!(matches!(refused(encrypted), SigningKeyError::Encrypted));
        }
        for p384 in [
            include_str!("../tests/keys/p384.key.pem"),
            include_str!("../tests/keys/p384.sec1.key.pem"),
        ] {
            assert!(matches!(refused(p384), SigningKeyError::Unsupported(_)));
        }
        assert!(matches!(
            refused(include_str!("../tests/keys/rsa1024.key.pem")),
            SigningKeyError::Rsa(_)
        ));
        for no_key in ["", "key", include_str!("../tests/keys/rsa.cert.pem")] {
            assert!(matches!(refused(no_key), SigningKeyError::Pem(_)));
        }
        assert!(matches!(
            refused("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
            SigningKeyError::Malformed
        ));
    }

    #[test]
    fn signatures_hold_and_have_one_length() {
        for signer in [TestSigner::rsa(), TestSigner::p256()] {
            let public = signer.certificates[0].public_key();
            for message in 0..64u8 {
                let signature = signer.key.sign(&[message]).unwrap();
                assert_eq!(signature.len(), signer.key.signature_length());
                assert_eq!(public.verify(&[message], &signature), Ok(()));
                assert!(public.verify(b"other", &signature).is_err());
                assert_eq!(
                    signature,
                    signer.key.sign(&[message]).unwrap(),
                    "another one for the same message"
                );
            }
        }
    }

    /// (r, n - s), which ECDSA takes as well as (r, s).
    #[test]
    fn the_other_signature_is_refused() {
        let signer = TestSigner::p256();
        let lower = p256::ecdsa::Signature::from_der(&signer.key.sign(b"text").unwrap()).unwrap();
        let (r, s) = lower.split_scalars();
        let upper = p256::ecdsa::Signature::from_scalars(r, -s).unwrap();
        let public = signer.certificates[0].public_key();
        assert!(
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, public.bytes())
                .verify(b"text", upper.to_der().as_bytes())
                .is_ok()
        );
        assert!(public.verify(b"text", upper.to_der().as_bytes()).is_err());
        assert!(public.verify(b"text", lower.to_der().as_bytes()).is_ok());
    }
}
