//! Readable texts in bootstrap data of any format, and the secrets among them.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use windlass_source::gzip;

/// More is not bootstrap data: Secrets hold a megabyte.
const MOST: usize = 8 << 20;
/// Base64 that is shorter is a word.
const SHORTEST: usize = 24;
/// base64 in gzip in base64 occurs, more does not.
const DEPTH: usize = 3;

/// The data as text, and what it contains in gzip, base64 or percent encoding.
pub(crate) fn texts(data: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    collect(data, DEPTH, &mut found);
    found
}

fn collect(data: &[u8], depth: usize, found: &mut Vec<String>) {
    if let Some(inner) = data
        .starts_with(&[0x1f, 0x8b])
        .then(|| gzip::decompress(data, MOST))
        .flatten()
    {
        return collect(&inner, depth, found);
    }
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if depth > 0 {
        let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
        for run in text
            .split(|c| !is_base64(c))
            .filter(|run| run.len() >= SHORTEST)
        {
            if let Ok(inner) = STANDARD.decode(run) {
                collect(&inner, depth - 1, found);
            }
        }
    }
    if text.contains('%') {
        found.push(percent_decoded(text));
    }
    found.push(text.to_owned());
}

fn percent_decoded(text: &str) -> String {
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let hex = (*byte == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let code = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        decoded.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Whether data of any format contains a text.
pub(crate) fn contains(data: &[u8], part: &str) -> bool {
    texts(data).iter().any(|text| text.contains(part))
}

/// Values that must not appear outside of the Secret: lines of private keys, bootstrap tokens, and
/// long values of keys that are called a secret, token, password or key.
pub(crate) fn secrets(data: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in texts(data) {
        let mut in_key = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with("-----BEGIN") {
                in_key = line.contains("PRIVATE KEY");
            } else if line.starts_with("-----END") {
                in_key = false;
            } else if in_key && line.len() >= 32 {
                found.insert(line.to_owned());
            }
            found.extend(
                line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
                    .filter(|word| is_token(word))
                    .map(str::to_owned),
            );
            found.extend(named_secret(line).map(str::to_owned));
        }
    }
    found
}

/// `abcdef.0123456789abcdef`, as kubeadm's tokens are.
fn is_token(word: &str) -> bool {
    word.split_once('.').is_some_and(|(id, secret)| {
        let is_lower = |text: &str| {
            text.chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        id.len() == 6 && secret.len() == 16 && is_lower(id) && is_lower(secret)
    })
}

fn named_secret(line: &str) -> Option<&str> {
    let (key, value) = line.split_once([':', '='])?;
    let key = key
        .trim()
        .trim_matches(['"', '-', ' ', '\''])
        .to_lowercase();
    let value = value.trim().trim_matches(['"', '\'', ',']);
    let is_secret = ["token", "secret", "password", "key"]
        .iter()
        .any(|name| key.ends_with(name));
    (is_secret
        && value.len() >= 20
        && !value.contains(' ')
        && !value.starts_with(['/', '{', '[', '$']))
    .then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_parts_are_read() {
        let sentinel = "/run/cluster-api/bootstrap-success.complete";
        let script = format!("touch {sentinel}\n");
        let base64 = STANDARD.encode(&script);
        let ignition =
            "{\"source\": \"data:,touch%20%2Frun%2Fcluster-api%2Fbootstrap-success.complete\"}";
        for data in [
            script.as_bytes(),
            base64.as_bytes(),
            ignition.as_bytes(),
            &gzip::compress(script.as_bytes()),
            STANDARD
                .encode(gzip::compress(script.as_bytes()))
                .as_bytes(),
        ] {
            assert!(
                contains(data, sentinel),
                "{}",
                String::from_utf8_lossy(data)
            );
        }
        assert!(!contains(b"true", sentinel));
    }

    #[test]
    fn secrets_are_keys_and_tokens() {
        let data = "token: abcdef.0123456789abcdef\nfile: /etc/kubernetes/pki/a.key\npassword: aVeryLongPasswordOfWords\n-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n-----END PRIVATE KEY-----\n";
        let found = secrets(data.as_bytes());
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [
                "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg",
                "aVeryLongPasswordOfWords",
                "abcdef.0123456789abcdef",
            ]
        );
        assert!(secrets(b"kubeadm init --config /run/kubeadm/kubeadm.yaml\nkey: /etc/kubernetes/pki/ca.key\n").is_empty());
    }
}
