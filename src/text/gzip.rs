//! Gzip with the same bytes for the same input: no name, no time, no operating system.

use std::io::{Read as _, Write as _};

use flate2::read::MultiGzDecoder;
use flate2::{Compression, GzBuilder};

/// The byte for an operating system that is not known (RFC 1952).
const UNKNOWN_SYSTEM: u8 = 255;

/// One member with the given bytes, as small as deflate makes it.
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzBuilder::new()
        .mtime(0)
        .operating_system(UNKNOWN_SYSTEM)
        .write(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("internal error: writing to memory does not fail")
}

/// The bytes that were compressed; `None` when these are not gzip, or more than `limit` come out.
pub fn decompress(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    MultiGzDecoder::new(bytes)
        .take(limit as u64 + 1)
        .read_to_end(&mut out)
        .ok()?;
    (out.len() <= limit).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_nothing_that_changes() {
        let bytes = compress(b"aaaaaaaaaaaaaaaa");
        // Magic, deflate, no flags, no time, slowest algorithm, unknown system.
        assert_eq!(bytes[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);
        assert_eq!(
            decompress(&bytes, 16).as_deref(),
            Some(&b"aaaaaaaaaaaaaaaa"[..])
        );
        assert_eq!(decompress(&bytes, 15), None);
        assert_eq!(decompress(b"plain", 100), None);
    }
}
