//! The stand-in writes down what other tests rely on. Also makes cargo build it for them.
#![allow(clippy::unwrap_used, reason = "all of it is test code")]

use std::{fs, process::Command};

use serde_json::{Value, json};

#[test]
fn it_writes_down_how_it_was_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("파일 1.wsb");
    fs::write(&file, "content").unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_stand-in"))
        .arg(&file)
        .env("STAND_IN_RECORD", folder.path())
        .env("STAND_IN_CODE", "3")
        .current_dir(folder.path())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(3));
    let record = fs::read(folder.path().join("record.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(record["arguments"], json!([file]));
    assert_eq!(record["content"], "content");
    assert_eq!(record["environment"]["STAND_IN_CODE"], "3");
    assert!(record["handles"]["pipes"].is_array());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}
