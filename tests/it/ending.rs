//! How a session ends, in every state that it can be in.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    catalog_server::CatalogServer,
    client::{Client, Start, answer_in, exit_within, wait_for_file},
    inapplicable::Inapplicable,
    texts::text,
};

/// What must be over within a second, on a machine that is busy with other tests.
const ONE_SECOND: Duration = Duration::from_secs(3);
/// The grace of two seconds on such a machine; a call waits five for the network.
const GRACE: Duration = Duration::from_millis(4500);

/// What a server is doing when its end comes.
#[derive(Debug, Clone, Copy)]
enum State {
    JustStarted,
    Idle,
    Fetching,
    Launching,
}

impl State {
    const ALL: [Self; 4] = [
        Self::JustStarted,
        Self::Idle,
        Self::Fetching,
        Self::Launching,
    ];
}

/// A server in some state, whose streams the test holds itself.
struct Subject {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
    catalog: CatalogServer,
    _folder: TempDir,
}

impl Subject {
    fn new(state: State) -> Self {
        let catalog = match state {
            State::Fetching => CatalogServer::silent(),
            _ => CatalogServer::start(),
        };
        let folder = TempDir::new().unwrap();
        let runner = folder.path().join("runner");
        let up = folder.path().join("up");
        fs::write(&runner, "#!/bin/sh\ntouch \"${0%/*}/up\"\nsleep 5\n").unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&runner, executable).unwrap();
        let start = Start::with(&catalog)
            .env("TMPDIR", folder.path())
            .env("TABLECLOTH_WSB_RUNNER", runner);
        let mut child = start.command().spawn().unwrap();
        let mut subject = Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take().map(BufReader::new),
            child,
            catalog,
            _folder: folder,
        };
        match state {
            State::JustStarted => {}
            State::Idle => {
                subject.send("ping", &json!({}));
                subject.read();
            }
            State::Fetching => {
                subject.call("get_service", &json!({"id": "Tax24"}));
                subject.catalog.wait_for_requests(1);
            }
            State::Launching => {
                subject.call("launch_sandbox", &json!({"serviceIds": ["Tax24"]}));
                wait_for_file(&up);
            }
        }
        subject
    }

    fn send(&mut self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn call(&mut self, tool: &str, arguments: &Value) {
        self.send("tools/call", &json!({"name": tool, "arguments": arguments}));
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        let stdout = self.stdout.as_mut().unwrap();
        stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_signal_ends_it() {
    if Inapplicable::Signals.here() {
        return;
    }
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        for state in State::ALL {
            let mut subject = Subject::new(state);
            kill_process(Pid::from_child(&subject.child), signal).unwrap();
            let status = exit_within(&mut subject.child, ONE_SECOND);
            if !matches!(state, State::JustStarted) {
                assert_eq!(status.code(), Some(0), "{state:?} {signal:?}: {status}");
            }
        }
    }
}

#[test]
fn a_closed_stdout_ends_it() {
    if Inapplicable::IdleStdout.here() {
        return;
    }
    for state in State::ALL {
        let mut subject = Subject::new(state);
        subject.stdout = None;
        let status = exit_within(&mut subject.child, ONE_SECOND);
        assert_eq!(status.code(), Some(0), "{state:?}: {status}");
    }
}

#[test]
fn the_end_of_the_input_ends_it() {
    for state in [State::JustStarted, State::Idle] {
        let mut subject = Subject::new(state);
        subject.stdin = None;
        let status = exit_within(&mut subject.child, ONE_SECOND);
        assert_eq!(status.code(), Some(0), "{state:?}: {status}");
    }
}

#[test]
fn calls_in_progress_have_a_grace_at_the_end_of_the_input() {
    let catalog = CatalogServer::silent();
    let mut client = Start::with(&catalog).session();
    let id = client.post_call("get_service", &json!({"id": "Hometax"}));
    catalog.wait_for_requests(1);
    client.close_input();
    client.exit_within(GRACE);
    // From what there is without the network.
    let rest = client.rest();
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["id"], id);
    assert!(answer_in(&rest[0])["catalogNotice"].is_string());
}

#[test]
fn many_calls_in_progress_have_no_more_grace_than_one() {
    let catalog = CatalogServer::silent();
    let mut client = Start::with(&catalog).session();
    for _ in 0..300 {
        client.post_call("get_service", &json!({"id": "Hometax"}));
    }
    catalog.wait_for_requests(1);
    client.close_input();
    client.exit_within(GRACE);
    assert_eq!(client.rest().len(), 300);
}

#[test]
fn a_launch_in_progress_is_answered() {
    if Inapplicable::Script.here() {
        return;
    }
    let mut subject = Subject::new(State::Launching);
    subject.stdin = None;
    assert_eq!(answer_in(&subject.read())["launched"], true);
    let status = exit_within(&mut subject.child, ONE_SECOND);
    assert_eq!(status.code(), Some(0));
}

/// A session as a client would send it, whole.
fn whole_session(calls: usize) -> String {
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "it", "version": "1"},
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": "l", "method": "tools/list"}),
    ];
    lines.extend((0..calls).map(|n| {
        json!({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {
            "name": "search_services", "arguments": {"query": "가나은행"},
        }})
    }));
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n")
}

#[test]
fn a_session_piped_in_whole_gets_all_its_answers() {
    let catalog = CatalogServer::start();
    for calls in [0, 1, 20, 500] {
        let start = Start::with(&catalog);
        let finished = start.run_on(whole_session(calls).as_bytes());
        assert_eq!(finished.code, Some(0));
        let messages = finished.messages();
        assert_eq!(messages.len(), calls + 2);
        for n in 0..calls {
            let response = messages.iter().find(|message| message["id"] == n).unwrap();
            let answer = answer_in(response);
            // On a machine so busy that the grace is nearly over, from the embedded catalog.
            assert!(answer["matched"] == 3 || answer["catalogNotice"].is_string());
        }
    }
}

#[test]
fn an_empty_input_is_no_fault() {
    for input in ["", "\n", " \r\n\n"] {
        let finished = Start::new().run_on(input.as_bytes());
        assert_eq!(finished.code, Some(0));
        assert_eq!(finished.stdout, "");
        assert_eq!(finished.stderr, "");
    }
}

#[test]
fn four_servers_at_once() {
    let catalog = CatalogServer::start();
    let mut clients: Vec<Client> = (0..4).map(|_| Start::with(&catalog).spawn()).collect();
    for client in &mut clients {
        client.initialize("2025-06-18");
    }
    for client in &mut clients {
        client.assert_alive();
    }
    for mut client in clients {
        client.close_input();
        client.exit_within(ONE_SECOND);
    }
    assert_eq!(catalog.requests().len(), 4);
}

#[test]
fn an_empty_environment_and_the_root_folder_are_enough() {
    if Inapplicable::UnixEnvironment.here() {
        return;
    }
    let start = Start::new().folder("/");
    let mut command = start.command();
    // Wine and the like need their own variables.
    if std::env::var_os("TABLECLOTH_TEST_PREFIX").is_none() {
        command.env_clear();
    }
    let mut client = Client::of(&mut command);
    let answer = client.initialize("2025-06-18");
    assert_eq!(answer["instructions"], text("server.instructions"));
    assert!(client.request("tools/list", &json!({}))["result"].is_object());
    client.close_input();
    client.exit_within(ONE_SECOND);
    assert_eq!(client.finish(), "");
}

#[test]
fn output_is_utf8_in_every_locale() {
    let catalog = CatalogServer::start();
    for (name, value) in [
        ("LANG", "C"),
        ("LC_ALL", "POSIX"),
        ("LC_ALL", "ko_KR.EUC-KR"),
        ("LANG", "nonsense"),
    ] {
        let start = Start::with(&catalog).env(name, value);
        let mut client = start.session();
        let answer = client.call("get_service", &json!({"id": "GanaBank"}));
        assert_eq!(answer["displayName"], "가나은행 개인뱅킹");
        let shown = start.args(["show", "GanaBank"]).run();
        assert!(shown.stdout.starts_with("가나은행 개인뱅킹\n"));
    }
}

#[test]
fn it_leaves_its_working_directory() {
    if Inapplicable::Proc.here() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let catalog = CatalogServer::start();
    let mut client = Start::with(&catalog).folder(folder.path()).session();
    let current = fs::read_link(format!("/proc/{}/cwd", client.pid())).unwrap();
    assert_ne!(current, folder.path().canonicalize().unwrap());
    // A relative path still means the folder where it started.
    fs::write(folder.path().join("c.xml"), crate::catalog_server::CATALOG).unwrap();
    client.assert_alive();
    let start = Start::new()
        .env("TABLECLOTH_CATALOG_URL", "c.xml")
        .folder(folder.path());
    start.session().assert_alive();
}
