//! Objects that users give to `release build`: they come out as they went in, but for label,
//! namespace and names, which references follow.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_capi::contract::ProviderType;
use windlass_provider::{self as provider, Inputs, Matched};
use windlass_release::commands::release_build::{self, Order, version};
use windlass_release::emit::release::Release;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;

use crate::support::{self, documents};

const PROVIDER: &str = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: AddonProvider\nnamespace: foo-system\n";
const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";

/// The components of provider `foo` with some more lines in its `provider.yaml`, and what is to say
/// about them.
fn components(more: &str, files: &[(&str, &str)]) -> (Vec<Value>, Report) {
    let release = release(more, files);
    let objects = release
        .files
        .get("addon-components.yaml")
        .map(support::documents)
        .unwrap_or_default();
    (objects, release.report)
}

/// The whole release of provider `foo` with some more lines in its `provider.yaml`.
fn release(more: &str, files: &[(&str, &str)]) -> Release {
    release_of(PROVIDER, more, files)
}

fn release_of(provider: &str, more: &str, files: &[(&str, &str)]) -> Release {
    let (providers, report) = provider::parse(
        &Source::new("provider.yaml", format!("{provider}{more}")),
        &Budget::default(),
    );
    assert!(report.is_empty(), "{report:?}");
    let mut inputs = Inputs::new();
    for (name, text) in files.iter().chain(&[("metadata.yaml", METADATA)]) {
        inputs.insert(
            *name,
            Matched {
                files: vec![Source::new(*name, *text)],
                ..Matched::default()
            },
        );
    }
    release_build::run(
        &providers,
        report,
        &inputs,
        Order::of(&version("v0.1.0").unwrap()),
    )
}

fn sound(more: &str, files: &[(&str, &str)]) -> Vec<Value> {
    let (objects, report) = components(more, files);
    assert!(!report.has_errors(), "{report:#?}");
    objects
}

fn of_kind<'o>(objects: &'o [Value], kind: &str) -> &'o Value {
    objects
        .iter()
        .find(|object| object["kind"] == kind)
        .unwrap()
}

#[test]
fn nothing_is_added_to_own_objects_but_what_is_stamped() {
    let own = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: proxy}\nspec: {template: {spec: {containers: [{name: manager, image: ghcr.io/a/b:v1}]}}}\n\
               ---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: cert}\nspec: {secretName: s}\n\
               ---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b}\nsubjects: [{kind: User, name: u}]\n";
    let objects = sound("objects: [own.yaml]\n", &[("own.yaml", own)]);
    let metadata = |name: &str| json!({"name": name, "namespace": "foo-system", "labels": {"cluster.x-k8s.io/provider": "addon-foo"}});
    for expected in [
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata("foo-proxy"),
               "spec": {"template": {"spec": {"containers": [{"name": "manager", "image": "ghcr.io/a/b:v1"}]}}}}),
        json!({"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": metadata("foo-cert"), "spec": {"secretName": "s"}}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": metadata("foo-b"),
               "subjects": [{"kind": "User", "name": "u"}]}),
    ] {
        assert_eq!(
            of_kind(&objects, expected["kind"].as_str().unwrap()),
            &expected
        );
    }
}

#[test]
fn references_of_the_manager_follow_the_names_of_the_release() {
    let own = "apiVersion: v1\nkind: Secret\nmetadata: {name: credentials}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n";
    let manager = "objects: [own.yaml]
manager:
  image: ghcr.io/a/b
  env:
  - {name: A, valueFrom: {secretKeyRef: {name: credentials, key: a}}}
  - {name: B, valueFrom: {configMapKeyRef: {name: theirs, key: b}}}
  volumes:
  - {name: c, secret: {secretName: credentials}}
  - {name: d, projected: {sources: [{configMap: {name: settings}}, {secret: {name: theirs}}]}}
  sidecars:
  - {name: e, image: ghcr.io/a/c:v1, envFrom: [{configMapRef: {name: settings}}]}
";
    let objects = sound(manager, &[("own.yaml", own)]);
    let pod = &of_kind(&objects, "Deployment")["spec"]["template"]["spec"];
    let environment = pod["containers"][0]["env"].as_array().unwrap();
    let named = |name: &str| {
        environment
            .iter()
            .find(|variable| variable["name"] == name)
            .unwrap()
    };
    assert_eq!(
        named("A")["valueFrom"],
        json!({"secretKeyRef": {"name": "foo-credentials", "key": "a"}})
    );
    assert_eq!(
        named("B")["valueFrom"],
        json!({"configMapKeyRef": {"name": "theirs", "key": "b"}}),
        "no object of the release"
    );
    assert_eq!(
        pod["volumes"],
        json!([
            {"name": "c", "secret": {"secretName": "foo-credentials"}},
            {"name": "d", "projected": {"sources": [{"configMap": {"name": "foo-settings"}}, {"secret": {"name": "theirs"}}]}},
        ])
    );
    assert_eq!(
        pod["containers"][1]["envFrom"],
        json!([{"configMapRef": {"name": "foo-settings"}}])
    );
}

/// What twenty fields would say less well: the patch reaches every part of the Deployment, its
/// references follow, and the manager stays the manager.
#[test]
fn the_manager_is_patched_in_kubernetes_own_terms() {
    let more = "objects: [own.yaml]
namespaceMetadata:
  labels: {pod-security.kubernetes.io/enforce: restricted}
  annotations: {a: b}
manager:
  image: ghcr.io/a/b
  args: [--leader-elect]
  patch:
    metadata: {annotations: {note: x}}
    spec:
      revisionHistoryLimit: 1
      template:
        metadata: {labels: {pod: own}}
        spec:
          priorityClassName: system-cluster-critical
          tolerations: null
          initContainers: [{name: first, image: ghcr.io/a/c:v1, envFrom: [{configMapRef: {name: settings}}]}]
          containers: [{name: manager, imagePullPolicy: Always, livenessProbe: {periodSeconds: 60}}]
";
    let own = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n";
    let objects = sound(more, &[("own.yaml", own)]);
    let namespace = &of_kind(&objects, "Namespace")["metadata"];
    assert_eq!(
        namespace["labels"]["pod-security.kubernetes.io/enforce"],
        "restricted"
    );
    assert_eq!(
        namespace["labels"]["cluster.x-k8s.io/provider"],
        "addon-foo"
    );
    assert_eq!(namespace["annotations"], json!({"a": "b"}));
    let deployment = of_kind(&objects, "Deployment");
    assert_eq!(deployment["metadata"]["annotations"], json!({"note": "x"}));
    assert_eq!(deployment["spec"]["revisionHistoryLimit"], 1);
    let template = &deployment["spec"]["template"];
    assert_eq!(
        (
            &template["metadata"]["labels"]["pod"],
            &template["metadata"]["labels"]["control-plane"]
        ),
        (&json!("own"), &json!("controller-manager"))
    );
    let pod = &template["spec"];
    assert_eq!(
        (&pod["priorityClassName"], pod.get("tolerations")),
        (&json!("system-cluster-critical"), None)
    );
    assert_eq!(
        pod["initContainers"][0]["envFrom"],
        json!([{"configMapRef": {"name": "foo-settings"}}])
    );
    let manager = &pod["containers"][0];
    assert_eq!(
        (&manager["image"], &manager["imagePullPolicy"]),
        (&json!("ghcr.io/a/b:v0.1.0"), &json!("Always"))
    );
    assert_eq!(
        manager["livenessProbe"],
        json!({"httpGet": {"path": "/healthz", "port": "healthz"}, "periodSeconds": 60})
    );
}

/// kubebuilder's roles for people carry labels of Kubernetes' own aggregation; the core takes those
/// over as little as the manager does.
#[test]
fn only_a_role_for_the_core_stands_for_the_made_one() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.addons.foo.dev}\n\
               spec:\n  group: addons.foo.dev\n  names: {kind: Foo, listKind: FooList, plural: foos, singular: foo}\n  scope: Namespaced\n\
              \x20 versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n";
    let role = |label: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r, labels: {{{label}: \"true\"}}}}\n\
             rules: [{{apiGroups: [addons.foo.dev], resources: [foos], verbs: [get]}}]\n"
        )
    };
    let (core, people) = (
        "cluster.x-k8s.io/aggregate-to-manager",
        "rbac.authorization.k8s.io/aggregate-to-view",
    );
    let more = "group: addons.foo.dev\ncontracts: {v1beta2: [v1]}\ncrds: [crd.yaml]\nrbac: {roles: [role.yaml]}\nmanager: {image: ghcr.io/a/b}\n";
    let for_core = |provider: ProviderType, label: &str| {
        let header = PROVIDER.replace(ProviderType::AddonProvider.as_str(), provider.as_str());
        let release = release_of(
            &header,
            more,
            &[("crd.yaml", crd), ("role.yaml", &role(label))],
        );
        let objects = support::documents(release.files.get(&provider.components_file()).unwrap());
        let labelled = objects
            .iter()
            .filter(|object| object["metadata"]["labels"][core] == "true");
        labelled
            .map(|object| object["metadata"]["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let names = for_core(ProviderType::BootstrapProvider, people);
    assert!(
        names.len() == 1 && names[0].ends_with("aggregated-manager-role"),
        "{names:?}"
    );
    let names = for_core(ProviderType::BootstrapProvider, core);
    assert!(
        names.len() == 1 && !names[0].ends_with("aggregated-manager-role"),
        "{names:?}"
    );
    // The core refers to no kind of an add-on.
    assert_eq!(
        for_core(ProviderType::AddonProvider, people),
        Vec::<String>::new()
    );
}

/// `install.yaml` is for those who do not substitute, and only whole: the objects of all providers
/// as clusterctl installs them, with its labels (book: clusterctl, "Labels"). That it is what the
/// real one prints, `tests/e2e` shows.
#[test]
fn components_are_resolved_as_a_whole_or_not_at_all() {
    let second = "---\napiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: bar\ntype: IPAMProvider\nnamespace: bar-system\nmanager: {image: ghcr.io/a/c, args: ['--w=${BAR_W:=1}']}\n";
    let manager =
        |argument: &str| format!("manager: {{image: ghcr.io/a/b, args: ['{argument}']}}\n{second}");
    let text = |release: &Release, file: &str| {
        release
            .files
            .get(file)
            .map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
    };

    let plain = release("manager: {image: ghcr.io/a/b, args: ['--v=2']}\n", &[]);
    assert!(!plain.report.has_errors(), "{:#?}", plain.report);
    assert!(text(&plain, "install.yaml").is_some_and(|install| install.contains("--v=2")));

    for (written, resolved) in [
        ("--v=${FOO_LEVEL:=2}", "--v=2"),
        ("--price=$$1", "--price=$1"),
        ("--plain", "--plain"),
    ] {
        let release = release(&manager(written), &[]);
        let install = text(&release, "install.yaml")
            .unwrap_or_else(|| panic!("{written}: {:#?}", release.report));
        let of_both = ["addon-components.yaml", "ipam-components.yaml"]
            .map(|file| text(&release, file).unwrap());
        assert!(of_both[0].contains(written), "{}", of_both[0]);
        assert!(
            install.contains(resolved) && install.contains("--w=1") && !install.contains("${"),
            "{install}"
        );
        let names = |text: &str| -> BTreeSet<(String, String)> {
            let objects = documents(text.as_bytes()).into_iter();
            objects
                .map(|object| {
                    (
                        object["kind"].to_string(),
                        object["metadata"]["name"].to_string(),
                    )
                })
                .collect()
        };
        assert_eq!(names(&install), names(&of_both.join("---\n")));
        for object in documents(install.as_bytes()) {
            let labels = &object["metadata"]["labels"];
            assert_eq!(labels["clusterctl.cluster.x-k8s.io"], "", "{object}");
            let label = labels["cluster.x-k8s.io/provider"].as_str().unwrap();
            assert!(["addon-foo", "ipam-bar"].contains(&label), "{object}");
        }
    }

    let open = release(&manager("--v=${FOO_LEVEL}"), &[]);
    let rules: Vec<_> = open
        .report
        .findings()
        .iter()
        .map(|finding| finding.rule.id)
        .collect();
    assert_eq!(
        (rules, text(&open, "install.yaml")),
        (vec!["components-variable-required"], None)
    );
    assert!(text(&open, "addon-components.yaml").is_some());
}

#[test]
fn references_of_all_kinds_follow_the_names_of_the_release() {
    let own = "apiVersion: v1\nkind: Service\nmetadata: {name: hook}\nspec: {ports: [{port: 443}]}\n---\napiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: i}\n\
               ---\napiVersion: v1\nkind: Secret\nmetadata: {name: pull}\n\
               ---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\nimagePullSecrets: [{name: pull}]\n\
               ---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c}\nspec: {issuerRef: {name: i}}\n\
               ---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: v}\n\
               webhooks: [{name: w, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {service: {name: hook, namespace: system}}},\n\
               {name: x, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: \"https://x\"}}]\n\
               ---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j}\n\
               spec: {jobTemplate: {spec: {template: {spec: {serviceAccountName: a, initContainers: [{name: i, image: g.io/i:v1, env: [{name: E, valueFrom: {secretKeyRef: {name: pull, key: k}}}]}]}}}}}\n";
    let objects = sound("objects: [own.yaml]\n", &[("own.yaml", own)]);
    assert_eq!(
        of_kind(&objects, "ServiceAccount")["imagePullSecrets"],
        json!([{"name": "foo-pull"}])
    );
    assert_eq!(
        of_kind(&objects, "Certificate")["spec"],
        json!({"issuerRef": {"name": "foo-i"}})
    );
    let webhooks = &of_kind(&objects, "ValidatingWebhookConfiguration")["webhooks"];
    assert_eq!(
        webhooks[0]["clientConfig"],
        json!({"service": {"name": "foo-hook", "namespace": "foo-system"}})
    );
    assert_eq!(webhooks[1]["clientConfig"], json!({"url": "https://x"}));
    let pod = &of_kind(&objects, "CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], "foo-a");
    assert_eq!(
        pod["initContainers"][0]["env"][0]["valueFrom"],
        json!({"secretKeyRef": {"name": "foo-pull", "key": "k"}})
    );
}

#[test]
fn names_in_rules_of_roles_follow_the_names_of_the_release() {
    let own = "apiVersion: v1\nkind: Secret\nmetadata: {name: token}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: token-map}\n\
               ---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r}\nrules:\n\
               - {apiGroups: [\"\"], resources: [configmaps, secrets], resourceNames: [token, token-map, theirs], verbs: [get]}\n\
               - {apiGroups: [\"*\"], resources: [\"*\"], resourceNames: [token], verbs: [get]}\n\
               - {apiGroups: [\"\"], resources: [services], resourceNames: [token], verbs: [get]}\n\
               - {apiGroups: [apps], resources: [secrets], resourceNames: [token], verbs: [get]}\n\
               - {apiGroups: [\"\"], resources: [secrets/status], resourceNames: [token], verbs: [get]}\n";
    let objects = sound("objects: [own.yaml]\n", &[("own.yaml", own)]);
    let names: Vec<&Value> = of_kind(&objects, "Role")["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| &rule["resourceNames"])
        .collect();
    let expected = [
        json!(["foo-token", "foo-token-map", "theirs"]),
        json!(["foo-token"]),
        json!(["token"]),
        json!(["token"]),
        json!(["foo-token"]),
    ];
    assert_eq!(names, expected.iter().collect::<Vec<_>>());
}

/// cert-manager, "CA injector": the annotation is `NAMESPACE/NAME`.
#[test]
fn annotations_of_cert_manager_follow_the_names_of_the_release() {
    let own = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: serving}\nspec: {dnsNames: [hook.foo-system.svc]}\n\
               ---\napiVersion: v1\nkind: Service\nmetadata: {name: hook}\nspec: {ports: [{port: 443}]}\n\
               ---\napiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: a, annotations: {cert-manager.io/inject-ca-from: system/serving, x: system/serving}}\n\
               ---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n\
               metadata: {name: v, annotations: {cert-manager.io/inject-ca-from: others/serving-of-others}}\n";
    let crd = FOREIGN.replace(
        "metadata: {name: bars.bar.dev}",
        "metadata: {name: bars.bar.dev, annotations: {cert-manager.io/inject-ca-from: system/serving}}",
    );
    let crd = crd.replace("scope:", "conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: hook, namespace: system}}}}\n  scope:");
    let (objects, report) = components(
        "objects: [own.yaml, crd.yaml]\n",
        &[("own.yaml", own), ("crd.yaml", &crd)],
    );
    let missing: Vec<_> = report
        .findings()
        .iter()
        .filter(|found| found.rule.id == "components-certificate-missing")
        .collect();
    assert_eq!(
        missing.len(),
        1,
        "clusterctl writes the namespace of the components in place of the others': {report:#?}"
    );
    let annotations = |kind: &str| &of_kind(&objects, kind)["metadata"]["annotations"];
    assert_eq!(
        annotations("APIService"),
        &json!({"cert-manager.io/inject-ca-from": "foo-system/foo-serving", "x": "system/serving"})
    );
    assert_eq!(
        annotations("ValidatingWebhookConfiguration"),
        &json!({"cert-manager.io/inject-ca-from": "others/serving-of-others"})
    );
    assert_eq!(
        annotations("CustomResourceDefinition"),
        &json!({"cert-manager.io/inject-ca-from": "foo-system/foo-serving"})
    );
    let service = &of_kind(&objects, "CustomResourceDefinition")["spec"]["conversion"]["webhook"]["clientConfig"]
        ["service"];
    assert_eq!(
        service,
        &json!({"name": "foo-hook", "namespace": "foo-system"})
    );
}

/// A CRD of a group that no `group` names.
const FOREIGN: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: bars.bar.dev}\nspec:\n  group: bar.dev\n  scope: Namespaced\n\
    \x20 names: {kind: Bar, plural: bars}\n  versions:\n  - {name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n\
    \x20 - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, description: \"use ${A} or $$(B)\"}}}\n";

/// Review A08: a CRD under `objects` is one, too.
#[test]
fn definitions_among_own_objects_are_treated_as_those_under_crds() {
    let more = "group: foo.dev\ncontracts: {v1beta2: [v1]}\nobjects: [foo.yaml, bar.yaml]\nmanager: {image: ghcr.io/a/b, conversion: true}\n";
    let foo = FOREIGN.replace("bar.dev", "foo.dev");
    let objects = sound(more, &[("foo.yaml", &foo), ("bar.yaml", FOREIGN)]);
    let crd = |group: &str| {
        objects
            .iter()
            .find(|object| object["spec"]["group"] == group)
            .unwrap()
    };
    let label = "cluster.x-k8s.io/v1beta2";
    assert_eq!(
        (
            &crd("foo.dev")["metadata"]["labels"][label],
            &crd("bar.dev")["metadata"]["labels"][label]
        ),
        (&json!("v1"), &Value::Null)
    );
    let conversion = |group: &str| {
        crd(group)["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"].clone()
    };
    assert_eq!(
        (conversion("foo.dev"), conversion("bar.dev")),
        (json!("foo-webhook-service"), Value::Null)
    );
    for group in ["foo.dev", "bar.dev"] {
        let described =
            &crd(group)["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["description"];
        assert_eq!(
            described, "use $${A} or $$$$(B)",
            "substitution gives the text as it was"
        );
        assert_eq!(crd(group)["spec"]["names"]["listKind"], "BarList");
    }
}

const MANAGER: &str = "rbac: {roles: [roles.yaml]}\nmanager: {image: ghcr.io/a/b}\n";

fn role(kind: &str, name: &str, labels: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}, labels: {{{labels}}}}}\nrules: []\n---\n"
    )
}

fn binding(kind: &str, name: &str, role: &str, account: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}Binding\nmetadata: {{name: {name}}}\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: {role}}}\n\
         subjects: [{{kind: ServiceAccount, name: {account}, namespace: system}}]\n---\n"
    )
}

/// `binding: role to account` for each binding.
fn bindings(objects: &[Value]) -> Vec<String> {
    let bindings = objects
        .iter()
        .filter(|object| object["kind"].as_str().unwrap().ends_with("Binding"));
    bindings
        .map(|binding| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let subjects: Vec<String> = binding["subjects"]
                .as_array()
                .unwrap()
                .iter()
                .map(|subject| text(&subject["name"]))
                .collect();
            format!(
                "{}: {} to {}",
                text(&binding["metadata"]["name"]),
                text(&binding["roleRef"]["name"]),
                subjects.join(", ")
            )
        })
        .collect()
}

fn account_of_manager(objects: &[Value]) -> &str {
    of_kind(objects, "Deployment")["spec"]["template"]["spec"]["serviceAccountName"]
        .as_str()
        .unwrap()
}

/// The shape of Nutanix's `config/rbac`: the bindings name `controller-manager`, whose file may be
/// among the patterns or not.
#[test]
fn manager_runs_as_the_account_that_the_role_files_bind() {
    let rights = role("ClusterRole", "manager-role", "")
        + &binding(
            "ClusterRole",
            "manager-rolebinding",
            "manager-role",
            "controller-manager",
        );
    let file = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: controller-manager, namespace: system}\n";
    for roles in [rights.clone(), format!("{rights}{file}")] {
        let objects = sound(MANAGER, &[("roles.yaml", &roles)]);
        assert_eq!(account_of_manager(&objects), "foo-controller-manager");
        assert_eq!(
            of_kind(&objects, "ServiceAccount")["metadata"]["name"],
            "foo-controller-manager"
        );
        assert_eq!(
            bindings(&objects),
            ["foo-system-manager-rolebinding: foo-system-manager-role to foo-controller-manager"]
        );
    }
    let default = rights.replace("name: controller-manager", "name: default");
    let objects = sound(MANAGER, &[("roles.yaml", &default)]);
    assert_eq!(account_of_manager(&objects), "default");
    assert!(
        objects
            .iter()
            .all(|object| object["kind"] != "ServiceAccount"),
        "every namespace has it"
    );
}

/// Roles come from the files or are made, never both: files without a role leave both to the build.
#[test]
fn roles_are_made_where_the_files_have_none() {
    let roles = |files: &str| {
        let objects = sound(MANAGER, &[("roles.yaml", files)]);
        let roles = objects
            .iter()
            .filter(|object| ["Role", "ClusterRole"].contains(&object["kind"].as_str().unwrap()));
        let named = roles.map(|role| {
            format!(
                "{} {}",
                role["kind"].as_str().unwrap(),
                role["metadata"]["name"].as_str().unwrap()
            )
        });
        named.collect::<Vec<_>>()
    };
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: controller-manager, namespace: system}\n";
    assert_eq!(
        roles(account),
        [
            "Role foo-leader-election-role",
            "ClusterRole foo-system-manager-role"
        ]
    );
    assert_eq!(
        roles(&role("ClusterRole", "own", "")),
        ["ClusterRole foo-system-own"]
    );
    assert_eq!(roles(&role("Role", "own", "")), ["Role foo-own"]);
}

/// A second manager under `objects` brings its own rights, which are none of the first one's.
#[test]
fn a_second_manager_has_its_own_rights() {
    let second =
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: berths, namespace: system}\n---\n"
            .to_owned()
            + &role("ClusterRole", "berths", "")
            + &role(
                "ClusterRole",
                "view",
                "rbac.authorization.k8s.io/aggregate-to-view: 'true'",
            )
            + &role("ClusterRole", "berth-editor-role", "")
            + &binding("ClusterRole", "berths", "berths", "berths")
            + "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: berths, namespace: system}\nspec: {selector: {}, template: {spec: {serviceAccountName: berths, \
           containers: [{name: manager, image: \"ghcr.io/a/berths:v1\"}]}}}\n";
    let more = "manager: {image: ghcr.io/a/b}\nobjects: [second.yaml]\n";
    let objects = sound(more, &[("second.yaml", &second)]);
    assert_eq!(
        bindings(&objects),
        [
            "foo-leader-election-rolebinding: foo-leader-election-role to foo-manager",
            "foo-system-manager-rolebinding: foo-system-manager-role to foo-manager",
            "foo-system-berths: foo-system-berths to foo-berths",
        ]
    );
    // A role that nobody is bound to is the manager's, as ever.
    let objects = sound(more, &[("second.yaml", &role("ClusterRole", "own", ""))]);
    assert_eq!(
        bindings(&objects),
        ["foo-system-own-rolebinding: foo-system-own to foo-manager"]
    );
}

/// The shape of a small add-on: no webhooks, so nothing of cert-manager, no Service and no mount; a
/// Namespace with labels of Pod Security.
#[test]
fn without_webhooks_nothing_of_cert_manager_is_there() {
    let labels = "namespaceMetadata: {labels: {pod-security.kubernetes.io/enforce: restricted}}\n";
    let objects = sound(&format!("{labels}manager: {{image: ghcr.io/a/b}}\n"), &[]);
    assert_eq!(
        of_kind(&objects, "Namespace")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"],
        "restricted"
    );
    for kind in [
        "Service",
        "Certificate",
        "Issuer",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    ] {
        assert!(
            !objects.iter().any(|object| object["kind"] == kind),
            "{kind}"
        );
    }
    let pod = &of_kind(&objects, "Deployment")["spec"]["template"]["spec"];
    assert_eq!(
        (&pod["volumes"], &pod["containers"][0]["volumeMounts"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn leaves_the_account_of_another_pod_to_it() {
    let roles = [
        role("ClusterRole", "manager-role", ""),
        role("ClusterRole", "proxy-role", ""),
        binding("ClusterRole", "a", "manager-role", "controller-manager"),
        binding("ClusterRole", "b", "proxy-role", "proxy"),
    ]
    .concat();
    let proxy = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: proxy}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: proxy}\n\
                 spec: {template: {spec: {serviceAccountName: proxy, containers: [{name: p, image: ghcr.io/a/p:v1}]}}}\n";
    let objects = sound(
        &format!("{MANAGER}objects: [own.yaml]\n"),
        &[("roles.yaml", &roles), ("own.yaml", proxy)],
    );
    let accounts: Vec<&str> = objects
        .iter()
        .filter(|object| object["kind"] == "Deployment")
        .map(|object| {
            object["spec"]["template"]["spec"]["serviceAccountName"]
                .as_str()
                .unwrap()
        })
        .collect();
    assert_eq!(accounts, ["foo-proxy", "foo-controller-manager"]);
}

#[test]
fn takes_the_account_of_provider_yaml_with_or_without_prefix() {
    let roles = role("ClusterRole", "manager-role", "")
        + &binding("ClusterRole", "b", "manager-role", "controller-manager");
    let given =
        |name: &str| MANAGER.replace("{roles:", &format!("{{serviceAccount: {name}, roles:"));
    let objects = sound(&given("mine"), &[("roles.yaml", &roles)]);
    assert_eq!(account_of_manager(&objects), "foo-mine");
    let (objects, report) = components(&given("foo-controller-manager"), &[("roles.yaml", &roles)]);
    assert!(report.is_empty(), "{report:#?}");
    assert_eq!(
        bindings(&objects),
        ["foo-system-b: foo-system-manager-role to foo-controller-manager"]
    );
}

/// kubebuilder's `config/rbac/*role*.yaml`: what the files bind stays so, what they do not bind is
/// the manager's, but for roles for people.
#[test]
fn roles_for_people_stay_unbound() {
    let roles = [
        role("ClusterRole", "manager-role", ""),
        role("Role", "leader-election-role", ""),
        binding(
            "Role",
            "leader-election-rolebinding",
            "leader-election-role",
            "controller-manager",
        ),
        role("ClusterRole", "metrics-auth-role", ""),
        role("ClusterRole", "metrics-reader", ""),
        role("ClusterRole", "foomachine-admin-role", ""),
        role("ClusterRole", "foomachine-editor-role", ""),
        role("ClusterRole", "foomachine-viewer-role", ""),
        role(
            "ClusterRole",
            "foos-view",
            "rbac.authorization.k8s.io/aggregate-to-view: \"true\"",
        ),
        binding(
            "ClusterRole",
            "operators",
            "foomachine-admin-role",
            "controller-manager",
        ),
    ]
    .concat();
    let objects = sound(MANAGER, &[("roles.yaml", &roles)]);
    let mut bound = bindings(&objects);
    bound.sort_unstable();
    assert_eq!(
        bound,
        [
            "foo-leader-election-rolebinding: foo-leader-election-role to foo-controller-manager",
            "foo-system-manager-rolebinding: foo-system-manager-role to foo-controller-manager",
            "foo-system-metrics-auth-rolebinding: foo-system-metrics-auth-role to foo-controller-manager",
            "foo-system-operators: foo-system-foomachine-admin-role to foo-controller-manager",
        ]
    );
}
