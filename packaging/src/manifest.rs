//! A bundle's `manifest.json`: what is filled into it, and what it must be.
//!
//! It is Korean, with English in a file beside it (see [`crate::localization`]). The
//! people this is for are Korean, the tools' descriptions must equal what the server
//! itself says, which is Korean, and clients that know nothing of localization show the
//! manifest's own texts: the code that Claude Desktop shares with the official package
//! (2.1.2) knows the key `localization` but does not read the files.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::{project, tool_list::ListedTool};

/// The schema that the official package ships (see packaging/schemas/README.md).
const SCHEMA: &str = include_str!("../schemas/mcpb-manifest-v0.3.schema.json");

/// Where clients unpack a bundle to, in the manifest's commands.
const BUNDLE_FOLDER: &str = "${__dirname}/";

/// The shell of macOS and Linux, the one program outside of the bundle that is started.
const SHELL: &str = "/bin/sh";

/// Why a manifest is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManifestError {
    /// No JSON.
    #[error("it is no JSON")]
    Json(#[from] serde_json::Error),
    /// The vendored schema cannot be used.
    #[error("the official schema cannot be used: {0}")]
    Schema(String),
    /// What the official schema says against it.
    #[error("the official schema refuses it: {0}")]
    Invalid(String),
    /// The schema leaves the version of the format out of what is required.
    #[error("manifest_version is {0}, and \"0.3\" is needed")]
    FormatVersion(Value),
    /// Another name than the program's.
    #[error("its name is {0}, and \"{program}\" is needed", program = project::PROGRAM)]
    Name(Value),
    /// The tools are not those of the server.
    #[error("its tools are {found:?}, and the server's are {wanted:?}; run: packaging tools")]
    Tools {
        found: Vec<String>,
        wanted: Vec<String>,
    },
    /// A tool is described otherwise than by the server.
    #[error("its description of the tool {0} is not the server's; run: packaging tools")]
    Description(String),
    /// A path that the archive does not have.
    #[error("{place} names {path}, and the bundle has no such file")]
    NoFile { place: String, path: String },
    /// A program that is neither in the bundle nor the shell.
    #[error(
        "{place} is '{command}', and a program of the bundle (`${{__dirname}}/…`) or {SHELL} with a script of the bundle is needed"
    )]
    Command { place: String, command: String },
    /// A client may drop what an override does not repeat.
    #[error("the override for {platform} lacks {key}, and must repeat command, args and env")]
    PartOfOverride { platform: String, key: &'static str },
    /// The systems with an override are not those said to be supported.
    #[error("there are overrides for {overrides:?}, and compatibility.platforms is {platforms:?}")]
    Platforms {
        overrides: Vec<String>,
        platforms: Vec<String>,
    },
    /// A reference to a setting that is not asked for.
    #[error("{place} uses the setting '{name}', and user_config has no such setting")]
    NoSetting { place: String, name: String },
}

/// The manifest in `source` with the version, the licence and the addresses filled in.
pub(crate) fn stamped(source: &str) -> Result<Value, ManifestError> {
    let mut manifest = serde_json::from_str(source)?;
    fill_in(&mut manifest);
    Ok(manifest)
}

fn fill_in(value: &mut Value) {
    match value {
        Value::String(text) => *text = project::fill_in(text),
        Value::Array(values) => values.iter_mut().for_each(fill_in),
        Value::Object(map) => map.values_mut().for_each(fill_in),
        _ => {}
    }
}

/// Refuses a manifest that a client could not use, or that says something else than the
/// server with these `tools`. `paths` are the files of the archive.
pub(crate) fn check(
    manifest: &Value,
    tools: &[ListedTool],
    paths: &BTreeSet<&str>,
) -> Result<(), ManifestError> {
    check_schema(manifest)?;
    if manifest["manifest_version"] != "0.3" {
        let version = manifest["manifest_version"].clone();
        return Err(ManifestError::FormatVersion(version));
    }
    if manifest["name"] != project::PROGRAM {
        return Err(ManifestError::Name(manifest["name"].clone()));
    }
    check_tools(manifest, tools)?;
    check_server(manifest, paths)
}

fn check_schema(manifest: &Value) -> Result<(), ManifestError> {
    let schema: Value = serde_json::from_str(SCHEMA)?;
    let validator = jsonschema::draft7::options()
        .should_validate_formats(true)
        .build(&schema)
        .map_err(|error| ManifestError::Schema(error.to_string()))?;
    let faults: Vec<_> = validator
        .iter_errors(manifest)
        .map(|fault| format!("{fault} at '{}'", fault.instance_path()))
        .collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(ManifestError::Invalid(faults.join("; ")))
}

fn check_tools(manifest: &Value, tools: &[ListedTool]) -> Result<(), ManifestError> {
    let listed = manifest["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let names = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
    let found: Vec<_> = listed.iter().map(names).collect();
    let wanted: Vec<_> = tools.iter().map(|tool| tool.name.to_owned()).collect();
    if found != wanted {
        return Err(ManifestError::Tools { found, wanted });
    }
    for (listed, tool) in listed.iter().zip(tools) {
        if listed["description"] != tool.description {
            return Err(ManifestError::Description(tool.name.to_owned()));
        }
    }
    Ok(())
}

fn check_server(manifest: &Value, paths: &BTreeSet<&str>) -> Result<(), ManifestError> {
    let server = &manifest["server"];
    let entry_point = server["entry_point"].as_str().unwrap_or_default();
    check_path("server.entry_point", entry_point, paths)?;
    if let Some(icon) = manifest["icon"].as_str() {
        check_path("icon", icon, paths)?;
    }
    let empty = Map::new();
    let settings = manifest["user_config"].as_object().unwrap_or(&empty);
    let start = &server["mcp_config"];
    check_start("server.mcp_config", start, paths, settings)?;
    let overrides = start["platform_overrides"].as_object().unwrap_or(&empty);
    for (platform, start) in overrides {
        for key in ["command", "args", "env"] {
            if start.get(key).is_none() {
                let platform = platform.clone();
                return Err(ManifestError::PartOfOverride { platform, key });
            }
        }
        let place = format!("server.mcp_config.platform_overrides.{platform}");
        check_start(&place, start, paths, settings)?;
    }
    let platforms = manifest["compatibility"]["platforms"].as_array();
    let mut platforms: Vec<_> = platforms
        .into_iter()
        .flatten()
        .filter_map(|platform| platform.as_str().map(str::to_owned))
        .collect();
    let mut overrides: Vec<_> = overrides.keys().cloned().collect();
    platforms.sort();
    overrides.sort();
    if platforms != overrides {
        return Err(ManifestError::Platforms {
            overrides,
            platforms,
        });
    }
    Ok(())
}

/// Checks how the server is started on one system.
fn check_start(
    place: &str,
    start: &Value,
    paths: &BTreeSet<&str>,
    settings: &Map<String, Value>,
) -> Result<(), ManifestError> {
    let command = start["command"].as_str().unwrap_or_default();
    let args = start["args"].as_array().map_or(&[][..], Vec::as_slice);
    let args = args.iter().filter_map(Value::as_str);
    let mut in_bundle = args.clone().filter_map(in_bundle_folder);
    match in_bundle_folder(command) {
        Some(path) => check_path(&format!("{place}.command"), path, paths)?,
        None if command == SHELL && in_bundle.clone().next().is_some() => {}
        None => {
            return Err(ManifestError::Command {
                place: format!("{place}.command"),
                command: command.to_owned(),
            });
        }
    }
    in_bundle.try_for_each(|path| check_path(&format!("{place}.args"), path, paths))?;
    let values = start["env"].as_object().into_iter().flat_map(Map::values);
    for text in args.chain(values.filter_map(Value::as_str)) {
        for after in text.split("${user_config.").skip(1) {
            let name = after.split('}').next().unwrap_or_default();
            if !settings.contains_key(name) {
                return Err(ManifestError::NoSetting {
                    place: place.to_owned(),
                    name: name.to_owned(),
                });
            }
        }
    }
    Ok(())
}

fn in_bundle_folder(text: &str) -> Option<&str> {
    text.strip_prefix(BUNDLE_FOLDER)
}

fn check_path(place: &str, path: &str, paths: &BTreeSet<&str>) -> Result<(), ManifestError> {
    if paths.contains(path) {
        return Ok(());
    }
    Err(ManifestError::NoFile {
        place: place.to_owned(),
        path: path.to_owned(),
    })
}

/// The text of a JSON file: two spaces for each level, a line break at the end.
pub(crate) fn text(value: &Value) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

#[cfg(test)]
mod tests;
