//! How values are printed in errors.

use serde_json::{Map, Value, json};

use super::text;
use windlass_go_text as go;

/// How values are printed in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// As Cluster API from v1.12 on: structs as JSON of v1beta2, secrets and all.
    Upstream,
    /// As Cluster API v1.11: structs of v1beta2 in Go's syntax.
    GoV1Beta2,
    /// As Cluster API v1.10: structs of v1beta1 in Go's syntax.
    GoV1Beta1,
    /// As [`Wording::Upstream`], but contents, passwords and credentials are `<redacted>`.
    Redacted,
}

pub(super) const REDACTED: &str = "<redacted>";

/// The fields of the structs that errors print, in the order of Go's structs.
const ORDER: [&str; 34] = [
    "path",
    "owner",
    "permissions",
    "encoding",
    "transferEncoding",
    "append",
    "content",
    "contentFrom",
    "contentFormat",
    "name",
    "key",
    "value",
    "gecos",
    "groups",
    "homeDir",
    "inactive",
    "shell",
    "passwd",
    "passwdFrom",
    "primaryGroup",
    "lockPassword",
    "sudo",
    "sshAuthorizedKeys",
    "authProvider",
    "exec",
    "config",
    "command",
    "args",
    "env",
    "apiVersion",
    "provideClusterInfo",
    "secret",
    "configMap",
    "",
];

/// Fields whose values may be secrets.
const SECRETS: [&str; 5] = ["content", "passwd", "config", "args", "value"];

impl Wording {
    /// A struct of the spec.
    pub(super) fn piece(self, value: &Value) -> String {
        match self {
            Wording::GoV1Beta1 => return go_struct("v1beta1", value),
            Wording::GoV1Beta2 => return go_struct("v1beta2", value),
            Wording::Upstream | Wording::Redacted => {}
        }
        let mut out = String::new();
        self.push(&mut out, value);
        out
    }

    /// Appends a value with its fields in Go's order and without the empty ones.
    fn push(self, out: &mut String, value: &Value) {
        match value {
            Value::Object(fields) => self.push_fields(out, fields),
            Value::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    self.push(out, item);
                }
                out.push(']');
            }
            scalar => go::push_json(out, scalar),
        }
    }

    fn push_fields(self, out: &mut String, fields: &Map<String, Value>) {
        let rank = |name: &str| {
            ORDER
                .iter()
                .position(|known| *known == name)
                .unwrap_or(ORDER.len())
        };
        let mut shown: Vec<_> = fields
            .iter()
            .filter(|(_, value)| !is_empty(value))
            .collect();
        shown.sort_by_key(|(name, _)| rank(name));
        out.push('{');
        for (index, (name, value)) in shown.into_iter().enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            go::push_json_string(out, name);
            out.push(':');
            match (self, name.as_str()) {
                (Wording::Redacted, name) if SECRETS.contains(&name) => {
                    go::push_plain_json_string(out, REDACTED)
                }
                // A map of strings, not a struct: sorted by key.
                (_, "config") => go::push_json(out, value),
                _ => self.push(out, value),
            }
        }
        out.push('}');
    }
}

/// What Go's `omitempty` and `omitzero` leave out.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A struct in Go's syntax: of what a pointer leads to Go shows the address, so that most are left
/// open.
fn go_struct(version: &str, value: &Value) -> String {
    match (version, value) {
        ("v1beta1", file) if file.get("path").is_some() => go_file(file),
        ("v1beta1", user) if user == &json!({}) => {
            "v1beta1.KubeConfigUser{AuthProvider:(*v1beta1.KubeConfigAuthProvider)(nil), Exec:(*v1beta1.KubeConfigAuthExec)(nil)}"
                .to_owned()
        }
        (_, file) if file.get("path").is_some() => format!("{version}.File{{…}}"),
        (_, user) if user.get("name").is_some() => format!("{version}.User{{…}}"),
        _ => format!("{version}.KubeConfigUser{{…}}"),
    }
}

/// A file of v1beta1 in Go's syntax. The address of a pointer is left open.
fn go_file(file: &Value) -> String {
    let quoted = |field: &str| go::quote(text(file, field));
    let append = file.get("append") == Some(&Value::Bool(true));
    let source = if file
        .get("contentFrom")
        .is_some_and(|source| !source.is_null())
    {
        "0x…"
    } else {
        "nil"
    };
    format!(
        "v1beta1.File{{Path:{}, Owner:{}, Permissions:{}, Encoding:{}, Append:{append}, Content:{}, ContentFrom:(*v1beta1.FileSource)({source})}}",
        quoted("path"),
        quoted("owner"),
        quoted("permissions"),
        quoted("encoding"),
        quoted("content")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_are_printed_in_the_order_of_go() {
        let user = json!({"exec": {"env": [{"value": "v", "name": "n"}], "command": "c", "args": []}, "authProvider": {"config": {"b": "1", "a": "<"}, "name": "x"}});
        let expected = r#"{"authProvider":{"name":"x","config":{"a":"\u003c","b":"1"}},"exec":{"command":"c","env":[{"name":"n","value":"v"}]}}"#;
        assert_eq!(Wording::Upstream.piece(&user), expected);
        let expected = r#"{"authProvider":{"name":"x","config":"<redacted>"},"exec":{"command":"c","env":[{"name":"n","value":"<redacted>"}]}}"#;
        assert_eq!(Wording::Redacted.piece(&user), expected);
        let file = json!({"content": "y", "path": "/a", "append": false, "owner": ""});
        assert_eq!(
            Wording::Upstream.piece(&file),
            r#"{"path":"/a","append":false,"content":"y"}"#
        );
        let expected = r#"v1beta1.File{Path:"/a", Owner:"", Permissions:"", Encoding:"", Append:false, Content:"y", ContentFrom:(*v1beta1.FileSource)(nil)}"#;
        assert_eq!(Wording::GoV1Beta1.piece(&file), expected);
        // v1.11 has pointers in them: only what they are is reported.
        assert_eq!(Wording::GoV1Beta2.piece(&file), "v1beta2.File{…}");
        assert_eq!(
            Wording::GoV1Beta2.piece(&json!({"name": "u", "passwd": "p"})),
            "v1beta2.User{…}"
        );
        assert_eq!(Wording::GoV1Beta2.piece(&user), "v1beta2.KubeConfigUser{…}");
    }
}
