//! A zip archive whose bytes depend on its entries and their time alone.

use std::{
    collections::BTreeSet,
    io::{Cursor, Write},
    num::ParseIntError,
    thread,
};

use time::{OffsetDateTime, PrimitiveDateTime};
use zip::{
    CompressionMethod, DateTime, ZipArchive, ZipWriter,
    result::ZipError,
    write::{PreparedZipFile, SimpleFileOptions, ZipFileBuilder},
};

/// Zopfli with 5 rounds, after the levels of zlib, the highest of which makes programs almost 3 % larger.
/// 15 rounds take twice as long and save one byte in 15,000.
const LEVEL: i64 = 9 + 5;

/// A file of an archive.
pub(crate) struct Entry {
    /// Its path, with `/` between folders.
    pub(crate) path: String,
    /// What is in it.
    pub(crate) data: Vec<u8>,
    /// Whether it can be started: mode 0755, else 0644.
    pub(crate) executable: bool,
}

/// How large a file of an archive is, in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Its path.
    pub(crate) path: String,
    /// Its size when unpacked.
    pub(crate) size: u64,
    /// Its share of the archive, without headers.
    pub(crate) compressed: u64,
}

/// Why an archive cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    /// A path that two entries have, or that differs in case alone: macOS and Windows
    /// would unpack one over the other.
    #[error("two files would be unpacked to {0}")]
    Duplicate(String),
    /// A path that leads out of the archive or that some system cannot have.
    #[error("'{0}' cannot be the path of a file in an archive")]
    Path(String),
    /// `SOURCE_DATE_EPOCH` is no number.
    #[error("SOURCE_DATE_EPOCH is '{0}', and seconds since 1970 are needed")]
    Epoch(String, #[source] ParseIntError),
    /// A time that zip archives cannot hold.
    #[error("SOURCE_DATE_EPOCH is {0}, and a time before the year 2108 is needed")]
    Time(i64),
    /// A fault of the zip library.
    #[error("zip archive")]
    Zip(#[from] ZipError),
    /// Bytes that could not be compressed.
    #[error("zip archive")]
    Write(#[from] std::io::Error),
}

/// The time of all entries: that of `SOURCE_DATE_EPOCH` (seconds since 1970) in UTC, or the
/// earliest that zip archives can hold, 1980, where it is unset or before that.
pub(crate) fn entry_time(source_date_epoch: Option<&str>) -> Result<DateTime, ArchiveError> {
    let Some(text) = source_date_epoch.filter(|text| !text.is_empty()) else {
        return Ok(DateTime::DEFAULT);
    };
    let seconds: i64 = text
        .parse()
        .map_err(|error| ArchiveError::Epoch(text.to_owned(), error))?;
    let time =
        OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| ArchiveError::Time(seconds))?;
    if time.year() < 1980 {
        return Ok(DateTime::DEFAULT);
    }
    DateTime::try_from(PrimitiveDateTime::new(time.date(), time.time()))
        .map_err(|_| ArchiveError::Time(seconds))
}

/// The archive of these entries, in their order.
pub(crate) fn archive(entries: &[Entry], time: DateTime) -> Result<Vec<u8>, ArchiveError> {
    let mut paths = BTreeSet::new();
    for Entry { path, .. } in entries {
        let strange = |part: &str| part.is_empty() || part == "." || part == "..";
        if path.contains(['\\', ':', '\0']) || path.split('/').any(strange) {
            return Err(ArchiveError::Path(path.clone()));
        }
        if !paths.insert(path.to_lowercase()) {
            return Err(ArchiveError::Duplicate(path.clone()));
        }
    }
    let prepared: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = entries
            .iter()
            .map(|entry| scope.spawn(move || compress(entry, time)))
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for file in prepared {
        writer.add_prepared_file(file?)?;
    }
    Ok(writer.finish()?.into_inner())
}

fn compress(entry: &Entry, time: DateTime) -> Result<PreparedZipFile, ArchiveError> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(LEVEL))
        // In one piece: what is written in pieces is compressed in pieces.
        .with_zopfli_buffer(None)
        .last_modified_time(time)
        .unix_permissions(if entry.executable { 0o755 } else { 0o644 });
    let mut builder = ZipFileBuilder::new(&entry.path, options)?;
    builder.write_all(&entry.data)?;
    Ok(builder.finish()?)
}

/// What each file of an archive costs, in its order.
pub(crate) fn costs(archive: &[u8]) -> Result<Vec<Cost>, ArchiveError> {
    let mut archive = ZipArchive::new(Cursor::new(archive))?;
    (0..archive.len())
        .map(|index| {
            let file = archive.by_index_raw(index)?;
            Ok(Cost {
                path: file.name()?.into_owned(),
                size: file.size(),
                compressed: file.compressed_size(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests;
