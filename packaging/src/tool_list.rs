//! The `tools` command: the manifest's list of tools is the server's.

use std::{fs, io, path::PathBuf};

use serde_json::{Value, json};
use tablecloth_mcp::tool::Tool;

use crate::manifest;

/// Writes the server's tools into the manifest's source.
#[derive(clap::Args)]
pub(crate) struct Tools {
    /// The manifest's source
    #[arg(long, default_value = "mcpb/manifest.json")]
    manifest: PathBuf,
}

/// Why the list is not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolsError {
    /// A file that cannot be read or written.
    #[error("{}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The manifest is no JSON.
    #[error("{} is no JSON", .0.display())]
    Json(PathBuf, #[source] serde_json::Error),
}

/// A tool as the server lists it.
pub(crate) struct ListedTool {
    /// The name by which clients call it.
    pub(crate) name: &'static str,
    /// What it does and when to call it.
    pub(crate) description: &'static str,
}

/// The tools of the server, in the order of its `tools/list`.
pub(crate) fn of_server() -> Vec<ListedTool> {
    let listed = |tool: Tool| ListedTool {
        name: tool.name(),
        description: tool.description(),
    };
    Tool::ALL.map(listed).into()
}

/// The tools as a manifest lists them.
pub(crate) fn for_manifest(tools: &[ListedTool]) -> Value {
    let listed = |tool: &ListedTool| json!({"name": tool.name, "description": tool.description});
    tools.iter().map(listed).collect()
}

impl Tools {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), ToolsError> {
        let path = self.manifest;
        let source =
            fs::read_to_string(&path).map_err(|error| ToolsError::File(path.clone(), error))?;
        let written = (|| {
            let mut manifest: Value = serde_json::from_str(&source)?;
            manifest["tools"] = for_manifest(&of_server());
            manifest::text(&manifest)
        })()
        .map_err(|error| ToolsError::Json(path.clone(), error))?;
        fs::write(&path, written).map_err(|error| ToolsError::File(path, error))
    }
}
