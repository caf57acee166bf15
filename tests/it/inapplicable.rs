//! Why tests do not apply to some programs under test. All such reasons stand here.

use std::io::Write as _;

use crate::client::is_windows_program;

/// Why a test makes no sense for the program under test.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    not(unix),
    allow(dead_code, reason = "some tests are not even built there")
)]
pub(crate) enum Inapplicable {
    /// Its runner is a script.
    Script,
    /// It is about signals.
    Signals,
    /// It is about a reader of stdout that has gone while nothing is written.
    IdleStdout,
    /// It is about files and paths as Unix has them.
    UnixFiles,
    /// It changes a Unix environment.
    UnixEnvironment,
    /// It looks into /proc.
    Proc,
    /// It needs a system without a sandbox.
    OtherSystem,
    /// It limits the size of files through the shell.
    SizeLimit,
    /// It is about Windows.
    Windows,
    /// It needs a Windows that it can change: that of Wine.
    OwnWindows,
    /// It needs a root that the program alone trusts.
    PrivateRoot,
}

impl Inapplicable {
    fn reason(self) -> Option<&'static str> {
        use Inapplicable::{
            IdleStdout, OtherSystem, OwnWindows, PrivateRoot, Proc, Script, Signals, SizeLimit,
            UnixEnvironment, UnixFiles, Windows,
        };

        let is_windows = is_windows_program();
        match self {
            Script if is_windows => {
                Some("its runner is a script; windows.rs has a program for Windows in its place")
            }
            Signals if is_windows => {
                Some("Windows has no signals; windows.rs has the events of a console")
            }
            IdleStdout if is_windows => Some(
                "Windows tells of a reader that has gone at the next write; a client that is gone \
                 has closed the input too, as in windows.rs",
            ),
            UnixFiles if is_windows => Some("it is about files and paths as Unix has them"),
            UnixEnvironment if is_windows => {
                Some("windows.rs has what Windows programs find in their environment")
            }
            Proc if is_windows => Some("it looks into /proc"),
            Proc if !cfg!(target_os = "linux") => Some("there is no /proc"),
            SizeLimit if is_windows || !cfg!(target_os = "linux") => {
                Some("only Linux limits the size of files that way")
            }
            Windows | OwnWindows if !is_windows => Some("it is about Windows"),
            OwnWindows if cfg!(windows) => Some("it changes the system, which Wine alone allows"),
            OtherSystem if is_windows || cfg!(target_os = "macos") => {
                Some("it is about systems without a sandbox")
            }
            PrivateRoot if is_windows && cfg!(unix) => {
                Some("Wine calls a chain revoked that it cannot ask about; Windows itself does not")
            }
            _ => None,
        }
    }

    /// Whether the test is to be left out, which is then said, also where output is captured.
    pub(crate) fn here(self) -> bool {
        let Some(reason) = self.reason() else {
            return false;
        };
        let thread = std::thread::current();
        let test = thread.name().unwrap_or_default();
        let _ = writeln!(std::io::stderr(), "left out: {test}: {reason}");
        true
    }
}
