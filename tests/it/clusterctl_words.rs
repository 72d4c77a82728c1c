//! clusterctl's verbs as this program has them: where output goes, what pflag says of flags, and
//! what is printed whatever else is asked for.

use std::fs;
use std::path::Path;

use crate::support::windlass;

const CLUSTER: &str = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: \"${CLUSTER_NAME}\"}\nspec: {a: \"${B:=c}\"}\n";
const GENERATED: &str = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata:\n  name: c\n  namespace: ns\nspec:\n  a: c\n";

/// Exit code, standard output and standard error.
fn told(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = windlass(folder).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn done(text: &str) -> (i32, String, String) {
    (0, text.to_owned(), String::new())
}

#[test]
fn a_cluster_goes_to_the_file_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.yaml"), CLUSTER).unwrap();
    fs::create_dir(folder.path().join("f")).unwrap();
    let generate = |more: &[&str]| {
        told(
            folder.path(),
            &[
                &["generate", "cluster", "c", "-n", "ns", "--from", "t.yaml"],
                more,
            ]
            .concat(),
        )
    };
    let files = || fs::read_dir(folder.path()).unwrap().count();
    for standard in [
        &[][..],
        &["--write-to", "-"],
        &["--write-to", " "],
        &["--write-to", ""],
    ] {
        assert_eq!(generate(standard), done(GENERATED), "{standard:?}");
    }
    assert_eq!(files(), 2);
    // A list is printed, also where a file is named.
    let list = "\nOptional Variables:\n  - B             (defaults to \"c\")\n  - CLUSTER_NAME  (defaults to c)\n\n";
    let (code, stdout, stderr) = generate(&["--list-variables", "--write-to", "o.yaml"]);
    assert!(
        (code, stderr.as_str()) == (0, "") && stdout.ends_with(list),
        "{stdout}{stderr}"
    );
    assert_eq!(files(), 2);
    assert_eq!(generate(&["--write-to", "o.yaml"]), done(""));
    assert_eq!(generate(&["--write-to", " o.yaml "]), done(""));
    assert_eq!(
        (
            files(),
            fs::read_to_string(folder.path().join("o.yaml")).unwrap()
        ),
        (3, GENERATED.to_owned())
    );
    for (to, reason) in [
        ("gone/o.yaml", "no such file or directory"),
        ("f", "is a directory"),
    ] {
        let said = format!("Error: failed to write to destination file: open {to}: {reason}\n");
        assert_eq!(generate(&["--write-to", to]), (1, String::new(), said));
    }
}

#[test]
fn a_provider_is_described_raw_or_as_it_is_installed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let release = path.join("r/bootstrap-foo/v0.1.0");
    fs::create_dir_all(&release).unwrap();
    let components = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n---\napiVersion: v1\nkind: ConfigMap\n\
                      metadata: {name: one, namespace: foo-system}\ndata: {a: \"${A:=b}\"}\n";
    let metadata = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries: [{major: 0, minor: 1, contract: v1beta2}]\n";
    fs::write(release.join("bootstrap-components.yaml"), components).unwrap();
    fs::write(release.join("metadata.yaml"), metadata).unwrap();
    let url = path.join("r/bootstrap-foo/latest/bootstrap-components.yaml");
    let config = format!(
        "providers:\n- {{name: foo, type: BootstrapProvider, url: \"{}\"}}\n",
        url.display()
    );
    fs::write(path.join("c.yaml"), config).unwrap();
    let generate = |more: &[&str]| {
        told(
            path,
            &[
                &[
                    "generate",
                    "provider",
                    "--config",
                    "c.yaml",
                    "--bootstrap",
                    "foo:v0.1.0",
                ],
                more,
            ]
            .concat(),
        )
    };
    let (_, description, _) = generate(&["--describe"]);
    assert!(
        description.starts_with("Name:               foo\n")
            && description.contains("\nVersion:            v0.1.0\n"),
        "{description}"
    );
    for flags in [
        &["--describe", "--raw"][..],
        &["--describe", "--write-to", "o.yaml"],
        &["--describe=true", "--raw=false"],
    ] {
        assert_eq!(generate(flags), done(&description), "{flags:?}");
    }
    assert!(!path.join("o.yaml").exists());
    let (code, raw, _) = generate(&["--raw"]);
    assert!(code == 0 && raw.contains("${A:=b}"), "{raw}");
    let (code, installed, _) = generate(&[]);
    assert!(
        code == 0 && !installed.contains("${A") && installed.contains("a: b"),
        "{installed}"
    );
    assert_eq!(generate(&["--describe=false"]), done(&installed));
    for (flags, text) in [
        (&["--raw", "--write-to", "o.yaml"][..], &raw),
        (&["--write-to", "o.yaml"], &installed),
    ] {
        assert_eq!(generate(flags), done(""));
        assert_eq!(&fs::read_to_string(path.join("o.yaml")).unwrap(), text);
    }
    assert!(generate(&["-n", "other"]).1.contains("namespace: other\n"));
    let flags = "--core, --bootstrap, --control-plane, --infrastructure, --ipam, --extension, --addon should be set";
    assert_eq!(
        generate(&["--core", "x"]),
        (1, String::new(), format!("Error: only one of {flags}\n"))
    );
    assert_eq!(
        told(path, &["generate", "provider"]),
        (
            1,
            String::new(),
            format!("Error: at least one of {flags}\n")
        )
    );
}

#[test]
fn flags_are_answered_as_pflag_does() {
    let folder = tempfile::tempdir().unwrap();
    let syntax = |value: &str| format!("strconv.ParseInt: parsing \"{value}\": invalid syntax");
    for (arguments, said) in [
        (&["version", "-qz"][..], "unknown shorthand flag: 'z' in -qz".to_owned()),
        (&["version", "-q", "-z"], "unknown shorthand flag: 'z' in -z".to_owned()),
        (&["version", "--output", "zz", "-z"], "unknown shorthand flag: 'z' in -z".to_owned()),
        (&["version", "-v"], "flag needs an argument: 'v' in -v".to_owned()),
        (&["version", "--v"], "flag needs an argument: --v".to_owned()),
        (
            &["generate", "cluster", "c", "--worker-machine-count", ""],
            format!("invalid argument \"\" for \"--worker-machine-count\" flag: {}", syntax("")),
        ),
        (
            &["generate", "cluster", "c", "--worker-machine-count", "+"],
            format!("invalid argument \"+\" for \"--worker-machine-count\" flag: {}", syntax("+")),
        ),
        (
            &["generate", "cluster", "c", "--list-variables=x"],
            "invalid argument \"x\" for \"--list-variables\" flag: strconv.ParseBool: parsing \"x\": invalid syntax".to_owned(),
        ),
        (
            &["config", "repositories", "-o", "json"],
            "invalid output format \"json\", valid values: [yaml text]".to_owned(),
        ),
        (&["config", "--zzz"], "unknown flag: --zzz".to_owned()),
        (&["config", "-z"], "unknown shorthand flag: 'z' in -z".to_owned()),
        (&["config", "-v", "x"], "invalid argument \"x\" for \"-v, --v\" flag: parse error".to_owned()),
    ] {
        assert_eq!(told(folder.path(), arguments), (1, String::new(), format!("Error: {said}\n")), "{arguments:?}");
    }
    // A group answers the flags of the whole program.
    assert_eq!(
        told(folder.path(), &["config", "-V"]),
        told(folder.path(), &["version"])
    );
    assert_eq!(
        told(folder.path(), &["release", "--version"]),
        told(folder.path(), &["version"])
    );
    // Too many words, or none: what is wrong, and how the verb is used.
    for (arguments, said, verb) in [
        (
            &["generate", "cluster"][..],
            "please specify a cluster name",
            "generate cluster",
        ),
        (
            &["generate", "cluster", "c", "d"],
            "please specify a cluster name",
            "generate cluster",
        ),
        (
            &["version", "zzz", "-z"],
            "unknown command \"zzz\" for \"windlass version\"",
            "version",
        ),
        (
            &["completion", "bash", "zsh"],
            "please specify a shell",
            "completion",
        ),
    ] {
        let (code, stdout, stderr) = told(folder.path(), arguments);
        assert_eq!(
            (code, stderr),
            (1, format!("Error: {said}\n\n")),
            "{arguments:?}"
        );
        let mut help: Vec<&str> = verb.split(' ').collect();
        help.push("--help");
        assert_eq!(stdout, told(folder.path(), &help).1, "{arguments:?}");
    }
    let usage = "  help: usage: windlass schema KIND [FLAGS]\n";
    for (value, said) in [
        (&["-v", "abc"][..], "unknown value `abc` for `--v`"),
        (&["--v"], "`--v` needs a value"),
    ] {
        let (code, stdout, stderr) = told(folder.path(), &[&["schema", "finding"], value].concat());
        assert_eq!(
            (code, stdout.as_str(), stderr),
            (2, "", format!("error: {said}\n{usage}"))
        );
    }
}

#[test]
fn completions_know_the_values_of_each_flag_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let script = told(folder.path(), &["completion", "fish"]).1;
    for flag in ["deny", "allow"] {
        let values = script
            .split(&format!(" -l {flag} "))
            .nth(1)
            .unwrap()
            .split("\ncomplete ")
            .next()
            .unwrap();
        assert!(
            values.contains("metadata-series-missing"),
            "{flag}: {values}"
        );
        assert_eq!(values.contains("warnings"), flag == "deny", "{values}");
    }
    // The name of a class is known, and that of a cluster is anybody's.
    let bash = told(folder.path(), &["completion", "bash"]).1;
    let offered = |verb: &str| {
        let (_, of_verb) = bash
            .split_once(&format!("        windlass__subcmd__{verb})"))
            .unwrap();
        of_verb.lines().nth(1).unwrap().to_owned()
    };
    let has = |verb: &str| {
        offered(verb)
            .split([' ', '"'])
            .any(|word| word == "windlass")
    };
    assert!(
        has("generate__subcmd__clusterclass") && !has("generate__subcmd__cluster"),
        "{}",
        offered("generate__subcmd__cluster")
    );
}
