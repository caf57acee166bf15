//! Reads the arguments of a tool call, as generously as clients need it.
//!
//! Assistants send arrays as JSON in a string, numbers as strings and null for
//! what they leave out (claude-code#59227, #73137, #86459). What can be
//! understood is; the rest is refused with a text that says what to send.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::{
    search::{DEFAULT_LIMIT, LIMITS},
    texts::{TEXTS, fill},
    tool::Tool,
};

/// A tool call, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// `search_services`
    Search {
        /// As it came.
        query: String,
        /// As it came, unless it was left out.
        category: Option<String>,
        /// Within [`LIMITS`].
        limit: usize,
    },
    /// `get_service`
    Service {
        /// As it came.
        id: String,
    },
    /// `list_categories`
    Categories,
    /// `list_companions`
    Companions {
        /// As it came, or empty.
        query: String,
    },
    /// `generate_wsb`
    Wsb {
        /// As they came.
        service_ids: Vec<String>,
    },
    /// `launch_sandbox`
    Launch {
        /// As they came.
        service_ids: Vec<String>,
    },
}

/// Arguments that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("argument {parameter} of {tool} is {got}")]
pub struct ArgumentError {
    tool: &'static str,
    parameter: &'static str,
    got: Got,
    wanted: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Got {
    Nothing,
    Value(String),
}

impl std::fmt::Display for Got {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => formatter.write_str("missing"),
            Self::Value(value) => formatter.write_str(value),
        }
    }
}

impl ArgumentError {
    /// What to tell the caller: the parameter, what came and what is wanted.
    #[must_use]
    pub fn advice(&self) -> String {
        let texts = &TEXTS.arguments;
        let (template, got) = match &self.got {
            _ if self.parameter.is_empty() => (&texts.not_an_object, self.got.to_string()),
            Got::Nothing => (&texts.missing, String::new()),
            Got::Value(value) => (&texts.wrong_type, value.clone()),
        };
        fill(
            template,
            &[
                ("tool", self.tool),
                ("parameter", self.parameter),
                ("got", &got),
                ("wanted", self.wanted),
            ],
        )
    }
}

impl Request {
    /// Reads the arguments of a call: an object, an object as JSON in a string,
    /// or null for none.
    pub fn read(tool: Tool, arguments: &Value) -> Result<Self, ArgumentError> {
        let parsed;
        let arguments = match arguments {
            Value::String(text) => {
                parsed = serde_json::from_str(text).unwrap_or(Value::Null);
                if parsed.is_object() {
                    &parsed
                } else {
                    arguments
                }
            }
            _ => arguments,
        };
        let empty = Map::new();
        let map = match arguments {
            Value::Object(map) => map,
            Value::Null => &empty,
            other => {
                return Err(ArgumentError {
                    tool: tool.name(),
                    parameter: "",
                    got: Got::Value(shown(other)),
                    wanted: &TEXTS.arguments.wanted.object,
                });
            }
        };
        let arguments = Arguments { tool, map };
        Ok(match tool {
            Tool::SearchServices => Self::Search {
                query: arguments.text("query")?,
                category: arguments.optional_text("category")?,
                limit: arguments.limit("limit")?,
            },
            Tool::GetService => Self::Service {
                id: arguments.text("id")?,
            },
            Tool::ListCategories => Self::Categories,
            Tool::ListCompanions => Self::Companions {
                query: arguments.optional_text("query")?.unwrap_or_default(),
            },
            Tool::GenerateWsb => Self::Wsb {
                service_ids: arguments.texts("serviceIds")?,
            },
            Tool::LaunchSandbox => Self::Launch {
                service_ids: arguments.texts("serviceIds")?,
            },
        })
    }
}

struct Arguments<'a> {
    tool: Tool,
    map: &'a Map<String, Value>,
}

impl Arguments<'_> {
    fn value(&self, parameter: &str) -> Option<&Value> {
        self.map.get(parameter).filter(|value| !value.is_null())
    }

    fn error(&self, parameter: &'static str, wanted: &'static str) -> ArgumentError {
        let got = match self.value(parameter) {
            None => Got::Nothing,
            Some(value) => Got::Value(shown(value)),
        };
        ArgumentError {
            tool: self.tool.name(),
            parameter,
            got,
            wanted,
        }
    }

    fn text(&self, parameter: &'static str) -> Result<String, ArgumentError> {
        self.optional_text(parameter)?
            .ok_or_else(|| self.error(parameter, &TEXTS.arguments.wanted.string))
    }

    fn optional_text(&self, parameter: &'static str) -> Result<Option<String>, ArgumentError> {
        match self.value(parameter) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.error(parameter, &TEXTS.arguments.wanted.string)),
        }
    }

    fn limit(&self, parameter: &'static str) -> Result<usize, ArgumentError> {
        let number = match self.value(parameter) {
            None => return Ok(DEFAULT_LIMIT),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => match text.trim() {
                "" | "null" => return Ok(DEFAULT_LIMIT),
                text => text.parse().ok(),
            },
            Some(_) => None,
        };
        match number {
            Some(number) if number.fract() == 0.0 => Ok(clamped(number)),
            _ => Err(self.error(parameter, &TEXTS.arguments.wanted.integer)),
        }
    }

    fn texts(&self, parameter: &'static str) -> Result<Vec<String>, ArgumentError> {
        let wanted = || self.error(parameter, &TEXTS.arguments.wanted.string_list);
        let of_array = |values: &[Value]| {
            values
                .iter()
                .map(|value| value.as_str().map(str::to_owned))
                .collect::<Option<Vec<_>>>()
        };
        match self.value(parameter) {
            Some(Value::Array(values)) => of_array(values).ok_or_else(wanted),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Array(values)) => of_array(&values).ok_or_else(wanted),
                Ok(Value::String(text)) => Ok(words(&text)),
                _ => Ok(words(text)),
            },
            _ => Err(wanted()),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|character: char| character.is_whitespace() || character == ',')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the number is clamped to small positive integers first"
)]
fn clamped(number: f64) -> usize {
    number.clamp(*LIMITS.start() as f64, *LIMITS.end() as f64) as usize
}

/// A value as it came, short enough for an error text.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};
    use serde_json::json;

    use super::*;

    fn limit(value: &Value) -> Result<usize, ArgumentError> {
        let arguments = json!({"query": "q", "limit": value});
        match Request::read(Tool::SearchServices, &arguments)? {
            Request::Search { limit, .. } => Ok(limit),
            other => panic!("{other:?}"),
        }
    }

    fn service_ids(value: &Value) -> Result<Vec<String>, ArgumentError> {
        match Request::read(Tool::GenerateWsb, &json!({"serviceIds": value}))? {
            Request::Wsb { service_ids } => Ok(service_ids),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_limit_is_read_from_what_clients_send() {
        for (value, understood) in [
            (json!(5), 5),
            (json!("5"), 5),
            (json!(" 5 "), 5),
            (json!(5.0), 5),
            (json!("5.0"), 5),
            (json!(null), 15),
            (json!(""), 15),
            (json!("null"), 15),
            (json!(0), 1),
            (json!(-7), 1),
            (json!(51), 50),
            (json!(u64::MAX), 50),
            (json!(1e300), 50),
        ] {
            assert_eq!(limit(&value), Ok(understood), "{value}");
        }
        for value in [
            json!("many"),
            json!(true),
            json!([5]),
            json!({}),
            json!(2.5),
            json!("NaN"),
        ] {
            let advice = limit(&value).unwrap_err().advice();
            assert!(
                advice.contains("limit") && advice.contains(&value.to_string()),
                "{advice}"
            );
        }
    }

    #[test]
    fn service_ids_are_read_from_what_clients_send() {
        let two = vec!["A".to_owned(), "B".to_owned()];
        for value in [
            json!(["A", "B"]),
            json!("[\"A\",\"B\"]"),
            json!(" [ \"A\" , \"B\" ] "),
            json!("A B"),
            json!("A,B"),
            json!(" A ,\tB,\n"),
            json!("\"A B\""),
        ] {
            assert_eq!(service_ids(&value), Ok(two.clone()), "{value}");
        }
        assert_eq!(
            service_ids(&json!("Hometax")),
            Ok(vec!["Hometax".to_owned()])
        );
        assert_eq!(service_ids(&json!([])), Ok(vec![]));
        assert_eq!(service_ids(&json!("")), Ok(vec![]));
        // In an array an id is taken whole: its parts are not what the caller named.
        assert_eq!(service_ids(&json!(["A B"])), Ok(vec!["A B".to_owned()]));
        for value in [
            json!(null),
            json!(1),
            json!({"a": 1}),
            json!([1]),
            json!([null]),
            json!("[1]"),
        ] {
            let advice = service_ids(&value).unwrap_err().advice();
            assert!(advice.contains("serviceIds"), "{advice}");
        }
    }

    #[test]
    fn arguments_may_come_as_json_in_a_string_or_not_at_all() {
        let arguments = json!("{\"id\": \"Hometax\"}");
        assert_eq!(
            Request::read(Tool::GetService, &arguments),
            Ok(Request::Service {
                id: "Hometax".to_owned()
            })
        );
        assert_eq!(
            Request::read(Tool::ListCategories, &Value::Null),
            Ok(Request::Categories)
        );
        for value in [json!("x"), json!([]), json!(3)] {
            let advice = Request::read(Tool::GetService, &value)
                .unwrap_err()
                .advice();
            assert!(advice.contains("arguments"), "{advice}");
        }
    }

    #[test]
    fn a_missing_parameter_is_named() {
        let advice = Request::read(Tool::SearchServices, &json!({"q": 1}))
            .unwrap_err()
            .advice();
        assert!(
            advice.contains("search_services") && advice.contains("query"),
            "{advice}"
        );
    }

    #[test]
    fn long_values_are_shortened_in_the_advice() {
        let advice = service_ids(&json!({"x": "가".repeat(10_000)}))
            .unwrap_err()
            .advice();
        assert!(advice.chars().count() < 300);
    }

    /// What clients have sent, and any other JSON.
    fn value() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            any::<String>(),
            "[-+ ]?[0-9]{0,3}[.eE]?[0-9]{0,3} ?",
            r#"\[("[A-C]{0,2}"|[0-9]|null|,| ){0,4}\]"#,
            r#"\{"(query|id|limit|serviceIds)": ?("x"|[0-9]|null|\[\])\}"#,
            "inf|NaN|-0|null|true|\"A B\"",
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(Value::from),
                vec((any::<String>(), inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    const PARAMETERS: [&str; 5] = ["query", "category", "limit", "id", "serviceIds"];

    /// An object with some parameters, the same as JSON in a string, or anything.
    fn call() -> impl Strategy<Value = Value> {
        let field = (prop::sample::select(PARAMETERS.to_vec()), value());
        let object = vec(field, 0..6)
            .prop_map(|fields| {
                let fields = fields.into_iter();
                Value::Object(
                    fields
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect(),
                )
            })
            .boxed();
        prop_oneof![
            4 => object.clone(),
            1 => object.prop_map(|object| object.to_string().into()),
            1 => value(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn whatever_comes_is_understood_or_refused_by_name(arguments in call()) {
            for tool in Tool::ALL {
                match Request::read(tool, &arguments) {
                    Ok(Request::Search { limit, .. }) => prop_assert!(LIMITS.contains(&limit)),
                    Ok(_) => {}
                    Err(error) => {
                        let advice = error.advice();
                        let schema = tool.input_schema();
                        let named = match error.parameter {
                            "" => "arguments",
                            parameter => {
                                prop_assert!(schema["properties"].get(parameter).is_some());
                                parameter
                            }
                        };
                        prop_assert!(advice.contains(named), "{}", advice);
                        prop_assert!(advice.contains(tool.name()), "{}", advice);
                        prop_assert!(advice.contains(error.wanted), "{}", advice);
                        prop_assert!(advice.chars().count() < 300, "{}", advice);
                    }
                }
            }
        }

        #[test]
        fn any_limit_is_within_bounds_or_refused(value in value()) {
            match limit(&value) {
                Ok(limit) => prop_assert!(LIMITS.contains(&limit)),
                Err(error) => prop_assert_eq!(error.parameter, "limit"),
            }
        }
    }
}
