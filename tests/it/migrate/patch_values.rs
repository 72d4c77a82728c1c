//! Whole values of patches keep their lines and comments, as fields of a template do.

use super::{NEW, OLD, migrated, told};

/// A class with patches of the templates of control planes.
fn class(version: &str, patches: &str) -> String {
    format!(
        "apiVersion: cluster.x-k8s.io/{version}\nkind: ClusterClass\nmetadata: {{name: c}}\nspec:\n  patches:\n  - name: p\n    definitions:\n    - selector:\n        apiVersion: controlplane.cluster.x-k8s.io/{version}\n        kind: KubeadmControlPlaneTemplate\n      jsonPatches:\n{patches}"
    )
}

const OLD_PATCHES: &str = r#"      - op: add
        path: /spec/template/spec/machineTemplate
        value:
          metadata: # m
            labels: {a: b}
          # how long
          nodeDrainTimeout: 5m0s # five
      - op: add
        path: /spec/template/spec/kubeadmConfigSpec/joinConfiguration
        value:
          # of the node
          nodeRegistration:
            name: x # name
          discovery:
            # how long
            timeout: 5m0s # t
      - {op: add, path: /spec/template/spec/machineTemplate, value: {nodeDrainTimeout: 5m0s}}
"#;

const NEW_PATCHES: &str = r#"      - op: add
        path: /spec/template/spec/machineTemplate
        value:
          metadata: # m
            labels: {a: b}
          # how long
          spec:
            deletion:
              nodeDrainTimeoutSeconds: 300 # five
      - op: add
        path: /spec/template/spec/kubeadmConfigSpec/joinConfiguration
        value:
          # of the node
          nodeRegistration:
            name: x # name
          timeouts:
            # how long
            tlsBootstrapSeconds: 300 # t
      - {op: add, path: /spec/template/spec/machineTemplate, value: {spec: {deletion: {nodeDrainTimeoutSeconds: 300}}}}
"#;

/// Written by hand from the migration guide of Cluster API v1.11.
#[test]
fn values_in_lines_stay_in_lines_with_their_comments() {
    let (text, findings) = migrated(&class("v1beta1", OLD_PATCHES), NEW);
    assert_eq!(
        (text, told(&findings)),
        (class("v1beta2", NEW_PATCHES), vec![])
    );
    let (back, findings) = migrated(&class("v1beta2", NEW_PATCHES), OLD);
    assert_eq!(
        (back, told(&findings)),
        (class("v1beta1", OLD_PATCHES), vec![])
    );
}
