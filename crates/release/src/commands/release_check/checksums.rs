//! SHA256SUMS of a release that is complete.

use crate::commands::release_check::Files;
use crate::emit::checksums::{CHECKSUMS_FILE, ChecksumFault, compare, signed_by};
use windlass_source::diag::{Diagnostic, Place, rules};

rules! {
    /// the checksum list does not name exactly the files of the release
    INCOMPLETE = warning("release-checksum-incomplete");
}

/// Holds the list, if there is one, against the files. Files with another content have a rule of
/// their own.
pub(super) fn check(release: Files<'_>) -> Vec<Diagnostic> {
    let Some(listed) = release.tree.get(CHECKSUMS_FILE) else {
        return Vec::new();
    };
    let folder = release.shown.trim_end_matches('/');
    let finding = |(path, fault): (String, ChecksumFault)| {
        let (message, help) = match fault {
            ChecksumFault::Differs => return None,
            // Signatures come after the list, and nobody can change them unseen.
            ChecksumFault::Unlisted
                if signed_by(&path).is_some_and(|signed| release.tree.get(signed).is_some()) =>
            {
                return None;
            }
            ChecksumFault::Unlisted => (
                format!("{path} is not in {CHECKSUMS_FILE}"),
                format!("add the line that `sha256sum {path}` prints"),
            ),
            ChecksumFault::Gone => (
                format!("{CHECKSUMS_FILE} lists {path}, which is not in the release"),
                format!("add {path}, or remove its line"),
            ),
        };
        Some(
            Diagnostic::of(&INCOMPLETE, message)
                .at(Place::file(format!("{folder}/{CHECKSUMS_FILE}")))
                .help(help),
        )
    };
    compare(&String::from_utf8_lossy(listed), release.tree)
        .into_iter()
        .filter_map(finding)
        .collect()
}
