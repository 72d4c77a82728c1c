//! The pages of rules hold what they say: a release with what stands under *Bad* raises exactly
//! that rule, with what stands under *Good* nothing. The examples are laid over the sound release
//! in `tests/gate/base`; what stands below `previous/` is laid over the release before and, first,
//! over the new one. *Good* has the release before of *Bad*.

#[path = "../gate/examples.rs"]
pub(crate) mod examples;

use std::collections::BTreeSet;

use examples::{Example, documents, example, examples_of, overlaid, release};
use semver::Version;
use windlass::diag::Rule;
use windlass::ops::lint;
use windlass::ops::release_check::{self, Files, Request};
use windlass::text::budget::Budget;
use windlass::text::source::Source;

use crate::support::{root, windlass};

/// The version that the base is released as.
const VERSION: Version = Version::new(0, 2, 0);

/// The rules that an example raises: a release is checked, sources of one are linted.
fn raised(files: &Example) -> BTreeSet<&'static str> {
    if files
        .keys()
        .any(|path| path.ends_with("kustomization.yaml"))
    {
        return raised_by_sources(files);
    }
    let tree = release(root(), files, "");
    let previous = files
        .keys()
        .any(|path| path.starts_with("previous/"))
        .then(|| release(root(), files, "previous/"));
    let request = Request {
        release: Files {
            tree: &tree,
            shown: "out",
        },
        version: &VERSION,
        previous: previous.as_ref().map(|tree| Files {
            tree,
            shown: "previous",
        }),
        roles: &Default::default(),
        budget: &Budget::default(),
    };
    release_check::run(&request)
        .report
        .findings()
        .iter()
        .map(|finding| finding.rule.id)
        .collect()
}

fn raised_by_sources(files: &Example) -> BTreeSet<&'static str> {
    let sources: Vec<Source> = files
        .iter()
        .map(|(path, text)| Source::new(path.as_str(), text.as_str()))
        .collect();
    let budget = Budget::default();
    let request = lint::Request {
        sources: &sources,
        form: None,
        contract: None,
        roles: &Default::default(),
        budget: &budget,
    };
    lint::run(&request)
        .report
        .findings()
        .iter()
        .map(|finding| finding.rule.id)
        .collect()
}

fn with_page() -> impl Iterator<Item = &'static Rule> {
    windlass::ops::rules::all()
        .into_iter()
        .filter(|rule| !rule.page.is_empty())
}

/// The rules that have a page. [`pages_hold`] raises them.
pub(crate) fn raised_by_pages() -> BTreeSet<String> {
    with_page().map(|rule| rule.id.to_owned()).collect()
}

#[test]
fn the_base_is_sound() {
    assert_eq!(raised(&Example::new()), BTreeSet::new());
}

#[test]
fn pages_hold() {
    let mut faults = Vec::new();
    for rule in with_page() {
        let (bad, good) = examples_of(rule.page);
        if bad.is_empty() || good.is_empty() {
            faults.push(format!(
                "{}: a page has blocks under `## Bad` and `## Good`",
                rule.id
            ));
            continue;
        }
        let (found, left) = (raised(&bad), raised(&good));
        if found != BTreeSet::from([rule.id]) {
            faults.push(format!("{}: *Bad* raises {found:?}", rule.id));
        }
        if !left.is_empty() {
            faults.push(format!("{}: *Good* raises {left:?}", rule.id));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn examples_are_read_and_laid_over_the_base() {
    let page = "Text.\n\n## Bad\n\n```yaml a.yaml\nx: 1\n```\n\nand\n\n```yaml previous/b.yaml\ny: 2\n```\n\n## Good\n\n```yaml a.yaml\nx: 3\n```\n";
    let bad = example(page, "Bad");
    assert_eq!(
        bad.iter()
            .map(|(name, text)| format!("{name}={text}"))
            .collect::<Vec<_>>(),
        ["a.yaml=x: 1\n", "previous/b.yaml=y: 2\n"]
    );
    assert_eq!(example(page, "Good").len(), 1);
    let base = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nspec: {b: 1, c: [1, 2]}\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}\n";
    let patch = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nspec: {b: null, c: [3]}\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}\n$patch: delete\n---\nkind: C\n";
    let merged = documents(&overlaid(base, patch));
    assert_eq!(
        merged,
        [
            serde_json::json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "spec": {"c": [3]}}),
            serde_json::json!({"kind": "C"}),
        ]
    );
}

/// What is released here, and what examples of providers are made of.
#[test]
fn what_is_ours_has_no_finding() {
    let harbour = tempfile::tempdir().unwrap();
    crate::support::copy(&root().join("examples/harbour"), harbour.path());
    let built = windlass(harbour.path())
        .args(["release", "build", "v0.1.0", "--to", "out"])
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    for (folder, arguments) in [
        (
            root(),
            &[
                "lint",
                "releases",
                "templates",
                "metadata.yaml",
                "examples/kubeadm-configs",
            ][..],
        ),
        (root(), &["lint", "examples/harbour"]),
        (root(), &["lint", "tests/gate/base"]),
        (
            root(),
            &[
                "release",
                "check",
                "v0.1.0",
                "releases/bootstrap-windlass/v0.1.0",
            ],
        ),
        (
            root(),
            &[
                "release",
                "check",
                "v0.2.0",
                "releases/bootstrap-windlass/v0.2.0",
                "--previous",
                "releases/bootstrap-windlass/v0.1.0",
            ],
        ),
        (harbour.path(), &["lint"]),
        (harbour.path(), &["release", "check", "v0.1.0", "out"]),
    ] {
        let output = windlass(folder).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && said.lines().count() == 1,
            "{arguments:?}:\n{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// Releases that were published without their series: each is told, by the command that would have
/// kept it back.
#[test]
fn published_releases_without_their_series_are_told() {
    for (project, version) in [
        ("k0sproject+k0smotron", "v1.6.0"),
        ("k3s-io+cluster-api-k3s", "v0.2.0"),
        ("kubernetes-sigs+cluster-api-provider-aws", "v2.2.0"),
        ("kubernetes-sigs+cluster-api-provider-vsphere", "v1.1.0"),
    ] {
        let Some(folder) = crate::support::shared(&format!("corpus/{project}@{version}")) else {
            return;
        };
        let output = windlass(&folder)
            .args(["release", "check", version, "."])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let series = version.trim_start_matches('v').rsplit_once('.').unwrap().0;
        let expected = format!(
            "error[metadata-series-missing]: ./metadata.yaml does not list series {series} of {version}"
        );
        assert!(said.contains(&expected), "{project}: {said}");
    }
}

/// A pipeline that lacks one thing learns of the other in the same run.
#[test]
fn a_series_is_missed_without_components_too() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(
        root().join("tests/gate/base/metadata.yaml"),
        folder.path().join("metadata.yaml"),
    )
    .unwrap();
    let rules = |version: &str| {
        let output = windlass(folder.path())
            .args(["release", "check", version, "."])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.lines()
            .filter_map(|line| Some(line.strip_prefix("error[")?.split(']').next()?.to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(rules("v0.2.0"), ["release-components-missing"]);
    let mut both = rules("v0.3.0");
    both.sort();
    assert_eq!(
        both,
        ["metadata-series-missing", "release-components-missing"]
    );
}

/// What the project says of its kinds counts for the rules: a kind that its name takes for a
/// machine has no contract to fulfil.
#[test]
fn roles_of_the_project_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let file = "infrastructure-components.yaml";
    let base = std::fs::read_to_string(root().join("tests/gate/base").join(file)).unwrap();
    let without_provider_id = base.replace("              providerID: {type: string}\n", "");
    assert_ne!(base, without_provider_id);
    std::fs::write(folder.path().join(file), without_provider_id).unwrap();
    let metadata = "tests/gate/base/metadata.yaml";
    std::fs::copy(root().join(metadata), folder.path().join("metadata.yaml")).unwrap();
    let finds = |settings: &str, arguments: &[&str]| {
        std::fs::write(folder.path().join("windlass.toml"), settings).unwrap();
        let output = windlass(folder.path()).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.contains("error[crd-contract-field-missing]") && said.contains("providerID")
    };
    for arguments in [&["lint", "."][..], &["release", "check", "v0.2.0", "."]] {
        assert!(finds("", arguments), "{arguments:?}");
        assert!(
            !finds(
                "[roles]\nFooMachine = \"none\"\nFooMachineTemplate = \"none\"\n",
                arguments
            ),
            "{arguments:?}"
        );
    }
}

/// Who builds a release says what kinds are in the same place as who judges one.
#[test]
fn roles_of_the_project_are_taken_by_the_build() {
    let folder = tempfile::tempdir().unwrap();
    crate::support::copy(&root().join("examples/harbour"), folder.path());
    let finds = |settings: &str, arguments: &[&str]| {
        std::fs::write(folder.path().join("windlass.toml"), settings).unwrap();
        let output = windlass(folder.path()).args(arguments).output().unwrap();
        let said = [output.stdout, output.stderr]
            .map(|text| String::from_utf8(text).unwrap())
            .concat();
        said.contains("error[crd-contract-field-missing]") && said.contains("HarbourCluster")
    };
    for arguments in [
        &["release", "build", "v0.1.0", "--to", "out"][..],
        &["generate", "components"],
    ] {
        assert!(!finds("", arguments), "{arguments:?}");
        assert!(
            finds("[roles]\nHarbourCluster = \"InfraMachine\"\n", arguments),
            "{arguments:?}"
        );
    }
}

/// A folder with which nothing can be compared must not look like a release to which nothing has
/// changed.
#[test]
fn a_previous_release_that_cannot_be_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    crate::support::copy(&root().join("tests/gate/base"), &folder.path().join("out"));
    let said = |files: &[(&str, &str)]| {
        let previous = folder.path().join("previous");
        let _ = std::fs::remove_dir_all(&previous);
        std::fs::create_dir(&previous).unwrap();
        files
            .iter()
            .for_each(|(name, text)| std::fs::write(previous.join(name), text).unwrap());
        let output = windlass(folder.path())
            .args([
                "release",
                "check",
                "v0.2.0",
                "out",
                "--previous",
                "previous",
            ])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = told
            .lines()
            .filter_map(|line| Some(line.strip_prefix("error[")?.split(']').next()?.to_owned()));
        (output.status.code(), errors.collect::<Vec<_>>())
    };
    let base =
        |name: &str| std::fs::read_to_string(root().join("tests/gate/base").join(name)).unwrap();
    let (components, metadata) = (
        base("infrastructure-components.yaml"),
        base("metadata.yaml"),
    );
    let (components, metadata) = (
        ("infrastructure-components.yaml", components.as_str()),
        ("metadata.yaml", metadata.as_str()),
    );
    assert_eq!(said(&[components, metadata]), (Some(0), vec![]));
    assert_eq!(
        said(&[metadata]),
        (Some(1), vec!["release-components-missing".to_owned()])
    );
    assert_eq!(
        said(&[components]),
        (Some(1), vec!["release-asset-metadata-missing".to_owned()])
    );
    assert_eq!(
        said(&[("infrastructure-components.yaml", "a: ["), metadata]).0,
        Some(1)
    );
    // What is only unlovely in it is nobody's business any more.
    assert_eq!(
        said(&[
            components,
            ("metadata.yaml", &metadata.1.replace("kind: Metadata\n", ""))
        ]),
        (Some(0), vec![])
    );
}

/// What a file is taken for, and whether it was judged.
#[test]
fn files_say_what_they_were_taken_for() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        std::fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
        std::fs::write(folder.path().join(path), text).unwrap();
    };
    let components =
        std::fs::read_to_string(root().join("tests/gate/base/infrastructure-components.yaml"))
            .unwrap();
    write("out/infrastructure-components.yaml", &components);
    write("out/install.yaml", &components);
    write("config/kustomization.yaml", "patches:\n- path: p.yaml\n");
    write(
        "config/p.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
    );
    write(
        "config/role.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
    write("values.yaml", "a: 1\n");
    let output = windlass(folder.path())
        .args(["lint", "-o", "json"])
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let files = report["files"].as_array().unwrap().iter();
    let said: Vec<String> = files
        .map(|file| {
            format!(
                "{} {} {}",
                file["file"].as_str().unwrap(),
                file["form"].as_str().unwrap(),
                file["judged"]
            )
        })
        .collect();
    let expected = [
        "config/kustomization.yaml kustomization true",
        "config/p.yaml patch false",
        "config/role.yaml objects true",
        "out/infrastructure-components.yaml components true",
        "out/install.yaml copy false",
        "values.yaml other false",
    ];
    assert_eq!(said, expected);
}

/// Webhooks of one folder may fill in what objects of another folder's templates lack; without them
/// the field is missing.
#[test]
fn webhooks_of_one_folder_count_for_templates_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.foo.dev}\nspec:\n  group: foo.dev\n  \
               names: {kind: Foo, listKind: FooList, plural: foos, singular: foo}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    \
               storage: true\n    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [size], properties: {size: {type: string}}}}}}\n";
    let webhook = "---\napiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: foo}\nwebhooks:\n- name: a.foo.dev\n  \
                   rules: [{apiGroups: [foo.dev], apiVersions: [v1], operations: [CREATE], resources: [foos]}]\n";
    write(
        "b/cluster-template.yaml",
        "apiVersion: foo.dev/v1\nkind: Foo\nmetadata: {name: \"${CLUSTER_NAME}\"}\nspec: {}\n",
    );
    let lacks = || {
        let output = windlass(folder.path())
            .args(["lint", ".", "-q"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("[template-field-missing]")
    };
    write("a/infrastructure-components.yaml", crd);
    assert!(lacks());
    write(
        "a/infrastructure-components.yaml",
        &format!("{crd}{webhook}"),
    );
    assert!(!lacks());
}
