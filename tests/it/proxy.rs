//! Proxies: when they are used, and what is said when they fail.

use std::{
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use crate::{
    catalog_server::CatalogServer,
    client::Start,
    inapplicable::Inapplicable,
    notice::{ask, assert_embedded, assert_live, assert_reason},
    tls_server::Authority,
};

/// Nobody has this name, so only a proxy can lead there.
const HOST: &str = "catalog.invalid";
const URL: &str = "https://catalog.invalid/Catalog.xml";

#[derive(Clone, Copy)]
enum Behaviour {
    LeadsTo(SocketAddr),
    Answers(&'static str),
    IsSilent,
}
use Behaviour::{Answers, IsSilent, LeadsTo};

/// A proxy that notes what it is asked.
struct Proxy {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn new(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || converse(stream, behaviour, &seen));
            }
        });
        Self { address, heads }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The first lines of what it was asked.
    fn asked(&self) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        let first = |head: &String| head.lines().next().unwrap_or_default().to_owned();
        heads.iter().map(first).collect()
    }
}

fn converse(
    mut client: TcpStream,
    behaviour: Behaviour,
    heads: &Mutex<Vec<String>>,
) -> io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && client.read(&mut byte)? == 1 {
        head.push(byte[0]);
    }
    heads
        .lock()
        .unwrap()
        .push(String::from_utf8_lossy(&head).into_owned());
    match behaviour {
        Answers(answer) => client.write_all(answer.as_bytes()),
        IsSilent => io::copy(&mut client, &mut io::sink()).map(drop),
        LeadsTo(address) => {
            let mut server = TcpStream::connect(address)?;
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            let (mut back_from, mut back_to) = (server.try_clone()?, client.try_clone()?);
            std::thread::spawn(move || io::copy(&mut back_from, &mut back_to));
            io::copy(&mut client, &mut server).map(drop)
        }
    }
}

fn start() -> Start {
    Start::new().env("TABLECLOTH_CATALOG_URL", URL)
}

#[test]
fn a_proxy_is_used_for_https() {
    if Inapplicable::PrivateRoot.here() {
        return;
    }
    let authority = Authority::new();
    let server = authority.serve(&[HOST]);
    let with_root = start().env("SSL_CERT_FILE", authority.file());
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        let proxy = Proxy::new(LeadsTo(server.address));
        let mut client = with_root.clone().env(variable, proxy.url()).session();
        assert_live(&ask(&mut client));
        client.assert_alive();
        assert_eq!(
            proxy.asked(),
            ["CONNECT catalog.invalid:443 HTTP/1.1"],
            "{variable}"
        );
    }
    let proxy = Proxy::new(LeadsTo(server.address));
    for value in [
        proxy.address.to_string(),
        format!("http://user:p%40ss@{}/", proxy.address),
    ] {
        assert_live(&ask(&mut with_root
            .clone()
            .env("HTTPS_PROXY", value)
            .session()));
    }
    let heads = proxy.heads.lock().unwrap();
    // user:p@ss
    let credentials = "proxy-authorization: basic dxnlcjpwqhnz";
    assert!(
        heads[1].to_ascii_lowercase().contains(credentials),
        "{heads:?}"
    );
}

#[test]
fn what_goes_through_a_proxy_is_checked_all_the_same() {
    let server = Authority::new().serve(&[HOST]);
    let proxy = Proxy::new(LeadsTo(server.address));
    assert_reason(&start().env("HTTPS_PROXY", proxy.url()), "certificate");
    let authority = Authority::new();
    let server = authority.serve(&["other.invalid"]);
    let proxy = Proxy::new(LeadsTo(server.address));
    let with_root = start().env("SSL_CERT_FILE", authority.file());
    assert_reason(&with_root.env("HTTPS_PROXY", proxy.url()), "certificate");
}

#[test]
fn no_proxy_is_heeded() {
    if Inapplicable::PrivateRoot.here() {
        return;
    }
    let authority = Authority::new();
    let server = authority.serve(&["localhost"]);
    let with_root = Start::new()
        .env("TABLECLOTH_CATALOG_URL", server.url("localhost"))
        .env("SSL_CERT_FILE", authority.file());
    let proxy = Proxy::new(Answers("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
    for variable in ["NO_PROXY", "no_proxy"] {
        for value in ["localhost", "example.com, localhost", "*"] {
            let through = with_root.clone().env("HTTPS_PROXY", proxy.url());
            assert_live(&ask(&mut through.env(variable, value).session()));
        }
    }
    assert!(proxy.asked().is_empty());
    let others = with_root
        .env("HTTPS_PROXY", proxy.url())
        .env("NO_PROXY", "example.com");
    assert_reason(&others, "proxy");
    assert_eq!(proxy.asked().len(), 1);
}

#[test]
fn a_fault_without_a_proxy_is_none_of_a_proxy() {
    let proxy = Proxy::new(Answers(""));
    let direct = start()
        .env("HTTPS_PROXY", proxy.url())
        .env("NO_PROXY", "invalid");
    assert_reason(&direct, "connect");
    assert!(proxy.asked().is_empty());
    // Values that name no proxy.
    for value in ["", " ", ":::", "ftp://127.0.0.1:1"] {
        assert_reason(&start().env("HTTPS_PROXY", value), "connect");
    }
}

#[test]
fn plain_http_stays_on_this_machine() {
    let proxy = Proxy::new(Answers("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
    let server = CatalogServer::start();
    let mut client = Start::with(&server)
        .env("HTTP_PROXY", proxy.url())
        .env("http_proxy", proxy.url())
        .env("ALL_PROXY", proxy.url())
        .session();
    assert_live(&ask(&mut client));
    assert!(proxy.asked().is_empty());
}

#[test]
fn proxies_that_refuse_or_fail() {
    for answer in [
        "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n",
        "HTTP/1.1 403 Forbidden\r\n\r\n",
        "HTTP/1.1 502 Bad Gateway\r\n\r\n",
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 6\r\n\r\n<html>",
        "HTTP/1.1 200 Connection established\r\n\r\n",
        "HTTP/1.1 200 Connection established\r\n\r\ngarbage garbage garbage",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "",
    ] {
        let proxy = Proxy::new(Answers(answer));
        assert_reason(&start().env("HTTPS_PROXY", proxy.url()), "proxy");
        assert_eq!(proxy.asked().len(), 1, "{answer}");
    }
}

#[test]
fn proxies_that_are_not_there() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for value in [
        format!("http://{free}"),
        format!("https://{free}"),
        format!("socks5://{free}"),
        free.to_string(),
        "http://proxy.invalid:3128".to_owned(),
    ] {
        assert_reason(&start().env("HTTPS_PROXY", value), "proxy");
    }
}

#[test]
fn a_silent_proxy() {
    let proxy = Proxy::new(IsSilent);
    let mut client = start().env("HTTPS_PROXY", proxy.url()).session();
    let first = ask(&mut client);
    let notice = first["catalogNotice"].as_str().unwrap();
    // Connecting has the same five seconds that a call waits.
    if notice.contains(crate::texts::text("catalog.reason.pending")) {
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    assert_embedded(&ask(&mut client), "proxy");
}
