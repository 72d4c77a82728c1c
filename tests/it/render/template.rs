//! clusterctl's templates as input: what they are taken for, and where the values of their
//! variables come from.

use super::render_text;

/// A cluster as providers' templates have it: the config of a worker, and objects that it has
/// nothing to do with.
const TEMPLATE: &str = r#"apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: "${CLUSTER_NAME}", namespace: "${NAMESPACE}"}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: CloudCluster, name: "${CLUSTER_NAME}"}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: CloudCluster
metadata: {name: "${CLUSTER_NAME}", namespace: "${NAMESPACE}"}
spec: {region: "${CLOUD_REGION}", keyName: "${CLOUD_KEY_NAME}", zones: "${CLOUD_REGION}a"}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: "${CLUSTER_NAME}-md-0", namespace: "${NAMESPACE}"}
spec:
  clusterName: "${CLUSTER_NAME}"
  replicas: ${WORKER_MACHINE_COUNT}
  template:
    spec:
      clusterName: "${CLUSTER_NAME}"
      version: "${KUBERNETES_VERSION}"
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: "${CLUSTER_NAME}-md-0"}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: "${CLUSTER_NAME}-md-0", namespace: "${NAMESPACE}"}
spec:
  template:
    spec:
      files: [{path: /etc/a, content: "text"}]
"#;

fn rendered(text: &str, flags: &[&str]) -> (String, String) {
    let (code, data, talk) = render_text(text, &[&["render", "-", "--template"], flags].concat());
    assert_eq!(code, 0, "{talk}");
    (data, talk)
}

/// The variables that have to be given, in the order of the report.
fn demanded(text: &str, flags: &[&str]) -> Vec<String> {
    let (code, data, talk) = render_text(text, &[&["render", "-", "--template"], flags].concat());
    assert_eq!((code, data.as_str()), (1, ""), "{talk}");
    let line = |line: &str| {
        Some(
            line.strip_prefix("error[template-not-substituted]: variable ")?
                .split(' ')
                .next()?
                .to_owned(),
        )
    };
    let names: Vec<String> = talk.lines().filter_map(line).collect();
    assert_eq!(
        talk.matches("\nerror[").count() + 1,
        names.len(),
        "nothing else is wrong\n{talk}"
    );
    names
}

#[test]
fn what_is_rendered_asks_for_its_variables() {
    let with = |from: &str, to: &str| TEMPLATE.replace(from, to);
    let check = |text: &str, expected: &[&str]| assert_eq!(demanded(text, &[]), expected, "{text}");
    check(&with("\"text\"", "\"a ${TEXT} b\""), &["TEXT"]);
    // The name of another begins with it.
    check(
        &with("\"text\"", "\"${CLOUD_REGION_NAME}\""),
        &["CLOUD_REGION_NAME"],
    );
    check(&with("path: /etc/a", "path: \"/etc/${DIR}/a\""), &["DIR"]);
    check(
        &with("content: \"text\"", "content: \"${B64}\", encoding: base64"),
        &["B64"],
    );
    check(
        &with("      files:", "      verbosity: ${LEVEL}\n      files:"),
        &["LEVEL"],
    );
    check(
        &with("      files:", "      format: ${FORMAT}\n      files:"),
        &["FORMAT"],
    );
    // A finding that begins at one and does not quote it.
    check(
        &with(
            "      files:",
            "      preKubeadmCommands:\n        ${RUN}: x\n      files:",
        ),
        &["RUN"],
    );
    // One that is rejected does not hide the others of its document.
    check(
        &with(
            "      files:",
            "      verbosity: ${LEVEL}\n      preKubeadmCommands: [\"${RUN}\"]\n      files:",
        ),
        &["LEVEL", "RUN"],
    );
    // What an operator makes of a marker cannot be found again.
    check(
        &with(
            "region: \"${CLOUD_REGION}\"",
            "region: \"${CLOUD_REGION^^}\"",
        ),
        &["CLOUD_REGION"],
    );
    check(
        &with(
            "region: \"",
            "other: \"${X:=${CLOUD_KEY_NAME}}\", region: \"",
        ),
        &["CLOUD_KEY_NAME"],
    );
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: \"${NAMESPACE}\"}\nstringData: {k: \"a ${TOKEN}\"}\n";
    let of_secret = with(
        "content: \"text\"",
        "contentFrom: {secret: {name: s, key: k}}",
    ) + secret;
    check(&of_secret, &["TOKEN"]);
    check(
        &of_secret.replace("stringData: {k: \"a ${TOKEN}\"}", "data: {k: \"${TOKEN}\"}"),
        &["TOKEN"],
    );
    rendered(&(TEMPLATE.to_owned() + secret), &[]);
    // A part of the data that is packed.
    let packed = with("bootstrap.cluster.x-k8s.io", "bootstrap.windlass.dev")
        .replace("KubeadmConfigTemplate", "WindlassConfigTemplate");
    let packed = packed.replace("      files:", "      compression: gzip\n      files:");
    rendered(&packed, &["--plain"]);
    check(
        &packed.replace("\"text\"", "\"${TEXT}\", transferEncoding: gzip+base64"),
        &["TEXT"],
    );
}

/// Beyond 200 variables nothing is looked for in what is rendered.
#[test]
fn a_file_of_very_many_variables_demands_them_all() {
    // Two are those of the cloud.
    let of = |count: usize| {
        let more: String = (0..count - 2)
            .map(|n| format!("v{n}: \"${{V{n}}}\", "))
            .collect();
        TEMPLATE.replace("region: \"", &format!("{more}region: \""))
    };
    let (_, talk) = rendered(&of(200), &[]);
    assert!(
        talk.contains(
            "placeholder: variables that nothing here needs: CLOUD_KEY_NAME, CLOUD_REGION, V0"
        ),
        "{talk}"
    );
    assert_eq!(demanded(&of(201), &[]).len(), 201);
}
