//! The `bundle` command.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::{
    archive::{self, ArchiveError, Entry},
    executable::{self, ExecutableError},
    icon::{self, IconError},
    localization::{self, LocalizationError},
    manifest::{self, ManifestError},
    project,
    target::Target,
    tool_list::{self, ListedTool},
};

/// Makes the bundle (.mcpb) that Claude Desktop installs by a double-click.
///
/// It holds the manifest, the icon and the texts of --source, and a program for each system.
/// `SOURCE_DATE_EPOCH` sets the time of its files.
#[derive(clap::Args)]
pub(crate) struct Bundle {
    /// The program for a Rust target; once for each of the five
    #[arg(long = "bin", value_name = "TARGET=FILE", required = true)]
    programs: Vec<Program>,
    /// The folder of the manifest, the icon and the texts
    #[arg(long, default_value = "mcpb")]
    source: PathBuf,
    /// The file to write
    #[arg(long)]
    out: PathBuf,
}

/// Where the program for a target lies.
#[derive(Clone)]
struct Program {
    target: Target,
    file: PathBuf,
}

/// Why a `--bin` cannot be understood.
#[derive(Debug, thiserror::Error)]
enum ProgramError {
    /// No `=` in it.
    #[error("TARGET=FILE is needed, such as aarch64-apple-darwin=target/release/tablecloth-mcp")]
    Form,
    /// A target that a bundle has no place for.
    #[error("a bundle has no place for '{0}'; its targets are {all}", all = Target::ALL.map(|target| target.to_string()).join(", "))]
    Target(String),
}

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BundleError {
    /// A file that cannot be read or written.
    #[error("{}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// A target without a program.
    #[error("no program for {0}; add --bin {0}=<file>")]
    MissingTarget(Target),
    /// A target with two programs.
    #[error("two programs for {target}: {} and {}", .files[0].display(), .files[1].display())]
    TwoPrograms { target: Target, files: [PathBuf; 2] },
    /// A file that is not the program it is said to be.
    #[error("{} is not the program for {target}", .file.display())]
    Program {
        target: Target,
        file: PathBuf,
        #[source]
        fault: ExecutableError,
    },
    /// A manifest that cannot be used.
    #[error("manifest.json is refused")]
    Manifest(#[from] ManifestError),
    /// Texts that do not fit the manifest.
    #[error("the texts are refused")]
    Localization(#[from] LocalizationError),
    /// An icon that clients would not show.
    #[error("icon.png is refused")]
    Icon(#[from] IconError),
    /// A JSON file that cannot be written.
    #[error("writing JSON")]
    Json(#[from] serde_json::Error),
    /// An archive that cannot be made.
    #[error("the archive cannot be made")]
    Archive(#[from] ArchiveError),
}

impl FromStr for Program {
    type Err = ProgramError;

    fn from_str(text: &str) -> Result<Self, ProgramError> {
        let (triple, file) = text.split_once('=').ok_or(ProgramError::Form)?;
        let target =
            Target::by_triple(triple).ok_or_else(|| ProgramError::Target(triple.to_owned()))?;
        let file = PathBuf::from(file);
        Ok(Self { target, file })
    }
}

impl Bundle {
    /// Runs the command.
    #[expect(clippy::print_stdout, reason = "a program for the command line")]
    pub(crate) fn run(self) -> Result<(), BundleError> {
        let source = Source::read(&self.source)?;
        let programs = read_programs(&self.programs)?;
        let entries = entries(&source, programs, &tool_list::of_server())?;
        let epoch = env::var("SOURCE_DATE_EPOCH").ok();
        let time = archive::entry_time(epoch.as_deref())?;
        let bundle = archive::archive(&entries, time)?;
        fs::write(&self.out, &bundle)
            .map_err(|error| BundleError::File(self.out.clone(), error))?;

        println!("{:>10} {:>10}  file", "bytes", "compressed");
        for cost in archive::costs(&bundle)? {
            println!("{:>10} {:>10}  {}", cost.size, cost.compressed, cost.path);
        }
        println!("{:>21}  {}", bundle.len(), self.out.display());
        Ok(())
    }
}

/// The files of the source folder.
#[derive(Clone)]
struct Source {
    manifest: String,
    icon: Vec<u8>,
    script: Vec<u8>,
    /// The locales other than the manifest's, with their texts.
    translations: Vec<(&'static str, String)>,
}

impl Source {
    fn read(folder: &Path) -> Result<Self, BundleError> {
        let english = "en-US";
        Ok(Self {
            manifest: read_text(&folder.join("manifest.json"))?,
            icon: read(&folder.join("icon.png"))?,
            script: read(&folder.join("launch.sh"))?,
            translations: vec![(
                english,
                read_text(&folder.join(format!("mcpb-resources/{english}.json")))?,
            )],
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, BundleError> {
    fs::read(path).map_err(|error| BundleError::File(path.to_owned(), error))
}

fn read_text(path: &Path) -> Result<String, BundleError> {
    fs::read_to_string(path).map_err(|error| BundleError::File(path.to_owned(), error))
}

/// The checked programs, in the order of [`Target::ALL`].
fn read_programs(programs: &[Program]) -> Result<Vec<Entry>, BundleError> {
    let mut files = BTreeMap::new();
    for Program { target, file } in programs {
        if let Some(first) = files.insert(*target, file) {
            return Err(BundleError::TwoPrograms {
                target: *target,
                files: [first.clone(), file.clone()],
            });
        }
    }
    let entry = |target: Target| {
        let file = *files
            .get(&target)
            .ok_or(BundleError::MissingTarget(target))?;
        let content = read(file)?;
        let program =
            executable::program(target, &content).map_err(|fault| BundleError::Program {
                target,
                file: file.clone(),
                fault,
            })?;
        Ok(Entry {
            path: target.path().to_owned(),
            data: program.to_vec(),
            executable: true,
        })
    };
    Target::ALL.into_iter().map(entry).collect()
}

/// The files of the bundle, in their order.
fn entries(
    source: &Source,
    programs: Vec<Entry>,
    tools: &[ListedTool],
) -> Result<Vec<Entry>, BundleError> {
    let plain = |path: &str, data: &[u8]| Entry {
        path: path.to_owned(),
        data: data.to_owned(),
        executable: false,
    };
    let manifest = manifest::stamped(&source.manifest)?;
    icon::check(&source.icon)?;
    let mut entries = vec![
        plain("manifest.json", manifest::text(&manifest)?.as_bytes()),
        plain("icon.png", &source.icon),
        plain("LICENSE", project::LICENSE_TEXT.as_bytes()),
    ];
    let (path, texts) = localization::default_file(&manifest)?;
    entries.push(plain(&path, manifest::text(&texts)?.as_bytes()));
    for (locale, translation) in &source.translations {
        let path = localization::path(&manifest, locale)?;
        localization::check(&path, translation, &texts)?;
        entries.push(plain(&path, translation.as_bytes()));
    }
    entries.push(Entry {
        path: "server/launch.sh".to_owned(),
        data: source.script.clone(),
        executable: true,
    });
    entries.extend(programs);
    let paths: BTreeSet<_> = entries.iter().map(|entry| entry.path.as_str()).collect();
    manifest::check(&manifest, tools, &paths)?;
    Ok(entries)
}

#[cfg(test)]
mod tests;
