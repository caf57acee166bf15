//! A web server on this machine that serves a catalog, or whatever a test wants instead.

use std::{
    collections::HashMap,
    io::{self, BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use crate::client::PATIENCE;

/// The catalog that is served unless a test says otherwise.
pub(crate) const CATALOG: &str = include_str!("catalog.xml");

/// What came in.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Method and path, as in `GET /Catalog.xml`.
    pub(crate) target: String,
    /// By name in lower case.
    pub(crate) headers: HashMap<String, String>,
}

/// Answers a request on its connection, which closes when it returns.
pub(crate) type Respond = dyn Fn(&Request, &mut TcpStream) -> io::Result<()> + Send + Sync;

/// Listens until dropped.
pub(crate) struct CatalogServer {
    address: SocketAddr,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

struct State {
    respond: Box<Respond>,
    requests: Mutex<Vec<Request>>,
    arrived: Condvar,
    stopping: AtomicBool,
}

impl CatalogServer {
    /// Serves [`CATALOG`].
    pub(crate) fn start() -> Self {
        Self::responding(|_, stream| respond(stream, "200 OK", &[], CATALOG.as_bytes()))
    }

    /// Takes requests and says nothing.
    pub(crate) fn silent() -> Self {
        Self::responding(|_, stream| {
            // Until the client hangs up.
            io::copy(stream, &mut io::sink()).map(drop)
        })
    }

    /// Answers requests as told.
    pub(crate) fn responding(
        respond: impl Fn(&Request, &mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            respond: Box::new(respond),
            requests: Mutex::default(),
            arrived: Condvar::new(),
            stopping: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if shared.stopping.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || shared.converse(stream));
            }
        });
        Self {
            address,
            state,
            accepting: Some(accepting),
        }
    }

    /// Where the catalog is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/Catalog.xml", self.address)
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.lock().clone()
    }

    /// Waits until there have been so many requests.
    pub(crate) fn wait_for_requests(&self, count: usize) {
        let waited = self
            .state
            .arrived
            .wait_timeout_while(self.state.lock(), PATIENCE, |requests| {
                requests.len() < count
            })
            .unwrap();
        assert!(!waited.1.timed_out(), "no {count} requests");
    }
}

impl Drop for CatalogServer {
    fn drop(&mut self) {
        self.state.stopping.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        if TcpStream::connect(self.address).is_ok()
            && let Some(accepting) = self.accepting.take()
        {
            let _ = accepting.join();
        }
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap()
    }

    fn converse(&self, mut stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(PATIENCE));
        let Ok(request) = read_request(&stream) else {
            return;
        };
        self.lock().push(request.clone());
        self.arrived.notify_all();
        // A client that hangs up is no fault of the test's.
        let _ = (self.respond)(&request, &mut stream);
    }
}

fn read_request(stream: &TcpStream) -> io::Result<Request> {
    let mut lines = BufReader::new(stream).lines();
    let mut next = || lines.next().unwrap_or_else(|| Ok(String::new()));
    let mut target = next()?;
    if let Some(end) = target.rfind(" HTTP/") {
        target.truncate(end);
    }
    let mut headers = HashMap::new();
    loop {
        let line = next()?;
        let Some((name, value)) = line.split_once(':') else {
            return Ok(Request { target, headers });
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
}

/// Sends a whole response.
pub(crate) fn respond(
    stream: &mut TcpStream,
    status: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    write!(stream, "{head}Content-Length: {}\r\n\r\n", body.len())?;
    stream.write_all(body)
}

/// Sends these bytes as they are, and nothing around them.
pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> CatalogServer {
    let bytes = bytes.into();
    CatalogServer::responding(move |_, stream| stream.write_all(&bytes))
}

/// Sends this document with status 200.
pub(crate) fn document(document: impl Into<Vec<u8>>) -> CatalogServer {
    let document = document.into();
    CatalogServer::responding(move |_, stream| respond(stream, "200 OK", &[], &document))
}

/// Sends this answer without a body.
pub(crate) fn head(status: &str, header: (&'static str, String)) -> CatalogServer {
    let status = status.to_owned();
    CatalogServer::responding(move |_, stream| {
        respond(stream, &status, &[(header.0, &header.1)], b"")
    })
}

/// Sends the catalog after a while, so that calls come together in the meantime.
pub(crate) fn respond_slowly(_: &Request, stream: &mut TcpStream) -> io::Result<()> {
    std::thread::sleep(Duration::from_millis(700));
    respond(stream, "200 OK", &[], CATALOG.as_bytes())
}
