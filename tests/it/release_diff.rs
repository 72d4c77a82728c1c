//! `release diff`: what changes between two releases, told object by object and field by field.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::support::{shared, windlass};

const OLD: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: foo-system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: foo-system}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - {name: proxy, image: \"p:v1\"}
      - {name: manager, image: \"m:v0.1.0\", args: [--leader-elect, \"--v=${LEVEL:=0}\"]}
---
apiVersion: rbac.authorization.k8s.io/v1beta1
kind: ClusterRole
metadata: {name: gone}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: foo-system}
stringData: {password: hunter2, user: u}
";

const NEW: &str = "\
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: foo-system}
stringData: {password: correcthorse, user: u}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: come}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: foo-system}
spec:
  template:
    spec:
      containers:
      - {name: manager, image: \"m:v0.2.0\", args: [--leader-elect, \"--v=${LEVEL:=2}\"]}
      - {name: proxy, image: \"p:v1\"}
---
apiVersion: v1
kind: Namespace
metadata: {name: foo-system}
";

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta1}\n";

/// Two releases in a folder: `old` and `new`.
fn releases() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for (side, components) in [("old", OLD), ("new", NEW)] {
        write(
            &format!("{side}/infrastructure-components.yaml"),
            components,
        );
        write(&format!("{side}/install.yaml"), components);
        write(
            &format!("{side}/cluster-template.yaml"),
            "apiVersion: c/v1\nkind: Cluster\nmetadata: {name: '${CLUSTER_NAME}'}\n",
        );
    }
    write("old/metadata.yaml", METADATA);
    write(
        "new/metadata.yaml",
        &format!("{METADATA}- {{major: 0, minor: 2, contract: v1beta2}}\n"),
    );
    write(
        "new/cluster-template-ha.yaml",
        "apiVersion: c/v1\nkind: Cluster\nmetadata: {name: '${CLUSTER_NAME}'}\n",
    );
    folder
}

fn run(folder: &Path, arguments: &str) -> (i32, String, String) {
    let output = windlass(folder)
        .args(["release", "diff"])
        .args(arguments.split(' '))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn objects_come_first_and_then_their_fields() {
    let folder = releases();
    let (code, stdout, stderr) = run(folder.path(), "old new");
    assert_eq!((code, stderr.as_str()), (0, ""));
    let overview: Vec<&str> = stdout.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(
        overview,
        [
            "changed  Secret/s in foo-system: 1 field",
            "changed  Deployment/manager in foo-system: 4 fields",
            "added    ClusterRole/come",
            "removed  ClusterRole/gone",
            "added    cluster-template-ha.yaml: Cluster/${CLUSTER_NAME}",
            "changed  metadata.yaml: Metadata: 1 field",
            "changed  install.yaml (file)",
        ]
    );
    let fields = "
Secret/s in foo-system
  stringData.password
    <redacted> (both are secret)

Deployment/manager in foo-system
  spec.replicas
    -1
  spec.template.spec.containers[name=manager].args[1]
    ---v=${LEVEL:=0}
    +--v=${LEVEL:=2}
  spec.template.spec.containers[name=manager].image
    -m:v0.1.0
    +m:v0.2.0
  spec.template.spec.containers
    in another order
    -[\"proxy\",\"manager\"]
    +[\"manager\",\"proxy\"]

metadata.yaml: Metadata
  releaseSeries[major=0,minor=2]
    +contract: v1beta2
    +major: 0
    +minor: 2
2 objects added, 1 object removed, 3 objects changed, 2 objects unchanged, 1 file without objects of their own differs
";
    assert_eq!(
        stdout[overview.iter().map(|line| line.len() + 1).sum::<usize>()..],
        *fields
    );
}

#[test]
fn equal_releases_have_no_difference_and_exit_codes_follow_what_was_asked() {
    let folder = releases();
    assert_eq!(
        run(folder.path(), "old old --exit-code"),
        (0, "6 objects unchanged\n".to_owned(), String::new())
    );
    assert_eq!(run(folder.path(), "old new").0, 0);
    assert_eq!(run(folder.path(), "old new --exit-code").0, 1);
    assert_eq!(run(folder.path(), "old new --exit-code -o json").0, 1);
    // Only files without objects differ.
    fs::copy(
        folder.path().join("old/install.yaml"),
        folder.path().join("old/images.txt"),
    )
    .unwrap();
    let copy = folder.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for file in [
        "infrastructure-components.yaml",
        "install.yaml",
        "cluster-template.yaml",
        "metadata.yaml",
    ] {
        fs::copy(folder.path().join("old").join(file), copy.join(file)).unwrap();
    }
    let (code, stdout, _) = run(folder.path(), "copy old --exit-code");
    assert_eq!(
        (code, stdout.lines().next().unwrap()),
        (1, "added    images.txt (file)")
    );
    assert_eq!(run(folder.path(), "old nothing").0, 2);
}

#[test]
fn a_file_is_compared_with_a_file_or_with_the_components_of_a_release() {
    let folder = releases();
    let (code, stdout, stderr) = run(
        folder.path(),
        "old/infrastructure-components.yaml new/infrastructure-components.yaml",
    );
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(
        stdout
            .ends_with("1 object added, 1 object removed, 2 objects changed, 1 object unchanged\n"),
        "{stdout}"
    );
    let (code, stdout, stderr) = run(
        folder.path(),
        "new/infrastructure-components.yaml new --exit-code",
    );
    assert_eq!((code, stdout.as_str()), (0, "4 objects unchanged\n"));
    let note = "note: the other side is one file, so only the components of new are compared, not cluster-template-ha.yaml, cluster-template.yaml, metadata.yaml\n";
    assert_eq!(stderr, note);
    // A folder that has no components has nothing to prefer.
    fs::remove_file(folder.path().join("new/infrastructure-components.yaml")).unwrap();
    let (_, stdout, stderr) = run(folder.path(), "new/cluster-template.yaml new");
    assert!(
        stdout.ends_with("2 objects added, 1 object unchanged\n") && stderr.is_empty(),
        "{stdout}{stderr}"
    );
}

#[test]
fn secrets_are_shown_only_when_that_is_asked_for() {
    let folder = releases();
    for format in ["text", "json", "github"] {
        let (_, stdout, stderr) = run(folder.path(), &format!("old new -o {format}"));
        let told = stdout + &stderr;
        assert!(
            told.contains("password")
                && !told.contains("hunter2")
                && !told.contains("correcthorse"),
            "{told}"
        );
        let (_, stdout, _) = run(
            folder.path(),
            &format!("old new -o {format} --show-secrets"),
        );
        assert!(
            stdout.contains("hunter2") && stdout.contains("correcthorse"),
            "{stdout}"
        );
    }
}

#[test]
fn programs_get_values_and_github_a_comment() {
    let folder = releases();
    let (_, stdout, stderr) = run(folder.path(), "old new -o json");
    let json: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["kind"], "ReleaseDiff");
    let difference = &json["difference"];
    let deployment = difference["objects"]
        .as_array()
        .unwrap()
        .iter()
        .find(|object| object["kind"] == "Deployment")
        .unwrap();
    assert_eq!(
        (
            &deployment["group"],
            &deployment["namespace"],
            &deployment["file"]
        ),
        (&"apps".into(), &"foo-system".into(), &Value::Null)
    );
    let image = &deployment["fields"][2];
    assert_eq!(
        *image,
        serde_json::json!({"path": "spec.template.spec.containers[name=manager].image", "change": "changed", "old": "m:v0.1.0", "new": "m:v0.2.0"})
    );
    assert_eq!(deployment["fields"][3]["change"], "reordered");
    assert_eq!(
        difference["files"],
        serde_json::json!([{"path": "install.yaml", "change": "changed"}])
    );
    assert_eq!(
        (&difference["unchanged"], stderr.lines().count()),
        (&2.into(), 1)
    );

    let (_, stdout, _) = run(folder.path(), "old new -o github");
    assert!(
        stdout.starts_with("### <code>old</code> → <code>new</code>\n\n2 objects added, "),
        "{stdout}"
    );
    assert!(
        stdout.contains("| added | <code>ClusterRole/come</code> |\n"),
        "{stdout}"
    );
    let folded = "<details><summary><code>Deployment/manager in foo-system</code></summary>\n\n```diff\n  spec.replicas\n- 1\n";
    assert!(stdout.contains(folded), "{stdout}");
}

#[test]
fn a_repository_is_not_a_release_and_its_versions_are() {
    let folder = releases();
    for (side, version) in [("old", "v0.1.0"), ("new", "v0.2.0")] {
        let to = folder.path().join("r/infrastructure-foo").join(version);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(folder.path().join(side), to).unwrap();
    }
    let (code, stdout, stderr) = run(folder.path(), "r r/infrastructure-foo/v0.2.0");
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(
        stderr.contains("r is a repository with 2 releases, not a release"),
        "{stderr}"
    );
    assert!(
        stderr.contains("name the folder of one version: `r/infrastructure-foo/v0.2.0`"),
        "{stderr}"
    );
    let (code, stdout, _) = run(
        folder.path(),
        "r/infrastructure-foo/v0.1.0 r/infrastructure-foo/v0.2.0",
    );
    assert!(
        code == 0 && stdout.contains("added    ClusterRole/come\n"),
        "{stdout}"
    );
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_compared() {
    let folder = releases();
    fs::write(
        folder.path().join("broken.yaml"),
        format!("{OLD}---\na: [\n"),
    )
    .unwrap();
    fs::write(
        folder.path().join("flow.yaml"),
        "kind: A\nmetadata: {name: ${NAME:=foo}}\nspec: {a: ${B}}\n",
    )
    .unwrap();
    let (code, stdout, stderr) = run(
        folder.path(),
        "broken.yaml old/infrastructure-components.yaml",
    );
    assert!(
        code == 1 && stdout.contains("4 objects unchanged") && stderr.contains("--> broken.yaml:"),
        "{stdout}{stderr}"
    );
    let (code, stdout, stderr) = run(folder.path(), "flow.yaml old/metadata.yaml");
    assert!(
        code == 0 && stdout.contains("removed  A/foo\n"),
        "{stdout}{stderr}"
    );
    assert!(
        stderr.contains(
            "info[diff-variables-replaced]: flow.yaml is compared with its variables replaced"
        ),
        "{stderr}"
    );
}

/// Group, kind, namespace and name of every object, by another reader.
fn names(text: &str) -> BTreeSet<(String, String, Option<String>, String)> {
    let documents = serde_yaml::Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).unwrap());
    let name = |object: Value| {
        let api_version = object["apiVersion"].as_str().unwrap();
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        (
            group.to_owned(),
            text(&object["kind"]).unwrap(),
            text(&object["metadata"]["namespace"]),
            text(&object["metadata"]["name"]).unwrap(),
        )
    };
    documents
        .filter(|object| !object.is_null())
        .map(name)
        .collect()
}

#[test]
fn real_components_change_as_another_reader_sees_it() {
    let Some(corpus) = shared("corpus/published") else {
        return;
    };
    let cluster_api = corpus.join("kubernetes-sigs+cluster-api@v1.12.0");
    let sides = ["bootstrap-components.yaml", "core-components.yaml"]
        .map(|file| cluster_api.join(file))
        .map(|file| {
            assert!(file.is_file(), "{}", file.display());
            file
        });
    let texts = sides
        .each_ref()
        .map(|file| fs::read_to_string(file).unwrap());
    let [old, new] = texts.each_ref().map(|text| names(text));
    let (code, stdout, stderr) = run(
        &corpus,
        &format!("{} {} -o json", sides[0].display(), sides[1].display()),
    );
    assert_eq!(code, 0, "{stderr}");
    let json: Value = serde_json::from_str(&stdout).unwrap();
    let mut told: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
    for object in json["difference"]["objects"].as_array().unwrap() {
        let text = |key: &str| object[key].as_str().map(str::to_owned);
        let name = (
            text("group").unwrap(),
            text("kind").unwrap(),
            text("namespace"),
            text("name").unwrap(),
        );
        told.entry(text("change").unwrap())
            .or_default()
            .insert(name);
    }
    assert_eq!(
        told.get("added").cloned().unwrap_or_default(),
        new.difference(&old).cloned().collect()
    );
    assert_eq!(
        told.get("removed").cloned().unwrap_or_default(),
        old.difference(&new).cloned().collect()
    );
}
