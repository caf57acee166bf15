//! What can be typed, and what is said of what cannot be understood.

use std::path::PathBuf;

use clap::{
    Arg, ArgAction, Command,
    error::{ContextKind, ContextValue, Error, ErrorKind},
    value_parser,
};

use crate::texts::{TEXTS, fill};

/// The commands that `help` knows.
const COMMANDS: [&str; 8] = [
    "serve",
    "search",
    "show",
    "categories",
    "companions",
    "wsb",
    "open",
    "doctor",
];

/// The layout of a help page, with headings in the language of its texts.
fn template(has_commands: bool) -> String {
    let texts = &TEXTS.cli.usage;
    let commands = if has_commands {
        format!("{}:\n{{subcommands}}\n\n", texts.commands)
    } else {
        "{positionals}\n\n".to_owned()
    };
    format!(
        "{{about}}\n\n{}: {{usage}}\n\n{commands}{}:\n{{options}}{{after-help}}",
        texts.usage, texts.options,
    )
}

/// What is wrong with the words of a command, and how it is used.
pub(super) fn advice(error: &Error) -> String {
    let texts = &TEXTS.cli.usage;
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    };
    let named = |template: &str, kind| fill(template, &[("word", &context(kind))]);
    let mut said = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            named(&texts.unknown_command, ContextKind::InvalidSubcommand)
        }
        ErrorKind::UnknownArgument => named(&texts.unknown_option, ContextKind::InvalidArg),
        ErrorKind::MissingRequiredArgument => named(&texts.missing, ContextKind::InvalidArg),
        ErrorKind::InvalidValue if context(ContextKind::InvalidValue).is_empty() => {
            named(&texts.missing, ContextKind::InvalidArg)
        }
        ErrorKind::InvalidValue => named(&texts.unknown_command, ContextKind::InvalidValue),
        _ => named(&texts.not_understood, ContextKind::InvalidArg),
    };
    let near = context(ContextKind::SuggestedSubcommand) + &context(ContextKind::SuggestedArg);
    if !near.is_empty() {
        said = format!("{said} {}", fill(&texts.suggestion, &[("word", &near)]));
    }
    format!("{said}\n{}\n", texts.more)
}

/// All commands with their arguments.
pub(super) fn command() -> Command {
    let texts = &TEXTS.cli;
    let args = &texts.args;
    let subcommand = |name: &'static str, about: &'static String| {
        Command::new(name)
            .about(about.as_str())
            .disable_help_flag(true)
            .help_template(template(false))
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
        // Not as the file happens to be called.
        .bin_name(env!("CARGO_PKG_NAME"))
        .version(env!("CARGO_PKG_VERSION"))
        .about(texts.about.as_str())
        .after_help(texts.after_help.as_str())
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .help_template(template(true))
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
        .subcommand(
            subcommand("help", &texts.commands.help).arg(
                Arg::new("command")
                    .value_parser(COMMANDS)
                    .help(args.command.as_str()),
            ),
        )
}

fn help() -> Arg {
    Arg::new("help")
        .long("help")
        .short('h')
        .action(ArgAction::Help)
        .help(TEXTS.cli.args.help.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_sound() {
        command().debug_assert();
        let names: Vec<String> = command()
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .collect();
        assert_eq!(names[..COMMANDS.len()], COMMANDS);
        assert_eq!(names[COMMANDS.len()..], ["help"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let texts = &TEXTS.cli.usage;
        for (words, template, word) in [
            (&["serach"][..], &texts.unknown_command, "serach"),
            (
                &["search", "--lmit", "1", "x"],
                &texts.unknown_option,
                "--lmit",
            ),
            (&["show"], &texts.missing, "<id>"),
            (
                &["search", "x", "--limit"],
                &texts.missing,
                "--limit <limit>",
            ),
            (&["help", "nothing"], &texts.unknown_command, "nothing"),
        ] {
            let given = [&["tablecloth-mcp"][..], words].concat();
            let error = command().try_get_matches_from(given).unwrap_err();
            let advice = advice(&error);
            assert!(
                advice.starts_with(&fill(template, &[("word", word)])),
                "{words:?}: {advice}"
            );
            assert!(advice.ends_with(&format!("{}\n", texts.more)));
        }
        let error = command()
            .try_get_matches_from(["tablecloth-mcp", "serach"])
            .unwrap_err();
        assert!(advice(&error).contains("search"));
    }
}
