//! Tells a program that can be started from a file that cannot.

use std::{fs, io::Read as _, path::Path};

use super::StartError;

/// Checks that a file is a program before it is started.
///
/// glibc hands a file without a known header to `/bin/sh` (execvp(3)), and
/// Windows hands `.bat` to `cmd.exe`. Neither shall see a path of ours.
pub fn check(program: &Path) -> Result<(), StartError> {
    let not_executable = || StartError::NotExecutable(program.to_owned());
    let metadata = fs::metadata(program).map_err(|_| StartError::NotFound(program.to_owned()))?;
    if !metadata.is_file() {
        return Err(not_executable());
    }
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 == 0 {
        return Err(not_executable());
    }
    let mut header = [0; 4];
    let read = fs::File::open(program).and_then(|mut file| file.read_exact(&mut header));
    match read {
        Ok(()) if is_program_header(header) => Ok(()),
        // A program may be allowed to run but not to be read.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
        Ok(()) | Err(_) => Err(not_executable()),
    }
}

fn is_program_header(header: [u8; 4]) -> bool {
    const ELF: [u8; 4] = *b"\x7fELF";
    // Mach-O of 32 and 64 bits in either byte order, and universal files (mach-o/loader.h, fat.h).
    const MACH_O: [u32; 5] = [
        0xfeed_face,
        0xfeed_facf,
        0xcefa_edfe,
        0xcffa_edfe,
        0xcafe_babe,
    ];
    if cfg!(windows) {
        header.starts_with(b"MZ")
    } else {
        header == ELF || header.starts_with(b"#!") || MACH_O.contains(&u32::from_be_bytes(header))
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn outcome(content: &[u8], mode: u32) -> Result<(), StartError> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("프로그램 1");
        fs::write(&program, content).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
        check(&program)
    }

    #[test]
    fn programs_and_scripts_pass() {
        assert!(outcome(b"#!/bin/sh\n", 0o755).is_ok());
        assert!(check(&std::env::current_exe().unwrap()).is_ok());
    }

    #[test]
    fn what_a_shell_would_have_to_run_does_not() {
        for content in [b"exit 0\n" as &[u8], b"", b"#", b"MZ\x90\0"] {
            assert!(matches!(
                outcome(content, 0o755),
                Err(StartError::NotExecutable(_))
            ));
        }
    }

    #[test]
    fn neither_do_files_without_the_right_nor_folders() {
        assert!(matches!(
            outcome(b"#!/bin/sh\n", 0o644),
            Err(StartError::NotExecutable(_))
        ));
        assert!(matches!(
            check(Path::new("/")),
            Err(StartError::NotExecutable(_))
        ));
        assert!(matches!(
            check(Path::new("/nowhere/at all")),
            Err(StartError::NotFound(_))
        ));
    }
}
