//! The command line: the same functions as the tools, for people and scripts.
#![allow(
    clippy::print_stderr,
    reason = "advice for the person at the terminal goes to stderr"
)]

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::Value;
use tracing::Level;
use tracing_subscriber::{
    Layer as _, filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::{
    arguments::Request,
    call,
    catalog::{CatalogSource, location::Location},
    display_width::table,
    doctor, sandbox, server, setting,
    texts::{TEXTS, fill},
};

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
        Err(error) => {
            // Fails where the terminal is gone.
            let _ = error.print();
            let is_help = !error.use_stderr();
            return ExitCode::from(if is_help { 0 } else { WRONG_USAGE });
        }
    };
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

fn command() -> Command {
    let texts = &TEXTS.cli;
    let args = &texts.args;
    let subcommand = |name: &'static str, about: &'static String| {
        Command::new(name)
            .about(about.as_str())
            .disable_help_flag(true)
            .arg(help())
    };
    let json = || {
        Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .help(args.json.as_str())
    };
    let ids = || {
        Arg::new("ids")
            .num_args(1..)
            .required(true)
            .help(args.ids.as_str())
    };
    Command::new(env!("CARGO_PKG_NAME"))
        .version(env!("CARGO_PKG_VERSION"))
        .about(texts.about.as_str())
        .after_help(texts.after_help.as_str())
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .arg(help())
        .arg(
            Arg::new("version")
                .long("version")
                .short('V')
                .action(ArgAction::Version)
                .help(args.version.as_str()),
        )
        .subcommand(subcommand("serve", &texts.commands.serve))
        .subcommand(
            subcommand("search", &texts.commands.search)
                .arg(
                    Arg::new("words")
                        .num_args(1..)
                        .required(true)
                        .help(args.words.as_str()),
                )
                .arg(
                    Arg::new("category")
                        .long("category")
                        .help(args.category.as_str()),
                )
                .arg(Arg::new("limit").long("limit").help(args.limit.as_str()))
                .arg(json()),
        )
        .subcommand(
            subcommand("show", &texts.commands.show)
                .arg(Arg::new("id").required(true).help(args.id.as_str()))
                .arg(json()),
        )
        .subcommand(subcommand("categories", &texts.commands.categories).arg(json()))
        .subcommand(
            subcommand("companions", &texts.commands.companions)
                .arg(Arg::new("query").num_args(0..).help(args.query.as_str()))
                .arg(json()),
        )
        .subcommand(
            subcommand("wsb", &texts.commands.wsb)
                .arg(ids())
                .arg(
                    Arg::new("output")
                        .short('o')
                        .long("output")
                        .value_parser(value_parser!(PathBuf))
                        .help(args.output.as_str()),
                )
                .arg(json()),
        )
        .subcommand(
            subcommand("open", &texts.commands.open)
                .arg(ids())
                .arg(json()),
        )
        .subcommand(subcommand("doctor", &texts.commands.doctor).arg(json()))
}

fn help() -> Arg {
    Arg::new("help")
        .long("help")
        .short('h')
        .action(ArgAction::Help)
        .help(TEXTS.cli.args.help.as_str())
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
            eprintln!("{advice}");
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
            eprintln!("{text}");
        }
    }
    let failed = answer.get("error").is_some();
    if failed {
        eprint!("{}", did_you_mean(list(&answer, "suggestions")));
        if let Some(path) = answer["wsbPath"].as_str() {
            eprintln!("{}", fill(&TEXTS.cli.wsb_path, &[("path", path)]));
        }
    }
    let saved = match output {
        Some(path) if !failed => save(path, &answer),
        _ if as_json => print(&(answer.to_string() + "\n")),
        _ if failed => true,
        _ => print(&human(&request, &answer)),
    };
    let nothing_found = matches!(request, Request::Search { .. } | Request::Companions { .. })
        && answer["matched"] == 0
        && list(&answer, "suggestions").is_empty();
    if failed || nothing_found || !saved {
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
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            tracing::error!(%error, "output cannot be written");
            false
        }
        _ => true,
    }
}

fn save(path: &Path, answer: &Value) -> bool {
    let shown = path.to_string_lossy();
    let wsb = text(answer, "wsb");
    match std::fs::write(path, wsb) {
        Ok(()) => {
            eprintln!("{}", fill(&TEXTS.cli.saved, &[("path", &shown)]));
            eprint!("{}", unknown_ids(answer));
            true
        }
        Err(error) => {
            let message = error.to_string();
            eprintln!(
                "{}",
                fill(
                    &TEXTS.cli.save_failed,
                    &[("path", &shown), ("message", &message)]
                )
            );
            false
        }
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn joined(values: &[Value]) -> String {
    let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    texts.join(", ")
}

/// A table of fields of the values in a list.
fn columns(values: &[Value], fields: &[&str]) -> String {
    let rows: Vec<Vec<String>> = values
        .iter()
        .map(|value| {
            let cell = |field: &&str| match &value[*field] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            fields.iter().map(cell).collect()
        })
        .collect();
    table(&rows)
}

/// An answer for a person to read.
fn human(request: &Request, answer: &Value) -> String {
    match request {
        Request::Search { .. } => found(answer),
        Request::Service { .. } => details(answer),
        Request::Categories => {
            let mut shown = columns(list(answer, "categories"), &["category", "count"]);
            let total = answer["totalServices"].to_string();
            shown += &fill(&TEXTS.cli.categories_total, &[("total", &total)]);
            shown + "\n"
        }
        Request::Companions { .. } => {
            let mut shown = columns(list(answer, "companions"), &["id", "displayName", "url"]);
            let matched = answer["matched"].to_string();
            shown += &fill(&TEXTS.cli.companions_total, &[("matched", &matched)]);
            shown + "\n"
        }
        // The file alone, for redirecting.
        Request::Wsb { .. } => {
            eprint!("{}", unknown_ids(answer));
            text(answer, "wsb").to_owned()
        }
        Request::Launch { .. } => launched(answer),
    }
}

fn found(answer: &Value) -> String {
    let results = list(answer, "results");
    let rows: Vec<Vec<String>> = results
        .iter()
        .map(|service| {
            let mark = service.get("compatWarning").map(|_| warning_mark());
            vec![
                text(service, "id").to_owned(),
                text(service, "displayName").to_owned(),
                text(service, "category").to_owned(),
                text(service, "url").to_owned(),
                mark.unwrap_or_default(),
            ]
        })
        .collect();
    let mut shown = table(&rows);
    let counts = fill(
        &TEXTS.cli.matched,
        &[
            ("total", &answer["totalServices"].to_string()),
            ("matched", &answer["matched"].to_string()),
        ],
    );
    shown += &counts;
    shown.push('\n');
    let suggestions = list(answer, "suggestions");
    shown += &did_you_mean(suggestions);
    match suggestions.first().or(results.first()) {
        Some(first) => {
            let next = fill(&TEXTS.cli.open_next, &[("id", text(first, "id"))]);
            shown += &next;
            shown.push('\n');
        }
        None => eprintln!("{}", text(answer, "note")),
    }
    shown
}

/// The suggestions as a question, if there are any.
fn did_you_mean(suggestions: &[Value]) -> String {
    if suggestions.is_empty() {
        return String::new();
    }
    let suggested = columns(suggestions, &["id", "displayName", "url", "reason"]);
    format!("{}\n{suggested}", TEXTS.cli.did_you_mean)
}

fn warning_mark() -> String {
    format!("[{}]", TEXTS.cli.warning_mark)
}

fn details(answer: &Value) -> String {
    let mut shown = String::new();
    for field in ["displayName", "displayNameEn", "category", "url"] {
        let text = text(answer, field);
        if !text.is_empty() {
            shown.extend([text, "\n"]);
        }
    }
    let headings = &TEXTS.cli.headings;
    let mut section = |heading: &str, content: &str| {
        if !content.trim().is_empty() {
            let lines = content.lines().map(|line| format!("  {}\n", line.trim()));
            shown.extend(["\n", heading, "\n"]);
            shown.extend(lines);
        }
    };
    section(
        &headings.packages,
        &columns(list(answer, "packages"), &["name", "url"]),
    );
    section(
        &headings.edge_extensions,
        &columns(list(answer, "edgeExtensions"), &["name", "extensionId"]),
    );
    section(&headings.search_keywords, text(answer, "searchKeywords"));
    section(&headings.compat_notes, text(answer, "compatNotes"));
    shown + "\n" + &fill(&TEXTS.cli.open_next, &[("id", text(answer, "id"))]) + "\n"
}

fn launched(answer: &Value) -> String {
    let ids = joined(list(answer, "siteIds"));
    let mut shown = fill(
        &TEXTS.cli.launched,
        &[("ids", &ids), ("runner", text(answer, "runner"))],
    );
    shown.push('\n');
    shown += &fill(&TEXTS.cli.wsb_path, &[("path", text(answer, "wsbPath"))]);
    shown.push('\n');
    shown += &unknown_ids(answer);
    for warning in list(answer, "compatWarnings") {
        let name = text(warning, "displayName");
        let warning = text(warning, "warning");
        shown.extend([&warning_mark(), " ", name, ": ", warning, "\n"]);
    }
    shown + text(answer, "note") + "\n"
}

/// The line about ids that were left out, if any were.
fn unknown_ids(answer: &Value) -> String {
    let ids = joined(list(answer, "unknownIdsIgnored"));
    if ids.is_empty() {
        return String::new();
    }
    fill(&TEXTS.cli.unknown_ids, &[("ids", &ids)]) + "\n"
}
