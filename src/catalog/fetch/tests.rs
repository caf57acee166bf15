//! Downloads from a server on this machine that does what it is told.

use std::{
    io::Write as _,
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::Instant,
};

use super::*;

/// For what has an end of its own.
const PATIENT: Limits = Limits {
    total: Duration::from_secs(30),
    ..QUICK
};
const QUICK: Limits = Limits {
    connect: Duration::from_secs(5),
    total: Duration::from_millis(500),
    bytes: 10_000,
};

/// Answers each connection with `answer`, which is given the request's head.
fn serve(answer: impl Fn(&mut TcpStream, &str) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                head.push(byte[0]);
            }
            answer(&mut stream, &String::from_utf8_lossy(&head));
        }
    });
    format!("http://{address}/c.xml")
}

fn bytes(answer: &'static [u8]) -> String {
    serve(move |stream, _| stream.write_all(answer).unwrap())
}

async fn get(url: &str) -> Result<Fetched, FetchError> {
    download(url.parse().unwrap(), &Validators::default(), PATIENT).await
}

async fn fault(url: &str) -> FetchError {
    get(url).await.expect_err(url)
}

fn body(fetched: Result<Fetched, FetchError>) -> Vec<u8> {
    match fetched.unwrap() {
        Fetched::Document { bytes, .. } => bytes,
        Fetched::NotModified => panic!("a document is expected"),
    }
}

#[tokio::test]
async fn a_document_comes_with_its_validators_and_is_asked_for_by_them() {
    let (sender, heads) = mpsc::channel();
    let url = serve(move |stream, head| {
        sender.send(head.to_ascii_lowercase()).unwrap();
        let answer: &[u8] = if head.to_ascii_lowercase().contains("if-none-match") {
            b"HTTP/1.1 304 Not Modified\r\n\r\n"
        } else {
            b"HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n\
              Content-Length: 2\r\n\r\nhi"
        };
        stream.write_all(answer).unwrap();
    });
    let Ok(Fetched::Document { bytes, validators }) = get(&url).await else {
        panic!("a document is expected");
    };
    assert_eq!(bytes, b"hi");
    let head = heads.recv().unwrap();
    let agent = concat!(
        "user-agent: tablecloth-mcp/",
        env!("CARGO_PKG_VERSION"),
        "\r\n"
    );
    assert!(head.contains(agent), "{head}");
    assert!(head.contains("accept-encoding: gzip\r\n"), "{head}");
    assert!(!head.contains("if-"), "{head}");
    let again = download(url.parse().unwrap(), &validators, PATIENT).await;
    assert!(matches!(again, Ok(Fetched::NotModified)));
    let head = heads.recv().unwrap();
    assert!(head.contains("if-none-match: \"v1\"\r\n"), "{head}");
    assert!(
        head.contains("if-modified-since: mon, 01 jan 2024 00:00:00 gmt\r\n"),
        "{head}"
    );
}

#[tokio::test]
async fn a_304_that_was_not_asked_for_is_a_fault() {
    let url = bytes(b"HTTP/1.1 304 Not Modified\r\n\r\n");
    assert!(matches!(fault(&url).await, FetchError::Status(status) if status == 304));
}

#[tokio::test]
async fn other_answers_than_200_are_faults() {
    for status in [
        201_u16, 204, 206, 300, 400, 403, 404, 410, 429, 500, 502, 503, 599,
    ] {
        let url = serve(move |stream, _| {
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
        });
        let fault = fault(&url).await;
        assert!(
            matches!(fault, FetchError::Status(got) if got == status),
            "{fault:?}"
        );
    }
    let url = bytes(b"HTTP/1.1 407 X\r\nContent-Length: 0\r\n\r\n");
    assert!(matches!(fault(&url).await, FetchError::Proxy(None)));
}

#[tokio::test]
async fn nobody_there_is_a_fault_of_the_connection() {
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    // Whatever words the address has in it.
    for path in ["c.xml", "proxy/tunnel.xml"] {
        let fault = fault(&format!("http://{address}/{path}")).await;
        assert!(matches!(fault, FetchError::Connect(_)), "{fault:?}");
    }
}

#[tokio::test]
async fn silence_and_dripping_end_with_the_time() {
    let silent = serve(|_, _| thread::sleep(Duration::from_secs(5)));
    let dripping = serve(|stream, _| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
        stream.write_all(head).unwrap();
        while stream.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
    let dripping_head = serve(|stream, _| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nX: ").unwrap();
        while stream.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
    let redirecting = serve(|stream, _| {
        thread::sleep(Duration::from_millis(200));
        let _ = stream.write_all(
            b"HTTP/1.1 302 X\r\nLocation: /\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        );
    });
    for url in [silent, dripping, dripping_head, redirecting] {
        let start = Instant::now();
        let outcome = download(url.parse().unwrap(), &Validators::default(), QUICK).await;
        assert!(
            matches!(outcome, Err(FetchError::Timeout(_))),
            "{outcome:?}"
        );
        assert!(
            start.elapsed() < Duration::from_secs(4),
            "{:?}",
            start.elapsed()
        );
    }
}

#[tokio::test]
async fn a_connection_that_does_not_come_about_ends_sooner() {
    // Accepts, and never answers the handshake.
    let silent = serve(|_, _| thread::sleep(Duration::from_secs(5)));
    let url = silent.replacen("http:", "https:", 1).parse().unwrap();
    let limits = Limits {
        connect: Duration::from_millis(300),
        total: Duration::from_secs(60),
        ..QUICK
    };
    let start = Instant::now();
    let outcome = download(url, &Validators::default(), limits).await;
    assert!(
        matches!(outcome, Err(FetchError::Timeout(_))),
        "{outcome:?}"
    );
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn answers_that_break_off_or_make_no_sense_are_faults() {
    let answers: [&'static [u8]; 7] = [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\ntext",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ];
    for answer in answers {
        let fault = fault(&bytes(answer)).await;
        assert!(
            matches!(fault, FetchError::Interrupted(_)),
            "{}: {fault:?}",
            String::from_utf8_lossy(answer)
        );
    }
}

#[tokio::test]
async fn documents_over_the_limit_are_refused_without_reading_them_whole() {
    let fits = serve(|stream, _| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", QUICK.bytes);
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b'x'; QUICK.bytes]).unwrap();
    });
    assert_eq!(body(get(&fits).await).len(), QUICK.bytes);
    let announced = bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999\r\n\r\n");
    let endless = serve(|stream, _| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        while stream.write_all(&[b'x'; 1000]).is_ok() {}
    });
    for url in [announced, endless] {
        let fault = fault(&url).await;
        assert!(matches!(fault, FetchError::TooLarge), "{fault:?}");
    }
}

/// Redirects `/<n>` to `/<n - 1>` and answers `/0`.
fn countdown() -> String {
    let url = serve(|stream, head| {
        let number = head.trim_start_matches("GET /").split(' ').next();
        let number: u32 = number.unwrap().parse().unwrap();
        let answer = match number {
            0 => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi".to_owned(),
            _ => format!(
                "HTTP/1.1 302 X\r\nLocation: /{}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                number - 1
            ),
        };
        stream.write_all(answer.as_bytes()).unwrap();
    });
    url.trim_end_matches("c.xml").to_owned()
}

#[tokio::test]
async fn five_redirects_are_followed_and_no_sixth() {
    let base = countdown();
    assert_eq!(body(get(&format!("{base}5")).await), b"hi");
    assert!(matches!(
        fault(&format!("{base}6")).await,
        FetchError::Redirect(_)
    ));
}

#[tokio::test]
async fn redirects_lead_to_https_or_stay_on_this_machine() {
    for target in [
        "http://example.invalid/c.xml",
        "http://169.254.169.254/latest",
        "http://localhost.example.invalid/",
        "http://10.0.0.1/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "data:text/xml,x",
    ] {
        let url = serve(move |stream, _| {
            let answer =
                format!("HTTP/1.1 301 X\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let fault = fault(&url).await;
        assert!(
            matches!(fault, FetchError::Redirect(_)),
            "{target}: {fault:?}"
        );
    }
    // To https it goes, where this server does not speak it.
    let url = serve(|stream, head| {
        let host = head.to_ascii_lowercase();
        let host = host
            .split("host: ")
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next());
        let answer = format!(
            "HTTP/1.1 301 X\r\nLocation: https://{}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            host.unwrap_or_default()
        );
        let _ = stream.write_all(answer.as_bytes());
    });
    let fault = fault(&url).await;
    assert!(
        matches!(fault, FetchError::Connect(_) | FetchError::Timeout(_)),
        "{fault:?}"
    );
}

#[test]
fn files_of_other_kinds_and_sizes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(matches!(
        read_document(&at("missing")),
        Err(FetchError::File(_))
    ));
    assert!(matches!(
        read_document(folder.path()),
        Err(FetchError::File(_))
    ));
    for (name, len, fits) in [
        ("fits", LARGEST_DOCUMENT as u64, true),
        ("over", LARGEST_DOCUMENT as u64 + 1, false),
        ("far over", 1 << 40, false),
    ] {
        // Sparse, so it takes no room.
        File::create(at(name)).unwrap().set_len(len).unwrap();
        let outcome = read_document(&at(name)).map(|bytes| bytes.len() as u64);
        match outcome {
            Ok(read) => assert!(fits && read == len, "{name}"),
            Err(FetchError::TooLarge) => assert!(!fits, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    #[cfg(unix)]
    assert!(matches!(
        read_document(Path::new("/dev/zero")),
        Err(FetchError::File(_))
    ));
}

#[test]
fn a_certificate_bundle_is_as_good_as_what_can_be_used_of_it() {
    let good = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let good = good.cert.pem();
    let junk = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.pem");
    for (content, usable) in [
        (good.clone(), 1),
        (format!("# Root\r\n{}", good.replace('\n', "\r\n")), 1),
        (format!("{junk}{good}{junk}{key}{good}"), 2),
        (junk.to_owned(), 0),
        (key, 0),
        (String::new(), 0),
        ("garbage".to_owned(), 0),
        ("-----BEGIN CERTIFICATE-----\n".to_owned(), 0),
    ] {
        std::fs::write(&path, &content).unwrap();
        match certificates::read(&path) {
            Ok(read) => assert_eq!(read.len(), usable, "{content}"),
            Err(FetchError::CertificateFile(said)) => {
                assert_eq!(usable, 0, "{content}: {said}");
                assert!(said.contains("bundle.pem: "), "{said}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    for path in [folder.path().join("missing"), folder.path().to_owned()] {
        let outcome = certificates::read(&path);
        assert!(matches!(outcome, Err(FetchError::CertificateFile(_))));
    }
}
