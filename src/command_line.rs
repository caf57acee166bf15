//! The command line: the same functions as the tools, for people and scripts.
#![allow(
    clippy::print_stderr,
    reason = "advice for the person at the terminal goes to stderr"
)]

mod report;
mod usage;

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::ArgMatches;
use serde_json::Value;
use tracing::Level;
use tracing_subscriber::{
    Layer as _, filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::{
    arguments::Request,
    call,
    catalog::{CatalogSource, location::Location},
    doctor, sandbox, server, setting,
    texts::{TEXTS, fill},
};

use report::{did_you_mean, for_terminal, human, list, text, unknown_ids};
use usage::command;

/// Not found, or not possible here.
const NOT_DONE: u8 = 1;
/// The words of the command are wrong.
const WRONG_USAGE: u8 = 2;

/// Runs the program and returns its exit code: 0, 1 for what was not found or is
/// not possible here, 2 for wrong usage.
#[must_use]
pub fn run() -> ExitCode {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) if error.use_stderr() => {
            eprint!("{}", usage::advice(&error));
            return ExitCode::from(WRONG_USAGE);
        }
        Err(help) => {
            return ExitCode::from(if print(&help.to_string()) {
                0
            } else {
                NOT_DONE
            });
        }
    };
    if let Some(("help", matches)) = matches.subcommand() {
        return ExitCode::from(explain(matches));
    }
    let serves = matches!(matches.subcommand_name(), None | Some("serve"));
    start_log(if serves { Level::WARN } else { Level::ERROR });
    #[cfg(windows)]
    sandbox::windows::keep_standard_handles();
    let source = CatalogSource::new(Location::from_environment());
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "no runtime");
            return ExitCode::from(NOT_DONE);
        }
    };
    let code = runtime.block_on(async {
        match matches.subcommand() {
            None | Some(("serve", _)) => serve(source).await,
            Some(("doctor", matches)) => examine(source, matches.get_flag("json")).await,
            Some((name, matches)) => answer(source, name, matches).await,
        }
    });
    // A name lookup or a launch that still goes on must not hold up the end.
    runtime.shutdown_background();
    ExitCode::from(code)
}

/// Logs to stderr, by default what a server's host should know, or for a command only
/// what its own advice does not say.
fn start_log(default: Level) {
    let wanted = setting::read(setting::LOG).and_then(|wanted| wanted.parse().ok());
    let filter = wanted.unwrap_or_else(|| {
        // The protocol library warns of each answer that is an error, which the client sees.
        Targets::new()
            .with_default(default)
            .with_target("rmcp", Level::ERROR)
    });
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .without_time();
    tracing_subscriber::registry()
        .with(layer.with_filter(filter))
        .init();
}

/// Prints the help of a command, or of the program.
fn explain(matches: &ArgMatches) -> u8 {
    let mut command = command().bin_name(env!("CARGO_PKG_NAME"));
    command.build();
    let explained = match matches.get_one::<String>("command") {
        Some(name) => command.find_subcommand_mut(name),
        None => Some(&mut command),
    };
    let help = explained.map(|command| command.render_help().to_string());
    if print(&help.unwrap_or_default()) {
        0
    } else {
        NOT_DONE
    }
}

async fn serve(source: CatalogSource) -> u8 {
    if io::stdin().is_terminal() {
        eprintln!("{}", registration());
    }
    leave_folder();
    match server::serve(source).await {
        Ok(()) => 0,
        Err(error) => {
            tracing::error!(%error, "standard streams cannot be used");
            NOT_DONE
        }
    }
}

/// How to register this very program with a client.
fn registration() -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| env!("CARGO_PKG_NAME").into());
    let program = program.to_string_lossy();
    let quoted = Value::from(program.as_ref()).to_string();
    let in_json = quoted.trim_matches('"');
    fill(
        &TEXTS.cli.serve_on_terminal,
        &[("program", &program), ("jsonProgram", in_json)],
    )
}

/// A working directory inside a bundle keeps Windows from updating or removing
/// that bundle (claude-code#62419).
fn leave_folder() {
    if let Err(error) = std::env::set_current_dir(sandbox::file::folder()) {
        tracing::debug!(%error, "working directory stays");
    }
}

async fn examine(source: CatalogSource, as_json: bool) -> u8 {
    if io::stderr().is_terminal() {
        eprintln!("{}", TEXTS.doctor.working);
    }
    let report = doctor::Report::new(&doctor::Facts::gather(&source).await);
    let printed = if as_json {
        serde_json::to_string(&report).is_ok_and(|json| print(&(json + "\n")))
    } else {
        print(&report.to_string())
    };
    if report.ok && printed { 0 } else { NOT_DONE }
}

async fn answer(source: CatalogSource, name: &str, matches: &ArgMatches) -> u8 {
    let request = match request(name, matches) {
        Ok(request) => request,
        Err(advice) => {
            eprintln!("{}", for_terminal(&advice));
            return WRONG_USAGE;
        }
    };
    let answer = call::answer(&source, &request).await;
    let output = matches
        .try_get_one::<PathBuf>("output")
        .ok()
        .flatten()
        .map(PathBuf::as_path);
    let as_json = matches.get_flag("json");
    // Told apart from the answer itself, which a script may read.
    for field in ["error", "hint", "catalogNotice", "cutNotice"] {
        if let Some(text) = answer[field].as_str() {
            eprintln!("{}", for_terminal(text));
        }
    }
    let failed = answer.get("error").is_some();
    if failed {
        eprint!("{}", did_you_mean(list(&answer, "suggestions")));
        if let Some(path) = answer["wsbPath"].as_str() {
            eprintln!("{}", fill(&TEXTS.cli.wsb_path, &[("path", path)]));
        }
    }
    let nothing_found = matches!(request, Request::Search { .. } | Request::Companions { .. })
        && answer["matched"] == 0
        && list(&answer, "suggestions").is_empty();
    if nothing_found && !as_json {
        eprintln!("{}", TEXTS.cli.nothing_found);
    }
    if output.is_some() || matches!(request, Request::Wsb { .. }) {
        eprint!("{}", unknown_ids(&answer));
    }
    let mut written = true;
    if let Some(path) = output.filter(|_| !failed) {
        written = save(path, text(&answer, "wsb"));
    }
    if as_json {
        written &= print(&(answer.to_string() + "\n"));
    } else if output.is_none() && !failed {
        written &= print(&human(&request, &answer));
    }
    if failed || nothing_found || !written {
        NOT_DONE
    } else {
        0
    }
}

/// The request that a command makes of the tool of the same function.
fn request(name: &str, matches: &ArgMatches) -> Result<Request, String> {
    let words = |name: &str| -> Vec<String> {
        matches
            .get_many::<String>(name)
            .map(|words| words.cloned().collect())
            .unwrap_or_default()
    };
    let arguments = match name {
        "search" => serde_json::json!({
            "query": words("words").join(" "),
            "category": matches.get_one::<String>("category"),
            "limit": matches.get_one::<String>("limit"),
        }),
        "show" => serde_json::json!({"id": matches.get_one::<String>("id")}),
        "companions" => serde_json::json!({"query": words("query").join(" ")}),
        "wsb" | "open" => serde_json::json!({"serviceIds": words("ids")}),
        _ => Value::Null,
    };
    Request::read(tool(name), &arguments).map_err(|error| error.advice())
}

fn tool(command: &str) -> crate::tool::Tool {
    use crate::tool::Tool;

    match command {
        "search" => Tool::SearchServices,
        "show" => Tool::GetService,
        "companions" => Tool::ListCompanions,
        "wsb" => Tool::GenerateWsb,
        "open" => Tool::LaunchSandbox,
        _ => Tool::ListCategories,
    }
}

/// Writes to stdout. A reader that has seen enough, such as `head`, is no fault.
fn print(text: &str) -> bool {
    let mut stdout = io::stdout().lock();
    let outcome = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match outcome {
        Err(error) if !reader_has_gone(&error) => {
            tracing::error!(%error, "output cannot be written");
            false
        }
        _ => true,
    }
}

fn reader_has_gone(error: &io::Error) -> bool {
    /// Of a named pipe, as Node has them. The standard library takes it for another fault.
    const ERROR_PIPE_NOT_CONNECTED: i32 = 233;
    error.kind() == io::ErrorKind::BrokenPipe
        || cfg!(windows) && error.raw_os_error() == Some(ERROR_PIPE_NOT_CONNECTED)
}

/// Writes the file whole or not at all; `-` is stdout.
fn save(path: &Path, wsb: &str) -> bool {
    if path == Path::new("-") {
        return print(wsb);
    }
    let shown = path.to_string_lossy();
    match replace(path, wsb) {
        Ok(()) => {
            eprintln!("{}", fill(&TEXTS.cli.saved, &[("path", &shown)]));
            true
        }
        Err(error) => {
            tracing::debug!(%error, "file cannot be saved");
            let message = error.to_string();
            let values = [("path", &*shown), ("message", &message)];
            eprintln!("{}", fill(&TEXTS.cli.save_failed, &values));
            false
        }
    }
}

fn replace(path: &Path, content: &str) -> io::Result<()> {
    // A pipe or a device is not to be replaced by a file.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, content);
    }
    // A link stays one, and its target is what is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.prefix(".tablecloth-").tempfile_in(folder)?;
    file.write_all(content.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
