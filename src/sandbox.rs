//! Opens a sandbox file: writes it, picks the program that opens it, starts that.
//!
//! Which program it is, is decided by [`Surroundings::runner`] from plain facts,
//! so every system's rows are tested on any system.

pub mod file;
pub mod program;
pub mod requirements;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
pub mod windows;

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use thiserror::Error;

use self::requirements::{Obstacle, Windows};
use crate::{setting, wsb::wsb};

/// How long a runner is watched for an immediate failure before the answer is given.
pub const WATCHED_FOR: Duration = Duration::from_millis(200);

/// The operating systems that differ in how a sandbox is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Windows Sandbox comes with it.
    Windows,
    /// macSandbox can be installed.
    Mac,
    /// There is no sandbox that opens `.wsb` files.
    Other,
}

impl System {
    /// The system this program was built for.
    pub const CURRENT: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Other
    };
}

/// What decides which program opens the file.
pub struct Surroundings<'a> {
    /// The operating system.
    pub system: System,
    /// `TABLECLOTH_WSB_RUNNER`.
    pub custom: Option<String>,
    /// The absolute folders of `PATH`, in order.
    pub path: Vec<PathBuf>,
    /// The folder of the system's programs, on Windows.
    pub system_directory: Option<PathBuf>,
    /// What is known of a Windows machine; nothing on other systems.
    pub windows: Windows,
    /// Whether there is a file at a path.
    pub is_file: &'a dyn Fn(&Path) -> bool,
}

/// A program that opens the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runner {
    /// How answers name it.
    pub label: String,
    /// Its path. A custom runner that was not found keeps the name it was given.
    pub program: PathBuf,
    /// Who starts it.
    pub start: Start,
}

/// Who starts a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// We do.
    Directly,
    /// The Windows shell. `CreateProcess` has reported good sandbox files as
    /// being of the wrong type (`TableCloth` issue 76).
    ByShell,
}

/// Why no program can open the file here. None was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NoRunner {
    /// Windows without the sandbox, and why, as far as that can be told.
    #[error("WindowsSandbox.exe is not in the system directory")]
    WindowsSandboxMissing(Option<Obstacle>),
    /// A Mac without macSandbox.
    #[error("macSandbox is neither in /Applications nor on the path")]
    MacSandboxMissing,
    /// Another system.
    #[error("this system has no sandbox for .wsb files")]
    Unsupported,
}

const MAC_SANDBOX: &str = "/Applications/MacSandbox.app/Contents/MacOS/MacSandbox";
/// Programs started by an app see none of the shell's `PATH`, so these count too.
const HOMEBREW: [&str; 2] = ["/opt/homebrew/bin", "/usr/local/bin"];

impl Surroundings<'static> {
    /// What is the case here and now.
    #[must_use]
    pub fn current() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self {
            system: System::CURRENT,
            custom: setting::read(setting::WSB_RUNNER),
            path: absolute_folders(&path),
            #[cfg(windows)]
            system_directory: windows::system_directory(),
            #[cfg(not(windows))]
            system_directory: None,
            #[cfg(windows)]
            windows: windows::machine(),
            #[cfg(not(windows))]
            windows: Windows::default(),
            is_file: &Path::is_file,
        }
    }
}

impl Surroundings<'_> {
    /// The program that opens the file: the first that applies of the custom
    /// runner, Windows Sandbox, macSandbox.
    pub fn runner(&self) -> Result<Runner, NoRunner> {
        if let Some(custom) = &self.custom {
            let name = Path::new(custom.trim());
            return Ok(Runner {
                label: format!("custom ({custom})"),
                program: self.find(name).unwrap_or_else(|| name.to_owned()),
                start: Start::Directly,
            });
        }
        match self.system {
            System::Windows => {
                let directory = self.system_directory.as_ref();
                let program = directory.map(|directory| directory.join("WindowsSandbox.exe"));
                let program = program.filter(|program| (self.is_file)(program));
                Ok(Runner {
                    label: "Windows Sandbox".to_owned(),
                    program: program.ok_or_else(|| {
                        NoRunner::WindowsSandboxMissing(self.windows.reason_missing())
                    })?,
                    start: Start::ByShell,
                })
            }
            System::Mac => {
                let fixed = self.find(Path::new(MAC_SANDBOX));
                let program = fixed
                    .or_else(|| self.find(Path::new("MacSandbox")))
                    .or_else(|| {
                        let homebrew = HOMEBREW.map(|folder| Path::new(folder).join("MacSandbox"));
                        homebrew.into_iter().find(|program| (self.is_file)(program))
                    });
                Ok(Runner {
                    label: "macSandbox".to_owned(),
                    program: program.ok_or(NoRunner::MacSandboxMissing)?,
                    start: Start::Directly,
                })
            }
            System::Other => Err(NoRunner::Unsupported),
        }
    }

    /// The program of that path or, for a bare name, of that name in a folder of `PATH`.
    fn find(&self, name: &Path) -> Option<PathBuf> {
        let is_bare = name.components().count() == 1 && !name.is_absolute();
        let folders = if is_bare { self.path.as_slice() } else { &[] };
        let mut candidates: Vec<PathBuf> = folders.iter().map(|folder| folder.join(name)).collect();
        if !is_bare {
            candidates.push(std::path::absolute(name).ok()?);
        }
        candidates.into_iter().find_map(|candidate| {
            // Not by PATHEXT: clients have passed it on as `.CPL` (claude-code#92515).
            let with_exe = (self.system == System::Windows
                && name.extension() != Some("exe".as_ref()))
            .then(|| {
                let mut with_exe = candidate.clone().into_os_string();
                with_exe.push(".exe");
                PathBuf::from(with_exe)
            });
            [Some(candidate), with_exe]
                .into_iter()
                .flatten()
                .find(|program| (self.is_file)(program))
        })
    }
}

fn absolute_folders(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .collect()
}

/// A sandbox that is opening.
#[derive(Debug, PartialEq, Eq)]
pub struct Launched {
    /// How answers name the program that opens it.
    pub runner: String,
    /// The file's real path.
    pub wsb_path: PathBuf,
}

/// Why no sandbox is opening.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// Nothing here opens the file; none was written.
    #[error(transparent)]
    NoRunner(#[from] NoRunner),
    /// The file could not be written.
    #[error("sandbox file cannot be written in {folder}")]
    File {
        /// Where it should have been.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The runner did not start, or failed at once. The file is there.
    #[error("runner {runner} failed")]
    Start {
        /// How answers name it.
        runner: String,
        /// The file it should have opened.
        wsb_path: PathBuf,
        /// What went wrong.
        source: StartError,
    },
}

/// Why a runner did not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// There is no such program.
    #[error("program {} not found", .0.display())]
    NotFound(PathBuf),
    /// It is a folder, has no right to run, or is no program.
    #[error("{} is not an executable program", .0.display())]
    NotExecutable(PathBuf),
    /// It ended at once with this code.
    #[error("exited at once with code {0}")]
    Exited(i32),
    /// A signal ended it at once.
    #[error("killed at once by signal {0}")]
    Killed(i32),
    /// The user or a policy said no.
    #[error("start was cancelled")]
    Cancelled,
    /// Anything else.
    #[error("system refused to start it")]
    System(#[source] io::Error),
}

/// Opens these sites in a sandbox. Blocks for up to [`WATCHED_FOR`] and as long
/// as the system takes to start a program.
pub fn open(site_ids: &[&str]) -> Result<Launched, LaunchError> {
    // Looked for first: where no program can open the file, none is left behind.
    let runner = Surroundings::current().runner()?;
    let folder = file::folder();
    file::remove_old(&folder);
    let wsb_path = file::write(&folder, &wsb(site_ids))
        .map_err(|source| LaunchError::File { folder, source })?;
    let started = match runner.start {
        Start::Directly => start_directly(&runner.program, &wsb_path),
        Start::ByShell => start_by_shell(&runner.program, &wsb_path),
    };
    let runner = runner.label;
    match started {
        Ok(()) => Ok(Launched { runner, wsb_path }),
        Err(source) => Err(LaunchError::Start {
            runner,
            wsb_path,
            source,
        }),
    }
}

fn start_directly(program: &Path, argument: &Path) -> Result<(), StartError> {
    program::check(program)?;
    #[cfg(unix)]
    return unix::start(program, argument);
    #[cfg(windows)]
    return windows::start(program, argument);
}

#[cfg(windows)]
use windows::start_by_shell;

#[cfg(not(windows))]
fn start_by_shell(program: &Path, argument: &Path) -> Result<(), StartError> {
    start_directly(program, argument)
}

/// Waits for a moment whether a started program fails at once.
fn watch(
    mut ended: impl FnMut() -> io::Result<Option<std::process::ExitStatus>>,
) -> Result<(), StartError> {
    const STEP: Duration = Duration::from_millis(10);
    let mut left = WATCHED_FOR;
    loop {
        if let Some(status) = ended().map_err(StartError::System)? {
            #[cfg(unix)]
            if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
                return Err(StartError::Killed(signal));
            }
            return match status.code() {
                Some(0) | None => Ok(()),
                Some(code) => Err(StartError::Exited(code)),
            };
        }
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(STEP);
        left = left.saturating_sub(STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine {
        system: System,
        custom: Option<&'static str>,
        path: &'static [&'static str],
        files: &'static [&'static str],
    }

    impl Machine {
        fn runner(&self) -> Result<Runner, NoRunner> {
            let is_file = |path: &Path| self.files.iter().any(|file| Path::new(file) == path);
            Surroundings {
                system: self.system,
                custom: self.custom.map(str::to_owned),
                path: self.path.iter().map(PathBuf::from).collect(),
                system_directory: (self.system == System::Windows)
                    .then(|| "/windows/system32".into()),
                windows: Windows {
                    edition: Some("Core".to_owned()),
                    ..Windows::default()
                },
                is_file: &is_file,
            }
            .runner()
        }
    }

    const BARE: Machine = Machine {
        system: System::Other,
        custom: None,
        path: &["/first/bin", "/second/bin"],
        files: &[],
    };

    fn runner(label: &str, program: &str, start: Start) -> Runner {
        Runner {
            label: label.to_owned(),
            program: program.into(),
            start,
        }
    }

    #[test]
    fn a_custom_runner_comes_first_on_every_system() {
        for system in [System::Windows, System::Mac, System::Other] {
            let machine = Machine {
                system,
                custom: Some("/opt/my runner/run"),
                files: &[
                    "/opt/my runner/run",
                    "/windows/system32/WindowsSandbox.exe",
                    MAC_SANDBOX,
                ],
                ..BARE
            };
            assert_eq!(
                machine.runner(),
                Ok(runner(
                    "custom (/opt/my runner/run)",
                    "/opt/my runner/run",
                    Start::Directly
                ))
            );
        }
    }

    #[test]
    fn a_bare_custom_name_is_found_on_the_path_in_order() {
        let machine = Machine {
            custom: Some("run"),
            files: &["/second/bin/run", "run"],
            ..BARE
        };
        assert_eq!(
            machine.runner(),
            Ok(runner("custom (run)", "/second/bin/run", Start::Directly))
        );
    }

    #[test]
    fn a_custom_runner_that_is_not_there_is_still_the_runner() {
        let machine = Machine {
            custom: Some("nowhere"),
            ..BARE
        };
        assert_eq!(
            machine.runner(),
            Ok(runner("custom (nowhere)", "nowhere", Start::Directly))
        );
    }

    #[test]
    fn exe_is_optional_on_windows_alone() {
        let machine = |system, custom| Machine {
            system,
            custom: Some(custom),
            files: &["/first/bin/run.exe", "/opt/my run.exe"],
            ..BARE
        };
        for (custom, found) in [
            ("run", "/first/bin/run.exe"),
            ("run.exe", "/first/bin/run.exe"),
            ("/opt/my run", "/opt/my run.exe"),
        ] {
            let runner = machine(System::Windows, custom).runner().unwrap();
            assert_eq!(runner.program, Path::new(found));
        }
        let runner = machine(System::Other, "run").runner().unwrap();
        assert_eq!(runner.program, Path::new("run"));
    }

    #[test]
    fn windows_uses_the_sandbox_of_its_system_directory() {
        let missing = Machine {
            system: System::Windows,
            // A program of that name elsewhere is not the system's.
            files: &["/first/bin/WindowsSandbox.exe"],
            ..BARE
        };
        assert_eq!(
            missing.runner(),
            Err(NoRunner::WindowsSandboxMissing(Some(Obstacle::Home)))
        );
        let present = Machine {
            files: &["/windows/system32/WindowsSandbox.exe"],
            ..missing
        };
        assert_eq!(
            present.runner(),
            Ok(runner(
                "Windows Sandbox",
                "/windows/system32/WindowsSandbox.exe",
                Start::ByShell
            ))
        );
    }

    #[test]
    fn a_mac_uses_the_app_then_the_path_then_homebrew() {
        let mac = |files| Machine {
            system: System::Mac,
            files,
            ..BARE
        };
        for (files, found) in [
            (&[MAC_SANDBOX, "/first/bin/MacSandbox"] as &[_], MAC_SANDBOX),
            (
                &["/second/bin/MacSandbox", "/opt/homebrew/bin/MacSandbox"],
                "/second/bin/MacSandbox",
            ),
            (&["/usr/local/bin/MacSandbox"], "/usr/local/bin/MacSandbox"),
        ] {
            assert_eq!(
                mac(files).runner(),
                Ok(runner("macSandbox", found, Start::Directly))
            );
        }
        assert_eq!(mac(&[]).runner(), Err(NoRunner::MacSandboxMissing));
        // An app's own PATH is bare, or not there at all.
        for files in [
            &[MAC_SANDBOX] as &[_],
            &["/opt/homebrew/bin/MacSandbox"],
            &["/usr/local/bin/MacSandbox"],
        ] {
            let machine = Machine {
                path: &[],
                ..mac(files)
            };
            assert_eq!(
                machine.runner(),
                Ok(runner("macSandbox", files[0], Start::Directly))
            );
        }
        // Neither Windows Sandbox's nor a relative one.
        let others = &["MacSandbox", "/windows/system32/WindowsSandbox.exe"];
        assert_eq!(mac(others).runner(), Err(NoRunner::MacSandboxMissing));
    }

    #[test]
    fn other_systems_have_no_sandbox() {
        let machine = Machine {
            files: &[MAC_SANDBOX, "/windows/system32/WindowsSandbox.exe"],
            ..BARE
        };
        assert_eq!(machine.runner(), Err(NoRunner::Unsupported));
    }

    #[test]
    fn folders_relative_to_the_working_directory_are_not_searched() {
        let path = std::env::join_paths(["", ".", "bin", "/usr/bin"]).unwrap();
        if cfg!(unix) {
            assert_eq!(absolute_folders(&path), [PathBuf::from("/usr/bin")]);
        }
    }
}
