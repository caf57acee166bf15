//! The time a signature names.

use std::{env, ffi::OsString, time::Duration};

use der::DateTime;
use thiserror::Error;

/// Why there is no time to sign at.
#[derive(Debug, Error)]
pub(crate) enum SigningTimeError {
    #[error("SOURCE_DATE_EPOCH is {0:?}, not seconds since 1970 up to the year 9999")]
    Variable(OsString),
    #[error("the system's clock stands before 1970 or after 9999")]
    Clock(#[source] der::Error),
}

/// `SOURCE_DATE_EPOCH` when set, so that a release can be made again to the byte; else now.
pub(crate) fn signing_time() -> Result<DateTime, SigningTimeError> {
    match env::var_os("SOURCE_DATE_EPOCH") {
        Some(seconds) => seconds
            .to_str()
            .and_then(from_seconds)
            .ok_or(SigningTimeError::Variable(seconds)),
        None => DateTime::from_system_time(std::time::SystemTime::now())
            .map_err(SigningTimeError::Clock),
    }
}

fn from_seconds(seconds: &str) -> Option<DateTime> {
    DateTime::from_unix_duration(Duration::from_secs(seconds.parse().ok()?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read() {
        assert_eq!(
            from_seconds("1800000000").unwrap().to_string(),
            "2027-01-15T08:00:00Z"
        );
        for bad in [
            "",
            "now",
            "-1",
            "1.5",
            "253402300800",
            "99999999999999999999",
        ] {
            assert_eq!(from_seconds(bad), None, "{bad}");
        }
    }
}
