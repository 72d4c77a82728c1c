//! What the manager wrote beside what `windlass render` makes of the same objects, read back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::uncontrolled::{ConfigKind, WINDLASS_CONFIG};
use crate::harness::control_plane::ControlPlane;
use crate::harness::windlass;

const CORE: &str = "cluster.x-k8s.io/v1beta2";

/// What a render of a config of a namespace needs besides it.
struct Fixture {
    /// Cluster and Secrets.
    items: Vec<Value>,
    machines: Vec<Value>,
}

impl Fixture {
    fn of(plane: &ControlPlane, namespace: &str) -> Self {
        let mut items = plane.api.list(CORE, "Cluster", Some(namespace));
        items.extend(plane.api.list("v1", "Secret", Some(namespace)));
        Fixture {
            items,
            machines: plane.api.list(CORE, "Machine", Some(namespace)),
        }
    }

    /// A file with a config and all that is read for it.
    fn file(&self, folder: &Path, config: &Value) -> PathBuf {
        let owner = &config["metadata"]["ownerReferences"]
            .as_array()
            .unwrap()
            .iter()
            .find(|owner| owner["kind"] == "Machine")
            .unwrap()["name"];
        let machine = self
            .machines
            .iter()
            .find(|machine| machine["metadata"]["name"] == *owner)
            .unwrap();
        let items: Vec<&Value> = self.items.iter().chain([machine, config]).collect();
        let name = format!(
            "{}-{}.json",
            text(&config["metadata"]["namespace"]),
            text(&config["metadata"]["name"])
        );
        let file = folder.join(name);
        std::fs::write(
            &file,
            json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string(),
        )
        .unwrap();
        file
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// The data of every WindlassConfig of a namespace, by its name.
pub(in crate::scenarios) fn data_of(
    plane: &ControlPlane,
    namespace: &str,
) -> BTreeMap<String, String> {
    data_of_kind(WINDLASS_CONFIG, plane, namespace)
}

fn data_of_kind(
    kind: ConfigKind,
    plane: &ControlPlane,
    namespace: &str,
) -> BTreeMap<String, String> {
    let data = |config: Value| {
        let name = text(&config["metadata"]["name"]).to_owned();
        let secret = plane.api.get("v1", "Secret", Some(namespace), &name).ok()?;
        let bytes = STANDARD.decode(text(&secret["data"]["value"])).unwrap();
        Some((name, String::from_utf8(bytes).unwrap()))
    };
    kind.list(plane, namespace)
        .into_iter()
        .filter_map(data)
        .collect()
}

/// Every data Secret of the WindlassConfigs of a namespace is, byte for byte, what is rendered
/// offline from its config, its machine, its Cluster and the Secrets; and so many are there.
pub(in crate::scenarios) fn assert_data_is_rendered(
    plane: &ControlPlane,
    folder: &Path,
    namespace: &str,
    count: usize,
) {
    assert_data_of_kind_is_rendered(WINDLASS_CONFIG, plane, folder, namespace, count);
}

/// The same of configs of a kind.
pub(in crate::scenarios) fn assert_data_of_kind_is_rendered(
    kind: ConfigKind,
    plane: &ControlPlane,
    folder: &Path,
    namespace: &str,
    count: usize,
) {
    let all = data_of_kind(kind, plane, namespace);
    assert_eq!(all.len(), count, "{:?}", all.keys());
    let fixture = Fixture::of(plane, namespace);
    for config in kind.list(plane, namespace) {
        let Some(stored) = all.get(text(&config["metadata"]["name"])) else {
            continue;
        };
        let file = fixture.file(folder, &config).display().to_string();
        let mut arguments = vec!["render", &file, "--no-placeholders", "--show-secrets", "-q"];
        // The Cluster has a control plane now, which it had not then.
        if stored.contains("kubeadm init") {
            arguments.extend(["--role", "init"]);
        }
        let rendered = windlass::run(folder, &arguments).stdout;
        assert!(
            rendered == *stored,
            "{file}: the manager wrote\n{stored}\nand render makes\n{rendered}"
        );
    }
}

/// Each of these configs has no data, and `windlass render` finds why.
pub(in crate::scenarios) fn assert_render_rejects(
    plane: &ControlPlane,
    folder: &Path,
    namespace: &str,
    configs: &[&Value],
) {
    let fixture = Fixture::of(plane, namespace);
    for config in configs {
        let file = fixture.file(folder, config).display().to_string();
        // Where nothing but a token is missing, the manager would have made one.
        let arguments = [
            "render",
            &file,
            "--no-placeholders",
            "-q",
            "--feature-gates",
            "KubeadmBootstrapFormatIgnition=true",
        ];
        let finished = windlass::try_run(
            folder,
            &[&arguments[..], &["--token", "abcdef.0123456789abcdef"]].concat(),
        );
        assert_eq!(
            finished.code,
            Some(1),
            "{file}: {}\n{}",
            config["status"]["conditions"],
            finished.stdout
        );
    }
}
