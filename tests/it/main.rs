//! Drives the built program over its standard streams.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "all of it is test code; clippy sees that only inside the test functions"
)]

mod catalog_server;
mod client;
mod commands;
mod conformance;
#[cfg(unix)]
mod ending;
#[cfg(unix)]
mod launch;
mod protocol;
mod texts;
mod tools;
