//! What the project is called and where it lives: all of it from Cargo.toml.

use tablecloth_mcp::texts::fill;

/// The program's name, and that of everything made of it.
pub(crate) const PROGRAM: &str = "tablecloth-mcp";

/// The version of the workspace, without a `v` before it.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The address of the source repository.
pub(crate) const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The SPDX expression of the licence.
pub(crate) const LICENSE: &str = env!("CARGO_PKG_LICENSE");

/// The text of the licence.
pub(crate) const LICENSE_TEXT: &str = include_str!("../../LICENSE");

/// The account that the repository belongs to.
pub(crate) fn owner() -> &'static str {
    REPOSITORY.rsplit('/').nth(1).unwrap_or_default()
}

/// The address of that account.
pub(crate) fn owner_url() -> &'static str {
    REPOSITORY
        .rsplit_once('/')
        .map_or(REPOSITORY, |(owner, _)| owner)
}

/// Fills `{version}`, `{license}`, `{repository}` and `{owner}` in a text.
pub(crate) fn fill_in(text: &str) -> String {
    let values = [
        ("version", VERSION),
        ("license", LICENSE),
        ("repository", REPOSITORY),
        ("owner", owner_url()),
    ];
    fill(text, &values)
}

/// The address of a file of this version's release.
pub(crate) fn release_url(file_name: &str) -> String {
    format!("{REPOSITORY}/releases/download/v{VERSION}/{file_name}")
}

/// The address of a file of the main branch, for a person to read.
pub(crate) fn file_url(path: &str) -> String {
    format!("{REPOSITORY}/blob/main/{path}")
}
