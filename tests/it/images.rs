//! `images` beside kubeadm, and what is made of its list. What it prints is in
//! `tests/cases/images`.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::support::{METADATA, TWO, documents, root, run, shared, vectors};

/// The recorded releases, and what kubeadm printed for each case: `CASE TAB IMAGE`.
fn recorded() -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(vectors("kubeadm-images"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "tsv"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            let version = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (version, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

/// The images of the machine of `kubeadm init` that kubeadm pulls, in their order.
fn of_kubeadm(report: &Value) -> Vec<String> {
    let machines = report["machines"].as_array().unwrap();
    let init = machines.iter().find(|machine| machine["role"] == "init");
    let images = init.unwrap()["images"].as_array().unwrap();
    images
        .iter()
        .map(|image| image["image"].as_str().unwrap().to_owned())
        .collect()
}

/// Every case of every recorded release: `kubeadm config images list` of the release.
#[test]
fn kubeadms_images_are_those_that_kubeadm_lists() {
    let releases = recorded();
    assert!(!releases.is_empty());
    let folder = tempfile::tempdir().unwrap();
    for (version, text) in &releases {
        let cases: BTreeSet<&str> = text
            .lines()
            .filter_map(|line| line.split('\t').next())
            .collect();
        assert!(cases.len() > 10, "{version}: {cases:?}");
        for case in cases {
            let path = vectors("kubeadm-images/cases").join(case);
            let input = std::fs::read_to_string(path.join("control-plane.yaml")).unwrap();
            let input = input.replace("KUBERNETES_VERSION", version);
            write(folder.path(), "c.yaml", &input);
            let expected: Vec<&str> = text
                .lines()
                .filter_map(|line| line.split_once('\t'))
                .filter(|(of, _)| *of == case)
                .map(|(_, image)| image)
                .collect();
            let output = run(folder.path(), "images c.yaml -o json");
            assert_eq!(of_kubeadm(&output.json()), expected, "{version} {case}");
            assert_eq!(
                output.json()["findings"],
                Value::Array(Vec::new()),
                "{version} {case}"
            );
        }
    }
}

/// A list that another project publishes: RamenDR's `test/registry/kubeadm/README.md` shows what
/// kubeadm prints for these two releases.
#[test]
fn published_lists_of_images_are_covered() {
    for (version, etcd) in [("v1.34.0", "3.6.4-0"), ("v1.34.1", "3.6.4-0")] {
        let folder = tempfile::tempdir().unwrap();
        let path = vectors("kubeadm-images/cases/defaults/control-plane.yaml");
        let input = std::fs::read_to_string(path).unwrap();
        write(
            folder.path(),
            "c.yaml",
            &input.replace("KUBERNETES_VERSION", version),
        );
        let report = run(folder.path(), "images c.yaml -o json").ok().json();
        let expected = [
            format!("registry.k8s.io/kube-apiserver:{version}"),
            format!("registry.k8s.io/kube-controller-manager:{version}"),
            format!("registry.k8s.io/kube-scheduler:{version}"),
            format!("registry.k8s.io/kube-proxy:{version}"),
            "registry.k8s.io/coredns/coredns:v1.12.1".to_owned(),
            "registry.k8s.io/pause:3.10.1".to_owned(),
            format!("registry.k8s.io/etcd:{etcd}"),
        ];
        assert_eq!(of_kubeadm(&report), expected);
    }
}

const EXAMPLE: &str = "examples/control-plane.yaml";

/// Zarf's `zarf.dev/v1alpha1` (`src/api/v1alpha1` of zarf): names match `^[a-z0-9][a-z0-9\-]*$`,
/// there is a component, and no other key than these is used.
#[test]
fn zarf_gets_a_package_definition() {
    let output = run(root(), &format!("images {EXAMPLE} -o zarf")).ok();
    let package = documents(output.stdout.as_bytes()).remove(0);
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let name = regex::Regex::new(r"^[a-z0-9][a-z0-9\-]*$").unwrap();
    assert_eq!(
        keys(&package),
        ["apiVersion", "components", "kind", "metadata"]
    );
    assert_eq!(package["apiVersion"], "zarf.dev/v1alpha1");
    assert_eq!(package["kind"], "ZarfPackageConfig");
    assert_eq!(keys(&package["metadata"]), ["description", "name"]);
    assert!(name.is_match(package["metadata"]["name"].as_str().unwrap()));
    let components = package["components"].as_array().unwrap();
    assert_eq!(components.len(), 2, "init and control-plane-join");
    for component in components {
        assert_eq!(keys(component), ["images", "name", "required"]);
        assert!(name.is_match(component["name"].as_str().unwrap()));
        assert_eq!(component["required"], true);
        assert!(component["images"].as_array().unwrap().len() >= 7);
    }
}

/// Hauler's `content.hauler.cattle.io/v1` (`pkg/apis/hauler.cattle.io/v1/image.go`).
#[test]
fn hauler_gets_a_manifest() {
    let output = run(root(), &format!("images {EXAMPLE} -o hauler")).ok();
    let list = run(root(), &format!("images {EXAMPLE} -o list")).ok();
    let manifest = documents(output.stdout.as_bytes()).remove(0);
    assert_eq!(manifest["apiVersion"], "content.hauler.cattle.io/v1");
    assert_eq!(manifest["kind"], "Images");
    let images = manifest["spec"]["images"].as_array().unwrap();
    let names: Vec<&str> = images
        .iter()
        .map(|image| image["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, list.stdout.lines().collect::<Vec<_>>());
    assert!(
        images
            .iter()
            .all(|image| image.as_object().unwrap().len() == 1)
    );
}

#[cfg(unix)]
#[test]
fn bundles_copy_images_of_machines_under_their_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write(path, "provider.yaml", TWO);
    write(path, "metadata.yaml", METADATA);
    run(path, "release build v0.1.0 --to out").ok();
    run(path, "repository add out --to r").ok();
    let example = root().join("examples/control-plane.yaml");
    let arguments = example.display().to_string();
    run(
        path,
        &format!("repository bundle r --images-of {arguments} --write-to b.tar"),
    )
    .ok();
    let unpacked = |file: &str| {
        let output = std::process::Command::new("tar")
            .args(["-xOf", "b.tar", file])
            .current_dir(path)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (list, script) = (unpacked("images.txt"), unpacked("mirror.sh"));
    let of_machines = run(path, &format!("images {arguments} -o list"))
        .ok()
        .stdout;
    let of_releases = run(path, "repository images r").ok().stdout;
    for image in of_machines.lines().chain(of_releases.lines()) {
        assert!(list.lines().any(|line| line == image), "{image}");
        assert!(script.contains(&format!("copy '{image}' ")), "{image}");
    }
    assert!(
        script
            .contains("copy 'registry.k8s.io/coredns/coredns:v1.12.1' 'coredns/coredns:v1.12.1' ")
    );
}

/// Templates of real providers: no name has a marker of a variable, a shell's variable or a
/// placeholder in it, and every rendered control plane has kubeadm's images.
#[test]
fn templates_of_real_providers_are_listed() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let mut count = 0;
    for folder in [
        "kubernetes-sigs+cluster-api-provider-aws",
        "kubernetes-sigs+cluster-api-provider-azure",
        "kubernetes-sigs+cluster-api-provider-vsphere",
        "metal3-io+cluster-api-provider-metal3",
        "nutanix-cloud-native+cluster-api-provider-nutanix",
    ] {
        let files = crate::support::files_below(&corpus.join(folder));
        let templates = files.iter().filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("cluster-template") && name.ends_with(".yaml")
        });
        for path in templates.take(20) {
            let arguments = format!(
                "images {} --template --kubernetes-version v1.34.1 -o json",
                path.display()
            );
            let output = run(root(), &arguments);
            let report = output.json();
            for image in report["images"].as_array().unwrap() {
                let image = image.as_str().unwrap();
                assert!(
                    !image.contains("placeholder") && !image.contains(['$', '{', ' ']),
                    "{}: {image}",
                    path.display()
                );
            }
            for machine in report["machines"].as_array().unwrap() {
                if machine["role"] == "init" {
                    let images = machine["images"].to_string();
                    assert!(images.contains("/kube-apiserver:"), "{}", path.display());
                    count += 1;
                }
            }
        }
    }
    assert!(count > 10, "{count}");
}
