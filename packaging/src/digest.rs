//! The SHA-256 of what is published.

use sha2::{Digest, Sha256};

/// The SHA-256 of these bytes in lower-case hex digits.
pub(crate) fn sha256(data: &[u8]) -> String {
    use std::fmt::Write;

    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(data) {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_known_one() {
        assert_eq!(
            super::sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
