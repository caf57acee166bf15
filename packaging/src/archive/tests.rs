use std::io::Read;

use super::*;

fn entry(path: &str, data: &[u8]) -> Entry {
    Entry {
        path: path.to_owned(),
        data: data.to_owned(),
        executable: path == "a/run.sh",
    }
}

fn entries() -> Vec<Entry> {
    let text = b"once upon a time ".repeat(500);
    vec![
        entry("z", &text),
        entry("a/run.sh", b"#!/bin/sh\n"),
        entry("b", b""),
    ]
}

#[test]
fn what_is_written_can_be_read_again() {
    let bytes = archive(&entries(), entry_time(Some("1700000000")).unwrap()).unwrap();
    let mut read = ZipArchive::new(Cursor::new(&bytes)).unwrap();
    assert!(read.comment().is_empty());
    let mut found = Vec::new();
    for index in 0..read.len() {
        let mut file = read.by_index(index).unwrap();
        let mut data = Vec::new();
        file.read_to_end(&mut data).unwrap();
        assert_eq!(file.compression(), CompressionMethod::Deflated);
        let time = file.last_modified().unwrap();
        assert_eq!(time.to_string(), "2023-11-14 22:13:20");
        let mode = file.unix_mode().unwrap();
        found.push((file.name().unwrap().into_owned(), mode, data));
    }
    let wanted: Vec<_> = entries()
        .into_iter()
        .map(|entry| {
            (
                entry.path.clone(),
                if entry.executable {
                    0o100_755
                } else {
                    0o100_644
                },
                entry.data,
            )
        })
        .collect();
    assert_eq!(found, wanted);
}

#[test]
fn the_same_entries_give_the_same_bytes() {
    let [first, second] = [(); 2].map(|()| archive(&entries(), DateTime::DEFAULT).unwrap());
    assert!(first == second);
    let later = archive(&entries(), entry_time(Some("1700000000")).unwrap()).unwrap();
    assert!(first != later);
}

#[test]
fn costs_are_told_for_each_file() {
    let bytes = archive(&entries(), DateTime::DEFAULT).unwrap();
    let costs = costs(&bytes).unwrap();
    assert_eq!(costs.len(), 3);
    assert_eq!((costs[0].path.as_str(), costs[0].size), ("z", 8500));
    assert!(costs[0].compressed < 100, "{:?}", costs[0]);
}

#[test]
fn paths_that_some_system_cannot_unpack_are_refused() {
    for path in ["", "/a", "a//b", "../a", "a/./b", "a\\b", "C:a"] {
        let error = archive(&[entry(path, b"")], DateTime::DEFAULT).unwrap_err();
        assert!(matches!(error, ArchiveError::Path(_)), "{path}");
    }
    let twice = [entry("server/a", b""), entry("Server/A", b"")];
    let error = archive(&twice, DateTime::DEFAULT).unwrap_err();
    assert_eq!(error.to_string(), "two files would be unpacked to Server/A");
}

#[test]
fn the_time_is_that_of_source_date_epoch() {
    let time = |epoch| entry_time(epoch).map(|time| time.to_string());
    for early in [None, Some(""), Some("0"), Some("-5"), Some("315532799")] {
        assert_eq!(time(early).unwrap(), "1980-01-01 00:00:00");
    }
    assert_eq!(time(Some("315532802")).unwrap(), "1980-01-01 00:00:02");
    assert!(matches!(time(Some("now")), Err(ArchiveError::Epoch(..))));
    for late in ["4354819200", "99999999999999"] {
        assert!(matches!(time(Some(late)), Err(ArchiveError::Time(_))));
    }
}
