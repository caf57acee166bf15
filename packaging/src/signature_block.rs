//! The block that carries a bundle's signature: marker, length, PKCS#7, marker.
//!
//! The layout is that of the official tool (npm `@anthropic-ai/mcpb` 2.1.2, `dist/node/sign.js`). It appends the block after
//! the zip's end and leaves the comment length there at 0, which strict zip readers refuse. Here the block is the zip's
//! comment: the length is set before the signature is made, so the bytes signed are those before the block, as they stand.

use thiserror::Error;

use crate::zip_end::{self, ZipError};

/// Why a file is not one that ends with a signature block.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum BlockError {
    #[error("not signed: the file does not end with a signature block")]
    Unsigned,
    #[error("bytes follow the signature block, {0} in number; they were not signed")]
    Appended(usize),
    #[error("the signature block is damaged: {0}")]
    Damaged(&'static str),
    #[error(
        "the zip's comment length is {recorded}, but the signature block after it has {actual} bytes; \
         either it was changed, or the tool that signed did not reserve the length"
    )]
    CommentLength { recorded: u16, actual: usize },
    #[error(transparent)]
    Zip(#[from] ZipError),
    #[error(
        "the signature would take {0} bytes, but a zip's comment has 65535 at most; leave out certificates"
    )]
    TooLong(usize),
    #[error(
        "the signature would hold bytes that mark a zip's end or a signature block; use another certificate"
    )]
    Ambiguous,
}

const HEADER: &[u8] = b"MCPB_SIG_V1";
const FOOTER: &[u8] = b"MCPB_SIG_END";
/// Bytes of a block beside its PKCS#7: the markers and a 32-bit little-endian length.
const FRAME: usize = HEADER.len() + size_of::<u32>() + FOOTER.len();

/// A file parted at its signature block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parted<'a> {
    /// The zip, with the comment length as it stands in the file.
    pub(crate) content: &'a [u8],
    /// The PKCS#7 in the block.
    pub(crate) pkcs7: &'a [u8],
    /// The zip's comment length, in bytes.
    recorded: u16,
}

impl<'a> Parted<'a> {
    /// Parts a file of which the block is the last thing, whether or not the comment length was reserved for it.
    fn lenient(file: &'a [u8]) -> Result<Self, BlockError> {
        let Some(body) = file.strip_suffix(FOOTER) else {
            return Err(match (last(file, FOOTER), last(file, HEADER)) {
                (Some(at), _) => BlockError::Appended(file.len() - at - FOOTER.len()),
                (None, Some(_)) => {
                    BlockError::Damaged("it is cut off, or its end marker was changed")
                }
                (None, None) => BlockError::Unsigned,
            });
        };
        // The official tool takes the last header, too.
        let at = last(body, HEADER).ok_or(BlockError::Damaged("its start marker is missing"))?;
        let (length, pkcs7) = body[at + HEADER.len()..]
            .split_first_chunk()
            .ok_or(BlockError::Damaged("its length is missing"))?;
        if usize::try_from(u32::from_le_bytes(*length)) != Ok(pkcs7.len()) {
            return Err(BlockError::Damaged(
                "its length is not that of the signature",
            ));
        }
        let content = &file[..at];
        let recorded = zip_end::comment_length(content)?;
        Ok(Self {
            content,
            pkcs7,
            recorded,
        })
    }

    /// Parts a signed file. The block must be the last thing in it, and the zip's comment.
    pub(crate) fn new(file: &'a [u8]) -> Result<Self, BlockError> {
        let parted = Self::lenient(file)?;
        parted.check_length()?;
        Ok(parted)
    }

    /// Whether the zip's comment length is that of the block.
    fn check_length(&self) -> Result<(), BlockError> {
        let (recorded, actual) = (self.recorded, self.pkcs7.len() + FRAME);
        if usize::from(recorded) != actual {
            return Err(BlockError::CommentLength { recorded, actual });
        }
        Ok(())
    }
}

/// The zip without signature and comment length. A block of the official tool, which records no length, is taken off as well.
pub(crate) fn unsigned(file: &[u8]) -> Result<Vec<u8>, BlockError> {
    let mut zip = match Parted::lenient(file) {
        Ok(parted) => {
            if parted.recorded != 0 {
                parted.check_length()?;
            }
            parted.content.to_vec()
        }
        Err(BlockError::Unsigned) => {
            let recorded = zip_end::comment_length(file)?;
            if recorded != 0 {
                return Err(BlockError::Damaged("the zip's comment is missing"));
            }
            file.to_vec()
        }
        Err(error) => return Err(error),
    };
    zip_end::set_comment_length(&mut zip, 0);
    Ok(zip)
}

/// Sets the zip's comment length to that of a block that holds `pkcs7_length` bytes.
pub(crate) fn reserve(zip: &mut [u8], pkcs7_length: usize) -> Result<(), BlockError> {
    let length = pkcs7_length + FRAME;
    let length = u16::try_from(length).map_err(|_| BlockError::TooLong(length))?;
    zip_end::set_comment_length(zip, length);
    Ok(())
}

/// The signed file: the zip, its comment length reserved, and the block.
pub(crate) fn append(mut zip: Vec<u8>, pkcs7: &[u8]) -> Result<Vec<u8>, BlockError> {
    // A reader that looks for the zip's end from behind, or for the block, would find the wrong place.
    if [&zip_end::SIGNATURE[..], HEADER, FOOTER]
        .iter()
        .any(|marker| last(pkcs7, marker).is_some())
    {
        return Err(BlockError::Ambiguous);
    }
    let length = u32::try_from(pkcs7.len()).map_err(|_| BlockError::TooLong(pkcs7.len()))?;
    zip.extend_from_slice(HEADER);
    zip.extend_from_slice(&length.to_le_bytes());
    zip.extend_from_slice(pkcs7);
    zip.extend_from_slice(FOOTER);
    // Parted again so that what is written is what `verify` takes.
    Parted::new(&zip)?;
    Ok(zip)
}

/// Where `marker` occurs last.
fn last(bytes: &[u8], marker: &[u8]) -> Option<usize> {
    bytes
        .windows(marker.len())
        .rposition(|window| window == marker)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_signer::small_zip;

    fn signed(pkcs7: &[u8]) -> Vec<u8> {
        let mut zip = small_zip();
        reserve(&mut zip, pkcs7.len()).unwrap();
        append(zip, pkcs7).unwrap()
    }

    #[test]
    fn the_block_is_laid_out_as_the_official_tool_does() {
        let file = signed(b"abc");
        let block = b"MCPB_SIG_V1\x03\0\0\0abcMCPB_SIG_END";
        assert!(file.ends_with(block));
        let zip = &file[..file.len() - block.len()];
        assert_eq!(zip[..zip.len() - 2], small_zip()[..zip.len() - 2]);
        assert_eq!(zip_end::comment_length(zip), Ok(30));
        let parted = Parted::new(&file).unwrap();
        assert_eq!((parted.content, parted.pkcs7), (zip, &b"abc"[..]));
    }

    #[test]
    fn a_block_that_the_zip_does_not_count_is_told() {
        let zip = small_zip();
        let block = signed(b"abc").split_off(zip.len());
        let mut official = zip.clone();
        official.extend(&block);
        assert_eq!(
            Parted::new(&official),
            Err(BlockError::CommentLength {
                recorded: 0,
                actual: 30
            })
        );
        assert_eq!(unsigned(&official), Ok(zip));
    }

    #[test]
    fn without_its_block_a_zip_is_as_before() {
        assert_eq!(unsigned(&small_zip()), Ok(small_zip()));
        assert_eq!(unsigned(&signed(b"abc")), Ok(small_zip()));
    }

    #[test]
    fn damage_is_named() {
        let file = signed(b"abc");
        let damaged = |file: &[u8]| matches!(Parted::new(file), Err(BlockError::Damaged(_)));
        assert_eq!(Parted::new(&small_zip()), Err(BlockError::Unsigned));
        assert!(damaged(&file[..file.len() - 1]));
        let mut appended = file.clone();
        appended.extend(b"12");
        assert_eq!(Parted::new(&appended), Err(BlockError::Appended(2)));
        assert!(damaged(b"MCPB_SIG_END"));
        assert!(damaged(b"MCPB_SIG_V1MCPB_SIG_END"));
        assert!(damaged(b"MCPB_SIG_V1\x01\0\0\0MCPB_SIG_END"));
        assert_eq!(
            Parted::new(b"MCPB_SIG_V1\0\0\0\0MCPB_SIG_END"),
            Err(BlockError::Zip(ZipError::NotZip))
        );
        for bad in [&appended[..], &file[..file.len() - 1]] {
            assert!(unsigned(bad).is_err());
        }
    }

    #[test]
    fn a_zip_with_a_comment_of_its_own_is_refused() {
        let mut zip = small_zip();
        zip_end::set_comment_length(&mut zip, 2);
        assert!(matches!(unsigned(&zip), Err(BlockError::Damaged(_))));
        zip.extend(b"hi");
        assert_eq!(unsigned(&zip), Err(BlockError::Zip(ZipError::Trailing(2))));
        let block = signed(b"abc").split_off(small_zip().len());
        zip.extend(block);
        assert_eq!(unsigned(&zip), Err(BlockError::Zip(ZipError::Trailing(2))));
    }

    #[test]
    fn what_would_mislead_a_reader_is_refused() {
        for marker in [&b"PK\x05\x06"[..], HEADER, FOOTER] {
            let mut zip = small_zip();
            reserve(&mut zip, marker.len()).unwrap();
            assert_eq!(append(zip, marker), Err(BlockError::Ambiguous));
        }
    }

    #[test]
    fn a_block_fits_in_a_comment() {
        let mut zip = small_zip();
        assert_eq!(reserve(&mut zip, 65535 - FRAME), Ok(()));
        assert_eq!(
            reserve(&mut zip, 65536 - FRAME),
            Err(BlockError::TooLong(65536))
        );
    }

    proptest! {
        #[test]
        fn no_bytes_cause_a_panic(head: Vec<u8>, body: Vec<u8>, zip: bool) {
            let mut file = head;
            if zip {
                file.extend(small_zip());
            }
            file.extend(HEADER);
            file.extend(body);
            let _ = (Parted::new(&file), unsigned(&file));
            file.extend(FOOTER);
            let _ = (Parted::new(&file), unsigned(&file));
        }
    }
}
