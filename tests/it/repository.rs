//! `repository add|list` and `release bump` with the built program: what is laid out, what stays,
//! what is refused.

use std::path::Path;
use std::process::Output;

use crate::support;

/// Two providers of one release, as k3s and rke2 have them.
const TWO: &str = "apiVersion: windlass.dev/v1alpha1
kind: Provider
name: foo
type: BootstrapProvider
namespace: foo-bootstrap-system
manager: {image: ghcr.io/foo/bootstrap}
---
apiVersion: windlass.dev/v1alpha1
kind: Provider
name: foo
type: ControlPlaneProvider
namespace: foo-control-plane-system
manager: {image: ghcr.io/foo/control-plane}
";

const METADATA: &str = "# ours
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- major: 0
  minor: 1
  contract: v1beta2
";

fn run(folder: &Path, arguments: &[&str]) -> Output {
    support::windlass(folder).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs and expects success; returns standard output.
fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("provider.yaml"), TWO).unwrap();
    std::fs::write(folder.path().join("metadata.yaml"), METADATA).unwrap();
    folder
}

#[test]
fn release_of_two_providers_goes_into_two_folders_without_the_components_of_the_other() {
    let folder = project();
    succeed(
        folder.path(),
        &["release", "build", "v0.1.0", "--to", "out"],
    );
    let command = succeed(
        folder.path(),
        &["repository", "add", "out", "--to", "repository"],
    );
    let configuration = folder.path().join("repository/clusterctl.yaml");
    let expected = format!(
        "clusterctl init --config {} --bootstrap foo:v0.1.0 --control-plane foo:v0.1.0\n",
        configuration.display()
    );
    assert_eq!(
        command, expected,
        "standard output is the command and nothing else"
    );
    for (label, own, foreign) in [
        (
            "bootstrap-foo",
            "bootstrap-components.yaml",
            "control-plane-components.yaml",
        ),
        (
            "control-plane-foo",
            "control-plane-components.yaml",
            "bootstrap-components.yaml",
        ),
    ] {
        let version = folder.path().join("repository").join(label).join("v0.1.0");
        assert!(
            version.join(own).is_file() && version.join("metadata.yaml").is_file(),
            "{label}"
        );
        assert!(!version.join(foreign).exists(), "{label}");
    }
    let list = succeed(folder.path(), &["repository", "list", "repository"]);
    let rows: Vec<Vec<&str>> = list
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        rows[0],
        ["PROVIDER", "TYPE", "VERSION", "CONTRACT", "FILES"]
    );
    assert_eq!(
        rows[1][..4],
        ["bootstrap-foo", "BootstrapProvider", "v0.1.0", "v1beta2"]
    );
    assert_eq!(
        rows[2][..4],
        [
            "control-plane-foo",
            "ControlPlaneProvider",
            "v0.1.0",
            "v1beta2"
        ]
    );
}

#[test]
fn adding_twice_changes_nothing_and_other_content_needs_force() {
    let folder = project();
    succeed(
        folder.path(),
        &["release", "build", "v0.1.0", "--to", "out"],
    );
    succeed(
        folder.path(),
        &["repository", "add", "out", "--to", "repository"],
    );
    let again = run(
        folder.path(),
        &["repository", "add", "out", "--to", "repository"],
    );
    assert!(
        again.status.success() && text(&again.stderr).contains("unchanged"),
        "{}",
        text(&again.stderr)
    );

    let image = "bootstrap-foo=ghcr.io/foo/other:v0.1.0";
    succeed(
        folder.path(),
        &[
            "release", "build", "v0.1.0", "--to", "out", "--force", "--image", image,
        ],
    );
    let refused = run(
        folder.path(),
        &["repository", "add", "out", "--to", "repository"],
    );
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(
        text(&refused.stderr).contains("bootstrap-components.yaml"),
        "{}",
        text(&refused.stderr)
    );
    let components = folder
        .path()
        .join("repository/bootstrap-foo/v0.1.0/bootstrap-components.yaml");
    assert!(
        !std::fs::read_to_string(&components)
            .unwrap()
            .contains("ghcr.io/foo/other")
    );
    succeed(
        folder.path(),
        &["repository", "add", "out", "--to", "repository", "--force"],
    );
    assert!(
        std::fs::read_to_string(&components)
            .unwrap()
            .contains("ghcr.io/foo/other")
    );
}

/// Review A11: urls that lead to where the repository was are told with the line to write, and
/// changed with `--force`.
#[test]
fn a_repository_that_was_moved_leads_to_itself_again() {
    let folder = project();
    succeed(
        folder.path(),
        &["release", "build", "v0.1.0", "--to", "out"],
    );
    succeed(folder.path(), &["repository", "add", "out", "--to", "old"]);
    let theirs = "- name: far\n  url: https://github.com/a/b/releases/latest/bootstrap-components.yaml\n  type: BootstrapProvider\n\
                  - {name: v, url: \"${HERE}/bootstrap-v/latest/bootstrap-components.yaml\", type: BootstrapProvider}\n\
                  - {name: other, url: /nowhere/bootstrap-other/latest/bootstrap-components.yaml, type: BootstrapProvider} # not ours\n";
    let place = folder.path().join("old/clusterctl.yaml");
    let configuration = std::fs::read_to_string(&place)
        .unwrap()
        .replace("providers:\n", &format!("providers:\n{theirs}"));
    std::fs::write(&place, &configuration).unwrap();
    std::fs::rename(folder.path().join("old"), folder.path().join("new")).unwrap();
    let (old, new) = (
        folder.path().join("old").display().to_string(),
        folder.path().join("new").display().to_string(),
    );

    let line = |label: &str| {
        format!(
            "help: write `url: {new}/{label}-foo/latest/{label}-components.yaml`, or lay the release in again with `--force`"
        )
    };
    let examined = run(folder.path(), &["repository", "doctor", "new"]);
    for label in ["bootstrap", "control-plane"] {
        assert!(
            text(&examined.stdout).contains(&line(label)),
            "{}",
            text(&examined.stdout)
        );
    }
    assert!(
        text(&examined.stdout).contains("new/clusterctl.yaml:"),
        "{}",
        text(&examined.stdout)
    );
    let refused = run(folder.path(), &["repository", "add", "out", "--to", "new"]);
    assert_eq!(
        (refused.status.code(), text(&refused.stdout)),
        (Some(1), String::new()),
        "{}",
        text(&refused.stderr)
    );
    assert!(
        text(&refused.stderr).contains("error[repository-entry-stale]")
            && text(&refused.stderr).contains(&line("bootstrap"))
    );
    assert_eq!(
        std::fs::read_to_string(folder.path().join("new/clusterctl.yaml")).unwrap(),
        configuration
    );

    let command = succeed(
        folder.path(),
        &["repository", "add", "out", "--to", "new", "--force"],
    );
    assert!(
        command.starts_with(&format!("clusterctl init --config {new}/clusterctl.yaml ")),
        "{command}"
    );
    assert_eq!(
        std::fs::read_to_string(folder.path().join("new/clusterctl.yaml")).unwrap(),
        configuration.replace(&old, &new)
    );
}

#[test]
fn configuration_that_people_wrote_stays() {
    let folder = project();
    succeed(
        folder.path(),
        &["release", "build", "v0.1.0", "--to", "out"],
    );
    std::fs::create_dir(folder.path().join("repository")).unwrap();
    let configuration = folder.path().join("repository/clusterctl.yaml");
    let theirs = "# mine\nproviders:\n- name: foo\n  url: https://example.com/releases/latest/bootstrap-components.yaml # pinned\n  type: BootstrapProvider\n";
    std::fs::write(&configuration, theirs).unwrap();
    let output = run(
        folder.path(),
        &["repository", "add", "out", "--to", "repository"],
    );
    assert!(output.status.success(), "a warning does not fail");
    assert!(
        text(&output.stderr).contains("warning[repository-entry-other]"),
        "{}",
        text(&output.stderr)
    );
    let merged = std::fs::read_to_string(&configuration).unwrap();
    assert!(merged.starts_with(theirs), "{merged}");
    assert!(
        merged.contains("/control-plane-foo/latest/control-plane-components.yaml"),
        "{merged}"
    );
}

#[test]
fn downloaded_files_that_do_not_say_their_version_ask_for_it() {
    let folder = project();
    succeed(
        folder.path(),
        &["release", "build", "v0.1.0", "--to", "out"],
    );
    let components = folder.path().join("out/bootstrap-components.yaml");
    let untagged = std::fs::read_to_string(&components)
        .unwrap()
        .replace(":v0.1.0", ":stable");
    std::fs::write(folder.path().join("bootstrap-components.yaml"), untagged).unwrap();
    let files = ["bootstrap-components.yaml", "metadata.yaml"];
    let refused = run(
        folder.path(),
        &[
            "repository",
            "add",
            files[0],
            files[1],
            "--to",
            "repository",
        ],
    );
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("--release v0.1.0"),
        "{}",
        text(&refused.stderr)
    );
    assert!(!folder.path().join("repository").exists());
    succeed(
        folder.path(),
        &[
            "repository",
            "add",
            files[0],
            files[1],
            "--to",
            "repository",
            "--release",
            "v0.1.7",
        ],
    );
    assert!(
        folder
            .path()
            .join("repository/bootstrap-foo/v0.1.7/bootstrap-components.yaml")
            .is_file()
    );
}

#[test]
fn committed_repository_names_its_place_by_a_variable() {
    let configuration =
        std::fs::read_to_string(support::root().join("releases/clusterctl.yaml")).unwrap();
    assert!(
        configuration.contains(
            "\"${WINDLASS_REPOSITORY}/bootstrap-windlass/latest/bootstrap-components.yaml\""
        ),
        "{configuration}"
    );
    let list = succeed(support::root(), &["repository", "list", "releases"]);
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

#[test]
fn bump_adds_a_series_once_and_keeps_comments() {
    let folder = project();
    succeed(folder.path(), &["release", "bump", "v0.2.0"]);
    let expected = format!("{METADATA}- major: 0\n  minor: 2\n  contract: v1beta2\n");
    let file = folder.path().join("metadata.yaml");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    succeed(folder.path(), &["release", "bump", "v0.2.5"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    succeed(
        folder.path(),
        &["release", "build", "v0.2.0", "--to", "out"],
    );
    let unknown = run(
        folder.path(),
        &["release", "bump", "v0.3.0", "--contract", "v1beta9"],
    );
    assert_eq!(unknown.status.code(), Some(1));
    let other = run(
        folder.path(),
        &["release", "bump", "v0.2.0", "--contract", "v1beta1"],
    );
    assert_eq!(other.status.code(), Some(1));
    assert!(
        text(&other.stderr).contains("lists series 0.2 already, with the contract v1beta2"),
        "{}",
        text(&other.stderr)
    );
    succeed(
        folder.path(),
        &["release", "bump", "v0.2.0", "--contract", "v1beta2"],
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
}

/// Packs, carries away, unpacks: the repository at the other site holds the same releases, and its
/// configuration names its own place.
#[test]
fn a_bundle_brings_a_repository_to_another_site() {
    let folder = project();
    succeed(
        folder.path(),
        &["release", "build", "v0.1.0", "--to", "out"],
    );
    succeed(
        folder.path(),
        &["repository", "add", "out", "--to", "repository"],
    );
    let theirs = folder.path().join("repository/clusterctl.yaml");
    let configuration = std::fs::read_to_string(&theirs).unwrap();
    std::fs::write(
        &theirs,
        format!("{configuration}MIRROR: example.com # ours\n"),
    )
    .unwrap();
    assert_eq!(
        succeed(
            folder.path(),
            &["repository", "bundle", "repository", "--write-to", "b.tar"]
        ),
        "b.tar\n"
    );
    let again = run(
        folder.path(),
        &["repository", "bundle", "repository", "--write-to", "b.tar"],
    );
    assert!(
        text(&again.stderr).contains(", unchanged"),
        "{}",
        text(&again.stderr)
    );

    let site = tempfile::tempdir().unwrap();
    std::fs::copy(folder.path().join("b.tar"), site.path().join("b.tar")).unwrap();
    let command = succeed(site.path(), &["repository", "add", "b.tar", "--to", "capi"]);
    assert!(
        command.contains("--bootstrap foo:v0.1.0")
            && command.contains("--control-plane foo:v0.1.0"),
        "{command}"
    );
    let there = std::fs::read_to_string(site.path().join("capi/clusterctl.yaml")).unwrap();
    let place = site
        .path()
        .join("capi/bootstrap-foo/latest/bootstrap-components.yaml");
    assert!(
        there.contains(place.to_str().unwrap()) && there.contains("MIRROR: example.com # ours\n"),
        "{there}"
    );
    for label in ["bootstrap-foo", "control-plane-foo"] {
        let release = format!("{label}/v0.1.0");
        let files = |base: &Path| {
            let found = support::files_below(&base.join(&release));
            found
                .iter()
                .map(|path| std::fs::read(path).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            files(&folder.path().join("repository")),
            files(&site.path().join("capi"))
        );
    }
    let config = site.path().join("capi/clusterctl.yaml");
    let described = succeed(
        site.path(),
        &[
            "generate",
            "provider",
            "--bootstrap",
            "foo",
            "--describe",
            "--config",
            config.to_str().unwrap(),
        ],
    );
    assert!(
        described.contains("Version:            v0.1.0\n"),
        "{described}"
    );
    assert_eq!(
        succeed(
            site.path(),
            &["repository", "doctor", "capi", "-o", "github"]
        ),
        ""
    );
    let twice = run(site.path(), &["repository", "add", "b.tar", "--to", "capi"]);
    assert!(
        text(&twice.stderr).contains("unchanged"),
        "{}",
        text(&twice.stderr)
    );
}

#[test]
fn what_a_bundle_takes_from_elsewhere_is_told_and_must_be_trusted() {
    let folder = project();
    succeed(
        folder.path(),
        &["release", "build", "v0.1.0", "--to", "out"],
    );
    succeed(
        folder.path(),
        &["repository", "add", "out", "--to", "repository"],
    );
    let theirs = folder.path().join("repository/clusterctl.yaml");
    let configuration = std::fs::read_to_string(&theirs).unwrap();
    let entry = "- {name: bar, type: InfrastructureProvider, url: 'https://gitlab.evil.example/api/v4/projects/a/packages/generic/b/v1/c.yaml'}";
    let entry = format!(
        "{entry}\n- {{name: baz, type: CoreProvider, url: /etc/core-baz/v0.1.0/c.yaml}}\nCLUSTERCTL"
    );
    let foreign = format!(
        "{}images: {{all: {{repository: evil.example}}}}\ncert-manager: {{url: x}}\n",
        configuration.replacen("CLUSTERCTL", &entry, 1)
    );
    std::fs::write(
        &theirs,
        foreign.replace(
            "# Offline, each call would else wait for the newest version of clusterctl.\n",
            "",
        ),
    )
    .unwrap();
    succeed(
        folder.path(),
        &["repository", "bundle", "repository", "--write-to", "b.tar"],
    );
    let refused = run(
        folder.path(),
        &["repository", "add", "b.tar", "--to", "capi"],
    );
    let told = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{told}");
    for what in [
        "takes bar from elsewhere",
        "takes baz from elsewhere",
        "sets `images`",
        "sets `cert-manager`",
        "--trust-configuration",
        "nothing written",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
    assert!(
        !told.contains("takes foo from elsewhere") && !folder.path().join("capi").exists(),
        "{told}"
    );
    succeed(
        folder.path(),
        &[
            "repository",
            "add",
            "b.tar",
            "--to",
            "capi",
            "--trust-configuration",
        ],
    );
    // Where somebody wrote a configuration already, that of the bundle counts for nothing.
    succeed(
        folder.path(),
        &["repository", "add", "b.tar", "--to", "capi"],
    );
}

#[test]
fn a_bundle_that_was_changed_on_the_way_writes_nothing() {
    let folder = project();
    succeed(
        folder.path(),
        &["release", "build", "v0.1.0", "--to", "out"],
    );
    succeed(
        folder.path(),
        &["repository", "add", "out", "--to", "repository"],
    );
    succeed(
        folder.path(),
        &["repository", "bundle", "repository", "--write-to", "b.tar"],
    );
    let mut bytes = std::fs::read(folder.path().join("b.tar")).unwrap();
    let at = bytes
        .windows(11)
        .position(|window| window == b"kind: Names")
        .unwrap();
    bytes[at] = b'K';
    std::fs::write(folder.path().join("b.tar"), &bytes).unwrap();
    let refused = run(
        folder.path(),
        &["repository", "add", "b.tar", "--to", "other"],
    );
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("error[bundle-checksum-wrong]"),
        "{}",
        text(&refused.stderr)
    );
    assert!(!folder.path().join("other").exists());
    let occupied = run(
        folder.path(),
        &["repository", "bundle", "repository", "--write-to", "b.tar"],
    );
    assert_eq!(occupied.status.code(), Some(2));
    assert!(
        text(&occupied.stderr).contains("b.tar is there with other content"),
        "{}",
        text(&occupied.stderr)
    );
}

/// A provider that is laid out alone.
fn named(name: &str) -> String {
    let first = TWO.split("---").next().unwrap();
    first.replace("name: foo", &format!("name: {name}"))
}

#[test]
fn releases_that_are_added_at_once_all_get_their_entries() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("metadata.yaml"), METADATA).unwrap();
    let names: Vec<String> = (0..8).map(|number| format!("foo{number}")).collect();
    for name in &names {
        std::fs::write(folder.path().join("provider.yaml"), named(name)).unwrap();
        succeed(folder.path(), &["release", "build", "v0.1.0", "--to", name]);
    }
    for repository in ["first", "second", "third"] {
        let add = |name: &String| {
            let mut command = support::windlass(folder.path());
            command.args(["repository", "add", name, "--to", repository]);
            command
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        };
        let running: Vec<_> = names.iter().map(add).collect();
        for process in running {
            let output = process.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        let configuration =
            std::fs::read_to_string(folder.path().join(repository).join("clusterctl.yaml"))
                .unwrap();
        for name in &names {
            assert!(
                configuration.contains(&format!("- name: {name}\n")),
                "{name} is lost: {configuration}"
            );
        }
        assert!(
            !folder
                .path()
                .join(repository)
                .join(".windlass.lock")
                .exists()
        );
    }
}

#[cfg(unix)]
#[test]
fn files_that_people_keep_stay_links_with_their_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = project();
    let root = folder.path();
    succeed(root, &["release", "build", "v0.1.0", "--to", "out"]);
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
    succeed(root, &["repository", "add", "out", "--to", "repository"]);
    succeed(root, &["release", "bump", "v0.2.0"]);
    for (kept, link, added) in [
        ("kept.yaml", "repository/clusterctl.yaml", "- name: foo\n"),
        ("ours.yaml", "metadata.yaml", "  minor: 2\n"),
    ] {
        assert_eq!(
            std::fs::read_link(root.join(link)).unwrap(),
            root.join(kept)
        );
        assert_eq!(
            std::fs::metadata(root.join(kept))
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o600
        );
        assert!(
            std::fs::read_to_string(root.join(kept))
                .unwrap()
                .contains(added),
            "{kept}"
        );
    }
}

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

/// A repository that has all that init installs.
fn whole() -> tempfile::TempDir {
    let folder = project();
    succeed(
        folder.path(),
        &["release", "build", "v0.1.0", "--to", "out"],
    );
    std::fs::create_dir(folder.path().join("core")).unwrap();
    std::fs::write(folder.path().join("core/core-components.yaml"), CORE).unwrap();
    std::fs::write(folder.path().join("core/metadata.yaml"), METADATA).unwrap();
    std::fs::write(folder.path().join("cert-manager.yaml"), CERT_MANAGER).unwrap();
    // Loose files of a release together with cert-manager's, which has a version of its own.
    let files = [
        "core/core-components.yaml",
        "core/metadata.yaml",
        "cert-manager.yaml",
        "out",
    ];
    succeed(
        folder.path(),
        &[&["repository", "add"], &files[..], &["--to", "repository"]].concat(),
    );
    folder
}

#[test]
fn a_bundle_has_all_that_init_installs_or_says_what_it_lacks() {
    let folder = whole();
    let path = folder.path();
    let packed = run(
        path,
        &["repository", "bundle", "repository", "--write-to", "b.tar"],
    );
    assert!(
        packed.status.success() && !text(&packed.stderr).contains("warning"),
        "{}",
        text(&packed.stderr)
    );

    let site = tempfile::tempdir().unwrap();
    std::fs::copy(path.join("b.tar"), site.path().join("b.tar")).unwrap();
    let added = run(site.path(), &["repository", "add", "b.tar", "--to", "capi"]);
    let told = text(&added.stderr);
    assert!(
        added.status.success()
            && told.contains("cert-manager v1.21.1: 1 file into capi/cert-manager/v1.21.1"),
        "{told}"
    );
    assert!(!told.contains("from GitHub"), "{told}");
    let there = std::fs::read_to_string(site.path().join("capi/clusterctl.yaml")).unwrap();
    let url = site
        .path()
        .join("capi/cert-manager/v1.21.1/cert-manager.yaml");
    let setting = format!(
        "cert-manager:\n  url: \"{}\"\n  version: v1.21.1\n",
        url.display()
    );
    assert!(
        there.contains(&setting.replace('"', "")) || there.contains(&setting),
        "{there}"
    );
    assert_eq!(std::fs::read_to_string(url).unwrap(), CERT_MANAGER);
    let allowed = [
        "--allow",
        "components-role-left-behind",
        "--allow",
        "components-raw-refused",
    ];
    assert_eq!(
        succeed(
            site.path(),
            &[
                &["repository", "doctor", "capi", "-o", "github"],
                &allowed[..]
            ]
            .concat()
        ),
        ""
    );
    let listed = succeed(site.path(), &["repository", "list", "capi"]);
    assert!(
        listed.ends_with("cert-manager        -                      v1.21.1   -          1\n"),
        "{listed}"
    );

    std::fs::remove_dir_all(path.join("repository/cert-manager")).unwrap();
    std::fs::remove_dir_all(path.join("repository/cluster-api")).unwrap();
    let lacking = run(
        path,
        &["repository", "bundle", "repository", "--write-to", "c.tar"],
    );
    let told = text(&lacking.stderr);
    assert!(lacking.status.success(), "{told}");
    for words in [
        "warning[bundle-implied-missing]: repository lacks cluster-api and cert-manager, which `clusterctl init` also installs",
        "`windlass repository add DIR|cert-manager.yaml --to repository`, or have them fetched: `--allow-network`",
    ] {
        assert!(told.contains(words), "{words} is not in {told}");
    }
    let denied = run(
        path,
        &[
            "repository",
            "bundle",
            "repository",
            "--write-to",
            "d.tar",
            "--deny",
            "bundle-implied-missing",
        ],
    );
    assert!(denied.status.code() == Some(1) && !path.join("d.tar").exists());
    // The setting leads to where nothing is now.
    let doctor = run(path, &["repository", "doctor", "repository"]);
    let told = text(&doctor.stdout);
    assert!(
        doctor.status.code() == Some(1) && told.contains("error[repository-cert-manager-missing]"),
        "{told}"
    );
    // clusterctl reads the folder of the setting's version, not that of its url; what is no setting
    // is told as well.
    let config = path.join("repository/clusterctl.yaml");
    let led = std::fs::read_to_string(&config).unwrap();
    let folder_of = |version: &str| path.join(format!("repository/cert-manager/{version}"));
    std::fs::create_dir_all(folder_of("v1.21.1")).unwrap();
    std::fs::write(folder_of("v1.21.1").join("cert-manager.yaml"), CERT_MANAGER).unwrap();
    assert!(
        !text(&run(path, &["repository", "doctor", "repository"]).stdout)
            .contains("cert-manager-missing")
    );
    // A bundle that does not hold the version of the setting does not hide it.
    std::fs::write(&config, led.replace("v1.21.1", "v1.20.0")).unwrap();
    let told = text(
        &run(
            path,
            &["repository", "bundle", "repository", "--write-to", "f.tar"],
        )
        .stderr,
    );
    assert!(
        told.contains("warning[repository-entry-other]") && told.contains("version: v1.21.1}`"),
        "{told}"
    );
    for other in [
        led.replace("version: v1.21.1", "version: v1.20.0"),
        led.replace("version: v1.21.1", "version: [1]"),
    ] {
        std::fs::write(&config, &other).unwrap();
        let told = text(&run(path, &["repository", "doctor", "repository"]).stdout);
        assert!(
            told.contains("error[repository-cert-manager-missing]"),
            "{other}{told}"
        );
    }
    std::fs::write(&config, led).unwrap();
    std::fs::remove_dir_all(path.join("repository/cert-manager")).unwrap();
    // A cluster that has cert-manager needs none.
    let written = std::fs::read_to_string(&config).unwrap();
    let (before, _) = written.split_once("cert-manager:\n").unwrap();
    std::fs::write(
        &config,
        format!("{before}Cert-Manager: {{externallyProvisioned: true}}\n"),
    )
    .unwrap();
    let told = text(
        &run(
            path,
            &["repository", "bundle", "repository", "--write-to", "e.tar"],
        )
        .stderr,
    );
    assert!(
        told.contains("repository lacks cluster-api, which"),
        "{told}"
    );
    assert!(
        !text(&run(path, &["repository", "doctor", "repository"]).stdout).contains("cert-manager")
    );
}

#[test]
fn images_are_those_that_clusterctl_runs() {
    let folder = whole();
    let path = folder.path();
    let config = path.join("repository/clusterctl.yaml");
    let overrides = "images:\n  all: {repository: mirror.local}\n  cert-manager: {tag: v9}\n  cluster-api/core: {name: renamed}\n";
    let written = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{written}{overrides}CORE_TAG: v0.1.7\n")).unwrap();
    let names = run(path, &["repository", "images", "repository"]);
    assert_eq!(
        text(&names.stdout),
        "mirror.local/bootstrap:v0.1.0\nmirror.local/cert-manager-controller:v9\nmirror.local/control-plane:v0.1.0\n\
         mirror.local/renamed:v0.1.7\nquay.io/jetstack/cert-manager-acmesolver:v1.21.1\n",
        "clusterctl's overrides do not reach arguments: {}",
        text(&names.stderr)
    );
    let listed: serde_json::Value = serde_json::from_str(&succeed(
        path,
        &["repository", "images", "repository", "-o", "json"],
    ))
    .unwrap();
    let image = serde_json::json!({
        "image": "mirror.local/renamed:v0.1.7", "source": "registry.k8s.io/capi/core:v0.1.7", "provider": "cluster-api", "version": "v0.1.0",
    });
    assert!(
        listed["images"].as_array().unwrap().contains(&image),
        "{listed}"
    );
    // The same names are in the bundle, and the environment of who packs it counts for nothing.
    let mut packing = support::windlass(path);
    packing
        .args(["repository", "bundle", "repository", "--write-to", "b.tar"])
        .env("CORE_TAG", "v9.9.9");
    assert!(packing.status().unwrap().success());
    assert_eq!(unpacked(path, "b.tar", "images.txt"), text(&names.stdout));

    std::fs::write(&config, format!("{written}images: [1]\n")).unwrap();
    let refused = run(path, &["repository", "images", "repository"]);
    let told = text(&refused.stderr);
    assert!(
        refused.status.code() == Some(1) && told.contains("error[repository-image-refused]"),
        "{told}"
    );
    std::fs::write(&config, "a: [\n").unwrap();
    let refused = run(path, &["repository", "images", "repository"]);
    assert!(
        text(&refused.stderr).contains("error[configuration-unreadable]"),
        "{}",
        text(&refused.stderr)
    );
}

/// A file of a bundle, by the system's `tar`.
fn unpacked(folder: &Path, bundle: &str, file: &str) -> String {
    let output = std::process::Command::new("tar")
        .args(["-xOf", bundle, file])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
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
    let mut shell = std::process::Command::new("sh");
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
    succeed(
        path,
        &["repository", "bundle", "repository", "--write-to", "b.tar"],
    );
    std::fs::write(path.join("mirror.sh"), unpacked(path, "b.tar", "mirror.sh")).unwrap();
    let images = [
        ("ghcr.io/foo/bootstrap:v0.1.0", "bootstrap:v0.1.0"),
        ("ghcr.io/foo/control-plane:v0.1.0", "control-plane:v0.1.0"),
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

    let added = run(
        path,
        &[
            "repository",
            "add",
            "b.tar",
            "--to",
            "site",
            "--mirror",
            "m.local:5000/capi",
        ],
    );
    let told = text(&added.stderr);
    assert!(
        added.status.success()
            && told.contains("info[mirror-image-unreached]: cert-manager names quay.io/jetstack"),
        "{told}"
    );
    let listed = succeed(path, &["repository", "images", "site"]);
    let reached = images
        .iter()
        .filter(|(from, _)| !from.contains("acmesolver"));
    let mut expected: Vec<String> = reached
        .map(|(_, to)| format!("m.local:5000/capi/{to}"))
        .collect();
    expected.push("quay.io/jetstack/cert-manager-acmesolver:v1.21.1".to_owned());
    expected.sort();
    assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
    let again = run(
        path,
        &[
            "repository",
            "add",
            "b.tar",
            "--to",
            "site",
            "--mirror",
            "m.local:5000/capi",
        ],
    );
    assert!(
        text(&again.stderr).contains("site/clusterctl.yaml is unchanged"),
        "{}",
        text(&again.stderr)
    );
}

#[test]
fn a_mirror_that_is_none_or_meets_other_overrides_changes_nothing() {
    let folder = project();
    let path = folder.path();
    succeed(path, &["release", "build", "v0.1.0", "--to", "out"]);
    let refused = run(
        path,
        &[
            "repository",
            "add",
            "out",
            "--to",
            "site",
            "--mirror",
            "https://m.local",
        ],
    );
    let told = text(&refused.stderr);
    assert!(
        refused.status.code() == Some(1)
            && told.contains("error[mirror-registry-malformed]: `https://m.local`"),
        "{told}"
    );
    assert!(!path.join("site/clusterctl.yaml").exists());
    succeed(
        path,
        &[
            "repository",
            "add",
            "out",
            "--to",
            "site",
            "--mirror",
            "one.local",
        ],
    );
    let config = path.join("site/clusterctl.yaml");
    let before = std::fs::read(&config).unwrap();
    let refused = run(
        path,
        &[
            "repository",
            "add",
            "out",
            "--to",
            "site",
            "--mirror",
            "two.local",
        ],
    );
    let told = text(&refused.stderr);
    assert!(
        refused.status.code() == Some(1)
            && told.contains("error[mirror-images-other]")
            && told.contains("--force"),
        "{told}"
    );
    assert_eq!(std::fs::read(&config).unwrap(), before);
    succeed(
        path,
        &[
            "repository",
            "add",
            "out",
            "--to",
            "site",
            "--mirror",
            "two.local",
            "--force",
        ],
    );
    assert_eq!(
        succeed(path, &["repository", "images", "site"]),
        "two.local/bootstrap:v0.1.0\ntwo.local/control-plane:v0.1.0\n"
    );
}

/// What people wrote of cert-manager stays; a manifest that is none is refused; a moved repository
/// leads to its manifest again.
#[test]
fn cert_manager_is_laid_in_as_releases_are() {
    let folder = whole();
    let path = folder.path();
    std::fs::write(
        path.join("cert-manager.yaml"),
        CERT_MANAGER.replace("v1.21.1", "v1.22.0"),
    )
    .unwrap();
    let newer = run(
        path,
        &[
            "repository",
            "add",
            "cert-manager.yaml",
            "--to",
            "repository",
        ],
    );
    let told = text(&newer.stderr);
    assert!(
        newer.status.success() && told.contains("warning[repository-entry-other]"),
        "{told}"
    );
    assert!(
        told.contains("repository/clusterctl.yaml has another cert-manager already")
            && told.contains("version: v1.22.0}`"),
        "{told}"
    );
    let config = std::fs::read_to_string(path.join("repository/clusterctl.yaml")).unwrap();
    assert!(
        config.contains("version: v1.21.1")
            && path
                .join("repository/cert-manager/v1.22.0/cert-manager.yaml")
                .is_file(),
        "{config}"
    );

    std::fs::rename(path.join("repository"), path.join("moved")).unwrap();
    let moved = run(path, &["repository", "add", "out", "--to", "moved"]);
    let told = text(&moved.stderr);
    assert!(
        moved.status.code() == Some(1) && told.contains("the url of cert-manager leads to"),
        "{told}"
    );
    succeed(
        path,
        &["repository", "add", "out", "--to", "moved", "--force"],
    );
    let config = std::fs::read_to_string(path.join("moved/clusterctl.yaml")).unwrap();
    assert!(
        config.contains(&format!(
            "{}",
            path.join("moved/cert-manager/v1.21.1/cert-manager.yaml")
                .display()
        )),
        "{config}"
    );

    for (manifest, rule) in [
        (
            "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n".to_owned(),
            "cert-manager-manifest-wrong",
        ),
        (
            CERT_MANAGER.replace("app.kubernetes.io/version", "x"),
            "release-version-unknown",
        ),
        ("a: [".to_owned(), "yaml-syntax"),
    ] {
        std::fs::write(path.join("cert-manager.yaml"), manifest).unwrap();
        let refused = run(
            path,
            &["repository", "add", "cert-manager.yaml", "--to", "fresh"],
        );
        assert_eq!(refused.status.code(), Some(1), "{rule}");
        let told = text(&refused.stderr);
        assert!(
            told.contains(rule) && !path.join("fresh").exists(),
            "{told}"
        );
        assert!(
            rule != "yaml-syntax" || told.contains("1 | a: ["),
            "the line is shown: {told}"
        );
    }
    std::fs::write(path.join("cert-manager.yaml"), CERT_MANAGER).unwrap();
    succeed(
        path,
        &["repository", "add", "cert-manager.yaml", "--to", "fresh"],
    );
    let config = std::fs::read_to_string(path.join("fresh/clusterctl.yaml")).unwrap();
    assert!(
        config.contains("cert-manager:\n  url: ")
            && config.contains("CLUSTERCTL_DISABLE_VERSIONCHECK"),
        "{config}"
    );
    // A repository whose configuration does not lead to it.
    std::fs::write(
        path.join("fresh/clusterctl.yaml"),
        "CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\n",
    )
    .unwrap();
    let told = succeed(path, &["repository", "doctor", "fresh"]);
    assert!(
        told.contains("warning[repository-entry-missing]: fresh holds cert-manager")
            && told.contains("version: v1.21.1}`"),
        "{told}"
    );
}

/// Files that lie in different folders are called as they were named; paths in the printed command
/// are quoted.
#[test]
fn findings_about_loose_files_name_them() {
    let folder = tempfile::tempdir().unwrap();
    let release = support::root().join("releases/bootstrap-windlass/v0.2.0");
    for (from, to) in [
        ("bootstrap-components.yaml", "one/bootstrap-components.yaml"),
        ("metadata.yaml", "two/metadata.yaml"),
    ] {
        let to = folder.path().join(to);
        std::fs::create_dir(to.parent().unwrap()).unwrap();
        std::fs::copy(release.join(from), to).unwrap();
    }
    let components = folder.path().join("one/bootstrap-components.yaml");
    let text = std::fs::read_to_string(&components).unwrap().replacen(
        "kind: Namespace",
        "kind: NameSpace",
        1,
    );
    std::fs::write(&components, text).unwrap();
    let arguments = [
        "repository",
        "add",
        "one/bootstrap-components.yaml",
        "two/metadata.yaml",
        "--release",
        "v0.2.0",
        "--to",
        "my repository",
    ];
    let output = support::windlass(folder.path())
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--> one/bootstrap-components.yaml"), "{said}");
    assert!(!said.contains("two/bootstrap-components.yaml"), "{said}");
    // The line is shown, out of the file that was named.
    let original = std::fs::read_to_string(release.join("bootstrap-components.yaml")).unwrap();
    std::fs::write(&components, format!("{original}---\nkind: [a, b\n")).unwrap();
    let output = support::windlass(folder.path())
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("--> one/bootstrap-components.yaml:") && said.contains(" | kind: [a, b"),
        "{said}"
    );
    std::fs::copy(release.join("bootstrap-components.yaml"), &components).unwrap();
    let output = support::windlass(folder.path())
        .args(arguments)
        .output()
        .unwrap();
    let command = String::from_utf8(output.stdout).unwrap();
    assert!(
        command.contains("/my repository/clusterctl.yaml' --bootstrap"),
        "{command}"
    );
}

/// What is named is not what is meant: one line says so, and nothing is written.
#[test]
fn what_was_not_meant_is_told_by_itself() {
    let folder = project();
    let path = folder.path();
    succeed(path, &["release", "build", "v0.1.0", "--to", "out"]);
    succeed(path, &["repository", "add", "out", "--to", "r"]);
    std::fs::create_dir(path.join("empty")).unwrap();
    // Two blocks of zeros, as `tar --create --files-from /dev/null` ends one.
    std::fs::write(path.join("empty.tar"), vec![0; 10240]).unwrap();
    for (arguments, code, said) in [
        (
            "list empty",
            1,
            "error[repository-release-missing]: empty holds no release",
        ),
        (
            "bundle provider.yaml --write-to b.tar",
            2,
            "provider.yaml: cannot be read: it is a file, not a folder",
        ),
        (
            "push provider.yaml oci:layout:v1",
            2,
            "provider.yaml: cannot be read: it is a file, not a folder",
        ),
        (
            "pull oci:provider.yaml:v1 --to s",
            2,
            "provider.yaml: cannot be read: it is a file, not a folder",
        ),
        (
            "bundle r --write-to ./r/x/../bootstrap-foo/v0.1.0/b.tar",
            2,
            "would be a file of a release in r",
        ),
        (
            "add empty.tar --to s",
            1,
            "error[bundle-checksum-wrong]: empty.tar holds no SHA256SUMS",
        ),
        (
            "add out --release v1 --to s",
            1,
            "error[release-version-malformed]",
        ),
        (
            "push out oci:layout:v1 --release v1",
            1,
            "error[release-version-malformed]",
        ),
    ] {
        let arguments: Vec<&str> = ["repository"]
            .into_iter()
            .chain(arguments.split(' '))
            .collect();
        let output = run(path, &arguments);
        let stderr = text(&output.stderr);
        assert_eq!(
            (
                output.status.code(),
                stderr.contains(said),
                stderr.matches("error").count() - stderr.matches(" error").count()
            ),
            (Some(code), true, 1),
            "{arguments:?}: {stderr}"
        );
        assert!(
            !path.join("s").exists()
                && !path.join("layout").exists()
                && !path.join("r/bootstrap-foo/v0.1.0/b.tar").exists(),
            "{arguments:?}"
        );
    }
    for (to, is_told) in [("r/../b.tar", false), ("r/b.tar", true)] {
        let output = run(path, &["repository", "bundle", "r", "--write-to", to]);
        let told = text(&output.stderr).contains("lies in r, and is no part of what is packed");
        assert!(
            output.status.success() && told == is_told,
            "{to}: {}",
            text(&output.stderr)
        );
    }
    assert_eq!(
        std::fs::read(path.join("b.tar")).unwrap(),
        std::fs::read(path.join("r/b.tar")).unwrap()
    );
    let empty = run(path, &["repository", "list", "empty", "-o", "json"]);
    let printed: serde_json::Value = serde_json::from_slice(&empty.stdout).unwrap();
    assert_eq!(
        (empty.status.code(), &printed["findings"][0]["rule"]),
        (Some(1), &"repository-release-missing".into()),
        "{printed}"
    );
}
