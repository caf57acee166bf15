//! What Windows Sandbox needs of a machine, judged from plain facts.
//!
//! Source of the rules: Microsoft's "Windows Sandbox" overview and
//! "Install Windows Sandbox" (learn.microsoft.com).

/// What is known of a Windows machine. `None` is what cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Windows {
    /// `EditionID` of the registry: `Core` (Home), `Professional`, `Enterprise`, …
    pub edition: Option<String>,
    /// Build number: 19045 is the last Windows 10, 22000 the first Windows 11.
    pub build: Option<u32>,
    /// The machine's processor: `AMD64`, `ARM64`, …
    pub processor: Option<String>,
    /// Whether the firmware has virtualization on. Reads `false` while a
    /// hypervisor runs, which has taken it over.
    pub firmware: Option<bool>,
    /// Whether the processor has second level address translation.
    pub slat: Option<bool>,
    /// Whether memory can be marked as not executable.
    pub nx: Option<bool>,
    /// Which hypervisor runs.
    pub hypervisor: Option<Hypervisor>,
}

/// Which hypervisor a system runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hypervisor {
    /// None.
    None,
    /// That of this very Windows, so virtualization works.
    Own,
    /// One outside: this Windows is a virtual machine.
    Outer,
}

/// What keeps Windows Sandbox from working.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The Home edition, which does not have it.
    Home,
    /// Another edition that does not have it, such as Windows Server 2019.
    NotOffered,
    /// A Windows from before it came.
    TooOld,
    /// A processor without what virtualization takes.
    Processor,
    /// The protection against execution of data is off in the firmware.
    NxOff,
    /// Virtualization is off in the firmware.
    VirtualizationOff,
    /// The Windows feature has not been turned on.
    FeatureOff,
}

/// How editions stand to Windows Sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// Home: does not have it.
    Home,
    /// Pro, Enterprise, Education: have it.
    WithSandbox,
    /// Does not have it, and is not Home.
    Without,
    /// Not read, or not one we know.
    Unknown,
}

/// How virtualization stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Virtualization {
    /// Works, or is at hand.
    On,
    /// Something is missing.
    Blocked(Obstacle),
    /// A virtual machine, where it takes nested virtualization that the outside must allow.
    Nested,
    /// Not readable here.
    Unknown,
}

/// Windows 10 1903, the first with Windows Sandbox.
const FIRST_BUILD: u32 = 18_362;
/// Windows 11 22H2, the first with Windows Sandbox on ARM64.
const FIRST_BUILD_ARM: u32 = 22_621;

impl Windows {
    /// How this edition stands to Windows Sandbox.
    #[must_use]
    pub fn edition(&self) -> Edition {
        let Some(id) = self.edition.as_deref() else {
            return Edition::Unknown;
        };
        // Core, CoreN, CoreSingleLanguage and CoreCountrySpecific are all sold as Home.
        if id.starts_with("Core") {
            Edition::Home
        } else if ["Professional", "Enterprise", "Education", "IoTEnterprise"]
            .iter()
            .any(|family| id.starts_with(family))
        {
            Edition::WithSandbox
        } else if id.starts_with("Server") {
            Edition::Without
        } else {
            Edition::Unknown
        }
    }

    /// Whether this Windows is from before the sandbox came.
    #[must_use]
    pub fn is_too_old(&self) -> bool {
        let is_arm = self.processor.as_deref() == Some("ARM64");
        let first = if is_arm { FIRST_BUILD_ARM } else { FIRST_BUILD };
        self.build.is_some_and(|build| build < first)
    }

    /// How virtualization stands.
    #[must_use]
    pub fn virtualization(&self) -> Virtualization {
        match (self.hypervisor, self.firmware) {
            // It would not run without all the rest, which it hides from us.
            (Some(Hypervisor::Own), _) => Virtualization::On,
            _ if self.nx == Some(false) => Virtualization::Blocked(Obstacle::NxOff),
            (Some(Hypervisor::Outer), Some(true)) => Virtualization::On,
            (Some(Hypervisor::Outer), _) => Virtualization::Nested,
            _ if self.slat == Some(false) && self.firmware == Some(true) => {
                Virtualization::Blocked(Obstacle::Processor)
            }
            (_, Some(true)) => Virtualization::On,
            (Some(Hypervisor::None), Some(false)) => {
                Virtualization::Blocked(Obstacle::VirtualizationOff)
            }
            _ => Virtualization::Unknown,
        }
    }

    /// Why there is no sandbox here, as far as that can be told: first what
    /// nothing can be done about, then what comes first when turning it on.
    #[must_use]
    pub fn reason_missing(&self) -> Option<Obstacle> {
        let edition = self.edition();
        match edition {
            Edition::Home => return Some(Obstacle::Home),
            Edition::Without => return Some(Obstacle::NotOffered),
            Edition::WithSandbox | Edition::Unknown => {}
        }
        if self.is_too_old() {
            return Some(Obstacle::TooOld);
        }
        match self.virtualization() {
            Virtualization::Blocked(obstacle) => Some(obstacle),
            _ => (edition == Edition::WithSandbox).then_some(Obstacle::FeatureOff),
        }
    }

    /// Name for a person to read, such as `Windows 11 Professional build 22631`.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = "Windows".to_owned();
        let is_server = self.edition() == Edition::Without;
        // The registry's product name still says 10 on Windows 11.
        match self.build {
            Some(22_000..) if !is_server => name.push_str(" 11"),
            Some(10_240..) if !is_server => name.push_str(" 10"),
            _ => {}
        }
        match &self.edition {
            Some(id) if self.edition() == Edition::Home => name.extend([" Home (", id, ")"]),
            Some(id) => name.extend([" ", id]),
            None => {}
        }
        if let Some(build) = self.build {
            name.extend([" build ", &build.to_string()]);
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pro() -> Windows {
        Windows {
            edition: Some("Professional".to_owned()),
            build: Some(22_631),
            processor: Some("AMD64".to_owned()),
            firmware: Some(true),
            slat: Some(true),
            nx: Some(true),
            hypervisor: Some(Hypervisor::None),
        }
    }

    fn edition(id: &str) -> Windows {
        Windows {
            edition: Some(id.to_owned()),
            ..pro()
        }
    }

    #[test]
    fn editions_are_known_by_their_family() {
        for (id, known) in [
            ("Core", Edition::Home),
            ("CoreSingleLanguage", Edition::Home),
            ("CoreCountrySpecific", Edition::Home),
            ("Professional", Edition::WithSandbox),
            ("ProfessionalWorkstation", Edition::WithSandbox),
            ("EnterpriseS", Edition::WithSandbox),
            ("EducationN", Edition::WithSandbox),
            ("IoTEnterprise", Edition::WithSandbox),
            ("ServerStandard", Edition::Without),
            ("Cloud", Edition::Unknown),
        ] {
            assert_eq!(edition(id).edition(), known, "{id}");
        }
    }

    #[test]
    fn what_nothing_can_be_done_about_comes_first() {
        let off = |windows: Windows| Windows {
            firmware: Some(false),
            ..windows
        };
        for (windows, reason) in [
            (off(edition("Core")), Some(Obstacle::Home)),
            (off(edition("ServerStandard")), Some(Obstacle::NotOffered)),
            (off(pro()), Some(Obstacle::VirtualizationOff)),
            (pro(), Some(Obstacle::FeatureOff)),
            (edition("Cloud"), None),
            (Windows::default(), None),
        ] {
            assert_eq!(windows.reason_missing(), reason, "{windows:?}");
        }
        let old = Windows {
            build: Some(17_763),
            ..pro()
        };
        assert_eq!(old.reason_missing(), Some(Obstacle::TooOld));
        let arm = Windows {
            build: Some(22_000),
            processor: Some("ARM64".to_owned()),
            ..pro()
        };
        assert_eq!(arm.reason_missing(), Some(Obstacle::TooOld));
    }

    #[test]
    fn a_hypervisor_hides_what_it_uses() {
        let judged = |hypervisor, firmware, slat, nx| {
            let windows = Windows {
                firmware,
                slat,
                nx,
                hypervisor,
                ..pro()
            };
            windows.virtualization()
        };
        let (yes, no) = (Some(true), Some(false));
        let none = Some(Hypervisor::None);
        for (hypervisor, firmware, slat, nx, expected) in [
            (Some(Hypervisor::Own), no, no, yes, Virtualization::On),
            (Some(Hypervisor::Outer), no, no, yes, Virtualization::Nested),
            (Some(Hypervisor::Outer), yes, yes, yes, Virtualization::On),
            (none, yes, yes, yes, Virtualization::On),
            (
                none,
                no,
                yes,
                yes,
                Virtualization::Blocked(Obstacle::VirtualizationOff),
            ),
            (
                none,
                yes,
                no,
                yes,
                Virtualization::Blocked(Obstacle::Processor),
            ),
            (none, yes, yes, no, Virtualization::Blocked(Obstacle::NxOff)),
            (None, None, None, None, Virtualization::Unknown),
        ] {
            let judged = judged(hypervisor, firmware, slat, nx);
            assert_eq!(
                judged, expected,
                "{hypervisor:?} {firmware:?} {slat:?} {nx:?}"
            );
        }
    }

    #[test]
    fn the_name_tells_10_from_11() {
        assert_eq!(pro().name(), "Windows 11 Professional build 22631");
        let home = Windows {
            build: Some(19_045),
            ..edition("Core")
        };
        assert_eq!(home.name(), "Windows 10 Home (Core) build 19045");
        assert_eq!(Windows::default().name(), "Windows");
    }
}
