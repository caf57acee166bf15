//! `sign` and `verify` as they are run.
#![allow(
    clippy::unwrap_used,
    reason = "all of it is test code; clippy sees that only inside the test functions"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

fn key(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/keys")
        .join(name)
}

/// An empty zip in a folder of its own.
struct Bundle {
    _folder: TempDir,
    file: PathBuf,
}

impl Bundle {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("a.mcpb");
        let mut zip = b"PK\x05\x06".to_vec();
        zip.resize(22, 0);
        fs::write(&file, zip).unwrap();
        Self {
            _folder: folder,
            file,
        }
    }

    fn run(&self, command: &str, options: &[(&str, &str)]) -> Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_packaging"));
        program.arg(command).arg(&self.file);
        for (option, name) in options {
            program.arg(option).arg(key(name));
        }
        program
            .env("SOURCE_DATE_EPOCH", "1800000000")
            .output()
            .unwrap()
    }

    fn sign(&self, kind: &str) -> Output {
        let (cert, key) = (format!("{kind}.cert.pem"), format!("{kind}.key.pem"));
        self.run("sign", &[("--cert", &cert), ("--key", &key)])
    }
}

/// What a run printed when it succeeded.
fn told(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What a run said when it failed.
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_signed_bundle_holds() {
    for kind in ["rsa", "p256"] {
        let bundle = Bundle::new();
        told(&bundle.sign(kind));
        let once = fs::read(&bundle.file).unwrap();
        told(&bundle.sign(kind));
        assert_eq!(fs::read(&bundle.file).unwrap(), once);

        let report = told(&bundle.run("verify", &[]));
        assert!(
            report.contains("signed at    2027-01-15T08:00:00Z"),
            "{report}"
        );
        assert!(
            report.contains("trust        none: self-signed"),
            "{report}"
        );
        let own = format!("{kind}.cert.pem");
        let report = told(&bundle.run("verify", &[("--ca", &own)]));
        assert!(report.contains("leads to a root of --ca"), "{report}");
        let other = if kind == "rsa" { "p256" } else { "rsa" };
        let report = refused(&bundle.run("verify", &[("--ca", &format!("{other}.cert.pem"))]));
        assert!(report.contains("not trusted"), "{report}");
    }
}

#[test]
fn a_bundle_that_does_not_hold_fails() {
    let bundle = Bundle::new();
    let report = refused(&bundle.run("verify", &[]));
    assert!(report.contains("not signed"), "{report}");
    told(&bundle.sign("rsa"));
    let mut file = fs::read(&bundle.file).unwrap();
    file.push(b'\n');
    fs::write(&bundle.file, &file).unwrap();
    let report = refused(&bundle.run("verify", &[]));
    assert!(
        report.contains("bytes follow the signature block, 1 in"),
        "{report}"
    );
    fs::remove_file(&bundle.file).unwrap();
    let report = refused(&bundle.run("verify", &[]));
    assert!(report.contains("cannot read"), "{report}");
}

#[test]
fn a_refusal_leaves_the_file_alone() {
    let bundle = Bundle::new();
    let before = fs::read(&bundle.file).unwrap();
    let cert = ("--cert", "p256.cert.pem");
    for (key, reason) in [
        ("p256.encrypted.key.pem", "openssl pkey"),
        ("p384.key.pem", "unsupported kind"),
        ("rsa.key.pem", "not that of the certificate"),
        ("rsa.cert.pem", "no private key"),
        ("none.pem", "cannot read"),
    ] {
        let report = refused(&bundle.run("sign", &[cert, ("--key", key)]));
        assert!(report.contains(reason), "{report}");
        assert_eq!(fs::read(&bundle.file).unwrap(), before);
    }
    fs::write(&bundle.file, "text").unwrap();
    let report = refused(&bundle.sign("p256"));
    assert!(report.contains("not a zip file"), "{report}");
}

#[test]
fn the_time_must_be_one() {
    let bundle = Bundle::new();
    for (seconds, reason) in [("soon", "SOURCE_DATE_EPOCH"), ("0", "is valid from 2020")] {
        let output = Command::new(env!("CARGO_BIN_EXE_packaging"))
            .arg("sign")
            .arg(&bundle.file)
            .arg("--cert")
            .arg(key("rsa.cert.pem"))
            .arg("--key")
            .arg(key("rsa.key.pem"))
            .env("SOURCE_DATE_EPOCH", seconds)
            .output()
            .unwrap();
        let report = refused(&output);
        assert!(report.contains(reason), "{report}");
    }
}

#[cfg(unix)]
#[test]
fn permissions_stay() {
    use std::os::unix::fs::PermissionsExt as _;

    let bundle = Bundle::new();
    fs::set_permissions(&bundle.file, fs::Permissions::from_mode(0o640)).unwrap();
    told(&bundle.sign("p256"));
    let mode = fs::metadata(&bundle.file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}
