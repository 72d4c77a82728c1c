//! Values in an object's own `metadata` that the API server cannot decode: `ObjectMeta` of
//! `k8s.io/apimachinery/pkg/apis/meta/v1/types.go`, into which it reads every object.

use serde_json::{Map, Value};

use windlass_go_text as go;
use windlass_objects::Object;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Remedy, rules};

rules! {
    /// the API server rejects a name, label or annotation of an object or of its machines
    pub METADATA_REJECTED = error("object-metadata-rejected");
}

/// Groups of documents that no API server stores: kustomize's, clusterctl's, and configuration
/// files of Kubernetes' components.
const NOT_STORED: [&str; 8] = [
    "windlass.dev",
    "clusterctl.cluster.x-k8s.io",
    "config.kustomize.xyz",
    "kubeadm.k8s.io",
    "kubelet.config.k8s.io",
    "kubeproxy.config.k8s.io",
    "kubescheduler.config.k8s.io",
    "apiserver.config.k8s.io",
];

/// Whether an API server may store an object.
pub(super) fn is_stored(object: &Object) -> bool {
    let group = object.group();
    // The transformers and generators of kustomize itself.
    object.api_version() != "builtin"
        && !NOT_STORED.contains(&group)
        && !group.ends_with("kustomize.config.k8s.io")
}

/// A type of Go that a field of `ObjectMeta` has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Text,
    Boolean,
    Integer,
}

impl Type {
    fn of(field: &str) -> Option<Self> {
        match field {
            "name" | "generateName" | "namespace" | "selfLink" | "uid" | "resourceVersion"
            | "creationTimestamp" | "deletionTimestamp" => Some(Type::Text),
            "generation" | "deletionGracePeriodSeconds" => Some(Type::Integer),
            _ => None,
        }
    }

    fn of_owner(field: &str) -> Option<Self> {
        match field {
            "apiVersion" | "kind" | "name" | "uid" => Some(Type::Text),
            "controller" | "blockOwnerDeletion" => Some(Type::Boolean),
            _ => None,
        }
    }

    /// Whether Go's decoder accepts the value; it leaves out null.
    fn accepts(self, value: &Value) -> bool {
        value.is_null()
            || match self {
                Type::Text => value.is_string(),
                Type::Boolean => value.is_boolean(),
                Type::Integer => value.is_i64(),
            }
    }

    fn go(self) -> &'static str {
        match self {
            Type::Text => "string",
            Type::Boolean => "bool",
            Type::Integer => "int64",
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Type::Text => "a text",
            Type::Boolean => "a boolean",
            Type::Integer => "a whole number",
        }
    }
}

/// Returns the values of an object's `metadata` that the API server cannot decode.
pub fn check(object: &Object) -> Vec<Diagnostic> {
    if !is_stored(object) {
        return Vec::new();
    }
    let Some(metadata) = object.field(&["metadata"]).filter(|it| !it.is_null()) else {
        return Vec::new();
    };
    let mut check = Check {
        object,
        found: Vec::new(),
    };
    let path = FieldPath::of_fields("metadata");
    match metadata.as_object() {
        Some(fields) => check.fields(fields, &path),
        None => check.container(&path, metadata, "a mapping", "v1.ObjectMeta"),
    }
    check.found
}

struct Check<'a> {
    object: &'a Object,
    found: Vec<Diagnostic>,
}

impl Check<'_> {
    fn fields(&mut self, metadata: &Map<String, Value>, path: &FieldPath) {
        for (field, value) in metadata.iter().filter(|(_, value)| !value.is_null()) {
            let at = path.field(field);
            let of = format!("struct field ObjectMeta.{field}");
            match (field.as_str(), value) {
                ("labels" | "annotations", Value::Object(entries)) => {
                    for (key, entry) in entries {
                        self.scalar(&at.key(key), key, entry, Type::Text, &of);
                    }
                }
                ("labels" | "annotations", _) => {
                    self.container(&at, value, "a mapping", "map[string]string")
                }
                ("finalizers", Value::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        self.scalar(&at.index(index), "", item, Type::Text, &of);
                    }
                }
                ("finalizers", _) => self.container(&at, value, "a list", "[]string"),
                ("ownerReferences", Value::Array(owners)) => {
                    for (index, owner) in owners.iter().enumerate() {
                        self.owner(&at.index(index), owner);
                    }
                }
                ("ownerReferences", _) => {
                    self.container(&at, value, "a list", "[]v1.OwnerReference")
                }
                _ => {
                    if let Some(wanted) = Type::of(field) {
                        self.scalar(&at, field, value, wanted, &of);
                    }
                }
            }
        }
    }

    fn owner(&mut self, path: &FieldPath, owner: &Value) {
        let Some(fields) = owner.as_object() else {
            if !owner.is_null() {
                self.container(path, owner, "a mapping", "v1.OwnerReference");
            }
            return;
        };
        for (field, value) in fields {
            if let Some(wanted) = Type::of_owner(field) {
                let of = format!("struct field OwnerReference.ownerReferences.{field}");
                self.scalar(&path.field(field), field, value, wanted, &of);
            }
        }
    }

    /// A value that is not the scalar that belongs there. `key` is empty for items of lists.
    fn scalar(&mut self, path: &FieldPath, key: &str, value: &Value, wanted: Type, of: &str) {
        if wanted.accepts(value) {
            return;
        }
        let written = self.written(path, value);
        let line = |value: &str| match key {
            "" => format!("- {value}"),
            key => format!("{key}: {value}"),
        };
        let is_scalar = !value.is_array() && !value.is_object();
        let help = match wanted {
            Type::Text if is_scalar => {
                Remedy::new("put the value in quotes: ").quoted(line(&format!("\"{written}\"")))
            }
            Type::Boolean => match written.trim_matches(['"', '\'']) {
                "1" | "true" | "yes" => Remedy::new("write ").quoted(line("true")),
                "0" | "false" | "no" => Remedy::new("write ").quoted(line("false")),
                _ => "write `true` or `false`".into(),
            },
            Type::Text | Type::Integer => format!("write {} there", wanted.as_str()).into(),
        };
        let message = match is_scalar {
            true => format!(
                "{path} is the {} `{value}`, not {}",
                kind_of(value),
                wanted.as_str(),
                value = Quoted(&written)
            ),
            false => format!("{path} is a {}, not {}", kind_of(value), wanted.as_str()),
        };
        let go_type = match of.ends_with(".uid") {
            true => "types.UID",
            false => wanted.go(),
        };
        self.report(
            path,
            message,
            help,
            value,
            &format!("Go {of} of type {go_type}"),
        );
    }

    fn container(&mut self, path: &FieldPath, value: &Value, wanted: &str, go_type: &str) {
        let message = format!("{path} is a {}, not {wanted}", kind_of(value));
        let of = match path.segments().last() {
            Some(_) if path.segments().len() > 1 => "Go struct field ObjectMeta",
            _ => "Go value",
        };
        self.report(
            path,
            message,
            format!("write {wanted} there").into(),
            value,
            &format!("{of} of type {go_type}"),
        );
    }

    fn report(&mut self, path: &FieldPath, message: String, help: Remedy, value: &Value, of: &str) {
        let upstream = format!("json: cannot unmarshal {} into {of}", go::json_kind(value));
        let finding = Diagnostic::of(&METADATA_REJECTED, message).at(self.object.place(path));
        self.found.push(finding.help(help).upstream(upstream));
    }

    /// The value as the file has it: `1.10` is not the number 1.1.
    fn written(&self, path: &FieldPath, value: &Value) -> String {
        let place = self.object.place(path);
        let span = place.span.map(|span| span.start.offset..span.end.offset);
        let written = span
            .and_then(|range| Some(self.object.source()?.slice(range).trim()))
            .filter(|text| {
                !text.is_empty() && !text.contains(['\n', ':', '{', '[', '&', '*', '!'])
            });
        written.map_or_else(|| go::json(value), str::to_owned)
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "mapping",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_objects as objects;
    use windlass_source::Source;
    use windlass_source::budget::Budget;

    fn found(metadata: &str) -> Vec<String> {
        let text = format!("apiVersion: v1\nkind: Secret\nmetadata: {metadata}\n");
        let (objects, _) = objects::documents(&Source::new("a.yaml", text), &Budget::default());
        let line = |finding: &Diagnostic| {
            let help = finding.help.as_ref().expect("a help");
            format!("{}; {help}", finding.message)
        };
        objects
            .iter()
            .flat_map(check)
            .map(|finding| line(&finding))
            .collect()
    }

    #[test]
    fn quotes_the_value_as_it_is_written() {
        assert_eq!(
            found("{labels: {tier: 1.10}}"),
            [
                "metadata.labels[tier] is the number `1.10`, not a text; put the value in quotes: `tier: \"1.10\"`"
            ]
        );
        assert_eq!(
            found("{annotations: {x: yes}}"),
            [
                "metadata.annotations[x] is the boolean `yes`, not a text; put the value in quotes: `x: \"yes\"`"
            ]
        );
        assert_eq!(
            found("{finalizers: [1]}"),
            [
                "metadata.finalizers[0] is the number `1`, not a text; put the value in quotes: `- \"1\"`"
            ]
        );
        assert_eq!(
            found("{ownerReferences: [{apiVersion: v1, kind: A, name: a, uid: 1, controller: 1}]}"),
            [
                "metadata.ownerReferences[0].controller is the number `1`, not a boolean; write `controller: true`",
                "metadata.ownerReferences[0].uid is the number `1`, not a text; put the value in quotes: `uid: \"1\"`",
            ]
        );
    }

    #[test]
    fn accepts_what_the_decoder_accepts() {
        for sound in [
            "{}",
            "null",
            "{labels: {a: null, b: \"1\"}, annotations: null, creationTimestamp: null}",
            "{generation: 1, other: 1, managedFields: 1}",
            "{ownerReferences: [{controller: true, blockOwnerDeletion: null}]}",
        ] {
            assert_eq!(found(sound), [""; 0], "{sound}");
        }
    }

    #[test]
    fn reports_values_of_another_shape() {
        for (metadata, expected) in [
            (
                "x",
                "metadata is a text, not a mapping; write a mapping there",
            ),
            (
                "{labels: [a]}",
                "metadata.labels is a list, not a mapping; write a mapping there",
            ),
            (
                "{labels: {a: [b]}}",
                "metadata.labels[a] is a list, not a text; write a text there",
            ),
            (
                "{generation: x}",
                "metadata.generation is the text `x`, not a whole number; write a whole number there",
            ),
        ] {
            assert_eq!(found(metadata), [expected], "{metadata}");
        }
    }
}
