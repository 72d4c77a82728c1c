//! `lint`: the form of each file, the type of its provider, and the order of series. Messages are in
//! `tests/cases/lint`.

use std::fs;

use serde_json::Value;

use crate::support::{root, run};

fn base(name: &str) -> String {
    fs::read_to_string(root().join("tests/gate/base").join(name)).unwrap()
}

fn report(files: &[(&str, &str)]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    run(folder.path(), "lint -o json").json()
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

/// `rule file` of each finding.
fn lint(files: &[(&str, &str)]) -> Vec<String> {
    let report = report(files);
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| format!("{} {}", text(finding, "rule"), text(finding, "file")))
        .collect()
}

/// The form that each file is read as, and whether it was checked.
#[test]
fn reports_the_form_of_each_file() {
    let components = base("infrastructure-components.yaml");
    let report = report(&[
        ("out/infrastructure-components.yaml", &components),
        ("out/install.yaml", &components),
        ("config/kustomization.yaml", "patches:\n- path: p.yaml\n"),
        (
            "config/p.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
        ),
        (
            "config/role.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        ),
        ("values.yaml", "a: 1\n"),
    ]);
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

/// The type of a provider is that of its components file, or of its label; the label of the core has
/// no type.
#[test]
fn reads_type_of_provider_from_file_or_label() {
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
        lint(&[(file, &components)])
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
        let found = lint(&[("install.yaml", &of_label(label))]);
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

/// A folder with the name of a version is checked as that release, any other folder as a release of
/// the newest series in metadata.yaml.
#[test]
fn checks_releases_by_version_or_newest_series() {
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
            lint(&[(&paths[0], &metadata), (&paths[1], &components)])
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
    let of = |folder: &str, file: &str| lint(&[(&format!("{folder}/{file}"), &metadata)]);
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

/// The line, message and help of the series that is out of order.
fn unordered(listed: &[(u32, u32)]) -> Option<(u64, String, String)> {
    let listed: Vec<_> = listed
        .iter()
        .map(|(major, minor)| (*major, *minor, "v1beta2"))
        .collect();
    let report = report(&[("metadata.yaml", &series(&listed))]);
    let finding = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["rule"] == "metadata-series-unordered")?;
    Some((
        finding["line"].as_u64().unwrap(),
        text(finding, "message"),
        text(finding, "help"),
    ))
}

/// The first series has line 4. Oldest or newest first are both an order; the first entry that
/// leaves the order of those before it is reported.
#[test]
fn reports_series_out_of_order() {
    for sound in [
        &[(0, 1)][..],
        &[(0, 1), (0, 2), (1, 0)],
        &[(1, 0), (0, 10), (0, 9)],
        &[(0, 2), (0, 2), (0, 1), (0, 1)],
        &[(0, 9), (0, 10), (1, 0), (1, 1)],
    ] {
        assert_eq!(unordered(sound), None, "{sound:?}");
    }
    for (series, line, name) in [
        (&[(0, 1), (0, 3), (0, 2)][..], 6, "0.2"),
        (&[(0, 2), (0, 1), (0, 3)], 6, "0.3"),
        (&[(0, 1), (0, 2), (0, 4), (0, 3), (0, 5)], 7, "0.3"),
        (&[(0, 5), (0, 4), (0, 3), (1, 0), (0, 2)], 7, "1.0"),
        (&[(0, 9), (1, 0), (0, 10)], 6, "0.10"),
        // A repeated series has a finding of its own.
        (&[(0, 1), (0, 1), (0, 3), (0, 2)], 7, "0.2"),
        (&[(0, 2), (0, 3), (0, 3), (0, 1)], 7, "0.1"),
    ] {
        let expected = (
            line,
            format!("series {name} is out of order"),
            "list the series from the oldest to the newest".to_owned(),
        );
        assert_eq!(unordered(series), Some(expected), "{series:?}");
    }
    let placeholder = "series 0.0 is a placeholder: no release is of it".to_owned();
    assert_eq!(
        unordered(&[(0, 1), (0, 0)]),
        Some((5, placeholder, "remove the entry".to_owned()))
    );
}
