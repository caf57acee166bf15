//! Whether a root vouches for the signer, directly or through the certificates in the signature.

use der::DateTime;
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};
use thiserror::Error;
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, KeyUsage, anchor_from_trusted_cert};

use crate::certificate::{Certificate, CertificateError};

/// Value of the object identifier 1.3.6.1.5.5.7.3.3.
const CODE_SIGNING: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 3];

/// Why no root vouches for the signer.
#[derive(Debug, Error)]
pub(crate) enum PathError {
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    #[error("the root {subject} cannot be used")]
    Root {
        subject: String,
        source: webpki::Error,
    },
    #[error("no root given vouches for {subject}, whose issuer is {issuer}")]
    Unknown { subject: String, issuer: String },
    #[error("no valid path leads from {subject} to a root given")]
    Path {
        subject: String,
        source: webpki::Error,
    },
}

/// Checks that a path leads from the first of `certificates` through the others to one of `roots`, and held at `time`.
pub(crate) fn check_path(
    certificates: &[Certificate],
    roots: &[Certificate],
    time: DateTime,
) -> Result<(), PathError> {
    let Some((signer, others)) = certificates.split_first() else {
        return Ok(());
    };
    signer.check_signer(time)?;
    // A self-signed certificate that is a root itself: webpki would refuse it as an authority's.
    if roots.iter().any(|root| root.der() == signer.der()) {
        return Ok(());
    }
    // webpki looks at no key usage and, of a root, at nothing but name and key.
    for authority in others {
        authority.check_authority(time)?;
    }
    let mut anchors = Vec::new();
    // One bad root among many spoils nothing, but is the likeliest reason when no path is found.
    let mut refused = None;
    for root in roots {
        match anchor(root, time) {
            Ok(anchor) => anchors.push(anchor),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    let others: Vec<CertificateDer> = others.iter().map(|other| other.der().clone()).collect();
    EndEntityCert::try_from(signer.der())
        .and_then(|end| {
            end.verify_for_usage(
                ALL_VERIFICATION_ALGS,
                &anchors,
                &others,
                UnixTime::since_unix_epoch(time.unix_duration()),
                KeyUsage::required_if_present(CODE_SIGNING),
                None,
                None,
            )
            .map(drop)
        })
        .map_err(|error| match (error, refused) {
            (_, Some(refused)) => refused,
            (webpki::Error::UnknownIssuer, None) => PathError::Unknown {
                subject: signer.subject(),
                issuer: signer.issuer(),
            },
            (source, None) => PathError::Path {
                subject: signer.subject(),
                source,
            },
        })
}

/// A root as webpki wants it, when it may be one at `time`.
fn anchor(root: &Certificate, time: DateTime) -> Result<TrustAnchor<'_>, PathError> {
    root.check_authority(time)?;
    anchor_from_trusted_cert(root.der()).map_err(|source| PathError::Root {
        subject: root.subject(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use rcgen::{
        BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
        KeyPair, KeyUsagePurpose, PKCS_ECDSA_P384_SHA384, date_time_ymd,
    };

    use super::*;
    use crate::{
        sign::sign,
        signing_key::SigningKey,
        test_signer::{P256_KEY, RSA_KEY, small_zip, time},
    };

    type Change = fn(&mut CertificateParams);

    fn unchanged(_: &mut CertificateParams) {}

    /// What a certificate says, valid in the time of the tests, before `change`.
    fn parameters(name: &str, change: Change) -> CertificateParams {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.not_before = date_time_ymd(2026, 1, 1);
        parameters.not_after = date_time_ymd(2028, 1, 1);
        change(&mut parameters);
        parameters
    }

    fn authority(name: &str, change: Change) -> CertificateParams {
        let mut parameters = parameters(name, |parameters| {
            parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        });
        change(&mut parameters);
        parameters
    }

    fn code_signing(parameters: &mut CertificateParams) {
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
    }

    /// A root, an authority that it vouches for, and a signer.
    struct Path {
        root: Certificate,
        authority: Certificate,
        signer: Certificate,
    }

    impl Path {
        /// With the changes to root, authority and signer.
        fn new(key: &str, root: Change, middle: Change, leaf: Change) -> Self {
            let read = |certificate: rcgen::Certificate| {
                Certificate::from_der(certificate.der().to_vec()).unwrap()
            };
            let root_key = KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384).unwrap();
            let middle_key = KeyPair::generate().unwrap();
            let root_parameters = authority("root", root);
            let middle_parameters = authority("authority", middle);
            let root = root_parameters.self_signed(&root_key).unwrap();
            let root_issuer = Issuer::new(root_parameters, root_key);
            let middle = middle_parameters
                .signed_by(&middle_key, &root_issuer)
                .unwrap();
            let middle_issuer = Issuer::new(middle_parameters, middle_key);
            let signer = parameters("signer", leaf)
                .signed_by(&KeyPair::from_pem(key).unwrap(), &middle_issuer)
                .unwrap();
            Self {
                root: read(root),
                authority: read(middle),
                signer: read(signer),
            }
        }

        /// What there is to say of the path in full.
        fn check(&self) -> Result<(), PathError> {
            check_path(
                &[self.signer.clone(), self.authority.clone()],
                std::slice::from_ref(&self.root),
                time(),
            )
        }
    }

    fn of_changes(root: Change, middle: Change, leaf: Change) -> Result<(), PathError> {
        Path::new(P256_KEY, root, middle, leaf).check()
    }

    fn purpose(result: Result<(), PathError>) -> String {
        match result {
            Err(PathError::Certificate(CertificateError::Purpose { subject, .. })) => subject,
            other => panic!("{other:?}"),
        }
    }

    fn not_valid(result: Result<(), PathError>) -> String {
        match result {
            Err(PathError::Certificate(CertificateError::NotValid { subject, .. })) => subject,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_path_leads_to_the_root() {
        for key in [RSA_KEY, P256_KEY] {
            let path = Path::new(key, unchanged, unchanged, code_signing);
            path.check().unwrap();
            let certificates = vec![path.signer, path.authority];
            let mut file = sign(
                &small_zip(),
                certificates,
                &SigningKey::from_pem(key.as_bytes()).unwrap(),
                time(),
            )
            .unwrap();
            let signature = crate::verify::check(&file).unwrap();
            let told = signature.to_string();
            assert!(told.contains("signed by    CN=signer\nissued by    CN=authority\n"));
            assert!(told.contains("chain        CN=authority\nissued by    CN=root\n"));
            for at in 0..file.len() {
                file[at] ^= 1;
                assert!(crate::verify::check(&file).is_err(), "byte {at}");
                file[at] ^= 1;
            }
        }
        of_changes(unchanged, unchanged, unchanged).unwrap();
    }

    #[test]
    fn another_root_vouches_for_nothing() {
        let path = Path::new(P256_KEY, unchanged, unchanged, code_signing);
        let other = Path::new(P256_KEY, unchanged, unchanged, code_signing);
        let certificates = [path.signer.clone(), path.authority.clone()];
        // Of the same name, but with another key.
        assert!(check_path(&certificates, std::slice::from_ref(&other.root), time()).is_err());
        let renamed = Path::new(
            P256_KEY,
            |root| root.distinguished_name.push(DnType::CommonName, "other"),
            unchanged,
            code_signing,
        );
        assert!(matches!(
            check_path(&certificates, &[renamed.root], time()),
            Err(PathError::Unknown { .. })
        ));
        assert!(matches!(
            check_path(&certificates[..1], std::slice::from_ref(&path.root), time()),
            Err(PathError::Unknown { .. })
        ));
        check_path(&certificates, &[other.root, path.root], time()).unwrap();
    }

    #[test]
    fn a_root_can_be_the_signer_or_its_issuer() {
        let path = Path::new(P256_KEY, unchanged, unchanged, code_signing);
        let signer = [path.signer];
        check_path(&signer, &signer, time()).unwrap();
        check_path(&signer, &[path.authority], time()).unwrap();
    }

    #[test]
    fn each_was_valid_when_it_was_signed() {
        let expired: Change = |parameters| parameters.not_after = date_time_ymd(2027, 1, 15);
        let early: Change = |parameters| parameters.not_before = date_time_ymd(2027, 1, 16);
        for change in [expired, early] {
            assert_eq!(
                not_valid(of_changes(change, unchanged, unchanged)),
                "CN=root"
            );
            assert_eq!(
                not_valid(of_changes(unchanged, change, unchanged)),
                "CN=authority"
            );
            assert_eq!(
                not_valid(of_changes(unchanged, unchanged, change)),
                "CN=signer"
            );
        }
    }

    #[test]
    fn authorities_are_authorities() {
        let no_authority: Change = |parameters| parameters.is_ca = IsCa::NoCa;
        let other_use: Change = |parameters| {
            parameters.key_usages = vec![KeyUsagePurpose::CrlSign];
        };
        for change in [no_authority, other_use] {
            assert_eq!(purpose(of_changes(change, unchanged, unchanged)), "CN=root");
            assert_eq!(
                purpose(of_changes(unchanged, change, unchanged)),
                "CN=authority"
            );
        }
        let server: Change = |parameters| {
            parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        };
        assert!(matches!(
            of_changes(unchanged, server, unchanged),
            Err(PathError::Path { .. })
        ));
    }

    #[test]
    fn the_signer_may_sign_code() {
        let server: Change = |parameters| {
            parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        };
        let enciphers: Change = |parameters| {
            parameters.key_usages = vec![KeyUsagePurpose::KeyEncipherment];
        };
        for change in [server, enciphers] {
            let path = Path::new(P256_KEY, unchanged, unchanged, change);
            assert_eq!(purpose(path.check()), "CN=signer");
            assert!(
                sign(
                    &small_zip(),
                    vec![path.signer, path.authority],
                    &SigningKey::from_pem(P256_KEY.as_bytes()).unwrap(),
                    time(),
                )
                .is_err()
            );
        }
    }

    #[test]
    fn names_cannot_move_the_cursor() {
        let path = Path::new(P256_KEY, unchanged, unchanged, |parameters| {
            parameters
                .distinguished_name
                .push(DnType::CommonName, "a\u{1b}[2J\u{202e}b");
        });
        assert_eq!(path.signer.subject(), r"CN=a\1b[2J\u{202e}b");
    }
}
