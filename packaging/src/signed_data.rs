//! The signature itself: a detached CMS `SignedData` (RFC 5652) with one signer, over SHA-256.
//!
//! The structures are written out here because the `cms` crate sorts the certificates, while the official tool takes the first
//! of them for the signer's; and because its version for this generation of `der` and `x509-cert` is a release candidate yet.
//!
//! Of a plain `SignedData`, the certificates are the part that its signature leaves out. The signed attribute
//! `signingCertificateV2` (RFC 5035) names the hash of each, so that here no byte can be changed.

use der::{
    Any, DateTime, Decode, Encode, Sequence, ValueOrd,
    asn1::{ObjectIdentifier, OctetString, SetOfVec},
};
use ring::digest::{SHA256, digest};
use x509_cert::{attr::Attribute, name::Name, serial_number::SerialNumber, spki, time::Time};

use crate::certificate::{Certificate, CertificateError};

type AlgorithmIdentifier = spki::AlgorithmIdentifier<Any>;

const DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.1");
const SIGNED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");
const CONTENT_TYPE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.3");
const MESSAGE_DIGEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.4");
const SIGNING_TIME: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.5");
const SIGNING_CERTIFICATE_V2: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.2.47");
const SHA_256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");

#[derive(Sequence)]
struct ContentInfo {
    content_type: ObjectIdentifier,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", constructed = "true")]
    content: SignedData,
}

#[derive(Sequence)]
struct SignedData {
    version: u8,
    digest_algorithms: SetOfVec<AlgorithmIdentifier>,
    encapsulated_content: EncapsulatedContent,
    // A SET by the standard, of which BER leaves the order free; a `Vec` keeps the signer's first.
    #[asn1(context_specific = "0", tag_mode = "IMPLICIT", constructed = "true")]
    certificates: Vec<Any>,
    signers: SetOfVec<SignerInfo>,
}

/// Without the content: that is the zip before the block.
#[derive(Sequence)]
struct EncapsulatedContent {
    content_type: ObjectIdentifier,
}

#[derive(Clone, Sequence, ValueOrd)]
struct SignerInfo {
    version: u8,
    signer: IssuerAndSerialNumber,
    digest_algorithm: AlgorithmIdentifier,
    #[asn1(context_specific = "0", tag_mode = "IMPLICIT", constructed = "true")]
    signed_attributes: SetOfVec<Attribute>,
    signature_algorithm: AlgorithmIdentifier,
    signature: OctetString,
}

#[derive(Clone, Sequence, ValueOrd)]
struct IssuerAndSerialNumber {
    issuer: Name,
    serial_number: SerialNumber,
}

/// RFC 5035, section 3; policies are left out.
#[derive(Sequence)]
struct SigningCertificateV2 {
    certificates: Vec<CertificateHash>,
}

/// `ESSCertIDv2`; SHA-256 is its default algorithm and so not written.
#[derive(Sequence)]
struct CertificateHash {
    hash: OctetString,
}

/// What a signer signs: the content's hash, the time, and which certificates go with it.
pub(crate) struct Attributes(SetOfVec<Attribute>);

impl Attributes {
    /// The attributes for `content`, signed at `time` by the first of `certificates`.
    pub(crate) fn new(
        content: &[u8],
        time: DateTime,
        certificates: &[Certificate],
    ) -> der::Result<Self> {
        let content_hash = OctetString::new(digest(&SHA256, content).as_ref())?;
        let certificates = certificates
            .iter()
            .map(|certificate| {
                let hash = OctetString::new(certificate.fingerprint())?;
                Ok(CertificateHash { hash })
            })
            .collect::<der::Result<_>>()?;
        let mut attributes = SetOfVec::new();
        for (oid, value) in [
            (CONTENT_TYPE, Any::encode_from(&DATA)?),
            (MESSAGE_DIGEST, Any::encode_from(&content_hash)?),
            (SIGNING_TIME, Any::encode_from(&Time::from(time))?),
            (
                SIGNING_CERTIFICATE_V2,
                Any::encode_from(&SigningCertificateV2 { certificates })?,
            ),
        ] {
            let values = SetOfVec::try_from([value])?;
            attributes.insert(Attribute { oid, values })?;
        }
        Ok(Self(attributes))
    }

    /// The bytes that are signed (RFC 5652, section 5.4: with the tag of a SET, not the one in the message).
    pub(crate) fn signed_bytes(&self) -> der::Result<Vec<u8>> {
        self.0.to_der()
    }

    fn value(&self, oid: ObjectIdentifier) -> Option<&Any> {
        let attribute = self.0.iter().find(|attribute| attribute.oid == oid)?;
        attribute.values.get(0)
    }

    /// When the signer says to have signed.
    pub(crate) fn signing_time(&self) -> Option<DateTime> {
        let time = Time::from_der(&self.value(SIGNING_TIME)?.to_der().ok()?).ok()?;
        Some(time.to_date_time())
    }

    /// Whether the content's hash is that of `content`.
    pub(crate) fn is_of(&self, content: &[u8]) -> bool {
        self.value(MESSAGE_DIGEST)
            .is_some_and(|hash| hash.value() == digest(&SHA256, content).as_ref())
    }
}

/// A signature with what it takes to check it.
pub(crate) struct Signed {
    /// The signer's certificate, then those that lead from it to a root.
    pub(crate) certificates: Vec<Certificate>,
    pub(crate) attributes: Attributes,
    pub(crate) signature: Vec<u8>,
}

impl Signed {
    /// The PKCS#7 message. Each of its bytes follows from these fields.
    pub(crate) fn to_der(&self) -> der::Result<Vec<u8>> {
        let signer = self
            .certificates
            .first()
            .ok_or_else(|| der::Error::from(der::ErrorKind::Failed))?;
        let sha256 = AlgorithmIdentifier {
            oid: SHA_256,
            parameters: None,
        };
        let info = SignerInfo {
            version: 1,
            signer: IssuerAndSerialNumber {
                issuer: signer.fields().issuer().clone(),
                serial_number: signer.fields().serial_number().clone(),
            },
            digest_algorithm: sha256.clone(),
            signed_attributes: self.attributes.0.clone(),
            signature_algorithm: signer.public_key().signature_algorithm(),
            signature: OctetString::new(self.signature.as_slice())?,
        };
        let content = SignedData {
            version: 1,
            digest_algorithms: SetOfVec::try_from([sha256])?,
            encapsulated_content: EncapsulatedContent { content_type: DATA },
            certificates: self
                .certificates
                .iter()
                .map(|certificate| Any::from_der(certificate.der()))
                .collect::<der::Result<_>>()?,
            signers: SetOfVec::try_from([info])?,
        };
        ContentInfo {
            content_type: SIGNED_DATA,
            content,
        }
        .to_der()
    }

    /// Reads a PKCS#7 message. What is constant in one is not looked at: compare with [`Signed::to_der`].
    pub(crate) fn from_der(message: &[u8]) -> Result<Self, CertificateError> {
        let SignedData {
            certificates,
            signers,
            ..
        } = ContentInfo::from_der(message)?.content;
        let signer = signers
            .into_vec()
            .pop()
            .ok_or_else(|| der::Error::from(der::ErrorKind::Failed))?;
        let certificates = certificates
            .iter()
            .map(|certificate| Certificate::from_der(certificate.to_der()?))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            certificates,
            attributes: Attributes(signer.signed_attributes),
            signature: signer.signature.into_bytes().into_vec(),
        })
    }
}
