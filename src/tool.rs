//! The six tools: their names, annotations and input schemas.

use serde_json::{Map, Value, json};

use crate::{search::DEFAULT_LIMIT, texts::TEXTS};

/// One of the six tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Finds services.
    SearchServices,
    /// Shows one service.
    GetService,
    /// Counts the services of each category.
    ListCategories,
    /// Lists handy programs.
    ListCompanions,
    /// Makes a sandbox file.
    GenerateWsb,
    /// Opens a sandbox.
    LaunchSandbox,
}

/// A parameter of a tool.
struct Parameter {
    name: &'static str,
    kind: Kind,
    description: &'static str,
    required: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Limit,
    Texts,
}

impl Tool {
    /// All tools, in the order they are listed.
    pub const ALL: [Self; 6] = [
        Self::SearchServices,
        Self::GetService,
        Self::ListCategories,
        Self::ListCompanions,
        Self::GenerateWsb,
        Self::LaunchSandbox,
    ];

    /// The name by which clients call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SearchServices => "search_services",
            Self::GetService => "get_service",
            Self::ListCategories => "list_categories",
            Self::ListCompanions => "list_companions",
            Self::GenerateWsb => "generate_wsb",
            Self::LaunchSandbox => "launch_sandbox",
        }
    }

    /// The tool of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// What a client shows as its name.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.texts().0
    }

    /// What a model reads to decide whether to call it.
    #[must_use]
    pub fn description(self) -> &'static str {
        self.texts().1
    }

    fn texts(self) -> (&'static str, &'static str) {
        let tools = &TEXTS.tools;
        match self {
            Self::SearchServices => (
                &tools.search_services.title,
                &tools.search_services.description,
            ),
            Self::GetService => (&tools.get_service.title, &tools.get_service.description),
            Self::ListCategories => (
                &tools.list_categories.title,
                &tools.list_categories.description,
            ),
            Self::ListCompanions => (
                &tools.list_companions.title,
                &tools.list_companions.description,
            ),
            Self::GenerateWsb => (&tools.generate_wsb.title, &tools.generate_wsb.description),
            Self::LaunchSandbox => (
                &tools.launch_sandbox.title,
                &tools.launch_sandbox.description,
            ),
        }
    }

    /// Whether it changes nothing on the user's machine.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        self != Self::LaunchSandbox
    }

    fn parameters(self) -> Vec<Parameter> {
        let tools = &TEXTS.tools;
        let parameter = |name, kind, description: &'static String, required| Parameter {
            name,
            kind,
            description,
            required,
        };
        match self {
            Self::SearchServices => {
                let texts = &tools.search_services.params;
                vec![
                    parameter("query", Kind::Text, &texts.query, true),
                    parameter("category", Kind::Text, &texts.category, false),
                    parameter("limit", Kind::Limit, &texts.limit, false),
                ]
            }
            Self::GetService => {
                vec![parameter(
                    "id",
                    Kind::Text,
                    &tools.get_service.params.id,
                    true,
                )]
            }
            Self::ListCategories => vec![],
            Self::ListCompanions => vec![parameter(
                "query",
                Kind::Text,
                &tools.list_companions.params.query,
                false,
            )],
            Self::GenerateWsb => vec![parameter(
                "serviceIds",
                Kind::Texts,
                &tools.generate_wsb.params.service_ids,
                true,
            )],
            Self::LaunchSandbox => vec![parameter(
                "serviceIds",
                Kind::Texts,
                &tools.launch_sandbox.params.service_ids,
                true,
            )],
        }
    }

    /// Its input schema. Plain on purpose: several clients refuse type arrays,
    /// `anyOf`, `$ref`, `format` or bounds (cursor#3778, copilot-cli#4623).
    #[must_use]
    pub fn input_schema(self) -> Map<String, Value> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for parameter in self.parameters() {
            let mut property = match parameter.kind {
                Kind::Text => json!({"type": "string"}),
                Kind::Limit => json!({"type": "integer", "default": DEFAULT_LIMIT}),
                Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            };
            property["description"] = parameter.description.into();
            properties.insert(parameter.name.to_owned(), property);
            if parameter.required {
                required.push(Value::from(parameter.name));
            }
        }
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_the_tools() {
        for tool in Tool::ALL {
            assert_eq!(Tool::by_name(tool.name()), Some(tool));
        }
        assert_eq!(Tool::by_name("Search_Services"), None);
    }

    #[test]
    fn schemas_use_plain_keywords_alone() {
        for tool in Tool::ALL {
            let schema = tool.input_schema();
            assert_eq!(schema["type"], "object");
            for key in schema.keys() {
                assert!(
                    ["type", "properties", "required"].contains(&key.as_str()),
                    "{key}"
                );
            }
            for property in schema["properties"].as_object().unwrap().values() {
                assert!(property["type"].is_string() && property["description"].is_string());
                for key in property.as_object().unwrap().keys() {
                    assert!(
                        ["type", "description", "default", "items"].contains(&key.as_str()),
                        "{key}"
                    );
                }
            }
        }
    }
}
