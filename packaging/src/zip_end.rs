//! The end of a zip file: its end-of-central-directory record and that record's comment length.

use thiserror::Error;

/// What makes a zip one that cannot be signed.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum ZipError {
    #[error("not a zip file: it has no end-of-central-directory record")]
    NotZip,
    #[error(
        "bytes follow the zip's end, {0} in number: a comment or something appended; make the bundle without"
    )]
    Trailing(usize),
    #[error(
        "a zip64 file, which older readers refuse; a bundle needs less than 4 GiB and 65535 files"
    )]
    Zip64,
    #[error("a part of a zip in several volumes; make one file of it")]
    Volumes,
    #[error("the zip's directory does not end where its end record says; make the bundle anew")]
    Misplaced,
}

/// Length in bytes of an end record, its comment not counted (APPNOTE 4.3.16).
pub(crate) const RECORD: usize = 22;
/// First bytes of an end record. Readers look for them from the file's end.
pub(crate) const SIGNATURE: [u8; 4] = *b"PK\x05\x06";
/// First bytes of the locator that stands before the end record of a zip64 file, and its length (APPNOTE 4.3.15).
const ZIP64_LOCATOR: ([u8; 4], usize) = (*b"PK\x06\x07", 20);

/// The comment length in the end record with which `zip` ends; the comment itself is not part of `zip`.
pub(crate) fn comment_length(zip: &[u8]) -> Result<u16, ZipError> {
    let record = zip
        .last_chunk::<RECORD>()
        .filter(|record| record.starts_with(&SIGNATURE))
        .ok_or_else(|| trailing(zip))?;
    let short = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
    let long = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
    let before = &zip[..zip.len() - RECORD];

    let [disk, directory_disk, entries_here, entries] = [4, 6, 8, 10].map(short);
    let [size, offset] = [12, 16].map(long);
    let (locator, length) = ZIP64_LOCATOR;
    let has_locator = before
        .len()
        .checked_sub(length)
        .is_some_and(|at| before[at..].starts_with(&locator));
    if has_locator || entries == u16::MAX || size == u32::MAX || offset == u32::MAX {
        return Err(ZipError::Zip64);
    }
    if disk != 0 || directory_disk != 0 || entries_here != entries {
        return Err(ZipError::Volumes);
    }
    if u64::from(size) + u64::from(offset) != before.len() as u64 {
        return Err(ZipError::Misplaced);
    }
    Ok(short(20))
}

/// Writes the comment length into the end record with which `zip` ends.
pub(crate) fn set_comment_length(zip: &mut [u8], length: u16) {
    if let Some(field) = zip.last_chunk_mut() {
        *field = length.to_le_bytes();
    }
}

/// Why a file does not end with an end record.
fn trailing(file: &[u8]) -> ZipError {
    let reach = file.len().saturating_sub(RECORD + usize::from(u16::MAX));
    match file[reach..]
        .windows(RECORD)
        .rposition(|record| record.starts_with(&SIGNATURE))
    {
        Some(at) => ZipError::Trailing(file.len() - (reach + at) - RECORD),
        None => ZipError::NotZip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_signer::small_zip;

    /// The small zip, with bytes of its end record replaced.
    fn with(at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut zip = small_zip();
        let at = zip.len() - RECORD + at;
        zip[at..at + bytes.len()].copy_from_slice(bytes);
        zip
    }

    #[test]
    fn the_comment_length_is_read_and_set() {
        let mut zip = small_zip();
        assert_eq!(comment_length(&zip), Ok(0));
        set_comment_length(&mut zip, 0x1234);
        assert_eq!(comment_length(&zip), Ok(0x1234));
        assert!(zip.ends_with(&[0x34, 0x12]));
    }

    #[test]
    fn other_files_are_no_zips() {
        for file in [&b""[..], b"PK\x05\x06", &[0; 22], &vec![7; 100_000]] {
            assert_eq!(comment_length(file), Err(ZipError::NotZip));
        }
        assert_eq!(
            comment_length(&small_zip()[..50]),
            Err(ZipError::NotZip),
            "cut off"
        );
    }

    #[test]
    fn what_follows_the_end_is_counted() {
        let mut zip = with(20, &[5, 0]);
        zip.extend(b"hello");
        assert_eq!(comment_length(&zip), Err(ZipError::Trailing(5)));
    }

    #[test]
    fn zip64_is_told() {
        for zip in [
            with(8, &[0xff; 4]),
            with(12, &[0xff; 4]),
            with(16, &[0xff; 4]),
        ] {
            assert_eq!(comment_length(&zip), Err(ZipError::Zip64));
        }
        let mut zip = small_zip();
        let end = zip.split_off(zip.len() - RECORD);
        zip.extend(b"PK\x06\x07");
        zip.extend([0; 16]);
        zip.extend(end);
        assert_eq!(comment_length(&zip), Err(ZipError::Zip64));
    }

    #[test]
    fn a_directory_elsewhere_is_told() {
        assert_eq!(comment_length(&with(4, &[1, 0])), Err(ZipError::Volumes));
        assert_eq!(comment_length(&with(8, &[2, 0])), Err(ZipError::Volumes));
        assert_eq!(comment_length(&with(12, &[1])), Err(ZipError::Misplaced));
        let mut prefixed = b"#!/bin/sh\n".to_vec();
        prefixed.extend(small_zip());
        assert_eq!(comment_length(&prefixed), Err(ZipError::Misplaced));
    }
}
