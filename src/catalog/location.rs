//! Where the catalog is loaded from.

use std::path::PathBuf;

use reqwest::Url;

use crate::setting;

/// Address of the public catalog.
pub const PUBLIC: &str = "https://yourtablecloth.app/TableClothCatalog/Catalog.xml";

/// Where the catalog is loaded from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// https anywhere, or http on this machine.
    Web(Url),
    /// An absolute path.
    File(PathBuf),
    /// A setting that cannot be used, as it was given.
    Unusable(String),
}

impl Location {
    /// The location set by `TABLECLOTH_CATALOG_URL`, else the public one.
    #[must_use]
    pub fn from_environment() -> Self {
        match setting::read(setting::CATALOG_URL) {
            Some(value) => Self::parse(&value),
            None => Self::parse(PUBLIC),
        }
    }

    /// Reads `https://…`, `http://` on loopback, `file://…` or a plain path.
    #[must_use]
    pub fn parse(value: &str) -> Self {
        let value = value.trim();
        let location = if value.contains("://") {
            Url::parse(value).ok().and_then(|url| match url.scheme() {
                "https" => Some(Self::Web(url)),
                "http" if is_loopback(&url) => Some(Self::Web(url)),
                "file" => url.to_file_path().ok().map(Self::File),
                _ => None,
            })
        } else {
            // The server leaves its working directory, so a relative path is settled now.
            std::path::absolute(value).ok().map(Self::File)
        };
        location.unwrap_or_else(|| Self::Unusable(value.to_owned()))
    }

    /// The address or path for a person to read, without a password.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Web(url) => {
                let mut url = url.clone();
                // Fails for addresses that cannot have one.
                let _ = url.set_username("");
                let _ = url.set_password(None);
                url.to_string()
            }
            Self::File(path) => path.to_string_lossy().into_owned(),
            Self::Unusable(value) => value.clone(),
        }
    }

    /// The host asked, or an empty text for a file.
    #[must_use]
    pub fn host(&self) -> &str {
        match self {
            Self::Web(url) => url.host_str().unwrap_or_default(),
            Self::File(_) | Self::Unusable(_) => "",
        }
    }
}

/// Whether the address names this machine.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_is_for_every_host_and_http_for_this_machine() {
        for value in [
            PUBLIC,
            "http://localhost:8080/c.xml",
            "http://127.0.0.1/c.xml",
            " http://[::1]:9/ ",
            "HTTPS://EXAMPLE.COM/",
        ] {
            assert!(
                matches!(Location::parse(value), Location::Web(_)),
                "{value}"
            );
        }
        for value in [
            "http://example.com/c.xml",
            "http://localhost.example.com/",
            "ftp://localhost/c.xml",
            "https://",
            "http://169.254.169.254/",
        ] {
            assert_eq!(
                Location::parse(value),
                Location::Unusable(value.to_owned()),
                "{value}"
            );
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        let location = Location::parse("https://user:secret@mirror.example/c.xml");
        assert_eq!(location.shown(), "https://mirror.example/c.xml");
    }

    #[cfg(unix)]
    #[test]
    fn files_are_named_by_address_or_path() {
        let file = Location::File("/tmp/한글 폴더/Catalog.xml".into());
        assert_eq!(Location::parse("/tmp/한글 폴더/Catalog.xml"), file);
        assert_eq!(
            Location::parse("file:///tmp/%ED%95%9C%EA%B8%80%20%ED%8F%B4%EB%8D%94/Catalog.xml"),
            file
        );
        let Location::File(path) = Location::parse("Catalog.xml") else {
            panic!("a plain name is a path");
        };
        assert!(path.is_absolute());
    }
}
