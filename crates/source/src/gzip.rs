//! Gzip with the same bytes for the same input: no name, no time, no operating system.

use std::io::{Read as _, Write as _};

use flate2::read::MultiGzDecoder;
use flate2::{Compression, GzBuilder};

use super::budget::{Budget, Resource};

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

/// The same, of what a run may still unpack; the bytes are taken from it.
pub fn decompress_within(bytes: &[u8], limit: usize, budget: &Budget) -> Option<Vec<u8>> {
    let left = usize::try_from(budget.left(Resource::Unpacked)).unwrap_or(usize::MAX);
    match decompress(bytes, limit.min(left)) {
        Some(out) => budget
            .take(Resource::Unpacked, out.len())
            .is_ok()
            .then_some(out),
        None => {
            // Too much for the run is an error of the run; the rest is one of these bytes.
            if left < limit && decompresses_beyond(bytes, left) {
                let _ = budget.take(Resource::Unpacked, left.saturating_add(1));
            }
            None
        }
    }
}

/// Whether more bytes come out than the limit.
fn decompresses_beyond(bytes: &[u8], limit: usize) -> bool {
    let mut rest = MultiGzDecoder::new(bytes).take(limit as u64 + 1);
    std::io::copy(&mut rest, &mut std::io::sink()).is_ok_and(|count| count > limit as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_is_bounded_per_run() {
        let (budget, packed) = (
            Budget::default().with(Resource::Unpacked, 10),
            compress(b"12345678"),
        );
        assert!(decompress_within(b"plain", 100, &budget).is_none());
        assert!(decompress_within(&packed, 7, &budget).is_none());
        assert!(!budget.is_spent(Resource::Unpacked));
        assert!(decompress_within(&packed, 100, &budget).is_some());
        assert!(decompress_within(&packed, 100, &budget).is_none());
        assert!(budget.is_spent(Resource::Unpacked));
    }

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
