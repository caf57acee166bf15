//! Drives the built program over its standard streams.
