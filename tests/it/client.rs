//! The built program as a child process, spoken to line by line.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};

use crate::catalog_server::CatalogServer;

/// How long to wait for what should come at once, on the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The program under test: the one just built, or the one named by
/// `TABLECLOTH_TEST_PROGRAM`.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("TABLECLOTH_TEST_PROGRAM").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_tablecloth-mcp")),
        PathBuf::from,
    )
}

/// Whether the program under test is one for Windows, perhaps run by Wine.
pub(crate) fn is_windows_program() -> bool {
    program().extension() == Some(OsStr::new("exe"))
}

/// How to start the program.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    program: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
}

impl Start {
    /// With an environment that holds nothing but a plain `PATH`, and what the command in
    /// `TABLECLOTH_TEST_PREFIX` needs, such as Wine or QEMU.
    pub(crate) fn new() -> Self {
        let prefixed = !prefix().is_empty();
        let of_prefix = |name: &OsStr| {
            let name = name.to_string_lossy();
            prefixed && (name == "HOME" || name.starts_with("WINE") || name.starts_with("QEMU"))
        };
        let mut start = Self {
            program: program(),
            arguments: vec![],
            variables: std::env::vars_os()
                .filter(|(name, _)| of_prefix(name))
                .collect(),
            folder: None,
        };
        if cfg!(unix) {
            start = start.env("PATH", "/usr/bin:/bin");
            if prefixed && is_windows_program() {
                // By which Wine reads the arguments.
                start = start.env("LC_ALL", "C.UTF-8");
            }
        } else if let Some(root) = std::env::var_os("SystemRoot") {
            // Windows cannot open a socket without it.
            start = start.env("SystemRoot", root);
        }
        start
    }

    /// With the catalog of a server.
    pub(crate) fn with(catalog: &CatalogServer) -> Self {
        Self::new().env("TABLECLOTH_CATALOG_URL", catalog.url())
    }

    /// Another program than the one under test, started the same way.
    pub(crate) fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub(crate) fn args<T: Into<OsString>>(mut self, words: impl IntoIterator<Item = T>) -> Self {
        self.arguments.extend(words.into_iter().map(Into::into));
        self
    }

    pub(crate) fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// The command, with all three streams piped.
    pub(crate) fn command(&self) -> Command {
        let mut words = prefix();
        words.push(self.program.clone().into());
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(&self.arguments)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    /// Runs a command to its end, without input.
    pub(crate) fn run(&self) -> Finished {
        let child = self.command().stdin(Stdio::null()).spawn().unwrap();
        Finished::from(child.wait_with_output().unwrap())
    }

    /// Runs to the end on this input.
    pub(crate) fn run_on(&self, input: &[u8]) -> Finished {
        let mut child = self.command().spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writing = std::thread::spawn(move || {
            // The program may end before it has read all.
            let _ = stdin.write_all(&input);
        });
        let finished = Finished::from(child.wait_with_output().unwrap());
        writing.join().unwrap();
        finished
    }

    /// Starts a server, not greeted yet.
    pub(crate) fn spawn(&self) -> Client {
        Client::of(&mut self.command())
    }

    /// Starts a server and opens a session with it.
    pub(crate) fn session(&self) -> Client {
        let mut client = self.spawn();
        client.initialize("2025-06-18");
        client
    }
}

fn prefix() -> Vec<OsString> {
    let prefix = std::env::var("TABLECLOTH_TEST_PREFIX").unwrap_or_default();
    prefix.split_whitespace().map(OsString::from).collect()
}

/// What a command has left.
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}

impl Finished {
    /// The messages on stdout, each checked.
    pub(crate) fn messages(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| message(line.as_bytes()).unwrap())
            .collect()
    }
}

/// A server and what it has said.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Result<Value, String>>,
    unclaimed: VecDeque<Value>,
    stderr: Option<JoinHandle<String>>,
    last_id: i64,
}

/// A line of stdout, which carries JSON-RPC and nothing else.
fn message(line: &[u8]) -> Result<Value, String> {
    match serde_json::from_slice::<Map<String, Value>>(line) {
        Ok(message) if message.get("jsonrpc") == Some(&json!("2.0")) => Ok(message.into()),
        _ => Err(format!(
            "stdout carries {:?}",
            String::from_utf8_lossy(line)
        )),
    }
}

impl Client {
    /// Starts any server. The command's streams must be piped.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in stdout.split(b'\n').map_while(Result::ok) {
                if sender.send(message(&line)).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Self {
            stdin: child.stdin.take(),
            child,
            messages,
            unclaimed: VecDeque::new(),
            stderr: Some(stderr),
            last_id: 0,
        }
    }

    #[cfg(unix)]
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("input is open");
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a line.
    pub(crate) fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request under an id of its own and returns that id.
    pub(crate) fn post(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = json!(self.last_id);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(crate) fn post_call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.post("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The next message that nobody has waited for, or nothing once stdout is closed.
    pub(crate) fn next(&mut self) -> Option<Value> {
        if let Some(message) = self.unclaimed.pop_front() {
            return Some(message);
        }
        match self.messages.recv_timeout(PATIENCE) {
            Ok(message) => Some(message.unwrap()),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing comes"),
        }
    }

    /// The response to a request.
    pub(crate) fn response(&mut self, id: &Value) -> Value {
        let mut passed_over = VecDeque::new();
        loop {
            let Some(message) = self.next() else {
                let code = self.child.wait();
                let stderr = self.stderr.take().map(JoinHandle::join);
                panic!("stdout closed before the response to {id}: {code:?}, {stderr:?}");
            };
            if message["id"] == *id {
                passed_over.append(&mut self.unclaimed);
                self.unclaimed = passed_over;
                return message;
            }
            passed_over.push_back(message);
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.post(method, params);
        self.response(&id)
    }

    /// Opens a session and returns what the server says of itself.
    pub(crate) fn initialize(&mut self, revision: &str) -> Value {
        let response = self.request(
            "initialize",
            &json!({
                "protocolVersion": revision,
                "capabilities": {},
                "clientInfo": {"name": "it", "version": "1"},
            }),
        );
        self.notify("notifications/initialized", &json!({}));
        response["result"].clone()
    }

    /// Calls a tool and returns its answer, which is no error.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.post_call(tool, arguments);
        answer_in(&self.response(&id))
    }

    /// Calls a tool with arguments that it refuses, and returns what it says.
    pub(crate) fn refusal(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.post_call(tool, arguments);
        let response = self.response(&id);
        assert_eq!(response["result"]["isError"], true, "{response}");
        json_in(&response)
    }

    /// Proves that the session goes on: a later call is answered.
    pub(crate) fn assert_alive(&mut self) {
        let answer = self.call("get_service", &json!({"id": "Tax24"}));
        assert_eq!(answer["displayName"], "세금이사");
    }

    pub(crate) fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Takes the messages that are left, until stdout closes.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Waits for the end of the program, which must come in time.
    pub(crate) fn exit_within(&mut self, limit: Duration) -> ExitStatus {
        exit_within(&mut self.child, limit)
    }

    /// Ends the session and returns what came on stderr.
    pub(crate) fn finish(mut self) -> String {
        self.close_input();
        self.exit_within(PATIENCE);
        self.stderr.take().unwrap().join().unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Where the child has only started the server, this ends the server.
        self.close_input();
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !std::thread::panicking() {
            // Also what nobody waited for has to be JSON-RPC.
            self.rest();
        }
    }
}

pub(crate) fn exit_within(child: &mut Child, limit: Duration) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(start.elapsed() < limit, "still there after {limit:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The answer in the response to a call that is no error.
pub(crate) fn answer_in(response: &Value) -> Value {
    assert_ne!(response["result"]["isError"], true, "{response}");
    json_in(response)
}

/// The JSON in the response to a call, which is there twice and equal.
fn json_in(response: &Value) -> Value {
    let result = &response["result"];
    let content = result["content"]
        .as_array()
        .unwrap_or_else(|| panic!("{response}"));
    assert_eq!(content.len(), 1, "{response}");
    assert_eq!(content[0]["type"], "text");
    let text = content[0]["text"].as_str().unwrap();
    let answer: Value = serde_json::from_str(text).unwrap();
    assert!(answer.is_object(), "{text}");
    assert_eq!(answer.to_string(), text, "the text is compact");
    assert_eq!(answer, result["structuredContent"]);
    assert!(!has_null(&answer), "{text}");
    answer
}

/// Fields without a value are left out, never null.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        _ => false,
    }
}

/// Waits until a file is there.
pub(crate) fn wait_for_file(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < PATIENCE, "no {}", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}
