//! The `winget` command.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Cursor, Read},
    path::PathBuf,
};

use object::Architecture;
use serde::Serialize;
use serde_json::Value;
use zip::{ZipArchive, result::ZipError};

use crate::{
    digest::sha256,
    executable::{self, ExecutableError},
    manifest,
    project::{self, LICENSE, PROGRAM, REPOSITORY, VERSION},
};

/// The version of the manifests' format.
const MANIFEST_VERSION: &str = "1.10.0";

/// The language of the file that every package must have.
const DEFAULT_LOCALE: &str = "en-US";

/// The texts of each language are those of the bundle.
const KOREAN: &str = include_str!("../../mcpb/manifest.json");
const ENGLISH: &str = include_str!("../../mcpb/mcpb-resources/en-US.json");

/// Writes the winget manifests for published archives.
#[derive(clap::Args)]
pub(crate) struct Winget {
    /// An archive (.zip) with the program for Windows, as it is published; once for each CPU
    #[arg(long = "zip", required = true)]
    zips: Vec<PathBuf>,
    /// The folder to write to
    #[arg(long)]
    out: PathBuf,
}

/// Why there are no manifests.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WingetError {
    /// A file that cannot be read or written.
    #[error("{}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// Not an archive.
    #[error("{} is no zip archive", .0.display())]
    NotZip(PathBuf, #[source] ZipError),
    /// An archive that does not have the program just once.
    #[error("{} has {found} files called {PROGRAM}.exe, and one is needed", .file.display())]
    Programs { file: PathBuf, found: usize },
    /// A program that is not one for Windows.
    #[error("the program in {} is refused", .0.display())]
    Program(PathBuf, #[source] ExecutableError),
    /// A program for a CPU that winget is not told of.
    #[error("the program in {} is for the CPU {cpu:?}, and x64 or arm64 is needed", .file.display())]
    Cpu { file: PathBuf, cpu: Architecture },
    /// Two archives for one CPU.
    #[error("two archives have a program for {0}")]
    TwoArchives(&'static str),
    /// Windows on arm64 can run x64 programs, but not the other way round.
    #[error("no archive has a program for x64")]
    NoX64,
    /// A path without a name that an address can end with.
    #[error("'{}' has no name that an address can end with", .0.display())]
    Name(PathBuf),
    /// The bundle's texts are no JSON.
    #[error("the texts cannot be read")]
    Texts(#[from] manifest::ManifestError),
    /// A manifest that cannot be written.
    #[error("writing YAML: {0}")]
    Yaml(String),
}

/// Which package in which version: the beginning of each file.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Package {
    package_identifier: String,
    package_version: &'static str,
}

/// What kind of file it is: the end of each.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Kind {
    manifest_type: &'static str,
    manifest_version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Version {
    #[serde(flatten)]
    package: Package,
    default_locale: &'static str,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
#[expect(clippy::struct_field_names, reason = "the names of the schema")]
struct Installers {
    #[serde(flatten)]
    package: Package,
    installer_type: &'static str,
    nested_installer_type: &'static str,
    commands: [&'static str; 1],
    installers: Vec<Installer>,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
#[expect(clippy::struct_field_names, reason = "the names of the schema")]
struct Installer {
    architecture: &'static str,
    nested_installer_files: [NestedInstallerFile; 1],
    installer_url: String,
    installer_sha256: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct NestedInstallerFile {
    relative_file_path: String,
    portable_command_alias: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
#[expect(clippy::struct_field_names, reason = "the names of the schema")]
struct Locale {
    #[serde(flatten)]
    package: Package,
    package_locale: &'static str,
    publisher: &'static str,
    publisher_url: &'static str,
    publisher_support_url: String,
    privacy_url: String,
    package_name: String,
    package_url: &'static str,
    license: &'static str,
    license_url: String,
    short_description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    moniker: Option<&'static str>,
    tags: Vec<String>,
    release_notes_url: String,
    #[serde(flatten)]
    kind: Kind,
}

impl Winget {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), WingetError> {
        let mut installers = BTreeMap::new();
        for path in self.zips {
            let installer = installer(path)?;
            let cpu = installer.architecture;
            if installers.insert(cpu, installer).is_some() {
                return Err(WingetError::TwoArchives(cpu));
            }
        }
        if !installers.contains_key("x64") {
            return Err(WingetError::NoX64);
        }
        fs::create_dir_all(&self.out)
            .map_err(|error| WingetError::File(self.out.clone(), error))?;
        // x64 first.
        for (name, text) in manifests(installers.into_values().rev().collect())? {
            let path = self.out.join(name);
            fs::write(&path, text).map_err(|error| WingetError::File(path, error))?;
        }
        Ok(())
    }
}

/// What winget installs from an archive: where the program lies in it is read from it.
fn installer(path: PathBuf) -> Result<Installer, WingetError> {
    let name = path.file_name().and_then(|name| name.to_str());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let url = name
        .filter(|name| name.bytes().all(plain))
        .map(project::release_url)
        .ok_or_else(|| WingetError::Name(path.clone()))?;
    let zip = fs::read(&path).map_err(|error| WingetError::File(path.clone(), error))?;
    let programs = programs_in(&zip).map_err(|error| WingetError::NotZip(path.clone(), error))?;
    let [(inner_path, program)] = &programs[..] else {
        let found = programs.len();
        return Err(WingetError::Programs { file: path, found });
    };
    let architecture = match executable::check_pe(program) {
        Ok(Architecture::X86_64) => "x64",
        Ok(Architecture::Aarch64) => "arm64",
        Ok(cpu) => return Err(WingetError::Cpu { file: path, cpu }),
        Err(fault) => return Err(WingetError::Program(path, fault)),
    };
    Ok(Installer {
        architecture,
        nested_installer_files: [NestedInstallerFile {
            relative_file_path: inner_path.replace('/', "\\"),
            portable_command_alias: PROGRAM,
        }],
        installer_url: url,
        // As the community's tools write it.
        installer_sha256: sha256(&zip).to_uppercase(),
    })
}

/// The paths and contents of the files in the archive that are called like the program.
fn programs_in(zip: &[u8]) -> Result<Vec<(String, Vec<u8>)>, ZipError> {
    let mut archive = ZipArchive::new(Cursor::new(zip))?;
    let file_name = format!("{PROGRAM}.exe");
    let mut programs = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index)?;
        let path = file.name()?.into_owned();
        if path.rsplit('/').next() == Some(&file_name) {
            let mut content = Vec::new();
            file.read_to_end(&mut content)?;
            programs.push((path, content));
        }
    }
    Ok(programs)
}

/// The names and texts of the files.
fn manifests(installers: Vec<Installer>) -> Result<Vec<(String, String)>, WingetError> {
    let identifier = identifier();
    let version = Version {
        package: package(),
        default_locale: DEFAULT_LOCALE,
        kind: kind("version"),
    };
    let installers = Installers {
        package: package(),
        installer_type: "zip",
        nested_installer_type: "portable",
        commands: [PROGRAM],
        installers,
        kind: kind("installer"),
    };
    let english = locale(DEFAULT_LOCALE, "defaultLocale", ENGLISH)?;
    let korean = locale("ko-KR", "locale", KOREAN)?;
    Ok(vec![
        (format!("{identifier}.yaml"), yaml(&version, "version")?),
        (
            format!("{identifier}.installer.yaml"),
            yaml(&installers, "installer")?,
        ),
        (
            format!("{identifier}.locale.{DEFAULT_LOCALE}.yaml"),
            yaml(&english, "defaultLocale")?,
        ),
        (
            format!("{identifier}.locale.ko-KR.yaml"),
            yaml(&korean, "locale")?,
        ),
    ])
}

fn identifier() -> String {
    let name = REPOSITORY.rsplit('/').next().unwrap_or_default();
    format!("{}.{name}", project::owner())
}

fn package() -> Package {
    Package {
        package_identifier: identifier(),
        package_version: VERSION,
    }
}

fn kind(manifest_type: &'static str) -> Kind {
    Kind {
        manifest_type,
        manifest_version: MANIFEST_VERSION,
    }
}

fn locale(
    package_locale: &'static str,
    manifest_type: &'static str,
    texts: &str,
) -> Result<Locale, WingetError> {
    let texts = manifest::stamped(texts)?;
    let text = |key: &str| texts[key].as_str().unwrap_or_default().to_owned();
    let tags = texts["keywords"].as_array().into_iter().flatten();
    Ok(Locale {
        package: package(),
        package_locale,
        publisher: project::owner(),
        publisher_url: project::owner_url(),
        publisher_support_url: format!("{REPOSITORY}/issues"),
        privacy_url: project::file_url("PRIVACY.md"),
        package_name: text("display_name"),
        package_url: REPOSITORY,
        license: LICENSE,
        license_url: project::file_url("LICENSE"),
        short_description: text("description"),
        // The schema has it in the default locale's file alone.
        moniker: (package_locale == DEFAULT_LOCALE).then_some(PROGRAM),
        // A tag has no blanks.
        tags: tags
            .filter_map(Value::as_str)
            .map(|tag| tag.to_lowercase().replace(' ', "-"))
            .collect(),
        release_notes_url: format!("{REPOSITORY}/releases/tag/v{VERSION}"),
        kind: kind(manifest_type),
    })
}

fn yaml(manifest: &impl Serialize, manifest_type: &str) -> Result<String, WingetError> {
    // Addresses would be folded over two lines.
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    let text = serde_saphyr::to_string_with_options(manifest, options)
        .map_err(|error| WingetError::Yaml(error.to_string()))?;
    // Editors find the schema by this line; the community's tools write it too.
    let schema =
        format!("https://aka.ms/winget-manifest.{manifest_type}.{MANIFEST_VERSION}.schema.json");
    Ok(format!(
        "# yaml-language-server: $schema={schema}\n\n{text}"
    ))
}

#[cfg(test)]
mod tests;
