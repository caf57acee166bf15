//! The five systems that a bundle has a program for.

use std::fmt::{self, Display};

use object::Architecture;

/// A system and CPU that a bundle has a program for. Windows gets one for x64
/// alone: a manifest can choose by system only, and there is no script to choose by CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// Windows on x64, and on arm64 by emulation.
    WindowsX64,
    /// macOS on Apple silicon.
    MacArm64,
    /// macOS on Intel.
    MacX64,
    /// Linux on x64, whatever its C library.
    LinuxX64,
    /// Linux on arm64, whatever its C library.
    LinuxArm64,
}

/// The format of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Windows.
    Pe,
    /// macOS.
    MachO,
    /// Linux.
    Elf,
}

impl Target {
    /// All of them, in the order that they have in a bundle.
    pub(crate) const ALL: [Self; 5] = [
        Self::WindowsX64,
        Self::MacArm64,
        Self::MacX64,
        Self::LinuxX64,
        Self::LinuxArm64,
    ];

    /// The Rust targets that make a program for it, the released one first.
    pub(crate) fn triples(self) -> &'static [&'static str] {
        match self {
            Self::WindowsX64 => &[
                "x86_64-pc-windows-msvc",
                "x86_64-pc-windows-gnu",
                "x86_64-pc-windows-gnullvm",
            ],
            Self::MacArm64 => &["aarch64-apple-darwin"],
            Self::MacX64 => &["x86_64-apple-darwin"],
            Self::LinuxX64 => &["x86_64-unknown-linux-musl"],
            Self::LinuxArm64 => &["aarch64-unknown-linux-musl"],
        }
    }

    /// The one that a Rust target makes a program for.
    pub(crate) fn by_triple(triple: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|target| target.triples().contains(&triple))
    }

    /// Where the program lies in a bundle. `launch.sh` knows these paths too.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::WindowsX64 => "server/win32-x64/tablecloth-mcp.exe",
            Self::MacArm64 => "server/darwin-arm64/tablecloth-mcp",
            Self::MacX64 => "server/darwin-x64/tablecloth-mcp",
            Self::LinuxX64 => "server/linux-x64/tablecloth-mcp",
            Self::LinuxArm64 => "server/linux-arm64/tablecloth-mcp",
        }
    }

    /// The format of its programs.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::WindowsX64 => Format::Pe,
            Self::MacArm64 | Self::MacX64 => Format::MachO,
            Self::LinuxX64 | Self::LinuxArm64 => Format::Elf,
        }
    }

    /// The CPU of its programs.
    pub(crate) fn architecture(self) -> Architecture {
        match self {
            Self::WindowsX64 | Self::MacX64 | Self::LinuxX64 => Architecture::X86_64,
            Self::MacArm64 | Self::LinuxArm64 => Architecture::Aarch64,
        }
    }
}

impl Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.triples()[0])
    }
}

impl Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Self::Pe => "a Windows program (PE)",
            Self::MachO => "a macOS program (Mach-O)",
            Self::Elf => "a Linux program (ELF)",
        })
    }
}
