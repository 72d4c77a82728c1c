//! What kustomize does beside `release build`: kustomizations whose changes the release lacks are
//! told, and what kustomize printed is input.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::support;

pub(crate) const PROVIDER: &str = "apiVersion: windlass.dev/v1alpha1
kind: Provider
name: foo
type: InfrastructureProvider
group: infrastructure.foo.dev
contracts: {v1beta2: [v1]}
namespace: foo-system
crds: [config/crd/bases/*.yaml]
manager:
  image: ghcr.io/foo/manager
  conversion: true
";

const KUSTOMIZATION: &str = "resources:
- bases/machines.yaml
- bases/clusters.yaml
commonLabels:
  cluster.x-k8s.io/v1beta2: v1_v2
  example.dev/team: \"7\"
patchesStrategicMerge:
- patches/webhook_in_machines.yaml
- patches/cainjection_in_machines.yaml
- patches/move_in_clusters.yaml
patches:
- patch: |-
    - op: add
      path: /spec/versions/0/schema/openAPIV3Schema/description
      value: patched
  target: {kind: CustomResourceDefinition, name: foobuckets.infrastructure.foo.dev}
- path: patches/manager.yaml
- path: patches/cainjection_in_clusters.yaml
";

pub(crate) fn crd(kind: &str, versions: &[&str]) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    let version = |(at, name): (usize, &&str)| {
        format!(
            "  - {{name: {name}, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object}}}}}}\n",
            at == 0
        )
    };
    let versions: String = versions.iter().enumerate().map(version).collect();
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.infrastructure.foo.dev}}\nspec:\n  \
         group: infrastructure.foo.dev\n  names: {{kind: {kind}, plural: {plural}}}\n  scope: Namespaced\n  versions:\n{versions}"
    )
}

pub(crate) fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn patch(plural: &str, rest: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {plural}.infrastructure.foo.dev\n{rest}"
    )
}

/// A project with a kustomization beside its CRDs.
pub(crate) fn project(provider: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write(path, "provider.yaml", provider);
    write(
        path,
        "metadata.yaml",
        "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n",
    );
    write(
        path,
        "config/crd/bases/machines.yaml",
        &crd("FooHost", &["v1", "v1alpha1"]),
    );
    write(
        path,
        "config/crd/bases/clusters.yaml",
        &crd("FooBucket", &["v1"]),
    );
    write(path, "config/crd/kustomization.yaml", KUSTOMIZATION);
    let conversion = "spec:\n  conversion:\n    strategy: Webhook\n    webhook:\n      clientConfig: {service: {namespace: system, name: webhook-service, path: /convert}}\n      conversionReviewVersions: [v1]\n";
    write(
        path,
        "config/crd/patches/webhook_in_machines.yaml",
        &patch("foohosts", conversion),
    );
    let injection = "  annotations: {cert-manager.io/inject-ca-from: $(CERTIFICATE_NAMESPACE)/$(CERTIFICATE_NAME)}\n";
    write(
        path,
        "config/crd/patches/cainjection_in_machines.yaml",
        &patch("foohosts", injection),
    );
    write(
        path,
        "config/crd/patches/cainjection_in_clusters.yaml",
        &patch("foobuckets", injection),
    );
    let moved = "  labels: {clusterctl.cluster.x-k8s.io/move-hierarchy: \"\"}\n";
    write(
        path,
        "config/crd/patches/move_in_clusters.yaml",
        &patch("foobuckets", moved),
    );
    let manager = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: controller-manager}\nspec: {template: {spec: {priorityClassName: high, containers: [{name: manager, image: \"controller:latest\"}]}}}\n";
    write(path, "config/crd/patches/manager.yaml", manager);
    folder
}

pub(crate) fn build(folder: &Path, stdin: &str) -> Output {
    let mut command = support::windlass(folder);
    command
        .args(["release", "build", "v0.1.0", "--to", "out", "--force"])
        .stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A run that refuses something else first may not read it.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

pub(crate) fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn components(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("out/infrastructure-components.yaml")).unwrap()
}

/// Review A08: labels and patches beside the CRDs were lost without a word.
#[test]
fn what_kustomizations_change_and_the_release_lacks_is_told_at_its_place() {
    let folder = project(PROVIDER);
    let output = build(folder.path(), "");
    let text = told(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for (place, lost, help) in [
        (
            "config/crd/kustomization.yaml:5:3",
            "sets metadata.labels[example.dev/team] of CustomResourceDefinition/",
            "write under `crdMetadata` of provider.yaml: `- {kinds: [FooBucket, FooHost], labels: {example.dev/team: \"7\"}}`",
        ),
        (
            "config/crd/kustomization.yaml:10:3",
            "patches/move_in_clusters.yaml, a patch of config/crd/kustomization.yaml, sets metadata.labels[clusterctl.cluster.x-k8s.io/move-hierarchy] of CustomResourceDefinition/foobuckets.infrastructure.foo.dev",
            "`- {kinds: [FooBucket], labels: {clusterctl.cluster.x-k8s.io/move-hierarchy: \"\"}}`",
        ),
        (
            "config/crd/kustomization.yaml:12:3",
            "sets spec.versions[0].schema.openAPIV3Schema.description of CustomResourceDefinition/foobuckets.infrastructure.foo.dev",
            "write the same entry under `patches` of provider.yaml",
        ),
        (
            "config/crd/kustomization.yaml:17:3",
            "sets spec.template.spec.priorityClassName of Deployment/foo-controller-manager",
            "write it under `manager.patch` of provider.yaml",
        ),
    ] {
        for words in [place, lost, help] {
            assert!(text.contains(words), "{words} is not in {text}");
        }
    }
    // The conversion, the CA and the image are the release's own; the version that no CRD serves
    // would lead nowhere, and where nothing is converted nobody needs a CA.
    assert_eq!(
        text.matches("warning[provider-kustomization-not-applied]")
            .count(),
        4,
        "{text}"
    );

    let metadata = "crdMetadata:\n- labels: {example.dev/team: \"7\"}\n- kinds: [FooBucket]\n  labels: {clusterctl.cluster.x-k8s.io/move-hierarchy: \"\"}\n  \
                    annotations: {example.dev/note: yes it is}\n";
    write(
        folder.path(),
        "provider.yaml",
        &format!(
            "{PROVIDER}  patch: {{spec: {{template: {{spec: {{priorityClassName: high}}}}}}}}\n{metadata}"
        ),
    );
    let text = told(&build(folder.path(), ""));
    assert_eq!(
        text.matches("warning[provider-kustomization-not-applied]")
            .count(),
        1,
        "only the schema is left: {text}"
    );
    let definitions: Vec<_> = support::documents(components(folder.path()).as_bytes())
        .into_iter()
        .filter(|object| object["kind"] == "CustomResourceDefinition")
        .collect();
    for crd in definitions {
        let (labels, annotations) = (&crd["metadata"]["labels"], &crd["metadata"]["annotations"]);
        let is_cluster = crd["spec"]["names"]["kind"] == "FooBucket";
        assert_eq!(labels["example.dev/team"], "7");
        assert_eq!(
            labels
                .get("clusterctl.cluster.x-k8s.io/move-hierarchy")
                .is_some(),
            is_cluster
        );
        assert_eq!(annotations.get("example.dev/note").is_some(), is_cluster);
        assert_eq!(labels["cluster.x-k8s.io/v1beta2"], "v1");
    }
}

/// What cannot be read or is not followed is told too: nothing of a kustomization is passed over in
/// silence.
#[test]
fn what_is_not_known_of_a_kustomization_is_told() {
    let target = "target: {kind: CustomResourceDefinition";
    let elsewhere = "help: write it into the file, or release what kustomize prints";
    let correct = "help: correct it, or remove it if nobody needs it";
    let machines = "CustomResourceDefinition/foohosts.infrastructure.foo.dev";
    let broken = "config/crd/patches/broken.yaml:1:4";
    let at = "config/crd/kustomization.yaml:2:";
    for (text, expected) in [
        (
            "patches: [{path: patches/gone.yaml}]",
            vec![
                "patches/gone.yaml, a patch of config/crd/kustomization.yaml, is not read: it is missing, hidden, or outside",
                at,
                correct,
            ],
        ),
        (
            "patches: [{path: ../../../gone.yaml}]",
            vec![
                "is not read: it is missing, hidden, or outside of the folder of provider.yaml",
                at,
                correct,
            ],
        ),
        (
            "patches: [{path: patches/broken.yaml}]",
            vec![
                "patches/broken.yaml, a patch of config/crd/kustomization.yaml, cannot be read: `[` is never closed",
                broken,
                correct,
            ],
        ),
        (
            "patches: [{target: {kind: X}}]",
            vec!["has neither `path` nor `patch`", at, correct],
        ),
        (
            "patches: [}",
            vec![
                "config/crd/kustomization.yaml cannot be read, so it is not known what it changes",
                at,
                correct,
            ],
        ),
        (
            "patches: [{patch: \"[{op: add, path: /x, value: 1}]\"}]",
            vec![
                "has no target, and no kind and name of its own",
                at,
                elsewhere,
            ],
        ),
        (
            "patches: [{patch: \"[]\", target: {labelSelector: a=b}}]",
            vec![
                "selects by labels or annotations, which is not followed",
                at,
                elsewhere,
            ],
        ),
        (
            "configMapGenerator: [{name: x}]",
            vec![
                "`configMapGenerator` of config/crd/kustomization.yaml is not followed",
                at,
                elsewhere,
            ],
        ),
        (
            &format!(
                "patches: [{{{target}, name: foo.*}}, patch: \"[{{op: add, path: /spec/x, value: 1}}]\"}}]"
            ),
            vec!["sets spec.x of ", machines, at],
        ),
        (
            &format!("patches: [{{{target}}}, patch: \"[{{op: remove, path: /spec/scope}}]\"}}]"),
            vec!["removes spec.scope of ", "which the release still has", at],
        ),
        (
            &format!(
                "patches: [{{{target}}}, patch: \"[{{op: move, from: /spec/scope, path: /spec/x}}]\"}}]"
            ),
            vec!["sets spec.x of ", at],
        ),
        (
            &format!("patches: [{{{target}, name: foohosts.*}}, patch: \"{{$patch: delete}}\"}}]"),
            vec!["removes ", machines, "which the release still has"],
        ),
        (
            "patches: [{patch: \"{apiVersion: apps/v1, kind: Deployment, metadata: {name: controller-manager}, spec: {template: {spec: {containers: [{$patch: delete, name: manager}]}}}}\"}]",
            vec![
                "removes spec.template.spec.containers[0] of Deployment/foo-controller-manager",
                at,
            ],
        ),
    ] {
        let folder = project(PROVIDER);
        write(
            folder.path(),
            "config/crd/kustomization.yaml",
            &format!("resources: [bases/machines.yaml, bases/clusters.yaml]\n{text}\n"),
        );
        write(folder.path(), "config/crd/patches/broken.yaml", "a: [");
        let output = build(folder.path(), "");
        let told = told(&output);
        assert_eq!(
            told.matches("warning[provider-kustomization-not-applied]")
                .count(),
            1,
            "{text}: {told}"
        );
        for words in expected {
            assert!(
                told.contains(words),
                "{words} is not said of {text}: {told}"
            );
        }
    }
    // One that is for an object of another name afterwards.
    let folder = project(PROVIDER);
    let renaming = "patches: [{path: patches/broken.yaml, options: {allowNameChange: true}}]";
    write(
        folder.path(),
        "config/crd/kustomization.yaml",
        &format!("resources: [bases/machines.yaml]\n{renaming}\n"),
    );
    write(
        folder.path(),
        "config/crd/patches/broken.yaml",
        &patch("foomachines", "metadata: {name: other}"),
    );
    let text = told(&build(folder.path(), ""));
    assert!(
        text.contains("may give an object another name or kind, which is not followed"),
        "{text}"
    );
    // That of which releases are built, too, and of one that cannot be read nobody knows what it is
    // made of.
    let folder = project(PROVIDER);
    write(
        folder.path(),
        "config/crd/kustomization.yaml",
        "resources: [bases/machines.yaml, bases/clusters.yaml]\n",
    );
    write(
        folder.path(),
        "config/default/kustomization.yaml",
        "resources: [../crd\n",
    );
    let text = told(&build(folder.path(), ""));
    let expected =
        "config/default/kustomization.yaml cannot be read, so it is not known what it changes";
    assert!(
        text.contains(expected) && text.matches("provider-kustomization-not-applied").count() == 1,
        "{text}"
    );
    // What changes nothing that the release lacks is not told.
    for text in [
        "patches: []",
        "namePrefix: foo-",
        "replacements: [{source: {kind: Certificate, name: serving-cert, fieldPath: metadata.name}, targets: []}]",
        &format!(
            "patches: [{{{target}, name: foo}}, patch: \"[{{op: add, path: /spec/x, value: 1}}]\"}}]"
        ),
        &format!(
            "patches: [{{{target}}}, patch: \"[{{op: test, path: /spec/x, value: 1}}, {{op: remove, path: /spec/x}}]\"}}]"
        ),
    ] {
        let folder = project(PROVIDER);
        write(
            folder.path(),
            "config/crd/kustomization.yaml",
            &format!("resources: [bases/machines.yaml]\n{text}\n"),
        );
        let told = told(&build(folder.path(), ""));
        assert!(
            !told.contains("provider-kustomization-not-applied"),
            "{text}: {told}"
        );
    }
}

/// A kustomization of somebody else reads nothing of this machine: not outside of its folder, not
/// what is hidden, not through links.
#[test]
fn kustomizations_read_nothing_outside_of_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    let secret = patch("foohosts", "  labels: {password: hunter2}\n");
    write(outside.path(), "secret.yaml", &secret);
    let read = |text: &str, flags: &[&str]| {
        let folder = project(PROVIDER);
        let config = folder.path().join("config/crd");
        write(
            &config,
            "kustomization.yaml",
            &format!("resources: [bases/machines.yaml]\npatches: [{{path: {text}}}]\n"),
        );
        write(&config, "patches/.hidden.yaml", &secret);
        write(&config, "patches/open.yaml", &secret);
        #[cfg(unix)]
        std::os::unix::fs::symlink(
            outside.path().join("secret.yaml"),
            config.join("patches/link.yaml"),
        )
        .unwrap();
        let output = support::windlass(folder.path())
            .args(["release", "build", "v0.1.0", "--to", "out"])
            .args(flags)
            .output()
            .unwrap();
        told(&output)
    };
    let up = format!(
        "../../../{}/secret.yaml",
        outside.path().file_name().unwrap().to_string_lossy()
    );
    let mut strayed = vec![up, "patches/.hidden.yaml".to_owned()];
    strayed.extend(cfg!(unix).then(|| "patches/link.yaml".to_owned()));
    for path in strayed {
        let told = read(&path, &[]);
        assert!(
            told.contains(
                "is not read: it is missing, hidden, or outside of the folder of provider.yaml"
            ),
            "{path}: {told}"
        );
        assert!(
            !told.contains("hunter2") && !told.contains("labels.password"),
            "{path}: {told}"
        );
        assert!(
            read(&path, &["--allow-outside"]).contains("labels.password"),
            "{path}"
        );
    }
    assert!(read("patches/open.yaml", &[]).contains("labels.password"));
    #[cfg(unix)]
    {
        let folder = project(PROVIDER);
        let kustomization = folder.path().join("config/crd/kustomization.yaml");
        std::fs::remove_file(&kustomization).unwrap();
        write(
            outside.path(),
            "kustomization.yaml",
            "resources: [bases/machines.yaml]\ncommonLabels: {password: hunter2}\n",
        );
        std::os::unix::fs::symlink(outside.path().join("kustomization.yaml"), kustomization)
            .unwrap();
        let told = told(&build(folder.path(), ""));
        assert!(
            !told.contains("hunter2") && !told.contains("labels.password"),
            "{told}"
        );
    }
}

/// A label is there only with the whole of its text; a name may have got a prefix.
#[test]
fn labels_are_told_apart_by_the_whole_of_their_texts() {
    let folder = project(PROVIDER);
    let file = "config/crd/bases/machines.yaml";
    let crd = std::fs::read_to_string(folder.path().join(file)).unwrap();
    write(
        folder.path(),
        file,
        &crd.replace(".dev}", ".dev, labels: {team: foo-bar}}"),
    );
    write(
        folder.path(),
        "config/crd/kustomization.yaml",
        "resources: [bases/machines.yaml]\ncommonLabels: {team: bar}\n",
    );
    let text = told(&build(folder.path(), ""));
    assert!(
        text.contains("sets metadata.labels.team of CustomResourceDefinition/foohosts"),
        "{text}"
    );
}

#[test]
fn conversion_that_provider_yaml_does_not_say_is_told() {
    for (provider, expected) in [
        (PROVIDER.replace("  conversion: true\n", ""), 1),
        (
            PROVIDER.replace("conversion: true", "converts: [FooHost]"),
            0,
        ),
        (
            PROVIDER.replace("conversion: true", "converts: [FooBucket]"),
            1,
        ),
    ] {
        let folder = project(&provider);
        write(
            folder.path(),
            "config/crd/kustomization.yaml",
            "resources: [bases/machines.yaml]\npatches: [{path: patches/webhook_in_machines.yaml}]\n",
        );
        let text = told(&build(folder.path(), ""));
        assert_eq!(
            text.matches("help: write `conversion: true` under `manager` of provider.yaml")
                .count(),
            expected,
            "{provider}{text}"
        );
        assert_eq!(
            components(folder.path()).contains("strategy: Webhook"),
            expected == 0,
            "{provider}"
        );
    }
    // What has one version is never converted: kubebuilder's patch for it changes nothing.
    let folder = project(&PROVIDER.replace("  conversion: true\n", ""));
    write(
        folder.path(),
        "config/crd/bases/machines.yaml",
        &crd("FooHost", &["v1"]),
    );
    write(
        folder.path(),
        "config/crd/kustomization.yaml",
        "resources: [bases/machines.yaml]\npatches: [{path: patches/webhook_in_machines.yaml}]\n",
    );
    assert!(!told(&build(folder.path(), "")).contains("provider-kustomization-not-applied"));
    let folder = project(&PROVIDER.replace("conversion: true", "converts: [FooHosts]"));
    let text = told(&build(folder.path(), ""));
    assert!(
        text.contains("manager.converts[0] is `FooHosts`, which no CRD of the provider defines"),
        "{text}"
    );
}

#[test]
fn labels_that_other_fields_give_are_refused_under_crd_metadata() {
    for (label, help) in [
        (
            "cluster.x-k8s.io/provider: x",
            "the label is made of `type` and `name`",
        ),
        (
            "cluster.x-k8s.io/v1beta1: v1",
            "write `v1beta1: [VERSION]` under `contracts`",
        ),
    ] {
        let folder = project(&format!(
            "{PROVIDER}crdMetadata: [{{labels: {{{label}}}}}]\n"
        ));
        let output = build(folder.path(), "");
        assert!(
            output.status.code() == Some(1) && told(&output).contains(help),
            "{}",
            told(&output)
        );
    }
    let folder = project(&format!(
        "{PROVIDER}crdMetadata: [{{kinds: [FooBuckt], labels: {{a: b}}}}]\n"
    ));
    let text = told(&build(folder.path(), ""));
    assert!(text.contains("did you mean `FooBucket`?"), "{text}");
}

/// Review E04: `config/rbac/*.yaml` took kustomization.yaml, and nothing could be left out.
#[test]
fn patterns_leave_files_out() {
    let folder = project(&format!(
        "{PROVIDER}objects: [\"more/*.yaml\", more/a.yaml, \"!more/{{b,c}}.yaml\"]\n"
    ));
    let path = folder.path();
    for name in ["a", "b", "c", "d"] {
        write(
            path,
            &format!("more/{name}.yaml"),
            &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map-{name}}}\n"),
        );
    }
    write(
        path,
        "more/kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
    );
    let output = build(path, "");
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let maps: Vec<String> = components(path)
        .lines()
        .filter_map(|line| Some(line.trim().strip_prefix("name: foo-map-")?.to_owned()))
        .collect();
    assert_eq!(maps, ["a", "d"]);
    std::fs::remove_file(path.join("more/c.yaml")).unwrap();
    let text = told(&build(path, ""));
    assert!(
        text.contains("`more/c.yaml` is no file, so it leaves nothing out")
            && text.contains("provider.yaml:12:39"),
        "{text}"
    );
}

/// Review E04: "is there twice" did not say that the other one is ours.
#[test]
fn objects_that_are_made_too_are_told_in_their_file() {
    // What is made comes behind what files have, but roles come before.
    for (own, title) in [
        (
            "apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: selfsigned-issuer}\nspec: {selfSigned: {}}\n",
            "Issuer/foo-selfsigned-issuer",
        ),
        (
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: aggregated-manager-role}\nrules: []\n",
            "ClusterRole/foo-system-aggregated-manager-role",
        ),
    ] {
        let folder = project(&format!("{PROVIDER}objects: [own.yaml]\n"));
        write(folder.path(), "own.yaml", own);
        let text = told(&build(folder.path(), ""));
        for words in [
            &format!(
                "error[components-object-duplicated]: {title} is there twice\n  --> own.yaml:3:18"
            ),
            &format!("{title} is made from here"),
            "a list of patterns takes `!FILE`",
        ] {
            assert!(text.contains(words), "{words} is not in {text}");
        }
    }
}

const BUILT: &str = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: InfrastructureProvider\nnamespace: foo-system\ncomponents: \"-\"\n";

/// What kustomize prints is taken from standard input; contract labels that one value on all CRDs
/// makes wrong are corrected by `contracts`.
#[test]
fn components_come_from_standard_input() {
    let folder = project(BUILT);
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n---\n";
    let labelled = |kind: &str, label: &str| {
        crd(kind, &["v1"]).replace(
            ".dev}",
            &format!(".dev, labels: {{cluster.x-k8s.io/v1beta2: {label}}}}}"),
        )
    };
    let stream = format!(
        "{namespace}{}---\n{}",
        labelled("FooHost", "v1alpha1_v1"),
        labelled("FooBucket", "v1")
    );
    let output = build(folder.path(), &stream);
    let text = told(&output);
    assert!(
        output.status.code() == Some(0)
            && text.contains("warning[crd-contract-label-version-stale]")
            && text.contains("--> <stdin>:"),
        "{text}"
    );

    write(
        folder.path(),
        "provider.yaml",
        &format!("{BUILT}contracts: {{v1beta2: [v1alpha1, v1]}}\n"),
    );
    let output = build(folder.path(), &stream);
    let text = told(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("info[crd-contract-label-corrected]: label cluster.x-k8s.io/v1beta2 of CustomResourceDefinition/foohosts.infrastructure.foo.dev is `v1alpha1_v1` and becomes `v1`"), "{text}");
    assert_eq!(
        text.matches("becomes `v1`").count(),
        1,
        "the other label is right: {text}"
    );
    assert_eq!(
        components(folder.path())
            .matches("cluster.x-k8s.io/v1beta2: v1\n")
            .count(),
        2
    );

    write(
        folder.path(),
        "provider.yaml",
        &format!("{BUILT}contracts: {{v1beta2: [v1]}}\n"),
    );
    let other = stream.replace("v1alpha1_v1", "v2");
    let output = build(folder.path(), &other);
    let text = told(&output);
    assert!(
        output.status.code() == Some(1) && text.contains("error[crd-contract-label-wrong]"),
        "{text}"
    );
    assert!(
        text.contains(
            "correct `contracts`, or leave it out: then the labels of the file stay as they are"
        ),
        "{text}"
    );
}

/// In sources the contract labels stand in kustomizations, and not in the CRDs.
#[test]
fn labels_of_an_older_contract_are_told_at_the_kustomization() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "config/crd/bases/foos.yaml",
        &crd("FooMachine", &["v1"]),
    );
    let lint = |labels: &str, contract: &str| {
        write(
            folder.path(),
            "config/crd/kustomization.yaml",
            &format!("resources:\n- bases/foos.yaml\n{labels}"),
        );
        let output = support::windlass(folder.path())
            .args(["lint", "config", "-q", "--contract", contract])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let old = "labels:\n- pairs:\n    example.dev/team: a\n    cluster.x-k8s.io/v1alpha4: v0\n    cluster.x-k8s.io/v1beta1: v1\n";
    let said = lint(old, "v1beta2");
    assert_eq!(said.matches("crd-contract-outdated").count(), 1, "{said}");
    assert!(said.contains("config/crd/kustomization.yaml:7:"), "{said}");
    assert!(
        said.contains("for contract v1beta1, not v1beta2")
            && said.contains("add `cluster.x-k8s.io/v1beta2: VERSION`"),
        "{said}"
    );
    for (labels, contract) in [
        (old.to_owned(), "v1beta1"),
        (
            format!("{old}    cluster.x-k8s.io/v1beta2: v1\n"),
            "v1beta2",
        ),
        (
            "commonLabels: {a: b, other/v1beta1: v1}\n".to_owned(),
            "v1beta2",
        ),
        (
            "commonAnnotations: {cluster.x-k8s.io/v1beta1: v1}\n".to_owned(),
            "v1beta2",
        ),
    ] {
        let said = lint(&labels, contract);
        assert!(
            !said.contains("crd-contract-outdated"),
            "{labels}{contract}: {said}"
        );
    }
    assert!(
        lint("commonLabels: {cluster.x-k8s.io/v1beta1: v1}\n", "v1beta2")
            .contains("crd-contract-outdated")
    );
}
