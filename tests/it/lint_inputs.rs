//! `lint`: what each file is taken for by its name, its content and what lies beside it, and by
//! which release it is judged.

use std::fs;

use serde_json::Value;

use crate::support::{root, windlass};

fn base(name: &str) -> String {
    fs::read_to_string(root().join("tests/gate/base").join(name)).unwrap()
}

/// The forms of these files, the objects that were judged, and the rules of the findings with their
/// files.
fn lint(files: &[(&str, &str)], arguments: &[&str]) -> (Vec<String>, u64, Vec<String>) {
    let report = report(files, arguments);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let form = |file: &Value| format!("{} {}", text(&file["file"]), text(&file["form"]));
    let finding =
        |finding: &Value| format!("{} {}", text(&finding["rule"]), text(&finding["file"]));
    (
        report["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(form)
            .collect(),
        report["objects"].as_u64().unwrap(),
        report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(finding)
            .collect(),
    )
}

fn report(files: &[(&str, &str)], arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let output = windlass(folder.path())
        .args(["lint", "-o", "json"])
        .args(arguments)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
const KUSTOMIZATION: &str = "resources: [x.yaml]\n";

/// A file that is nearly called as components are is meant as such, unless kustomize takes it or
/// somebody says what it is.
#[test]
fn names_that_are_nearly_right_are_components() {
    let near = "infrastructure-component.yaml";
    let misnamed = format!("release-components-misnamed {near}");
    let (forms, objects, found) = lint(&[(near, CONFIG_MAP)], &[]);
    assert_eq!((forms, objects), (vec![format!("{near} components")], 1));
    assert!(found.contains(&misnamed), "{found:?}");
    let objects = vec![format!("{near} objects")];
    assert_eq!(
        lint(&[(near, CONFIG_MAP)], &["--as", "objects"]),
        (objects.clone(), 1, vec![])
    );
    let (forms, _, found) = lint(
        &[(near, CONFIG_MAP), ("kustomization.yaml", KUSTOMIZATION)],
        &[],
    );
    assert_eq!(
        (forms, found),
        (
            [
                &objects[..],
                &["kustomization.yaml kustomization".to_owned()]
            ]
            .concat(),
            vec![]
        )
    );
    // Beside the file of the right name it is no misspelling of it, and no copy either.
    let components = base("infrastructure-components.yaml");
    let (forms, objects, found) = lint(
        &[
            (near, &components),
            ("infrastructure-components.yaml", &components),
        ],
        &[],
    );
    assert_eq!(
        (forms, objects),
        (
            vec![
                format!("{near} components"),
                "infrastructure-components.yaml components".to_owned()
            ],
            30
        )
    );
    assert!(!found.contains(&misnamed), "{found:?}");
    let report = report(&[(near, &components)], &[]);
    let finding = &report["findings"][0];
    assert_eq!(
        finding["message"],
        "clusterctl looks for infrastructure-components.yaml, and not for infrastructure-component.yaml"
    );
    assert_eq!(
        finding["help"],
        "rename it: `mv infrastructure-component.yaml infrastructure-components.yaml`"
    );
}

/// Components of another name are a copy beside those of the right name, a part where kustomize
/// makes them, and else the components.
#[test]
fn components_of_any_name_are_what_lies_beside_them() {
    let components = base("infrastructure-components.yaml");
    let (install, named) = ("a/install.yaml", "a/infrastructure-components.yaml");
    let kustomization = ("a/kustomization.yaml", KUSTOMIZATION);
    for (files, forms, objects) in [
        (
            &[(install, components.as_str())][..],
            &["a/install.yaml components"][..],
            15,
        ),
        (
            &[
                (install, &components),
                ("b/infrastructure-components.yaml", &components),
            ],
            &[
                "a/install.yaml components",
                "b/infrastructure-components.yaml components",
            ],
            30,
        ),
        (
            &[(named, &components), (install, &components)],
            &[
                "a/infrastructure-components.yaml components",
                "a/install.yaml copy",
            ],
            15,
        ),
        (
            &[(install, &components), kustomization],
            &[
                "a/install.yaml objects",
                "a/kustomization.yaml kustomization",
            ],
            15,
        ),
        (
            &[(named, &components), kustomization],
            &[
                "a/infrastructure-components.yaml components",
                "a/kustomization.yaml kustomization",
            ],
            15,
        ),
        (
            &[("a/b/install.yaml", &components), kustomization],
            &[
                "a/b/install.yaml components",
                "a/kustomization.yaml kustomization",
            ],
            15,
        ),
    ] {
        let (found_forms, found_objects, _) = lint(files, &[]);
        assert_eq!(
            (found_forms, found_objects),
            (
                forms.iter().map(|form| (*form).to_owned()).collect(),
                objects
            )
        );
    }
    let (forms, objects, _) = lint(
        &[(named, &components), (install, &components)],
        &["--as", "components"],
    );
    assert_eq!(
        (forms, objects),
        (
            vec![
                format!("{named} components"),
                format!("{install} components")
            ],
            30
        )
    );
    // A patch is judged by nobody, unless somebody says that it is none.
    let patched = [
        ("a/kustomization.yaml", "patches: [{path: p.yaml}]\n"),
        ("a/p.yaml", CONFIG_MAP),
    ];
    assert_eq!(lint(&patched, &[]).0[1], "a/p.yaml patch");
    assert_eq!(
        lint(&patched, &["--as", "objects"]).0[1],
        "a/p.yaml objects"
    );
    // A template stays one, and so does what lies beside a release.
    let cluster = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: a}\n";
    assert_eq!(
        lint(&[patched[0], ("a/p.yaml", cluster)], &[]).0[1],
        "a/p.yaml template"
    );
    assert_eq!(
        lint(&[(named, &components), ("a/z.yaml", CONFIG_MAP)], &[]).0[1],
        "a/z.yaml objects"
    );
    // What is no object, or a part of one, is not counted.
    let fragment = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n";
    assert_eq!(
        lint(
            &[(
                "x.yaml",
                &format!("{CONFIG_MAP}---\n{fragment}---\napiVersion: v1\nx: 1\n")
            )],
            &[]
        )
        .1,
        1
    );
}

/// A template is whole where clusterctl takes it as it is: of that name, beside no kustomization,
/// and patched by none.
#[test]
fn templates_are_whole_where_clusterctl_takes_them() {
    let text = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: \"${CLUSTER_NAME}\"}\nspec:\n  \
                infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: FooCluster, name: a}\n";
    let (whole, base) = (("a/cluster-template.yaml", text), ("a/base.yaml", text));
    let missing = |file: &str| vec![format!("template-reference-missing {file}")];
    for (files, arguments, found) in [
        (&[whole][..], &[][..], missing("a/cluster-template.yaml")),
        (&[base], &[], vec![]),
        (&[base], &["--as", "template"], missing("a/base.yaml")),
        (
            &[whole, ("a/kustomization.yaml", KUSTOMIZATION)],
            &[],
            vec![],
        ),
        (
            &[whole, ("kustomization.yaml", KUSTOMIZATION)],
            &[],
            missing("a/cluster-template.yaml"),
        ),
        (
            &[
                whole,
                (
                    "kustomization.yaml",
                    "patches: [{path: a/cluster-template.yaml}]\n",
                ),
            ],
            &[],
            vec![],
        ),
    ] {
        assert_eq!(lint(files, arguments).2, found, "{files:?} {arguments:?}");
    }
}

/// Where nothing is of a provider, it is said, at the file if it is one alone.
#[test]
fn input_of_nothing_is_an_error() {
    let help =
        "name a components file, CRDs, a metadata.yaml, templates, or a folder with some of them";
    let nothing = "no file holds an object of Kubernetes or a metadata.yaml";
    for (files, message, file) in [
        (&[][..], "there is no file to judge", Value::Null),
        (&[("a.yaml", "a: 1\n")], nothing, Value::from("a.yaml")),
        (
            &[("a.yaml", "a: 1\n"), ("b.yaml", "a: 1\n")],
            nothing,
            Value::Null,
        ),
    ] {
        let report = report(files, &[]);
        let findings = report["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{report:#}");
        let of = |field: &str| findings[0][field].clone();
        assert_eq!(
            (of("rule"), of("message"), of("file"), of("help")),
            (
                "lint-input-missing".into(),
                message.into(),
                file,
                help.into()
            )
        );
    }
    let metadata = base("metadata.yaml");
    assert_eq!(
        lint(&[("a.yaml", "a: 1\n"), ("metadata.yaml", &metadata)], &[]).2,
        [""; 0]
    );
}

/// What a provider is of tells its components file, else its label; the label of the core tells
/// nothing.
#[test]
fn the_type_of_a_provider_is_that_of_its_file_or_label() {
    let components = base("infrastructure-components.yaml")
        .replace("infrastructure.cluster.x-k8s.io", "foo.dev")
        .replace("provisioned:", "other:");
    let of_label = |label: &str| {
        components.replace(
            "provider: infrastructure-foo",
            &format!("provider: {label}"),
        )
    };
    let missing = |file: &str| {
        lint(&[(file, &components)], &[])
            .2
            .iter()
            .filter(|found| found.starts_with("crd-contract-field-missing"))
            .count()
    };
    assert_eq!(
        [
            "install.yaml",
            "infrastructure-components.yaml",
            "addon-components.yaml"
        ]
        .map(missing),
        [2, 2, 0]
    );
    for (label, count) in [
        ("bootstrap-foo", 0),
        ("addon-foo", 0),
        ("infrastructure-foo", 2),
        ("cluster-api", 2),
    ] {
        let (_, _, found) = lint(&[("install.yaml", &of_label(label))], &[]);
        assert_eq!(
            found
                .iter()
                .filter(|found| **found == "crd-contract-field-missing install.yaml")
                .count(),
            count,
            "{label}: {found:?}"
        );
    }
}

fn series(series: &[(u32, u32, &str)]) -> String {
    let listed = series.iter().map(|(major, minor, contract)| {
        format!("- {{major: {major}, minor: {minor}, contract: {contract}}}\n")
    });
    format!(
        "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n{}",
        listed.collect::<String>()
    )
}

/// A folder of a version is judged as that release, any other as one of the newest series; the
/// series are those of metadata.yaml.
#[test]
fn releases_are_judged_by_their_version_or_the_newest_series() {
    let components = base("infrastructure-components.yaml");
    let promised = |found: &[String]| {
        found
            .iter()
            .any(|found| found.starts_with("crd-contract-label-missing"))
    };
    for (listed, in_newest, in_first) in [
        ([(0, 1, "v1beta1"), (0, 2, "v1beta2")], false, true),
        ([(0, 1, "v1beta2"), (0, 2, "v1beta1")], true, false),
        ([(0, 2, "v1beta1"), (0, 1, "v1beta2")], true, false),
        ([(0, 2, "v1beta2"), (0, 1, "v1beta1")], false, true),
        ([(1, 0, "v1beta1"), (0, 1, "v1beta2")], true, false),
    ] {
        let metadata = series(&listed);
        let of = |folder: &str| {
            let paths = ["metadata.yaml", "infrastructure-components.yaml"]
                .map(|file| format!("{folder}/{file}"));
            lint(&[(&paths[0], &metadata), (&paths[1], &components)], &[]).2
        };
        let (by_itself, released) = (of("out"), of("v0.1.0"));
        assert_eq!(
            (promised(&by_itself), promised(&released)),
            (in_newest, in_first),
            "{listed:?}"
        );
        let other = |found: &[String]| {
            found
                .iter()
                .any(|found| found.starts_with("components-image-version-other"))
        };
        assert_eq!(
            (other(&by_itself), other(&released)),
            (false, true),
            "{by_itself:?}"
        );
    }
    let metadata = series(&[(0, 1, "v1beta2")]);
    let of = |folder: &str, file: &str| lint(&[(&format!("{folder}/{file}"), &metadata)], &[]).2;
    assert_eq!(
        of("v0.9.0", "metadata.yaml"),
        ["metadata-series-missing v0.9.0/metadata.yaml"]
    );
    // Only metadata.yaml is what clusterctl reads.
    assert_eq!(of("v0.9.0", "other.yaml"), [""; 0]);
    assert_eq!(
        [of("v0.1.0", "metadata.yaml"), of("0.9.0", "metadata.yaml")],
        [vec![""; 0], vec![]]
    );
}
