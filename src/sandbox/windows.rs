//! Windows: starting a runner, and what the standard library does not offer.
#![allow(
    unsafe_code,
    reason = "the shell, the system directory and handle inheritance have no safe wrapper"
)]

use std::{
    ffi::{OsStr, OsString},
    io,
    os::windows::{
        ffi::{OsStrExt as _, OsStringExt as _},
        io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle},
        process::{CommandExt as _, ExitStatusExt as _},
    },
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use windows_sys::Win32::{
    Foundation::{
        ERROR_CANCELLED, ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND, HANDLE_FLAG_INHERIT,
        SetHandleInformation, WAIT_TIMEOUT,
    },
    System::{
        Com::{COINIT_APARTMENTTHREADED, COINIT_DISABLE_OLE1DDE, CoInitializeEx, CoUninitialize},
        Console::{GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE},
        SystemInformation::{GetSystemDirectoryW, GetTickCount64},
        Threading::{
            CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, GetExitCodeProcess, WaitForSingleObject,
        },
    },
    UI::{
        Shell::{
            SEE_MASK_FLAG_NO_UI, SEE_MASK_NOASYNC, SEE_MASK_NOCLOSEPROCESS, SHELLEXECUTEINFOW,
            ShellExecuteExW,
        },
        WindowsAndMessaging::SW_SHOWNORMAL,
    },
};

use super::{StartError, file, watch};

/// Time since the system was started, sleep included.
#[must_use]
pub fn time_since_boot() -> Duration {
    // SAFETY: takes nothing and only returns a number.
    Duration::from_millis(unsafe { GetTickCount64() })
}

/// The folder of the system's programs, asked from the system: clients have
/// passed on an empty `WINDIR` (claude-code#62574).
#[must_use]
pub fn system_directory() -> Option<PathBuf> {
    let mut buffer = [0_u16; 512];
    let capacity = u32::try_from(buffer.len()).ok()?;
    // SAFETY: the buffer is as long as stated and outlives the call.
    let length = unsafe { GetSystemDirectoryW(buffer.as_mut_ptr(), capacity) };
    let path = buffer.get(..usize::try_from(length).ok()?)?;
    (!path.is_empty()).then(|| PathBuf::from(OsString::from_wide(path)))
}

/// Keeps our standard handles from every program we start.
///
/// `CreateProcess` hands on all inheritable handles, also next to null ones, and
/// a runner that lives on would keep the client's pipes open (rust#54760).
pub fn keep_standard_handles() {
    for id in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: a handle that is null, invalid or closed makes the call fail, no more.
        unsafe { SetHandleInformation(GetStdHandle(id), HANDLE_FLAG_INHERIT, 0) };
    }
}

/// Starts a program with one argument and lets it run.
pub(super) fn start(program: &Path, argument: &Path) -> Result<(), StartError> {
    keep_standard_handles();
    let mut child = Command::new(program)
        .arg(argument)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir(file::folder())
        .creation_flags(CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP)
        .spawn()
        .map_err(StartError::System)?;
    watch(|| child.try_wait())
}

/// Opens a file with a program through the shell.
pub(super) fn start_by_shell(program: &Path, argument: &Path) -> Result<(), StartError> {
    // The shell wants a thread of its own in the apartment it prefers.
    std::thread::scope(|scope| {
        scope
            .spawn(|| in_apartment(|| shell_execute(program, argument)))
            .join()
            .unwrap_or_else(|_| Err(StartError::System(io::Error::other("shell call died"))))
    })
}

fn in_apartment<T>(work: impl FnOnce() -> T) -> T {
    let model = (COINIT_APARTMENTTHREADED | COINIT_DISABLE_OLE1DDE).cast_unsigned();
    // SAFETY: the reserved pointer is null, and a success is balanced below on the same thread.
    let entered = unsafe { CoInitializeEx(std::ptr::null(), model) } >= 0;
    let outcome = work();
    if entered {
        // SAFETY: balances the successful call above.
        unsafe { CoUninitialize() };
    }
    outcome
}

fn shell_execute(program: &Path, argument: &Path) -> Result<(), StartError> {
    let mut quoted = OsString::from("\"");
    quoted.push(argument);
    quoted.push("\"");
    let verb = wide("open".as_ref());
    let file = wide(program.as_os_str());
    let parameters = wide(&quoted);
    let directory = wide(file::folder().as_os_str());
    let mut info = SHELLEXECUTEINFOW {
        cbSize: u32::try_from(size_of::<SHELLEXECUTEINFOW>()).unwrap_or_default(),
        fMask: SEE_MASK_NOASYNC | SEE_MASK_NOCLOSEPROCESS | SEE_MASK_FLAG_NO_UI,
        lpVerb: verb.as_ptr(),
        lpFile: file.as_ptr(),
        lpParameters: parameters.as_ptr(),
        lpDirectory: directory.as_ptr(),
        nShow: SW_SHOWNORMAL,
        ..SHELLEXECUTEINFOW::default()
    };
    // SAFETY: the structure states its size and its strings end with zero and outlive the call.
    if unsafe { ShellExecuteExW(&raw mut info) } == 0 {
        let error = io::Error::last_os_error();
        return Err(match error.raw_os_error().map(i32::cast_unsigned) {
            Some(ERROR_FILE_NOT_FOUND | ERROR_PATH_NOT_FOUND) => {
                StartError::NotFound(program.to_owned())
            }
            Some(ERROR_CANCELLED) => StartError::Cancelled,
            _ => StartError::System(error),
        });
    }
    if info.hProcess.is_null() {
        // The shell handed the file to a program that was running already.
        return Ok(());
    }
    // SAFETY: with SEE_MASK_NOCLOSEPROCESS the handle is ours to close.
    let process = unsafe { OwnedHandle::from_raw_handle(info.hProcess) };
    watch(|| exit_status(&process))
}

fn exit_status(process: &OwnedHandle) -> io::Result<Option<ExitStatus>> {
    let mut code = 0;
    // SAFETY: the handle is open, and the code is written to a place that outlives the call.
    let known = unsafe {
        if WaitForSingleObject(process.as_raw_handle(), 0) == WAIT_TIMEOUT {
            return Ok(None);
        }
        GetExitCodeProcess(process.as_raw_handle(), &raw mut code)
    };
    if known == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Some(ExitStatus::from_raw(code)))
}

fn wide(text: &OsStr) -> Vec<u16> {
    text.encode_wide().chain([0]).collect()
}
