//! The `verify` command.

use std::{
    fmt::{self, Display},
    fs, io,
    path::PathBuf,
};

use der::DateTime;
use thiserror::Error;

use crate::{
    certificate::{Certificate, CertificateError},
    certificate_path::{PathError, check_path},
    public_key::PublicKeyError,
    signature_block::{BlockError, Parted},
    signed_data::{Attributes, Signed},
};

/// Says who signed a bundle and when, and fails unless each byte of it is as it was then.
///
/// Who the signer is remains the signer's own word unless `--ca` names whom to trust.
#[derive(clap::Args)]
pub(crate) struct Verify {
    /// The bundle.
    file: PathBuf,
    /// Certificates in PEM, to one of which the signer's must lead.
    #[arg(long)]
    ca: Option<PathBuf>,
}

/// Why a bundle does not hold.
#[derive(Debug, Error)]
pub(crate) enum VerifyFileError {
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}", path.display())]
    CertificateFile {
        path: PathBuf,
        source: CertificateError,
    },
    #[error("{}", path.display())]
    File {
        path: PathBuf,
        source: Box<VerifyError>,
    },
    #[error("{}: unchanged since it was signed, but the signer is not trusted", path.display())]
    Path { path: PathBuf, source: PathError },
}

/// Why a signature does not hold.
#[derive(Debug, Error)]
pub(crate) enum VerifyError {
    #[error(transparent)]
    Block(#[from] BlockError),
    #[error("the signature cannot be read")]
    Malformed(#[source] CertificateError),
    #[error("the signature was changed, or is not of the form that `sign` writes")]
    Changed,
    #[error("the signature was changed")]
    Signature(#[source] PublicKeyError),
    #[error("the bundle was changed after it was signed")]
    ContentChanged,
    #[error("the signer's certificate is no good")]
    Certificate(#[source] CertificateError),
}

/// Who signed a bundle of which no byte was changed since.
#[derive(Debug)]
pub(crate) struct Signature {
    /// The signer's, then those of its chain.
    certificates: Vec<Certificate>,
    /// When, by the signer's own word.
    time: DateTime,
    /// Length in bytes of what was signed.
    content: usize,
}

impl Verify {
    /// Runs the command.
    #[expect(clippy::print_stdout, reason = "a program for the command line")]
    pub(crate) fn run(self) -> Result<(), VerifyFileError> {
        let read = |path: &PathBuf| {
            fs::read(path).map_err(|source| VerifyFileError::Read {
                path: path.clone(),
                source,
            })
        };
        let roots = self
            .ca
            .map(|path| {
                Certificate::from_pem(&read(&path)?)
                    .map_err(|source| VerifyFileError::CertificateFile { path, source })
            })
            .transpose()?;
        let signature = check(&read(&self.file)?).map_err(|source| VerifyFileError::File {
            path: self.file.clone(),
            source: Box::new(source),
        })?;
        println!("{signature}");
        if let Some(roots) = roots {
            check_path(&signature.certificates, &roots, signature.time).map_err(|source| {
                VerifyFileError::Path {
                    path: self.file,
                    source,
                }
            })?;
            println!("trust        the certificate leads to a root of --ca");
        } else {
            println!("trust        {}", signature.unknown());
        }
        Ok(())
    }
}

/// Checks that a file is signed and that each of its bytes is as `sign` wrote it.
///
/// The zip is under the signature, the rest follows from what is signed: the message is written anew and compared.
pub(crate) fn check(file: &[u8]) -> Result<Signature, VerifyError> {
    let parted = Parted::new(file)?;
    let message = Signed::from_der(parted.pkcs7).map_err(VerifyError::Malformed)?;
    let signer = message.certificates.first().ok_or(VerifyError::Changed)?;
    let malformed = |error: der::Error| VerifyError::Malformed(error.into());

    let signed_bytes = message.attributes.signed_bytes().map_err(malformed)?;
    signer
        .public_key()
        .verify(&signed_bytes, &message.signature)
        .map_err(VerifyError::Signature)?;
    if !message.attributes.is_of(parted.content) {
        return Err(VerifyError::ContentChanged);
    }
    let time = message
        .attributes
        .signing_time()
        .ok_or(VerifyError::Changed)?;
    let again = Signed {
        attributes: Attributes::new(parted.content, time, &message.certificates)
            .map_err(malformed)?,
        ..message
    };
    if again.to_der().map_err(malformed)? != parted.pkcs7 {
        return Err(VerifyError::Changed);
    }
    let certificates = again.certificates;
    certificates
        .first()
        .map_or(Ok(()), |signer| signer.check_signer(time))
        .map_err(VerifyError::Certificate)?;
    Ok(Signature {
        certificates,
        time,
        content: parted.content.len(),
    })
}

impl Signature {
    /// What is to be said of a signer for whom nobody was asked.
    fn unknown(&self) -> &'static str {
        if self
            .certificates
            .first()
            .is_some_and(Certificate::is_self_issued)
        {
            "none: self-signed, so anyone may have made it; compare the fingerprint"
        } else {
            "not checked: unknown issuer; name a root with --ca"
        }
    }
}

impl Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            certificates,
            time,
            content,
        } = self;
        for (index, certificate) in certificates.iter().enumerate() {
            let (from, to) = certificate.validity();
            let by = if index == 0 {
                "signed by   "
            } else {
                "chain       "
            };
            write!(
                f,
                "{by} {}\nissued by    {}\n",
                certificate.subject(),
                certificate.issuer()
            )?;
            write!(f, "fingerprint  SHA-256 ")?;
            for byte in certificate.fingerprint() {
                write!(f, "{byte:02x}")?;
            }
            writeln!(f, "\nvalid        {from} to {to}")?;
        }
        writeln!(f, "signed at    {time}, as the signer says")?;
        write!(
            f,
            "content      unchanged, all {content} bytes before the signature"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        signature_block::{append, reserve},
        test_signer::{TestSigner, small_zip, time},
    };

    /// Signed by either kind of key.
    fn signed_files() -> [Vec<u8>; 2] {
        static FILES: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
            [TestSigner::rsa(), TestSigner::p256()].map(|signer| signer.sign(&small_zip()))
        });
        FILES.clone()
    }

    #[test]
    fn what_was_signed_is_told() {
        let signature = check(&TestSigner::p256().sign(&small_zip())).unwrap();
        assert_eq!(
            signature.to_string(),
            "signed by    O=Example,CN=식탁보 test signer\n\
             issued by    O=Example,CN=식탁보 test signer\n\
             fingerprint  SHA-256 75967eba3be0c85bb41d85057d9c30d2219b8f5acfa41da4f31332141494fe32\n\
             valid        2020-01-01T00:00:00Z to 2099-12-31T23:59:59Z\n\
             signed at    2027-01-15T08:00:00Z, as the signer says\n\
             content      unchanged, all 100 bytes before the signature"
        );
        assert_eq!(signature.time, time());
        assert!(signature.unknown().contains("self-signed"));
    }

    #[test]
    fn each_changed_byte_is_caught() {
        for mut file in signed_files() {
            for at in 0..file.len() {
                for change in [1, 0x80, 0xff] {
                    file[at] ^= change;
                    assert!(check(&file).is_err(), "byte {at} ^ {change}");
                    file[at] ^= change;
                }
            }
            check(&file).unwrap();
        }
    }

    #[test]
    fn each_truncation_is_caught() {
        for file in signed_files() {
            for length in 0..file.len() {
                assert!(check(&file[..length]).is_err(), "{length} bytes");
                assert!(
                    check(&file[file.len() - length..]).is_err(),
                    "last {length}"
                );
            }
        }
    }

    #[test]
    fn what_is_appended_is_caught() {
        for file in signed_files() {
            let block = file[small_zip().len()..].to_vec();
            for more in [
                &b"\0"[..],
                b"\n",
                b"MCPB_SIG_END",
                &small_zip(),
                &block,
                &file,
            ] {
                let mut longer = file.clone();
                longer.extend(more);
                assert!(check(&longer).is_err());
            }
        }
    }

    /// The block made longer with everything about it put right, so that only the message is not as it was.
    #[test]
    fn padding_in_the_message_is_caught() {
        for file in signed_files() {
            let pkcs7 = Parted::new(&file).unwrap().pkcs7;
            for more in [&b"\0"[..], b"\x05\0"] {
                let longer = [pkcs7, more].concat();
                let mut zip = small_zip();
                reserve(&mut zip, longer.len()).unwrap();
                assert!(check(&append(zip, &longer).unwrap()).is_err());
            }
        }
    }

    #[test]
    fn another_content_under_the_same_block_is_told() {
        let file = TestSigner::rsa().sign(&small_zip());
        let mut other = file.clone();
        other[30] = b'b';
        assert!(matches!(check(&other), Err(VerifyError::ContentChanged)));
        assert!(matches!(
            check(&small_zip()),
            Err(VerifyError::Block(BlockError::Unsigned))
        ));
    }

    /// A certificate with the same names and key, which the signature alone would allow.
    #[test]
    fn another_certificate_of_the_same_key_is_caught() {
        let signer = TestSigner::rsa();
        let file = signer.sign(&small_zip());
        let parted = Parted::new(&file).unwrap();
        let mut message = Signed::from_der(parted.pkcs7).unwrap();
        let mut certificate = message.certificates[0].der().to_vec();
        // The last byte is the certificate's own signature's.
        *certificate.last_mut().unwrap() ^= 1;
        message.certificates[0] = Certificate::from_der(certificate).unwrap();
        let changed = append(parted.content.to_vec(), &message.to_der().unwrap()).unwrap();
        assert!(matches!(check(&changed), Err(VerifyError::Changed)));
    }

    proptest! {
        #[test]
        fn no_bytes_cause_a_panic(bytes: Vec<u8>) {
            prop_assert!(check(&bytes).is_err());
        }

        #[test]
        fn no_message_causes_a_panic(message: Vec<u8>) {
            let mut zip = small_zip();
            reserve(&mut zip, message.len()).unwrap();
            if let Ok(file) = append(zip, &message) {
                prop_assert!(check(&file).is_err());
            }
        }

        #[test]
        fn no_splice_goes_unseen(
            of_rsa: bool,
            at: prop::sample::Index,
            length in 0..40_usize,
            bytes in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut file = signed_files()[usize::from(of_rsa)].clone();
            let before = file.clone();
            let at = at.index(file.len());
            let end = (at + length).min(file.len());
            file.splice(at..end, bytes);
            prop_assert_eq!(check(&file).is_ok(), file == before);
        }

        /// The lengths about the message put right, so that its reader is reached.
        #[test]
        fn no_splice_of_the_message_goes_unseen(
            of_rsa: bool,
            at: prop::sample::Index,
            length in 0..8_usize,
            bytes in prop::collection::vec(any::<u8>(), 0..8),
        ) {
            let file = signed_files()[usize::from(of_rsa)].clone();
            let mut message = Parted::new(&file).unwrap().pkcs7.to_vec();
            let at = at.index(message.len());
            let end = (at + length).min(message.len());
            message.splice(at..end, bytes);
            let mut zip = small_zip();
            reserve(&mut zip, message.len()).unwrap();
            if let Ok(changed) = append(zip, &message) {
                prop_assert_eq!(check(&changed).is_ok(), changed == file);
            }
        }
    }
}
