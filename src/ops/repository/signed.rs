//! Which files of a release somebody signed, and whether it was who they trust. How a signature is
//! verified is handed in: cosign's signature of SHA256SUMS is `SHA256SUMS.sigstore.json`, that of
//! another file `FILE.sigstore.json`.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, Place, Remedy, Report, Setting, rules};
use crate::emit::checksums::{
    CHECKSUMS_FILE, ChecksumFault, compare, listed, signature_of, signed_by,
};
use crate::report::text::plural;
use crate::text::tree::Tree;

rules! {
    /// a signature of a release is not by who was asked for, or is of other bytes
    WRONG = error("signature-wrong");
    /// a release, or a file of it, has no signature although one was asked for
    MISSING = error("signature-missing");
    /// a release is signed, and nobody said by whom it has to be
    UNVERIFIED = info("signature-unverified");
}

/// How many files without a signature are named.
const NAMED: usize = 3;

/// Who verifies signatures.
pub trait Verifier {
    /// Who must have signed, for people.
    fn signer(&self) -> String;

    /// Holds a signature against the bytes of which it speaks.
    ///
    /// # Errors
    /// Why it does not hold.
    fn verify(&self, artifact: &[u8], signature: &[u8]) -> Result<(), String>;
}

/// Whether files of a release are signatures that can be verified.
pub fn is_signed(files: &Tree) -> bool {
    files
        .paths()
        .any(|path| signature_of(path).is_some_and(|signed| files.get(signed).is_some()))
}

/// Holds every file of a release against its signature, or that of the checksums in which it is
/// named. `shown` is the release.
pub fn verify(files: &Tree, shown: &str, verifier: &dyn Verifier) -> Report {
    let mut report = Report::new();
    let folder = shown.trim_end_matches('/');
    let mut vouched: BTreeSet<&str> = BTreeSet::new();
    let mut is_wrong = false;
    for path in files.paths() {
        let Some(signed) = signature_of(path) else {
            continue;
        };
        let (Some(artifact), Some(signature)) = (files.get(signed), files.get(path)) else {
            continue;
        };
        match verifier.verify(artifact, signature) {
            Ok(()) => {
                vouched.extend([signed, path]);
                if signed == CHECKSUMS_FILE {
                    vouched.extend(listed_rightly(files));
                }
            }
            Err(why) => {
                is_wrong = true;
                report.push(wrong(
                    &format!("{folder}/{path}"),
                    signed,
                    &verifier.signer(),
                    &why,
                ));
            }
        }
    }
    let open: Vec<&str> = files
        .paths()
        .filter(|path| !vouched.contains(path) && signed_by(path).is_none())
        .collect();
    // What a wrong signature does not vouch for is told with it.
    if !is_wrong && !open.is_empty() {
        report.push(missing(&open, folder, vouched.is_empty()));
    }
    report
}

/// Files that are those of the checksums.
fn listed_rightly(files: &Tree) -> Vec<&str> {
    let text = files
        .get(CHECKSUMS_FILE)
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .unwrap_or_default();
    let faulty: BTreeSet<String> = compare(text, files)
        .into_iter()
        .filter(|(_, fault)| *fault != ChecksumFault::Gone)
        .map(|(path, _)| path)
        .collect();
    let listed: BTreeSet<&str> = listed(text).into_iter().map(|(path, _)| path).collect();
    files
        .paths()
        .filter(|path| listed.contains(path) && !faulty.contains(*path))
        .collect()
}

/// A signature that does not hold.
pub fn wrong(signature: &str, signed: &str, signer: &str, why: &str) -> Diagnostic {
    let message = format!("{signature} is no signature of {signed} by {signer}: {why}");
    let help = "do not use these files; fetch them again, and ask those who release them by whom they are signed";
    Diagnostic::of(&WRONG, message)
        .at(Place::file(signature))
        .help(help)
}

fn missing(open: &[&str], folder: &str, is_none: bool) -> Diagnostic {
    let named = open
        .iter()
        .take(NAMED)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    let more = open.len().saturating_sub(NAMED);
    let message = match (is_none, more) {
        (true, _) => format!("{folder} has no signature"),
        (false, 0) => format!("nobody signed {named} of {folder}"),
        (false, more) => format!("nobody signed {named} and {more} more of {folder}"),
    };
    let file = open
        .first()
        .map_or_else(|| folder.to_owned(), |file| format!("{folder}/{file}"));
    let place = if is_none {
        Place::file(folder)
    } else {
        Place::file(file)
    };
    let help = format!(
        "a release is signed by a file {CHECKSUMS_FILE}.sigstore.json beside its {CHECKSUMS_FILE}, which names every file: \
         `cosign sign-blob --bundle {CHECKSUMS_FILE}.sigstore.json {CHECKSUMS_FILE}`; ask those who release it for theirs"
    );
    Diagnostic::of(&MISSING, message).at(place).help(help)
}

/// That signatures were found, and not verified: said once for all of a run.
pub fn unverified(signed: &[String]) -> Option<Diagnostic> {
    let first = signed.first()?;
    let message = match signed.len() {
        1 => format!("{first} is signed, and the signature was not verified"),
        count => format!(
            "{} are signed, and the signatures were not verified: {first} and others",
            plural(count, "release")
        ),
    };
    let help = Remedy::new("name the key of those who release it: ")
        .set(Setting::Key, "cosign.pub")
        .then(", or their identity: ")
        .setting(Setting::CertificateIdentity)
        .then(" with ")
        .setting(Setting::CertificateOidcIssuer)
        .then(" and ")
        .setting(Setting::TrustedRoot);
    Some(
        Diagnostic::of(&UNVERIFIED, message)
            .at(Place::file(first.as_str()))
            .help(help),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a signature that says whose bytes it is of.
    struct Word;

    impl Verifier for Word {
        fn signer(&self) -> String {
            "somebody".to_owned()
        }

        fn verify(&self, artifact: &[u8], signature: &[u8]) -> Result<(), String> {
            if artifact == signature {
                Ok(())
            } else {
                Err("it is of other bytes".to_owned())
            }
        }
    }

    fn tree(files: &[(&str, &str)]) -> Tree {
        files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect()
    }

    fn check(files: &[(&str, &str)], expected: &[(&str, &str)]) {
        let report = verify(&tree(files), "out/", &Word);
        let told = report.findings().iter().map(|finding| {
            (
                finding.place.file.as_deref().unwrap(),
                finding.message.as_str(),
            )
        });
        assert_eq!(told.collect::<Vec<_>>(), expected, "{files:?}");
    }

    /// SHA-256 of nothing: files of these tests are empty where checksums name them.
    const SUM: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn each_file_is_signed_by_itself_or_by_the_checksums() {
        check(&[("a", "1"), ("a.sigstore.json", "1")], &[]);
        check(
            &[("a", "1"), ("b", "2")],
            &[("out", "out has no signature")],
        );
        check(
            &[("a", "1"), ("a.sigstore.json", "1"), ("b", "2")],
            &[("out/b", "nobody signed b of out")],
        );
        check(
            &[
                ("a", "1"),
                ("a.sigstore.json", "1"),
                ("b", "2"),
                ("c", "3"),
                ("d", "4"),
            ],
            &[("out/b", "nobody signed b, c, d of out")],
        );
        check(
            &[
                ("a", "1"),
                ("a.sigstore.json", "1"),
                ("b", "2"),
                ("c", "3"),
                ("d", "4"),
                ("e", "5"),
                ("f", "6"),
            ],
            &[("out/b", "nobody signed b, c, d and 2 more of out")],
        );
        // What a wrong signature does not vouch for is told with it alone.
        check(
            &[("a", "1"), ("a.sigstore.json", "2"), ("b", "2")],
            &[(
                "out/a.sigstore.json",
                "out/a.sigstore.json is no signature of a by somebody: it is of other bytes",
            )],
        );
        let sums = format!("{SUM}  a\n{SUM}  b\n{SUM}  gone\n");
        let signed = [
            ("SHA256SUMS", sums.as_str()),
            ("SHA256SUMS.sigstore.json", sums.as_str()),
        ];
        check(&[&signed[..], &[("a", ""), ("b", "")]].concat(), &[]);
        check(
            &[&signed[..], &[("a", ""), ("b", "changed")]].concat(),
            &[("out/b", "nobody signed b of out")],
        );
        check(
            &[&signed[..], &[("a", ""), ("more", "")]].concat(),
            &[("out/more", "nobody signed more of out")],
        );
        // A signature in another form is no file of the release, and vouches for nothing.
        check(
            &[
                ("SHA256SUMS", sums.as_str()),
                ("SHA256SUMS.asc", "x"),
                ("a", ""),
            ],
            &[("out", "out has no signature")],
        );
        check(
            &[&signed[..], &[("a", ""), ("SHA256SUMS.asc", "x")]].concat(),
            &[],
        );
    }

    #[test]
    fn a_signature_is_one_of_a_file_that_is_there() {
        for (files, expected) in [
            (&[("a", ""), ("a.sigstore.json", "")][..], true),
            (&[("a.sigstore.json", "")], false),
            (&[(".sigstore.json", ""), ("a", "")], false),
            (&[("a", ""), ("a.asc", "")], false),
            (&[], false),
        ] {
            assert_eq!(is_signed(&tree(files)), expected, "{files:?}");
        }
    }

    #[test]
    fn signatures_that_nobody_verified_are_told_once() {
        let told = |signed: &[&str]| {
            let signed: Vec<String> = signed.iter().map(|one| (*one).to_owned()).collect();
            unverified(&signed).map(|finding| {
                (
                    finding.place.file.as_deref().unwrap().to_owned(),
                    finding.message,
                )
            })
        };
        assert_eq!(told(&[]), None);
        assert_eq!(
            told(&["a"]),
            Some((
                "a".to_owned(),
                "a is signed, and the signature was not verified".to_owned()
            ))
        );
        let several = "2 releases are signed, and the signatures were not verified: a and others";
        assert_eq!(
            told(&["a", "b"]),
            Some(("a".to_owned(), several.to_owned()))
        );
    }
}
