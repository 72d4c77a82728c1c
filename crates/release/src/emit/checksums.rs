//! `SHA256SUMS` of a release, in the format of `sha256sum`.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use windlass_source::hex::hex;
use windlass_source::tree::Tree;

/// The name of the file in a release.
pub const CHECKSUMS_FILE: &str = "SHA256SUMS";

/// How the name of a signature ends, as `cosign sign-blob` is used: it begins with that of the
/// file.
pub const SIGNATURE: &str = ".sigstore.json";

/// The file that a file is the signature of, by its name, in the form that can be verified here.
pub fn signature_of(path: &str) -> Option<&str> {
    path.strip_suffix(SIGNATURE)
        .filter(|signed| !signed.is_empty())
}

/// The file that a file is the signature of, by its name, in any form: checksums are signed when
/// they are written, so that they name no signature.
pub fn signed_by(path: &str) -> Option<&str> {
    let of_checksums = path
        .strip_prefix(CHECKSUMS_FILE)
        .filter(|rest| rest.starts_with('.'))
        .map(|_| CHECKSUMS_FILE);
    signature_of(path).or(of_checksums)
}

/// What is wrong with a file by a list of checksums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumFault {
    /// The list names the file with another checksum.
    Differs,
    /// The file exists, but the list does not name it.
    Unlisted,
    /// The list names it, and it is not there.
    Gone,
}

/// Holds files against a list in the format of `sha256sum`: what is wrong, by path. The list itself
/// may be among the files.
pub fn compare(listed: &str, files: &Tree) -> Vec<(String, ChecksumFault)> {
    let listed = sums_of(listed);
    let fault = |path: &str, bytes: &[u8]| match listed.get(path) {
        None => Some(ChecksumFault::Unlisted),
        Some(sum) => (!sum.eq_ignore_ascii_case(&hex(&Sha256::digest(bytes))))
            .then_some(ChecksumFault::Differs),
    };
    let others = files.iter().filter(|(path, _)| *path != CHECKSUMS_FILE);
    let wrong = others.filter_map(|(path, bytes)| Some((path.clone(), fault(path, bytes)?)));
    let gone = listed
        .keys()
        .filter(|path| files.get(path).is_none())
        .map(|path| ((*path).to_owned(), ChecksumFault::Gone));
    wrong.chain(gone).collect()
}

/// The entries of a list in their order: path and sum.
pub fn listed(text: &str) -> Vec<(&str, &str)> {
    text.lines().filter_map(entry).collect()
}

fn sums_of(text: &str) -> BTreeMap<&str, &str> {
    listed(text).into_iter().collect()
}

/// Path and sum of a line. `*` before a path says that the file was read as bytes.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (sum, path) = line.split_once(' ')?;
    let path = path.strip_prefix([' ', '*'])?;
    Some((path.strip_prefix("./").unwrap_or(path), sum))
}

/// A file and its SHA-256, which the bill of materials names too.
#[derive(Debug, Clone, Copy)]
pub struct Summed<'a> {
    pub(crate) path: &'a str,
    pub(crate) bytes: &'a [u8],
    pub(crate) sum: [u8; 32],
}

impl<'a> Summed<'a> {
    pub(crate) fn of(path: &'a str, bytes: &'a [u8]) -> Self {
        Summed {
            path,
            bytes,
            sum: Sha256::digest(bytes).into(),
        }
    }
}

/// The files with their hashes, in their order.
pub fn summed(files: &Tree) -> Vec<Summed<'_>> {
    files
        .iter()
        .map(|(path, bytes)| Summed::of(path, bytes))
        .collect()
}

/// One line for each file, in byte order of the paths: hash, two blanks, path. `sha256sum --check
/// SHA256SUMS` takes it.
pub fn checksums(mut files: Vec<Summed<'_>>) -> String {
    files.sort_by_key(|file| file.path);
    files
        .iter()
        .map(|file| format!("{}  {}\n", hex(&file.sum), file.path))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4: the hash of the empty message.
    #[test]
    fn lines_are_those_of_sha256sum() {
        let tree: Tree = [("a".to_owned(), Vec::new())].into_iter().collect();
        assert_eq!(
            checksums(summed(&tree)),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n"
        );
    }

    #[test]
    fn lines_are_in_the_order_of_their_paths() {
        let lines = checksums(
            ["b", "a.yaml", "a"]
                .map(|path| Summed::of(path, b""))
                .to_vec(),
        );
        let paths: Vec<_> = listed(&lines).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["a", "a.yaml", "b"]);
    }

    /// What `sha256sum`, `sha256sum --binary` and `sha256sum ./*` write.
    #[test]
    fn files_are_held_against_lists_of_all_forms() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let tree: Tree = ["a", "b", "c", "d"]
            .into_iter()
            .map(|name| (name.to_owned(), Vec::new()))
            .collect();
        let list = format!(
            "{empty}  a\n{} *b\n{}  ./c\n{empty}  e\n",
            empty.to_uppercase(),
            empty.replace('e', "f")
        );
        let expected = [
            ("c", ChecksumFault::Differs),
            ("d", ChecksumFault::Unlisted),
            ("e", ChecksumFault::Gone),
        ];
        assert_eq!(
            compare(&list, &tree),
            expected.map(|(path, fault)| (path.to_owned(), fault))
        );
    }
}
