//! Lines in and out, usually of the standard streams.
//!
//! Reading blocks, and a blocked read cannot be cancelled, so both directions
//! have a thread of their own that the program does not wait for when it ends.

pub mod id_scan;

use std::io::{self, BufRead, Write};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use id_scan::IdScan;

/// Longest line that is taken in, in bytes. No call needs more, and what is
/// parsed takes a multiple of it in memory.
pub const LONGEST_LINE: usize = 1024 * 1024;
/// Lines read ahead and answers not yet written.
const QUEUE: usize = 16;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line of input, without its end, a byte order mark or surrounding space.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// Not blank and at most [`LONGEST_LINE`] bytes.
    Whole(Vec<u8>),
    /// Dropped because it was longer; with the `id` of the request in it, if there was one.
    TooLong(Option<Value>),
}

impl Line {
    /// About how many bytes it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        let text = match self {
            Self::Whole(text) => text.len(),
            Self::TooLong(_) => 0,
        };
        size_of::<Self>() + text
    }
}

/// Reads what `open` opens, in a thread of its own. The channel closes at its end.
pub fn read_lines<R: BufRead>(
    open: impl FnOnce() -> R + Send + 'static,
) -> io::Result<mpsc::Receiver<Line>> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    std::thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || {
            let outcome = forward_lines(open(), |line| sender.blocking_send(line).is_ok());
            if let Err(error) = outcome {
                tracing::warn!(%error, "input cannot be read");
            }
        })?;
    Ok(receiver)
}

/// Passes on line by line until the input ends or `take` says no. A last line
/// without an end counts.
fn forward_lines(mut input: impl BufRead, mut take: impl FnMut(Line) -> bool) -> io::Result<()> {
    let mut partial = Partial::default();
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            if let Some(line) = partial.finish() {
                take(line);
            }
            return Ok(());
        }
        let end = available.iter().position(|&byte| byte == b'\n');
        partial.extend(&available[..end.unwrap_or(available.len())]);
        let consumed = end.map_or(available.len(), |end| end + 1);
        input.consume(consumed);
        if end.is_some()
            && let Some(line) = partial.finish()
            && !take(line)
        {
            return Ok(());
        }
    }
}

/// A line whose end has not been read.
#[derive(Default)]
struct Partial {
    bytes: Vec<u8>,
    /// Present once the line is too long to be kept.
    scan: Option<IdScan>,
}

impl Partial {
    fn extend(&mut self, bytes: &[u8]) {
        if let Some(scan) = &mut self.scan {
            scan.feed(bytes);
        } else if self.bytes.len() + bytes.len() > LONGEST_LINE {
            let mut scan = IdScan::default();
            scan.feed(&std::mem::take(&mut self.bytes));
            scan.feed(bytes);
            self.scan = Some(scan);
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn finish(&mut self) -> Option<Line> {
        if let Some(scan) = self.scan.take() {
            return Some(Line::TooLong(scan.id()));
        }
        let bytes = std::mem::take(&mut self.bytes);
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
        let trimmed = bytes.trim_ascii();
        (!trimmed.is_empty()).then(|| Line::Whole(trimmed.to_vec()))
    }
}

/// A line to write, and whom to tell.
struct Outgoing {
    line: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

/// Writes lines in the background. Clones share it.
#[derive(Clone)]
pub struct Writer {
    queue: mpsc::Sender<Outgoing>,
}

impl Writer {
    /// Starts writing to what `open` opens, in a thread of its own.
    pub fn start<W: Write>(open: impl FnOnce() -> W + Send + 'static) -> io::Result<Self> {
        let (queue, mut lines) = mpsc::channel::<Outgoing>(QUEUE);
        std::thread::Builder::new()
            .name("stdout".to_owned())
            .spawn(move || {
                let mut output = open();
                while let Some(Outgoing { line, written }) = lines.blocking_recv() {
                    let outcome = output.write_all(&line).and_then(|()| output.flush());
                    let failed = outcome.is_err();
                    // Nobody may be waiting any more.
                    let _ = written.send(outcome);
                    if failed {
                        return;
                    }
                }
            })?;
        Ok(Self { queue })
    }

    /// Writes a line whole, with its end, and returns when the system has it.
    pub async fn write(&self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        let (written, outcome) = oneshot::channel();
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.queue
            .send(Outgoing { line, written })
            .await
            .map_err(|_| closed())?;
        outcome.await.map_err(|_| closed())?
    }

    /// Returns after a failed write.
    pub async fn closed(&self) {
        self.queue.closed().await;
    }
}

/// Returns when the reader of standard output has gone, where the system tells.
#[cfg(unix)]
pub async fn reader_gone() {
    use rustix::event::{PollFd, PollFlags, poll};

    let (sender, receiver) = oneshot::channel::<()>();
    let watcher = std::thread::Builder::new().name("stdout watch".to_owned());
    let spawned = watcher.spawn(move || {
        let stdout = io::stdout();
        loop {
            // Asks for no event, so what wakes it is an error or a hang-up.
            let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
            match poll(&mut polled, None) {
                Ok(0) | Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::debug!(%error, "standard output cannot be watched");
                    std::thread::park();
                }
            }
        }
        drop(sender);
    });
    match spawned {
        Ok(_) => {
            let _ = receiver.await;
        }
        Err(error) => {
            tracing::debug!(%error, "standard output is not watched");
            std::future::pending::<()>().await;
        }
    }
}

/// Returns when the reader of standard output has gone, where the system tells.
#[cfg(not(unix))]
pub async fn reader_gone() {
    // Windows tells at the next write; a client that is gone has closed our input too.
    std::future::pending::<()>().await;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(input: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        // A small buffer makes lines come in pieces.
        let reader = io::BufReader::with_capacity(7, input);
        forward_lines(reader, |line| {
            lines.push(line);
            true
        })
        .unwrap();
        lines
    }

    fn whole(line: &str) -> Line {
        Line::Whole(line.as_bytes().to_vec())
    }

    #[test]
    fn line_ends_blank_lines_and_byte_order_marks_do_not_matter() {
        assert_eq!(
            lines(b"\xef\xbb\xbf{\"a\":1}\r\n\n  \r\n\xef\xbb\xbf\n[1]\nlast"),
            [whole("{\"a\":1}"), whole("[1]"), whole("last")]
        );
        assert_eq!(lines(b""), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_but_for_its_id() {
        let long = "x".repeat(LONGEST_LINE);
        let input = format!(
            "{{\"id\":\"a\",\"params\":\"{long}\"}}\n{{\"params\":\"{long}\",\"id\":7}}\n{long}x\nnext\n"
        );
        assert_eq!(
            lines(input.as_bytes()),
            [
                Line::TooLong(Some(json!("a"))),
                Line::TooLong(Some(json!(7))),
                Line::TooLong(None),
                whole("next"),
            ]
        );
    }

    #[test]
    fn the_longest_line_passes() {
        let longest = "x".repeat(LONGEST_LINE);
        assert_eq!(lines(format!("{longest}\n").as_bytes()), [whole(&longest)]);
    }
}
