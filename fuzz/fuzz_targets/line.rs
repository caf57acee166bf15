//! Lines of input through a whole session, over the compiled-in catalog.
//!
//! Whatever came, each line of output is a response, and the next call is answered.
//! Run it with `-detect_leaks=0`: the threads of a session end a moment after it, which
//! looks like a leak to some inputs.

#![no_main]

#[cfg(not(target_os = "linux"))]
compile_error!("elsewhere the calls that are found would open sandboxes");

use std::{
    cell::LazyCell,
    io::{self, BufReader, Cursor, Write},
    sync::{Arc, Mutex},
};

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tablecloth_mcp::{
    catalog::{CatalogSource, location::Location},
    server, setting,
};
use tokio::runtime::{self, Runtime};

const LAST: &str = "\n{\"jsonrpc\":\"2.0\",\"id\":\"the last one\",\"method\":\"ping\"}";

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

thread_local! {
    static SESSIONS: LazyCell<(Runtime, CatalogSource)> = LazyCell::new(|| {
        assert!(
            std::env::var_os(setting::WSB_RUNNER).is_none(),
            "calls that are found would start it"
        );
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // No such file: the first load fails at once, and the compiled-in catalog is there.
        (runtime, CatalogSource::new(Location::File("/nowhere/Catalog.xml".into())))
    });
}

fuzz_target!(|lines: &[u8]| {
    let input = [lines, LAST.as_bytes()].concat();
    // Lines come in pieces, too.
    let piece = 1 + usize::from(lines.first().copied().unwrap_or_default()) * 4;
    let output = Output::default();
    let written = output.clone();
    SESSIONS.with(|sessions| {
        let (runtime, source) = &**sessions;
        runtime
            .block_on(server::serve_streams(
                source.clone(),
                move || BufReader::with_capacity(piece, Cursor::new(input)),
                move || output,
            ))
            .unwrap();
    });
    let written = written.0.lock().unwrap();
    let mut last_is_answered = false;
    for line in written.split_inclusive(|&byte| byte == b'\n') {
        assert!(line.ends_with(b"\n"));
        let response: Value = serde_json::from_slice(line).unwrap();
        assert_eq!(response["jsonrpc"], "2.0");
        let id = &response["id"];
        assert!(
            id.is_string() || id.is_number() || id.is_null(),
            "{response}"
        );
        assert_ne!(
            response.get("result").is_some(),
            response.get("error").is_some(),
            "{response}"
        );
        last_is_answered |= id == "the last one";
    }
    assert!(last_is_answered, "{}", String::from_utf8_lossy(&written));
});
