//! Signatures of releases in a build that does not verify them: each is reported with the command of
//! cosign that verifies it, and a check that the user requires fails.

use std::path::Path;

use crate::support::{copy, root, windlass};

const RELEASE: &str = "releases/bootstrap-windlass/v0.2.0";

/// Runs in a folder: the exit code, and what was printed to stderr.
fn run(folder: &Path, words: &str) -> (Option<i32>, String) {
    let output = windlass(folder).args(words.split(' ')).output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// A release with a signature that cosign made with a key, or with an identity.
fn signed(recorded: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join(RELEASE), &folder.path().join("release"));
    let signature = folder.path().join("release/SHA256SUMS.sigstore.json");
    std::fs::copy(root().join("tests/it/signatures").join(recorded), signature).unwrap();
    folder
}

/// Whether the command adds the release, and reports the one signature with the command of cosign.
fn assert_reported(folder: &Path, words: &str, cosign: &str) {
    let (code, stderr) = run(folder, words);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(
        stderr.matches("info[signature-unverified]").count(),
        1,
        "{stderr}"
    );
    assert!(stderr.contains(&format!("`{cosign}`")), "{stderr}");
}

#[test]
fn reports_signature_with_command_of_cosign() {
    let by_key = "--key cosign.pub --insecure-ignore-tlog";
    let by_identity = "--certificate-identity IDENTITY --certificate-oidc-issuer URL";
    for (recorded, signer) in [
        ("cosign/p256.sigstore.json", by_key),
        ("key.txt.sigstore.json", "--key cosign.pub"),
        ("identity.txt.sigstore.json", by_identity),
    ] {
        let folder = signed(recorded);
        let bundle = "--bundle release/SHA256SUMS.sigstore.json";
        assert_reported(
            folder.path(),
            "repository add release --to to",
            &format!("cosign verify-blob {bundle} {signer} release/SHA256SUMS"),
        );
    }
}

/// What an artifact holds is a file only in the repository.
#[test]
fn reports_signature_of_artifact_in_repository() {
    let folder = signed("identity.txt.sigstore.json");
    let folder = folder.path();
    let pushed = run(
        folder,
        "repository push release oci:layout:v0.2.0 --release v0.2.0",
    );
    assert_eq!(pushed.0, Some(0), "{}", pushed.1);
    let file = "to/bootstrap-windlass/v0.2.0/SHA256SUMS";
    assert_reported(
        folder,
        "repository pull oci:layout:v0.2.0 --to to",
        &format!(
            "cosign verify-blob --bundle {file}.sigstore.json --certificate-identity IDENTITY --certificate-oidc-issuer URL {file}"
        ),
    );
    assert!(folder.join(file).is_file());
}

#[test]
fn rejects_required_verification() {
    let folder = signed("cosign/p256.sigstore.json");
    let folder = folder.path();
    std::fs::copy(
        root().join("tests/it/signatures/cosign/p256.pub"),
        folder.join("p256.pub"),
    )
    .unwrap();
    let identity = "--certificate-identity a@b.c --certificate-oidc-issuer https://d.e --trusted-root root.json";
    for (flags, flag, cosign) in [
        (
            "--key p256.pub",
            "--key",
            "cosign verify-blob --bundle SHA256SUMS.sigstore.json --key p256.pub --insecure-ignore-tlog SHA256SUMS".to_owned(),
        ),
        (
            "--key p256.pub --trusted-root root.json",
            "--key",
            "cosign verify-blob --bundle SHA256SUMS.sigstore.json --key p256.pub --trusted-root root.json SHA256SUMS".to_owned(),
        ),
        (
            identity,
            "--certificate-identity",
            format!("cosign verify-blob --bundle SHA256SUMS.sigstore.json {identity} SHA256SUMS"),
        ),
    ] {
        for verb in ["add release", "pull oci:layout:v0.2.0"] {
            let (code, stderr) = run(folder, &format!("repository {verb} --to to {flags}"));
            assert_eq!(code, Some(2), "{stderr}");
            let message = format!("`{flag}` requires a signature, and this build of windlass does not verify signatures");
            assert!(stderr.contains(&message), "{stderr}");
            assert!(stderr.contains(&format!("`{cosign}`")), "{stderr}");
            assert!(!folder.join("to").exists());
        }
    }
}
