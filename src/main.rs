//! The `tablecloth-mcp` program: see [`tablecloth_mcp::command_line`].

use std::process::ExitCode;

fn main() -> ExitCode {
    tablecloth_mcp::command_line::run()
}
