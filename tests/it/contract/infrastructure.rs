//! What the contract demands of infrastructure providers (PK-02 to PK-08), over the CRDs of five
//! providers as they were published: they have it, and of each field that is taken away it is told.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{documents, shared, windlass};

/// A provider: its CRDs in the corpus, the beginning of its kinds, the contract that it fulfils and
/// the version by which it does.
struct Provider {
    crds: &'static str,
    kind: &'static str,
    contract: &'static str,
    version: &'static str,
}

const fn provider(
    crds: &'static str,
    kind: &'static str,
    contract: &'static str,
    version: &'static str,
) -> Provider {
    Provider {
        crds,
        kind,
        contract,
        version,
    }
}

const PROVIDERS: [Provider; 5] = [
    provider(
        "kubernetes-sigs+cluster-api-provider-aws/config/crd/bases",
        "AWS",
        "v1beta1",
        "v1beta2",
    ),
    provider(
        "kubernetes-sigs+cluster-api-provider-azure/config/crd/bases",
        "Azure",
        "v1beta1",
        "v1beta1",
    ),
    provider(
        "metal3-io+cluster-api-provider-metal3/config/crd/bases",
        "Metal3",
        "v1beta2",
        "v1beta2",
    ),
    provider(
        "nutanix-cloud-native+cluster-api-provider-nutanix/config/crd/bases",
        "Nutanix",
        "v1beta1",
        "v1beta1",
    ),
    provider(
        "kubernetes-sigs+cluster-api-provider-vsphere/config/default/crd/bases",
        "VSphere",
        "v1beta2",
        "v1beta2",
    ),
];

impl Provider {
    /// The CRDs of its cluster and machine and of their templates, labelled for its contract.
    fn definitions(&self, corpus: &Path) -> Vec<Value> {
        let plurals = [
            "clusters",
            "machines",
            "clustertemplates",
            "machinetemplates",
        ];
        let read = |plural: &str| {
            let file = format!(
                "infrastructure.cluster.x-k8s.io_{}{plural}.yaml",
                self.kind.to_lowercase()
            );
            let text = std::fs::read(corpus.join(self.crds).join(&file))
                .unwrap_or_else(|error| panic!("{file}: {error}"));
            let [mut crd] = <[Value; 1]>::try_from(documents(&text)).unwrap();
            crd["metadata"]["labels"] =
                json!({format!("cluster.x-k8s.io/{}", self.contract): self.version});
            crd
        };
        plurals.map(read).into()
    }

    fn is_of_v1beta2(&self) -> bool {
        self.contract == "v1beta2"
    }
}

/// The properties at a path of the version by which the contract is fulfilled, below the CRD of a
/// kind; lists are gone through.
fn properties<'v>(
    crds: &'v mut [Value],
    provider: &Provider,
    kind: &str,
    path: &[&str],
) -> &'v mut Value {
    let kind = format!("{}{kind}", provider.kind);
    let crd = crds
        .iter_mut()
        .find(|crd| crd["spec"]["names"]["kind"] == kind)
        .expect("the CRD is there");
    let versions = crd["spec"]["versions"].as_array_mut().unwrap();
    let version = versions
        .iter_mut()
        .find(|version| version["name"] == provider.version)
        .expect("the version is there");
    let mut schema = &mut version["schema"]["openAPIV3Schema"];
    for field in path {
        schema = &mut schema["properties"][*field];
        if schema["type"] == "array" {
            schema = &mut schema["items"];
        }
    }
    &mut schema["properties"]
}

/// Rule and message of what is said about the contract.
fn told(crds: &[Value]) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let text: String = crds.iter().map(|crd| format!("---\n{crd}\n")).collect();
    std::fs::write(folder.path().join("infrastructure-components.yaml"), text).unwrap();
    let output = windlass(folder.path())
        .args(["lint", "infrastructure-components.yaml", "-o", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report in JSON");
    let findings = report["findings"].as_array().unwrap().iter();
    let words = findings.map(|finding| {
        (
            finding["rule"].as_str().unwrap().to_owned(),
            finding["message"].as_str().unwrap().to_owned(),
        )
    });
    words
        .filter(|(rule, _)| {
            rule.starts_with("crd-contract-field") || rule.starts_with("crd-template")
        })
        .collect()
}

/// What is changed in the CRDs, and what is told then: the rule, and words of its message.
type Change = (
    &'static str,
    fn(&mut Vec<Value>, &Provider),
    &'static str,
    fn(&Provider) -> &'static str,
);

const CHANGES: &[Change] = &[
    (
        "PK-02: the cluster does not report",
        |crds, provider| drop_provisioned(crds, provider, "Cluster"),
        "crd-contract-field-missing",
        provisioned,
    ),
    (
        "PK-02: the machine does not report",
        |crds, provider| drop_provisioned(crds, provider, "Machine"),
        "crd-contract-field-missing",
        provisioned,
    ),
    (
        "PK-03: no provider ID",
        |crds, provider| drop_field(crds, provider, "Machine", &["spec"], "providerID"),
        "crd-contract-field-missing",
        |_| "spec.providerID",
    ),
    (
        "PK-03: addresses without type",
        |crds, provider| drop_field(crds, provider, "Machine", &["status", "addresses"], "type"),
        "crd-contract-field-missing",
        |_| "status.addresses[].type",
    ),
    (
        "PK-04: the failure domain is not text",
        |crds, provider| {
            properties(crds, provider, "Machine", &["spec"])["failureDomain"] =
                json!({"type": "integer"});
        },
        "crd-contract-field-type-wrong",
        |_| "spec.failureDomain",
    ),
    (
        "PK-06: no template of machines",
        |crds, provider| {
            crds.retain(|crd| {
                crd["spec"]["names"]["kind"] != format!("{}MachineTemplate", provider.kind)
            });
        },
        "crd-template-kind-missing",
        |_| "MachineTemplate",
    ),
    (
        "PK-06: the template holds no spec",
        |crds, provider| {
            drop_field(
                crds,
                provider,
                "MachineTemplate",
                &["spec", "template"],
                "spec",
            )
        },
        "crd-template-shape-wrong",
        |_| "spec.template.spec",
    ),
    (
        "PK-07: no host of the endpoint",
        |crds, provider| {
            drop_field(
                crds,
                provider,
                "Cluster",
                &["spec", "controlPlaneEndpoint"],
                "host",
            )
        },
        "crd-contract-field-missing",
        |_| "spec.controlPlaneEndpoint.host",
    ),
    (
        "PK-07: the port is a text",
        |crds, provider| {
            properties(crds, provider, "Cluster", &["spec", "controlPlaneEndpoint"])["port"] =
                json!({"type": "string"});
        },
        "crd-contract-field-type-wrong",
        |_| "spec.controlPlaneEndpoint.port",
    ),
    (
        "PK-08: failure domains as the other contract has them",
        |crds, provider| {
            let domain = json!({"type": "object", "properties": {"name": {"type": "string"}}});
            properties(crds, provider, "Cluster", &["status"])["failureDomains"] =
                match provider.is_of_v1beta2() {
                    true => json!({"type": "object", "additionalProperties": domain}),
                    false => json!({"type": "array", "items": domain}),
                };
        },
        "crd-contract-field-type-wrong",
        |_| "status.failureDomains",
    ),
];

fn provisioned(provider: &Provider) -> &'static str {
    if provider.is_of_v1beta2() {
        "status.initialization.provisioned"
    } else {
        "status.ready"
    }
}

fn drop_provisioned(crds: &mut [Value], provider: &Provider, kind: &str) {
    match provider.is_of_v1beta2() {
        true => drop_field(
            crds,
            provider,
            kind,
            &["status", "initialization"],
            "provisioned",
        ),
        false => drop_field(crds, provider, kind, &["status"], "ready"),
    }
}

fn drop_field(crds: &mut [Value], provider: &Provider, kind: &str, path: &[&str], field: &str) {
    let removed = properties(crds, provider, kind, path)
        .as_object_mut()
        .and_then(|fields| fields.remove(field));
    assert!(
        removed.is_some(),
        "{}{kind} has no {}.{field}",
        provider.kind,
        path.join(".")
    );
}

#[test]
fn infrastructure_providers_have_the_fields_of_their_contract() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    for provider in &PROVIDERS {
        let sound = provider.definitions(&corpus);
        assert_eq!(told(&sound), [], "{}", provider.kind);
        for (name, change, rule, words) in CHANGES {
            let mut changed = sound.clone();
            change(&mut changed, provider);
            let told = told(&changed);
            let words = words(provider);
            assert!(
                told.iter()
                    .any(|(found, message)| found == rule && message.contains(words)),
                "{}: {name}: {rule} of {words} is not in {told:?}",
                provider.kind
            );
        }
    }
}
