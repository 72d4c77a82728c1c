//! Kubeconfig files: one server, one user, one context.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::certificates::Pair;

/// Who the file speaks as.
pub(crate) enum User<'a> {
    /// A client certificate.
    Certificate(&'a Pair),
    /// A service account token.
    Token(&'a str),
}

/// The document; JSON is YAML.
pub(crate) fn document(server: &str, authority: &str, user: &User<'_>) -> String {
    let user = match user {
        User::Certificate(pair) => json!({
            "client-certificate-data": STANDARD.encode(&pair.certificate),
            "client-key-data": STANDARD.encode(&pair.key),
        }),
        User::Token(token) => json!({ "token": token }),
    };
    let document: Value = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "e2e",
        "clusters": [{"name": "e2e", "cluster": {"server": server, "certificate-authority-data": STANDARD.encode(authority)}}],
        "users": [{"name": "e2e", "user": user}],
        "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
    });
    document.to_string()
}

/// Writes the document, in one step: a manager may be reading the one before it.
pub(crate) fn write(path: &Path, server: &str, authority: &str, user: &User<'_>) {
    let unfinished = path.with_extension("unfinished");
    std::fs::write(&unfinished, document(server, authority, user))
        .and_then(|()| std::fs::rename(&unfinished, path))
        .expect("the folder can be written");
}
