//! Starting a runner on macOS and Linux.

use std::{io, path::Path, process::Stdio};

use process_wrap::std::{CommandWrap, ProcessSession};

use super::{StartError, file, watch};

/// Starts a program with one argument in a session of its own, with none of our
/// pipes, and lets it run.
pub(super) fn start(program: &Path, argument: &Path) -> Result<(), StartError> {
    let mut command = CommandWrap::with_new(program, |command| {
        command
            .arg(argument)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir(file::folder());
    });
    let child = command.wrap(ProcessSession).spawn().map_err(|error| {
        match error.kind() {
            // The interpreter of a script: the program itself was looked at before.
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                StartError::NotExecutable(program.to_owned())
            }
            _ => StartError::System(error),
        }
    })?;
    // The program itself, not its whole session, which may live for hours.
    let mut child = child.into_inner();
    watch(|| child.try_wait())?;
    // Somebody has to wait for it, or it stays in the process table when it ends.
    let reaper = std::thread::Builder::new().name("runner".to_owned());
    if let Err(error) = reaper.spawn(move || child.wait()) {
        tracing::warn!(%error, "runner will not be waited for");
    }
    Ok(())
}
