//! The public keys with which a bundle's signature can be checked.

use der::{Any, asn1::ObjectIdentifier};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};
use thiserror::Error;
use x509_cert::spki::{AlgorithmIdentifier, SubjectPublicKeyInfoOwned};

/// Why a public key cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum PublicKeyError {
    #[error("its key is of an unsupported kind ({0}); use RSA of 2048 to 4096 bits or P-256")]
    Unsupported(String),
    #[error("the signature does not fit its key")]
    Signature,
}

pub(crate) const RSA_ENCRYPTION: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
pub(crate) const EC_PUBLIC_KEY: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
pub(crate) const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const ECDSA_WITH_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");

/// A certificate's key.
pub(crate) struct PublicKey<'a>(&'a SubjectPublicKeyInfoOwned);

impl<'a> PublicKey<'a> {
    pub(crate) fn of(info: &'a SubjectPublicKeyInfoOwned) -> Self {
        Self(info)
    }

    /// The key's bytes: an `RSAPublicKey` or an uncompressed point.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.0.subject_public_key.raw_bytes()
    }

    fn is_rsa(&self) -> bool {
        self.0.algorithm.oid == RSA_ENCRYPTION
    }

    /// What a signature by the key is called in CMS: RFC 3370, section 3.2, and RFC 5754, section 3.3.
    pub(crate) fn signature_algorithm(&self) -> AlgorithmIdentifier<Any> {
        if self.is_rsa() {
            AlgorithmIdentifier {
                oid: RSA_ENCRYPTION,
                parameters: Some(Any::null()),
            }
        } else {
            AlgorithmIdentifier {
                oid: ECDSA_WITH_SHA256,
                parameters: None,
            }
        }
    }

    /// Whether the key is of a kind that is supported.
    pub(crate) fn check(&self) -> Result<(), PublicKeyError> {
        self.algorithm().map(drop)
    }

    fn algorithm(&self) -> Result<&'static dyn VerificationAlgorithm, PublicKeyError> {
        let algorithm = &self.0.algorithm;
        let curve = || {
            algorithm
                .parameters
                .as_ref()?
                .decode_as::<ObjectIdentifier>()
                .ok()
        };
        match algorithm.oid {
            RSA_ENCRYPTION => Ok(&RSA_PKCS1_2048_8192_SHA256),
            EC_PUBLIC_KEY if curve() == Some(P256) => Ok(&ECDSA_P256_SHA256_ASN1),
            EC_PUBLIC_KEY => Err(PublicKeyError::Unsupported(format!(
                "the curve {}",
                curve().map_or_else(|| "without a name".to_owned(), |oid| oid.to_string())
            ))),
            other => Err(PublicKeyError::Unsupported(other.to_string())),
        }
    }

    /// Checks a signature over `message`.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), PublicKeyError> {
        UnparsedPublicKey::new(self.algorithm()?, self.bytes())
            .verify(message, signature)
            .map_err(|_| PublicKeyError::Signature)?;
        // Of an ECDSA signature (r, s), (r, n - s) holds as well: only the lower one is taken, so that nothing can be changed.
        if !self.is_rsa() {
            let signature = p256::ecdsa::Signature::from_der(signature)
                .map_err(|_| PublicKeyError::Signature)?;
            if signature.normalize_s() != signature {
                return Err(PublicKeyError::Signature);
            }
        }
        Ok(())
    }
}
