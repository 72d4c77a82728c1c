//! The rules of the webhooks, asked through the real API server; those that upstream has too also
//! of upstream's own webhook.

use serde_json::{Value, json};
use windlass_capi::admission::Judge;
use windlass_capi::api::names::{KUBEADM_GROUP, Kind, Version};

use super::SOON;
use crate::harness::api_server::ApiServer;
use crate::harness::runner::Context;
use crate::harness::wait;

/// Whose rule it is.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// Of the kubeadm bootstrap provider, and so ours.
    Upstream,
    /// Of a later release of it than the one that runs here, about a field that only v1beta2 has.
    Later,
    /// Of an addition.
    Ours,
}
use Rule::{Later, Ours, Upstream};

/// For each rule of the webhooks a spec that breaks it, and the fields that the rejection names, from
/// the spec on.
fn broken() -> Vec<(Rule, Value, &'static [&'static str])> {
    let secret = || json!({"secret": {"name": "s", "key": "k"}});
    let ignition = |mut spec: Value| {
        spec["format"] = json!("ignition");
        spec
    };
    let disks = |disks: Value| json!({"format": "ignition", "diskSetup": disks});
    let users = json!({"authProvider": {"name": "a"}, "exec": {"command": "c"}});
    let discovery = json!({"file": {"kubeConfigPath": "/k", "kubeConfig": {"user": users}}});
    let half = json!({"partitionType": "Linux", "percentage": 60});
    vec![
        (
            Upstream,
            json!({"files": [{"path": "/a", "content": "x", "contentFrom": secret()}]}),
            &["files[0]"],
        ),
        (
            Upstream,
            json!({"files": [{"path": "/a", "content": "x"}, {"path": "/a", "content": "y"}]}),
            &["files[1].path"],
        ),
        (
            Upstream,
            json!({"users": [{"name": "u", "passwd": "p", "passwdFrom": secret()}]}),
            &["users[0]"],
        ),
        (
            Upstream,
            json!({"ignition": {"containerLinuxConfig": {"strict": true}}}),
            &["format"],
        ),
        (
            Upstream,
            ignition(json!({"users": [{"name": "u", "inactive": true}]})),
            &["users[0].inactive"],
        ),
        (
            Upstream,
            ignition(json!({"files": [{"path": "/a", "content": "x", "encoding": "gzip"}]})),
            &["files[0].encoding"],
        ),
        (
            Upstream,
            ignition(json!({"files": [{"path": "/a", "content": "x", "encoding": "gzip+base64"}]})),
            &["files[0].encoding"],
        ),
        (
            Upstream,
            ignition(json!({"bootCommands": ["true"]})),
            &["bootCommands"],
        ),
        (
            Upstream,
            disks(json!({"partitions": [{"device": "/d", "layout": true, "tableType": "mbr"}]})),
            &["diskSetup.partitions[0].tableType"],
        ),
        (
            Upstream,
            disks(
                json!({"filesystems": [{"device": "/d", "filesystem": "ext4", "label": "l", "replaceFS": "xfs"}]}),
            ),
            &["diskSetup.filesystems[0].replaceFS"],
        ),
        (
            Upstream,
            disks(
                json!({"filesystems": [{"device": "/d", "filesystem": "ext4", "label": "l", "partition": "1"}]}),
            ),
            &["diskSetup.filesystems[0].partition"],
        ),
        (
            Later,
            json!({"diskSetup": {"partitions": [{"device": "/d", "diskLayout": [half, half]}]}}),
            &["diskSetup.partitions[0].diskLayout"],
        ),
        (
            Upstream,
            json!({"joinConfiguration": {"discovery": discovery}}),
            &["joinConfiguration.discovery.file.kubeconfig.user"],
        ),
        (
            Ours,
            json!({"directories": [{"path": "/a"}], "files": [{"path": "/a", "content": "x"}]}),
            &["directories[0].path"],
        ),
        (
            Ours,
            json!({"directories": [{"path": "C:\\k"}]}),
            &["directories[0].path"],
        ),
        (
            Ours,
            json!({"platform": "windows", "users": [{"name": "u", "passwd": "a password of too many characters"}]}),
            &["users[0].passwd"],
        ),
        (
            Ours,
            ignition(
                json!({"files": [{"path": "/a", "content": "x", "transferEncoding": "gzip+base64"}]}),
            ),
            &["files[0].transferEncoding"],
        ),
        (
            Ours,
            ignition(json!({"ignition": {"version": "3.4", "additionalConfig": "{}"}})),
            &["ignition.additionalConfig"],
        ),
        (
            Ours,
            ignition(json!({"ignition": {"version": "3.4"}, "mounts": [["/dev/sda"]]})),
            &["mounts[0]"],
        ),
        (
            Later,
            json!({"format": "ignition", "ignition": {"version": "3.4"}, "diskSetup": {"partitions": [{"device": "/d", "diskLayout": [{"partitionType": "Linux", "percentage": 60}]}]}}),
            &["diskSetup.partitions[0].diskLayout"],
        ),
    ]
}

/// Each rule rejects, names the field, in both kinds, in both versions. Upstream's webhook rejects
/// the same in a KubeadmConfig, in the words that our library predicts.
pub(crate) fn webhook_rules_reject(context: &Context) {
    let plane = context.installed();
    let mut faults = Vec::new();
    for (rule, spec, fields) in broken() {
        for kind in Kind::ALL {
            for version in Version::ALL
                .into_iter()
                .filter(|version| *version == Version::V1Beta2 || rule != Later)
            {
                faults.extend(ours_rejects(&plane.api, kind, version, &spec, fields).err());
            }
            if rule == Upstream {
                faults.extend(upstream_rejects(&plane.api, kind, &spec).err());
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let metadata =
        json!({"labels": {"not a label": "x"}, "annotations": {"not an annotation": "x"}});
    let template = json!({
        "apiVersion": Version::V1Beta2.api_version(), "kind": Kind::Template.as_str(), "metadata": {"name": "new"},
        "spec": {"template": {"metadata": metadata, "spec": {"format": "cloud-config"}}},
    });
    let rejection = rejection(&plane.api, &template).unwrap();
    assert!(
        [
            "spec.template.metadata.labels",
            "spec.template.metadata.annotations"
        ]
        .iter()
        .all(|field| rejection.contains(field)),
        "{rejection}"
    );
}

/// What is odd but allowed comes back as a warning.
pub(crate) fn webhooks_warn(context: &Context) {
    let plane = context.installed();
    let config = object(
        Kind::Config,
        &Version::V1Beta2.api_version(),
        &json!({
            "cloudConfig": {"templating": "none"}, "preKubeadmCommands": ["echo {{ ds.meta_data.hostname }}"],
        }),
    );
    wait::until("our webhook to answer", SOON, || {
        match plane.api.warnings_of_create(&config) {
            (Ok(_), warnings)
                if warnings
                    .iter()
                    .any(|warning| warning.starts_with("spec.preKubeadmCommands[0]: `{{ ds.`")) =>
            {
                Ok(())
            }
            other => Err(format!("{other:?}")),
        }
    });
}

fn object(kind: Kind, api_version: &str, spec: &Value) -> Value {
    let name = if api_version.starts_with(KUBEADM_GROUP) {
        kind.kubeadm()
    } else {
        kind.as_str()
    };
    let spec = if kind == Kind::Config {
        spec.clone()
    } else {
        json!({"template": {"spec": spec}})
    };
    json!({"apiVersion": api_version, "kind": name, "metadata": {"name": "new", "namespace": "default"}, "spec": spec})
}

/// The message of the rejection; a moment of patience until the API server has heard where the
/// webhook is.
fn rejection(api: &ApiServer, object: &Value) -> Result<String, String> {
    wait::until("webhooks to answer", SOON, || {
        match api.try_create(object) {
            Err(rejection) if rejection.passes() => Err(rejection.to_string()),
            Err(rejection) => Ok(Ok(rejection.message().to_owned())),
            Ok(_) => Ok(Err(format!("taken: {object}"))),
        }
    })
}

fn ours_rejects(
    api: &ApiServer,
    kind: Kind,
    version: Version,
    spec: &Value,
    fields: &[&str],
) -> Result<(), String> {
    let prefix = if kind == Kind::Config {
        "spec"
    } else {
        "spec.template.spec"
    };
    let message = rejection(api, &object(kind, &version.api_version(), spec))?;
    match fields
        .iter()
        .map(|field| format!(" {prefix}.{field}: "))
        .find(|field| !message.contains(field.as_str()))
    {
        Some(field) => Err(format!(
            "{version} {kind} {spec}: not about{field}{message}"
        )),
        None => Ok(()),
    }
}

fn upstream_rejects(api: &ApiServer, kind: Kind, spec: &Value) -> Result<(), String> {
    let object = object(kind, &format!("{KUBEADM_GROUP}/v1beta2"), spec);
    let message = rejection(api, &object)?;
    let judge = Judge::kubeadm(kind, true);
    let expected = judge.rejection(kind, "new", &judge.object(kind, &object));
    // The API server puts the name of the webhook before the message.
    if message.ends_with(&expected) {
        Ok(())
    } else {
        Err(format!(
            "{spec}:\n  upstream {message}\n  ours     {expected}"
        ))
    }
}
