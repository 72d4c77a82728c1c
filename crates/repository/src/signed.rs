//! Which files of a release somebody signed, and whether it was who they trust. How a signature is
//! verified is handed in: cosign's signature of SHA256SUMS is `SHA256SUMS.sigstore.json`, that of
//! another file `FILE.sigstore.json`.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use windlass_release::emit::checksums::{
    CHECKSUMS_FILE, ChecksumFault, SIGNATURE, compare, listed, signature_of, signed_by,
};
use windlass_report::text::plural;
use windlass_shell as shell;
use windlass_source::diag::{Diagnostic, Place, Remedy, Report, Setting, rules};
use windlass_source::tree::Tree;

rules! {
    /// a signature of a release is not by the required identity, or not of these bytes
    WRONG = error("signature-wrong");
    /// a release or one of its files lacks the required signature
    MISSING = error("signature-missing");
    /// a release is signed, and its signature was not verified
    UNVERIFIED = info("signature-unverified");
}

/// How many files without a signature are named.
const NAMED: usize = 3;

/// Who verifies signatures.
pub trait Verifier {
    /// Who must have signed, for people.
    fn signer(&self) -> String;

    /// The checks that `verify` makes, for people.
    fn extent(&self) -> &'static str;

    /// Holds a signature against the bytes of which it speaks.
    ///
    /// # Errors
    /// Why it does not hold.
    fn verify(&self, artifact: &[u8], signature: &[u8]) -> Result<(), String>;
}

/// A signature that was not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unverified {
    /// The release or bundle, as the user named it.
    pub release: String,
    /// The path of the signed file; its signature is beside it.
    pub file: String,
    /// The signature, a Sigstore bundle.
    pub signature: Vec<u8>,
}

/// The signatures among the files of a release, `path` being the path of a file for the user.
pub fn signatures_of(
    files: &Tree,
    release: &str,
    path: impl Fn(&str) -> String,
) -> Vec<Unverified> {
    let unverified = |(name, signature): (&String, &Vec<u8>)| {
        let signed = signature_of(name).filter(|signed| files.get(signed).is_some())?;
        Some(Unverified {
            release: release.to_owned(),
            file: path(signed),
            signature: signature.clone(),
        })
    };
    files.iter().filter_map(unverified).collect()
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
    // What a wrong signature does not vouch for is reported with it.
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
    let message = format!("{signature} is not a signature of {signed} by {signer}: {why}");
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
        (false, 0) => format!("no signature in {folder} covers {named}"),
        (false, more) => format!("no signature in {folder} covers {named} and {more} more"),
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

/// Reports signatures that were not verified. A build that `can_verify` reports them once, with the
/// flags to pass; any other build reports each of them, with the command of cosign that verifies it.
pub fn unverified(signatures: &[Unverified], can_verify: bool) -> Report {
    if can_verify {
        return without_signer(signatures).into_iter().collect();
    }
    signatures
        .iter()
        .map(|Unverified { file, signature, .. }| {
            let message = format!(
                "the signature of {file} was not verified: this build of windlass does not verify signatures"
            );
            let whose = match is_by_key(signature) {
                true => "the public key",
                false => "the identity and the OIDC issuer",
            };
            let command = cosign_command(file, signature, None);
            Diagnostic::of(&UNVERIFIED, message)
                .at(Place::file(format!("{file}{SIGNATURE}")))
                .help(format!("run `{command}` with {whose} of the signer"))
        })
        .collect()
}

/// The command of cosign that verifies the signature of a file: with the flags that name the
/// signer, or with placeholders.
pub fn cosign_command(file: &str, signature: &[u8], signer: Option<&[&str]>) -> String {
    let bundle: Value = serde_json::from_slice(signature).unwrap_or_default();
    let beside = format!("{file}{SIGNATURE}");
    let (verb, predicate) = match predicate_type(&bundle) {
        None => ("verify-blob", None),
        Some(predicate) => ("verify-blob-attestation", Some(predicate)),
    };
    let mut words = vec!["cosign", verb, "--bundle", &beside];
    if let Some(predicate) = &predicate {
        words.extend(["--type", predicate]);
    }
    words.extend(match signer {
        Some(signer) => signer,
        None if is_by_key(signature) => &["--key", "cosign.pub"],
        None => &[
            "--certificate-identity",
            "IDENTITY",
            "--certificate-oidc-issuer",
            "URL",
        ],
    });
    // A key signs without Sigstore's services too: then there is no entry of a transparency log.
    let is_logged = bundle
        .pointer("/verificationMaterial/tlogEntries")
        .and_then(Value::as_array)
        .is_some_and(|entries| !entries.is_empty());
    if is_by_key(signature) && !is_logged {
        words.push("--insecure-ignore-tlog");
    }
    words.push(file);
    let quoted: Vec<_> = words.into_iter().map(shell::quoted).collect();
    quoted.join(" ")
}

/// Whether a key, and not a certificate, verifies the signature.
fn is_by_key(signature: &[u8]) -> bool {
    serde_json::from_slice(signature).is_ok_and(|bundle: Value| {
        bundle
            .pointer("/verificationMaterial/publicKey")
            .is_some_and(Value::is_object)
    })
}

/// The type of the statement that a bundle signs; `None` where it signs the file itself.
fn predicate_type(bundle: &Value) -> Option<String> {
    let payload = bundle.pointer("/dsseEnvelope/payload")?.as_str()?;
    let statement: Value = serde_json::from_slice(&STANDARD.decode(payload).ok()?).ok()?;
    Some(statement.get("predicateType")?.as_str()?.to_owned())
}

/// Reports once that releases are signed and that no signer was named.
fn without_signer(signatures: &[Unverified]) -> Option<Diagnostic> {
    let releases: BTreeSet<&str> = signatures.iter().map(|one| one.release.as_str()).collect();
    let first = signatures.first()?.release.as_str();
    let message = match releases.len() {
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
            .at(Place::file(first))
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

        fn extent(&self) -> &'static str {
            "the bytes"
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
        files.iter().copied().collect()
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
            &[("out/b", "no signature in out covers b")],
        );
        check(
            &[
                ("a", "1"),
                ("a.sigstore.json", "1"),
                ("b", "2"),
                ("c", "3"),
                ("d", "4"),
            ],
            &[("out/b", "no signature in out covers b, c, d")],
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
            &[("out/b", "no signature in out covers b, c, d and 2 more")],
        );
        // What a wrong signature does not vouch for is reported with it alone.
        check(
            &[("a", "1"), ("a.sigstore.json", "2"), ("b", "2")],
            &[(
                "out/a.sigstore.json",
                "out/a.sigstore.json is not a signature of a by somebody: it is of other bytes",
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
            &[("out/b", "no signature in out covers b")],
        );
        check(
            &[&signed[..], &[("a", ""), ("more", "")]].concat(),
            &[("out/more", "no signature in out covers more")],
        );
        // A signature in another form is not a file of the release, and vouches for nothing.
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
            (&[("a", ""), ("a.sigstore.json", "")][..], &["r/a"][..]),
            (&[("a.sigstore.json", "")], &[]),
            (&[(".sigstore.json", ""), ("a", "")], &[]),
            (&[("a", ""), ("a.asc", "")], &[]),
            (&[], &[]),
        ] {
            let found = signatures_of(&tree(files), "r", |file| format!("r/{file}"));
            let found: Vec<&str> = found.iter().map(|one| one.file.as_str()).collect();
            assert_eq!(found, expected, "{files:?}");
        }
    }

    #[test]
    fn signatures_that_nobody_verified_are_told_once() {
        let check = |releases: &[&str], expected: &[(&str, &str)]| {
            let signatures: Vec<Unverified> =
                releases.iter().map(|release| of(release, "{}")).collect();
            let report = unverified(&signatures, true);
            let found = report.findings().iter().map(|finding| {
                (
                    finding.place.file.as_deref().unwrap(),
                    finding.message.as_str(),
                )
            });
            assert_eq!(found.collect::<Vec<_>>(), expected);
        };
        check(&[], &[]);
        let one = ("a", "a is signed, and the signature was not verified");
        check(&["a"], &[one]);
        check(&["a", "a"], &[one]);
        let several = "2 releases are signed, and the signatures were not verified: a and others";
        check(&["a", "b"], &[("a", several)]);
    }

    fn of(release: &str, signature: &str) -> Unverified {
        Unverified {
            release: release.to_owned(),
            file: format!("{release}/SHA256SUMS"),
            signature: signature.as_bytes().to_vec(),
        }
    }

    #[test]
    fn prints_the_command_of_cosign_for_each_signature() {
        let check = |signature: &str, expected: &str| {
            let report = unverified(&[of("r", signature), of("r", signature)], false);
            assert_eq!(report.findings().len(), 2);
            let finding = &report.findings()[0];
            let place = finding.place.file.as_deref().unwrap();
            assert_eq!(place, "r/SHA256SUMS.sigstore.json");
            assert!(
                finding
                    .message
                    .starts_with("the signature of r/SHA256SUMS was not verified")
            );
            let help = finding.help.as_ref().unwrap().to_string();
            assert!(help.contains(&format!("`{expected}`")), "{help}");
        };
        let keyless = "cosign verify-blob --bundle r/SHA256SUMS.sigstore.json --certificate-identity IDENTITY --certificate-oidc-issuer URL r/SHA256SUMS";
        check(r#"{"verificationMaterial": {"certificate": {}}}"#, keyless);
        check("not JSON", keyless);
        check(
            r#"{"verificationMaterial": {"publicKey": {}, "tlogEntries": [{}]}}"#,
            "cosign verify-blob --bundle r/SHA256SUMS.sigstore.json --key cosign.pub r/SHA256SUMS",
        );
        check(
            r#"{"verificationMaterial": {"publicKey": {}}}"#,
            "cosign verify-blob --bundle r/SHA256SUMS.sigstore.json --key cosign.pub --insecure-ignore-tlog r/SHA256SUMS",
        );
        let statement = STANDARD.encode(r#"{"predicateType": "https://slsa.dev/provenance/v1"}"#);
        check(
            &format!(
                r#"{{"verificationMaterial": {{"publicKey": {{}}}}, "dsseEnvelope": {{"payload": "{statement}"}}}}"#
            ),
            "cosign verify-blob-attestation --bundle r/SHA256SUMS.sigstore.json --type https://slsa.dev/provenance/v1 \
             --key cosign.pub --insecure-ignore-tlog r/SHA256SUMS",
        );
        assert_eq!(
            cosign_command("my sums", b"", Some(&["--key", "a.pub"])),
            "cosign verify-blob --bundle 'my sums.sigstore.json' --key a.pub 'my sums'"
        );
    }
}
