//! `SHA256SUMS` of a release, in the format of `sha256sum`.

use sha2::{Digest, Sha256};

use crate::text::tree::Tree;

/// The name of the file in a release.
pub const CHECKSUMS_FILE: &str = "SHA256SUMS";

/// One line for each file: hash, two blanks, name. `sha256sum --check SHA256SUMS` takes it.
pub fn checksums(files: &Tree) -> String {
    files.iter().map(|(path, bytes)| format!("{}  {path}\n", hex(&Sha256::digest(bytes)))).collect()
}

/// Bytes in lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4: the hash of the empty message.
    #[test]
    fn lines_are_those_of_sha256sum() {
        let tree: Tree = [("a".to_owned(), Vec::new())].into_iter().collect();
        assert_eq!(checksums(&tree), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n");
    }
}
