//! What the rules about components say, in their words: what is missing, what to write instead, and
//! whom it breaks.

use serde_json::{Value, json};

use crate::support::{root, windlass};

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n";

/// What `release check v0.2.0` says of a release with some files, beside a metadata.yaml.
fn report(files: &[(&str, &str)]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(
        root().join("tests/gate/base/metadata.yaml"),
        folder.path().join("metadata.yaml"),
    )
    .unwrap();
    files
        .iter()
        .for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
    let output = windlass(folder.path())
        .args(["release", "check", "v0.2.0", ".", "-o", "json"])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn checked(files: &[(&str, &str)]) -> Vec<Value> {
    report(files)["findings"].as_array().unwrap().clone()
}

/// What a rule finds in components with some objects, beside their Namespace.
fn found(rule: &str, objects: &str) -> Vec<Value> {
    let mut found = checked(&[(
        "infrastructure-components.yaml",
        &format!("{NAMESPACE}---\n{objects}"),
    )]);
    found.retain(|finding| finding["rule"] == rule);
    found
}

fn text<'f>(finding: &'f Value, field: &str) -> &'f str {
    finding[field].as_str().unwrap_or_default()
}

/// The only finding of a rule: its message and its help.
fn said(rule: &str, objects: &str) -> [String; 2] {
    let found = found(rule, objects);
    let [finding] = found.as_slice() else {
        panic!("{rule}: {found:?}\n{objects}")
    };
    ["message", "help"].map(|field| text(finding, field).to_owned())
}

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: foo-system}
spec:
  template:
    metadata: {labels: {app: foo, tier: x}}
    spec:
      containers:
      - {name: manager, image: \"ghcr.io/a/b:v0.2.0\", ports: [{name: webhook-server, containerPort: 9443}]}
";

fn service(spec: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Service\nmetadata: {{name: svc, namespace: foo-system}}\nspec: {spec}\n"
    )
}

/// A webhook; `more` is what it has beside its name.
fn webhook(more: &str) -> String {
    format!(
        "---\napiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {{name: w}}\nwebhooks:\n\
         - {{name: a.foo.dev, sideEffects: None, admissionReviewVersions: [v1], {more}}}\n"
    )
}

/// A CRD, with what its spec has beside its names.
fn crd(group: &str, more: &str) -> String {
    format!(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: foos.{group}}}\nspec:\n  group: {group}\n  \
         names: {{kind: Foo, listKind: FooList, plural: foos, singular: foo}}\n  scope: Namespaced\n  {more}\n"
    )
}

/// Versions of a CRD, `v1` and so on, all of them served.
fn versions(count: usize) -> String {
    let version = |at: usize| {
        format!(
            "{{name: v{at}, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object}}}}}}",
            at == 1
        )
    };
    format!(
        "versions: [{}]",
        (1..=count).map(version).collect::<Vec<_>>().join(", ")
    )
}

/// API reference, WebhookClientConfig: the port is 443 where none is named.
#[test]
fn ports_that_a_service_lacks_are_named_with_those_that_it_has() {
    let rule = "components-webhook-unreachable";
    let called = "webhook a.foo.dev of MutatingWebhookConfiguration/w calls port 443 of Service/svc, which has";
    for (ports, has, help) in [
        (
            "[]",
            "no port",
            "add `ports: [{port: 443, targetPort: webhook-server}]` to the Service",
        ),
        (
            "[{port: 8443}]",
            "port 8443",
            "write `port: 8443` in `clientConfig.service`, or give the Service `port: 443`",
        ),
        (
            "[{port: 9443, name: a}, {port: 8443, name: b}]",
            "ports 9443, 8443",
            "write `port: 9443` in `clientConfig.service`, or give the Service `port: 443`",
        ),
    ] {
        let service = service(&format!("{{selector: {{app: foo}}, ports: {ports}}}"));
        let objects = format!(
            "{DEPLOYMENT}{service}{}",
            webhook("clientConfig: {service: {name: svc}}")
        );
        assert_eq!(
            said(rule, &objects),
            [format!("{called} {has}"), help.to_owned()]
        );
    }
    let conversion = "conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: svc, port: 444}}}}";
    let service = service("{selector: {app: foo}, ports: [{port: 443}]}");
    let objects = |count: usize| {
        format!(
            "{DEPLOYMENT}{service}{}",
            crd("foo.dev", &format!("{conversion}\n  {}", versions(count)))
        )
    };
    let [message, _] = said(rule, &objects(2));
    assert_eq!(
        message,
        "the conversion of CustomResourceDefinition/foos.foo.dev calls port 444 of Service/svc, which has port 443"
    );
    assert_eq!(
        found(rule, &objects(1)),
        [Value::Null; 0],
        "nothing is converted"
    );
}

/// The note and the words of the API server are those of whom it concerns.
#[test]
fn a_service_without_pods_breaks_the_webhook_or_whoever_uses_it() {
    let lonely = service("{selector: {app: bar}, ports: [{port: 443}]}");
    let of_webhook = found(
        "components-webhook-unreachable",
        &format!(
            "{DEPLOYMENT}{lonely}{}",
            webhook("clientConfig: {service: {name: svc}}")
        ),
    );
    let of_nobody = found(
        "components-service-unreachable",
        &format!("{DEPLOYMENT}{lonely}"),
    );
    for (found, note, upstream) in [
        (
            of_webhook,
            "the API server refuses each request for which it has to call the webhook",
            Value::from("no endpoints available for service \"svc\""),
        ),
        (
            of_nobody,
            "whoever uses the Service gets no answer",
            Value::Null,
        ),
    ] {
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            found[0]["message"],
            "Service/svc selects pods with `app: bar`, which no workload of the components makes"
        );
        assert_eq!(
            (&found[0]["notes"], &found[0]["upstream"]),
            (&json!([note]), &upstream)
        );
    }
}

/// Of the labels of the pods those are written that the selector asks for; all of them where it
/// asks for none of theirs.
#[test]
fn selectors_are_corrected_by_the_labels_of_the_pods() {
    let rule = "components-service-unreachable";
    for (selector, deployment, help) in [
        (
            "{app: bar}",
            DEPLOYMENT,
            "write `selector: {app: foo}` for the pods of Deployment/d",
        ),
        (
            "{app: bar, tier: y}",
            DEPLOYMENT,
            "write `selector: {app: foo, tier: x}` for the pods of Deployment/d",
        ),
        (
            "{other: bar}",
            DEPLOYMENT,
            "write `selector: {app: foo, tier: x}` for the pods of Deployment/d",
        ),
        (
            "{app: bar}",
            "",
            "remove the Service, or add what it is for",
        ),
    ] {
        let [_, told] = said(
            rule,
            &format!(
                "{deployment}{}",
                service(&format!("{{selector: {selector}}}"))
            ),
        );
        assert_eq!(told, help, "{selector}");
    }
    let port = service("{selector: {app: foo}, ports: [{port: 1, targetPort: https}]}");
    let unnamed = DEPLOYMENT.replace("name: webhook-server, ", "");
    let two = DEPLOYMENT.replace("ports: [", "ports: [{name: a, containerPort: 1}, ");
    for (deployment, has) in [
        (DEPLOYMENT, "port webhook-server"),
        (&unnamed, "no port"),
        (&two, "ports a, webhook-server"),
    ] {
        let [message, _] = said(rule, &format!("{deployment}{port}"));
        assert_eq!(
            message,
            format!("spec.ports[0].targetPort of Service/svc is https, but Deployment/d has {has}")
        );
    }
}

/// A placeholder of kustomize is a finding by itself, and what refers by it is not told again.
#[test]
fn a_placeholder_is_told_once() {
    let called = webhook("clientConfig: {service: {name: $(SERVICE_NAME)}}");
    let rules: Vec<Value> = checked(&[(
        "infrastructure-components.yaml",
        &format!("{NAMESPACE}{called}"),
    )])
    .into_iter()
    .map(|finding| finding["rule"].clone())
    .filter(|rule| rule != "components-provider-label-missing")
    .collect();
    assert_eq!(rules, ["components-placeholder-left"]);
}

/// Texts of ConfigMaps and Secrets are somebody else's; their names, and fields of that name in
/// other objects, are not.
#[test]
fn placeholders_are_found_beside_files() {
    let rule = "components-placeholder-left";
    let object = |kind: &str, rest: &str| {
        format!(
            "---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: a, namespace: foo-system}}\n{rest}\n"
        )
    };
    let paths = |objects: &str| {
        found(rule, objects)
            .iter()
            .map(|found| text(found, "path").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        paths(&object(
            "ConfigMap",
            "data: {a: $(NAME)}\nbinaryData: {b: $(NAME)}"
        )),
        [""; 0]
    );
    assert_eq!(
        paths(&object("Secret", "stringData: {a: $(NAME)}")),
        [""; 0]
    );
    assert_eq!(paths(&object("Secret", "type: $(TYPE)")), ["type"]);
    assert_eq!(
        paths(&object("ServiceAccount", "data: {a: $(NAME)}")),
        ["data.a"]
    );
    assert_eq!(
        paths(&object("ServiceAccount", "schema: {a: [x, $(NAME)]}")),
        ["schema.a[1]"]
    );
}

/// Whether requests fail decides which rule tells it, not what is told.
#[test]
fn services_that_are_not_there_are_named_with_what_calls_them() {
    let call = |policy: &str| {
        webhook(&format!(
            "failurePolicy: {policy}, clientConfig: {{service: {{name: svk}}}}"
        ))
    };
    let calls = "webhook a.foo.dev of MutatingWebhookConfiguration/w calls Service svk, which the components do not contain";
    let near = format!("{DEPLOYMENT}{}", service("{ports: [{port: 443}]}"));
    let help = "write `name: svc`, or add Service svk to the file";
    assert_eq!(
        said(
            "components-webhook-service-missing",
            &format!("{near}{}", call("Fail"))
        ),
        [calls, help]
    );
    assert_eq!(
        said(
            "components-webhook-service-absent",
            &format!("{near}{}", call("Ignore"))
        ),
        [calls, help]
    );
    assert_eq!(
        said(
            "components-webhook-service-missing",
            &format!("{DEPLOYMENT}{}", call("Fail"))
        ),
        [calls, "add Service svk to the file"]
    );
}

/// A webhook for a resource, with a rule of some groups and versions.
fn webhook_for(groups: &str, of_versions: &str, resource: &str) -> String {
    let rule = format!(
        "{{apiGroups: [{groups}], apiVersions: [{of_versions}], operations: [CREATE], resources: [{resource}]}}"
    );
    webhook(&format!(
        "clientConfig: {{url: \"https://example.com\"}}, rules: [{rule}]"
    ))
}

#[test]
fn resources_that_no_crd_has_are_told_with_the_groups() {
    let rule = "components-webhook-resource-unknown";
    let groups = |count: usize| {
        (1..=count)
            .map(|at| format!("g{at}.dev"))
            .collect::<Vec<_>>()
    };
    let crds: String = groups(9)
        .iter()
        .map(|group| crd(group, &versions(1)))
        .collect();
    let place = "webhooks[0].rules[0].resources[0] of MutatingWebhookConfiguration/w is";
    for (count, resource, has, help) in [
        (
            1,
            "machines",
            "group g1.dev",
            "name resources by their plural: foos",
        ),
        (1, "foo", "group g1.dev", "write `foos`"),
        (2, "fooz", "groups g1.dev, g2.dev", "write `foos`"),
        (
            8,
            "foo",
            "groups g1.dev, g2.dev, g3.dev, g4.dev, g5.dev, g6.dev, g7.dev, g8.dev",
            "write `foos`",
        ),
        (
            9,
            "foo",
            "groups g1.dev, g2.dev, g3.dev, g4.dev, g5.dev, g6.dev, g7.dev, g8.dev, …",
            "write `foos`",
        ),
    ] {
        let objects = format!(
            "{crds}{}",
            webhook_for(&groups(count).join(", "), "v1", resource)
        );
        let message = format!("{place} {resource}, which no CRD of {has} has");
        assert_eq!(said(rule, &objects), [message, help.to_owned()]);
    }
}

/// The versions that are served are listed, eight at most.
#[test]
fn resources_that_are_not_served_are_told_with_the_versions() {
    let rule = "components-webhook-resource-unknown";
    let message = "webhooks[0].rules[0].resources[0] of MutatingWebhookConfiguration/w is foos, which is served in no version of the rule";
    for (count, named) in [
        (1, "v1"),
        (2, "v1, v2"),
        (8, "v1, v2, v3, v4, v5, v6, v7, v8"),
        (9, "v1, v2, v3, v4, v5, v6, v7, v8, …"),
    ] {
        let objects = format!(
            "{}{}",
            crd("foo.dev", &versions(count)),
            webhook_for("foo.dev", "v0", "foos")
        );
        assert_eq!(
            said(rule, &objects),
            [
                message.to_owned(),
                format!("write `apiVersions: [{named}]` in the rule")
            ]
        );
    }
    let objects = |of_versions: &str| {
        format!(
            "{}{}",
            crd("foo.dev", &versions(2)),
            webhook_for("foo.dev", of_versions, "foos")
        )
    };
    for of_versions in ["v1", "v2", "v0, v2", "\"*\""] {
        assert_eq!(
            found(rule, &objects(of_versions)),
            [Value::Null; 0],
            "{of_versions}"
        );
    }
}

/// Cluster API, "IPAM provider contract": the claims and the addresses are the core's, and a
/// provider of the group may have webhooks for them.
#[test]
fn claims_of_addresses_are_of_the_core() {
    let rule = "components-webhook-resource-unknown";
    let objects = |group: &str, resource: &str| {
        format!(
            "{}{}",
            crd(group, &versions(1)),
            webhook_for(group, "v1", resource)
        )
    };
    for resource in ["ipaddressclaims", "ipaddresses", "ipaddresses/status"] {
        assert_eq!(
            found(rule, &objects("ipam.cluster.x-k8s.io", resource)),
            [Value::Null; 0],
            "{resource}"
        );
        assert_eq!(
            found(rule, &objects("foo.dev", resource)).len(),
            1,
            "{resource}"
        );
    }
    assert_eq!(
        found(rule, &objects("ipam.cluster.x-k8s.io", "ipaddresspools")).len(),
        1
    );
}

/// A kind of another group has a name of its own accord.
#[test]
fn configurations_are_those_of_the_api_server() {
    let rule = "components-webhook-refused";
    let bad = webhook("clientConfig: {url: \"https://example.com\"}")
        .replace("sideEffects: None", "sideEffects: Some");
    let message = "webhooks[0].sideEffects of MutatingWebhookConfiguration/w is `Some`, which the API server refuses";
    assert_eq!(said(rule, &bad), [message, "write `sideEffects: None`"]);
    assert_eq!(
        found(
            rule,
            &bad.replace("admissionregistration.k8s.io", "foo.dev")
        ),
        [Value::Null; 0]
    );
    assert_eq!(
        found(rule, &bad.replace("kind: Mutating", "kind: Other")),
        [Value::Null; 0]
    );
}

/// Deployments with one image each, by their names.
fn with_images(images: &[(&str, &str)]) -> String {
    let one = |(name, image): &(&str, &str)| {
        let deployment = DEPLOYMENT.replace("{name: d,", &format!("{{name: {name},"));
        format!("---\n{}", deployment.replace("ghcr.io/a/b:v0.2.0", image))
    };
    images.iter().map(one).collect()
}

/// Git, `git describe`: the number of commits since the tag, and `g` before the commit. Anything
/// else behind the version is a variant.
#[test]
fn tags_behind_the_version_are_variants_or_later_builds() {
    let later = [
        "5-gcafe",
        "5-g1a2b3c4",
        "alpine-5-g1a2b3c4",
        "next",
        "alpine.next",
        "Dirty",
        "rc.1",
        "pre",
        "alpha.1",
        "beta.2",
        "dev",
    ];
    let variants = [
        "debian",
        "5-gab",
        "5-gcab",
        "5-gnome",
        "arm-gcafe",
        "x.gcafe",
        "22.04",
        "5",
        "gcafe",
        "nextcloud",
        "--gcafe",
    ];
    let images: Vec<(String, String)> = later
        .iter()
        .chain(&variants)
        .enumerate()
        .map(|(at, rest)| (format!("d{at}"), format!("ghcr.io/a/b:v0.2.0-{rest}")))
        .collect();
    let images: Vec<(&str, &str)> = images
        .iter()
        .map(|(name, image)| (name.as_str(), image.as_str()))
        .collect();
    let told = found("components-image-version-other", &with_images(&images));
    let told: Vec<[&str; 2]> = told
        .iter()
        .map(|found| ["message", "help"].map(|field| text(found, field)))
        .collect();
    let expected: Vec<[String; 2]> = later
        .iter()
        .enumerate()
        .map(|(at, rest)| {
            let tag = format!("v0.2.0-{rest}");
            let message = format!("image `ghcr.io/a/b:{tag}` of Deployment/d{at} has the tag `{tag}`, but the release is v0.2.0");
            [message, "write `image: ghcr.io/a/b:v0.2.0`".to_owned()]
        })
        .collect();
    assert_eq!(told, expected);
}

/// A digest is that of the image which is not meant.
#[test]
fn another_version_is_corrected_without_its_digest() {
    let image = format!("ghcr.io/a/b:dev@sha256:{}", "a".repeat(64));
    let [message, help] = said(
        "components-image-version-other",
        &with_images(&[("d", &image)]),
    );
    assert_eq!(
        message,
        format!("image `{image}` of Deployment/d has the tag `dev`, but the release is v0.2.0")
    );
    assert_eq!(help, "write `image: ghcr.io/a/b:v0.2.0`");
}

#[test]
fn images_are_corrected() {
    let digest = format!("@sha256:{}", "a".repeat(64));
    let pinned = format!("gcr.io/k8s-staging-x/b{digest}");
    for (rule, image, what, help) in [
        (
            "components-image-unreleased",
            "ghcr.io/a/b",
            "has no tag, so it is another one tomorrow",
            "write the image of the release: `image: ghcr.io/a/b:v0.2.0`",
        ),
        (
            "components-image-unreleased",
            "ghcr.io/a/b:Main",
            "has the tag `Main`, so it is another one tomorrow",
            "write the image of the release: `image: ghcr.io/a/b:v0.2.0`",
        ),
        (
            "components-image-unreleased",
            &pinned,
            "comes from a staging registry, where nobody promises to keep it",
            "write the image of the release: `image: REGISTRY/b:v0.2.0`",
        ),
        (
            "components-image-registry-gone",
            "gcr.io/kubebuilder/kube-rbac-proxy:v0.13.1",
            "cannot be pulled: gcr.io/kubebuilder is gone since March 18, 2025",
            "write `image: quay.io/brancz/kube-rbac-proxy:v0.13.1`, or remove the container",
        ),
        (
            "components-image-registry-gone",
            "gcr.io/kubebuilder/wait:v1",
            "cannot be pulled: gcr.io/kubebuilder is gone since March 18, 2025",
            "name a registry that has it",
        ),
        (
            "components-image-registry-frozen",
            "k8s.gcr.io/pause:3.8",
            "comes from k8s.gcr.io, which is frozen since April 3, 2023",
            "write `image: registry.k8s.io/pause:3.8`",
        ),
    ] {
        let message = format!("image `{image}` of Deployment/d {what}");
        assert_eq!(
            said(rule, &with_images(&[("d", image)])),
            [message, help.to_owned()]
        );
    }
}

/// What two providers of a release share is told once for each object, and a Namespace is to be
/// another.
#[test]
fn what_two_providers_share_is_told_with_what_to_do() {
    let role = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: foo-system-r}\nrules: []\n";
    let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: foo-system}\n";
    let components = format!("{NAMESPACE}{role}{map}");
    let mut found = checked(&[
        ("infrastructure-components.yaml", &components),
        ("bootstrap-components.yaml", &components),
    ]);
    found.retain(|finding| finding["rule"] == "release-object-shared");
    let told: Vec<[&str; 2]> = found
        .iter()
        .map(|found| ["message", "help"].map(|field| text(found, field)))
        .collect();
    let in_both = |object: &str| {
        format!(
            "{object} is in ./bootstrap-components.yaml too, and each of the two providers takes it for its own"
        )
    };
    let expected = [
        [
            in_both("Namespace/foo-system"),
            "give each provider a Namespace of its own".to_owned(),
        ],
        [
            in_both("ClusterRole/foo-system-r"),
            "leave it to one of the files, or give the objects different names".to_owned(),
        ],
    ];
    assert_eq!(told, expected);
}

/// Most objects have a label of the wrong form: the right one is still that with the type.
#[test]
fn the_label_with_the_type_is_the_right_one() {
    let labelled = |name: &str, label: &str| {
        format!(
            "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {name}, namespace: foo-system, labels: {{cluster.x-k8s.io/provider: {label}}}}}\n"
        )
    };
    let objects = |right: &str| {
        format!(
            "{}{}{}",
            labelled("a", "foo"),
            labelled("b", "foo"),
            labelled("c", right)
        )
    };
    let wrong = |label: &str| {
        format!("label cluster.x-k8s.io/provider of ServiceAccount/a is `foo`, not `{label}`")
    };
    let rule = "components-provider-label-wrong";
    let [message, help] = said(rule, &objects("infrastructure-bar"));
    assert_eq!(
        (message, help.as_str()),
        (
            wrong("infrastructure-bar"),
            "write `cluster.x-k8s.io/provider: infrastructure-bar`"
        )
    );
    let told: Vec<String> = found(rule, &objects("bootstrap-bar"))
        .iter()
        .map(|found| text(found, "message").to_owned())
        .collect();
    let other = "label cluster.x-k8s.io/provider of ServiceAccount/c is `bootstrap-bar`, not `infrastructure-foo`";
    assert_eq!(told, [wrong("infrastructure-foo"), other.to_owned()]);
}

/// Book, "Variables": the prefix is that of the provider; some are usual, some the core's.
#[test]
fn variables_of_other_programs_are_told() {
    let map = |names: &[&str]| {
        let data: String = names
            .iter()
            .map(|name| format!("  {}: ${{{name}:=x}}\n", name.to_lowercase()))
            .collect();
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: foo-system, labels: {{cluster.x-k8s.io/provider: infrastructure-foo}}}}\ndata:\n{data}"
        )
    };
    let rule = "components-variable-unprefixed";
    let right = [
        "FOO_A",
        "EXP_A",
        "CAPA_A",
        "CAPFOO_LEVEL",
        "CLUSTER_TOPOLOGY",
        "KUBEADM_BOOTSTRAP_TOKEN_TTL",
    ];
    assert_eq!(found(rule, &map(&right)), [Value::Null; 0]);
    for (names, message, help) in [
        (
            &["HTTP_PROXY"][..],
            "variable HTTP_PROXY does not begin with the name of the provider",
            "call it `${FOO_HTTP_PROXY}`",
        ),
        (
            &["CAP_A", "CAPACITY", "EXPERT_A", "FOO_A", "LOG_LEVEL"],
            "variables do not begin with the name of the provider: CAPACITY, CAP_A, EXPERT_A, LOG_LEVEL",
            "call it `${FOO_CAPACITY}`",
        ),
    ] {
        assert_eq!(said(rule, &map(names)), [message, help]);
    }
}

/// Book, "Labels": the provider is the one that the label with its type names; a name without the
/// type is taken for its name.
#[test]
fn the_provider_is_that_of_its_label() {
    for (labels, provider) in [
        (&["infrastructure-a"][..], "infrastructure-a"),
        (&["infrastructure-", "infrastructure-a"], "infrastructure-a"),
        (
            &["other", "infrastructure-foo", "infrastructure-a"],
            "infrastructure-foo",
        ),
        (
            &["a-provider-with-a-long-name"],
            "infrastructure-a-provider-with-a-long-name",
        ),
        (
            &["a-provider-with-a-long-name", "infrastructure-a"],
            "infrastructure-a",
        ),
        (&["", "foo"], "infrastructure-foo"),
        (&[""], "infrastructure-unnamed"),
    ] {
        let object = |(at, label): (usize, &&str)| {
            format!(
                "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: a{at}, labels: {{cluster.x-k8s.io/provider: \"{label}\"}}}}\n"
            )
        };
        let objects: String = labels.iter().enumerate().map(object).collect();
        let report = report(&[(
            "infrastructure-components.yaml",
            &format!("{NAMESPACE}{objects}"),
        )]);
        assert_eq!(report["providers"], json!([provider]), "{labels:?}");
    }
}
