//! What the headers of a program say it is.

use object::{
    Architecture, Endianness, FileKind, LittleEndian as LE, elf, macho, pe,
    read::{
        Object,
        elf::{ElfFile64, ProgramHeader},
        macho::{
            FatArch, LoadCommandVariant, MachHeader, MachOFatFile32, MachOFatFile64, MachOFile64,
        },
        pe::PeFile64,
    },
};

use crate::target::{Format, Target};

/// Why a file is not the program that a target needs.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExecutableError {
    /// Not even a format that is known.
    #[error("it is no program for any system, and {wanted} is needed")]
    Unknown { wanted: Format },
    /// A program for another system.
    #[error("it is {found}, and {wanted} is needed")]
    Format { found: Format, wanted: Format },
    /// 32-bit, an object file, big-endian and the like.
    #[error("it is {0} of a kind that cannot be shipped")]
    Kind(Format),
    /// A program for another CPU.
    #[error("it is for the CPU {found:?}, and {wanted:?} is needed")]
    Architecture {
        found: Architecture,
        wanted: Architecture,
    },
    /// A universal Mach-O file without the CPU.
    #[error("it is a universal program without {0:?} in it")]
    NotInUniversal(Architecture),
    /// A library.
    #[error("it is a library or object file, not a program that can be started")]
    NotStartable,
    /// A Linux program that other systems of the same CPU may be unable to load.
    #[error("it is linked dynamically (it asks for {0}); build it for a musl target, static")]
    Dynamic(String),
    /// macOS kills unsigned arm64 programs without a word.
    #[error(
        "it has no code signature, and macOS refuses to start such a program on arm64; \
         sign it (codesign --sign - makes an ad-hoc signature)"
    )]
    Unsigned,
    /// Cut off or damaged.
    #[error("its headers cannot be read: {0}")]
    Damaged(#[from] object::Error),
}

/// The program for `target` in `data`: all of it, or its part of a universal
/// Mach-O file, for the others would only make the download larger.
pub(crate) fn program(target: Target, data: &[u8]) -> Result<&[u8], ExecutableError> {
    let wanted = target.format();
    let Ok(kind) = FileKind::parse(data) else {
        return Err(ExecutableError::Unknown { wanted });
    };
    let found = match kind {
        FileKind::Pe32 | FileKind::Pe64 => Format::Pe,
        FileKind::MachO32 | FileKind::MachO64 | FileKind::MachOFat32 | FileKind::MachOFat64 => {
            Format::MachO
        }
        FileKind::Elf32 | FileKind::Elf64 => Format::Elf,
        _ => return Err(ExecutableError::Unknown { wanted }),
    };
    if found != wanted {
        return Err(ExecutableError::Format { found, wanted });
    }
    let architecture = target.architecture();
    let program = match kind {
        FileKind::MachOFat32 => part(MachOFatFile32::parse(data)?.arches(), data, architecture)?,
        FileKind::MachOFat64 => part(MachOFatFile64::parse(data)?.arches(), data, architecture)?,
        FileKind::Pe64 | FileKind::MachO64 | FileKind::Elf64 => data,
        _ => return Err(ExecutableError::Kind(found)),
    };
    let found = match wanted {
        Format::Pe => check_pe(program)?,
        Format::MachO => check_mach_o(program)?,
        Format::Elf => check_elf(program)?,
    };
    if found != architecture {
        let wanted = architecture;
        return Err(ExecutableError::Architecture { found, wanted });
    }
    if target == Target::MacArm64 && !is_signed(program)? {
        return Err(ExecutableError::Unsigned);
    }
    Ok(program)
}

/// The CPU of a Windows program.
pub(crate) fn check_pe(data: &[u8]) -> Result<Architecture, ExecutableError> {
    let file = PeFile64::parse(data)?;
    let characteristics = file.nt_headers().file_header.characteristics.get(LE);
    if !characteristics.contains(pe::IMAGE_FILE_EXECUTABLE_IMAGE)
        || characteristics.contains(pe::IMAGE_FILE_DLL)
    {
        return Err(ExecutableError::NotStartable);
    }
    Ok(file.architecture())
}

fn check_mach_o(data: &[u8]) -> Result<Architecture, ExecutableError> {
    let file = MachOFile64::<Endianness>::parse(data)?;
    if file.macho_header().filetype(file.endian()) != macho::MH_EXECUTE {
        return Err(ExecutableError::NotStartable);
    }
    Ok(file.architecture())
}

fn check_elf(data: &[u8]) -> Result<Architecture, ExecutableError> {
    let file = ElfFile64::<Endianness>::parse(data)?;
    let endian = file.endian();
    if endian != Endianness::Little {
        return Err(ExecutableError::Kind(Format::Elf));
    }
    let kind = file.elf_header().e_type.get(endian);
    // Static programs that can be loaded at any address are of type ET_DYN, as libraries are.
    if ![elf::ET_EXEC, elf::ET_DYN].contains(&kind) || file.elf_header().e_entry.get(endian) == 0 {
        return Err(ExecutableError::NotStartable);
    }
    for header in file.elf_program_headers() {
        if let Some(interpreter) = header.interpreter(endian, data)? {
            let interpreter = String::from_utf8_lossy(interpreter).into_owned();
            return Err(ExecutableError::Dynamic(interpreter));
        }
    }
    Ok(file.architecture())
}

/// The part of a universal file that is for this CPU.
fn part<'data>(
    parts: &[impl FatArch],
    data: &'data [u8],
    architecture: Architecture,
) -> Result<&'data [u8], ExecutableError> {
    let mut parts = parts.iter();
    let part = parts
        .find(|part| part.architecture() == architecture)
        .ok_or(ExecutableError::NotInUniversal(architecture))?;
    Ok(part.data(data)?)
}

/// Whether a Mach-O program has a code signature, of whatever kind.
fn is_signed(data: &[u8]) -> Result<bool, ExecutableError> {
    /// How the blob of a signature begins (`CSMAGIC_EMBEDDED_SIGNATURE` of XNU's `cs_blobs.h`).
    const EMBEDDED_SIGNATURE: [u8; 4] = [0xfa, 0xde, 0x0c, 0xc0];

    let file = MachOFile64::<Endianness>::parse(data)?;
    let endian = file.endian();
    let mut commands = file.macho_load_commands()?;
    while let Some(command) = commands.next()? {
        if command.cmd() != macho::LC_CODE_SIGNATURE {
            continue;
        }
        let LoadCommandVariant::LinkeditData(place) = command.variant()? else {
            continue;
        };
        let start = place.dataoff.get(endian) as usize;
        let blob = data.get(start..).unwrap_or_default();
        return Ok(blob.len() >= place.datasize.get(endian) as usize
            && blob.starts_with(&EMBEDDED_SIGNATURE));
    }
    Ok(false)
}

#[cfg(test)]
pub(crate) mod samples;

#[cfg(test)]
mod tests;
