//! An API server that asks who may set owner references (`OwnerReferencesPermissionEnforcement`, as
//! OpenShift has it).

use std::time::Duration;

use serde_json::{Value, json};

use super::rights::data_secret;
use super::uncontrolled::{
    BOOTSTRAP, Machine, NAMESPACE, a_cluster, a_cluster_without_control_plane, a_machine,
};
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{audit, installation, wait, windlass, windlass_manager};

const LONG: Duration = Duration::from_secs(60);
const RBAC: &str = "rbac.authorization.k8s.io";

/// With the roles of the release a cluster begins (certificates, lock, data) and machines join. A
/// restored Secret, which no config controls, is taken over only by who may delete it: with that
/// right, which the book names, it is, and without it the log says what is missing.
pub(crate) fn checked_owner_references_need_one_right_more(context: &Context) {
    let plane = context
        .control_plane_with(&["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"]);
    installation::kinds_alone(&plane);
    let mut manager = windlass_manager::start(&plane, "manager", &["--leader-elect"]);
    a_cluster(&plane);
    a_cluster_without_control_plane(&plane, NAMESPACE);
    let init = json!({"clusterConfiguration": {"encryptionAlgorithm": "ECDSA-P256"}, "initConfiguration": {"nodeRegistration": {"taints": []}}});
    let labels = json!({"cluster.x-k8s.io/control-plane": ""});
    let first = Machine {
        namespace: NAMESPACE,
        cluster: "d",
        kubernetes: "v1.34.1",
        version: "v1beta2",
        labels,
    };
    first
        .give(&plane, "first", &init)
        .unwrap_or_else(|rejection| panic!("{rejection}"));
    let joins = json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}});
    a_machine(&plane, "worker", "v1.34.1", "v1beta2", &joins)
        .unwrap_or_else(|rejection| panic!("{rejection}"));
    ["first", "worker"]
        .iter()
        .for_each(|name| until_it_has_data(&plane, name));

    data_secret(&plane, NAMESPACE, "restored", json!({"value": "eA=="}));
    a_machine(&plane, "restored", "v1.34.1", "v1beta2", &joins)
        .unwrap_or_else(|rejection| panic!("{rejection}"));
    manager.process.until_it_says(
        LONG,
        "cannot set an ownerRef on a resource you can't delete",
    );
    assert!(
        data_of(&plane, "restored").is_err(),
        "the Secret was rejected"
    );
    let rules = json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["delete"]}]);
    let metadata = json!({"name": "windlass-adopts", "namespace": NAMESPACE});
    plane.api.create(&json!({"apiVersion": format!("{RBAC}/v1"), "kind": "Role", "metadata": metadata, "rules": rules})).unwrap();
    let account = json!({"kind": "ServiceAccount", "name": windlass_manager::SERVICE_ACCOUNT, "namespace": windlass::NAMESPACE});
    let binding = json!({
        "apiVersion": format!("{RBAC}/v1"), "kind": "RoleBinding", "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "windlass-adopts"}, "subjects": [account],
    });
    plane.api.create(&binding).unwrap();
    until_it_has_data(&plane, "restored");
    let secret = plane
        .api
        .get("v1", "Secret", Some(NAMESPACE), "restored")
        .unwrap();
    let owners = &secret["metadata"]["ownerReferences"];
    assert_eq!(
        (&owners[0]["kind"], &owners[0]["controller"]),
        (&json!("WindlassConfig"), &json!(true)),
        "{owners}"
    );
    audit::assert_all_was_allowed(&plane);
}

fn data_of(plane: &ControlPlane, name: &str) -> Result<(), String> {
    let config = plane
        .api
        .get(BOOTSTRAP, "WindlassConfig", Some(NAMESPACE), name)
        .map_err(|rejection| rejection.to_string())?;
    let is_made: &Value = &config["status"]["initialization"]["dataSecretCreated"];
    if *is_made == true {
        Ok(())
    } else {
        Err(config["status"].to_string())
    }
}

fn until_it_has_data(plane: &ControlPlane, name: &str) {
    wait::until(&format!("data of {name}"), LONG, || data_of(plane, name));
}
