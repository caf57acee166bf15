//! Finds the `id` of a JSON-RPC message that cannot be parsed.
//!
//! A request that is too long, too deeply nested, not UTF-8 or broken behind its
//! `id` is refused by that id, so that its sender does not wait for an answer in vain.

use serde_json::Value;

/// Longest key or id that is looked at, in bytes.
const LONGEST: usize = 256;

/// Scans the bytes of a message, in pieces, in constant memory.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "states of a scanner that are independent"
)]
pub struct IdScan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The string or scalar being read in the outermost object.
    token: Vec<u8>,
    key_is_id: bool,
    in_value: bool,
    id: Option<Vec<u8>>,
}

impl IdScan {
    /// The id in a message that is there as a whole.
    #[must_use]
    pub fn of(message: &[u8]) -> Option<Value> {
        let mut scan = Self::default();
        scan.feed(message);
        scan.id()
    }

    /// Takes in the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.step(byte);
        }
    }

    /// The id, if one was met whose text is a JSON string or number.
    #[must_use]
    pub fn id(&self) -> Option<Value> {
        serde_json::from_slice(self.id.as_ref()?)
            .ok()
            .filter(|id: &Value| id.is_string() || id.is_number())
    }

    fn step(&mut self, byte: u8) {
        let outermost = self.depth == 1;
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    if outermost && !self.in_value {
                        self.key_is_id = self.token == b"\"id\"";
                    }
                }
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.token.clear();
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.token.clear();
            }
            b'}' | b']' => {
                if outermost {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if outermost => {
                self.in_value = true;
                self.token.clear();
            }
            b',' if outermost => self.end_value(),
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < LONGEST {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.in_value && self.key_is_id {
            self.id = Some(std::mem::take(&mut self.token));
        }
        self.in_value = false;
        self.key_is_id = false;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_outermost_id_is_found_wherever_it_stands() {
        for (message, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#, json!(7)),
            (
                r#"{"params":{"id":1,"a":["id",{"id":2}]}, "id" : "a\"}b" }"#,
                json!("a\"}b"),
            ),
            (r#"{"method":"id","params":["id"],"id":-1.5}"#, json!(-1.5)),
        ] {
            assert_eq!(IdScan::of(message.as_bytes()), Some(id), "{message}");
        }
    }

    #[test]
    fn broken_messages_keep_their_id() {
        let deep = format!("{{\"id\":3,\"params\":{}", "[".repeat(200_000));
        assert_eq!(IdScan::of(deep.as_bytes()), Some(json!(3)));
        assert_eq!(
            IdScan::of(b"{\"id\":\"x\",\"params\":{\"query\":\"\xc8\xa8\"}}"),
            Some(json!("x"))
        );
        assert_eq!(
            IdScan::of(b"{\"params\":{\"limit\":1e999},\"id\":4}"),
            Some(json!(4))
        );
    }

    #[test]
    fn what_has_no_usable_id_has_none() {
        for message in [
            "",
            "garbage",
            "{}",
            "[{\"id\":1}]",
            "{\"id\":null}",
            "{\"id\":{}}",
            "{\"id\":tru,",
            "{\"id\"",
            "]]]}}}",
            "\"id\":1",
        ] {
            assert_eq!(IdScan::of(message.as_bytes()), None, "{message}");
        }
        let long = format!("{{\"id\":\"{}\"}}", "x".repeat(1000));
        assert_eq!(IdScan::of(long.as_bytes()), None);
    }
}
