//! Catalogs in files, and settings that name no catalog.

use std::{fs, path::Path, time::Duration};

use serde_json::json;
use tempfile::TempDir;

use crate::{
    catalog_server::CATALOG,
    client::{Start, is_windows_program},
    notice::{ask, assert_live, assert_reason},
};

fn at(place: &str) -> Start {
    Start::new().env("TABLECLOTH_CATALOG_URL", place)
}

#[track_caller]
fn assert_path(path: &Path, reason: &str) {
    assert_reason(&at(path.to_str().unwrap()), reason);
    assert_reason(&at(&address(path)), reason);
}

/// A path as an address, as the program under test sees it.
fn address(path: &Path) -> String {
    let path = path.to_str().unwrap().replace('\\', "/");
    if cfg!(windows) {
        format!("file:///{path}")
    } else if is_windows_program() {
        // Wine shows the whole of the file system there.
        format!("file:///Z:{path}")
    } else {
        format!("file://{path}")
    }
}

#[test]
fn a_file_is_a_catalog() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("Catalog.xml");
    fs::write(&path, CATALOG).unwrap();
    let address = address(&path);
    for place in [
        path.to_str().unwrap().to_owned(),
        address.replacen("//", "//localhost", 1),
        address,
    ] {
        let mut client = at(&place).session();
        assert_live(&ask(&mut client));
        client.assert_alive();
    }
    // From where the server is started, which it may leave.
    let mut client = at("Catalog.xml").folder(folder.path()).session();
    assert_live(&ask(&mut client));
    let through_link = folder.path().join("link.xml");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, &through_link).unwrap();
    #[cfg(not(unix))]
    fs::copy(&path, &through_link).unwrap();
    assert_live(&ask(&mut at(through_link.to_str().unwrap()).session()));
}

#[test]
fn files_that_cannot_be_read() {
    let folder = TempDir::new().unwrap();
    assert_path(&folder.path().join("missing.xml"), "file");
    assert_path(&folder.path().join("missing/한글 폴더/c.xml"), "file");
    assert_path(folder.path(), "file");
}

#[cfg(unix)]
#[test]
fn files_that_are_none() {
    if crate::inapplicable::Inapplicable::UnixFiles.here() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let loops = folder.path().join("loop");
    std::os::unix::fs::symlink(&loops, &loops).unwrap();
    for path in [
        &pipe,
        &loops,
        Path::new("/dev/zero"),
        Path::new("/dev/null"),
        Path::new("/dev/stdin"),
    ] {
        assert_path(path, "file");
    }
}

#[test]
fn files_with_something_else_in_them() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("c.xml");
    for (content, reason) in [
        ("", "notCatalog"),
        ("\u{feff}", "notCatalog"),
        ("<html>", "notCatalog"),
        ("<TableClothCatalog>", "malformed"),
        ("<TableClothCatalog/>", "malformed"),
    ] {
        fs::write(&path, content).unwrap();
        assert_path(&path, reason);
    }
    fs::File::create(&path).unwrap().set_len(1 << 34).unwrap();
    assert_path(&path, "tooLarge");
}

#[test]
fn addresses_that_are_not_used() {
    for address in [
        "http://example.com/Catalog.xml",
        "http://169.254.169.254/latest/meta-data",
        "http://localhost.example.com/c.xml",
        "http://127.0.0.1.example.com/c.xml",
        "http://127.0.0.1@example.com/c.xml",
        "http://0.0.0.0/c.xml",
        "ftp://localhost/c.xml",
        "javascript://localhost/",
        "https://",
        "https://:443/",
        "https://exa mple.com/",
        "://",
    ] {
        let notice = assert_reason(&at(address), "address");
        assert!(notice.contains(address), "{notice}");
    }
}

#[test]
fn a_file_is_read_anew_after_a_pause() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("c.xml");
    let mut client = at(path.to_str().unwrap()).session();
    assert!(ask(&mut client).get("catalogNotice").is_some());
    fs::write(&path, CATALOG).unwrap();
    std::thread::sleep(Duration::from_millis(5200));
    assert_live(&client.call("list_categories", &json!({})));
}
