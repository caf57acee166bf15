//! Release packaging of `tablecloth-mcp`. It has no commands yet: the bundle,
//! its signature and the package manifests will be built here.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::SUCCESS
}
