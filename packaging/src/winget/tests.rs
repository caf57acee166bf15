use zip::DateTime;

use super::*;
use crate::{
    archive::{Entry, archive},
    executable::samples::{ELF_X64, PE_ARM64, PE_X64, elf, pe},
};

/// A zip archive of files that hold the given bytes.
fn zip(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let entries: Vec<_> = files
        .iter()
        .map(|(path, data)| Entry {
            path: (*path).to_owned(),
            data: data.clone(),
            executable: false,
        })
        .collect();
    archive(&entries, DateTime::DEFAULT).unwrap()
}

/// Runs the command for these archives and reads what it wrote, with the texts of all files
/// in one, and the archives' hashes blanked.
fn written(archives: &[(&str, Vec<u8>)]) -> Result<String, WingetError> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("manifests");
    let zips = archives.iter().map(|(name, content)| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    });
    let command = Winget {
        zips: zips.collect(),
        out: out.clone(),
    };
    command.run()?;
    let mut names: Vec<_> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut texts = String::new();
    for name in names {
        let text = fs::read_to_string(out.join(&name)).unwrap();
        texts = format!("{texts}=== {name}\n{text}");
    }
    for (_, content) in archives {
        texts = texts.replace(&sha256(content).to_uppercase(), "<sha256>");
    }
    Ok(texts.replace(VERSION, "<version>"))
}

fn x64() -> Vec<u8> {
    zip(&[
        ("README.md", b"x".to_vec()),
        ("tablecloth-mcp.exe", pe(PE_X64, false)),
    ])
}

fn arm64() -> Vec<u8> {
    zip(&[("some/folder/tablecloth-mcp.exe", pe(PE_ARM64, false))])
}

#[test]
fn the_files_are_as_winget_wants_them() {
    let archives = [
        ("tablecloth-mcp-aarch64-pc-windows-msvc.zip", arm64()),
        ("tablecloth-mcp-x86_64-pc-windows-msvc.zip", x64()),
    ];
    let written = written(&archives).unwrap();
    assert_eq!(written, include_str!("expected.txt"), "\n{written}");
}

#[test]
fn x64_alone_is_enough() {
    let written = written(&[("a.zip", x64())]).unwrap();
    assert_eq!(written.matches("Architecture:").count(), 1);
    assert!(written.contains("Architecture: x64"));
    assert!(written.contains("releases/download/v<version>/a.zip"));
}

#[test]
fn what_the_schema_limits_is_kept() {
    for (name, texts) in [(DEFAULT_LOCALE, ENGLISH), ("ko-KR", KOREAN)] {
        let locale = locale(name, "locale", texts).unwrap();
        assert!((3..=256).contains(&locale.short_description.chars().count()));
        assert!((2..=256).contains(&locale.package_name.chars().count()));
        assert!(locale.tags.len() <= 16);
        for tag in &locale.tags {
            assert!((1..=40).contains(&tag.chars().count()), "{tag}");
        }
    }
}

#[test]
fn archives_that_do_not_fit_are_refused() {
    let arm_alone = written(&[("a.zip", arm64())]).unwrap_err();
    assert!(matches!(arm_alone, WingetError::NoX64));
    let twice = written(&[("a.zip", x64()), ("b.zip", x64())]).unwrap_err();
    assert!(matches!(twice, WingetError::TwoArchives("x64")));
    let none = written(&[("a.zip", zip(&[("other.exe", pe(PE_X64, false))]))]).unwrap_err();
    assert!(matches!(none, WingetError::Programs { found: 0, .. }));
    let two = zip(&[
        ("tablecloth-mcp.exe", pe(PE_X64, false)),
        ("bin/tablecloth-mcp.exe", pe(PE_X64, false)),
    ]);
    let two = written(&[("a.zip", two)]).unwrap_err();
    assert!(matches!(two, WingetError::Programs { found: 2, .. }));
    let linux = zip(&[("tablecloth-mcp.exe", elf(ELF_X64, None))]);
    let linux = written(&[("a.zip", linux)]).unwrap_err();
    assert!(matches!(linux, WingetError::Program(..)));
    let ia64 = zip(&[("tablecloth-mcp.exe", pe(0x200, false))]);
    let ia64 = written(&[("a.zip", ia64)]).unwrap_err();
    assert!(matches!(ia64, WingetError::Cpu { .. }));
    let no_zip = written(&[("a.zip", b"MZ".to_vec())]).unwrap_err();
    assert!(matches!(no_zip, WingetError::NotZip(..)));
    let blank = written(&[("a b.zip", x64())]).unwrap_err();
    assert!(matches!(blank, WingetError::Name(_)));
}
