//! What files hold: their encoding, what they are, and what may be told of them.

use std::sync::LazyLock;

use regex::Regex;

use windlass_go_text::base64;
use windlass_source::budget::{Budget, Resource};
use windlass_source::gzip;

/// The maximum number of bytes that unpacking may give.
pub(crate) const MOST_UNPACKED: usize = 16 << 20;

/// A bootstrap token (kubeadm: "Bootstrap tokens"): its id is not a secret.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b([a-z0-9]{6})\.[a-z0-9]{16}\b")
        .expect("internal error: the pattern is one of ours")
});
static KUBEADM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^kind: (\w+Configuration)\s*$")
        .expect("internal error: the pattern is one of ours")
});

/// The content of an entry of `write_files` as cloud-init decodes it (`cc_write_files.py`,
/// `canonicalize_extraction`).
///
/// # Errors
/// What of the encoding is wrong.
pub(crate) fn of_write_files(
    content: &str,
    encoding: &str,
    budget: &Budget,
) -> Result<Vec<u8>, String> {
    let from_base64 =
        || base64::decode(content.trim()).map_err(|at| format!("no base64 from its byte {at} on"));
    match encoding.trim().to_ascii_lowercase().as_str() {
        "gz" | "gzip" => unpacked(content.as_bytes(), budget),
        "gz+base64" | "gzip+base64" | "gz+b64" | "gzip+b64" => unpacked(&from_base64()?, budget),
        "b64" | "base64" => from_base64(),
        "" | "text/plain" => Ok(content.as_bytes().to_vec()),
        _ => Err(
            "of an encoding that cloud-init does not know, which takes it for plain text"
                .to_owned(),
        ),
    }
}

/// What gzip packed.
///
/// # Errors
/// It is not gzip, or gives too much, by itself or with what the run unpacked before.
pub(super) fn unpacked(bytes: &[u8], budget: &Budget) -> Result<Vec<u8>, String> {
    gzip::decompress_within(bytes, MOST_UNPACKED, budget).ok_or_else(|| {
        match budget.is_spent(Resource::Unpacked) {
            true => "one of several that unpack to more than one run holds".to_owned(),
            false => format!("no gzip, or more than {} MiB unpacked", MOST_UNPACKED >> 20),
        }
    })
}

/// What a file is, in a few words that tell nothing of its content.
pub fn what(content: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(content) else {
        return "binary".to_owned();
    };
    if text.contains("PRIVATE KEY-----") {
        return "private key".to_owned();
    }
    if text.contains("-----BEGIN CERTIFICATE-----") {
        return "certificate".to_owned();
    }
    if text.contains("PUBLIC KEY-----") {
        return "public key".to_owned();
    }
    let is_line = |wanted: &str| text.lines().any(|line| line.trim_end() == wanted);
    if text.contains("kubeadm.k8s.io/") {
        let kinds: Vec<&str> = KUBEADM
            .captures_iter(text)
            .filter_map(|kind| Some(kind.get(1)?.as_str()))
            .take(4)
            .collect();
        return format!("kubeadm {}", kinds.join(", "))
            .trim_end()
            .to_owned();
    }
    if is_line("kind: Config") && text.contains("clusters:") {
        return "kubeconfig".to_owned();
    }
    match text {
        "" => "empty".to_owned(),
        _ if text.starts_with("#!") => "script".to_owned(),
        _ => "text".to_owned(),
    }
}

const MOST_TOKENS: usize = 20;

/// The ids of the bootstrap tokens in a text, each once.
pub(super) fn token_ids(text: &str, found: &mut Vec<String>) {
    for token in TOKEN.captures_iter(text) {
        if found.len() < MOST_TOKENS && !found.iter().any(|known| *known == token[1]) {
            found.push(token[1].to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_decoded_as_cloud_init_does() {
        let packed = base64::encode(&gzip::compress(b"hello"));
        for (content, encoding, expected) in [
            ("aGVsbG8=\n", "b64", Ok(b"hello".to_vec())),
            ("aGVsbG8=", " BASE64 ", Ok(b"hello".to_vec())),
            (packed.as_str(), "gz+b64", Ok(b"hello".to_vec())),
            ("aGVsbG8=", "", Ok(b"aGVsbG8=".to_vec())),
            (
                "!",
                "base64",
                Err("no base64 from its byte 0 on".to_owned()),
            ),
            (
                "aGVsbG8=",
                "gzip+base64",
                Err("no gzip, or more than 16 MiB unpacked".to_owned()),
            ),
        ] {
            assert_eq!(
                of_write_files(content, encoding, &Budget::default()),
                expected,
                "{content} {encoding}"
            );
        }
        assert!(of_write_files("x", "rot13", &Budget::default()).is_err());
    }

    #[test]
    fn a_bomb_of_gzip_is_rejected() {
        let bomb = gzip::compress(&vec![0; MOST_UNPACKED + 1]);
        assert!(bomb.len() < 32_768 && unpacked(&bomb, &Budget::default()).is_err());
    }

    #[test]
    fn files_are_told_by_what_they_are() {
        for (content, expected) in [
            ("-----BEGIN RSA PRIVATE KEY-----\n", "private key"),
            ("-----BEGIN CERTIFICATE-----\n", "certificate"),
            (
                "---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n",
                "kubeadm JoinConfiguration",
            ),
            ("apiVersion: v1\nkind: Config\nclusters: []\n", "kubeconfig"),
            ("#!/bin/sh\n", "script"),
            ("x", "text"),
            ("", "empty"),
        ] {
            assert_eq!(what(content.as_bytes()), expected);
        }
        assert_eq!(what(b"\xff"), "binary");
    }

    #[test]
    fn of_a_token_only_the_id_is_told() {
        let mut found = Vec::new();
        token_ids(
            "token: abcdef.0123456789abcdef\ntoken: abcdef.0123456789abcdef xabcdef.0123456789abcde",
            &mut found,
        );
        assert_eq!(found, ["abcdef"]);
    }
}
