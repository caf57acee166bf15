//! The `checksums` command.

use std::{collections::BTreeMap, fs, io, path::PathBuf};

use crate::digest::sha256;

/// Writes the SHA-256 of each file as `sha256sum --check` reads it.
#[derive(clap::Args)]
pub(crate) struct Checksums {
    /// The files; they are listed by their names alone
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The file to write, else standard output
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChecksumsError {
    /// A file that cannot be read or written.
    #[error("{}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// A path that names no file, such as `..`, or a name that is no Unicode or has a line break.
    #[error("'{}' has no name that can be listed", .0.display())]
    Name(PathBuf),
    /// Two files of one name.
    #[error("two files are called {0}, and a release has one of each name")]
    Duplicate(String),
}

impl Checksums {
    /// Runs the command.
    #[expect(clippy::print_stdout, reason = "a program for the command line")]
    pub(crate) fn run(self) -> Result<(), ChecksumsError> {
        let list = list(&self.files)?;
        match self.out {
            Some(out) => fs::write(&out, list).map_err(|error| ChecksumsError::File(out, error))?,
            None => print!("{list}"),
        }
        Ok(())
    }
}

/// The lines, in the order of the names: digits, a space, an asterisk (for binary) and the name,
/// as cargo-dist writes its `sha256.sum`.
fn list(files: &[PathBuf]) -> Result<String, ChecksumsError> {
    let mut lines = BTreeMap::new();
    for path in files {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name
            .filter(|name| !name.contains(['\n', '\r', '\\']))
            .ok_or_else(|| ChecksumsError::Name(path.clone()))?;
        let content = fs::read(path).map_err(|error| ChecksumsError::File(path.clone(), error))?;
        let line = format!("{} *{name}\n", sha256(&content));
        if lines.insert(name, line).is_some() {
            return Err(ChecksumsError::Duplicate(name.to_owned()));
        }
    }
    Ok(lines.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let [b, a] = ["b.zip", "sub/a.mcpb"].map(|name| folder.path().join(name));
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(&b, "").unwrap();
        fs::write(&a, "abc").unwrap();
        assert_eq!(
            list(&[b.clone(), a.clone()]).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad *a.mcpb\n\
             e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 *b.zip\n"
        );
        let out = folder.path().join("sha256.sum");
        let command = Checksums {
            files: vec![a.clone()],
            out: Some(out.clone()),
        };
        command.run().unwrap();
        assert_eq!(fs::read_to_string(out).unwrap(), list(&[a]).unwrap());
    }

    #[test]
    fn what_cannot_be_listed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "").unwrap();
        let twice = list(&[file.clone(), file.clone()]).unwrap_err();
        assert!(matches!(twice, ChecksumsError::Duplicate(name) if name == "a"));
        let absent = list(&[folder.path().join("none")]).unwrap_err();
        assert!(matches!(absent, ChecksumsError::File(..)));
        let nameless = list(&[folder.path().join("..")]).unwrap_err();
        assert!(matches!(nameless, ChecksumsError::Name(_)));
    }
}
