//! `repository` with the built program: several processes at once, links and modes of files, and
//! bundles as other programs read them.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{METADATA, TWO, root, run, windlass};

/// What `clusterctl init` installs beside the providers of a release: the core, and cert-manager
/// with an image in an argument.
const CORE: &str = "apiVersion: v1
kind: Namespace
metadata: {name: capi-system, labels: {cluster.x-k8s.io/provider: cluster-api}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: capi-system-manager, namespace: capi-system, labels: {cluster.x-k8s.io/provider: cluster-api}}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: manager, image: \"registry.k8s.io/capi/core:${CORE_TAG:=v0.1.0}\"}]}
";
const CERT_MANAGER: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certificates.cert-manager.io, labels: {app.kubernetes.io/version: v1.21.1}}
spec: {group: cert-manager.io}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cert-manager, namespace: cert-manager, labels: {app.kubernetes.io/version: v1.21.1}}
spec:
  template:
    spec:
      containers:
      - name: controller
        image: quay.io/jetstack/cert-manager-controller:v1.21.1
        args: [--v=2, --acme-http01-solver-image=quay.io/jetstack/cert-manager-acmesolver:v1.21.1]
";

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A folder with a release of two providers in `out`.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("provider.yaml"), TWO).unwrap();
    std::fs::write(folder.path().join("metadata.yaml"), METADATA).unwrap();
    run(folder.path(), "release build v0.1.0 --to out").ok();
    folder
}

/// A repository that has all that `clusterctl init` installs.
fn whole() -> tempfile::TempDir {
    let folder = project();
    std::fs::create_dir(folder.path().join("core")).unwrap();
    for (file, text) in [
        ("core/core-components.yaml", CORE),
        ("core/metadata.yaml", METADATA),
        ("cert-manager.yaml", CERT_MANAGER),
    ] {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let add = "repository add core cert-manager.yaml out --to repository";
    run(folder.path(), add).ok();
    folder
}

#[test]
fn names_the_committed_repository_by_a_variable() {
    let url = "\"${WINDLASS_REPOSITORY}/bootstrap-windlass/latest/bootstrap-components.yaml\"";
    let configuration = read(root().join("releases/clusterctl.yaml"));
    assert!(configuration.contains(url), "{configuration}");
    let list = run(root(), "repository list releases").ok().stdout;
    let newest: Vec<&str> = list.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(
        newest[..4],
        [
            "bootstrap-windlass",
            "BootstrapProvider",
            "v0.2.0",
            "v1beta2"
        ]
    );
}

/// The url in the message depends on the folder of the test, so this is not a case.
#[test]
fn reports_urls_of_another_repository() {
    let folder = project();
    let path = folder.path();
    run(path, "repository add out --to other").ok();
    run(path, "repository add out --to r").ok();
    std::fs::copy(
        path.join("other/clusterctl.yaml"),
        path.join("r/clusterctl.yaml"),
    )
    .unwrap();
    let report = run(path, "repository add out --to r").ok().stderr;
    assert_eq!(report.matches("warning[repository-entry-other]").count(), 2);
    assert!(!report.contains("repository-entry-stale"), "{report}");
}

#[test]
fn rejects_bundle_that_was_changed_on_the_way() {
    let folder = project();
    let path = folder.path();
    run(path, "repository add out --to repository").ok();
    run(path, "repository bundle repository --write-to b.tar").ok();
    let mut bytes = std::fs::read(path.join("b.tar")).unwrap();
    let at = bytes
        .windows(11)
        .position(|window| window == b"kind: Names")
        .unwrap();
    bytes[at] = b'K';
    std::fs::write(path.join("b.tar"), &bytes).unwrap();
    let rejected = run(path, "repository add b.tar --to other");
    assert_eq!(rejected.code, 1);
    assert!(
        rejected.stderr.contains("error[bundle-checksum-wrong]"),
        "{rejected:?}"
    );
    assert!(!path.join("other").exists());
}

#[test]
fn adds_entries_of_releases_that_are_added_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("metadata.yaml"), METADATA).unwrap();
    let names: Vec<String> = (0..8).map(|number| format!("foo{number}")).collect();
    for name in &names {
        let first = TWO.split("---").next().unwrap();
        let provider = first.replace("name: foo", &format!("name: {name}"));
        std::fs::write(path.join("provider.yaml"), provider).unwrap();
        run(path, &format!("release build v0.1.0 --to {name}")).ok();
    }
    for repository in ["first", "second", "third"] {
        let add = |name: &String| {
            let mut command = windlass(path);
            command.args(["repository", "add", name, "--to", repository]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let running: Vec<_> = names.iter().map(add).collect();
        for process in running {
            let output = process.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
        let configuration = read(path.join(repository).join("clusterctl.yaml"));
        for name in &names {
            assert!(
                configuration.contains(&format!("- name: {name}\n")),
                "{name} is lost: {configuration}"
            );
        }
        assert!(!path.join(repository).join(".windlass.lock").exists());
    }
}

#[cfg(unix)]
#[test]
fn keeps_links_and_modes_of_files_of_the_user() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = project();
    let root = folder.path();
    std::fs::create_dir(root.join("repository")).unwrap();
    for (kept, link, content) in [
        ("kept.yaml", "repository/clusterctl.yaml", "A: b # c\n"),
        ("ours.yaml", "metadata.yaml", METADATA),
    ] {
        let _ = std::fs::remove_file(root.join(link));
        std::fs::write(root.join(kept), content).unwrap();
        std::fs::set_permissions(root.join(kept), std::fs::Permissions::from_mode(0o600)).unwrap();
        symlink(root.join(kept), root.join(link)).unwrap();
    }
    run(root, "repository add out --to repository").ok();
    run(root, "release bump v0.2.0").ok();
    for (kept, link, added) in [
        ("kept.yaml", "repository/clusterctl.yaml", "- name: foo\n"),
        ("ours.yaml", "metadata.yaml", "  minor: 2\n"),
    ] {
        let kept = root.join(kept);
        assert_eq!(std::fs::read_link(root.join(link)).unwrap(), kept);
        let mode = std::fs::metadata(&kept).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(read(&kept).contains(added), "{}", kept.display());
    }
}

/// The bundle has the images that `repository images` lists at the other site: variables are not
/// packed, and the environment of the packing user has no effect.
#[test]
fn packs_the_images_that_are_listed() {
    let folder = whole();
    let path = folder.path();
    let config = path.join("repository/clusterctl.yaml");
    let overrides = "images: {all: {repository: mirror.local}, cluster-api/core: {name: renamed}}\n\
                     CORE_TAG: v0.1.7\n";
    std::fs::write(&config, read(&config) + overrides).unwrap();
    let names = run(path, "repository images repository").ok().stdout;
    assert!(names.contains("mirror.local/renamed:v0.1.7\n"), "{names}");
    let packed = windlass(path)
        .args(["repository", "bundle", "repository", "--write-to", "b.tar"])
        .env("CORE_TAG", "v9.9.9")
        .output()
        .unwrap();
    assert!(packed.status.success(), "{packed:?}");
    run(path, "repository add b.tar --to site --trust-configuration").ok();
    let names = run(path, "repository images site").ok().stdout;
    assert!(names.contains("mirror.local/renamed:v0.1.0\n"), "{names}");
    assert_eq!(unpacked(path, "b.tar", "images.txt"), names);
}

/// A file of a bundle, by the system's `tar`.
fn unpacked(folder: &Path, bundle: &str, file: &str) -> String {
    let output = Command::new("tar")
        .args(["-xOf", bundle, file])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Runs `mirror.sh` with a skopeo that writes down what it is asked to copy, a line each: from, to.
#[cfg(unix)]
fn copied(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    use std::os::unix::fs::PermissionsExt;

    let (skopeo, log) = (folder.join("bin/skopeo"), folder.join("copied"));
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    let script = "#!/bin/sh\nshift\nwhile [ $# -gt 2 ]; do printf '%s ' \"$1\" >> \"$LOG\"; shift; done\necho \"$1 $2\" >> \"$LOG\"\n";
    std::fs::write(&skopeo, script).unwrap();
    std::fs::set_permissions(&skopeo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let _ = std::fs::remove_file(&log);
    let path = format!(
        "{}:{}",
        folder.join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let mut shell = Command::new("sh");
    shell
        .arg("mirror.sh")
        .args(arguments)
        .current_dir(folder)
        .env("PATH", path)
        .env("LOG", &log)
        .env("SKOPEO_FLAGS", "--x --y=z");
    let status = shell.output().unwrap().status.code();
    (
        status,
        std::fs::read_to_string(log)
            .unwrap_or_default()
            .replace("--quiet --all --preserve-digests --x --y=z ", ""),
    )
}

/// What the script copies into a registry, or through a folder into one, is what clusterctl takes
/// from there.
#[test]
#[cfg(unix)]
fn a_mirror_gets_all_images_and_the_other_site_takes_them_from_it() {
    let folder = whole();
    let path = folder.path();
    run(path, "repository bundle repository --write-to b.tar").ok();
    std::fs::write(path.join("mirror.sh"), unpacked(path, "b.tar", "mirror.sh")).unwrap();
    let images = [
        ("ghcr.io/foo/b:v0.1.0", "b:v0.1.0"),
        ("ghcr.io/foo/c:v0.1.0", "c:v0.1.0"),
        (
            "quay.io/jetstack/cert-manager-acmesolver:v1.21.1",
            "jetstack/cert-manager-acmesolver:v1.21.1",
        ),
        (
            "quay.io/jetstack/cert-manager-controller:v1.21.1",
            "cert-manager-controller:v1.21.1",
        ),
        ("registry.k8s.io/capi/core:v0.1.0", "core:v0.1.0"),
    ];
    let lines = |line: &dyn Fn(&str, &str) -> String| {
        images
            .iter()
            .map(|(from, to)| line(from, to))
            .collect::<String>()
    };
    let between = |to: &str| format!("dir:a b/{}", to.replace('/', "+").replace(':', "="));
    let direct = lines(&|from, to| format!("docker://{from} docker://m.local:5000/capi/{to}\n"));
    assert_eq!(copied(path, &["m.local:5000/capi/"]), (Some(0), direct));
    let saved = lines(&|from, to| format!("docker://{from} {}\n", between(to)));
    assert_eq!(copied(path, &["--save", "a b"]), (Some(0), saved));
    assert!(path.join("a b").is_dir());
    let loaded = lines(&|_, to| format!("{} docker://m.local/{to}\n", between(to)));
    assert_eq!(
        copied(path, &["--load", "a b", "m.local"]),
        (Some(0), loaded)
    );
    for wrong in [
        &[][..],
        &[""],
        &["--save"],
        &["--load", "a"],
        &["--help"],
        &["a", "b"],
    ] {
        assert_eq!(copied(path, wrong), (Some(2), String::new()), "{wrong:?}");
    }

    let add = "repository add b.tar --to site --mirror m.local:5000/capi";
    let report = run(path, add).ok().stderr;
    let unreached = "info[mirror-image-unreached]: cert-manager names quay.io/jetstack";
    assert!(report.contains(unreached), "{report}");
    let listed = run(path, "repository images site").ok().stdout;
    let reached = images
        .iter()
        .filter(|(from, _)| !from.contains("acmesolver"));
    let mut expected: Vec<String> = reached
        .map(|(_, to)| format!("m.local:5000/capi/{to}"))
        .collect();
    expected.push("quay.io/jetstack/cert-manager-acmesolver:v1.21.1".to_owned());
    expected.sort();
    assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
    let again = run(path, add).ok().stderr;
    assert!(
        again.contains("site/clusterctl.yaml is unchanged"),
        "{again}"
    );
}
