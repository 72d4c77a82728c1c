//! Random templates, variables, configurations and repositories, and calls that use them.

use std::path::Path;

use serde_json::{Value, json};

use super::sides::Call;
use crate::harness::random::{Random, TEXTS};

const NAMES: [&str; 8] = [
    "A",
    "B",
    "LONG_NAME",
    "_c",
    "D9",
    "CLUSTER_NAME",
    "NAMESPACE",
    "WORKER_MACHINE_COUNT",
];
const VERSIONS: [&str; 8] = [
    "v0.1.0",
    "v0.1.3",
    "v0.2.0",
    "v1.0.0-rc.1",
    "v1.0.0",
    "v1.10.2",
    "v2.0.0-alpha.1",
    "not-a-version",
];
const TYPES: [&str; 8] = [
    "CoreProvider",
    "BootstrapProvider",
    "ControlPlaneProvider",
    "InfrastructureProvider",
    "IPAMProvider",
    "RuntimeExtensionProvider",
    "AddonProvider",
    "NoProvider",
];

/// Some calls about one random repository, configuration, template and environment, in a folder
/// that is made for them.
pub(super) fn calls(random: &mut Random, folder: &Path) -> Vec<Call> {
    // Half of all are so that nearly anything in them may be rejected.
    let wild = random.percent(50);
    std::fs::create_dir_all(folder).expect("the folder can be written");
    write(&folder.join("t.yaml"), &template(random, wild));
    repository(random, wild, &folder.join("repository/infrastructure-foo"));
    write(
        &folder.join("clusterctl.yaml"),
        &configuration(random, folder).to_string(),
    );
    if random.percent(25) {
        let overrides = folder
            .join("overrides/infrastructure-foo")
            .join(random.of(&VERSIONS));
        write(
            &overrides.join("infrastructure-components.yaml"),
            &components(random, wild),
        );
        write(
            &overrides.join("cluster-template.yaml"),
            &template(random, wild),
        );
    }
    let environment = NAMES
        .iter()
        .filter(|_| !wild || random.percent(85))
        .map(|name| (*name).to_owned())
        .collect::<Vec<_>>();
    let environment: Vec<(String, String)> = environment
        .into_iter()
        .map(|name| (name, value(random, wild)))
        .collect();
    let count = 2 + random.below(2);
    (0..count)
        .map(|_| Call {
            title: folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            folder: folder.to_path_buf(),
            arguments: arguments(random),
            environment: environment.clone(),
        })
        .collect()
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a file is in a folder"))
        .expect("the folder can be written");
    std::fs::write(path, text).expect("the folder can be written");
}

fn arguments(random: &mut Random) -> Vec<String> {
    let version = if random.percent(80) {
        format!("foo:{}", random.of(&VERSIONS))
    } else {
        random.of(&["foo", "bar:v1.0.0", "foo:"]).to_owned()
    };
    let mut arguments: Vec<&str> = match random.below(10) {
        0..=2 => vec!["generate", "yaml", "--from", "t.yaml"],
        3..=4 => vec!["generate", "cluster", "c1", "--from", "t.yaml"],
        5..=6 => vec!["generate", "cluster", "c1", "-i", &version],
        7..=8 => vec!["generate", "provider", "--infrastructure", &version],
        _ => vec!["config", "repositories"],
    };
    let command = arguments[1];
    let mut maybe = |percent: usize, more: &[&'static str]| {
        if random.percent(percent) {
            arguments.extend(more);
        }
    };
    maybe(96, &["--config", "clusterctl.yaml"]);
    if ["yaml", "cluster"].contains(&command) {
        maybe(25, &["--list-variables"]);
    }
    if command == "cluster" {
        maybe(94, &["--target-namespace", "ns1"]);
        maybe(70, &["--kubernetes-version", "v1.34.1"]);
        maybe(30, &["--worker-machine-count", "7"]);
        maybe(20, &["--flavor", "other"]);
    }
    if command == "provider" {
        maybe(30, &["--target-namespace", "ns1"]);
        maybe(20, &["--describe"]);
        maybe(20, &["--raw"]);
    }
    if command == "repositories" {
        maybe(50, &["-o", "yaml"]);
    }
    arguments.into_iter().map(str::to_owned).collect()
}

/// A value of a variable.
fn value(random: &mut Random, wild: bool) -> String {
    match random.below(5) {
        0 if wild => random.of(TEXTS).to_owned(),
        1 => String::new(),
        2 => random.below(100).to_string(),
        3 => "Some/path/to/a.yaml".to_owned(),
        _ => "abc-DEF".to_owned(),
    }
}

/// A reference to a variable, in all the forms that there are, and in some that there are not.
fn reference(random: &mut Random, wild: bool, depth: usize) -> String {
    let name = random.of(&NAMES);
    let word = if depth < 2 && random.percent(20) {
        reference(random, wild, depth + 1)
    } else {
        random
            .of(if wild {
                &["d", "a b", "", "x-y", "1", "*", "a*", "?", "$"][..]
            } else {
                &["d", "x-y", "1"]
            })
            .to_owned()
    };
    let other = random.of(&["a", "", "A", "/", "."]);
    let number = random.of(if wild {
        &["0", "1", "3", "-1", "99", "x", ""][..]
    } else {
        &["0", "1", "2"]
    });
    match random.below(30) {
        0..=5 | 24..=29 => format!("${{{name}}}"),
        7 => format!("${{ {name} }}"),
        8..=9 => format!("${{{name}:={word}}}"),
        10 => format!("${{ {name} := \"{word}\" }}"),
        11 => format!("${{{name}:-{word}}}"),
        12 => format!(
            "${{{name}{}{word}}}",
            random.of(&["-", "=", "+", ":+", "?", ":?"])
        ),
        13 => format!("${{#{name}}}"),
        14 => format!(
            "${{{name}{}}}",
            random.of(&["^", "^^", ",", ",,", "~", "@U"])
        ),
        15 => format!("${{{name}:{number}}}"),
        16 => format!("${{{name}:{number}:{}}}", random.below(5)),
        17 => format!("${{{name}/{word}/{other}}}"),
        18 => format!(
            "${{{name}{}{word}/{other}}}",
            random.of(&["//", "/#", "/%"])
        ),
        19 => format!("${{{name}{}{word}}}", random.of(&["#", "##", "%", "%%"])),
        20 => format!("$${{{name}}}"),
        21 => format!("${name}"),
        22 if wild && random.percent(20) => random
            .of(&["${", "${}", "${A", "${A:}", "${1A}", "${A B}"])
            .to_owned(),
        22 => "$$".to_owned(),
        _ => "$(date)".to_owned(),
    }
}

/// A scalar: words and references, quoted in one way or another.
fn scalar(random: &mut Random, wild: bool) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(3) {
        text.push_str(&if random.percent(50) {
            reference(random, wild, 0)
        } else {
            random
                .of(&["word", "1", "true", "a b", "x-", "é", "yes"])
                .to_owned()
        });
    }
    match random.below(6) {
        0 => format!("\"{text}\""),
        1 => format!("'{text}'"),
        2 => format!("|\n      {text}\n      second line"),
        _ => text,
    }
}

/// A template of some objects, of which most are well-formed.
fn template(random: &mut Random, wild: bool) -> String {
    let mut documents = vec![format!(
        "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata:\n  name: ${{CLUSTER_NAME}}\n  namespace: {}\nspec:\n  first: {}\n",
        random.of(&["${NAMESPACE}", "default", "\"${NAMESPACE}\"", "ns2"]),
        scalar(random, wild)
    )];
    for index in 0..random.below(4) {
        let kind = random.of(&[
            "Machine",
            "Namespace",
            "ConfigMap",
            "ClusterClass",
            "KubeadmConfigTemplate",
            "List",
        ]);
        let mut document = format!(
            "# {}\napiVersion: {}\nkind: {kind}\n",
            scalar(random, wild).replace('\n', " "),
            random.of(&["v1", "cluster.x-k8s.io/v1beta1"])
        );
        if random.percent(90) {
            document.push_str(&format!(
                "metadata:\n  name: {}\n",
                random.of(&["${CLUSTER_NAME}-md", "fixed", "\"${A}\"", "1"])
            ));
        }
        document.push_str("spec:\n");
        for field in 0..=random.below(4) {
            document.push_str(&format!(
                "  field{index}{field}: {}\n",
                scalar(random, wild)
            ));
        }
        if random.percent(20) {
            document.push_str(&format!(
                "  list:\n  - {}\n  - nested: {}\n",
                scalar(random, wild),
                scalar(random, wild)
            ));
        }
        if wild && random.percent(6) {
            document.push_str(random.of(&["  broken: [\n", "\tx: y\n", "  a: b: c\n", "&x\n"]));
        }
        documents.push(document);
    }
    documents.join(random.of(&["---\n", "---\n", "--- # next\n", "\n---\n\n---\n"]))
}

/// A components file.
fn components(random: &mut Random, wild: bool) -> String {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "foo-system", "labels": {"a": "b"}}});
    let arguments = json!([
        "--leader-elect",
        format!("--level={}", reference(random, wild, 1)),
        "--v=${VERBOSITY:=2}"
    ]);
    let container = json!({"name": "manager", "image": random.of(&["ghcr.io/x/foo:v1", "foo", "localhost:5000/a/foo@sha256:0123", "registry.k8s.io/foo:v1.2.3"]), "args": arguments});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "foo-controller-manager", "namespace": "foo-system"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"c": "d"}}, "template": {
            "metadata": {"labels": {"c": "d"}}, "spec": {"containers": [container], "terminationGracePeriodSeconds": 10}},
        },
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": random.of(&["ClusterRoleBinding", "RoleBinding"]), "metadata": {"name": "foo-binding"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "foo-role"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": random.of(&["foo-system", "default"])}],
    });
    let webhook = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "foo-webhook"},
        "webhooks": [{"name": "a.b.c", "clientConfig": {"service": {"name": "s", "namespace": "foo-system", "path": "/x"}}, "sideEffects": "None", "admissionReviewVersions": ["v1"]}],
    });
    let certificate = json!({
        "apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "cert", "namespace": "foo-system"},
        "spec": {"dnsNames": ["s.foo-system.svc", "s.foo-system.svc.cluster.local"], "secretName": "x"},
    });
    let key = random.of(TEXTS);
    let odd = json!({"apiVersion": "example.com/v1", "kind": "Odd", "metadata": {"name": random.of(TEXTS)}, "data": {key: random.of(TEXTS)}});
    let mut objects: Vec<Value> = [
        (95, namespace),
        (95, deployment),
        (60, binding),
        (60, webhook),
        (50, certificate),
        (40, odd),
    ]
    .into_iter()
    .filter_map(|(percent, object)| random.percent(percent).then_some(object))
    .collect();
    if random.percent(30) {
        objects.reverse();
    }
    objects
        .iter()
        .map(|object| format!("---\n{object}\n"))
        .collect()
}

/// A repository of one provider with some versions.
fn repository(random: &mut Random, wild: bool, folder: &Path) {
    for version in VERSIONS {
        if random.percent(12) {
            continue;
        }
        let release = folder.join(version);
        write(
            &release.join("infrastructure-components.yaml"),
            &components(random, wild),
        );
        write(
            &release.join("cluster-template.yaml"),
            &template(random, wild),
        );
        if random.percent(60) {
            write(
                &release.join("cluster-template-other.yaml"),
                &template(random, wild),
            );
        }
        if random.percent(96) {
            write(&release.join("metadata.yaml"), &metadata(random));
        }
    }
}

fn metadata(random: &mut Random) -> String {
    let known = [(0, 1), (0, 2), (1, 0), (1, 10), (2, 0)]
        .into_iter()
        .filter(|_| random.percent(85))
        .collect::<Vec<_>>();
    let series: Vec<Value> = known
        .into_iter()
        .map(|(major, minor)| json!({"major": major, "minor": minor, "contract": random.of(&["v1beta2", "v1beta2", "v1beta2", "v1beta2", "v1beta1", "v1alpha4", "v9"])}))
        .collect();
    let kind = if random.percent(95) {
        "Metadata"
    } else {
        "Other"
    };
    json!({"apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": kind, "releaseSeries": series}).to_string()
}

fn configuration(random: &mut Random, folder: &Path) -> Value {
    let version = if random.percent(70) {
        "latest"
    } else {
        "v1.0.0"
    };
    let url = folder
        .join("repository/infrastructure-foo")
        .join(version)
        .join("infrastructure-components.yaml");
    let mut providers = vec![json!({"name": "foo", "type": "InfrastructureProvider", "url": url})];
    for index in 0..random.below(3) {
        // The list of repositories shows them; nothing asks the network for them.
        let name = random.of(&["aws", "kubeadm", "zeta", "n"]);
        providers.push(json!({
            "name": if random.percent(50) { name.to_owned() } else { format!("{name}{index}") },
            "type": if random.percent(95) { random.of(&TYPES[..7]) } else { TYPES[7] },
            "url": random.of(&["https://github.com/o/r/releases/latest/x-components.yaml", "https://gitlab.example.com/api/v4/projects/a%2Fb/packages/generic/x/v1/x.yaml", "/a/b/v1.0.0/x.yaml"]),
        }));
    }
    let mut configuration = json!({"providers": providers});
    if random.percent(40) {
        configuration["images"] = match random.below(3) {
            0 => json!({"all": {"repository": "mirror.example.com/x"}}),
            1 => json!({"infrastructure-foo": {"repository": "mirror.example.com/y", "tag": "v7"}}),
            _ => {
                json!({"all": {"tag": "t1"}, "infrastructure-foo/foo": {"repository": "r.example.com"}})
            }
        };
    }
    if random.percent(30) {
        configuration["overridesFolder"] = json!(folder.join("overrides"));
    }
    for name in NAMES {
        if random.percent(30) {
            configuration[name] = random.of(&[
                json!("configured"),
                json!(7),
                json!(true),
                json!(1.5),
                json!(""),
                json!("a: b"),
            ]);
        }
    }
    configuration
}
