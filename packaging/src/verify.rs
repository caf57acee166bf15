//! The `verify` command.

use std::convert::Infallible;

/// To be written.
#[derive(clap::Args)]
pub struct Verify {}

impl Verify {
    /// Runs the command.
    pub fn run(self) -> Result<(), Infallible> {
        Ok(())
    }
}
