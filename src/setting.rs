//! Settings from environment variables.

/// Address or path of the catalog, instead of the public one.
pub const CATALOG_URL: &str = "TABLECLOTH_CATALOG_URL";
/// Program that opens `.wsb` files, instead of the system's sandbox.
pub const WSB_RUNNER: &str = "TABLECLOTH_WSB_RUNNER";
/// What is logged: levels, also by module, as in `warn,tablecloth_mcp=debug`.
pub const LOG: &str = "RUST_LOG";
/// PEM file with additional root certificates, as OpenSSL reads it.
pub const SSL_CERT_FILE: &str = "SSL_CERT_FILE";

/// The value of an environment variable, unless it is unset, blank or not Unicode.
///
/// Claude Desktop passes an optional bundle setting that was left empty as the
/// literal text `${user_config.name}`
/// (linkedin-mcp-server issue 678), so a
/// value of that form counts as unset too.
#[must_use]
pub fn read(name: &str) -> Option<String> {
    meaningful(std::env::var(name).ok()?)
}

fn meaningful(value: String) -> Option<String> {
    let trimmed = value.trim();
    let placeholder = trimmed.starts_with("${") && trimmed.ends_with('}');
    (!trimmed.is_empty() && !placeholder).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::meaningful;

    #[test]
    fn blank_values_and_placeholders_count_as_unset() {
        for unset in ["", " \t", "${user_config.runner}", " ${x} "] {
            assert_eq!(meaningful(unset.to_owned()), None, "{unset:?}");
        }
    }

    #[test]
    fn other_values_are_kept_as_they_are() {
        for value in ["/bin/echo", " padded ", "$HOME/run", "a${b}"] {
            assert_eq!(meaningful(value.to_owned()).as_deref(), Some(value));
        }
    }
}
