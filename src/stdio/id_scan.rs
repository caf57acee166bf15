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
    /// Whether that goes on beyond what is kept.
    token_is_cut: bool,
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
                self.clear_token();
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.clear_token();
            }
            b'}' | b']' => {
                if outermost {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if outermost => {
                self.in_value = true;
                self.clear_token();
            }
            b',' if outermost => self.end_value(),
            _ if byte.is_ascii_whitespace() => {
                // One is enough to keep `1 2` from passing for 12.
                if !matches!(self.token.last(), None | Some(b' ')) {
                    self.keep(b' ');
                }
            }
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth != 1 {
            return;
        }
        if self.token.len() < LONGEST {
            self.token.push(byte);
        } else {
            self.token_is_cut = true;
        }
    }

    fn clear_token(&mut self) {
        self.token.clear();
        self.token_is_cut = false;
    }

    fn end_value(&mut self) {
        if self.in_value && self.key_is_id {
            // The beginning of a long number is another number.
            self.id = (!self.token_is_cut).then(|| std::mem::take(&mut self.token));
        }
        self.in_value = false;
        self.key_is_id = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, option, prelude::*, sample::select};
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
            "{\"id\":1 2}",
            "{\"id\"",
            "]]]}}}",
            "\"id\":1",
        ] {
            assert_eq!(IdScan::of(message.as_bytes()), None, "{message}");
        }
        for long in [format!("\"{}\"", "x".repeat(1000)), "1".repeat(300)] {
            let message = format!("{{\"id\":{long}}}");
            assert_eq!(IdScan::of(message.as_bytes()), None, "{message}");
        }
    }

    fn space() -> impl Strategy<Value = String> {
        prop_oneof![4 => Just(String::new()), 1 => "[ \t\r\n]{0,400}"]
    }

    /// A JSON text, with space in it where JSON has it.
    fn json_text() -> impl Strategy<Value = String> {
        let text = prop_oneof![
            any::<String>(),
            "[\"\\\\{}:, id]{0,9}",
            Just("id".to_owned())
        ]
        .prop_map(|text| Value::from(text).to_string());
        let leaf = prop_oneof![
            select(vec!["null", "true", "1.5e3", "-0"]).prop_map(str::to_owned),
            "[1-9][0-9]{0,300}",
            text.clone(),
        ];
        leaf.prop_recursive(3, 12, 4, move |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(|values| format!("[{}]", values.join(" , "))),
                object(prop_oneof![text.clone(), Just("\"id\"".to_owned())], inner),
            ]
        })
    }

    fn object(
        key: impl Strategy<Value = String>,
        value: impl Strategy<Value = String>,
    ) -> impl Strategy<Value = String> {
        let field = (space(), key, space(), value, space());
        vec(field, 0..4).prop_map(|fields| {
            let fields: Vec<String> = fields
                .into_iter()
                .map(|(a, key, b, value, c)| format!("{a}{key}{b}:{b}{value}{c}"))
                .collect();
            format!("{{{}}}", fields.join(","))
        })
    }

    fn message() -> impl Strategy<Value = String> {
        let key = select(vec!["\"id\"", "\"method\"", "\"params\"", "\"i\\\"d\""]);
        object(key.prop_map(str::to_owned), json_text())
    }

    /// What may stand in any broken message.
    fn debris() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            select(vec![
                "{", "}", "[", "]", "\"", "\\", ":", ",", "\"id\":", "7", " ", "\n"
            ])
            .prop_map(|piece| piece.as_bytes().to_vec()),
            vec(any::<u8>(), 0..4),
        ];
        vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn a_sound_message_has_the_id_that_the_parser_sees(message in message()) {
            // Numbers out of range are what makes some of them unsound.
            if let Ok(parsed) = serde_json::from_str::<Value>(&message) {
                let id = parsed.get("id").filter(|id| id.is_string() || id.is_number());
                let found = IdScan::of(message.as_bytes());
                // Long ones are given up, never cut.
                prop_assert!(found.as_ref() == id || found.is_none() && message.len() > LONGEST,
                    "{:?} in {}", found, message);
            }
        }

        #[test]
        fn pieces_do_not_matter(
            bytes in prop_oneof![debris(), message().prop_map(String::into_bytes)],
            cuts in vec(any::<prop::sample::Index>(), 0..5),
            end in option::of(any::<prop::sample::Index>()),
        ) {
            let bytes = &bytes[..end.map_or(bytes.len(), |end| end.index(bytes.len() + 1))];
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut scan = IdScan::default();
            let mut start = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                scan.feed(&bytes[start..cut]);
                start = cut;
            }
            prop_assert_eq!(scan.id(), IdScan::of(bytes));
        }
    }
}
