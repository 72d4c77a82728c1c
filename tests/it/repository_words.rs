//! What the verbs of repositories print and say, as a whole: what was laid in or packed, what is
//! lacking, how to go on; and with `-q`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::told::{METADATA, TWO, done, told};

const CERT_MANAGER: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
    metadata: {name: certificates.cert-manager.io, labels: {app.kubernetes.io/version: v1.21.1}}\nspec: {group: cert-manager.io}\n";

/// A folder with a release of two providers in `out`.
fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [
        ("provider.yaml", TWO),
        ("metadata.yaml", METADATA),
        ("cert-manager.yaml", CERT_MANAGER),
    ] {
        fs::write(folder.path().join(file), text).unwrap();
    }
    done(folder.path(), "release build v0.1.0 --to out -q");
    folder
}

fn json(folder: &Path, command: &str) -> Value {
    serde_json::from_str(&told(folder, &format!("{command} -o json")).1).unwrap()
}

#[test]
fn what_is_added_is_told_and_the_command_alone_is_printed() {
    let folder = site();
    let path = folder.path();
    let config = |to: &str| path.join(to).join("clusterctl.yaml").display().to_string();
    let init = |to: &str| {
        format!(
            "clusterctl init --config {} --bootstrap foo:v0.1.0 --control-plane foo:v0.1.0\n",
            config(to)
        )
    };
    let said = |what: &str, config: &str| {
        format!(
            "bootstrap-foo v0.1.0: {what} r/bootstrap-foo/v0.1.0\ncontrol-plane-foo v0.1.0: {what} r/control-plane-foo/v0.1.0\n\
             note: init also installs cluster-api and cert-manager, which are not here: clusterctl takes them from GitHub\n\
             {config} (your own clusterctl.yaml is not touched); continue with:\n"
        )
    };
    let add = "repository add out --to r";
    assert_eq!(
        done(path, add),
        (
            init("r"),
            said("6 files into", &format!("wrote {}", config("r")))
        )
    );
    assert_eq!(
        done(path, add),
        (
            init("r"),
            said("unchanged in", &format!("{} is unchanged", config("r")))
        )
    );
    assert_eq!(done(path, &format!("{add} -q")), (init("r"), String::new()));
    assert_eq!(
        done(path, &format!("{add}/ -q")),
        (init("r"), String::new()),
        "with the slash that completion writes"
    );
    // A file by itself, and its folder.
    for (from, to) in [
        ("cert-manager.yaml", "r"),
        ("cert-manager.yaml", "s"),
        (".", "t"),
    ] {
        let command = format!("repository add {from} --to {to}");
        let expected = |what: &str, done: &str| {
            format!(
                "cert-manager v1.21.1: {what} {to}/cert-manager/v1.21.1\n{} {done}; add the releases of providers with `repository add`\n",
                config(to)
            )
        };
        if from == "." {
            fs::remove_file(path.join("provider.yaml")).unwrap();
            fs::remove_file(path.join("metadata.yaml")).unwrap();
        }
        assert_eq!(
            done(path, &command),
            (String::new(), expected("1 file into", "leads to it"))
        );
        assert_eq!(
            done(path, &command),
            (String::new(), expected("unchanged in", "is unchanged"))
        );
    }
    // Now only the core is lacking.
    let (_, stderr) = done(path, add);
    assert!(
        stderr.contains("\nnote: init also installs cluster-api, which is not here: clusterctl takes it from GitHub\n")
            && !stderr.contains("kubeadm"),
        "{stderr}"
    );
    // Of the bootstrap provider alone: clusterctl has to be told of kubeadm.
    let (stdout, stderr) = done(
        path,
        "repository add out/bootstrap-components.yaml out/images.txt ./out/metadata.yaml --to u --release v0.1.0",
    );
    assert_eq!(
        stdout,
        format!(
            "clusterctl init --config {} --bootstrap kubeadm,foo:v0.1.0 --control-plane kubeadm\n",
            config("u")
        )
    );
    assert!(
        stderr.starts_with("bootstrap-foo v0.1.0: 3 files into u/bootstrap-foo/v0.1.0\nnote: init also installs cluster-api, "),
        "{stderr}"
    );
    assert!(
        stderr.contains("bootstrap-kubeadm, control-plane-kubeadm and cert-manager, which")
            && stderr.contains("\nnote: kubeadm is named too: ")
    );
}

/// However many of them there are.
#[test]
fn with_refused_releases_nothing_is_laid_in() {
    let folder = site();
    let path = folder.path();
    for (bad, components) in [
        ("x", "bootstrap-components.yaml"),
        ("y", "control-plane-components.yaml"),
    ] {
        fs::create_dir(path.join(bad)).unwrap();
        fs::copy(
            path.join("out").join(components),
            path.join(bad).join(components),
        )
        .unwrap();
    }
    fs::create_dir(path.join("z")).unwrap();
    fs::write(
        path.join("z/cert-manager.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
    )
    .unwrap();
    for (command, errors) in [
        ("out x", "1 error"),
        ("x out", "1 error"),
        ("x y", "2 errors"),
        ("z", "1 error"),
        ("x z", "2 errors"),
        ("z out", "1 error"),
        ("x --mirror a|b", "2 errors"),
        ("z --mirror a|b", "2 errors"),
        ("out --mirror a|b", "1 error"),
    ] {
        let (code, stdout, stderr) = told(path, &format!("repository add {command} --to r"));
        assert_eq!((code, stdout.as_str()), (1, ""), "{command}: {stderr}");
        assert!(
            stderr.ends_with(&format!("\n{errors}; nothing written\n")),
            "{command}: {stderr}"
        );
        assert!(!path.join("r").exists(), "{command}");
    }
    fs::write(path.join("b.gz"), [0x1f, 0x8b, 8, 0]).unwrap();
    let packed =
        "error: b.gz is compressed\n  help: run `gunzip b.gz`, and add the tar\n".to_owned();
    assert_eq!(
        told(path, "repository add b.gz --to r"),
        (2, String::new(), packed)
    );
}

#[test]
fn a_bundle_is_counted_and_the_way_to_the_other_site_named() {
    let folder = site();
    let path = folder.path();
    done(path, "repository add out --to r -q");
    let bundle = "repository bundle r --write-to b.tar --allow bundle-implied-missing";
    let (stdout, stderr) = done(path, bundle);
    let rest = stderr
        .strip_prefix(
            "bootstrap-foo v0.1.0\ncontrol-plane-foo v0.1.0\nb.tar: 16 files, 2 images, sha256 ",
        )
        .unwrap_or_else(|| panic!("{stderr}"));
    let (sum, next) = rest.split_once('\n').unwrap();
    assert!(
        stdout == "b.tar\n" && sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{stderr}"
    );
    let way = "next: bring it to the site, its images with `tar -xf b.tar mirror.sh && sh mirror.sh REGISTRY`, and run \
               `windlass repository add b.tar --to REPOSITORY --mirror REGISTRY` there\n";
    assert_eq!(next, way);
    assert_eq!(
        done(path, bundle),
        (
            stdout.clone(),
            stderr.replace(sum, &format!("{sum}, unchanged"))
        )
    );
    assert_eq!(
        done(path, &format!("{bundle} -q")),
        (stdout.clone(), String::new())
    );
    // Another file is not replaced unasked.
    let bytes = fs::read(path.join("b.tar")).unwrap();
    fs::write(path.join("b.tar"), "mine").unwrap();
    let refused =
        "error: b.tar is there with other content\n  help: choose another name or pass `--force`\n"
            .to_owned();
    assert_eq!(told(path, bundle), (2, String::new(), refused));
    assert_eq!(fs::read(path.join("b.tar")).unwrap(), b"mine");
    assert_eq!(done(path, &format!("{bundle} --force")), (stdout, stderr));
    assert_eq!(fs::read(path.join("b.tar")).unwrap(), bytes);
    // In the repository, but no file of a release: it is said, and it is no part of itself.
    for to in ["r/c.tar", "r/x/../c.tar", "r/x/c.tar"] {
        fs::create_dir_all(path.join("r/x")).unwrap();
        let (stdout, stderr) = done(
            path,
            &format!("repository bundle r --write-to {to} --allow bundle-implied-missing"),
        );
        assert!(
            stdout == format!("{to}\n")
                && stderr.starts_with(&format!(
                    "note: {to} lies in r, and is no part of what is packed\n"
                )),
            "{stderr}"
        );
        assert_eq!(fs::read(path.join(to)).unwrap(), bytes);
    }
    let (code, _, stderr) = told(path, "repository bundle r --write-to r/x/y/d.tar");
    let refused = "error: `r/x/y/d.tar` would be a file of a release in r, which is packed\n  \
                   help: choose a file beside the repository, such as `--write-to bundle.tar`\n";
    assert_eq!((code, stderr.as_str()), (2, refused));
    let (code, stdout, stderr) = told(path, "repository bundle r --write-to e.tar --deny warnings");
    assert!(
        (code, stdout.as_str()) == (1, "") && stderr.ends_with("\n1 warning; nothing written\n"),
        "{stderr}"
    );
}

#[test]
fn an_artifact_on_disk_is_named_by_tag_and_digest() {
    let folder = site();
    let path = folder.path();
    done(path, "repository add out --to r -q");
    let push = "repository push r/bootstrap-foo/v0.1.0 oci:a";
    let next =
        "next: `skopeo copy --preserve-digests oci:a:v0.1.0 docker://REGISTRY/REPOSITORY:v0.1.0`\n";
    let (stdout, stderr) = done(path, push);
    let digest = stdout
        .strip_prefix("oci:a@")
        .and_then(|rest| rest.strip_suffix('\n'))
        .unwrap()
        .to_owned();
    assert_eq!(
        (stderr, digest.len()),
        (format!("v0.1.0 into a\n{next}"), "sha256:".len() + 64)
    );
    assert_eq!(
        done(path, push),
        (stdout.clone(), format!("v0.1.0 is unchanged in a\n{next}"))
    );
    assert_eq!(
        done(path, &format!("{push} --force -q")),
        (stdout, String::new())
    );
    let (_, stderr) = done(path, &format!("{push}:v9 --allow artifact-tag-other"));
    assert_eq!(
        stderr,
        format!("v9 into a\n{}", next.replace("v0.1.0", "v9"))
    );
    let taken =
        "release another version, for others hold a tag to be what they pulled; or pass `--force`";
    let refused = format!("error: a has the tag v0.1.0 with other content\n  help: {taken}\n");
    let other = push.replace("bootstrap", "control-plane");
    assert_eq!(told(path, &other), (2, String::new(), refused));
    assert_eq!(
        done(path, &format!("{other} --force")).1,
        format!("v0.1.0 into a\n{next}")
    );
    // By digest as well as by tag.
    for (reference, label) in [
        ("a:v0.1.0".to_owned(), "control-plane-foo"),
        ("a:v9".to_owned(), "bootstrap-foo"),
    ] {
        let (stdout, stderr) = done(path, &format!("repository pull oci:{reference} --to p"));
        assert!(
            stderr.starts_with(&format!(
                "{label} v0.1.0: 6 files into p/{label}/v0.1.0\nnote: init also"
            )),
            "{stderr}"
        );
        assert!(stdout.starts_with("clusterctl init --config "), "{stdout}");
    }
    // Of a repository with several releases nobody knows which is meant.
    let several = "error: r holds 2 releases: bootstrap-foo/v0.1.0, control-plane-foo/v0.1.0\n  help: name one: `windlass repository ";
    for verb in ["push r oci:b", "push r/ oci:b", "configmap r"] {
        let (code, stdout, stderr) = told(path, &format!("repository {verb}"));
        assert!(
            (code, stdout.as_str()) == (2, "") && stderr.starts_with(several),
            "{stderr}"
        );
        assert!(
            stderr.contains(&format!(
                "{} r/control-plane-foo/v0.1.0",
                verb.split(' ').next().unwrap()
            )),
            "{stderr}"
        );
    }
}

/// What is listed of a repository, and what is said of what it lacks.
#[test]
fn what_a_repository_holds_is_listed_and_what_it_lacks_is_told() {
    let folder = site();
    let path = folder.path();
    done(path, "repository add out --to r -q");
    let table = "PROVIDER            TYPE                   VERSION   CONTRACT   FILES\n\
                 bootstrap-foo       BootstrapProvider      v0.1.0    v1beta2    6\n\
                 control-plane-foo   ControlPlaneProvider   v0.1.0    v1beta2    6\n";
    assert_eq!(
        done(path, "repository list r"),
        (table.to_owned(), String::new())
    );
    let lacks = |label: &str| {
        format!(
            "note: images of {label}, which `clusterctl init` also installs, are not listed: the repository lacks it\n"
        )
    };
    let notes = lacks("cluster-api") + &lacks("cert-manager");
    let images = "ghcr.io/foo/b:v0.1.0\nghcr.io/foo/c:v0.1.0\n".to_owned();
    assert_eq!(
        done(path, "repository images r"),
        (images.clone(), notes.clone())
    );
    assert_eq!(
        done(path, "repository images r/ -q"),
        (images, String::new())
    );
    let images = json(path, "repository images r");
    assert_eq!(
        (
            images["repository"].as_str(),
            images["images"].as_array().map(Vec::len)
        ),
        (Some("r"), Some(2))
    );
    done(path, "repository add cert-manager.yaml --to r");
    assert_eq!(done(path, "repository images r").1, lacks("cluster-api"));
    let listed = json(path, "repository list r");
    assert_eq!(listed["certManagers"], serde_json::json!(["v1.21.1"]));
    // The manifest alone is a repository too, which runs no image.
    fs::create_dir(path.join("empty")).unwrap();
    let none = "empty holds no release that runs an image\n";
    assert_eq!(
        done(path, "repository images empty"),
        (String::new(), none.to_owned())
    );
    done(path, "repository add cert-manager.yaml --to s");
    assert_eq!(told(path, "repository list s").0, 0);
    let (code, stdout, stderr) = told(path, "repository list empty");
    assert_eq!(
        (code, stdout.as_str()),
        (1, "PROVIDER   TYPE   VERSION   CONTRACT   FILES\n"),
        "{stderr}"
    );
}

#[test]
fn an_examination_ends_with_what_was_examined() {
    let folder = site();
    let path = folder.path();
    done(path, "repository add out --to r -q");
    let text = done(path, "repository doctor r");
    assert!(
        text.0.starts_with("bootstrap-foo ")
            && text.0.ends_with("\n2 providers, 2 versions\n")
            && text.1.is_empty(),
        "{text:?}"
    );
    assert_eq!(done(path, "repository doctor r/"), text);
    assert_eq!(
        done(path, "repository doctor --config r/clusterctl.yaml"),
        text
    );
    assert!(
        !done(path, "repository doctor r -q")
            .0
            .contains("2 providers")
    );
    for format in ["json", "sarif", "junit", "github"] {
        let (stdout, stderr) = done(path, &format!("repository doctor r -o {format}"));
        assert_eq!(
            (stderr.as_str(), stdout.contains("  picked ")),
            ("2 providers, 2 versions\n", false),
            "{format}: {stdout}"
        );
    }
    assert_eq!(
        json(path, "repository doctor r")["providers"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    // A configuration that cannot be read is a finding; without one the folders are examined.
    fs::remove_file(path.join("r/clusterctl.yaml")).unwrap();
    let (code, stdout, _) = told(path, "repository doctor r");
    assert!(
        code == 1
            && stdout.contains(
                "\nerror[repository-configuration-missing]: r holds no clusterctl.yaml, "
            ),
        "{stdout}"
    );
    assert!(
        stdout.ends_with("\n2 providers, 2 versions; 1 error\n"),
        "{stdout}"
    );
    fs::write(path.join("r/clusterctl.yaml"), "a: [\n").unwrap();
    let (code, stdout, _) = told(path, "repository doctor r");
    assert!(
        code == 1
            && stdout.contains("error[configuration-unreadable]")
            && stdout.ends_with("0 providers, 0 versions; 1 error\n"),
        "{stdout}"
    );
}

#[test]
fn what_the_operator_reads_is_counted_and_the_same_command_named() {
    let folder = site();
    let path = folder.path();
    done(path, "repository add out --to r -q");
    let release = "r/bootstrap-foo/v0.1.0";
    let map = json(path, &format!("repository configmap {release}"));
    let bytes = map["configMaps"][0]["bytes"].as_u64().unwrap();
    let said = |namespace: &str, words: &str| {
        format!(
            "bootstrap-foo v0.1.0: {bytes} bytes of 1048576, for the namespace {namespace}\n\
             next, where the namespace is there: `windlass repository configmap {release}{words} | kubectl apply --server-side -f -`\n"
        )
    };
    let then = "then an object of the operator that refers to it: the same with `--with-providers` prints it too\n";
    for (flags, expected) in [
        ("", said("b", "") + then),
        (
            " --release v0.1.0 -n x-y",
            said("x-y", " --release v0.1.0 --namespace x-y") + then,
        ),
        (" --with-providers", said("b", " --with-providers")),
        (" -q", String::new()),
        (" -o json", String::new()),
    ] {
        assert_eq!(
            done(path, &format!("repository configmap {release}{flags}")).1,
            expected,
            "{flags}"
        );
    }
    assert_eq!(
        (
            map["folder"].as_str(),
            map["configMaps"][0]["compressed"].as_bool()
        ),
        (Some(release), Some(false))
    );
    // A version that is none is all that is told.
    for verb in ["configmap r", "push r oci:z"] {
        let (code, stdout, stderr) = told(
            path,
            &format!(
                "repository {} --release 1",
                verb.replacen(" r", &format!(" {release}"), 1)
            ),
        );
        assert!(
            (code, stdout.as_str()) == (1, "")
                && stderr.starts_with("error[release-version-malformed]: "),
            "{stderr}"
        );
        assert!(stderr.ends_with("\n1 error; nothing written\n"), "{stderr}");
    }
}

/// Which files are a release, and where findings say that it lies.
#[test]
fn files_that_are_named_are_a_release_together() {
    let folder = site();
    let path = folder.path();
    fs::copy(
        path.join("out/bootstrap-components.yaml"),
        path.join("bootstrap-components.yaml"),
    )
    .unwrap();
    for (files, place) in [
        ("bootstrap-components.yaml", "."),
        ("./out/bootstrap-components.yaml", "./out"),
        ("out/bootstrap-components.yaml", "out"),
    ] {
        let (code, _, stderr) = told(path, &format!("repository add {files} --to r"));
        let missing = format!(
            "error[release-asset-metadata-missing]: {place} holds no metadata.yaml, without which clusterctl takes no release\n"
        );
        assert!(code == 1 && stderr.starts_with(&missing), "{stderr}");
    }
    // What lies in folders of a release's folder is no file of it.
    fs::create_dir(path.join("out/sub")).unwrap();
    fs::write(path.join("out/sub/metadata.yaml"), "a: [\n").unwrap();
    let (_, stderr) = done(path, "repository add out --to r");
    assert!(
        stderr.starts_with("bootstrap-foo v0.1.0: 6 files into r/bootstrap-foo/v0.1.0\n"),
        "{stderr}"
    );
    assert!(!path.join("r/bootstrap-foo/v0.1.0/sub").exists());
    // A version that is given is that of cert-manager where nothing else is laid in, and of the
    // release else.
    let untold = CERT_MANAGER.replace("app.kubernetes.io/version: v1.21.1", "a: b");
    fs::write(path.join("cert-manager.yaml"), untold).unwrap();
    let (_, stderr) = done(
        path,
        "repository add cert-manager.yaml --release v1.2.3 --to s",
    );
    assert!(
        stderr.starts_with("cert-manager v1.2.3: 1 file into s/cert-manager/v1.2.3\n"),
        "{stderr}"
    );
    fs::write(path.join("cert-manager.yaml"), CERT_MANAGER).unwrap();
    let (_, stderr) = done(
        path,
        "repository add cert-manager.yaml out/bootstrap-components.yaml metadata.yaml --release v0.1.9 --to t",
    );
    for line in [
        "bootstrap-foo v0.1.9: 2 files into t/bootstrap-foo/v0.1.9",
        "cert-manager v1.21.1: 1 file into t/cert-manager/v1.21.1",
    ] {
        assert!(
            stderr.lines().any(|said| said == line),
            "{line} is not in {stderr}"
        );
    }
    // The signature beside a bundle is no file of a release.
    done(
        path,
        "repository bundle r --write-to b.tar -q --allow bundle-implied-missing",
    );
    fs::write(path.join("b.tar.sigstore.json"), "{}").unwrap();
    let (code, _, stderr) = told(path, "repository add b.tar b.tar.sigstore.json --to u");
    assert!(
        code == 0 && stderr.contains("bootstrap-foo v0.1.0: 6 files into u/bootstrap-foo/v0.1.0\n"),
        "{stderr}"
    );
    let (code, _, stderr) = told(path, "repository add b.tar.sigstore.json --to v");
    assert!(
        code == 1 && stderr.starts_with("error[release-components-missing]: "),
        "{stderr}"
    );
}

/// A url leads astray when its release is here, or is about to be, and nothing is where it leads;
/// what a variable stands for nobody knows.
#[test]
fn urls_that_lead_astray_are_told_apart_from_those_that_lead_elsewhere() {
    let folder = site();
    let path = folder.path();
    done(path, "repository add out --to other -q");
    done(path, "repository add out --to r -q");
    let config = path.join("r/clusterctl.yaml");
    let written = fs::read_to_string(&config).unwrap();
    let here = path.join("r").display().to_string();
    let bootstrap =
        "repository add out/bootstrap-components.yaml metadata.yaml --release v0.1.1 --to r";
    let said = |changed: String, command: &str| {
        fs::write(&config, changed).unwrap();
        let (code, _, stderr) = told(path, command);
        let rules = ["repository-entry-stale", "repository-entry-other"];
        (
            code,
            rules.map(|rule| stderr.matches(&format!("[{rule}]")).count()),
        )
    };
    let all = "repository add out --to r";
    let gone =
        |label: &str| written.replace(&format!("{here}/{label}/"), &format!("/gone/{label}/"));
    // Both are added and here; one of them; one that is here and is not added.
    assert_eq!(said(written.replace(&here, "/gone"), all), (1, [2, 0]));
    assert_eq!(said(gone("bootstrap-foo"), all), (1, [1, 0]));
    assert_eq!(said(gone("control-plane-foo"), bootstrap), (1, [1, 0]));
    // Another repository that is there, and a place that only the environment knows.
    let other = path.join("other").display().to_string();
    assert_eq!(said(written.replace(&here, &other), all), (0, [0, 2]));
    assert_eq!(
        said(
            written
                .replace(&format!("url: {here}"), "url: $HOME/x")
                .replace("$HOME", "${HOME}"),
            all
        ),
        (0, [0, 2])
    );
    assert_eq!(said(written.clone(), all), (0, [0, 0]));
    // What is added is not here yet; one that is nowhere and is not added is not ours.
    fs::remove_dir_all(path.join("r/control-plane-foo")).unwrap();
    assert_eq!(said(gone("control-plane-foo"), bootstrap), (0, [0, 0]));
    assert_eq!(said(gone("control-plane-foo"), all), (1, [1, 0]));
    // A url that leads here is right, also before anything is where it leads.
    assert_eq!(said(written.clone(), all), (0, [0, 0]));
    assert_eq!(fs::read_to_string(&config).unwrap(), written);
    // With `--force` they are changed, which is told.
    fs::write(&config, written.replace(&here, "/gone")).unwrap();
    let (_, stderr) = done(path, &format!("{all} --force"));
    assert_eq!(
        stderr
            .lines()
            .filter(|line| line.starts_with("changed in r/clusterctl.yaml: the url of "))
            .count(),
        2,
        "{stderr}"
    );
    assert_eq!(fs::read_to_string(&config).unwrap(), written);
}

#[test]
fn another_mirror_takes_the_place_of_one_only_when_that_is_forced() {
    let folder = site();
    let path = folder.path();
    let add = |registry: &str| format!("repository add out --to r --mirror {registry}");
    let config = || fs::read_to_string(path.join("r/clusterctl.yaml")).unwrap();
    let end = |registry: &str| format!("\nimages:\n  all:\n    repository: {registry}\n");
    done(path, &add("reg.example/x"));
    assert!(config().ends_with(&end("reg.example/x")), "{}", config());
    let (_, stderr) = done(path, &add("reg.example/x"));
    assert!(
        stderr.contains("/r/clusterctl.yaml is unchanged (your own "),
        "{stderr}"
    );
    let (code, stdout, stderr) = told(path, &add("reg.example/y"));
    assert!(
        (code, stdout.as_str()) == (1, "") && stderr.starts_with("error[mirror-images-other]: "),
        "{stderr}"
    );
    assert!(
        stderr.ends_with("\n1 error; nothing written\n")
            && config().ends_with(&end("reg.example/x")),
        "{stderr}"
    );
    let (_, stderr) = done(path, &format!("{} --force", add("reg.example/y")));
    assert!(
        stderr.contains("\nwrote ") && config().ends_with(&end("reg.example/y")),
        "{stderr}"
    );
}
