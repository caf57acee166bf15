//! Finds Korean bank and government sites in a public catalog and opens them
//! in a disposable Windows Sandbox, as an MCP server and as a command line.
//!
//! Data flows one way: [`arguments`] → [`catalog`] → [`search`] or [`wsb`] →
//! [`answer`] → (launch in [`sandbox`]). [`call`] ties the steps together for
//! both front ends, [`server`] and [`command_line`]; [`doctor`] looks at what they need. Input and output happen
//! in [`catalog::source`], [`sandbox`], [`stdio`] and the command line alone.

pub mod answer;
pub mod arguments;
pub mod call;
pub mod catalog;
pub mod clock;
pub mod command_line;
pub mod display_width;
pub mod doctor;
pub mod sandbox;
pub mod search;
pub mod server;
pub mod setting;
pub mod site_ids;
pub mod stdio;
pub mod suggest;
pub mod texts;
pub mod tool;
pub mod wsb;
