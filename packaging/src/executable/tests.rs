use super::{samples::*, *};

/// A good program for each target.
fn good(target: Target) -> Vec<u8> {
    match target {
        Target::WindowsX64 => pe(PE_X64, false),
        Target::MacArm64 => mach_o(MACH_ARM64, 2, true),
        Target::MacX64 => mach_o(MACH_X64, 2, false),
        Target::LinuxX64 => elf(ELF_X64, None),
        Target::LinuxArm64 => elf(ELF_ARM64, None),
    }
}

#[test]
fn each_program_fits_its_own_target_alone() {
    for target in Target::ALL {
        for other in Target::ALL {
            let data = good(other);
            let outcome = program(target, &data);
            if target == other {
                assert_eq!(outcome, Ok(&data[..]), "{target}");
            } else if target.format() == other.format() {
                let wanted = target.architecture();
                let found = other.architecture();
                assert_eq!(
                    outcome,
                    Err(ExecutableError::Architecture { found, wanted })
                );
            } else {
                let (found, wanted) = (other.format(), target.format());
                assert_eq!(outcome, Err(ExecutableError::Format { found, wanted }));
            }
        }
    }
    let found = Architecture::Aarch64;
    let wanted = Architecture::X86_64;
    let windows_arm = program(Target::WindowsX64, &pe(PE_ARM64, false)).map(<[u8]>::to_vec);
    assert_eq!(
        windows_arm,
        Err(ExecutableError::Architecture { found, wanted })
    );
}

#[test]
fn other_files_are_refused() {
    for data in [
        &b""[..],
        b"MZ",
        b"#!/bin/sh\nexit 0\n",
        b"PK\x03\x04",
        &[0; 200],
    ] {
        for target in Target::ALL {
            let error = program(target, data).unwrap_err();
            let wanted = target.format();
            assert_eq!(error, ExecutableError::Unknown { wanted }, "{data:?}");
        }
    }
}

#[test]
fn libraries_and_object_files_are_refused() {
    let refused = [
        (Target::WindowsX64, pe(PE_X64, true)),
        (Target::MacArm64, mach_o(MACH_ARM64, 6, true)),
        (Target::MacX64, mach_o(MACH_X64, 1, false)),
        (Target::LinuxX64, {
            let mut library = elf(ELF_X64, None);
            library[24..32].fill(0);
            library
        }),
        (Target::LinuxArm64, {
            let mut object_file = elf(ELF_ARM64, None);
            object_file[16] = 1;
            object_file
        }),
    ];
    for (target, data) in refused {
        let error = program(target, &data).unwrap_err();
        assert_eq!(error, ExecutableError::NotStartable, "{target}");
    }
}

#[test]
fn linux_programs_are_static() {
    let loader = "/lib64/ld-linux-x86-64.so.2";
    let data = elf(ELF_X64, Some(loader));
    let error = program(Target::LinuxX64, &data).unwrap_err();
    assert_eq!(error, ExecutableError::Dynamic(loader.to_owned()));
}

#[test]
fn arm64_programs_for_macos_are_signed() {
    let unsigned = mach_o(MACH_ARM64, 2, false);
    let error = program(Target::MacArm64, &unsigned).unwrap_err();
    assert_eq!(error, ExecutableError::Unsigned);
    // The load command is left, and what it points at is not.
    let mut stripped = mach_o(MACH_ARM64, 2, true);
    stripped.truncate(stripped.len() - 1);
    assert_eq!(
        program(Target::MacArm64, &stripped),
        Err(ExecutableError::Unsigned)
    );
    let mut overwritten = mach_o(MACH_ARM64, 2, true);
    overwritten[48] = 0;
    assert_eq!(
        program(Target::MacArm64, &overwritten),
        Err(ExecutableError::Unsigned)
    );
}

#[test]
fn of_a_universal_program_one_part_is_taken() {
    let (arm, intel) = (good(Target::MacArm64), good(Target::MacX64));
    let both = universal(&[(MACH_X64, &intel), (MACH_ARM64, &arm)]);
    assert_eq!(program(Target::MacArm64, &both), Ok(&arm[..]));
    assert_eq!(program(Target::MacX64, &both), Ok(&intel[..]));

    let one = universal(&[(MACH_X64, &intel)]);
    let error = program(Target::MacArm64, &one).unwrap_err();
    assert_eq!(
        error,
        ExecutableError::NotInUniversal(Architecture::Aarch64)
    );
    let unsigned = mach_o(MACH_ARM64, 2, false);
    let unsigned = universal(&[(MACH_ARM64, &unsigned)]);
    assert_eq!(
        program(Target::MacArm64, &unsigned),
        Err(ExecutableError::Unsigned)
    );
    // What the parts are said to be may be wrong.
    let liar = universal(&[(MACH_ARM64, &intel)]);
    let error = program(Target::MacArm64, &liar).unwrap_err();
    assert!(
        matches!(error, ExecutableError::Architecture { .. }),
        "{error}"
    );
}

#[test]
fn kinds_that_none_can_run_are_refused() {
    let mut narrow = elf(ELF_X64, None);
    narrow[4] = 1;
    let error = program(Target::LinuxX64, &narrow).unwrap_err();
    assert_eq!(error, ExecutableError::Kind(Format::Elf));
    let mut big_endian = elf(ELF_ARM64, None);
    big_endian[5] = 2;
    big_endian[16..64].fill(0);
    let error = program(Target::LinuxArm64, &big_endian).unwrap_err();
    assert_eq!(error, ExecutableError::Kind(Format::Elf));
}

#[test]
fn what_is_cut_off_is_refused_anywhere() {
    for target in Target::ALL {
        let data = good(target);
        for length in 0..data.len() {
            assert!(
                program(target, &data[..length]).is_err(),
                "{target} {length}"
            );
        }
    }
}
