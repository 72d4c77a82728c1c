//! `release build`: our own release is the one in `releases/`, the same at each build, and sound.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass::builtin::builtin;
use windlass_capi::contract::labels;
use windlass_release::commands::release_build::{self, Order, image_override, version};
use windlass_release::emit::release::Release;
use windlass_source::budget::Budget;

use crate::support::{self, run, windlass};

/// The newest release in `releases/`.
const NEWEST: &str = "releases/bootstrap-windlass/v0.2.0";

/// Our own release, built anew.
pub(crate) fn built() -> Release {
    let (providers, inputs, report) = builtin();
    release_build::run(
        &providers,
        report,
        &inputs,
        Order::of(&version("v0.2.0").unwrap()),
    )
}

/// The objects of its components.
pub(crate) fn objects(release: &Release) -> Vec<Value> {
    support::documents(release.files.get("bootstrap-components.yaml").unwrap())
}

#[test]
fn committed_release_is_what_the_sources_give() {
    let release = built();
    assert!(release.report.is_empty(), "{:#?}", release.report);
    for (path, bytes) in &release.files {
        support::golden(
            &format!("{NEWEST}/{path}"),
            std::str::from_utf8(bytes).unwrap(),
        );
    }
    let committed: BTreeSet<String> = std::fs::read_dir(support::root().join(NEWEST))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        committed,
        release.files.paths().map(str::to_owned).collect(),
        "files of {NEWEST}"
    );
}

#[test]
fn two_builds_give_the_same_bytes() {
    assert_eq!(built().files, built().files);
}

/// Book, clusterctl: "Target namespace", "Labels"; clusterctl's delete takes cluster-wide roles by
/// the prefix of their names.
#[test]
fn every_object_is_labelled_and_where_it_belongs() {
    let namespaced = [
        "ServiceAccount",
        "Role",
        "RoleBinding",
        "Service",
        "Deployment",
        "Certificate",
        "Issuer",
    ];
    for object in objects(&built()) {
        let (kind, metadata) = (object["kind"].as_str().unwrap(), &object["metadata"]);
        assert_eq!(
            metadata["labels"][labels::PROVIDER],
            "bootstrap-windlass",
            "{kind}"
        );
        if namespaced.contains(&kind) {
            assert_eq!(metadata["namespace"], "windlass-system", "{kind}");
        } else {
            assert_eq!(metadata.get("namespace"), None, "{kind}");
        }
        if kind.starts_with("ClusterRole") {
            assert!(
                metadata["name"]
                    .as_str()
                    .unwrap()
                    .starts_with("windlass-system-"),
                "{kind}"
            );
        }
    }
}

/// Book, clusterctl: one Namespace, CRDs, RBAC, controllers and webhooks in one file.
#[test]
fn components_hold_everything_that_installs_the_provider() {
    let count = |objects: &[Value], kind: &str| {
        objects
            .iter()
            .filter(|object| object["kind"] == kind)
            .count()
    };
    let objects = objects(&built());
    for (kind, expected) in [
        ("Namespace", 1),
        ("CustomResourceDefinition", 2),
        ("ServiceAccount", 1),
        ("Role", 1),
        ("ClusterRole", 2),
        ("RoleBinding", 1),
        ("ClusterRoleBinding", 1),
        ("Service", 1),
        ("Deployment", 1),
        ("Certificate", 1),
        ("Issuer", 1),
        ("ValidatingWebhookConfiguration", 1),
        ("MutatingWebhookConfiguration", 0),
    ] {
        assert_eq!(count(&objects, kind), expected, "{kind}");
    }
    assert_eq!(objects[0]["kind"], "Namespace", "the Namespace comes first");
}

/// No `$` that substitution would eat: apart from the variables of the arguments the components
/// come out of it as they went in.
#[test]
fn substitution_changes_only_the_variables_of_the_manager() {
    let release = built();
    let text =
        std::str::from_utf8(release.files.get("bootstrap-components.yaml").unwrap()).unwrap();
    let template = windlass_envsubst::parse(text).unwrap();
    let names: Vec<&str> = template.uses().iter().map(|used| used.name).collect();
    assert!(
        !names.is_empty() && names.iter().all(|name| name.starts_with("WINDLASS_")),
        "{names:?}"
    );
    assert!(
        template.variables().values().all(Option::is_some),
        "every variable has a default"
    );
    let expected: String = text
        .lines()
        .map(|line| match (line.find("\"--"), line.find("${")) {
            (Some(_), Some(start)) => {
                let (name, default) = line[start + 2..line.len() - 2].split_once(":=").unwrap();
                assert!(name.starts_with("WINDLASS_"));
                format!("{}{default}\"\n", &line[..start])
            }
            _ => format!("{line}\n"),
        })
        .collect();
    let substituted = template
        .substitute(|_| None::<String>, &Budget::default())
        .unwrap();
    assert_eq!(substituted.text().unwrap(), expected);
}

#[test]
fn crds_are_structural() {
    let release = built();
    let crds: Vec<Value> = objects(&release)
        .into_iter()
        .filter(|object| object["kind"] == "CustomResourceDefinition")
        .collect();
    assert_eq!(crds.len(), 2);
    for crd in crds {
        assert_eq!(
            windlass_schema::structural::check(&crd, &Budget::default()),
            []
        );
    }
}

#[test]
fn image_is_the_one_that_is_given() {
    let (providers, inputs, report) = builtin();
    let image = image_override(
        "registry.example:5000/team/manager@sha256:0000000000000000000000000000000000000000000000000000000000000000",
    );
    let release = release_build::run(
        &providers,
        report,
        &inputs,
        Order {
            images: &[image.unwrap()],
            ..Order::of(&version("v0.2.0").unwrap())
        },
    );
    let images: Vec<&str> = release.images.iter().map(String::as_str).collect();
    assert_eq!(
        images,
        [
            "registry.example:5000/team/manager@sha256:0000000000000000000000000000000000000000000000000000000000000000"
        ]
    );
}

#[test]
fn templates_use_only_the_common_variables_and_ours() {
    let common = [
        "CLUSTER_NAME",
        "NAMESPACE",
        "KUBERNETES_VERSION",
        "CONTROL_PLANE_MACHINE_COUNT",
        "WORKER_MACHINE_COUNT",
    ];
    let with_default = [
        "POD_CIDR",
        "SERVICE_CIDR",
        "SERVICE_DOMAIN",
        "AWS_CONTROL_PLANE_MACHINE_TYPE",
        "AWS_NODE_MACHINE_TYPE",
    ];
    let of_aws = ["AWS_REGION", "AWS_SSH_KEY_NAME", "AWS_S3_BUCKET_NAME"];
    let release = built();
    for (path, bytes) in release
        .files
        .iter()
        .filter(|(path, _)| path.starts_with("cluster"))
    {
        let template = windlass_envsubst::parse(bytes).unwrap();
        for (name, default) in template.variables() {
            let known = if default.is_some() {
                with_default.contains(&name.as_str())
            } else {
                common.contains(&name.as_str())
            };
            assert!(
                known
                    || path == "cluster-template-flatcar-aws.yaml"
                        && of_aws.contains(&name.as_str()),
                "{path}: {name}"
            );
        }
    }
}

/// Each variable and flavor of the templates is in the book (checklist CC-33).
#[test]
fn the_book_names_flavors_and_variables() {
    let page = std::fs::read_to_string(support::root().join("docs/book/src/bootstrap-provider.md"))
        .unwrap();
    for (path, bytes) in &built().files {
        let Some(flavor) = windlass_capi::contract::template_flavor(path) else {
            continue;
        };
        assert!(
            flavor.is_empty() || page.contains(&format!("`{flavor}`")),
            "the book does not name the flavor {flavor}"
        );
        for name in windlass_envsubst::parse(bytes).unwrap().variables().keys() {
            assert!(
                page.contains(&format!("`{name}`")),
                "the book does not name {name} of {path}"
            );
        }
    }
}

/// Reproducible builds, `SOURCE_DATE_EPOCH`.
#[test]
fn takes_the_date_from_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "release",
        "build",
        "v0.2.0",
        "--provider",
        "builtin",
        "--to",
    ];
    let dated = windlass(support::root())
        .args(arguments)
        .arg(folder.path().join("out"))
        .env("SOURCE_DATE_EPOCH", "86400")
        .output()
        .unwrap();
    assert!(dated.status.success());
    let sbom = std::fs::read(folder.path().join("out/sbom.spdx.json")).unwrap();
    let sbom: Value = serde_json::from_slice(&sbom).unwrap();
    assert_eq!(sbom["creationInfo"]["created"], "1970-01-02T00:00:00Z");
}

/// `generate` prints what the release has of each, and nothing else.
#[test]
fn one_artifact_is_what_the_release_has_of_it() {
    let release = built();
    let print = |artifact: &str| {
        run(support::root(), &format!("generate {artifact}"))
            .ok()
            .stdout
            .into_bytes()
    };
    for (artifact, file) in [
        ("metadata", "metadata.yaml"),
        ("template", "cluster-template.yaml"),
        ("template topology", "cluster-template-topology.yaml"),
        ("clusterclass windlass", "clusterclass-windlass.yaml"),
    ] {
        assert_eq!(print(artifact), release.files.get(file).unwrap(), "{file}");
    }
    let of_kinds = |kinds: &[&str]| {
        let mut objects = objects(&release);
        objects.retain(|object| kinds.contains(&object["kind"].as_str().unwrap()));
        objects
    };
    let rbac = [
        "ServiceAccount",
        "Role",
        "ClusterRole",
        "RoleBinding",
        "ClusterRoleBinding",
    ];
    assert_eq!(support::documents(&print("rbac")), of_kinds(&rbac));
    assert_eq!(
        support::documents(&print("crds")),
        of_kinds(&["CustomResourceDefinition"])
    );
}

/// The packages of the image's SBOM are related to the image.
#[test]
fn sbom_relates_packages_to_the_image() {
    let folder = tempfile::tempdir().unwrap();
    let crates = serde_json::json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5",
        "metadata": {"component": {"bom-ref": "m", "name": "program", "version": "1", "supplier": {"name": "x"}}},
        "components": [{"bom-ref": "l", "name": "lib", "version": "2", "purl": "pkg:cargo/lib@2"}],
        "dependencies": [{"ref": "m", "dependsOn": ["l"]}],
    });
    std::fs::write(folder.path().join("crates.json"), crates.to_string()).unwrap();
    for given in ["crates.json", "bootstrap-windlass=crates.json"] {
        let build = "release build v0.2.0 --provider builtin --to out --force --sbom";
        run(folder.path(), &format!("{build} {given}")).ok();
        let text = std::fs::read_to_string(folder.path().join("out/sbom.spdx.json")).unwrap();
        let sbom: Value = serde_json::from_str(&text).unwrap();
        let id = |name: &str| {
            let packages = sbom["packages"].as_array().unwrap();
            packages
                .iter()
                .find(|package| package["name"].as_str().unwrap().starts_with(name))
                .unwrap()["SPDXID"]
                .clone()
        };
        let related = |from: &str, kind: &str, to: &str| {
            let relation = serde_json::json!({"spdxElementId": id(from), "relationshipType": kind, "relatedSpdxElement": id(to)});
            sbom["relationships"]
                .as_array()
                .unwrap()
                .contains(&relation)
        };
        assert!(
            related(
                "ghcr.io/windlass-dev/windlass-manager",
                "CONTAINS",
                "program"
            ) && related("program", "DEPENDS_ON", "lib"),
            "{text}"
        );
    }
}
