//! The `sign` command.

use std::convert::Infallible;

/// To be written.
#[derive(clap::Args)]
pub struct Sign {}

impl Sign {
    /// Runs the command.
    pub fn run(self) -> Result<(), Infallible> {
        Ok(())
    }
}
