//! The sandbox file on disk.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use uuid::Uuid;

/// Files older than this are removed at the next launch. Long enough that no
/// sandbox is still reading them.
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const PREFIX: &str = "tablecloth-";
const SUFFIX: &str = ".wsb";

/// The system's temporary folder.
#[must_use]
pub fn folder() -> PathBuf {
    #[cfg(windows)]
    if let Some(folder) = set_folder().or_else(super::windows::temporary_folder) {
        return folder;
    }
    let folder = std::env::temp_dir();
    // An empty or relative setting would mean the working directory.
    if folder.is_absolute() {
        folder
    } else if cfg!(windows) {
        std::path::absolute(&folder).unwrap_or(folder)
    } else {
        PathBuf::from("/tmp")
    }
}

/// The temporary folder of the environment. Where there is none, `GetTempPath`
/// goes on to the user's folder and to the Windows folder, which users cannot write.
#[cfg(windows)]
fn set_folder() -> Option<PathBuf> {
    let set = ["TMP", "TEMP"].map(std::env::var_os);
    let mut folders = set.into_iter().flatten().map(PathBuf::from);
    folders.find(|folder| folder.is_absolute())
}

/// Writes a new file that the user alone can read, and returns its real path
/// once it is complete and closed. Nothing stays behind on failure.
pub fn write(folder: &Path, content: &str) -> io::Result<PathBuf> {
    let name = format!("{PREFIX}{}", Uuid::new_v4().simple());
    // Opened only if nothing, not even a link, has that name; mode 0600.
    let mut file = tempfile::Builder::new()
        .prefix(&name)
        .suffix(SUFFIX)
        .rand_bytes(0)
        .tempfile_in(folder)?;
    file.write_all(content.as_bytes())?;
    file.as_file().sync_all()?;
    // Resolved while the file is there: a packaged app's writes can land in
    // another folder than the one named (claude-code#93152).
    let real = without_verbatim_prefix(dunce::canonicalize(file.path())?);
    file.into_temp_path().keep()?;
    Ok(real)
}

/// Takes the `\\?\` off a path on a network share, which dunce leaves there. Not
/// every program opens such a path.
fn without_verbatim_prefix(path: PathBuf) -> PathBuf {
    /// The longest path that every program takes (`MAX_PATH`), with the end of the text.
    const LONGEST: usize = 260;
    let plain = path
        .to_str()
        .and_then(|path| path.strip_prefix(r"\\?\UNC\"))
        .filter(|share| cfg!(windows) && share.encode_utf16().count() + 3 <= LONGEST)
        .map(|share| PathBuf::from(format!(r"\\{share}")));
    plain.unwrap_or(path)
}

/// Writes a file of a sandbox file's size, removes it, and returns the folder
/// that it really was in.
pub fn try_write(folder: &Path) -> io::Result<PathBuf> {
    let path = write(folder, &crate::wsb::wsb(&[]))?;
    fs::remove_file(&path)?;
    let real = path.parent().unwrap_or(folder);
    Ok(real.to_owned())
}

/// Removes files of ours that are no longer needed. What cannot be removed stays.
pub fn remove_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(is_our_name);
        // Of the entry itself: a link of that name is not ours.
        if is_ours
            && entry
                .metadata()
                .is_ok_and(|metadata| metadata.is_file() && is_old(&metadata))
        {
            match fs::remove_file(entry.path()) {
                Ok(()) => tracing::debug!(path = %entry.path().display(), "old file removed"),
                Err(error) => tracing::warn!(%error, "old file cannot be removed"),
            }
        }
    }
}

fn is_old(metadata: &fs::Metadata) -> bool {
    metadata
        .modified()
        .is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > KEPT_FOR))
}

fn is_our_name(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX))
        .is_some_and(|id| {
            id.len() == 32
                && id
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_file_is_new_complete_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "<Configuration/>").unwrap();
        assert!(is_our_name(path.file_name().unwrap().to_str().unwrap()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "<Configuration/>");
        assert_ne!(write(folder.path(), "").unwrap(), path);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_real_path_is_returned() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("진짜 폴더");
        fs::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let path = write(&link, "").unwrap();
        assert_eq!(path.parent(), Some(real.canonicalize().unwrap().as_path()));
    }

    #[cfg(windows)]
    #[test]
    fn paths_are_plain() {
        let long = "x".repeat(260);
        for (path, plain) in [
            (r"\\?\UNC\server\share\x.wsb", r"\\server\share\x.wsb"),
            (r"C:\x.wsb", r"C:\x.wsb"),
            (&format!(r"\\?\UNC\{long}"), &format!(r"\\?\UNC\{long}")),
        ] {
            assert_eq!(without_verbatim_prefix(path.into()), Path::new(plain));
        }
        // Also of the folder that is used.
        let path = write(&folder(), "").unwrap();
        assert!(!path.to_str().unwrap().starts_with(r"\\?\"), "{path:?}");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write(&folder.path().join("gone"), "").is_err());
        assert!(try_write(&folder.path().join("gone")).is_err());
    }

    #[test]
    fn a_trial_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        assert_eq!(try_write(folder.path()).unwrap(), real);
        assert_eq!(fs::read_dir(real).unwrap().count(), 0);
    }

    #[test]
    fn only_old_files_of_ours_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let id = "0123456789abcdef0123456789abcdef";
        let old = SystemTime::now() - KEPT_FOR - Duration::from_secs(60);
        let aged = [
            (format!("tablecloth-{id}.wsb"), true),
            (format!("tablecloth-{id}.txt"), false),
            (format!("tablecloth-{}.wsb", id.to_uppercase()), false),
            (format!("tablecloth-{}.wsb", &id[1..]), false),
            (format!("other-{id}.wsb"), false),
        ];
        for (name, _) in &aged {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(old).unwrap();
        }
        let fresh = write(folder.path(), "").unwrap();
        remove_old(folder.path());
        for (name, removed) in &aged {
            assert_eq!(!folder.path().join(name).exists(), *removed, "{name}");
        }
        assert!(fresh.exists());
    }
}
