//! The MCP server: the only module that knows rmcp.
//!
//! rmcp answers in the session model once it is running, but its own opening
//! ends the session at the first message it does not expect there, and its
//! reader drops what it cannot parse. So the service is started without rmcp's
//! opening, and [`Wire`] hands it well-formed messages only, under ids of its own.

mod wire;

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
        ErrorCode, Implementation, InitializeRequestParams, InitializeResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
        Tool as ListedTool, ToolAnnotations,
    },
    service::{RequestContext, serve_directly},
};
use serde_json::Value;

use crate::{
    answer,
    arguments::Request,
    call,
    catalog::CatalogSource,
    stdio::{self, Writer},
    texts::{TEXTS, fill},
    tool::Tool,
};
use wire::Wire;

/// How long calls may wait for the network once the input has ended, of the
/// [grace](wire::GRACE) they have then.
const PATIENCE: Duration = Duration::from_secs(1);

/// The protocol revisions that clients may speak, oldest first.
#[must_use]
pub fn revisions() -> Vec<String> {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter();
    known.map(ToString::to_string).collect()
}

/// Serves standard input and output until the input ends, the output closes or
/// a signal comes. Calls in progress when it returns are not finished.
pub async fn serve(source: CatalogSource) -> io::Result<()> {
    let session = serve_streams(source, || io::stdin().lock(), || io::stdout().lock());
    tokio::select! {
        outcome = session => outcome?,
        () = stdio::reader_gone() => tracing::info!("standard output is closed"),
        () = stopped() => tracing::info!("stopped by a signal"),
    }
    Ok(())
}

/// Serves the streams that these open, each in a thread of its own, until the
/// input ends or the output fails. Calls in progress when it returns are not finished.
pub async fn serve_streams<R: BufRead, W: Write>(
    source: CatalogSource,
    input: impl FnOnce() -> R + Send + 'static,
    output: impl FnOnce() -> W + Send + 'static,
) -> io::Result<()> {
    let writer = Writer::start(output)?;
    let wire = Wire::new(stdio::read_lines(input)?, writer.clone());
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
        () = writer.closed() => tracing::info!("output is closed"),
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
            let bounded_name: String = name.chars().take(100).collect();
            let message = fill(
                &TEXTS.arguments.unknown_tool,
                &[("tool", &bounded_name), ("tools", &names)],
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
