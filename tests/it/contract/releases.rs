//! Files and versions of releases, metadata.yaml, local repositories, and one release after another
//! (BC-18, CC-01, CC-04 to CC-16, CC-56, OP-27 to OP-29, OP-31).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use semver::Version;
use serde_json::{Value, json};
use windlass_provider::parse;
use windlass_repository::{self as repository, Destination};
use windlass_source::Source;
use windlass_source::budget::Budget;

use super::{RELEASE, crds, items};
use crate::support::{documents, root};

/// CC-01, CC-04, CC-16: the files of a release, flat, so that each can be an asset of its tag.
#[test]
fn release_holds_metadata_and_components_as_assets() {
    let paths: Vec<&str> = RELEASE.files.paths().collect();
    assert!(
        paths.contains(&"metadata.yaml") && paths.contains(&"bootstrap-components.yaml"),
        "{paths:?}"
    );
    assert_eq!(
        paths
            .iter()
            .filter(|path| path.ends_with("-components.yaml"))
            .count(),
        1
    );
    assert!(paths.iter().all(|path| !path.contains('/')), "{paths:?}");
}

fn metadata() -> Value {
    documents(RELEASE.files.get("metadata.yaml").unwrap()).remove(0)
}

/// CC-11, CC-12.
#[test]
fn metadata_lists_the_series_of_the_release() {
    let metadata = metadata();
    assert_eq!(
        metadata["apiVersion"],
        "clusterctl.cluster.x-k8s.io/v1alpha3"
    );
    assert_eq!(metadata["kind"], "Metadata");
    let series = items(&metadata["releaseSeries"]);
    assert_eq!(
        series
            .iter()
            .filter(|series| series["major"] == 0 && series["minor"] == 1)
            .count(),
        1,
        "v0.1.0 is of series 0.1"
    );
}

/// CC-13, OP-27: metadata.yaml, labels and status fields speak of one contract.
#[test]
fn contract_is_the_same_in_all_three_places() {
    let metadata = metadata();
    let contract = items(&metadata["releaseSeries"]).last().unwrap()["contract"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(contract, "v1beta2");
    for crd in crds() {
        assert_eq!(
            crd["metadata"]["labels"][format!("cluster.x-k8s.io/{contract}")],
            "v1beta2",
            "{}",
            crd["metadata"]["name"]
        );
    }
    let newest = items(&crds()[0]["spec"]["versions"])
        .last()
        .unwrap()
        .clone();
    let status = &newest["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"];
    assert_eq!(
        status["initialization"]["properties"]["dataSecretCreated"]["type"],
        "boolean"
    );
}

/// CC-09.
#[test]
fn names_of_providers_are_those_that_clusterctl_takes() {
    let rules = |name: &str| -> Vec<&str> {
        let text = format!(
            "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: {name:?}\ntype: AddonProvider\ngroup: x.example\nnamespace: x-system\ncrds: [a.yaml]\n"
        );
        parse(&Source::new("provider.yaml", text), &Budget::default())
            .1
            .findings()
            .iter()
            .map(|finding| finding.rule.id)
            .collect()
    };
    for good in ["a", "windlass", "rke2-k3s", "0x9", &"n".repeat(63)] {
        assert_eq!(rules(good), [""; 0], "{good}");
    }
    for bad in [
        "",
        "Windlass",
        "wind_lass",
        "-a",
        "a-",
        "a.b",
        &"n".repeat(64),
    ] {
        assert_eq!(rules(bad), ["provider-value-rejected"], "{bad}");
    }
}

/// CC-07, CC-08, CC-47, CC-56: `{label}/{version}/` with all files, and an entry with name, url and
/// type.
#[test]
fn local_repository_has_a_folder_for_each_version() {
    let (assets, report) = repository::release_of(
        &RELEASE.files,
        "out",
        repository::Stated::default(),
        &Budget::default(),
    );
    assert!(report.is_empty(), "{report:?}");
    let added = repository::add(
        &RELEASE.files,
        &assets,
        Destination {
            base: "/repository",
            configuration: None,
        },
        &Budget::default(),
    );
    let folders: Vec<&str> = added
        .placements
        .iter()
        .map(|placement| placement.folder.as_str())
        .collect();
    assert_eq!(folders, ["bootstrap-windlass/v0.2.0"]);
    assert_eq!(added.placements[0].files, RELEASE.files);
    let configuration = &documents(added.configuration.unwrap().as_bytes())[0];
    let url = "/repository/bootstrap-windlass/latest/bootstrap-components.yaml";
    assert_eq!(
        configuration["providers"],
        json!([{"name": "windlass", "type": "BootstrapProvider", "url": url}])
    );
}

/// The CRDs of a release in `releases/`.
fn crds_of(folder: &Path) -> Vec<Value> {
    let text = std::fs::read(folder.join("bootstrap-components.yaml")).unwrap();
    documents(&text)
        .into_iter()
        .filter(|object| object["kind"] == "CustomResourceDefinition")
        .collect()
}

/// The committed releases, from old to new.
fn releases() -> Vec<(Version, PathBuf)> {
    let folder = root().join("releases/bootstrap-windlass");
    let mut found: Vec<(Version, PathBuf)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (
                Version::parse(
                    name.strip_prefix('v')
                        .expect("a version folder begins with v"),
                )
                .unwrap(),
                entry.path(),
            )
        })
        .collect();
    found.sort();
    found
}

/// The fields of a schema, by path.
fn fields(path: &str, schema: &Value, found: &mut BTreeSet<String>) {
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        fields(&path, child, found);
        found.insert(path);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[key].is_object() {
            fields(&format!("{path}{suffix}"), &schema[key], found);
        }
    }
}

/// Kinds, served versions and, unless the minor version rises, fields: what a release has that the
/// next one must not lose.
fn promises(crds: &[Value], with_fields: bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for crd in crds {
        let name = crd["metadata"]["name"].as_str().unwrap();
        for entry in items(&crd["spec"]["versions"])
            .iter()
            .filter(|entry| entry["served"] == true)
        {
            let version = format!("{name} {}", entry["name"].as_str().unwrap());
            if with_fields {
                fields(&version, &entry["schema"]["openAPIV3Schema"], &mut found);
            }
            found.insert(version);
        }
    }
    found
}

/// What the newer of two releases lost.
fn lost(old: &[Value], new: &[Value], same_series: bool) -> Vec<String> {
    promises(old, same_series)
        .difference(&promises(new, same_series))
        .cloned()
        .collect()
}

/// BC-18, OP-28, OP-29: at most two API versions; none disappears from one release to the next, and
/// no field within a series.
#[test]
fn releases_keep_what_earlier_ones_had() {
    let releases = releases();
    assert!(!releases.is_empty());
    for (version, folder) in &releases {
        for crd in crds_of(folder) {
            assert!(
                items(&crd["spec"]["versions"]).len() <= 2,
                "v{version} {}",
                crd["metadata"]["name"]
            );
        }
    }
    for pair in releases.windows(2) {
        let [(old, old_folder), (new, new_folder)] = pair else {
            unreachable!()
        };
        let same_series = (old.major, old.minor) == (new.major, new.minor);
        assert_eq!(
            lost(&crds_of(old_folder), &crds_of(new_folder), same_series),
            [""; 0],
            "from v{old} to v{new}"
        );
    }
}

/// The test above finds what it is for.
#[test]
fn lost_versions_and_fields_are_seen() {
    let old = crds().map(Value::clone);
    let mut without_version = old.clone();
    without_version[0]["spec"]["versions"]
        .as_array_mut()
        .unwrap()
        .remove(0);
    assert_eq!(
        lost(&old, &without_version, false),
        ["windlassconfigs.bootstrap.windlass.dev v1beta1"]
    );
    let mut without_field = old.clone();
    let status = &mut without_field[0]["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]
        ["status"]["properties"];
    status.as_object_mut().unwrap().remove("dataSecretName");
    assert_eq!(lost(&old, &without_field, false), [""; 0]);
    assert_eq!(
        lost(&old, &without_field, true),
        ["windlassconfigs.bootstrap.windlass.dev v1beta2.status.dataSecretName"]
    );
}

/// OP-31: versions, contracts and how to upgrade stand in the book, for each series of
/// metadata.yaml.
#[test]
fn the_book_says_what_each_series_is_compatible_with() {
    let page = std::fs::read_to_string(root().join("docs/book/src/bootstrap-provider.md")).unwrap();
    for series in items(&metadata()["releaseSeries"]) {
        let (major, minor, contract) = (
            &series["major"],
            &series["minor"],
            series["contract"].as_str().unwrap(),
        );
        let row = format!("| v{major}.{minor} | {contract} |");
        assert!(page.contains(&row), "the book has no row {row}");
    }
    assert!(page.contains("Upgrades may skip series"));
}
