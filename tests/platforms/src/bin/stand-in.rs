//! Stands in for a sandbox in tests: writes down how it was started.
//!
//! The variable `STAND_IN_RECORD` names a folder, where it leaves `record.json`.
//! Then it ends at once with the code in `STAND_IN_CODE` or, without one, lives
//! until there is a file `stop` in that folder, and leaves `stopped` there.
#![allow(
    clippy::unwrap_used,
    reason = "a test program that fails shall say where"
)]

use std::{env, fs, path::PathBuf, process::ExitCode, time::Duration};

use serde_json::{Map, Value, json};

/// Nothing that a failed test has left behind shall live for long.
const LONGEST_LIFE: Duration = Duration::from_secs(120);
const STEP: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let Some(folder) = env::var_os("STAND_IN_RECORD").map(PathBuf::from) else {
        return ExitCode::from(100);
    };
    let arguments: Vec<String> = env::args().skip(1).collect();
    let variables: Map<String, Value> = env::vars_os()
        .map(|(name, value)| {
            let value = value.to_string_lossy().into_owned();
            (name.to_string_lossy().into_owned(), value.into())
        })
        .collect();
    let content = arguments.first().map(fs::read_to_string);
    let record = json!({
        "program": env::current_exe().unwrap(),
        "arguments": arguments,
        "folder": env::current_dir().unwrap(),
        "environment": variables,
        "content": content.and_then(Result::ok),
        "handles": handles(),
    });
    // Whoever waits for the file finds it whole.
    let unfinished = folder.join("record.unfinished");
    fs::write(&unfinished, record.to_string()).unwrap();
    fs::rename(unfinished, folder.join("record.json")).unwrap();

    if let Some(code) = env::var("STAND_IN_CODE")
        .ok()
        .filter(|code| !code.is_empty())
    {
        return ExitCode::from(code.parse::<u8>().unwrap());
    }
    let mut left = LONGEST_LIFE;
    while !left.is_zero() && !folder.join("stop").exists() {
        std::thread::sleep(STEP);
        left = left.saturating_sub(STEP);
    }
    if !left.is_zero() {
        fs::write(folder.join("stopped"), "").unwrap();
    }
    ExitCode::SUCCESS
}

/// What it holds that leads to another program: the pipes among its handles.
#[cfg(windows)]
fn handles() -> Value {
    use windows_sys::Win32::Storage::FileSystem::{FILE_TYPE_PIPE, GetFileType};

    // Handles are multiples of four (learn.microsoft.com, "Kernel objects").
    let pipes: Vec<usize> = (4..4096)
        .step_by(4)
        .filter(|&value| {
            let handle = std::ptr::without_provenance_mut(value);
            #[allow(unsafe_code, reason = "nothing safe lists handles")]
            // SAFETY: a value that is no handle makes the call fail, no more.
            let kind = unsafe { GetFileType(handle) };
            kind == FILE_TYPE_PIPE
        })
        .collect();
    json!({"pipes": pipes})
}

#[cfg(unix)]
fn handles() -> Value {
    let pipes: Vec<String> = fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .map(|target| target.to_string_lossy().into_owned())
        .filter(|target| target.starts_with("pipe:") || target.starts_with("socket:"))
        .collect();
    json!({"pipes": pipes})
}
