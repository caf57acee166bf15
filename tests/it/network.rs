//! Networks and servers that fail in every way.

use std::{
    io::Write as _,
    net::TcpListener,
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};

use crate::{
    catalog_server::{CATALOG, CatalogServer, document, head, raw, respond},
    client::Start,
    notice::{ask, assert_embedded, assert_live, assert_reason},
};

#[cfg(target_os = "linux")]
const LIMIT: usize = 16 * 1024 * 1024;

fn at(url: &str) -> Start {
    Start::new().env("TABLECLOTH_CATALOG_URL", url)
}

#[track_caller]
fn assert_served(server: &CatalogServer, reason: &str) -> String {
    assert_reason(&Start::with(server), reason)
}

/// Without the sizes that would say how much is missing.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn gzipped(body: Vec<u8>) -> CatalogServer {
    CatalogServer::responding(move |_, stream| {
        respond(stream, "200 OK", &[("Content-Encoding", "gzip")], &body)
    })
}

#[test]
fn the_live_catalog_is_served_without_a_notice() {
    let answers = [CatalogServer::start(), gzipped(gzip(CATALOG.as_bytes()))];
    for server in answers {
        let mut client = Start::with(&server).session();
        assert_live(&ask(&mut client));
        client.assert_alive();
        let requests = server.requests();
        assert_eq!(requests.len(), 1);
        assert_eq!(requests[0].target, "GET /Catalog.xml");
        let agent = concat!("tablecloth-mcp/", env!("CARGO_PKG_VERSION"));
        assert_eq!(requests[0].headers["user-agent"], agent);
    }
}

#[test]
fn refused() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for address in [
        format!("http://{free}/Catalog.xml"),
        format!("http://{free}/proxy/tunnel/certificate.xml"),
        format!("https://{free}/Catalog.xml"),
    ] {
        assert_reason(&at(&address), "connect");
    }
}

#[test]
fn reset() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // Closing with bytes unread resets the connection.
            let _ = stream.peek(&mut [0]);
        }
    });
    assert_reason(&at(&format!("http://{address}/")), "interrupted");
    assert_reason(&at(&format!("https://{address}/")), "connect");
    // In the middle of the document.
    let cut = |bytes: &[u8]| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
            CATALOG.len()
        );
        raw([head.as_bytes(), bytes].concat())
    };
    assert_served(&cut(&CATALOG.as_bytes()[..500]), "interrupted");
    assert_served(
        &raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n<Tab"),
        "interrupted",
    );
    assert_served(&raw(""), "interrupted");
    assert_served(&raw("220 ftp.example.com ready\r\n"), "interrupted");
}

#[test]
fn silent() {
    let server = CatalogServer::silent();
    let start = Instant::now();
    let mut client = Start::with(&server).session();
    assert_embedded(&ask(&mut client), "pending");
    assert!(start.elapsed() >= Duration::from_millis(4900));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn silent_before_the_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // Connections come about and wait to be accepted.
    let start = at(&format!("https://{}/", listener.local_addr().unwrap()));
    let mut client = start.session();
    // Connecting has the same five seconds that a call waits.
    let first = ask(&mut client);
    let notice = first["catalogNotice"].as_str().unwrap();
    if notice.contains(crate::texts::text("catalog.reason.pending")) {
        std::thread::sleep(Duration::from_millis(300));
    }
    assert_embedded(&ask(&mut client), "timeout");
}

#[test]
fn dripping() {
    let server = CatalogServer::responding(|_, stream| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
            CATALOG.len()
        );
        stream.write_all(head.as_bytes())?;
        for byte in CATALOG.as_bytes() {
            stream.write_all(&[*byte])?;
            std::thread::sleep(Duration::from_secs(1));
        }
        Ok(())
    });
    let mut client = Start::with(&server).session();
    for _ in 0..2 {
        assert_embedded(&ask(&mut client), "pending");
    }
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn error_statuses() {
    for status in [
        "500 X", "404 X", "403 X", "429 X", "503 X", "204 X", "206 X", "304 X",
    ] {
        let server = head(status, ("X-Test", String::new()));
        let notice = assert_served(&server, "status");
        assert!(notice.contains(&status[..3]), "{notice}");
    }
    // An error page is no catalog, whatever is in it.
    let server =
        CatalogServer::responding(|_, stream| respond(stream, "500 X", &[], CATALOG.as_bytes()));
    assert_served(&server, "status");
}

#[test]
fn redirects() {
    let to_itself = CatalogServer::responding(|request, stream| {
        let path = request.target.trim_start_matches("GET ").to_owned();
        respond(stream, "302 Found", &[("Location", &path)], b"")
    });
    assert_served(&to_itself, "redirect");
    assert_eq!(to_itself.requests().len(), 6);
    for target in [
        "http://example.invalid/Catalog.xml",
        "http://192.0.2.1/Catalog.xml",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
    ] {
        let server = head("301 Moved", ("Location", target.to_owned()));
        assert_served(&server, "redirect");
    }
    let page = document("<!DOCTYPE html><html lang=ko><title>로그인</title></html>");
    let to_page = head("302 Found", ("Location", page.url()));
    assert_served(&to_page, "notCatalog");
    assert_served(&head("302 Found", ("X-Test", String::new())), "status");
}

/// Redirects so many times before it serves the catalog.
fn redirecting(times: usize) -> CatalogServer {
    CatalogServer::responding(move |request, stream| {
        let hop: usize = request
            .target
            .rsplit('/')
            .next()
            .unwrap()
            .parse()
            .unwrap_or(0);
        if hop == times {
            respond(stream, "200 OK", &[], CATALOG.as_bytes())
        } else {
            let next = format!("/{}", hop + 1);
            respond(stream, "307 X", &[("Location", &next)], b"")
        }
    })
}

#[test]
fn five_redirects_are_followed_and_no_sixth() {
    let server = redirecting(5);
    assert_live(&ask(&mut Start::with(&server).session()));
    assert_served(&redirecting(6), "redirect");
}

#[test]
fn documents_that_are_no_catalog() {
    for page in [
        "",
        "\u{feff}",
        " \r\n",
        "OK",
        "{}",
        "<html></html>",
        "<!doctype html><html lang=ko><head><meta charset=utf-8></head><body>Wi-Fi<br></html>",
        "<Error><Code>AccessDenied</Code></Error>",
    ] {
        assert_served(&document(page), "notCatalog");
    }
    // A sign-in page of the old kind: EUC-KR.
    let page = [b"<html><title>".as_slice(), b"\xb7\xce\xb1\xd7\xc0\xce"].concat();
    assert_served(&document(page), "notCatalog");
}

#[test]
fn documents_that_are_broken_catalogs() {
    let with = |entry: &str| {
        CATALOG.replacen(
            "<InternetServices>",
            &format!("<InternetServices>{entry}"),
            1,
        )
    };
    let euc_kr = CATALOG.replace("은행", "\u{1}");
    let euc_kr: Vec<u8> = euc_kr
        .bytes()
        .flat_map(|byte| match byte {
            1 => vec![0xc0, 0xba, 0xc7, 0xe0],
            other => vec![other],
        })
        .collect();
    let utf_16: Vec<u8> = format!("\u{feff}{CATALOG}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let half = CATALOG
        .char_indices()
        .nth(CATALOG.chars().count() / 2)
        .unwrap()
        .0;
    let laughs = "<!DOCTYPE x [<!ENTITY a 'lol'><!ENTITY b '&a;&a;&a;&a;'>]>";
    let laughing = with("<Service Id='L' DisplayName='&b;'/>").replacen(
        "<TableClothCatalog",
        &format!("{laughs}<TableClothCatalog"),
        1,
    );
    let external = laughing
        .replace("'lol'", "SYSTEM 'file:///etc/passwd'")
        .replace("&b;", "&a;");
    let documents: [Vec<u8>; 12] = [
        CATALOG.as_bytes()[..half].to_vec(),
        CATALOG.as_bytes()[..=half].to_vec(),
        with("<Service Id='A' DisplayName='A & B'/>").into(),
        with("<Service Id='A'>").into(),
        with("<Service Id='A/>").into(),
        with("<Service Id='A' Id='B'/>").into(),
        format!("{CATALOG}<html/>").into(),
        euc_kr,
        utf_16,
        laughing.into(),
        external.into(),
        b"<TableClothCatalog><InternetServices/></TableClothCatalog>".to_vec(),
    ];
    for broken in documents {
        assert_served(&document(broken), "malformed");
    }
}

#[test]
fn one_odd_entry_costs_only_itself() {
    let entries = "<Service/><Service Id='Tax24' DisplayName='again'/><Unknown><X/></Unknown>";
    let odd = CATALOG.replacen(
        "</InternetServices>",
        &format!("{entries}</InternetServices>"),
        1,
    );
    assert_ne!(odd, CATALOG);
    let odd = format!("\u{feff}{}", odd.replace('\n', "\r\n"));
    let server = document(odd);
    let mut client = Start::with(&server).session();
    assert_live(&ask(&mut client));
    client.assert_alive();
}

#[test]
fn broken_gzip() {
    let whole = gzip(CATALOG.as_bytes());
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x55;
    for body in [
        whole[..whole.len() / 2].to_vec(),
        whole[..whole.len() - 4].to_vec(),
        whole[..5].to_vec(),
        damaged,
        CATALOG.as_bytes().to_vec(),
    ] {
        assert_served(&gzipped(body), "interrupted");
    }
    // Compressed, and nobody says so.
    assert_served(&document(whole), "notCatalog");
}

/// The most memory that a server has had, in megabytes.
#[cfg(target_os = "linux")]
fn peak_megabytes(client: &crate::client::Client) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.pid())).unwrap();
    let peak = status.split("VmHWM:").nth(1).unwrap();
    peak.split_whitespace()
        .next()
        .unwrap()
        .parse::<u64>()
        .unwrap()
        / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn documents_too_large_are_refused_while_they_come() {
    let endless = CatalogServer::responding(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        let block = vec![b' '; 64 * 1024];
        loop {
            stream.write_all(&block)?;
        }
    });
    let announced = raw(format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
        LIMIT + 1
    ));
    let bomb = gzipped(gzip(&vec![b' '; 4 * LIMIT]));
    for server in [endless, announced, bomb] {
        let mut client = Start::with(&server).session();
        assert_embedded(&ask(&mut client), "tooLarge");
        let peak = peak_megabytes(&client);
        assert!(peak < 100, "{peak} MB");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn documents_that_mean_harm_take_bounded_memory() {
    let around = |middle: String| {
        let (before, after) = CATALOG.split_once("</InternetServices>").unwrap();
        format!("{before}{middle}</InternetServices>{after}")
    };
    let room = LIMIT - CATALOG.len() - 200;
    let keywords = |unit: &str| {
        let text = unit.repeat(room / unit.len());
        around(format!(
            "<Service Id='Z'><SearchKeywords>{text}</SearchKeywords></Service>"
        ))
    };
    for (hostile, reason) in [
        (
            around("<Service Id='Z'/>".repeat(room / 17)),
            Some("tooMany"),
        ),
        (around("<x/>".repeat(room / 4)), Some("tooMany")),
        (
            around(format!(
                "<Service Id='Z'><Packages>{}</Packages></Service>",
                "<Package Name='x'/>".repeat(200_000)
            )),
            Some("tooMany"),
        ),
        (keywords("abc;"), None),
        (keywords("\u{301}"), None),
        (keywords("\u{1d160}"), None),
    ] {
        let server = document(hostile);
        let mut client = Start::with(&server).session();
        let mut answer = ask(&mut client);
        let start = Instant::now();
        let pending = crate::texts::text("catalog.reason.pending");
        while answer["catalogNotice"]
            .as_str()
            .is_some_and(|notice| notice.contains(pending))
        {
            assert!(start.elapsed() < Duration::from_secs(60));
            answer = ask(&mut client);
        }
        match reason {
            Some(reason) => assert_embedded(&answer, reason),
            None => assert_live(&answer),
        }
        let peak = peak_megabytes(&client);
        assert!(peak < 150, "{peak} MB");
    }
}

#[test]
fn recovery_shows_after_a_pause() {
    let server = CatalogServer::responding({
        let first = std::sync::atomic::AtomicBool::new(true);
        move |_, stream| {
            if first.swap(false, std::sync::atomic::Ordering::SeqCst) {
                respond(stream, "503 X", &[], b"")
            } else {
                respond(stream, "200 OK", &[], CATALOG.as_bytes())
            }
        }
    });
    let mut client = Start::with(&server).session();
    let start = Instant::now();
    for _ in 0..20 {
        let answer = ask(&mut client);
        if start.elapsed() < Duration::from_secs(4) {
            assert_embedded(&answer, "status");
            assert_eq!(server.requests().len(), 1);
        }
    }
    while start.elapsed() < Duration::from_millis(5500) {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_live(&ask(&mut client));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn calls_that_wait_share_one_fetch() {
    let server = CatalogServer::responding(crate::catalog_server::respond_slowly);
    let mut client = Start::with(&server).session();
    let ids: Vec<_> = (0..20)
        .map(|_| client.post_call("list_categories", &serde_json::json!({})))
        .collect();
    for id in ids {
        assert_live(&crate::client::answer_in(&client.response(&id)));
    }
    assert_eq!(server.requests().len(), 1);
}
