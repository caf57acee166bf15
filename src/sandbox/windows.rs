//! Windows: starting a runner, and what the standard library does not offer.
#![allow(
    unsafe_code,
    reason = "starting programs without our handles, the system's folders and what the machine can do have no safe wrapper"
)]

use std::{
    ffi::{OsStr, OsString},
    io,
    os::windows::{
        ffi::{OsStrExt as _, OsStringExt as _},
        io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle},
        process::ExitStatusExt as _,
    },
    path::{Path, PathBuf},
    process::ExitStatus,
    time::Duration,
};

use windows_sys::Win32::{
    Foundation::{
        ERROR_BAD_EXE_FORMAT, ERROR_CANCELLED, ERROR_EXE_MACHINE_TYPE_MISMATCH,
        ERROR_FILE_NOT_FOUND, ERROR_NO_ASSOCIATION, ERROR_PATH_NOT_FOUND, ERROR_SUCCESS,
        HANDLE_FLAG_INHERIT, SetHandleInformation, WAIT_TIMEOUT,
    },
    System::{
        Com::{
            COINIT_APARTMENTTHREADED, COINIT_DISABLE_OLE1DDE, CoInitializeEx, CoTaskMemFree,
            CoUninitialize,
        },
        Console::{GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE},
        Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW},
        SystemInformation::{GetSystemDirectoryW, GetTickCount64},
        Threading::{
            CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, CreateProcessW, GetExitCodeProcess,
            IsProcessorFeaturePresent, PF_NX_ENABLED, PF_SECOND_LEVEL_ADDRESS_TRANSLATION,
            PF_VIRT_FIRMWARE_ENABLED, PROCESS_INFORMATION, PROCESSOR_FEATURE_ID,
            STARTF_USESTDHANDLES, STARTUPINFOW, WaitForSingleObject,
        },
    },
    UI::{
        Shell::{
            FOLDERID_LocalAppData, KF_FLAG_DEFAULT, SEE_MASK_FLAG_NO_UI, SEE_MASK_NOASYNC,
            SEE_MASK_NOCLOSEPROCESS, SHELLEXECUTEINFOW, SHGetKnownFolderPath, ShellExecuteExW,
        },
        WindowsAndMessaging::SW_SHOWNORMAL,
    },
};

use super::{
    StartError, file,
    requirements::{Hypervisor, Windows},
    watch,
};

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

/// The user's temporary folder where no variable names it, asked from the system.
#[must_use]
pub fn temporary_folder() -> Option<PathBuf> {
    let mut path = std::ptr::null_mut();
    // SAFETY: the identifier and the place of the result outlive the call; no token means this user.
    let status = unsafe {
        SHGetKnownFolderPath(
            &FOLDERID_LocalAppData,
            KF_FLAG_DEFAULT.cast_unsigned(),
            std::ptr::null_mut(),
            &raw mut path,
        )
    };
    let folder = (status >= 0 && !path.is_null()).then(|| {
        /// No path of Windows has more units.
        const LONGEST: usize = 32_767;
        // SAFETY: a success leaves a text that ends with zero, read up to there.
        let text = unsafe {
            let length = (0..LONGEST).take_while(|&at| *path.add(at) != 0).count();
            std::slice::from_raw_parts(path, length)
        };
        PathBuf::from(OsString::from_wide(text)).join("Temp")
    });
    // SAFETY: what the call left is ours to free, also nothing.
    unsafe { CoTaskMemFree(path.cast()) };
    if let Some(folder) = &folder {
        // A new profile may not have it yet. If it cannot be made, writing a file there tells.
        let _ = std::fs::create_dir(folder);
    }
    folder
}

/// What this machine can do. Read without elevation; what cannot be read stays unknown.
#[must_use]
pub fn machine() -> Windows {
    const VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
    const ENVIRONMENT: &str = r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment";
    let processor = registry_text(ENVIRONMENT, "PROCESSOR_ARCHITECTURE");
    // A program for x64 runs on ARM64 too, where the emulated processor says
    // nothing of the real one.
    let is_own = processor.as_deref() == Some("AMD64") && cfg!(target_arch = "x86_64");
    let feature = |id| is_own.then(|| has_feature(id));
    Windows {
        edition: registry_text(VERSION, "EditionID"),
        build: registry_text(VERSION, "CurrentBuildNumber").and_then(|build| build.parse().ok()),
        processor,
        firmware: feature(PF_VIRT_FIRMWARE_ENABLED),
        slat: feature(PF_SECOND_LEVEL_ADDRESS_TRANSLATION),
        nx: feature(PF_NX_ENABLED),
        hypervisor: if is_own { hypervisor() } else { None },
    }
}

/// A text of `HKEY_LOCAL_MACHINE`, unless there is none, it is empty or over 127 characters long.
fn registry_text(key: &str, name: &str) -> Option<String> {
    let (key, name) = (wide(key.as_ref()), wide(name.as_ref()));
    let mut buffer = [0_u16; 128];
    let mut size = u32::try_from(size_of_val(&buffer)).ok()?;
    // SAFETY: both names end with zero, the buffer is as long as stated, and all outlive the call.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            RRF_RT_REG_SZ,
            std::ptr::null_mut(),
            buffer.as_mut_ptr().cast(),
            &raw mut size,
        )
    };
    if status != ERROR_SUCCESS {
        return None;
    }
    let text = buffer.split(|&unit| unit == 0).next()?;
    let text = String::from_utf16_lossy(text);
    (!text.is_empty()).then_some(text)
}

fn has_feature(id: PROCESSOR_FEATURE_ID) -> bool {
    // SAFETY: takes a number and returns a truth value; unknown numbers are features that are not there.
    unsafe { IsProcessorFeaturePresent(id) != 0 }
}

/// Reads from the processor which hypervisor runs, if any.
///
/// Bit 31 of ECX in CPUID leaf 1 tells that there is one. A Hyper-V of this
/// very system shows in leaf 0x40000003: its root partition may create others
/// (EBX bit 0, Hypervisor Top Level Functional Specification, "Feature discovery").
#[cfg(target_arch = "x86_64")]
#[allow(
    unused_unsafe,
    reason = "reading CPUID counts as safe in newer compilers"
)]
#[expect(clippy::unnecessary_wraps, reason = "other processors cannot tell")]
fn hypervisor() -> Option<Hypervisor> {
    use std::arch::x86_64::__cpuid;

    // SAFETY: every 64-bit processor has CPUID, and an unknown leaf returns meaningless numbers.
    let leaf = |leaf| unsafe { __cpuid(leaf) };
    if leaf(1).ecx >> 31 == 0 {
        return Some(Hypervisor::None);
    }
    let vendor = leaf(0x4000_0000);
    // "Microsoft Hv" in the registers' byte order.
    let is_hyper_v = [vendor.ebx, vendor.ecx, vendor.edx]
        .map(u32::to_le_bytes)
        .concat()
        == b"Microsoft Hv";
    let is_root = is_hyper_v && vendor.eax >= 0x4000_0003 && leaf(0x4000_0003).ebx & 1 == 1;
    Some(if is_root {
        Hypervisor::Own
    } else {
        Hypervisor::Outer
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> Option<Hypervisor> {
    None
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

/// Starts a program with one argument and lets it run, with none of our handles.
///
/// The standard library hands on every inheritable handle, so also those that a
/// client which starts several programs at once has left with us by mistake.
pub(super) fn start(program: &Path, argument: &Path) -> Result<(), StartError> {
    let application = wide(program.as_os_str());
    // No path has a quotation mark in it.
    let mut words = OsString::from("\"");
    words.push(program);
    words.push("\" \"");
    words.push(argument);
    words.push("\"");
    let mut command_line = wide(&words);
    let directory = wide(file::folder().as_os_str());
    let startup = STARTUPINFOW {
        cb: u32::try_from(size_of::<STARTUPINFOW>()).unwrap_or_default(),
        // Those that are null: without this it could get copies of ours.
        dwFlags: STARTF_USESTDHANDLES,
        ..STARTUPINFOW::default()
    };
    let mut started = PROCESS_INFORMATION::default();
    // SAFETY: the strings end with zero, the structures state their sizes, and all outlive the
    // call; the null pointers stand for defaults.
    let outcome = unsafe {
        CreateProcessW(
            application.as_ptr(),
            command_line.as_mut_ptr(),
            std::ptr::null(),
            std::ptr::null(),
            0,
            CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP,
            std::ptr::null(),
            directory.as_ptr(),
            &raw const startup,
            &raw mut started,
        )
    };
    if outcome == 0 {
        return Err(start_error(program, io::Error::last_os_error()));
    }
    // SAFETY: after a success both handles are ours to close.
    let (process, _thread) = unsafe {
        (
            OwnedHandle::from_raw_handle(started.hProcess),
            OwnedHandle::from_raw_handle(started.hThread),
        )
    };
    watch(|| exit_status(&process))
}

/// Why the system did not start a program that was seen to be there.
fn start_error(program: &Path, error: io::Error) -> StartError {
    match error.raw_os_error().map(i32::cast_unsigned) {
        Some(ERROR_FILE_NOT_FOUND | ERROR_PATH_NOT_FOUND) => {
            StartError::NotFound(program.to_owned())
        }
        Some(ERROR_BAD_EXE_FORMAT | ERROR_EXE_MACHINE_TYPE_MISMATCH | ERROR_NO_ASSOCIATION) => {
            StartError::NotExecutable(program.to_owned())
        }
        Some(ERROR_CANCELLED) => StartError::Cancelled,
        _ => StartError::System(error),
    }
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
        return Err(start_error(program, io::Error::last_os_error()));
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
