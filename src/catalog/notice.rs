//! What a user reads when an answer does not come from a fresh live catalog.

use std::time::Duration;

use super::{fetch::FetchError, location::Location, parse::ParseError, source::LoadError};
use crate::texts::{TEXTS, fill};

/// Notice for an answer from a catalog that was loaded `age` ago.
#[must_use]
pub fn stale(age: Duration, reason: &str) -> String {
    fill(
        &TEXTS.catalog.notice_stale,
        &[("age", &rounded(age)), ("reason", reason)],
    )
}

/// Notice for an answer from the catalog in the program, which has `count` services.
#[must_use]
pub fn embedded(count: usize, reason: &str) -> String {
    fill(
        &TEXTS.catalog.notice_embedded,
        &[("count", &count.to_string()), ("reason", reason)],
    )
}

fn rounded(age: Duration) -> String {
    let minutes = (age.as_secs() / 60).max(1);
    let texts = &TEXTS.catalog.age;
    let (template, n) = match minutes {
        0..60 => (&texts.minutes, minutes),
        60..2880 => (&texts.hours, minutes / 60),
        _ => (&texts.days, minutes / 1440),
    };
    fill(template, &[("n", &n.to_string())])
}

/// Why loading failed, in words that say what to do. No error means that it is still going on.
#[must_use]
pub fn reason(error: Option<&LoadError>, location: &Location) -> String {
    let texts = &TEXTS.catalog.reason;
    let Some(error) = error else {
        return texts.pending.clone();
    };
    let (template, detail) = match error {
        LoadError::Parse(ParseError::OtherRoot(_)) => (&texts.not_catalog, String::new()),
        LoadError::Parse(ParseError::TooMany) => (&texts.too_many, String::new()),
        LoadError::Parse(_) => (&texts.malformed, String::new()),
        LoadError::Fetch(error) => match error {
            FetchError::Address(value) => (&texts.address, value.clone()),
            FetchError::File(error) => (&texts.file, error.to_string()),
            FetchError::CertificateFile(detail) => (&texts.certificate_file, detail.clone()),
            FetchError::Connect(_) => (&texts.connect, String::new()),
            FetchError::Proxy(_) => (&texts.proxy, String::new()),
            FetchError::Certificate(_) => (&texts.certificate, String::new()),
            FetchError::Timeout(_) => (&texts.timeout, String::new()),
            FetchError::Status(status) => (&texts.status, status.as_u16().to_string()),
            FetchError::Redirect(_) => (&texts.redirect, String::new()),
            FetchError::Interrupted(_) => (&texts.interrupted, String::new()),
            FetchError::TooLarge => (&texts.too_large, String::new()),
            FetchError::Internal(_) => (&texts.internal, String::new()),
        },
    };
    fill(
        template,
        &[
            ("host", location.host()),
            ("detail", &detail),
            ("value", &detail),
            ("status", &detail),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_the_unit_a_person_would_use() {
        for (seconds, told) in [
            (0, "1분"),
            (59 * 60 + 59, "59분"),
            (3600, "1시간"),
            (47 * 3600, "47시간"),
            (48 * 3600, "2일"),
            (86_400 * 30, "30일"),
        ] {
            assert_eq!(rounded(Duration::from_secs(seconds)), told);
        }
    }

    #[test]
    fn reasons_have_no_place_left_open() {
        let location = Location::parse("https://catalog.example/c.xml");
        let errors = [
            LoadError::Fetch(FetchError::Address("ftp://x".to_owned())),
            LoadError::Fetch(FetchError::File(std::io::Error::other("gone"))),
            LoadError::Fetch(FetchError::CertificateFile("/x: gone".to_owned())),
            LoadError::Fetch(FetchError::Proxy(None)),
            LoadError::Fetch(FetchError::Status(reqwest::StatusCode::NOT_FOUND)),
            LoadError::Fetch(FetchError::TooLarge),
            LoadError::Fetch(FetchError::Internal("x".to_owned())),
            LoadError::Parse(ParseError::OtherRoot("html".to_owned())),
            LoadError::Parse(ParseError::NoServices),
            LoadError::Parse(ParseError::TooMany),
        ];
        for error in errors.iter().map(Some).chain([None]) {
            let told = reason(error, &location);
            assert!(!told.contains('{'), "{told}");
        }
        let not_found = reason(Some(&errors[4]), &location);
        assert!(not_found.contains("404") && not_found.contains("catalog.example"));
    }
}
