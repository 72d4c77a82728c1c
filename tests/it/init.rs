//! `init`: the provider.yaml of a kubebuilder project and of real ones, and the release that is built
//! from it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{copy, documents, root, run, shared};

/// A project as kubebuilder scaffolds it, with changes that users make.
const PROJECT: &str = "tests/cases/init/takes-over-a-kubebuilder-project/in";

/// The same with a config/default that takes another kustomization, and patches.
const WRAPPED: &str = "tests/cases/init/follows-wrapped-kustomizations/in";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join(PROJECT), folder.path());
    folder
}

fn written(folder: &Path) -> Value {
    documents(&fs::read(folder.join("provider.yaml")).unwrap()).remove(0)
}

/// Decides that nothing of `undecided` is needed.
fn decide(folder: &Path) {
    let file = folder.join("provider.yaml");
    let text = fs::read_to_string(&file).unwrap();
    let decided = text.split("# Decide each of these").next().unwrap();
    fs::write(file, decided).unwrap();
}

#[test]
fn contracts_are_those_of_the_labels_where_there_are_some() {
    let folder = project();
    let labels = "labels: [{pairs: {cluster.x-k8s.io/v1beta1: v1alpha1, cluster.x-k8s.io/v1beta2: v1alpha1_v1beta1, cluster.x-k8s.io/v1alpha4: v1alpha1, cluster.x-k8s.io/provider: p}}]\n";
    fs::write(folder.path().join("config/crd/kustomization.yaml"), labels).unwrap();
    let said = run(folder.path(), "init --without-kustomize").ok().stderr;
    assert_eq!(
        written(folder.path())["contracts"],
        json!({"v1beta1": ["v1alpha1"], "v1beta2": ["v1alpha1", "v1beta1"]})
    );
    let assumed = "assumed: contracts: the labels in config/crd/kustomization.yaml, without v1alpha4, which Cluster API no longer has\n";
    assert!(said.contains(assumed), "{said}");
    fs::write(
        folder.path().join("config/crd/kustomization.yaml"),
        labels.replace("cluster.x-k8s.io/v1alpha4", "a"),
    )
    .unwrap();
    let said = run(folder.path(), "init --force --without-kustomize")
        .ok()
        .stderr;
    assert!(
        said.contains("assumed: contracts: the labels in config/crd/kustomization.yaml\n"),
        "{said}"
    );
}

#[test]
fn builds_the_release_of_a_kubebuilder_project() {
    let folder = project();
    run(folder.path(), "init --without-kustomize").ok();
    decide(folder.path());
    run(folder.path(), "release build v0.1.0 --to out").ok();
    let objects =
        documents(&fs::read(folder.path().join("out/infrastructure-components.yaml")).unwrap());
    let deployment = objects
        .iter()
        .find(|object| object["kind"] == "Deployment")
        .unwrap();
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], "docks-controller-manager");
    assert_eq!(pod["nodeSelector"], json!({"deck": "upper"}));
    assert_eq!(
        (
            &deployment["spec"]["replicas"],
            &pod["containers"][1]["name"]
        ),
        (&json!(2), &json!("pump"))
    );
    assert_eq!(
        pod["containers"][0]["image"],
        "ghcr.io/harbour/manager:v0.1.0"
    );
    assert_eq!(
        pod["containers"][0]["livenessProbe"],
        json!({"httpGet": {"path": "/healthz", "port": "healthz"}, "periodSeconds": 20})
    );
}

/// Several groups: that of the type is the provider's, the others are named. A webhook patch alone
/// is not a conversion: one version has none.
#[test]
fn groups_and_versions_of_the_crds_count() {
    let folder = project();
    let boats = folder
        .path()
        .join("config/crd/bases/infrastructure.harbour.example_boats.yaml");
    let text = fs::read_to_string(&boats).unwrap();
    let old = text
        .lines()
        .find(|line| line.contains("name: v1alpha1"))
        .unwrap();
    fs::write(&boats, text.replace(&format!("{old}\n"), "")).unwrap();
    let other = text
        .replace("infrastructure.harbour", "bootstrap.harbour")
        .replace("boat", "crew")
        .replace("Boat", "Crew");
    fs::write(
        folder.path().join("config/crd/bases/a_crews.yaml"),
        other.replace(&format!("{old}\n"), ""),
    )
    .unwrap();
    run(folder.path(), "init --without-kustomize").ok();
    let provider = written(folder.path());
    assert_eq!(
        (&provider["group"], &provider["groups"]),
        (
            &json!("infrastructure.harbour.example"),
            &json!(["bootstrap.harbour.example"])
        )
    );
    assert_eq!(provider["contracts"], json!({"v1beta2": ["v1beta1"]}));
    assert_eq!(provider["manager"].get("conversion"), None);
    // The kustomization takes one of the two files.
    assert_eq!(
        provider["crds"],
        json!(["config/crd/bases/infrastructure.harbour.example_boats.yaml"])
    );
}

/// kubebuilder patches a webhook into the CRDs that are converted: all that have several versions,
/// or some; with what it puts on all of them.
#[test]
fn kinds_that_are_converted_and_what_all_crds_get_are_taken_over() {
    let folder = project();
    let crds = folder.path().join("config/crd");
    let text =
        fs::read_to_string(crds.join("bases/infrastructure.harbour.example_boats.yaml")).unwrap();
    fs::write(
        crds.join("bases/ships.yaml"),
        text.replace("boat", "ship").replace("Boat", "Ship"),
    )
    .unwrap();
    fs::create_dir_all(crds.join("patches")).unwrap();
    let webhook = |name: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {name}.infrastructure.harbour.example}}\n\
             spec: {{conversion: {{strategy: Webhook}}}}\n"
        )
    };
    let init = |patches: &str| {
        let all = "commonAnnotations: {tide: low}\nlabels: [{pairs: {deck: upper, cluster.x-k8s.io/v1beta2: v1beta1, cluster.x-k8s.io/v1alpha3: v1alpha3}}]\n";
        fs::write(
            crds.join("kustomization.yaml"),
            format!("{all}patches: {patches}\n"),
        )
        .unwrap();
        run(folder.path(), "init --force --without-kustomize").ok();
        let provider = written(folder.path());
        assert_eq!(
            provider["crdMetadata"],
            json!([{"labels": {"deck": "upper"}, "annotations": {"tide": "low"}}])
        );
        ["conversion", "converts"]
            .map(|field| provider["manager"].get(field).cloned().unwrap_or_default())
    };
    fs::write(crds.join("patches/webhook_in_boats.yaml"), webhook("boats")).unwrap();
    fs::write(crds.join("patches/webhook_in_ships.yaml"), webhook("ships")).unwrap();
    fs::write(
        crds.join("patches/webhook.yaml"),
        "- {op: add, path: /spec/conversion, value: {strategy: Webhook}}\n",
    )
    .unwrap();
    fs::write(
        crds.join("patches/webhook_label.yaml"),
        webhook("boats").replace("spec: {conversion", "spec: {x"),
    )
    .unwrap();
    let both = json!(true);
    assert_eq!(
        init("[{path: patches/webhook_in_boats.yaml}, {path: patches/webhook_in_ships.yaml}]"),
        [both.clone(), Value::Null]
    );
    assert_eq!(
        init("[{path: patches/webhook_in_ships.yaml}]"),
        [Value::Null, json!(["Ship"])]
    );
    assert_eq!(
        init("[{path: patches/webhook.yaml, target: {kind: CustomResourceDefinition}}]"),
        [both, Value::Null]
    );
    assert_eq!(
        init("[{path: patches/webhook.yaml, target: {name: 'boats[.].*'}}]"),
        [Value::Null, json!(["Boat"])]
    );
    assert_eq!(
        init("[{path: patches/webhook_label.yaml}]"),
        [Value::Null, Value::Null]
    );
}

/// The release has what patches of wrapped kustomizations say.
#[test]
fn builds_the_release_of_wrapped_kustomizations() {
    let folder = project();
    copy(&root().join(WRAPPED), folder.path());
    run(folder.path(), "init --without-kustomize").ok();
    decide(folder.path());
    run(folder.path(), "release build v0.1.0 --to out").ok();
    let objects =
        documents(&fs::read(folder.path().join("out/infrastructure-components.yaml")).unwrap());
    let of_kind = |kind: &str| {
        objects
            .iter()
            .find(|object| object["kind"] == kind)
            .unwrap()
    };
    let deployment = of_kind("Deployment");
    // A selector is immutable, so that it stays as it is. Pods have the label of the provider too,
    // by which the Services that are made select them.
    let selector = json!({"control-plane": "harbour-manager"});
    let labels = json!({"cluster.x-k8s.io/provider": "infrastructure-harbour", "control-plane": "harbour-manager"});
    assert_eq!(
        (
            &deployment["spec"]["selector"]["matchLabels"],
            &deployment["spec"]["template"]["metadata"]["labels"]
        ),
        (&selector, &labels)
    );
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(
        (
            &deployment["spec"]["minReadySeconds"],
            &pod["containers"][0]["imagePullPolicy"]
        ),
        (&json!(7), &json!("Always"))
    );
    assert_eq!(pod["serviceAccountName"], "x-docks-controller-manager-y-z");
    let labels = &of_kind("CustomResourceDefinition")["metadata"]["labels"];
    assert_eq!(
        (
            &labels["clusterctl.cluster.x-k8s.io/move"],
            &labels["cluster.x-k8s.io/v1beta2"]
        ),
        (&json!(""), &json!("v1alpha1_v1beta1"))
    );
}

/// A project that keeps kubebuilder's folders elsewhere becomes the same, but for their paths: all
/// that is read from config/crd counts there too.
#[test]
fn folders_that_stand_elsewhere_are_found() {
    let folder = project();
    let config = folder.path().join("config");
    let write = |file: &str, text: &str| {
        let path = config.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let crds = "resources: [bases/infrastructure.harbour.example_boats.yaml]\ncommonAnnotations: {deck: upper}\n\
                labels: [{pairs: {cluster.x-k8s.io/v1beta2: v1beta1}}]\npatches: [{path: webhook_in_boats.yaml}, {path: move.yaml}]\n";
    let patch = |rest: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: boats.infrastructure.harbour.example{rest}\n"
        )
    };
    write("crd/kustomization.yaml", crds);
    write(
        "crd/webhook_in_boats.yaml",
        &patch("}\nspec: {conversion: {strategy: Webhook}}"),
    );
    write(
        "crd/move.yaml",
        &patch(", labels: {clusterctl.cluster.x-k8s.io/move: \"\"}}"),
    );
    write(
        "webhook/kustomization.yaml",
        "resources: [manifests.yaml]\n",
    );
    write(
        "webhook/manifests.yaml",
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: validating-webhook-configuration}\nwebhooks: []\n",
    );
    let default = |folders: &str| {
        write(
            "default/kustomization.yaml",
            &format!(
                "namespace: docks-system\nnamePrefix: docks-\nresources: [{folders}, ../rbac, ../manager]\n"
            ),
        );
    };
    default("../crd, ../webhook");
    let usual = run(folder.path(), "init --without-kustomize").ok().stderr;
    let provider = fs::read_to_string(folder.path().join("provider.yaml")).unwrap();
    for path in [
        "config/crd/bases/*.yaml",
        "config/webhook/manifests.yaml",
        "config/crd/move.yaml",
    ] {
        assert!(provider.contains(path), "{path} in {provider}");
    }
    assert!(
        provider.contains("deck: upper") && provider.contains("conversion: true"),
        "{provider}"
    );
    fs::remove_file(folder.path().join("provider.yaml")).unwrap();
    fs::rename(config.join("crd"), config.join("default/crd")).unwrap();
    fs::create_dir(config.join("docks")).unwrap();
    fs::rename(config.join("webhook"), config.join("docks/webhook")).unwrap();
    default("./crd, ../docks/webhook");
    let moved = run(folder.path(), "init --without-kustomize").ok().stderr;
    let renamed = |text: &str| {
        text.replace("config/crd", "config/default/crd")
            .replace("config/webhook", "config/docks/webhook")
    };
    assert_eq!(
        fs::read_to_string(folder.path().join("provider.yaml")).unwrap(),
        renamed(&provider)
    );
    // metadata.yaml is there now.
    let told = |said: &str| {
        said.lines()
            .filter(|line| !line.contains("metadata.yaml"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&moved), told(&renamed(&usual)));
}

/// A person reads some of what is left to do, and how much more there is.
#[test]
fn what_is_left_to_do_is_bounded() {
    let folder = project();
    let absent: String = (0..300).map(|at| format!(", absent-{at}.yaml")).collect();
    fs::write(
        folder.path().join("config/default/kustomization.yaml"),
        format!("resources: [../crd, ../rbac, ../manager{absent}]\n"),
    )
    .unwrap();
    let said = run(folder.path(), "init --without-kustomize").ok().stderr;
    let left: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("left to do: "))
        .collect();
    assert_eq!(left.len(), 201);
    let more = left[200]
        .strip_prefix("left to do: ")
        .unwrap()
        .strip_suffix(" more like these")
        .unwrap();
    assert!(more.parse::<usize>().unwrap() >= 100, "{more}");
}

/// The projects of the corpus that are laid out as kubebuilder does it.
#[test]
fn real_projects_become_releases() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    for (project, version, label) in [
        (
            "nutanix-cloud-native+cluster-api-provider-nutanix",
            "v1.10.0",
            "infrastructure-nutanix",
        ),
        (
            "kubernetes-sigs+cluster-api-addon-provider-helm",
            "v0.6.0",
            "addon-helm",
        ),
        (
            "kubernetes-sigs+cluster-api-ipam-provider-in-cluster",
            "v1.1.0",
            "ipam-in-cluster",
        ),
        (
            "kubernetes-sigs+cluster-api-provider-azure",
            "v1.26.0",
            "infrastructure-azure",
        ),
        (
            "metal3-io+cluster-api-provider-metal3",
            "v1.14.0",
            "infrastructure-metal3",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy(&corpus.join(project), folder.path());
        let said = run(folder.path(), "init --without-kustomize").ok().stderr;
        assert!(
            said.contains(&format!("release build {version}")),
            "{project}: {said}"
        );
        decide(folder.path());
        let build = format!("release build {version} --to out -o json");
        let build = run(folder.path(), &build);
        let report = build.json();
        let errors: Vec<&Value> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["severity"] == "error")
            .collect();
        if project.contains("metal3") {
            // Upstream patches a webhook into all its CRDs but one.
            assert!(
                errors.len() == 1 && errors[0]["rule"] == "crd-conversion-missing",
                "{errors:?}"
            );
            continue;
        }
        if project.contains("azure") {
            // The default of a variable of two templates is a key that the schema rejects.
            let is_key = |error: &&Value| {
                error["rule"] == "config-value-rejected"
                    && error["path"] == "spec.template.spec.users[0].sshAuthorizedKeys[0]"
            };
            assert!(
                !errors.is_empty() && errors.iter().all(is_key),
                "{errors:?}"
            );
            continue;
        }
        assert_eq!((build.code, errors), (0, Vec::new()), "{project}");
        assert_eq!(report["providers"], json!([label]));
    }
}
