//! Signatures of releases: real ones of cosign, made with keys and with identities, and each of
//! their mutations; and releases that OpenSSL signs as cosign does, laid in by the built program.

use std::path::Path;
use std::process::{Command, Output};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use windlass::io::signature::{Key, Trust};

use crate::support::{copy, files_below, root, runs, windlass};

const RELEASE: &str = "releases/bootstrap-windlass/v0.2.0";
const ISSUER: &str = "https://github.com/login/oauth";
const SUMS: &str = "SHA256SUMS";

/// A file beside this one.
fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(root().join("tests/it/signatures").join(name)).unwrap()
}

fn recorded_text(name: &str) -> String {
    String::from_utf8(recorded(name)).unwrap()
}

/// Who signed `identity.txt`, as its certificate says.
fn identity() -> String {
    let bundle: Value = serde_json::from_slice(&recorded("identity.txt.sigstore.json")).unwrap();
    let certificate = STANDARD
        .decode(
            bundle["verificationMaterial"]["certificate"]["rawBytes"]
                .as_str()
                .unwrap(),
        )
        .unwrap();
    // The only address in it.
    let text: String = certificate.iter().map(|byte| char::from(*byte)).collect();
    let found = regex::Regex::new(r"[a-z.]+@[a-z.]+")
        .unwrap()
        .find(&text)
        .map(|found| found.as_str().to_owned());
    found.unwrap()
}

/// A bundle with one part changed.
fn changed(name: &str, change: impl Fn(&mut Value)) -> Vec<u8> {
    let mut bundle: Value = serde_json::from_slice(&recorded(name)).unwrap();
    let before = bundle.clone();
    change(&mut bundle);
    assert_ne!(bundle, before);
    bundle.to_string().into_bytes()
}

/// The text with one bit of its bytes changed.
fn flipped(base64: &mut Value) {
    let mut bytes = STANDARD.decode(base64.as_str().unwrap()).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    *base64 = STANDARD.encode(bytes).into();
}

#[test]
fn an_identity_is_who_the_certificate_of_a_trusted_authority_names() {
    let root = recorded_text("trusted_root.json");
    let (artifact, bundle) = (
        recorded("identity.txt"),
        recorded("identity.txt.sigstore.json"),
    );
    let trust = |identity: &str, issuer: &str, root: &str| {
        Trust::of_identity(identity, issuer, root).unwrap()
    };
    let own = trust(&identity(), ISSUER, &root);
    assert_eq!(own.verify(&artifact, &bundle), Ok(()));

    let others = [
        trust("somebody@example.com", ISSUER, &root),
        // Neither a part of it nor a pattern.
        trust(&identity()[1..], ISSUER, &root),
        trust(".*", ISSUER, &root),
        trust(&identity(), "https://accounts.google.com", &root),
        trust(&identity(), "", &root),
        trust(&identity(), ISSUER, &recorded_text("other_root.json")),
        Trust::of_keys(
            vec![Key::read("k", &recorded_text("key.pub")).unwrap()],
            None,
        )
        .unwrap(),
    ];
    for (index, other) in others.iter().enumerate() {
        assert!(
            other.verify(&artifact, &bundle).is_err(),
            "{index}: {}",
            other.signer()
        );
    }
    let mutations: [(&str, Vec<u8>); 9] = [
        (
            "signature",
            changed("identity.txt.sigstore.json", |bundle| {
                flipped(&mut bundle["messageSignature"]["signature"])
            }),
        ),
        (
            "digest",
            changed("identity.txt.sigstore.json", |bundle| {
                flipped(&mut bundle["messageSignature"]["messageDigest"]["digest"])
            }),
        ),
        (
            "certificate",
            changed("identity.txt.sigstore.json", |bundle| {
                flipped(&mut bundle["verificationMaterial"]["certificate"]["rawBytes"])
            }),
        ),
        (
            "no log entry",
            changed("identity.txt.sigstore.json", |bundle| {
                bundle["verificationMaterial"]["tlogEntries"] = json!([])
            }),
        ),
        (
            "log entry",
            changed("identity.txt.sigstore.json", |bundle| {
                flipped(&mut bundle["verificationMaterial"]["tlogEntries"][0]["canonicalizedBody"])
            }),
        ),
        (
            "root of the log",
            changed("identity.txt.sigstore.json", |bundle| {
                flipped(
                    &mut bundle["verificationMaterial"]["tlogEntries"][0]["inclusionProof"]["rootHash"],
                )
            }),
        ),
        (
            "no checkpoint",
            changed("identity.txt.sigstore.json", |bundle| {
                bundle["verificationMaterial"]["tlogEntries"][0]["inclusionProof"]["checkpoint"] =
                    json!({"envelope": ""})
            }),
        ),
        (
            "time",
            changed("identity.txt.sigstore.json", |bundle| {
                bundle["verificationMaterial"]["tlogEntries"][0]["integratedTime"] =
                    json!("1764786000")
            }),
        ),
        ("cut off", bundle[..bundle.len() / 2].to_vec()),
    ];
    for (what, bundle) in mutations {
        assert!(own.verify(&artifact, &bundle).is_err(), "{what}");
    }
    for artifact in [
        &b""[..],
        b"test content for cosign",
        b"test content for cosign\n\n",
    ] {
        assert!(
            own.verify(artifact, &bundle).is_err(),
            "{}",
            String::from_utf8_lossy(artifact)
        );
    }
}

#[test]
fn a_key_is_that_of_who_signed() {
    let (artifact, bundle, pem) = (
        recorded("key.txt"),
        recorded("key.txt.sigstore.json"),
        recorded_text("key.pub"),
    );
    let key = || vec![Key::read("key.pub", &pem).unwrap()];
    let (alone, logged) = (
        Trust::of_keys(key(), None).unwrap(),
        Trust::of_keys(key(), Some(&recorded_text("trusted_root.json"))).unwrap(),
    );
    assert_eq!(
        (
            alone.verify(&artifact, &bundle),
            logged.verify(&artifact, &bundle)
        ),
        (Ok(()), Ok(()))
    );

    let unlogged = changed("key.txt.sigstore.json", |bundle| {
        bundle["verificationMaterial"]["tlogEntries"] = json!([])
    });
    assert_eq!(
        alone.verify(&artifact, &unlogged),
        Ok(()),
        "the key alone was asked for"
    );
    assert!(
        logged.verify(&artifact, &unlogged).is_err(),
        "a log was asked for"
    );
    let elsewhere = Trust::of_keys(key(), Some(&recorded_text("other_root.json"))).unwrap();
    assert!(
        elsewhere.verify(&artifact, &bundle).is_err(),
        "the log is nobody's who is trusted"
    );

    // The key of P-256 in RFC 9500, 2.3.
    let other = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQiVI+I+3gv+17KN0RFLHKh5Vj71v\nc75eSOkyMsxFxbFsTNEMTLjVuKFxOelIgsiZJXKZNCX0FBmrfpCkKklCcg==\n-----END PUBLIC KEY-----\n";
    let of_other = Trust::of_keys(vec![Key::read("other.pub", other).unwrap()], None).unwrap();
    assert!(of_other.verify(&artifact, &bundle).is_err());
    let both = Trust::of_keys(
        [vec![Key::read("other.pub", other).unwrap()], key()].concat(),
        None,
    )
    .unwrap();
    assert_eq!(
        (both.verify(&artifact, &bundle), both.signer().as_str()),
        (Ok(()), "other.pub or key.pub")
    );
    let by_identity =
        Trust::of_identity(&identity(), ISSUER, &recorded_text("trusted_root.json")).unwrap();
    assert!(
        by_identity.verify(&artifact, &bundle).is_err(),
        "it has no certificate"
    );
    for what in ["signature", "digest"] {
        let bundle = changed("key.txt.sigstore.json", |bundle| {
            let message = &mut bundle["messageSignature"];
            flipped(if what == "signature" {
                &mut message["signature"]
            } else {
                &mut message["messageDigest"]["digest"]
            });
        });
        assert!(alone.verify(&artifact, &bundle).is_err(), "{what}");
    }
    for cut in 0..20 {
        assert!(
            alone
                .verify(&artifact, &bundle[..bundle.len() * cut / 20])
                .is_err(),
            "{cut}"
        );
    }
    assert!(alone.verify(&artifact[1..], &bundle).is_err());

    let older = br#"{"base64Signature": "eA==", "cert": ""}"#;
    assert!(
        alone
            .verify(&artifact, older)
            .is_err_and(|why| why.contains("--new-bundle-format"))
    );
    for (pem, why) in [
        ("", "is not a public key in PEM"),
        (
            "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n",
            "holds a private key",
        ),
        (
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
            "holds a key with which nothing is verified",
        ),
    ] {
        assert!(
            Key::read("k", pem).is_err_and(|error| error.starts_with(why)),
            "{pem}"
        );
    }
    assert!(
        Trust::of_keys(key(), Some("{}"))
            .is_err_and(|why| why.starts_with("is not a trusted root"))
    );
}

/// Who must have signed, what is held against the signature, and why it does not hold.
#[test]
fn what_is_verified_and_why_it_does_not_hold_is_said() {
    let (root, pem) = (recorded_text("trusted_root.json"), recorded_text("key.pub"));
    let key = || vec![Key::read("k.pub", &pem).unwrap()];
    let alone = Trust::of_keys(key(), None).unwrap();
    let logged = Trust::of_keys(key(), Some(&root)).unwrap();
    let named = Trust::of_identity("me@example.com", ISSUER, &root).unwrap();
    for (trust, signer, extent) in [
        (
            &alone,
            "k.pub",
            "the signature alone: transparency logs and timestamps count only with `--trusted-root`",
        ),
        (
            &logged,
            "k.pub",
            "the signature and its entry in a transparency log",
        ),
        (
            &named,
            "me@example.com (https://github.com/login/oauth)",
            "the signature, its certificate and its entry in a transparency log",
        ),
    ] {
        assert_eq!((trust.signer().as_str(), trust.extent()), (signer, extent));
    }
    let list = recorded("cosign/SHA256SUMS");
    let p256 = Trust::of_keys(
        vec![Key::read("p256.pub", &recorded_text("cosign/p256.pub")).unwrap()],
        None,
    )
    .unwrap();
    let other_digest = changed("cosign/p256.sigstore.json", |bundle| {
        flipped(&mut bundle["messageSignature"]["messageDigest"]["digest"])
    });
    let (certified, attested) = (
        recorded("identity.txt.sigstore.json"),
        recorded("cosign/attested.sigstore.json"),
    );
    for (artifact, bundle, why) in [
        (
            &list[..],
            &certified[..],
            "it is signed with a certificate, and not with a key",
        ),
        (
            &list,
            &other_digest,
            "the digest that it names is another one",
        ),
        (b"x", &attested, "the statement speaks of other files"),
        (&list, b"\xff", "it is not UTF-8 text"),
    ] {
        assert_eq!(p256.verify(artifact, bundle), Err(why.to_owned()));
    }
    for (bundle, why) in [
        (&b"{"[..], "it is not JSON: "),
        (b"{}", "it is not a Sigstore bundle: "),
    ] {
        let told = p256.verify(&list, bundle).unwrap_err();
        assert!(told.starts_with(why), "{told}");
    }
    assert_eq!(
        Trust::of_keys(Vec::new(), None)
            .unwrap()
            .verify(&list, &attested),
        Err("no key was given".to_owned())
    );
}

/// What `record` had cosign sign with keys of each kind: nothing but that key over that list holds.
#[test]
fn what_cosign_signs_with_keys_of_each_kind_holds() {
    let names = ["p256", "p384", "rsa", "ed25519"];
    let list = recorded("cosign/SHA256SUMS");
    let trust = |name: &str| {
        let file = format!("cosign/{name}.pub");
        Trust::of_keys(vec![Key::read(name, &recorded_text(&file)).unwrap()], None).unwrap()
    };
    let others = |list: &[u8]| [[list, b"\n"].concat(), list[1..].to_vec(), Vec::new()];
    for name in names {
        let bundle = recorded(&format!("cosign/{name}.sigstore.json"));
        for holder in names {
            assert_eq!(
                trust(holder).verify(&list, &bundle).is_ok(),
                holder == name,
                "{holder} over {name}"
            );
        }
        assert!(
            others(&list)
                .iter()
                .all(|other| trust(name).verify(other, &bundle).is_err()),
            "{name}"
        );
        let bent = changed(&format!("cosign/{name}.sigstore.json"), |bundle| {
            flipped(&mut bundle["messageSignature"]["signature"])
        });
        assert!(trust(name).verify(&list, &bent).is_err(), "{name}");
    }
    let attested = recorded("cosign/attested.sigstore.json");
    for holder in names {
        assert_eq!(
            trust(holder).verify(&list, &attested).is_ok(),
            holder == "p256",
            "{holder}"
        );
    }
    assert!(
        others(&list)
            .iter()
            .all(|other| trust("p256").verify(other, &attested).is_err())
    );
    for part in ["payload", "signatures"] {
        let bent = changed("cosign/attested.sigstore.json", |bundle| {
            let envelope = &mut bundle["dsseEnvelope"];
            flipped(if part == "payload" {
                &mut envelope["payload"]
            } else {
                &mut envelope["signatures"][0]["sig"]
            });
        });
        assert!(trust("p256").verify(&list, &bent).is_err(), "{part}");
    }
    let retyped = changed("cosign/attested.sigstore.json", |bundle| {
        bundle["dsseEnvelope"]["payloadType"] = json!("text/plain")
    });
    assert!(trust("p256").verify(&list, &retyped).is_err());
}

/// Runs OpenSSL in a folder.
fn openssl(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("openssl")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// Makes a key and its public half: `NAME.key`, `NAME.pub`.
fn keys(folder: &Path, name: &str, algorithm: &[&str]) {
    let (private, public) = (format!("{name}.key"), format!("{name}.pub"));
    openssl(
        folder,
        &[&["genpkey", "-out", private.as_str()], algorithm].concat(),
    );
    openssl(
        folder,
        &["pkey", "-in", &private, "-pubout", "-out", &public],
    );
}

const P256: [&str; 4] = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];

/// The signature of a file; Ed25519 signs the message itself, the others its SHA-256.
fn signature(folder: &Path, name: &str, file: &str) -> String {
    let key = format!("{name}.key");
    STANDARD.encode(if name == "ed25519" {
        openssl(
            folder,
            &["pkeyutl", "-sign", "-rawin", "-inkey", &key, "-in", file],
        )
    } else {
        openssl(folder, &["dgst", "-sha256", "-sign", &key, file])
    })
}

/// A bundle of Sigstore's format 0.3 (protobuf-specs, `Bundle`), signed with a key.
fn bundle(content: (&str, Value)) -> String {
    let mut bundle = json!({
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {"publicKey": {"hint": "x"}, "tlogEntries": [], "timestampVerificationData": {}},
    });
    bundle[content.0] = content.1;
    bundle.to_string()
}

/// Signs a file as `cosign sign-blob --key NAME.key --bundle FILE.sigstore.json FILE` does.
fn sign(folder: &Path, name: &str, file: &str) {
    let digest = STANDARD.encode(Sha256::digest(std::fs::read(folder.join(file)).unwrap()));
    let digest = if name == "ed25519" {
        json!({})
    } else {
        json!({"algorithm": "SHA2_256", "digest": digest})
    };
    let message = json!({"messageDigest": digest, "signature": signature(folder, name, file)});
    std::fs::write(
        folder.join(format!("{file}.sigstore.json")),
        bundle(("messageSignature", message)),
    )
    .unwrap();
}

/// Signs a statement about a digest as `cosign attest-blob` does: a DSSE envelope (dsse, "Signature
/// Definition").
fn attest(folder: &Path, name: &str, file: &str, sha256: &str) {
    let statement = json!({"_type": "https://in-toto.io/Statement/v1", "subject": [{"name": "x", "digest": {"sha256": sha256}}], "predicateType": "https://slsa.dev/provenance/v1", "predicate": {}}).to_string();
    let kind = "application/vnd.in-toto+json";
    std::fs::write(
        folder.join("pae"),
        format!(
            "DSSEv1 {} {kind} {} {statement}",
            kind.len(),
            statement.len()
        ),
    )
    .unwrap();
    let envelope = json!({"payload": STANDARD.encode(&statement), "payloadType": kind, "signatures": [{"sig": signature(folder, name, "pae")}]});
    std::fs::write(
        folder.join(format!("{file}.sigstore.json")),
        bundle(("dsseEnvelope", envelope)),
    )
    .unwrap();
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A copy of our release, and keys beside it.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join(RELEASE), &folder.path().join("release"));
    for name in ["p256", "other"] {
        keys(folder.path(), name, &P256);
    }
    folder
}

fn run(folder: &Path, words: &str) -> Output {
    windlass(folder).args(words.split(' ')).output().unwrap()
}

/// Adds to an empty repository: the exit code, what was said, and whether something was written.
fn add(folder: &Path, words: &str) -> (i32, String, bool) {
    let _ = std::fs::remove_dir_all(folder.join("to"));
    let output = run(folder, &format!("repository add {words} --to to"));
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        folder.join("to").exists(),
    )
}

/// Whether it was rejected with these rules and nothing written.
fn assert_rejected(folder: &Path, words: &str, rules: &[&str]) {
    let (code, said, is_written) = add(folder, words);
    let found: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("error[")?.split(']').next())
        .collect();
    assert_eq!(
        (code, found, is_written),
        (1, rules.to_vec(), false),
        "{words}: {said}"
    );
}

#[test]
fn a_signed_release_is_laid_in_and_its_mutations_are_not() {
    if !runs(&["openssl", "version"]) {
        return;
    }
    let project = project();
    let folder = project.path();
    let at = |file: &str| folder.join("release").join(file);
    assert_rejected(folder, "release --key p256.pub", &["signature-missing"]);

    keys(folder, "ed25519", &["-algorithm", "ED25519"]);
    keys(
        folder,
        "rsa",
        &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    );
    keys(
        folder,
        "p384",
        &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    );
    for name in ["ed25519", "rsa", "p384", "p256"] {
        sign(folder, name, &format!("release/{SUMS}"));
        let (code, said, _) = add(folder, &format!("release --key {name}.pub"));
        assert!(
            code == 0
                && said.contains(&format!(
                    "release: signed by {name}.pub; verified is the signature alone"
                )),
            "{name}: {said}"
        );
        assert!(!said.contains("signature-unverified"), "{said}");
        assert_rejected(folder, "release --key other.pub", &["signature-wrong"]);
    }
    assert_eq!(add(folder, "release --key other.pub --key p256.pub").0, 0);
    assert!(
        folder
            .join("to/bootstrap-windlass/v0.2.0/SHA256SUMS.sigstore.json")
            .is_file(),
        "the signature goes with the release"
    );

    // Without a key it is said once, with the line to write.
    let (code, said, _) = add(folder, "release");
    assert_eq!(
        (code, said.matches("signature-unverified").count()),
        (0, 1),
        "{said}"
    );
    assert!(
        said.contains("--key cosign.pub") && said.contains("--certificate-identity"),
        "{said}"
    );

    let components = std::fs::read(at("bootstrap-components.yaml")).unwrap();
    std::fs::write(
        at("bootstrap-components.yaml"),
        [&components[..], b"# more\n"].concat(),
    )
    .unwrap();
    assert_rejected(folder, "release", &["release-checksum-wrong"]);
    assert_rejected(
        folder,
        "release --key p256.pub",
        &["release-checksum-wrong", "signature-missing"],
    );
    std::fs::write(at("bootstrap-components.yaml"), components).unwrap();

    let sums = std::fs::read_to_string(at(SUMS)).unwrap();
    std::fs::write(
        at(SUMS),
        sums.lines()
            .rev()
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    )
    .unwrap();
    assert_rejected(folder, "release --key p256.pub", &["signature-wrong"]);
    std::fs::write(at(SUMS), sums).unwrap();

    // A file that the signed list does not name has to have a signature of its own.
    std::fs::write(at("notes.txt"), "new\n").unwrap();
    assert_rejected(folder, "release --key p256.pub", &["signature-missing"]);
    sign(folder, "other", "release/notes.txt");
    assert_rejected(folder, "release --key p256.pub", &["signature-wrong"]);
    sign(folder, "p256", "release/notes.txt");
    assert_eq!(add(folder, "release --key p256.pub").0, 0);
    let signature = std::fs::read(at("notes.txt.sigstore.json")).unwrap();
    std::fs::write(
        at("notes.txt.sigstore.json"),
        &signature[..signature.len() / 2],
    )
    .unwrap();
    assert_rejected(folder, "release --key p256.pub", &["signature-wrong"]);
}

#[test]
fn a_statement_about_the_checksums_is_a_signature_of_them() {
    if !runs(&["openssl", "version"]) {
        return;
    }
    let project = project();
    let folder = project.path();
    let sum = hex(&std::fs::read(folder.join("release").join(SUMS)).unwrap());
    attest(folder, "p256", "release/SHA256SUMS", &sum);
    assert_eq!(add(folder, "release --key p256.pub").0, 0);
    assert_rejected(folder, "release --key other.pub", &["signature-wrong"]);
    attest(
        folder,
        "p256",
        "release/SHA256SUMS",
        &hex(b"something else"),
    );
    assert_rejected(folder, "release --key p256.pub", &["signature-wrong"]);
}

/// Whoever signs a bundle vouches for all that is in it, its configuration included.
#[test]
fn a_bundle_is_signed_as_a_whole_or_release_by_release() {
    if !runs(&["openssl", "version"]) {
        return;
    }
    let project = project();
    let folder = project.path();
    let bundle = || {
        let _ = std::fs::remove_dir_all(folder.join("r"));
        assert!(
            run(folder, "repository add release --to r")
                .status
                .success()
        );
        let configuration = std::fs::read_to_string(folder.join("r/clusterctl.yaml")).unwrap();
        std::fs::write(
            folder.join("r/clusterctl.yaml"),
            configuration + "images:\n  all:\n    repository: registry.example/capi\n",
        )
        .unwrap();
        let packed = run(folder, "repository bundle r --write-to b.tar --force");
        assert!(
            packed.status.success(),
            "{}",
            String::from_utf8_lossy(&packed.stderr)
        );
    };
    let sets_images = || {
        std::fs::read_to_string(folder.join("to/clusterctl.yaml"))
            .unwrap()
            .contains("registry.example/capi")
    };
    bundle();
    assert_rejected(folder, "b.tar --key p256.pub", &["signature-missing"]);
    sign(folder, "p256", "b.tar");
    for words in [
        "b.tar --key p256.pub",
        "b.tar b.tar.sigstore.json --key p256.pub",
    ] {
        let (code, said, _) = add(folder, words);
        assert!(code == 0 && sets_images(), "{said}");
    }
    assert_rejected(folder, "b.tar --key other.pub", &["signature-wrong"]);
    // Without a key the signature is not verified.
    let (code, said, _) = add(folder, "b.tar");
    assert_eq!(
        (
            code,
            said.matches("signature-unverified").count(),
            said.matches("bundle-configuration-foreign").count()
        ),
        (1, 1, 1),
        "{said}"
    );

    std::fs::remove_file(folder.join("b.tar.sigstore.json")).unwrap();
    sign(folder, "p256", "release/SHA256SUMS");
    bundle();
    let (code, said, _) = add(folder, "b.tar --key p256.pub");
    assert!(
        code == 0 && !sets_images() && said.contains("is left out, because it is not signed"),
        "{said}"
    );
    assert_eq!(
        add(folder, "b.tar --key p256.pub --trust-configuration").0,
        0
    );
    assert!(sets_images());
}

#[test]
fn what_is_pulled_is_held_against_checksums_and_signature() {
    if !runs(&["openssl", "version"]) {
        return;
    }
    let project = project();
    let folder = project.path();
    sign(folder, "p256", "release/SHA256SUMS");
    assert!(
        run(
            folder,
            "repository push release oci:layout:v0.2.0 --release v0.2.0"
        )
        .status
        .success()
    );
    let pull = |words: &str| {
        let _ = std::fs::remove_dir_all(folder.join("to"));
        let output = run(
            folder,
            &format!("repository pull oci:layout:v0.2.0 --to to{words}"),
        );
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    assert_eq!(pull(" --key p256.pub").0, Some(0));
    let (code, said) = pull(" --key other.pub");
    assert!(
        code == Some(1) && said.contains("error[signature-wrong]") && !folder.join("to").exists(),
        "{said}"
    );
    let (code, said) = pull("");
    assert!(
        code == Some(0) && said.contains("signature-unverified"),
        "{said}"
    );

    // An artifact whose digests are right, of files that are not those of their checksums.
    swap(&folder.join("layout"), "metadata.yaml", b"# other\n");
    for words in ["", " --key p256.pub"] {
        let (code, said) = pull(words);
        assert!(
            code == Some(1)
                && said.contains("error[release-checksum-wrong]")
                && !folder.join("to").exists(),
            "{said}"
        );
    }
}

/// Changes a file of an artifact in a layout, and all digests with it.
fn swap(layout: &Path, title: &str, more: &[u8]) {
    let blob = |digest: &str| layout.join("blobs").join(digest.replace(':', "/"));
    let stored = |bytes: &[u8]| {
        let digest = format!("sha256:{}", hex(bytes));
        std::fs::write(blob(&digest), bytes).unwrap();
        (digest, bytes.len())
    };
    let index = layout.join("index.json");
    let mut listed: Value = serde_json::from_slice(&std::fs::read(&index).unwrap()).unwrap();
    let mut manifest: Value = serde_json::from_slice(
        &std::fs::read(blob(listed["manifests"][0]["digest"].as_str().unwrap())).unwrap(),
    )
    .unwrap();
    let layers = manifest["layers"].as_array_mut().unwrap();
    let layer = layers
        .iter_mut()
        .find(|layer| layer["annotations"]["org.opencontainers.image.title"] == title)
        .unwrap();
    let bytes = std::fs::read(blob(layer["digest"].as_str().unwrap())).unwrap();
    let (digest, size) = stored(&[&bytes, more].concat());
    layer["digest"] = digest.into();
    layer["size"] = size.into();
    let (digest, size) = stored(manifest.to_string().as_bytes());
    listed["manifests"][0]["digest"] = digest.into();
    listed["manifests"][0]["size"] = size.into();
    std::fs::write(index, listed.to_string()).unwrap();
    assert!(files_below(layout).len() > 4);
}

#[test]
fn flags_that_say_too_little_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join(RELEASE), &folder.path().join("release"));
    std::fs::write(folder.path().join("key.pub"), recorded("key.pub")).unwrap();
    std::fs::write(
        folder.path().join("root.json"),
        recorded("trusted_root.json"),
    )
    .unwrap();
    for (words, said) in [
        ("--certificate-identity x", "--certificate-oidc-issuer"),
        (
            "--certificate-identity x --certificate-oidc-issuer y",
            "--trusted-root",
        ),
        ("--certificate-oidc-issuer y", "--certificate-identity"),
        ("--trusted-root root.json", "not who must have signed"),
        ("--key root.json", "root.json is not a public key in PEM"),
        ("--key missing.pub", "missing.pub"),
        (
            "--key key.pub --trusted-root key.pub",
            "key.pub is not a trusted root",
        ),
        (
            "--key key.pub --certificate-identity x --certificate-oidc-issuer y --trusted-root root.json",
            "exclude each other",
        ),
    ] {
        let (code, stderr, is_written) = add(folder.path(), &format!("release {words}"));
        assert!(
            code == 2 && stderr.contains(said) && !is_written,
            "{words}: {stderr}"
        );
    }
}
