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
mod doctor;
#[cfg(unix)]
mod ending;
mod inapplicable;
#[cfg(unix)]
mod launch;
mod network;
mod notice;
mod protocol;
mod proxy;
mod source_file;
mod texts;
mod tls;
mod tls_server;
mod tools;
mod windows;
