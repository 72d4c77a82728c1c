//! What a config names in sections of which a node has no thing of its own: mounts, disks, NTP, and
//! volumes of static pods.

use serde_json::Value;

use super::thing::Kind;
use super::wanted::Wanted;
use windlass_objects::fields;
use windlass_source::diag::FieldPath;

/// The sections of a spec, and what becomes of them (cloud-init: modules `cc_mounts`,
/// `cc_disk_setup`, `cc_ntp`; Ignition: `storage`).
const SECTIONS: [(&str, &str); 3] = [
    (
        "mounts",
        "the node mounts it, and the data has no file of it",
    ),
    (
        "diskSetup",
        "the node makes partitions and filesystems of it when it boots",
    ),
    ("ntp", "the node sets up its time service from it"),
];

/// The components of which a config gives volumes.
const COMPONENTS: [&str; 3] = ["apiServer", "controllerManager", "scheduler"];

/// What becomes of volumes (kubeadm: `HostPathMount`).
const VOLUME: &str = "kubeadm mounts it from the node into a static pod of the control plane, and makes nothing there";

/// Where a spec names what is wanted, and what becomes of it; paths are below the spec.
pub(super) fn named_by_sections(spec: &Value, wanted: &Wanted) -> Vec<(FieldPath, &'static str)> {
    let mut found = Vec::new();
    for (section, what) in SECTIONS {
        let Some(value) = spec.get(section) else {
            continue;
        };
        let path = FieldPath::of_fields(section);
        if wanted.may_be(Kind::Field) && wanted.text == section {
            found.push((path, what));
        } else {
            texts(value, &path, &mut |path, text| {
                if is_meant(wanted, text) {
                    found.push((path.clone(), what));
                }
            });
        }
    }
    for component in COMPONENTS {
        let list = FieldPath::of_fields("clusterConfiguration")
            .field(component)
            .field("extraVolumes");
        for (index, volume) in
            fields::items(spec, &["clusterConfiguration", component, "extraVolumes"])
                .iter()
                .enumerate()
        {
            let named = ["hostPath", "mountPath"]
                .into_iter()
                .find(|field| is_meant(wanted, fields::text(volume, &[field])));
            found.extend(named.map(|field| (list.index(index).field(field), VOLUME)));
        }
    }
    found
}

/// Whether a text is the path that is wanted, or one below it; a word is to be the whole text.
fn is_meant(wanted: &Wanted, text: &str) -> bool {
    if wanted.is_path() {
        text.starts_with('/') && wanted.fits(Kind::File, text)
    } else {
        wanted.only().is_none() && wanted.text == text
    }
}

/// Calls back for every text of a value.
fn texts(value: &Value, path: &FieldPath, tell: &mut impl FnMut(&FieldPath, &str)) {
    match value {
        Value::Object(entries) => entries
            .iter()
            .for_each(|(name, value)| texts(value, &path.field(name.as_str()), tell)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| texts(value, &path.index(index), tell)),
        Value::String(text) => tell(path, text),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mounts_disks_volumes_and_time_servers_are_found() {
        let spec = json!({
            "mounts": [["LABEL=etcd_disk", "/var/lib/etcddisk"]],
            "diskSetup": {"partitions": [{"device": "/dev/sdb", "layout": true}], "filesystems": [{"device": "/dev/sdb1"}]},
            "ntp": {"servers": ["time.example"]},
            "clusterConfiguration": {"apiServer": {"extraVolumes": [{"name": "a", "hostPath": "/etc/audit", "mountPath": "/in"}]}},
        });
        let found = |wanted: &str| -> Vec<String> {
            named_by_sections(&spec, &Wanted::parse(wanted).unwrap())
                .into_iter()
                .map(|(path, _)| path.to_string())
                .collect()
        };
        assert_eq!(found("/var/lib/etcddisk"), ["mounts[0][1]"]);
        assert_eq!(found("/dev/sdb"), ["diskSetup.partitions[0].device"]);
        assert_eq!(
            found("/etc/audit"),
            ["clusterConfiguration.apiServer.extraVolumes[0].hostPath"]
        );
        assert_eq!(
            found("/in"),
            ["clusterConfiguration.apiServer.extraVolumes[0].mountPath"]
        );
        assert_eq!(
            (found("ntp"), found("field:ntp"), found("time.example")),
            (
                vec!["ntp".to_owned()],
                vec!["ntp".to_owned()],
                vec!["ntp.servers[0]".to_owned()]
            )
        );
        assert!(
            found("user:ntp").is_empty()
                && found("/dev/sd").is_empty()
                && found("/etc/aud").is_empty()
        );
    }
}
