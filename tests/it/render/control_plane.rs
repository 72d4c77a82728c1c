//! KubeadmControlPlane and its template as a whole: the schema is upstream's, and what stands
//! beside the config is judged.

use serde_json::Value;
use windlass::api::control_plane;
use windlass::api::names::Version;
use windlass::schema::structural;
use windlass::text::budget::Budget;

use super::render_text;
use crate::support::{documents, shared};

/// A schema without what it says to people, with the config and the status left open as ours has
/// them.
fn comparable(mut crd: Value, template: bool) -> Value {
    fn strip(schema: &mut Value) {
        if let Some(map) = schema.as_object_mut() {
            map.remove("description");
            for (key, value) in map.iter_mut() {
                match key.as_str() {
                    "properties" => value.as_object_mut().unwrap().values_mut().for_each(strip),
                    "items" | "additionalProperties" => strip(value),
                    _ => {}
                }
            }
        }
    }
    let open = serde_json::json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let spec = if template {
        "/properties/spec/properties/template/properties/spec"
    } else {
        "/properties/spec"
    };
    *crd.pointer_mut(&format!("{spec}/properties/kubeadmConfigSpec"))
        .unwrap() = open.clone();
    crd["properties"]["status"] = open;
    strip(&mut crd);
    crd
}

#[test]
fn the_schemas_are_those_of_upstreams_crds() {
    let mut compared = 0;
    for (release, taints) in [("v1.10.10", false), ("v1.12.0", false), ("v1.14.0", true)] {
        let path = format!(
            "corpus/rendered/kubernetes-sigs+cluster-api@{release}/control-plane-components.yaml"
        );
        let Some(path) = shared(&path) else { return };
        for crd in documents(&std::fs::read(path).unwrap())
            .into_iter()
            .filter(|object| object["kind"] == "CustomResourceDefinition")
        {
            let template = crd["spec"]["names"]["kind"] == "KubeadmControlPlaneTemplate";
            for entry in crd["spec"]["versions"].as_array().unwrap() {
                let Some(version) = entry["name"].as_str().and_then(Version::parse) else {
                    continue;
                };
                let theirs = comparable(entry["schema"]["openAPIV3Schema"].clone(), template);
                assert_eq!(
                    control_plane::schema(template, version, taints),
                    theirs,
                    "{release} {version} {template}"
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 2 + 4 + 4);
}

#[test]
fn the_schemas_are_structural() {
    for template in [false, true] {
        for version in Version::ALL {
            let schema = serde_json::json!({"openAPIV3Schema": control_plane::schema(template, version, true)});
            let version = serde_json::json!({"name": version.as_str(), "served": true, "storage": true, "schema": schema});
            let crd = serde_json::json!({"spec": {"versions": [version]}});
            assert_eq!(structural::check(&crd, &Budget::default()), []);
        }
    }
}

const MACHINE: [&str; 2] = [
    "machineTemplate: {infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: M, name: m}}",
    "machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: M, name: m}}}",
];

fn control_plane_of(version: Version, more: &str) -> String {
    let machine = MACHINE[usize::from(version == Version::V1Beta2)];
    let machine = if more.contains("machineTemplate:") {
        String::new()
    } else {
        format!("{machine}, ")
    };
    let number = if more.contains("version:") {
        ""
    } else {
        "version: v1.34.1, "
    };
    let config = if more.contains("kubeadmConfigSpec:") {
        ""
    } else {
        "kubeadmConfigSpec: {verbosity: 1}, "
    };
    format!(
        "apiVersion: controlplane.cluster.x-k8s.io/{version}\nkind: KubeadmControlPlane\nmetadata: {{name: a}}\nspec: {{{machine}{number}{config}{more}}}\n"
    )
}

fn template_of(version: Version, more: &str) -> String {
    let config = if more.contains("kubeadmConfigSpec:") {
        ""
    } else {
        "kubeadmConfigSpec: {verbosity: 1}, "
    };
    format!(
        "apiVersion: controlplane.cluster.x-k8s.io/{version}\nkind: KubeadmControlPlaneTemplate\nmetadata: {{name: a}}\nspec: {{template: {{spec: {{{config}{more}}}}}}}\n"
    )
}

/// The findings, without their places.
fn told(text: &str, flags: &[&str]) -> Vec<String> {
    let (code, _, talk) = render_text(text, &[&["render", "-", "--all"], flags].concat());
    let told: Vec<_> = talk
        .lines()
        .filter_map(|line| line.strip_prefix("error["))
        .map(str::to_owned)
        .collect();
    assert_eq!(code, i32::from(!told.is_empty()), "{talk}");
    told
}

#[track_caller]
fn check_with(text: &str, flags: &[&str], expected: &[&str]) {
    assert_eq!(told(text, flags), expected, "{text}");
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    check_with(text, &[], expected);
}

#[test]
fn every_field_beside_the_config_is_known() {
    use Version::{V1Beta1, V1Beta2};
    let unknown = |path: &str| format!("config-field-unknown]: unknown field `spec.{path}`");
    for (version, more, path) in [
        (
            V1Beta2,
            "rollout: {strategy: {type: RollingUpdate, rollingUpdat: {maxSurge: 1}}}",
            "rollout.strategy.rollingUpdat",
        ),
        (
            V1Beta2,
            "remediation: {maxRetries: 3}",
            "remediation.maxRetries",
        ),
        (
            V1Beta2,
            "machineNaming: {tmplate: a}",
            "machineNaming.tmplate",
        ),
        (
            V1Beta1,
            "rolloutStrategy: {rollingUpdate: {maxUnavailable: 1}}",
            "rolloutStrategy.rollingUpdate.maxUnavailable",
        ),
        (
            V1Beta1,
            "remediationStrategy: {retryPeriodSeconds: 1}",
            "remediationStrategy.retryPeriodSeconds",
        ),
        (
            V1Beta1,
            "machineNamingStrategy: {x: a}",
            "machineNamingStrategy.x",
        ),
        (
            V1Beta1,
            "rolloutBefore: {certificateExpiryDays: 9}",
            "rolloutBefore.certificateExpiryDays",
        ),
    ] {
        assert!(
            told(&control_plane_of(version, more), &[]).contains(&unknown(path)),
            "{path}"
        );
        assert!(
            told(&template_of(version, more), &[])
                .contains(&unknown(&format!("template.spec.{path}"))),
            "{path}"
        );
    }
    check(
        &template_of(V1Beta2, "version: v1.34.1"),
        &["config-field-unknown]: unknown field `spec.template.spec.version`"],
    );
    check(
        &control_plane_of(
            V1Beta2,
            "machineTemplate: {spec: {infrastructureRef: {apiGroup: a.b, kind: M}}}",
        ),
        &["config-field-missing]: spec.machineTemplate.spec.infrastructureRef.name is missing"],
    );
    check(
        &control_plane_of(V1Beta2, "remediation: {retryPeriodSeconds: 5m}"),
        &["config-value-refused]: spec.remediation.retryPeriodSeconds is `5m`, not a whole number"],
    );
    // The webhook fills the strategy in before the schema is asked; of a template it does not.
    for rollout in [
        "{}",
        "{strategy: {}}",
        "{strategy: {rollingUpdate: {}}}",
        "{strategy: {rollingUpdate: {maxSurge: 1}}}",
    ] {
        check(
            &control_plane_of(V1Beta2, &format!("rollout: {rollout}")),
            &[],
        );
        assert_ne!(
            told(&template_of(V1Beta2, &format!("rollout: {rollout}")), &[]),
            [""; 0],
            "{rollout}"
        );
    }
    check(
        &control_plane_of(V1Beta2, "rollout: {before: {}}"),
        &["config-value-refused]: spec.rollout.before should have at least 1 properties"],
    );
    let taints = &MACHINE[1].replace(
        "}}}",
        "}, taints: [{key: a, effect: NoSchedule, propagation: Always}]}}",
    );
    let text = control_plane_of(V1Beta2, taints);
    let gate = "config-admission-refused]: spec.machineTemplate.spec.taints: taints are not allowed to be set when the feature gate \
                MachineTaintPropagation is disabled";
    check(&text, &[gate]);
    check_with(
        &text,
        &["--feature-gates", "MachineTaintPropagation=true"],
        &[],
    );
    check_with(&text, &["--capi-version", "v1.13"], &[gate]);
    check_with(
        &text,
        &["--capi-version", "v1.12"],
        &["config-field-unknown]: unknown field `spec.machineTemplate.spec.taints`"],
    );
}

#[test]
fn what_the_webhook_refuses_is_refused() {
    use Version::{V1Beta1, V1Beta2};
    let refused =
        |path: &str, detail: &str| format!("config-admission-refused]: spec.{path}: {detail}");
    let both = |fields: [&str; 2], paths: [&str; 2], detail: &str| {
        for (index, version) in [V1Beta1, V1Beta2].into_iter().enumerate() {
            check(
                &control_plane_of(version, fields[index]),
                &[&refused(paths[index], detail)],
            );
        }
    };
    let same = |fields: &str, path: &str, detail: &str| both([fields; 2], [path; 2], detail);
    same(
        "version: v1.34",
        "version",
        "must be a valid semantic version",
    );
    same(
        "replicas: 0",
        "replicas",
        "cannot be less than or equal to 0",
    );
    same(
        "replicas: -1",
        "replicas",
        "cannot be less than or equal to 0",
    );
    same(
        "replicas: 4",
        "replicas",
        "cannot be an even number when etcd is stacked",
    );
    let etcd = "kubeadmConfigSpec: {clusterConfiguration: {etcd: {external: {endpoints: [x], caFile: a, certFile: b, keyFile: c}}}}";
    [V1Beta1, V1Beta2].into_iter().for_each(|version| {
        check(
            &control_plane_of(version, &format!("replicas: 4, {etcd}")),
            &[],
        )
    });
    let surge = |value: &str| {
        [
            format!("replicas: 3, rolloutStrategy: {{rollingUpdate: {{maxSurge: {value}}}}}"),
            format!(
                "replicas: 3, rollout: {{strategy: {{type: RollingUpdate, rollingUpdate: {{maxSurge: {value}}}}}}}"
            ),
        ]
    };
    let paths = [
        "rolloutStrategy.rollingUpdate.maxSurge",
        "rollout.strategy.rollingUpdate.maxSurge",
    ];
    for value in ["2", "'3'"] {
        both(
            surge(value).each_ref().map(String::as_str),
            paths,
            "value must be 1 or 0",
        );
    }
    for value in ["1", "0"] {
        surge(value)
            .iter()
            .zip([V1Beta1, V1Beta2])
            .for_each(|(fields, version)| check(&control_plane_of(version, fields), &[]));
    }
    let few = surge("0").map(|fields| fields.replace("replicas: 3, ", ""));
    let detail =
        "when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3";
    both(few.each_ref().map(String::as_str), paths, detail);
    few.iter()
        .zip([V1Beta1, V1Beta2])
        .for_each(|(fields, version)| check(&template_of(version, fields), &[]));
    let naming = |template: &str| {
        [
            format!("machineNamingStrategy: {{template: '{template}'}}"),
            format!("machineNaming: {{template: '{template}'}}"),
        ]
    };
    let paths = ["machineNamingStrategy.template", "machineNaming.template"];
    both(
        naming("a").each_ref().map(String::as_str),
        paths,
        "invalid template, {{ .random }} is missing",
    );
    let detail = "invalid template, generated names would not be valid Kubernetes object names: a lowercase RFC 1123 subdomain must consist of \
                  lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex \
                  used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    both(
        naming("A-{{ .random }}").each_ref().map(String::as_str),
        paths,
        detail,
    );
    both(
        naming("{{ .nobody }}-{{ .random }}")
            .each_ref()
            .map(String::as_str),
        paths,
        detail,
    );
    let long = format!(
        "{{{{ .cluster.name }}}}-{}.{{{{ .random }}}}",
        "a".repeat(80)
    );
    for template in [
        "{{ .cluster.name }}-{{ .kubeadmControlPlane.name }}-{{ .random }}",
        &long,
    ] {
        naming(template)
            .iter()
            .zip([V1Beta1, V1Beta2])
            .for_each(|(fields, version)| check(&control_plane_of(version, fields), &[]));
    }
    let labels = [
        "machineTemplate: {infrastructureRef: {apiVersion: a.b/v1, kind: M, name: m}, metadata: {labels: {a: -}}}",
        "machineTemplate: {spec: {infrastructureRef: {apiGroup: a.b, kind: M, name: m}}, metadata: {labels: {a: -}}}",
    ];
    for (fields, version) in labels.into_iter().zip([V1Beta1, V1Beta2]) {
        let given = told(&control_plane_of(version, fields), &[]);
        assert!(
            given[0].contains(
                "spec.machineTemplate.metadata.labels: a valid label must be an empty string or"
            ),
            "{given:?}"
        );
    }
    check(
        &control_plane_of(
            V1Beta1,
            "machineTemplate: {infrastructureRef: {apiVersion: v1, name: m}}",
        ),
        &[
            &refused("machineTemplate.infrastructureRef.kind", "cannot be empty"),
            &refused(
                "machineTemplate.infrastructureRef.apiVersion",
                "cannot be empty",
            ),
        ],
    );
}

#[test]
fn what_only_the_control_plane_asks_of_its_config_is_asked() {
    let config =
        |fields: &str| format!("kubeadmConfigSpec: {{clusterConfiguration: {{{fields}}}}}");
    let above = "spec.kubeadmConfigSpec.clusterConfiguration";
    for (fields, path, detail) in [
        (
            "certificateValidityPeriodDays: 400, caCertificateValidityPeriodDays: 300",
            "certificateValidityPeriodDays",
            "must be less than or equal to caCertificateValidityPeriodDays (300)",
        ),
        (
            "dns: {imageTag: 'v1:2'}",
            "dns.imageTag",
            "tag v1:2 is invalid",
        ),
        (
            "dns: {imageTag: latest}",
            "dns.imageTag",
            "failed to parse CoreDNS version: Invalid character(s) found in major number \"0latest\"",
        ),
        (
            "etcd: {local: {imageTag: 'a b'}}",
            "etcd.local.imageTag",
            "tag a b is invalid",
        ),
        (
            "etcd: {local: {imageTag: a}, external: {endpoints: [x], caFile: a, certFile: b, keyFile: c}}",
            "etcd.local",
            "cannot have both external and local etcd",
        ),
    ] {
        let text = control_plane_of(Version::V1Beta2, &config(fields));
        check(
            &text,
            &[&format!(
                "config-admission-refused]: {above}.{path}: {detail}"
            )],
        );
    }
    check(
        &control_plane_of(
            Version::V1Beta2,
            &config("dns: {imageTag: v1.12.1_custom.2}"),
        ),
        &[],
    );
    check(
        &control_plane_of(
            Version::V1Beta2,
            &config("certificateValidityPeriodDays: 400, caCertificateValidityPeriodDays: 400"),
        ),
        &[],
    );
    let before = format!(
        "rollout: {{before: {{certificatesExpiryDays: 30}}}}, {}",
        config("certificateValidityPeriodDays: 30")
    );
    let refusal = "rollout.before.certificatesExpiryDays: must be less than certificateValidityPeriodDays (30)";
    check(
        &control_plane_of(Version::V1Beta2, &before),
        &[&format!("config-admission-refused]: spec.{refusal}")],
    );
    // Without a strategy the webhook of the template looks no further.
    check(&template_of(Version::V1Beta2, &before), &[]);
    let with_strategy = before.replace("rollout: {", "rollout: {strategy: {type: RollingUpdate}, ");
    check(
        &template_of(Version::V1Beta2, &with_strategy),
        &[&format!(
            "config-admission-refused]: spec.template.spec.{refusal}"
        )],
    );
}

#[test]
fn fields_of_v1beta1_are_shown_as_v1beta2_has_them() {
    let check = |more: &str, expected: &str| {
        let (_, _, talk) = render_text(
            &control_plane_of(Version::V1Beta2, more),
            &["render", "-", "--all"],
        );
        assert!(
            talk.contains(&format!("  = help: {expected}\n")),
            "{more}\n{talk}"
        );
    };
    check(
        "rolloutStrategy: {type: RollingUpdate}",
        r#"write `rollout: {strategy: {"type":"RollingUpdate"}}`"#,
    );
    check(
        "rolloutBefore: {certificatesExpiryDays: 21}",
        r#"write `rollout: {before: {"certificatesExpiryDays":21}}`"#,
    );
    check(
        "rolloutAfter: 2026-01-02T03:04:05Z",
        r#"write `rollout: {after: "2026-01-02T03:04:05Z"}`"#,
    );
    check(
        "machineNamingStrategy: {template: 'a-{{ .random }}'}",
        r#"write `machineNaming: {"template":"a-{{ .random }}"}`"#,
    );
    check(
        "remediationStrategy: {maxRetry: 3, retryPeriod: 5m, minHealthyPeriod: x}",
        r#"write `remediation: {"maxRetry":3,"minHealthyPeriodSeconds":"SECONDS","retryPeriodSeconds":300}`"#,
    );
    let machine = "machineTemplate: {infrastructureRef: {apiVersion: a.b/v1beta1, kind: M, name: m, namespace: n}, nodeDrainTimeout: 2m}";
    check(
        machine,
        r#"write `spec: {infrastructureRef: {"apiGroup":"a.b","kind":"M","name":"m"}}` below `machineTemplate`"#,
    );
    check(
        machine,
        r#"write `spec: {deletion: {"nodeDrainTimeoutSeconds":120}}` below `machineTemplate`"#,
    );
    check(
        "machineTemplate: {spec: {infrastructureRef: {apiVersion: a.b/v1beta1, kind: M, name: m}, nodeDrainTimeout: 1h}}",
        r#"write `apiGroup: "a.b"`"#,
    );
    check(
        "machineTemplate: {spec: {infrastructureRef: {apiGroup: a.b, kind: M, name: m}, nodeDrainTimeout: 1h}}",
        r#"write `spec: {deletion: {"nodeDrainTimeoutSeconds":3600}}` below `machineTemplate`"#,
    );
    let (_, _, talk) = render_text(
        &template_of(Version::V1Beta2, "rolloutStrategy: {type: RollingUpdate}"),
        &["render", "-", "--all"],
    );
    assert!(
        talk.contains(r#"  = help: write `rollout: {strategy: {"type":"RollingUpdate"}}`"#),
        "{talk}"
    );
}
