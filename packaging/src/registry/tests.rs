use zip::DateTime;

use super::*;
use crate::archive::{Entry, archive};

fn bundle(version: &str) -> Vec<u8> {
    let manifest = Entry {
        path: "manifest.json".to_owned(),
        data: format!(r#"{{"version": "{version}"}}"#).into_bytes(),
        executable: false,
    };
    archive(&[manifest], DateTime::DEFAULT).unwrap()
}

/// Runs the command and reads what it wrote.
fn written(bundle: &[u8], url: &str) -> Result<String, RegistryError> {
    let folder = tempfile::tempdir().unwrap();
    let [mcpb, out] = ["a.mcpb", "server.json"].map(|name| folder.path().join(name));
    fs::write(&mcpb, bundle).unwrap();
    let command = Registry {
        mcpb,
        url: url.to_owned(),
        out: out.clone(),
    };
    command.run()?;
    Ok(fs::read_to_string(out).unwrap())
}

#[test]
fn the_file_is_as_the_registry_wants_it() {
    let url = project::release_url("tablecloth-mcp.mcpb");
    let bundle = bundle(VERSION);
    let wanted = include_str!("expected.json")
        .replace("<version>", VERSION)
        .replace("<sha256>", &sha256(&bundle));
    assert_eq!(written(&bundle, &url).unwrap(), wanted);
    // What the schema limits.
    assert!(DESCRIPTION.len() <= 100);
}

#[test]
fn the_address_is_that_of_this_version() {
    let bundle = bundle(VERSION);
    let latest = format!("{REPOSITORY}/releases/latest/download/tablecloth-mcp.mcpb");
    for url in [
        "",
        &latest,
        &project::release_url(""),
        &project::release_url(".mcpb"),
        &project::release_url("a/b.mcpb"),
        &project::release_url("tablecloth-mcp.zip"),
        &project::release_url("a.mcpb").replace("https", "http"),
    ] {
        let error = written(&bundle, url).unwrap_err();
        assert!(matches!(error, RegistryError::Url(_)), "{url}");
    }
}

#[test]
fn other_files_are_refused() {
    let url = project::release_url("tablecloth-mcp.mcpb");
    let error = written(&bundle("0.0.0"), &url).unwrap_err();
    assert!(matches!(error, RegistryError::Version(version) if version == "0.0.0"));
    let error = written(b"PK", &url).unwrap_err();
    assert!(matches!(error, RegistryError::NotBundle(..)));
    let empty = archive(&[], DateTime::DEFAULT).unwrap();
    let error = written(&empty, &url).unwrap_err();
    assert!(matches!(error, RegistryError::NotBundle(..)));
}
