use std::io::Cursor;

use zip::ZipArchive;

use super::*;
use crate::executable::samples;

const MCPB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../mcpb");

/// A folder with a program for each target, named after it.
fn programs() -> (tempfile::TempDir, Vec<Program>) {
    let folder = tempfile::tempdir().unwrap();
    let programs = Target::ALL.into_iter().map(|target| {
        let content = match target {
            Target::WindowsX64 => samples::pe(samples::PE_X64, false),
            Target::MacArm64 => samples::mach_o(samples::MACH_ARM64, 2, true),
            Target::MacX64 => samples::mach_o(samples::MACH_X64, 2, false),
            Target::LinuxX64 => samples::elf(samples::ELF_X64, None),
            Target::LinuxArm64 => samples::elf(samples::ELF_ARM64, None),
        };
        let file = folder.path().join(target.to_string());
        fs::write(&file, content).unwrap();
        Program { target, file }
    });
    let programs = programs.collect();
    (folder, programs)
}

fn source() -> Source {
    Source::read(Path::new(MCPB)).unwrap()
}

/// What is said against the source after a change to it.
fn fault(change: impl FnOnce(&mut Source)) -> BundleError {
    let (_folder, programs) = programs();
    let mut source = source();
    change(&mut source);
    let programs = read_programs(&programs).unwrap();
    entries(&source, programs, &tool_list::of_server())
        .err()
        .unwrap()
}

#[test]
fn two_bundles_of_the_same_files_are_the_same() {
    let (folder, mut programs) = programs();
    let outs = ["1.mcpb", "2.mcpb"].map(|name| folder.path().join(name));
    for out in outs.clone() {
        programs.reverse();
        let bundle = Bundle {
            programs: programs.clone(),
            source: MCPB.into(),
            out,
        };
        bundle.run().unwrap();
    }
    let [first, second] = outs.map(|out| fs::read(out).unwrap());
    assert!(first == second);

    let mut archive = ZipArchive::new(Cursor::new(first)).unwrap();
    let files: Vec<_> = (0..archive.len())
        .map(|index| {
            let file = archive.by_index(index).unwrap();
            let mode = file.unix_mode().unwrap() & 0o7777;
            format!("{mode:o} {}", file.name().unwrap())
        })
        .collect();
    let wanted = [
        "644 manifest.json",
        "644 icon.png",
        "644 LICENSE",
        "644 mcpb-resources/ko-KR.json",
        "644 mcpb-resources/en-US.json",
        "755 server/launch.sh",
        "755 server/win32-x64/tablecloth-mcp.exe",
        "755 server/darwin-arm64/tablecloth-mcp",
        "755 server/darwin-x64/tablecloth-mcp",
        "755 server/linux-x64/tablecloth-mcp",
        "755 server/linux-arm64/tablecloth-mcp",
    ];
    assert_eq!(files, wanted);
}

#[test]
fn a_program_for_each_target_is_needed_and_no_second_one() {
    let (_folder, programs) = programs();
    for absent in 0..programs.len() {
        let mut fewer = programs.clone();
        let target = fewer.remove(absent).target;
        let error = read_programs(&fewer).err().unwrap();
        assert!(matches!(error, BundleError::MissingTarget(missing) if missing == target));
    }
    let mut more = programs.clone();
    more.push(programs[2].clone());
    let error = read_programs(&more).err().unwrap();
    assert!(matches!(
        error,
        BundleError::TwoPrograms {
            target: Target::MacX64,
            ..
        }
    ));
}

#[test]
fn a_wrong_program_is_named() {
    let (_folder, mut programs) = programs();
    let (first, second) = (programs[0].file.clone(), programs[3].file.clone());
    programs[0].file = second;
    programs[3].file = first;
    let error = read_programs(&programs).err().unwrap();
    let BundleError::Program {
        target,
        file,
        fault,
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((target, &file), (Target::WindowsX64, &programs[0].file));
    assert!(matches!(fault, ExecutableError::Format { .. }));
    fs::remove_file(&programs[0].file).unwrap();
    let error = read_programs(&programs).err().unwrap();
    assert!(matches!(error, BundleError::File(path, _) if path == file));
}

#[test]
fn targets_are_told_by_their_rust_names() {
    let program: Program = "x86_64-pc-windows-gnu=a=b.exe".parse().unwrap();
    assert_eq!(
        (program.target, program.file),
        (Target::WindowsX64, "a=b.exe".into())
    );
    for refused in [
        "a.exe",
        "x86_64-unknown-linux-gnu=a",
        "=a",
        "aarch64-pc-windows-msvc=a",
    ] {
        let error = refused.parse::<Program>().err().unwrap().to_string();
        assert!(error.contains("aarch64-apple-darwin"), "{error}");
    }
}

#[test]
fn a_source_that_does_not_fit_is_refused() {
    let manifest = fault(|source| source.manifest = source.manifest.replace("launch.sh", "run.sh"));
    assert!(matches!(
        manifest,
        BundleError::Manifest(ManifestError::NoFile { .. })
    ));
    let icon = fault(|source| source.icon = b"GIF89a".to_vec());
    assert!(matches!(icon, BundleError::Icon(_)));
    let texts = fault(|source| source.translations[0].1 = "{}".to_owned());
    assert!(matches!(texts, BundleError::Localization(_)));
    let tools = {
        let (_folder, programs) = programs();
        let mut tools = tool_list::of_server();
        tools[0].description = "what the next version says";
        let programs = read_programs(&programs).unwrap();
        entries(&source(), programs, &tools).err().unwrap()
    };
    assert!(matches!(
        tools,
        BundleError::Manifest(ManifestError::Description(_))
    ));
}

#[test]
fn the_script_knows_the_paths() {
    let script = String::from_utf8(source().script).unwrap();
    assert!(!script.contains('\r'));
    for target in Target::ALL
        .into_iter()
        .filter(|target| *target != Target::WindowsX64)
    {
        let folder = target.path().split('/').nth(1).unwrap();
        assert!(script.contains(&format!("folder={folder} ;;")), "{folder}");
    }
}
