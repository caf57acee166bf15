//! Certificates: whom the program trusts, and what it says when it does not.

use std::path::Path;

use crate::{
    catalog_server::{CatalogServer, head, raw},
    client::Start,
    inapplicable::Inapplicable,
    notice::{ask, assert_live, assert_reason},
    tls_server::Authority,
};

fn at(url: &str) -> Start {
    Start::new().env("TABLECLOTH_CATALOG_URL", url)
}

fn trusting(url: &str, file: impl AsRef<Path>) -> Start {
    at(url).env("SSL_CERT_FILE", file.as_ref())
}

#[test]
fn an_unknown_root_is_refused_with_advice() {
    let server = Authority::new().serve(&["localhost", "127.0.0.1"]);
    for host in ["localhost", "127.0.0.1"] {
        let notice = assert_reason(&at(&server.url(host)), "certificate");
        assert!(notice.contains("SSL_CERT_FILE"), "{notice}");
        assert!(notice.contains(host), "{notice}");
    }
}

#[test]
fn another_root_does_not_help() {
    let server = Authority::new().serve(&["localhost"]);
    let other = Authority::new();
    assert_reason(
        &trusting(&server.url("localhost"), other.file()),
        "certificate",
    );
}

#[test]
fn the_root_in_ssl_cert_file_is_trusted() {
    if Inapplicable::PrivateRoot.here() {
        return;
    }
    let authority = Authority::new();
    let server = authority.serve(&["localhost", "127.0.0.1"]);
    let junk = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let others = Authority::new();
    for content in [
        authority.pem().to_owned(),
        authority.pem().replace('\n', "\r\n"),
        format!("# 회사 루트\n{junk}{}{}", others.pem(), authority.pem()),
    ] {
        let file = authority.file_with(&content);
        for host in ["localhost", "127.0.0.1"] {
            let mut client = trusting(&server.url(host), &file).session();
            assert_live(&ask(&mut client));
            client.assert_alive();
        }
    }
}

#[test]
fn a_trusted_root_does_not_make_every_certificate_good() {
    let authority = Authority::new();
    let file = authority.file();
    let hosts = &["localhost"];
    for server in [
        authority.serve_expired(hosts),
        authority.serve_not_yet_valid(hosts),
        authority.serve(&["catalog.invalid"]),
        authority.serve(&["127.0.0.1"]),
    ] {
        assert_reason(&trusting(&server.url("localhost"), &file), "certificate");
    }
}

#[test]
fn an_unusable_ssl_cert_file_is_said() {
    let authority = Authority::new();
    let server = authority.serve(&["localhost"]);
    let url = server.url("localhost");
    let folder = tempfile::tempdir().unwrap();
    let mut unusable = vec![folder.path().join("missing.pem"), folder.path().to_owned()];
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    for (name, content) in [
        ("empty.pem", ""),
        ("garbage.pem", "garbage \u{1}"),
        ("cut.pem", &authority.pem()[..200]),
        ("key.pem", &key),
        (
            "junk.pem",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        unusable.push(path);
    }
    if cfg!(unix) {
        unusable.push("/dev/zero".into());
    }
    for path in unusable {
        let notice = assert_reason(&trusting(&url, &path), "certificateFile");
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(notice.contains(&*name), "{notice}");
    }
    // Settings that were left empty are none.
    for unset in ["", " ", "${user_config.certificates}"] {
        assert_reason(&trusting(&url, unset), "certificate");
    }
}

/// Only Linux finds its roots by variables.
#[cfg(target_os = "linux")]
#[test]
fn a_machine_without_roots_is_told_how_to_get_them() {
    if Inapplicable::PrivateRoot.here() {
        return;
    }
    let authority = Authority::new();
    let server = authority.serve(&["localhost"]);
    let rootless = |url: &str| at(url).env("SSL_CERT_DIR", "/nonexistent");
    assert_reason(&rootless(&server.url("localhost")), "certificate");
    let start = rootless(&server.url("localhost")).env("SSL_CERT_FILE", authority.file());
    assert_live(&ask(&mut start.session()));
    // Where no certificate is needed, none is missed.
    let plain = CatalogServer::start();
    assert_live(&ask(&mut rootless(&plain.url()).session()));
}

#[test]
fn servers_that_do_not_speak_tls() {
    for server in [
        CatalogServer::start(),
        raw(""),
        raw("garbage garbage garbage"),
    ] {
        let url = server.url().replacen("http:", "https:", 1);
        assert_reason(&at(&url), "connect");
    }
}

#[test]
fn a_redirect_to_https_is_followed_and_checked() {
    if Inapplicable::PrivateRoot.here() {
        return;
    }
    let authority = Authority::new();
    let secure = authority.serve(&["localhost"]);
    let plain = head("302 Found", ("Location", secure.url("localhost")));
    let start = trusting(&plain.url(), authority.file());
    assert_live(&ask(&mut start.session()));
    assert_reason(&at(&plain.url()), "certificate");
}
