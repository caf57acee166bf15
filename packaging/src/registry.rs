//! The `registry` command.

use std::{
    fs,
    io::{self, Cursor},
    path::PathBuf,
};

use serde::Serialize;
use serde_json::Value;
use zip::{ZipArchive, result::ZipError};

use crate::{
    digest::sha256,
    manifest,
    project::{self, PROGRAM, REPOSITORY, VERSION},
};

/// The schema of what is written. Registries know the older ones as well.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// What the server is for; the registry allows 100 characters.
const DESCRIPTION: &str =
    "Finds Korean bank and government sites and opens them in a disposable sandbox";

/// Writes the MCP registry's server.json for a published bundle.
#[derive(clap::Args)]
pub(crate) struct Registry {
    /// The bundle as it is published, signed
    #[arg(long)]
    mcpb: PathBuf,
    /// Where it is published
    #[arg(long)]
    url: String,
    /// The file to write
    #[arg(long, default_value = "server.json")]
    out: PathBuf,
}

/// Why there is no server.json.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RegistryError {
    /// A file that cannot be read or written.
    #[error("{}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// Not a bundle.
    #[error("{} is no bundle", .0.display())]
    NotBundle(PathBuf, #[source] ZipError),
    /// A bundle with a manifest that is no JSON.
    #[error("the bundle's manifest cannot be read")]
    Manifest(#[from] manifest::ManifestError),
    /// A bundle of another version.
    #[error("the bundle is of version {0}, and {VERSION} is released")]
    Version(Value),
    /// An address that the registry would refuse or that another version would have too.
    #[error("the address '{0}' must be {wanted}…/<name>.mcpb", wanted = project::release_url(""))]
    Url(String),
    /// What is written is no JSON.
    #[error("writing JSON")]
    Json(#[from] serde_json::Error),
}

/// A `server.json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Server<'a> {
    #[serde(rename = "$schema")]
    schema: &'a str,
    name: String,
    title: &'a str,
    description: &'a str,
    repository: Repository<'a>,
    website_url: &'a str,
    version: &'a str,
    packages: [Package<'a>; 1],
}

#[derive(Serialize)]
struct Repository<'a> {
    url: &'a str,
    source: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Package<'a> {
    registry_type: &'a str,
    identifier: &'a str,
    file_sha256: String,
    transport: Transport<'a>,
}

#[derive(Serialize)]
struct Transport<'a> {
    r#type: &'a str,
}

impl Registry {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), RegistryError> {
        let bundle =
            fs::read(&self.mcpb).map_err(|error| RegistryError::File(self.mcpb.clone(), error))?;
        let manifest = manifest_of(&bundle)
            .map_err(|error| RegistryError::NotBundle(self.mcpb.clone(), error))?;
        let manifest = manifest::stamped(&manifest)?;
        if manifest["version"] != VERSION {
            return Err(RegistryError::Version(manifest["version"].clone()));
        }
        let server = server_json(&self.url, &bundle)?;
        fs::write(&self.out, server).map_err(|error| RegistryError::File(self.out, error))
    }
}

fn manifest_of(bundle: &[u8]) -> Result<String, ZipError> {
    let mut archive = ZipArchive::new(Cursor::new(bundle))?;
    Ok(io::read_to_string(archive.by_name("manifest.json")?)?)
}

fn server_json(url: &str, bundle: &[u8]) -> Result<String, RegistryError> {
    let name = url
        .strip_prefix(&project::release_url(""))
        .and_then(|file_name| file_name.strip_suffix(".mcpb"));
    if name.is_none_or(|name| name.is_empty() || name.contains('/')) {
        return Err(RegistryError::Url(url.to_owned()));
    }
    let server = Server {
        schema: SCHEMA,
        name: format!("io.github.{}/{PROGRAM}", project::owner()),
        title: "TableCloth MCP",
        description: DESCRIPTION,
        repository: Repository {
            url: REPOSITORY,
            source: "github",
        },
        website_url: REPOSITORY,
        version: VERSION,
        packages: [Package {
            registry_type: "mcpb",
            identifier: url,
            file_sha256: sha256(bundle),
            transport: Transport { r#type: "stdio" },
        }],
    };
    Ok(manifest::text(&serde_json::to_value(server)?)?)
}

#[cfg(test)]
mod tests;
