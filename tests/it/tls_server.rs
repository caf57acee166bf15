//! A web server on this machine that speaks TLS, and the certificates for it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tempfile::TempDir;

use crate::catalog_server::CATALOG;

/// A certificate authority that no machine knows.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    folder: TempDir,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name = name("Test Root");
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            issuer: Issuer::new(params, key),
            pem,
            folder: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// A file with the root in it.
    pub(crate) fn file(&self) -> PathBuf {
        self.file_with(&self.pem)
    }

    /// A file with something else in it.
    pub(crate) fn file_with(&self, content: &str) -> PathBuf {
        let path = self.folder.path().join("root.pem");
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Serves the catalog under a certificate for these hosts.
    pub(crate) fn serve(&self, hosts: &[&str]) -> TlsServer {
        self.serve_with(hosts, |_| {})
    }

    pub(crate) fn serve_expired(&self, hosts: &[&str]) -> TlsServer {
        self.serve_with(hosts, |params| {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        })
    }

    pub(crate) fn serve_not_yet_valid(&self, hosts: &[&str]) -> TlsServer {
        self.serve_with(hosts, |params| {
            params.not_before = date_time_ymd(2090, 1, 1);
            params.not_after = date_time_ymd(2091, 1, 1);
        })
    }

    fn serve_with(&self, hosts: &[&str], change: impl Fn(&mut CertificateParams)) -> TlsServer {
        let hosts: Vec<String> = hosts.iter().copied().map(str::to_owned).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.distinguished_name = name("Test Server");
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        TlsServer::start(certificate.der().clone(), &key)
    }
}

fn name(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

/// Serves the catalog until the test program ends.
pub(crate) struct TlsServer {
    pub(crate) address: SocketAddr,
}

impl TlsServer {
    fn start(certificate: CertificateDer<'static>, key: &KeyPair) -> Self {
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for tcp in listener.incoming().map_while(Result::ok) {
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                std::thread::spawn(move || converse(StreamOwned::new(connection, tcp)));
            }
        });
        Self { address }
    }

    /// Where the catalog is, under this name of the machine.
    pub(crate) fn url(&self, host: &str) -> String {
        format!("https://{host}:{}/Catalog.xml", self.address.port())
    }
}

fn converse(stream: StreamOwned<ServerConnection, std::net::TcpStream>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    // A client that does not trust us hangs up here.
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        if line.trim_end().is_empty() {
            break;
        }
        line.clear();
    }
    let mut stream = reader.into_inner();
    let head = format!(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        CATALOG.len()
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(CATALOG.as_bytes());
    stream.conn.send_close_notify();
    let _ = stream.flush();
}
