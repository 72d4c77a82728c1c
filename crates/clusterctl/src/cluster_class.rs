//! ClusterClasses that a template refers to: clusterctl prints them with it.

use serde_json::{Value, json};

use super::Rejection;
use super::typed::{self, CLUSTERS};
use windlass_objects::fields;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClassName {
    pub(super) namespace: String,
    /// May be empty: then clusterctl looks for the file `clusterclass-.yaml`, in vain.
    pub(super) name: String,
}

/// The classes of all Clusters of the current API group, in order, doubles included.
///
/// # Errors
/// When a Cluster does not fit its type.
pub(super) fn names(objects: &[Value]) -> Result<Vec<ClassName>, Rejection> {
    let mut names = Vec::new();
    for object in objects {
        let (group, version) = fields::group_version(object);
        if group != "cluster.x-k8s.io" || fields::kind(object) != "Cluster" {
            continue;
        }
        let Some(known) = typed::find(&CLUSTERS, "Cluster", version) else {
            continue;
        };
        let version = version.to_owned();
        let cluster = typed::round_trip(object.clone(), known)
            .map_err(|rejection| rejection.within("failed to convert object to Cluster"))?;
        names.extend(name_of(&cluster, &version)?);
    }
    Ok(names)
}

fn name_of(cluster: &Value, version: &str) -> Result<Option<ClassName>, Rejection> {
    let topology = fields::field(cluster, &["spec", "topology"]);
    let or_own = |namespace: &str| {
        if namespace.is_empty() {
            fields::namespace(cluster).to_owned()
        } else {
            namespace.to_owned()
        }
    };
    if version == "v1beta1" {
        return Ok(topology.map(|topology| ClassName {
            namespace: or_own(fields::text(topology, &["classNamespace"])),
            name: fields::text(topology, &["class"]).to_owned(),
        }));
    }
    // A topology without any field counts as none.
    let known = typed::find(&CLUSTERS, "Cluster", version).unwrap_or(&CLUSTERS[1]);
    let empty = typed::round_trip(
        json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster"}),
        known,
    )?;
    Ok(topology
        .filter(|topology| Some(*topology) != fields::field(&empty, &["spec", "topology"]))
        .map(|topology| ClassName {
            namespace: or_own(fields::text(topology, &["classRef", "namespace"])),
            name: fields::text(topology, &["classRef", "name"]).to_owned(),
        }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(version: &str, topology: Value) -> Option<(String, String)> {
        let cluster = json!({"apiVersion": format!("cluster.x-k8s.io/{version}"), "kind": "Cluster",
                             "metadata": {"name": "c", "namespace": "n"}, "spec": {"topology": topology}});
        names(&[cluster])
            .unwrap()
            .into_iter()
            .next()
            .map(|class| (class.namespace, class.name))
    }

    #[test]
    fn clusters_name_their_class() {
        let some = |namespace: &str, name: &str| Some((namespace.to_owned(), name.to_owned()));
        assert_eq!(
            class("v1beta2", json!({"classRef": {"name": "q"}})),
            some("n", "q")
        );
        assert_eq!(
            class(
                "v1beta2",
                json!({"classRef": {"name": "q", "namespace": "m"}})
            ),
            some("m", "q")
        );
        assert_eq!(
            class("v1beta2", json!({"version": "v1.34.0"})),
            some("n", "")
        );
        assert_eq!(class("v1beta2", json!({})), None);
        assert_eq!(class("v1beta2", json!(null)), None);
        assert_eq!(
            class("v1beta1", json!({"class": "q", "classNamespace": "m"})),
            some("m", "q")
        );
        assert_eq!(class("v1beta1", json!({})), some("n", ""));
        assert_eq!(class("v1beta1", json!(null)), None);
        assert_eq!(class("v1alpha4", json!({"class": "q"})), None);
    }

    #[test]
    fn a_cluster_that_does_not_fit_its_type_is_rejected() {
        let cluster = json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "spec": {"topology": {"version": 1.3}}});
        assert_eq!(
            names(&[cluster]).unwrap_err().message(),
            "failed to convert object to Cluster: unable to convert unstructured object to cluster.x-k8s.io/v1beta2, Kind=Cluster: unrecognized \
             type: string"
        );
    }
}
