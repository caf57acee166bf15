//! The MCP server: the only module that knows rmcp.
//!
//! rmcp answers in the session model once it is running, but its own opening
//! ends the session at the first message it does not expect there, and its
//! reader drops what it cannot parse. So the service is started without rmcp's
//! opening, and [`Wire`] hands it well-formed messages only, under ids of its own.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientJsonRpcMessage,
        ClientNotification, ClientRequest, CustomRequest, CustomResult, ErrorCode, Implementation,
        InitializeRequestParams, InitializeResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, RequestId, ServerCapabilities, ServerConfig, ServerJsonRpcMessage,
        Tool as ListedTool, ToolAnnotations,
    },
    service::{RequestContext, serve_directly},
    transport::Transport,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, mpsc};

use crate::{
    answer,
    arguments::Request,
    call,
    catalog::CatalogSource,
    stdio::{self, Line, Writer, id_scan::IdScan},
    texts::{TEXTS, fill},
    tool::Tool,
};

/// How long calls in progress may take after the input has ended, or after the
/// last answer since then.
const GRACE: Duration = Duration::from_secs(2);
/// How long they may wait for the network of that.
const PATIENCE: Duration = Duration::from_secs(1);
/// Calls in progress at which no more are begun.
const MOST_IN_PROGRESS: usize = 64;
/// Bytes of input that wait for their turn at which reading pauses.
const MOST_AHEAD: usize = 4 * 1024 * 1024;

/// Serves standard input and output until the input ends, the output closes or
/// a signal comes. Calls in progress when it returns are not finished.
pub async fn serve(source: CatalogSource) -> io::Result<()> {
    let writer = Writer::start()?;
    let wire = Wire::new(stdio::read_lines()?, writer.clone());
    let ended = Arc::clone(&wire.ended);
    let in_progress = Arc::clone(&wire.in_progress);
    let service = Service {
        source: source.clone(),
    };
    let running = serve_directly(service, wire, None);
    let hurry = async {
        tokio::time::sleep(PATIENCE).await;
        source.hurry();
    };
    tokio::select! {
        outcome = running.waiting() => {
            if let Err(error) = outcome {
                tracing::error!(%error, "service died");
            }
        }
        () = async { ended.notified().await; tokio::join!(hurry, in_progress.stalled()); } => {
            tracing::warn!("calls in progress are given up");
        }
        () = writer.closed() => tracing::info!("standard output is closed"),
        () = stopped() => tracing::info!("stopped by a signal"),
    }
    Ok(())
}

#[cfg(unix)]
async fn stopped() {
    use tokio::signal::unix::{SignalKind, signal};

    let signals = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ];
    let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)) = signals.map(signal).into() else {
        // Without handlers the signals do what they do by default: end the program.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
    }
}

#[cfg(windows)]
async fn stopped() {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};

    let (Ok(mut c), Ok(mut r#break), Ok(mut close), Ok(mut shutdown)) =
        (ctrl_c(), ctrl_break(), ctrl_close(), ctrl_shutdown())
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = c.recv() => {}
        _ = r#break.recv() => {}
        _ = close.recv() => {}
        _ = shutdown.recv() => {}
    }
}

/// What clients are answered.
struct Service {
    source: CatalogSource,
}

impl Service {
    async fn call(&self, name: &str, arguments: Value) -> Result<CallToolResult, ErrorData> {
        let Some(tool) = Tool::by_name(name) else {
            let names = Tool::ALL.map(Tool::name).join(", ");
            let message = fill(
                &TEXTS.arguments.unknown_tool,
                &[("tool", name), ("tools", &names)],
            );
            return Err(ErrorData::invalid_params(message, None));
        };
        let request = Request::read(tool, &arguments);
        // They may take megabytes, and the call may wait for the network.
        drop(arguments);
        match request {
            Ok(request) => {
                let answer = call::answer(&self.source, &request).await;
                Ok(CallToolResult::structured(answer))
            }
            Err(error) => {
                tracing::info!(%error, "arguments refused");
                let answer = answer::refusal(&error.advice());
                Ok(CallToolResult::structured_error(answer))
            }
        }
    }
}

impl ServerHandler for Service {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(Implementation::new(
                env!("CARGO_PKG_NAME"),
                env!("CARGO_PKG_VERSION"),
            ))
            .with_instructions(TEXTS.server.instructions.as_str())
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let answer = self.negotiate_initialize(&request)?;
        // Later answers take the shape of the revision agreed on, not of the one asked for.
        request.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(answer)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            Tool::ALL.map(listed).to_vec(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        tokio::select! {
            result = self.call(&request.name, arguments) => Ok(result?.into()),
            // The answer is not sent, so it need not be found. A fetch goes on for others.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }

    /// Requests of unknown methods, and of known ones whose parameters rmcp cannot read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        if !is_known(&method) {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
        }
        let mut params = params.unwrap_or_default();
        if method == "tools/call"
            && let Some(name) = params["name"].as_str().map(str::to_owned)
        {
            let arguments = params["arguments"].take();
            let mut result = self.call(&name, arguments).await?;
            result.result_type = None;
            let result = serde_json::to_value(result)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            return Ok(CustomResult(result));
        }
        Err(ErrorData::invalid_params(
            format!("params of {method} cannot be understood"),
            None,
        ))
    }
}

fn is_known(method: &str) -> bool {
    matches!(
        method,
        "initialize" | "ping" | "server/discover" | "tools/call" | "tools/list"
    )
}

fn listed(tool: Tool) -> ListedTool {
    let mut annotations = ToolAnnotations::with_title(tool.title())
        .read_only(tool.is_read_only())
        .open_world(true);
    if !tool.is_read_only() {
        annotations = annotations.destructive(false);
    }
    ListedTool::new(tool.name(), tool.description(), tool.input_schema())
        .with_title(tool.title())
        .with_annotations(annotations)
}

/// Messages between the standard streams and rmcp.
///
/// Each request gets an id of ours on its way in, and its own back on its way
/// out. So ids may be of any kind, or used twice at a time.
struct Wire {
    lines: mpsc::Receiver<Line>,
    writer: Writer,
    /// Lines read ahead while there was no room for another call.
    ahead: VecDeque<Line>,
    ahead_bytes: usize,
    input_ended: bool,
    /// Messages of a batch that wait for their turn.
    waiting: VecDeque<Value>,
    last_id: i64,
    in_progress: Arc<InProgress>,
    /// Told when the input has ended.
    ended: Arc<Notify>,
}

/// The requests that are not answered, by our id, with the sender's id.
#[derive(Default)]
struct InProgress {
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
    async fn stalled(&self) {
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
    fn new(lines: mpsc::Receiver<Line>, writer: Writer) -> Self {
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
