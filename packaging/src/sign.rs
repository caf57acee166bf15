//! The `sign` command.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use der::DateTime;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::{
    certificate::{Certificate, CertificateError},
    signature_block::{self, BlockError},
    signed_data::{Attributes, Signed},
    signing_key::{SigningKey, SigningKeyError},
    signing_time::{SigningTimeError, signing_time},
    verify::{VerifyError, check},
};

/// Signs a bundle, in place; an older signature is replaced.
///
/// The signature names `SOURCE_DATE_EPOCH` as its time when that is set, else the present. The certificate must be valid then.
#[derive(clap::Args)]
pub(crate) struct Sign {
    /// The bundle.
    file: PathBuf,
    /// The signer's certificate in PEM; further ones in the file are taken as its chain.
    #[arg(long)]
    cert: PathBuf,
    /// The certificate's private key in PEM, RSA or P-256, not encrypted.
    #[arg(long)]
    key: PathBuf,
    /// The certificates in PEM that lead from the signer's to a root.
    #[arg(long)]
    chain: Option<PathBuf>,
}

/// Why a bundle was not signed.
#[derive(Debug, Error)]
pub(crate) enum SignError {
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{}", path.display())]
    CertificateFile {
        path: PathBuf,
        source: CertificateError,
    },
    #[error("{}", path.display())]
    KeyFile {
        path: PathBuf,
        source: SigningKeyError,
    },
    #[error("{}", path.display())]
    File {
        path: PathBuf,
        source: Box<NotSigned>,
    },
    #[error(transparent)]
    Time(#[from] SigningTimeError),
}

/// Why a zip cannot be signed with a key and certificates.
#[derive(Debug, Error)]
pub(crate) enum NotSigned {
    #[error("cannot be signed as it is; start from the bundle that `bundle` writes")]
    Block(#[from] BlockError),
    #[error("the certificate cannot sign it")]
    Certificate(#[from] CertificateError),
    #[error("the private key is not that of the certificate, which is {subject}'s")]
    Mismatch { subject: String },
    #[error(transparent)]
    Key(#[from] SigningKeyError),
    #[error("cannot write the signature")]
    Encode(#[from] der::Error),
    #[error("the signature made does not hold")]
    Verify(#[from] VerifyError),
}

impl Sign {
    /// Runs the command.
    #[expect(clippy::print_stdout, reason = "a program for the command line")]
    pub(crate) fn run(self) -> Result<(), SignError> {
        let time = signing_time()?;
        let mut certificates = read_certificates(&self.cert)?;
        if let Some(chain) = &self.chain {
            certificates.extend(read_certificates(chain)?);
        }
        let key = SigningKey::from_pem(&Zeroizing::new(read(&self.key)?)).map_err(|source| {
            SignError::KeyFile {
                path: self.key,
                source,
            }
        })?;
        let signed = sign(&read(&self.file)?, certificates, &key, time).map_err(|source| {
            SignError::File {
                path: self.file.clone(),
                source: Box::new(source),
            }
        })?;
        replace(&self.file, &signed).map_err(|source| SignError::Write {
            path: self.file.clone(),
            source,
        })?;
        println!("{}: signed, {time}", self.file.display());
        Ok(())
    }
}

/// The signed form of a zip, signed or not.
pub(crate) fn sign(
    file: &[u8],
    certificates: Vec<Certificate>,
    key: &SigningKey,
    time: DateTime,
) -> Result<Vec<u8>, NotSigned> {
    let zip = signature_block::unsigned(file)?;
    let (signer, others) = certificates.split_first().ok_or(CertificateError::None)?;
    signer.check_signer(time)?;
    for other in others {
        other.check_authority(time)?;
    }
    if !key.fits(&signer.public_key()) {
        return Err(NotSigned::Mismatch {
            subject: signer.subject(),
        });
    }
    let file = seal(zip, certificates, key, time)?;
    // Nothing is handed out that does not hold.
    check(&file)?;
    Ok(file)
}

/// Signs a zip without comment, whatever the certificates say.
fn seal(
    mut zip: Vec<u8>,
    certificates: Vec<Certificate>,
    key: &SigningKey,
    time: DateTime,
) -> Result<Vec<u8>, NotSigned> {
    // Everything but the digests and the signature stands, and these have fixed lengths: so has the block.
    let mut message = Signed {
        attributes: Attributes::new(&zip, time, &certificates)?,
        signature: vec![0; key.signature_length()],
        certificates,
    };
    signature_block::reserve(&mut zip, message.to_der()?.len())?;
    message.attributes = Attributes::new(&zip, time, &message.certificates)?;
    message.signature = key.sign(&message.attributes.signed_bytes()?)?;
    Ok(signature_block::append(zip, &message.to_der()?)?)
}

fn read(path: &Path) -> Result<Vec<u8>, SignError> {
    fs::read(path).map_err(|source| SignError::Read {
        path: path.to_owned(),
        source,
    })
}

fn read_certificates(path: &Path) -> Result<Vec<Certificate>, SignError> {
    Certificate::from_pem(&read(path)?).map_err(|source| SignError::CertificateFile {
        path: path.to_owned(),
        source,
    })
}

/// Puts `bytes` in the place of a file at once, so that no half-written one is left; its permissions stay.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file()
        .set_permissions(fs::metadata(&path)?.permissions())?;
    file.persist(&path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ring::digest::{SHA256, digest};

    use super::*;
    use crate::{
        signature_block::Parted,
        test_signer::{TestSigner, small_zip, time},
    };

    fn hash(bytes: &[u8]) -> String {
        use std::fmt::Write as _;
        digest(&SHA256, bytes)
            .as_ref()
            .iter()
            .fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").unwrap();
                hex
            })
    }

    #[test]
    fn bytes_depend_on_the_inputs_alone() {
        assert_eq!(
            [TestSigner::rsa(), TestSigner::p256()].map(|signer| hash(&signer.sign(&small_zip()))),
            [
                "8d91d3169a5d9759a8c115e94ca52138d3412f9af6ba565c701659d47afbc23f",
                "651301fc902c216fd0c630be61f71bd05d330612c043aae429c6805573e21c98",
            ]
        );
    }

    #[test]
    fn the_comment_length_is_that_of_the_block() {
        for signer in [TestSigner::rsa(), TestSigner::p256()] {
            let file = signer.sign(&small_zip());
            let zip = Parted::new(&file).unwrap().content;
            let [low, high] = *zip.last_chunk().unwrap();
            assert_eq!(
                usize::from(u16::from_le_bytes([low, high])),
                file.len() - small_zip().len()
            );
            assert_eq!(zip.len(), small_zip().len());
        }
    }

    #[test]
    fn a_signature_is_replaced() {
        let (rsa, p256) = (TestSigner::rsa(), TestSigner::p256());
        let once = rsa.sign(&small_zip());
        assert_eq!(rsa.sign(&once), once);
        assert_eq!(p256.sign(&once), p256.sign(&small_zip()));
        assert_eq!(rsa.sign(&p256.sign(&once)), once);
    }

    /// The official tool's signature, after which the comment length is still 0.
    #[test]
    fn an_official_signature_is_replaced() {
        let signer = TestSigner::p256();
        let ours = signer.sign(&small_zip());
        let mut official = small_zip();
        official.extend(&ours[small_zip().len()..]);
        assert_eq!(signer.sign(&official), ours);
    }

    #[test]
    fn a_zip_that_was_changed_after_signing_is_refused() {
        let signer = TestSigner::p256();
        let mut file = signer.sign(&small_zip());
        file.push(0);
        assert!(matches!(
            sign(&file, signer.certificates, &signer.key, time()),
            Err(NotSigned::Block(BlockError::Appended(1)))
        ));
    }

    #[test]
    fn the_key_must_be_the_certificates() {
        let (rsa, p256) = (TestSigner::rsa(), TestSigner::p256());
        for (certificates, key) in [(rsa.certificates, p256.key), (p256.certificates, rsa.key)] {
            assert!(matches!(
                sign(&small_zip(), certificates, &key, time()),
                Err(NotSigned::Mismatch { .. })
            ));
        }
    }

    #[test]
    fn the_certificate_must_be_valid() {
        let signer = TestSigner::rsa();
        for seconds in [1_577_836_799, 4_102_444_800] {
            let time = DateTime::from_unix_duration(Duration::from_secs(seconds)).unwrap();
            assert!(matches!(
                sign(&small_zip(), signer.certificates.clone(), &signer.key, time),
                Err(NotSigned::Certificate(CertificateError::NotValid { .. }))
            ));
            let sealed = seal(small_zip(), signer.certificates.clone(), &signer.key, time).unwrap();
            assert!(matches!(
                check(&sealed),
                Err(VerifyError::Certificate(CertificateError::NotValid { .. }))
            ));
        }
        for seconds in [1_577_836_800, 4_102_444_799] {
            let time = DateTime::from_unix_duration(Duration::from_secs(seconds)).unwrap();
            sign(&small_zip(), signer.certificates.clone(), &signer.key, time).unwrap();
        }
    }

    #[test]
    fn a_chain_has_authorities_only() {
        let (rsa, p256) = (TestSigner::rsa(), TestSigner::p256());
        let certificates = [rsa.certificates, p256.certificates].concat();
        assert!(matches!(
            sign(&small_zip(), certificates, &rsa.key, time()),
            Err(NotSigned::Certificate(CertificateError::Purpose { .. }))
        ));
    }
}
