//! Release packaging of `tablecloth-mcp`: what is written depends on the inputs alone.
//!
//! Each command lies in a file of its own.

mod archive;
mod bundle;
mod certificate;
mod certificate_path;
mod checksums;
mod digest;
mod executable;
mod icon;
mod localization;
mod manifest;
mod project;
mod public_key;
mod registry;
mod sign;
mod signature_block;
mod signed_data;
mod signing_key;
mod signing_time;
mod target;
#[cfg(test)]
mod test_signer;
mod tool_list;
mod verify;
mod winget;
mod zip_end;

use std::{error::Error, process::ExitCode};

use clap::{Parser, Subcommand};

/// Builds and checks what a release ships.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bundle(bundle::Bundle),
    Sign(sign::Sign),
    Verify(verify::Verify),
    Registry(registry::Registry),
    Winget(winget::Winget),
    Checksums(checksums::Checksums),
    Icon(icon::Icon),
    Tools(tool_list::Tools),
}

#[expect(clippy::print_stderr, reason = "a program for the command line")]
fn main() -> ExitCode {
    let outcome: Result<(), Box<dyn Error>> = match Arguments::parse().command {
        Command::Bundle(bundle) => bundle.run().map_err(Into::into),
        Command::Sign(sign) => sign.run().map_err(Into::into),
        Command::Verify(verify) => verify.run().map_err(Into::into),
        Command::Registry(registry) => registry.run().map_err(Into::into),
        Command::Winget(winget) => winget.run().map_err(Into::into),
        Command::Checksums(checksums) => checksums.run().map_err(Into::into),
        Command::Icon(icon) => icon.run().map_err(Into::into),
        Command::Tools(tools) => tools.run().map_err(Into::into),
    };
    let Err(error) = outcome else {
        return ExitCode::SUCCESS;
    };
    let mut cause: Option<&dyn Error> = Some(error.as_ref());
    let mut message = String::from("error");
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    eprintln!("{message}");
    ExitCode::FAILURE
}
