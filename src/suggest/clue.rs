//! What speaks for a service, and how to say it.

use super::book::Kind;
use crate::texts::{TEXTS, fill};

/// Something in a request that speaks for a service.
#[derive(Debug, Clone)]
pub struct Clue {
    /// Place of the service in the catalog.
    pub place: u32,
    /// How much it says, up to 1.
    pub weight: f32,
    /// Where in the request it begins.
    pub position: usize,
    /// What kind of phrase it is.
    pub kind: Kind,
    /// What it is.
    pub cause: Cause,
}

impl Clue {
    /// Whether the request names the service, as against a task.
    #[must_use]
    pub fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Name | Kind::Keyword) && !matches!(self.cause, Cause::Hint(_))
    }
}

/// Why a service is suggested.
#[derive(Debug, Clone)]
pub enum Cause {
    /// It is called so.
    Name(String),
    /// This is done there.
    Task(String),
    /// This can be done there too.
    AlsoTask(String),
    /// Something like this is done there.
    Alike(String),
    /// A slip of the finger.
    Typo {
        /// As in the request.
        typed: String,
        /// What was meant.
        meant: String,
    },
    /// The wrong keyboard layout.
    Layout {
        /// As in the request.
        typed: String,
        /// What was meant.
        meant: String,
    },
    /// Initial consonants.
    Initials {
        /// As in the request.
        typed: String,
        /// What they stand for.
        meant: String,
    },
    /// A name cut short.
    Short {
        /// As in the request.
        typed: String,
        /// The whole name.
        meant: String,
    },
    /// The business site of what was named so.
    BusinessSite(String),
    /// Its name has this word in it, which alone is not enough.
    Hint(String),
    /// It is near an id that is not there.
    Id(String),
}

impl Cause {
    /// The phrase that was meant.
    #[must_use]
    pub fn meant(&self) -> &str {
        match self {
            Self::Name(text)
            | Self::Task(text)
            | Self::AlsoTask(text)
            | Self::Alike(text)
            | Self::BusinessSite(text)
            | Self::Hint(text)
            | Self::Id(text) => text,
            Self::Typo { meant, .. }
            | Self::Layout { meant, .. }
            | Self::Initials { meant, .. }
            | Self::Short { meant, .. } => meant,
        }
    }

    /// The cause in words.
    #[must_use]
    pub fn reason(&self) -> String {
        let texts = &TEXTS.suggestions;
        let (template, typed) = match self {
            Self::Name(_) => (&texts.name, ""),
            Self::Task(_) => (&texts.task, ""),
            Self::AlsoTask(_) => (&texts.also_task, ""),
            Self::Alike(_) => (&texts.alike, ""),
            Self::Typo { typed, .. } => (&texts.typo, typed.as_str()),
            Self::Layout { typed, .. } => (&texts.layout, typed.as_str()),
            Self::Initials { typed, .. } => (&texts.initials, typed.as_str()),
            Self::Short { typed, .. } => (&texts.short, typed.as_str()),
            Self::BusinessSite(_) => (&texts.business_site, ""),
            Self::Hint(_) => (&texts.hint, ""),
            Self::Id(_) => (&texts.id, ""),
        };
        fill(template, &[("meant", self.meant()), ("typed", typed)])
    }
}
