//! `release check`: the provider that a components file is of.

use serde_json::json;

use crate::support::{root, run};

/// Cluster API book, "Labels": the provider is the one that the label with its type names. A label
/// without the type is the name.
#[test]
fn names_the_provider_by_its_label() {
    for (labels, provider) in [
        (&["infrastructure-a"][..], "infrastructure-a"),
        (&["infrastructure-", "infrastructure-a"], "infrastructure-a"),
        (
            &["other", "infrastructure-foo", "infrastructure-a"],
            "infrastructure-foo",
        ),
        (
            &["a-provider-with-a-long-name"],
            "infrastructure-a-provider-with-a-long-name",
        ),
        (
            &["a-provider-with-a-long-name", "infrastructure-a"],
            "infrastructure-a",
        ),
        (&["", "foo"], "infrastructure-foo"),
        (&[""], "infrastructure-unnamed"),
    ] {
        let object = |(at, label): (usize, &&str)| {
            format!(
                "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: a{at}, labels: {{cluster.x-k8s.io/provider: \"{label}\"}}}}\n"
            )
        };
        let objects: String = labels.iter().enumerate().map(object).collect();
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n";
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(
            root().join("tests/gate/base/metadata.yaml"),
            folder.path().join("metadata.yaml"),
        )
        .unwrap();
        std::fs::write(
            folder.path().join("infrastructure-components.yaml"),
            format!("{namespace}{objects}"),
        )
        .unwrap();
        let report = run(folder.path(), "release check v0.2.0 . -o json").json();
        assert_eq!(report["providers"], json!([provider]), "{labels:?}");
    }
}
