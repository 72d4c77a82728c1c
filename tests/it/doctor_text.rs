//! What `repository doctor` prints for people: for each provider where it is, what is there and
//! what clusterctl takes, then what is wrong.

use std::path::Path;

use crate::support::windlass;

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";

const COMPONENTS: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n---\napiVersion: apps/v1\nkind: Deployment\n\
                          metadata: {name: m, namespace: foo-system}\nspec:\n  selector: {}\n  template:\n    spec:\n      containers:\n\
                          \x20     - {name: manager, image: \"ghcr.io/foo/m:v1\"}\n";

/// The configuration of one bootstrap provider; `BASE` is the folder.
const ONE: &str = "CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\nproviders:\n- name: foo\n  url: BASE/bootstrap-foo/latest/bootstrap-components.yaml\n\
                   \x20 type: BootstrapProvider\n";

fn write(folder: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A repository with releases of one bootstrap provider, each `VERSION` with its metadata.yaml.
fn repository(configuration: &str, releases: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    if !configuration.is_empty() {
        let base = folder.path().to_str().unwrap();
        write(
            folder.path(),
            "clusterctl.yaml",
            configuration.replace("BASE", base),
        );
    }
    for (version, metadata) in releases {
        write(
            folder.path(),
            &format!("bootstrap-foo/{version}/bootstrap-components.yaml"),
            COMPONENTS,
        );
        write(
            folder.path(),
            &format!("bootstrap-foo/{version}/metadata.yaml"),
            metadata,
        );
    }
    folder
}

/// Exit code and text; `/srv` stands for the folder.
fn told(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = windlass(folder);
    command
        .args(["repository", "doctor"])
        .args(arguments)
        .env("HOME", folder.join("home"));
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout)
            .unwrap()
            .replace(folder.to_str().unwrap(), "/srv"),
    )
}

#[track_caller]
fn check(folder: &tempfile::TempDir, code: i32, expected: &str) {
    assert_eq!(told(folder.path(), &["."]), (code, expected.to_owned()));
}

/// The block of a provider whose version was picked.
fn block(version: &str, found: &str, reason: &str) -> String {
    let folder = format!("/srv/bootstrap-foo/{version}");
    format!(
        "bootstrap-foo   /srv/bootstrap-foo/latest/bootstrap-components.yaml (./clusterctl.yaml:4:8)\n  found        {found}\n  \
         picked       {version}: {reason}\n  metadata     {folder}/metadata.yaml\n  components   {folder}/bootstrap-components.yaml\n"
    )
}

/// What the configuration has in its fourth line, with the url marked.
const URL: &str = "  --> ./clusterctl.yaml:4:8\n   |\n 4 |   url: /srv/";

fn marked(url: &str) -> String {
    format!("{url}\n   |        {}\n   |\n", "^".repeat(url.len()))
}

#[test]
fn a_repository_without_a_configuration_is_examined_by_its_folders() {
    let folder = repository("", &[("v0.1.0", METADATA)]);
    write(folder.path(), "notes/x/y", "");
    let found =
        block("v0.1.0", "v0.1.0", "the newest release").replace(" (./clusterctl.yaml:4:8)", "");
    let finding = "error[repository-configuration-missing]: . holds no clusterctl.yaml, so clusterctl does not find it\n  \
                   = help: run `windlass repository add` with one of its releases and `--to .`\n";
    check(
        &folder,
        1,
        &format!("{found}{finding}1 provider, 1 version; 1 error\n"),
    );
}

/// One whose url names the version, with a template and a file beside the versions; one that is not
/// there; one that is elsewhere.
#[test]
fn each_provider_has_its_block_in_the_order_of_the_configuration() {
    let configuration = "CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\nproviders:\n- name: foo\n  \
                         url: /srv/infrastructure-foo/v0.1.0/infrastructure-components.yaml\n  type: InfrastructureProvider\n- name: gone\n  \
                         url: /srv/bootstrap-gone/latest/c.yaml\n  type: BootstrapProvider\n- name: aws\n  url: https://github.com/a/b/c.yaml\n  \
                         type: InfrastructureProvider\n";
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().to_str().unwrap();
    write(
        folder.path(),
        "clusterctl.yaml",
        configuration.replace("/srv", base),
    );
    let release = "infrastructure-foo/v0.1.0";
    write(
        folder.path(),
        &format!("{release}/infrastructure-components.yaml"),
        COMPONENTS,
    );
    write(folder.path(), &format!("{release}/metadata.yaml"), METADATA);
    write(
        folder.path(),
        &format!("{release}/cluster-template.yaml"),
        "a: 1\n",
    );
    write(folder.path(), "infrastructure-foo/README", "");
    let (code, text) = told(folder.path(), &["."]);
    let expected = "\
infrastructure-foo   /srv/infrastructure-foo/v0.1.0/infrastructure-components.yaml (./clusterctl.yaml:4:8)
  found        v0.1.0; skipped: README (a file)
  picked       v0.1.0: the url names it
  metadata     /srv/infrastructure-foo/v0.1.0/metadata.yaml
  components   /srv/infrastructure-foo/v0.1.0/infrastructure-components.yaml
  template     /srv/infrastructure-foo/v0.1.0/cluster-template.yaml
bootstrap-gone   /srv/bootstrap-gone/latest/c.yaml (./clusterctl.yaml:7:8)
  picked       nothing: failed to get latest version: ";
    assert!(code == 1 && text.starts_with(expected), "{text}");
    for part in [
        "\ninfrastructure-aws   https://github.com/a/b/c.yaml (./clusterctl.yaml:10:8)\n  picked       nothing: it is on the network\nerror[",
        "\nerror[repository-version-missing]: clusterctl finds no version of bootstrap-gone\n  --> ./clusterctl.yaml:7:8\n",
        "\n  = help: lay a release in: `windlass repository add DIR --to REPOSITORY`\n  = note: clusterctl says: failed to get latest version: ",
        "\ninfo[repository-remote]: infrastructure-aws is on the network, where nothing was looked at\n  --> ./clusterctl.yaml:10:8\n",
        "\n  = help: download the release of infrastructure-aws and run `windlass repository add DIR --to REPOSITORY`\n",
        "\n3 providers, 1 version; 1 error, 1 info\n",
    ] {
        assert!(text.contains(part), "{part}{text}");
    }
}

#[test]
fn a_pre_release_alone_is_taken_and_what_it_lacks_is_told() {
    let folder = repository(ONE, &[("v0.1.0-rc.1", METADATA)]);
    let found = block(
        "v0.1.0-rc.1",
        "v0.1.0-rc.1",
        "the newest version; there is no release yet",
    );
    check(&folder, 0, &format!("{found}1 provider, 1 version\n"));
    let file = "/srv/bootstrap-foo/v0.1.0-rc.1/bootstrap-components.yaml";
    std::fs::remove_file(
        folder
            .path()
            .join("bootstrap-foo/v0.1.0-rc.1/bootstrap-components.yaml"),
    )
    .unwrap();
    let missing = found.replace("components.yaml\n", "components.yaml (missing)\n");
    let finding = format!(
        "error[repository-file-missing]: {file} is not there\n  --> {file}\n  = help: add the bootstrap-components.yaml of the same release\n"
    );
    check(
        &folder,
        1,
        &format!("{missing}{finding}1 provider, 1 version; 1 error\n"),
    );
}

/// A series that has no version: told of what is released, at its entry; a pre-release may be ahead
/// of its own metadata.
#[test]
fn a_series_without_a_version_is_told_where_it_is_listed() {
    let ahead = format!("{METADATA}- {{major: 0, minor: 2, contract: v1beta1}}\n");
    let folder = repository(ONE, &[("v0.1.0", &ahead)]);
    let finding = "warning[metadata-series-ahead]: series 0.2 has no version here\n  --> /srv/bootstrap-foo/v0.1.0/metadata.yaml:5:34\n   |\n \
                   5 | - {major: 0, minor: 2, contract: v1beta1}\n   |                                  ^^^^^^^\n   |\n  \
                   = help: lay its release in, or list a series only from its first release on\n";
    let found = block("v0.1.0", "v0.1.0", "the newest release");
    check(
        &folder,
        0,
        &format!("{found}{finding}1 provider, 1 version; 1 warning\n"),
    );
    for (releases, versions) in [
        (
            &[("v0.1.0", ahead.as_str()), ("v0.2.0", &ahead)][..],
            "v0.1.0, v0.2.0",
        ),
        (&[("v0.1.0-rc.1", &ahead)], "v0.1.0-rc.1"),
    ] {
        let (code, text) = told(repository(ONE, releases).path(), &["."]);
        assert!(
            code == 0
                && text.contains(&format!("found        {versions}\n"))
                && !text.contains("warning"),
            "{text}"
        );
    }
}

/// Older versions of a series that the newest metadata.yaml does not list; newer ones are not its
/// business.
#[test]
fn each_older_version_without_its_series_is_told() {
    let folder = repository(
        ONE,
        &[
            ("v0.0.8", METADATA),
            ("v0.0.9", METADATA),
            ("v0.1.0", METADATA),
            ("v1.0.0-rc.1", METADATA),
        ],
    );
    let (code, text) = told(folder.path(), &["."]);
    let found = block(
        "v0.1.0",
        "v0.0.8, v0.0.9, v0.1.0, v1.0.0-rc.1",
        "the newest release",
    );
    let finding = |version: &str| {
        format!(
            "warning[metadata-not-cumulative]: series 0.0 of {version} is not in the metadata.yaml of v0.1.0\n  \
             --> /srv/bootstrap-foo/v0.1.0/metadata.yaml:4:1\n   |\n 4 | - {{major: 0, minor: 1, contract: v1beta2}}\n"
        )
    };
    assert!(
        code == 0
            && text.starts_with(&format!("{found}{}", finding("v0.0.8")))
            && text.contains(&finding("v0.0.9")),
        "{text}"
    );
    assert!(
        text.ends_with("1 provider, 4 versions; 2 warnings\n")
            && text.matches("warning[").count() == 2,
        "{text}"
    );
}

/// A version that clusterctl cannot read under the name that it makes of it; a link that is called
/// otherwise is no version to anybody.
#[cfg(unix)]
#[test]
fn a_version_without_its_letter_is_told_by_its_folder() {
    let folder = repository(ONE, &[("0.1.0", METADATA)]);
    std::os::unix::fs::symlink("0.1.0", folder.path().join("bootstrap-foo/next")).unwrap();
    let (code, text) = told(folder.path(), &["."]);
    assert!(
        code == 1
            && text.contains(
                "\n  found        0.1.0; skipped: next (a link)\n  picked       nothing: "
            ),
        "{text}"
    );
    let finding = "error[repository-version-unprefixed]: /srv/bootstrap-foo/0.1.0 has no `v`: `latest` finds it and then reads v0.1.0\n  \
                   --> /srv/bootstrap-foo/0.1.0\n  = help: rename the folder to v0.1.0\n1 provider, 1 version; 1 error\n";
    assert!(
        text.ends_with(finding) && text.matches("error[").count() == 1,
        "{text}"
    );
}

/// A series of the contract that is ahead of every version leaves clusterctl with nothing.
#[test]
fn a_newest_series_without_any_version_leaves_nothing_to_take() {
    let ahead = format!("{METADATA}- {{major: 0, minor: 2, contract: v1beta2}}\n");
    let folder = repository(ONE, &[("v0.1.0", &ahead)]);
    let words = "failed to get latest version: failed to find releases tagged with a valid semantic version number";
    let expected = format!(
        "bootstrap-foo   /srv/bootstrap-foo/latest/bootstrap-components.yaml (./clusterctl.yaml:4:8)\n  found        v0.1.0\n  \
         picked       nothing: {words}\nerror[repository-version-missing]: clusterctl finds no version of bootstrap-foo\n"
    );
    let (code, text) = told(folder.path(), &["."]);
    assert!(code == 1 && text.starts_with(&expected), "{text}");
    let help = "if the metadata.yaml of the newest release names a series without a release, remove it, or pin a version in the url";
    assert!(
        text.ends_with(&format!(
            "  = help: {help}\n  = note: clusterctl says: {words}\n1 provider, 1 version; 1 error\n"
        )),
        "{text}"
    );
}

/// A url that leads elsewhere is one that the repository mends, where a repository was named that
/// has the provider.
#[test]
fn a_url_of_the_former_place_is_told_with_the_new_one() {
    let folder = repository(&ONE.replace("BASE", "BASE/old"), &[("v0.1.0", METADATA)]);
    let (code, text) = told(folder.path(), &["."]);
    let (old, new) = (
        "/srv/old/bootstrap-foo/latest/bootstrap-components.yaml",
        "/srv/bootstrap-foo/latest/bootstrap-components.yaml",
    );
    let finding = format!(
        "error[repository-entry-stale]: the url of bootstrap-foo leads to {old}, where nothing is\n{URL}"
    );
    assert!(code == 1 && text.contains(&finding), "{text}");
    let help = format!(
        "  = help: write `url: {new}`, or lay the release in again with `--force`, which changes such urls\n"
    );
    assert!(
        text.ends_with(&format!("{help}1 provider, 0 versions; 1 error\n"))
            && text.matches("error[").count() == 1,
        "{text}"
    );
    for arguments in [&["--config", "clusterctl.yaml"][..], &["other"]] {
        std::fs::create_dir_all(folder.path().join("other")).unwrap();
        std::fs::copy(
            folder.path().join("clusterctl.yaml"),
            folder.path().join("other/clusterctl.yaml"),
        )
        .unwrap();
        let (code, text) = told(folder.path(), arguments);
        assert!(
            code == 1
                && !text.contains("stale")
                && text.contains("error[repository-version-missing]"),
            "{arguments:?}: {text}"
        );
    }
}

/// Files of the release are held against its checksums; those of the overrides layer are not of the
/// release.
#[test]
fn checksums_are_those_of_the_release_itself() {
    let folder = repository(ONE, &[("v0.1.0", METADATA)]);
    let release = folder.path().join("bootstrap-foo/v0.1.0");
    let sums = std::process::Command::new("sha256sum")
        .args(["bootstrap-components.yaml", "metadata.yaml"])
        .current_dir(&release)
        .output();
    write(&release, "SHA256SUMS", sums.unwrap().stdout);
    let found = block("v0.1.0", "v0.1.0", "the newest release");
    check(&folder, 0, &format!("{found}1 provider, 1 version\n"));
    let layer = "home/.config/cluster-api/overrides/bootstrap-foo/v0.1.0/bootstrap-components.yaml";
    write(folder.path(), layer, format!("{COMPONENTS}# mine\n"));
    let overridden = found.replace(
        "/srv/bootstrap-foo/v0.1.0/bootstrap-components.yaml\n",
        &format!("/srv/{layer} (overrides layer)\n"),
    );
    check(&folder, 0, &format!("{overridden}1 provider, 1 version\n"));
    std::fs::remove_dir_all(folder.path().join("home")).unwrap();
    write(
        &release,
        "bootstrap-components.yaml",
        format!("{COMPONENTS}# x\n"),
    );
    write(
        &release,
        "metadata.yaml",
        [METADATA.as_bytes(), b"\xff"].concat(),
    );
    let wrong = |file: &str| {
        let path = format!("/srv/bootstrap-foo/v0.1.0/{file}");
        let help = format!(
            "if the change is meant, write the file's sum into SHA256SUMS: `sha256sum {file}`"
        );
        format!(
            "error[release-checksum-wrong]: {path} is not the file whose checksum SHA256SUMS has\n  --> {path}\n  \
             = help: download the release again; {help}\n"
        )
    };
    let path = "/srv/bootstrap-foo/v0.1.0/metadata.yaml";
    let not_text = format!(
        "error[repository-file-not-text]: {path} is not UTF-8 text\n  --> {path}\n  = help: download the file again, without conversion\n"
    );
    let findings = format!(
        "{}{}{not_text}",
        wrong("bootstrap-components.yaml"),
        wrong("metadata.yaml")
    );
    check(
        &folder,
        1,
        &format!("{found}{findings}1 provider, 1 version; 3 errors\n"),
    );
}

/// The newest manifest that lies there, by its version and not by its name.
#[test]
fn a_cert_manager_that_nothing_names_is_told_with_its_newest_version() {
    let folder = repository(ONE, &[("v0.1.0", METADATA)]);
    for version in ["v1.9.0", "v1.10.0", "next"] {
        write(
            folder.path(),
            &format!("cert-manager/{version}/cert-manager.yaml"),
            "",
        );
    }
    let setting =
        "cert-manager: {url: \"/srv/cert-manager/v1.10.0/cert-manager.yaml\", version: v1.10.0}";
    let finding = format!(
        "warning[repository-entry-missing]: . holds cert-manager, which ./clusterctl.yaml does not name\n  --> ./clusterctl.yaml\n  \
         = help: add `{setting}`\n"
    );
    check(
        &folder,
        0,
        &format!(
            "{}{finding}1 provider, 1 version; 1 warning\n",
            block("v0.1.0", "v0.1.0", "the newest release")
        ),
    );
}

/// Book, clusterctl configuration: the switch counts wherever it is set, an image's tag where it is
/// written, and of two entries the last.
#[test]
fn settings_are_told_where_they_stand() {
    let found = block("v0.1.0", "v0.1.0", "the newest release");
    let (_, without) = ONE.split_once('\n').unwrap();
    let folder = repository(without, &[("v0.1.0", METADATA)]);
    let switch = "info[configuration-version-check-on]: CLUSTERCTL_DISABLE_VERSIONCHECK is not \"true\": offline each call of clusterctl waits \
                  a minute\n  --> ./clusterctl.yaml\n  \
                  = help: add `CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"`, or set it in the environment\n";
    let of_line_3 = found.replace(":4:8", ":3:8");
    check(
        &folder,
        0,
        &format!("{of_line_3}{switch}1 provider, 1 version; 1 info\n"),
    );
    for (value, is_told) in [("true", false), ("1", true)] {
        let mut command = windlass(folder.path());
        let output = command
            .args(["repository", "doctor", "."])
            .env("CLUSTERCTL_DISABLE_VERSIONCHECK", value)
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout).contains("version-check-on"),
            is_told,
            "{value}"
        );
    }
    let tagged = format!(
        "{ONE}images:\n  bootstrap-foo/m:\n    tag: v1\n  other: {{tag: v2}}\n  bootstrap-foo: {{repository: a.b}}\n"
    );
    let folder = repository(&tagged, &[("v0.1.0", METADATA)]);
    let finding = "warning[configuration-image-tag-unpinned]: images of bootstrap-foo get a fixed tag, but its url takes the latest version\n  \
                   --> ./clusterctl.yaml:8:10\n   |\n 8 |     tag: v1\n   |          ^^\n   |\n  \
                   = help: name the version in the url instead of `latest`, or remove the tag\n  \
                   = note: newer components meet an older image, whose flags are others\n";
    check(
        &folder,
        0,
        &format!("{found}{finding}1 provider, 1 version; 1 warning\n"),
    );
    let twice = format!(
        "{ONE}- {{name: foo, type: BootstrapProvider, url: BASE/bootstrap-foo/v0.1.0/bootstrap-components.yaml}}\n"
    );
    let pinned = found
        .replace("/latest/", "/v0.1.0/")
        .replace(":4:8", ":6:45")
        .replace("the newest release", "the url names it");
    check(
        &repository(&twice, &[("v0.1.0", METADATA)]),
        0,
        &format!("{pinned}1 provider, 1 version\n"),
    );
}

/// A variable that only the configuration sets is none for a url; one that has a default is never
/// empty.
#[test]
fn a_variable_of_a_url_is_told_where_the_environment_lacks_it() {
    let folder = repository(&ONE.replace("BASE", "${ROOT}"), &[("v0.1.0", METADATA)]);
    let (code, text) = told(folder.path(), &["."]);
    let finding = format!(
        "error[configuration-variable-unset]: variable ROOT of the url is not set in the environment\n  --> ./clusterctl.yaml:4:8\n   |\n \
         4 |   url: {}  = help: run `export ROOT=VALUE` first\n  \
         = note: clusterctl takes it for empty, and looks elsewhere; variables of clusterctl.yaml do not count in urls\n",
        marked("${ROOT}/bootstrap-foo/latest/bootstrap-components.yaml")
    );
    assert!(code == 1 && text.contains(&finding), "{text}");
    let mut command = windlass(folder.path());
    let output = command
        .args(["repository", "doctor", "."])
        .env("ROOT", folder.path())
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    for default in [
        "${ROOT:=BASE}",
        "${ROOT=BASE}",
        "BASE${NOTHING:=}",
        "BASE${NOTHING=}",
        "BASE${NOTHING:-}",
    ] {
        let with_default = repository(&ONE.replace("BASE", default), &[("v0.1.0", METADATA)]);
        check(
            &with_default,
            0,
            &format!(
                "{}1 provider, 1 version\n",
                block("v0.1.0", "v0.1.0", "the newest release")
            ),
        );
    }
    let (code, text) = told(
        repository(
            &ONE.replace("BASE", "BASE${NOTHING^}"),
            &[("v0.1.0", METADATA)],
        )
        .path(),
        &["."],
    );
    assert!(
        code == 1 && text.contains("variable NOTHING of the url is not set"),
        "{text}"
    );
}

/// An entry that clusterctl refuses names no provider: its folder is examined all the same.
#[test]
fn a_refused_entry_is_told_with_the_line_that_would_name_the_provider() {
    let folder = repository(
        &ONE.replace("BootstrapProvider", "Bootstrap"),
        &[("v0.1.0", METADATA)],
    );
    let (code, text) = told(folder.path(), &["."]);
    assert_eq!(code, 1);
    let entry = "{name: foo, type: BootstrapProvider, url: \"/srv/bootstrap-foo/latest/bootstrap-components.yaml\"}";
    for part in [
        block("v0.1.0", "v0.1.0", "the newest release").replace(" (./clusterctl.yaml:4:8)", ""),
        "warning[repository-entry-missing]: . holds bootstrap-foo, which ./clusterctl.yaml does not name\n  --> ./clusterctl.yaml\n"
            .to_owned(),
        format!("  = help: add to `providers`: `{entry}`\n"),
        "error[configuration-provider-refused]: clusterctl refuses the entry, and with it every command\n  --> ./clusterctl.yaml:3:3\n"
            .to_owned(),
        "  = help: correct the entry as the note says\n  = note: clusterctl says: error validating configuration for the Bootstrap"
            .to_owned(),
        "\n1 provider, 1 version; 1 error, 1 warning\n".to_owned(),
    ] {
        assert!(text.contains(&part), "{part}{text}");
    }
}

/// A folder in which no entry is a version says so, with each entry and the reason.
#[test]
fn a_provider_without_any_version_has_its_entries_told() {
    let folder = repository(ONE, &[("next", METADATA)]);
    write(folder.path(), "bootstrap-foo/README", "");
    let (code, text) = told(folder.path(), &["."]);
    let found = "  found        no version; skipped: README (a file), next (no semantic version)\n  picked       nothing: ";
    assert!(
        code == 1 && text.contains(found) && text.ends_with("1 provider, 0 versions; 1 error\n"),
        "{text}"
    );
}

/// A configuration of another name is read as YAML too, and its findings stand at their lines.
#[test]
fn a_configuration_may_have_either_ending() {
    for name in ["clusterctl.yaml", "mine.yml"] {
        let folder = repository(
            &ONE.replace("bootstrap-foo/latest", "bootstrap-gone/latest"),
            &[],
        );
        std::fs::rename(
            folder.path().join("clusterctl.yaml"),
            folder.path().join("c"),
        )
        .unwrap();
        std::fs::rename(folder.path().join("c"), folder.path().join(name)).unwrap();
        let (code, text) = told(folder.path(), &["--config", name]);
        let place = format!(
            "error[repository-version-missing]: clusterctl finds no version of bootstrap-foo\n  --> {name}:4:8\n   |\n"
        );
        assert!(code == 1 && text.contains(&place), "{text}");
    }
}
