//! What kubeadm's documents, and the same parts of a config, hold: fields, arguments, labels and
//! taints.

use serde_json::Value;

use super::thing::Kind;
use windlass_objects::fields;
use windlass_source::diag::FieldPath;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    pub(super) kind: Kind,
    /// By what it is asked for.
    pub(super) name: String,
    /// May be secret.
    pub(super) value: String,
    /// Where it is, below the spec of a config.
    pub(super) path: FieldPath,
}

/// All that a part of a document holds; `path` is where that part is.
pub(super) fn held(value: &Value, path: &FieldPath) -> Vec<Held> {
    let mut found = Vec::new();
    walk(value, path, &mut found);
    found
}

fn walk(value: &Value, path: &FieldPath, found: &mut Vec<Held>) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (name, value) in entries {
                let path = path.field(name.as_str());
                match name.as_str() {
                    "extraArgs" | "kubeletExtraArgs" => {
                        found.extend(arguments(value, &path, name == "kubeletExtraArgs"))
                    }
                    "taints" => found.extend(taints(value, &path)),
                    _ => {}
                }
                walk(value, &path, found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| walk(item, &path.index(index), found));
        }
        leaf => found.push(Held {
            kind: Kind::Field,
            name: path.to_string(),
            value: plain(leaf),
            path: path.clone(),
        }),
    }
}

/// A value in one line.
pub(super) fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The arguments of a list or a map, and what the kubelet's say of its Node.
fn arguments(arguments: &Value, path: &FieldPath, is_kubelet: bool) -> Vec<Held> {
    let list = arguments
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(index, argument)| {
            let (name, value) = (
                fields::text(argument, &["name"]),
                fields::text(argument, &["value"]),
            );
            (
                name.to_owned(),
                value.to_owned(),
                path.index(index).field("value"),
            )
        });
    let map = arguments
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), plain(value), path.field(name.as_str())));
    let of_one = |(name, value, path): (String, String, FieldPath)| {
        let of_node = match name.as_str() {
            "node-labels" if is_kubelet => pairs(&value, Kind::Label, &path),
            "register-with-taints" if is_kubelet => pairs(&value, Kind::Taint, &path),
            _ => Vec::new(),
        };
        std::iter::once(Held {
            kind: Kind::Argument,
            name,
            value,
            path,
        })
        .chain(of_node)
    };
    list.chain(map).flat_map(of_one).collect()
}

/// `key=value` with commas between, as the kubelet reads them.
fn pairs(text: &str, kind: Kind, path: &FieldPath) -> Vec<Held> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Held {
            kind,
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
            path: path.clone(),
        }
    };
    text.split(',')
        .filter(|text| !text.trim().is_empty())
        .map(pair)
        .collect()
}

fn taints(taints: &Value, path: &FieldPath) -> Vec<Held> {
    let of_one = |(index, taint): (usize, &Value)| Held {
        kind: Kind::Taint,
        name: fields::text(taint, &["key"]).to_owned(),
        value: [
            fields::text(taint, &["value"]),
            fields::text(taint, &["effect"]),
        ]
        .join(":")
        .trim_start_matches(':')
        .to_owned(),
        path: path.index(index),
    };
    taints
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .map(of_one)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(value: &Value, kind: Kind) -> Vec<String> {
        let found = held(value, &FieldPath::of_fields("joinConfiguration"))
            .into_iter()
            .filter(|held| held.kind == kind);
        found
            .map(|held| format!("{}={} {}", held.name, held.value, held.path))
            .collect()
    }

    /// kubeadm v1beta4 has a list, v1beta3 a map.
    #[test]
    fn arguments_are_read_from_lists_and_maps() {
        let path = "joinConfiguration.nodeRegistration.kubeletExtraArgs";
        let list = json!({"nodeRegistration": {"kubeletExtraArgs": [{"name": "v", "value": "2"}, {"name": "node-labels", "value": "a/b=1, c=,"}]}});
        assert_eq!(
            shown(&list, Kind::Argument),
            [
                format!("v=2 {path}[0].value"),
                format!("node-labels=a/b=1, c=, {path}[1].value")
            ]
        );
        assert_eq!(
            shown(&list, Kind::Label),
            [
                format!("a/b=1 {path}[1].value"),
                format!("c= {path}[1].value")
            ]
        );
        let map = json!({"nodeRegistration": {"kubeletExtraArgs": {"register-with-taints": "k=v:NoSchedule"}}});
        assert_eq!(
            shown(&map, Kind::Taint),
            [format!("k=v:NoSchedule {path}.register-with-taints")]
        );
    }

    /// Only the kubelet has a Node: an API server's argument of that name says nothing of labels.
    #[test]
    fn only_the_kubelet_labels_its_node() {
        assert!(
            shown(
                &json!({"apiServer": {"extraArgs": {"node-labels": "a=b"}}}),
                Kind::Label
            )
            .is_empty()
        );
    }

    #[test]
    fn empty_parts_are_fields_too() {
        assert_eq!(
            shown(&json!({"dns": {}, "a": [1, null]}), Kind::Field),
            [
                "joinConfiguration.a[0]=1 joinConfiguration.a[0]",
                "joinConfiguration.a[1]=null joinConfiguration.a[1]",
                "joinConfiguration.dns={} joinConfiguration.dns"
            ]
        );
        assert_eq!(
            shown(
                &json!({"taints": [{"key": "k", "effect": "NoSchedule"}]}),
                Kind::Taint
            ),
            ["k=NoSchedule joinConfiguration.taints[0]"]
        );
    }
}
