//! Messages between the standard streams and rmcp.
//!
//! Each request gets an id of ours on its way in, and its own back on its way
//! out. So ids may be of any kind, or used twice at a time.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomRequest, ErrorCode,
        RequestId, ServerJsonRpcMessage,
    },
    transport::Transport,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, mpsc};

use crate::stdio::{Line, Writer, id_scan::IdScan};

/// How long calls in progress may take after the input has ended, or after the
/// last answer since then.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// Calls in progress at which no more are begun.
const MOST_IN_PROGRESS: usize = 64;
/// Bytes of input that wait for their turn at which reading pauses.
const MOST_AHEAD: usize = 4 * 1024 * 1024;

/// What rmcp receives from and sends to.
pub(super) struct Wire {
    lines: mpsc::Receiver<Line>,
    writer: Writer,
    /// Lines read ahead while there was no room for another call.
    ahead: VecDeque<Line>,
    ahead_bytes: usize,
    input_ended: bool,
    /// Messages of a batch that wait for their turn.
    waiting: VecDeque<Value>,
    last_id: i64,
    pub(super) in_progress: Arc<InProgress>,
    /// Told when the input has ended.
    pub(super) ended: Arc<Notify>,
}

/// The requests that are not answered, by our id, with the sender's id.
#[derive(Default)]
pub(super) struct InProgress {
    ids: Mutex<HashMap<i64, Value>>,
    /// Told when a request is not in progress any more.
    room: Notify,
    /// The same, for the end of the session.
    progress: Notify,
}

impl InProgress {
    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Value>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, id: &RequestId) -> Option<Value> {
        let RequestId::Number(id) = id else {
            return None;
        };
        let ended = self.lock().remove(id);
        self.room.notify_one();
        self.progress.notify_one();
        ended
    }

    fn our_id(&self, theirs: &Value) -> Option<i64> {
        let ids = self.lock();
        ids.iter()
            .find(|&(_, id)| id == theirs)
            .map(|(&ours, _)| ours)
    }

    fn has_room(&self) -> bool {
        self.lock().len() < MOST_IN_PROGRESS
    }

    /// Returns once no request has been answered for [`GRACE`].
    pub(super) async fn stalled(&self) {
        while tokio::time::timeout(GRACE, self.progress.notified())
            .await
            .is_ok()
        {}
    }
}

/// A message that is refused, and what to say.
struct Refused {
    id: Value,
    code: ErrorCode,
    message: &'static str,
}

#[derive(Serialize)]
struct Response<'a, T> {
    jsonrpc: &'static str,
    id: &'a Value,
    #[serde(flatten)]
    outcome: Outcome<'a, T>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome<'a, T> {
    Result(&'a T),
    Error(&'a ErrorData),
}

impl Wire {
    pub(super) fn new(lines: mpsc::Receiver<Line>, writer: Writer) -> Self {
        Self {
            lines,
            writer,
            ahead: VecDeque::new(),
            ahead_bytes: 0,
            input_ended: false,
            waiting: VecDeque::new(),
            last_id: 0,
            in_progress: Arc::default(),
            ended: Arc::default(),
        }
    }

    /// Waits until another call can begin. Reads on meanwhile, because calls that
    /// wait for the network must not hide the end of the input.
    async fn wait_for_room(&mut self) {
        while !self.in_progress.has_room() {
            let may_read = !self.input_ended && self.ahead_bytes < MOST_AHEAD;
            tokio::select! {
                () = self.in_progress.room.notified() => {}
                line = self.lines.recv(), if may_read => match line {
                    Some(line) => {
                        self.ahead_bytes += line.size();
                        self.ahead.push_back(line);
                    }
                    None => self.end_input(),
                },
            }
        }
    }

    async fn next_line(&mut self) -> Option<Line> {
        if let Some(line) = self.ahead.pop_front() {
            self.ahead_bytes -= line.size();
            return Some(line);
        }
        let line = self.lines.recv().await;
        if line.is_none() {
            self.end_input();
        }
        line
    }

    fn end_input(&mut self) {
        self.input_ended = true;
        self.ended.notify_one();
    }

    /// The message in a line, unless it is to be refused or passed over.
    fn message(&mut self, line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refused> {
        match serde_json::from_slice(line) {
            Ok(Value::Array(batch)) if batch.is_empty() => Err(Refused {
                id: Value::Null,
                code: ErrorCode::INVALID_REQUEST,
                message: "batch is empty",
            }),
            // Answered one by one: revisions without batches have no answer for a batch.
            Ok(Value::Array(batch)) => {
                self.waiting.extend(batch);
                Ok(None)
            }
            Ok(message) => self.single(message),
            Err(error) => {
                tracing::debug!(%error, "line cannot be parsed");
                Err(Refused {
                    id: IdScan::of(line).unwrap_or_default(),
                    code: ErrorCode::PARSE_ERROR,
                    message: "line is not JSON in UTF-8, or is nested too deeply",
                })
            }
        }
    }

    fn single(&mut self, message: Value) -> Result<Option<ClientJsonRpcMessage>, Refused> {
        let refused = |id: Option<Value>, message| Refused {
            id: id
                .filter(|id| id.is_string() || id.is_number())
                .unwrap_or_default(),
            code: ErrorCode::INVALID_REQUEST,
            message,
        };
        let Value::Object(mut message) = message else {
            return Err(refused(None, "message is not an object"));
        };
        let id = message.remove("id");
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(refused(id, "jsonrpc is not \"2.0\""));
        }
        let Some(Value::String(method)) = message.remove("method") else {
            if message.contains_key("result") || message.contains_key("error") {
                tracing::debug!("answer to nothing we asked");
                return Ok(None);
            }
            return Err(refused(id, "method is not a string"));
        };
        let params = match message.remove("params") {
            None | Some(Value::Null) => None,
            Some(Value::Object(params)) => Some(params),
            Some(_) if id.is_none() => return Ok(None),
            Some(_) => {
                return Err(Refused {
                    code: ErrorCode::INVALID_PARAMS,
                    ..refused(id, "params is not an object")
                });
            }
        };
        match id {
            None => Ok(self.notification(&method, params)),
            Some(id) if id.is_string() || id.is_number() => {
                self.last_id += 1;
                let ours = self.last_id;
                self.in_progress.lock().insert(ours, id);
                let request = request(method, params);
                Ok(Some(ClientJsonRpcMessage::request(
                    request,
                    RequestId::Number(ours),
                )))
            }
            Some(_) => Err(refused(None, "id is neither a string nor a number")),
        }
    }

    fn notification(
        &self,
        method: &str,
        params: Option<Map<String, Value>>,
    ) -> Option<ClientJsonRpcMessage> {
        let mut params = params.unwrap_or_default();
        if method == "notifications/cancelled" {
            let ours = self.in_progress.our_id(params.get("requestId")?)?;
            self.in_progress.end(&RequestId::Number(ours));
            params.insert("requestId".to_owned(), ours.into());
        }
        let notification = json!({"method": method, "params": params});
        serde_json::from_value::<ClientNotification>(notification)
            .map(ClientJsonRpcMessage::notification)
            .inspect_err(|error| tracing::debug!(%error, method, "notification passed over"))
            .ok()
    }

    async fn refuse(&self, refused: Refused) {
        let error = ErrorData::new(refused.code, refused.message, None);
        let response = Response::<()> {
            jsonrpc: "2.0",
            id: &refused.id,
            outcome: Outcome::Error(&error),
        };
        if let Err(error) = write(&self.writer, &response).await {
            tracing::debug!(%error, "refusal not sent");
        }
    }
}

/// The request as rmcp knows it; as a custom one where it does not.
fn request(method: String, params: Option<Map<String, Value>>) -> ClientRequest {
    let typed = |params: &Option<Map<String, Value>>| {
        let mut request = json!({"method": method});
        if let Some(params) = params {
            request["params"] = params.clone().into();
        }
        serde_json::from_value::<ClientRequest>(request).ok()
    };
    match typed(&params) {
        Some(ClientRequest::CustomRequest(_)) | None => {}
        Some(request) => return request,
    }
    if method == "initialize" {
        // What a client says of itself decides nothing here but the revision.
        let version = params
            .as_ref()
            .and_then(|params| params.get("protocolVersion")?.as_str())
            .unwrap_or_default();
        let minimal = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "", "version": ""},
        });
        if let Some(request) = typed(&minimal.as_object().cloned()) {
            return request;
        }
    }
    ClientRequest::CustomRequest(CustomRequest::new(method, params.map(Value::Object)))
}

async fn write(writer: &Writer, message: &impl Serialize) -> io::Result<()> {
    let line = serde_json::to_vec(message).map_err(io::Error::other)?;
    writer.write(line).await
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = self.writer.clone();
        let in_progress = Arc::clone(&self.in_progress);
        async move {
            let ours = match &message {
                ServerJsonRpcMessage::Response(response) => Some(&response.id),
                ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
                _ => return write(&writer, &message).await,
            };
            let Some(id) = ours.and_then(|ours| in_progress.end(ours)) else {
                return Ok(());
            };
            let outcome = match &message {
                ServerJsonRpcMessage::Response(response) => Outcome::Result(&response.result),
                ServerJsonRpcMessage::Error(error) => Outcome::Error(&error.error),
                _ => return Ok(()),
            };
            let response = Response {
                jsonrpc: "2.0",
                id: &id,
                outcome,
            };
            write(&writer, &response).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        // Called anew whenever another message comes between, so nothing is held across an await.
        loop {
            self.wait_for_room().await;
            let taken = match self.waiting.pop_front() {
                Some(message) => self.single(message),
                None => match self.next_line().await {
                    Some(Line::Whole(line)) => self.message(&line),
                    Some(Line::TooLong(id)) => Err(Refused {
                        id: id.unwrap_or_default(),
                        code: ErrorCode::INVALID_REQUEST,
                        message: "line is longer than 1 MiB",
                    }),
                    None => return None,
                },
            };
            match taken {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refused) => self.refuse(refused).await,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
