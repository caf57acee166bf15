//! What a test on another system cannot do with a Windows program: start it the
//! way a Windows client does, and see it from there.
//!
//! The one argument is a file with a JSON object: `mode`, `program`, `arguments`,
//! and optionally `environment` (all that the program gets) and `folder`.
//!
//! | mode | |
//! | --- | --- |
//! | `run` | starts it with our own streams and ends with its code |
//! | `hold` | greets it as a server and keeps it until we are killed |
//! | `stop` | greets it, ends it as `how` says, deletes its file, and tells how long that took |
//! | `console` | starts it on a console with the code page `codePage` and tells what is on the screen |
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test program: it prints what it saw, and shall say where it fails"
)]

use std::process::ExitCode;

#[cfg(windows)]
fn main() -> ExitCode {
    windows::main()
}

#[cfg(not(windows))]
fn main() -> ExitCode {
    ExitCode::FAILURE
}

#[cfg(windows)]
mod windows {
    #![allow(
        unsafe_code,
        reason = "consoles and their events have no safe wrapper in the standard library"
    )]

    use std::{
        fs,
        io::{BufRead as _, BufReader, Write as _},
        os::windows::{io::AsRawHandle as _, process::CommandExt as _},
        process::{Child, Command, ExitCode, ExitStatus, Stdio},
        time::{Duration, Instant},
    };

    use serde_json::{Value, json};
    use windows_sys::Win32::System::{
        Console::{
            CONSOLE_SCREEN_BUFFER_INFO, COORD, CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT,
            GetConsoleCP, GetConsoleOutputCP, GetConsoleScreenBufferInfo,
            ReadConsoleOutputCharacterW, SetConsoleCP, SetConsoleOutputCP,
        },
        LibraryLoader::{GetModuleHandleW, GetProcAddress},
        Threading::{CREATE_NO_WINDOW, CreateRemoteThread},
    };

    /// Set where the console is our own.
    const INNER: &str = "WINDOWS_CLIENT_INNER";

    pub(crate) fn main() -> ExitCode {
        let path = std::env::args_os().nth(1).unwrap();
        let wanted: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let mode = wanted["mode"].as_str().unwrap();
        if mode == "console" && std::env::var_os(INNER).is_none() {
            // Once more, on a console that is ours alone and has no window.
            let mut again = Command::new(std::env::current_exe().unwrap());
            again
                .arg(path)
                .env(INNER, "1")
                .creation_flags(CREATE_NO_WINDOW);
            return exit_code(again.status().unwrap());
        }
        match mode {
            "run" => return exit_code(command(&wanted).status().unwrap()),
            "hold" => hold(&wanted),
            "stop" => println!("{}", stop(&wanted)),
            "console" => println!("{}", console(&wanted)),
            mode => panic!("no mode {mode}"),
        }
        ExitCode::SUCCESS
    }

    fn exit_code(status: ExitStatus) -> ExitCode {
        let code = status.code().map(u8::try_from);
        code.and_then(Result::ok)
            .map_or(ExitCode::FAILURE, ExitCode::from)
    }

    fn command(wanted: &Value) -> Command {
        let mut command = Command::new(wanted["program"].as_str().unwrap());
        for argument in wanted["arguments"].as_array().into_iter().flatten() {
            command.arg(argument.as_str().unwrap());
        }
        if let Some(environment) = wanted["environment"].as_object() {
            command.env_clear();
            for (name, value) in environment {
                command.env(name, value.as_str().unwrap());
            }
        }
        if let Some(folder) = wanted["folder"].as_str() {
            command.current_dir(folder);
        }
        command
    }

    /// Starts a server as an app without a console does, and greets it.
    fn greeted(command: &mut Command) -> Child {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let greeting = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "windows-client", "version": "1"},
        }});
        writeln!(child.stdin.as_mut().unwrap(), "{greeting}").unwrap();
        let mut answer = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut answer)
            .unwrap();
        assert!(answer.contains("serverInfo"), "{answer}");
        child
    }

    fn hold(wanted: &Value) {
        let mut child = greeted(command(wanted).creation_flags(CREATE_NO_WINDOW));
        println!("{}", json!({"pid": child.id()}));
        // Waiting would close the input, which is to close with our end alone.
        let _input = child.stdin.take();
        let _ = child.wait();
    }

    fn stop(wanted: &Value) -> Value {
        // On a console of its own without a window, as most clients start it.
        let mut child = greeted(command(wanted).creation_flags(CREATE_NO_WINDOW));
        let start = Instant::now();
        match wanted["how"].as_str().unwrap() {
            "endOfInput" => drop(child.stdin.take()),
            "interrupt" => send(CTRL_C_EVENT, &child),
            "break" => send(CTRL_BREAK_EVENT, &child),
            "close" => send(CTRL_CLOSE_EVENT, &child),
            how => panic!("no end {how}"),
        }
        let code = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status.code();
            }
            if start.elapsed() > Duration::from_secs(30) {
                let _ = child.kill();
                break None;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let took = start.elapsed();
        let deleted = fs::remove_file(wanted["program"].as_str().unwrap());
        json!({
            "code": code,
            "milliseconds": took.as_millis(),
            "deleted": deleted.map_err(|error| error.to_string()).err(),
        })
    }

    /// Does what Windows does with a console's events: starts the thread in a
    /// process that calls its handlers.
    fn send(event: u32, process: &Child) {
        type ThreadStart = unsafe extern "system" fn(*mut std::ffi::c_void) -> u32;

        // SAFETY: the name is right, the system's libraries lie at one place in all processes,
        // and the routine takes the number of an event.
        unsafe {
            let library = GetModuleHandleW(windows_sys::w!("kernelbase.dll"));
            let routine = GetProcAddress(library, windows_sys::s!("CtrlRoutine")).unwrap();
            let routine =
                std::mem::transmute::<unsafe extern "system" fn() -> isize, ThreadStart>(routine);
            let event = std::ptr::without_provenance(usize::try_from(event).unwrap());
            let process = process.as_raw_handle();
            let none = (std::ptr::null(), std::ptr::null_mut());
            let thread = CreateRemoteThread(process, none.0, 0, Some(routine), event, 0, none.1);
            assert!(!thread.is_null(), "{}", std::io::Error::last_os_error());
        }
    }

    fn console(wanted: &Value) -> Value {
        let code_page = u32::try_from(wanted["codePage"].as_u64().unwrap()).unwrap();
        // SAFETY: both take a number.
        let set = unsafe { SetConsoleOutputCP(code_page) != 0 && SetConsoleCP(code_page) != 0 };
        assert!(set, "{}", std::io::Error::last_os_error());
        let screen = || {
            let mut options = fs::File::options();
            options.read(true).write(true).open("CONOUT$").unwrap()
        };
        let keys = fs::File::options().read(true).write(true).open("CONIN$");
        let status = command(wanted)
            .stdin(keys.unwrap())
            .stdout(screen())
            .stderr(screen())
            .status()
            .unwrap();
        json!({
            "code": status.code(),
            // SAFETY: neither takes anything.
            "codePages": unsafe { [GetConsoleCP(), GetConsoleOutputCP()] },
            "screen": text_on(&screen()),
        })
    }

    /// The lines of the screen, without the blanks at their ends.
    fn text_on(screen: &fs::File) -> Vec<String> {
        let handle = screen.as_raw_handle();
        let mut info = CONSOLE_SCREEN_BUFFER_INFO::default();
        // SAFETY: the handle is open and the structure outlives the call.
        assert_ne!(
            unsafe { GetConsoleScreenBufferInfo(handle, &raw mut info) },
            0
        );
        let width = u32::try_from(info.dwSize.X).unwrap();
        (0..=info.dwCursorPosition.Y)
            .map(|row| {
                let mut line = vec![0_u16; usize::try_from(width).unwrap()];
                let mut read = 0;
                let start = COORD { X: 0, Y: row };
                // SAFETY: the buffer is as long as stated, and all outlives the call.
                let done = unsafe {
                    ReadConsoleOutputCharacterW(
                        handle,
                        line.as_mut_ptr(),
                        width,
                        start,
                        &raw mut read,
                    )
                };
                assert_ne!(done, 0, "{}", std::io::Error::last_os_error());
                line.truncate(usize::try_from(read).unwrap());
                String::from_utf16_lossy(&line).trim_end().to_owned()
            })
            .collect()
    }
}
