//! The texts of a bundle in each language.
//!
//! The specification (MANIFEST.md of the official package) keeps the texts of the default
//! locale in the manifest and those of others in a file each. The .NET implementation of
//! the same tools also demands a file for the default locale, and each text in each file.
//! So the default locale's file is made from the manifest, and the others are checked.

use serde_json::{Map, Value};

/// The keys of a manifest that can be translated. Settings cannot be.
const KEYS: [&str; 5] = [
    "display_name",
    "description",
    "long_description",
    "author",
    "keywords",
];

/// Why translations are refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LocalizationError {
    /// The manifest does not say where they are.
    #[error("the manifest has no localization")]
    Missing,
    /// No JSON.
    #[error("{0} is no JSON")]
    Json(String, #[source] serde_json::Error),
    /// A text without a translation.
    #[error("{path} lacks {key}")]
    Untranslated { path: String, key: String },
    /// A text that the manifest does not have.
    #[error("{path} has {key}, which the manifest has not")]
    Unknown { path: String, key: String },
}

/// The path of a locale's file in the bundle.
pub(crate) fn path(manifest: &Value, locale: &str) -> Result<String, LocalizationError> {
    let resources = manifest["localization"]["resources"].as_str();
    let resources = resources.ok_or(LocalizationError::Missing)?;
    Ok(resources.replace("${locale}", locale))
}

/// The path and content of the default locale's file.
pub(crate) fn default_file(manifest: &Value) -> Result<(String, Value), LocalizationError> {
    let locale = manifest["localization"]["default_locale"].as_str();
    let locale = locale.ok_or(LocalizationError::Missing)?;
    let mut texts = Map::new();
    for key in KEYS {
        if let Some(value) = manifest.get(key) {
            texts.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(Value::Object(author)) = texts.get_mut("author") {
        author.retain(|key, _| key == "name");
    }
    texts.insert("tools".to_owned(), manifest["tools"].clone());
    Ok((path(manifest, locale)?, Value::Object(texts)))
}

/// Refuses a file that does not translate just what the default locale's file has.
pub(crate) fn check(path: &str, source: &str, default: &Value) -> Result<(), LocalizationError> {
    let texts: Value = serde_json::from_str(source)
        .map_err(|error| LocalizationError::Json(path.to_owned(), error))?;
    let (found, wanted) = (keys(&texts), keys(default));
    let path = path.to_owned();
    if let Some(key) = wanted.iter().find(|key| !found.contains(key)) {
        let key = key.clone();
        return Err(LocalizationError::Untranslated { path, key });
    }
    if let Some(key) = found.into_iter().find(|key| !wanted.contains(key)) {
        return Err(LocalizationError::Unknown { path, key });
    }
    Ok(())
}

/// The names of the texts that are not blank.
fn keys(texts: &Value) -> Vec<String> {
    let mut keys = Vec::new();
    for (key, value) in texts.as_object().into_iter().flatten() {
        match value {
            Value::String(text) if text.trim().is_empty() => {}
            Value::Array(tools) if key == "tools" => {
                let described = tools.iter().filter(|tool| !tool["description"].is_null());
                keys.extend(described.map(|tool| format!("the tool {}", tool["name"])));
            }
            Value::Array(values) if values.is_empty() => {}
            Value::Object(author) => keys.extend(author.keys().map(|part| format!("{key}.{part}"))),
            _ => keys.push(key.clone()),
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> Value {
        json!({
            "name": "x",
            "description": "설명",
            "author": {"name": "A", "url": "https://example.com"},
            "localization": {"resources": "texts/${locale}.json", "default_locale": "ko-KR"},
            "tools": [{"name": "a", "description": "가"}],
        })
    }

    #[test]
    fn the_default_file_repeats_the_texts_of_the_manifest() {
        let (path, texts) = default_file(&manifest()).unwrap();
        assert_eq!(path, "texts/ko-KR.json");
        let wanted = json!({
            "description": "설명",
            "author": {"name": "A"},
            "tools": [{"name": "a", "description": "가"}],
        });
        assert_eq!(texts, wanted);
        assert!(check(&path, &texts.to_string(), &texts).is_ok());
    }

    #[test]
    fn a_translation_has_each_text_and_no_other() {
        let (_, default) = default_file(&manifest()).unwrap();
        let check = |texts: Value| check("en", &texts.to_string(), &default);
        let whole = json!({
            "description": "what it is",
            "author": {"name": "A"},
            "tools": [{"name": "a", "description": "does a"}],
        });
        check(whole.clone()).unwrap();

        let mut blank = whole.clone();
        blank["description"] = json!(" ");
        let error = check(blank).unwrap_err();
        assert_eq!(error.to_string(), "en lacks description");

        let mut fewer_tools = whole.clone();
        fewer_tools["tools"] = json!([]);
        let error = check(fewer_tools).unwrap_err();
        assert_eq!(error.to_string(), "en lacks the tool \"a\"");

        let mut more = whole;
        more["user_config"] = json!("x");
        let error = check(more).unwrap_err();
        assert_eq!(
            error.to_string(),
            "en has user_config, which the manifest has not"
        );
    }

    #[test]
    fn what_is_no_json_or_says_no_place_is_refused() {
        let error = check("en", "{", &Value::Null).unwrap_err();
        assert!(matches!(error, LocalizationError::Json(..)));
        let error = default_file(&json!({})).unwrap_err();
        assert!(matches!(error, LocalizationError::Missing));
    }
}
