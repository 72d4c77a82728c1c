//! No verb shows a secret of a document in a message: each is run over documents whose secrets are
//! faulty in every way, in every format.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use windlass::cli::verbs::VERBS;

use crate::support::{copy, files_below, root, windlass};
use crate::untrusted::harmless;

const CANARY: &str = "cAnArY";

/// Documents with a secret at `@`.
const FIELDS: [&str; 13] = [
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  password: @\nunknown: 1\n",
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: @\nunknown: 1\n",
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringDat:\n  a: @\n",
    "{apiVersion: v1, stringData: {p: @}, kind: Secret, metadata: {name: s}}\n",
    "#CONFIG\n  users:\n  - name: u\n    passwd: @\n",
    "#CONFIG\n  users: [{name: u, passwdFrom: @}]\n",
    "#CONFIG\n  files:\n  - path: /a\n    contentFrom: {secret: @}\n",
    "#CONFIG\n  joinConfiguration:\n    discovery:\n      bootstrapToken:\n        token: @\n      tlsBootstrapToken: @\n",
    "#CONFIG\n  joinConfiguration:\n    discovery:\n      bootstrapToken: @\n",
    "#CONFIG\n  initConfiguration:\n    bootstrapTokens:\n    - token: @\n    certificateKey: @\n",
    "#CONFIG\n  joinConfiguration:\n    discovery:\n      file:\n        kubeConfigPath: /k\n        kubeConfig: {user: {exec: {command: c, env: [{name: n, value: @}]}}}\n",
    "#CONFIG\n  joinConfiguration:\n    discovery:\n      file:\n        kubeConfigPath: /k\n        kubeConfig: {user: {authProvider: {name: n, config: @}}}\n",
    "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec:\n  topology:\n    classRef: {name: none}\n    version: 1\n    variables:\n    - name: proxyPassword\n      value: @\n",
];

/// Ways to write a secret; in none of them is it one that is taken.
const FAULTS: [&str; 20] = [
    "cAnArY",
    "[cAnArY]",
    "{unknown: cAnArY}",
    "{unknown: {further: [cAnArY]}}",
    "\"cAnArY # cAnArY\"",
    "\"cAnArY",
    "'cAnArY",
    "[cAnArY",
    "*cAnArY",
    "!cAnArY x",
    "&cAnArY [cAnArY, cAnArY",
    "cAnArY: cAnArY: x",
    "\"\\qcAnArY\"",
    "\"cAnArY\\e[2J\\u202e\\n::stop-commands::x\"",
    "@cAnArY",
    "cAnArY ${X",
    "\"cAnArY\" cAnArY",
    "[x] 'cAnArY' cAnArY's",
    "cAnArY: it's cAnArY's: x",
    "cAnArYcAnArYcAnArYcAnArYcAnArYcAnArYcAnArYcAnArYcAnArYcAnArYcAnArYcAnArYcAnArY: [",
];

/// What is a `#CONFIG`: one that cannot be rendered whatever its secrets are, because data would be
/// shown with them.
const CONFIG: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  unknown: 1";

/// clusterctl's configurations with secrets in them.
const CONFIGURATIONS: [(&str, &str); 7] = [
    ("a.yaml", "GITHUB_TOKEN: [cAnArY\nproviders: []\n"),
    (
        "b.yaml",
        "{providers: [{name: foo, type: x, url: 1}], GITLAB_ACCESS_TOKEN: cAnArY}\n",
    ),
    (
        "c.yaml",
        "AWS_B64ENCODED_CREDENTIALS: \"cAnArY\\q\"\nproviders: {a: 1}\n",
    ),
    ("d.env", "GITHUB-TOKEN=cAnArY\n"),
    ("e.env", "export GITHUB_TOKEN\n\ncAnArY cAnArY\n"),
    ("f.json", "{\"GITHUB_TOKEN\": \"cAnArY\", }\n"),
    ("g.toml", "GITHUB_TOKEN = cAnArY\n"),
];

/// Each verb with what it is run with: `DOC` is each document in turn. What follows `-o` is told
/// where it can be.
const RUNS: &[(&str, &[&str])] = &[
    ("man", &["release build", "DOC"]),
    (
        "release image",
        &[
            "v0.1.0 --binary linux/amd64=DOC --to out",
            "v0.1.0 --binary linux/amd64=DOC --to out -o json",
            "v0.1.0 --binary linux/amd64=DOC --provider DOC --to out -v 5",
        ],
    ),
    (
        "release build",
        &[
            "v0.1.0 --to out",
            "v0.1.0 --to out -o json",
            "v0.1.0 --to out -o github",
            "v0.1.0 --to out -o sarif",
            "v0.1.0 --to out -o junit",
            "v0.1.0 --to out -v 5",
        ],
    ),
    ("release bump", &["v0.2.0 --metadata DOC"]),
    (
        "release diff",
        &[
            "in/0.yaml DOC",
            "DOC in/1.yaml -o json",
            "r/infrastructure-p0/v0.1.0 r/infrastructure-p1/v0.1.0 -o github",
            "r r",
        ],
    ),
    (
        "release check",
        &[
            "v0.1.0 r/infrastructure-p0/v0.1.0",
            "v0.1.0 r/infrastructure-p1/v0.1.0 --previous r/infrastructure-p0/v0.1.0",
            "v0.1.0 r/infrastructure-p0/v0.1.0 -o json",
        ],
    ),
    (
        "lint",
        &[
            "r in",
            "r in -o json",
            "r in -o github",
            "DOC",
            "DOC --as components",
            "DOC --as metadata",
            "DOC --as template",
            "DOC --as objects -v 5",
        ],
    ),
    ("init", &["DOC-PROJECT"]),
    ("generate crds", &[""]),
    ("generate rbac", &[""]),
    ("generate components", &["--version v0.1.0"]),
    ("generate metadata", &[""]),
    ("generate template", &[""]),
    ("generate clusterclass", &[""]),
    (
        "repository add",
        &[
            "r/infrastructure-p0/v0.1.0 --to other",
            "DOC --to other --release v0.1.0",
        ],
    ),
    ("repository list", &["r", "r -o json"]),
    ("repository images", &["r", "r -o json"]),
    (
        "repository doctor",
        &[
            "r",
            "r -o json",
            "r -o github",
            "r -o sarif",
            "r -o junit",
            "r -v 5",
            "--config CONFIGURATION",
        ],
    ),
    ("repository bundle", &["r --write-to bundle.tar"]),
    (
        "repository configmap",
        &[
            "r/infrastructure-p0/v0.1.0",
            "r/infrastructure-p1/v0.1.0 -o json",
            "r",
        ],
    ),
    (
        "repository push",
        &[
            "r/infrastructure-p0/v0.1.0 oci:layout",
            "r/infrastructure-p1/v0.1.0 oci:layout -v 5",
            "r oci:layout",
        ],
    ),
    (
        "repository pull",
        &[
            "oci:r --to pulled",
            "oci:in:v0.1.0 --to pulled --release v0.1.0 -v 5",
        ],
    ),
    ("vars", &["in", "in -o json"]),
    (
        "render",
        &[
            "--all in",
            "--all in -o json",
            "--all in -v 5",
            "--all in -o secret",
            "--all --template in",
            "--all --template in -o json",
            "DOC",
        ],
    ),
    (
        "size",
        &[
            "in",
            "in -o json",
            "DOC",
            "in --infra hetzner --fail-over 1% --all",
        ],
    ),
    (
        "images",
        &["in", "in -o json", "in -o zarf", "DOC", "DOC -o list"],
    ),
    (
        "inspect",
        &["DOC", "DOC -o json", "DOC --log DOC", "DOC -v 5"],
    ),
    (
        "validate",
        &[
            "in",
            "in -o json",
            "in -o sarif",
            "in -o junit",
            "in -o github",
            "in --template -v 5",
            "DOC",
        ],
    ),
    (
        "diff",
        &[
            "in in --exit-code",
            "DOC in/0.yaml --exit-code",
            "in/1.yaml DOC -o json",
            "DOC --kubernetes-version v1.33.1..v1.34.1",
            "in in/1.yaml -o github",
            "in DOC -o html",
        ],
    ),
    (
        "why",
        &[
            "kubeadm in",
            "field:joinConfiguration in -o json",
            "/ in -o json",
            "command:a in",
            "user:u DOC",
            "argument:x in -v 5",
        ],
    ),
    (
        "migrate",
        &[
            "DOC --to-version v1beta1 --check",
            "in --to-version v1beta1 --check -o json",
            "in --to-version v1beta2 --to-kind KubeadmConfig --check -o sarif",
            "DOC --to-version v1beta2 --to-kind WindlassConfig --check -v 5",
        ],
    ),
    (
        "topology plan",
        &["in", "in -o json", "DOC", "in --against DOC"],
    ),
    (
        "outlook",
        &[
            "in",
            "r in -o json",
            "in -o sarif",
            "in -o markdown",
            "DOC",
            "DOC -v 5",
        ],
    ),
    ("topology variables", &["in", "in -o json"]),
    ("rules", &[""]),
    ("explain", &["upgrade-series-lost"]),
    ("schema", &["finding"]),
    ("generate yaml", &["--from DOC", "--from DOC -v 5"]),
    (
        "generate provider",
        &[
            "--infrastructure DOC-PROVIDER --config clusterctl.yaml",
            "--bootstrap x --config CONFIGURATION",
        ],
    ),
    (
        "generate cluster",
        &[
            "c --from DOC --kubernetes-version v1.34.0",
            "c --from x --config CONFIGURATION",
        ],
    ),
    (
        "config repositories",
        &["--config CONFIGURATION", "--config CONFIGURATION -o yaml"],
    ),
    ("completion", &["bash"]),
    // The client is gone at once; tests/lsp/hides-secrets is a session.
    ("lsp", &[""]),
    ("version", &["", "-o json", "-o yaml"]),
];

/// All documents; those at the start have each fault and each field at least once.
fn documents() -> (Vec<String>, usize) {
    let document =
        |(field, fault): (&str, &str)| field.replace('@', fault).replace("#CONFIG", CONFIG);
    let first = FAULTS
        .iter()
        .enumerate()
        .map(|(at, fault)| (FIELDS[at % FIELDS.len()], *fault));
    let first: Vec<_> = first
        .chain(FAULTS.iter().map(|fault| (FIELDS[0], *fault)))
        .collect();
    let rest = FIELDS
        .iter()
        .flat_map(|field| FAULTS.iter().map(|fault| (*field, *fault)));
    let all: Vec<(&str, &str)> = first
        .iter()
        .copied()
        .chain(rest.filter(|one| !first.contains(one)))
        .collect();
    (all.into_iter().map(document).collect(), first.len())
}

/// A provider's repository and a clusterctl repository full of them.
fn site(documents: &[String]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: String, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    copy(&root().join("examples/harbour"), folder.path());
    let provider = std::fs::read_to_string(root().join("examples/harbour/provider.yaml")).unwrap();
    write(
        "provider.yaml".to_owned(),
        &format!("{provider}objects: [in/*.yaml]\n"),
    );
    let mut configuration = "providers:\n".to_owned();
    for (at, document) in documents.iter().enumerate() {
        write(format!("in/{at}.yaml"), document);
        write(format!("templates/cluster-template-{at}.yaml"), document);
        for file in [
            "config/crd/bases/a.yaml",
            "config/manager/manager.yaml",
            "config/default/kustomization.yaml",
            "PROJECT",
        ] {
            // Whatever else it is, it has the words by which CRDs are found.
            write(
                format!("projects/{at}/{file}"),
                &format!("{document}\n# kind: CustomResourceDefinition, openAPIV3Schema\n"),
            );
        }
        let release = format!("r/infrastructure-p{at}/v0.1.0");
        write(
            format!("{release}/infrastructure-components.yaml"),
            document,
        );
        write(format!("{release}/cluster-template.yaml"), document);
        write(
            format!("{release}/metadata.yaml"),
            if at % 2 == 0 {
                include_str!("../../metadata.yaml")
            } else {
                document
            },
        );
        let url = format!(
            "{}/r/infrastructure-p{at}/v0.1.0/infrastructure-components.yaml",
            folder.path().display()
        );
        configuration.push_str(&format!(
            "- {{name: p{at}, type: InfrastructureProvider, url: {url}}}\n"
        ));
    }
    for path in ["clusterctl.yaml", "r/clusterctl.yaml"] {
        write(path.to_owned(), &configuration);
    }
    CONFIGURATIONS
        .iter()
        .for_each(|(name, text)| write((*name).to_owned(), text));
    folder
}

fn run(folder: &Path, command: &str) -> Output {
    windlass(folder)
        .args(command.split_whitespace())
        .env("KUBECONFIG", "/dev/null")
        .env("HOME", folder)
        .output()
        .unwrap()
}

#[test]
fn no_verb_shows_a_secret() {
    let names = |names: &mut dyn Iterator<Item = String>| names.collect::<BTreeSet<_>>();
    let verbs = names(&mut VERBS.iter().map(|verb| verb.name()));
    assert_eq!(
        names(&mut RUNS.iter().map(|(verb, _)| (*verb).to_owned())),
        verbs,
        "a verb is missing here"
    );
    let (documents, each) = documents();
    let site = site(&documents);
    let mut commands = Vec::new();
    for (verb, operands) in RUNS
        .iter()
        .flat_map(|(verb, runs)| runs.iter().map(move |operands| (verb, operands)))
    {
        let command = format!("{verb} {operands}");
        if command.contains("DOC") {
            commands.extend((0..each).map(|at| {
                command
                    .replace("DOC-PROVIDER", &format!("p{at}:v0.1.0"))
                    .replace("DOC-PROJECT", &format!("projects/{at}"))
                    .replace("DOC", &format!("in/{at}.yaml"))
            }));
        } else if command.contains("CONFIGURATION") {
            commands.extend(
                CONFIGURATIONS
                    .iter()
                    .map(|(name, _)| command.replace("CONFIGURATION", name)),
            );
        } else {
            commands.push(command);
        }
    }
    let check = |commands: &[String]| {
        let mut told = Vec::new();
        for command in commands {
            let mut output = run(site.path(), command);
            // What was asked for and given is data.
            if output.status.success() {
                output.stdout.clear();
            }
            let text = harmless(&output);
            assert!(!text.contains("internal error"), "{command}: {text}");
            let shown = text
                .lines()
                .enumerate()
                .filter(|(_, line)| line.to_lowercase().contains(&CANARY.to_lowercase()));
            told.extend(shown.map(|(at, line)| format!("{command}:{}: {line}", at + 1)));
        }
        told
    };
    let (left, right) = commands.split_at(commands.len() / 2);
    let told = std::thread::scope(|scope| {
        let other = scope.spawn(|| check(left));
        let mut told = check(right);
        told.extend(other.join().unwrap());
        told
    });
    assert!(
        told.is_empty(),
        "{} lines show a secret:\n{}",
        told.len(),
        told.join("\n")
    );
    let written: Vec<_> = files_below(site.path())
        .into_iter()
        .filter(|path| path.starts_with(site.path().join("out")))
        .collect();
    assert!(written.is_empty(), "{written:?}");
}

/// What a Secret holds, whatever form it has there, is neither in the message nor in the line of a
/// finding that another object's field has it in.
#[test]
fn a_field_that_repeats_a_secret_does_not_show_it() {
    let folder = tempfile::tempdir().unwrap();
    for value in [
        "stringData: {pw: ZebraS3cretWord}",
        "stringData: {pw: \"ZebraS3cretWord\\r\\n\"}",
        "stringData: {pw: \"a: b\\nuser:ZebraS3cretWord\\n\"}",
        "stringData:\n  pw: |\n    aws_secret_access_key = ZebraS3cretWord",
        // `ZebraS3cretWord`, `ZebraS3cretWord` and a line end, `labels:` and `  app:
        // ZebraS3cretWord` below it.
        "data: {pw: WmVicmFTM2NyZXRXb3Jk}",
        "data: {pw: WmVicmFTM2NyZXRXb3JkCg==}",
        "data: {pw: bGFiZWxzOgogIGFwcDogWmVicmFTM2NyZXRXb3JkCg==}",
    ] {
        let secret = format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\n{value}\n---\n");
        let config = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\n\
                      spec:\n  files: [{path: /a, content: x, encoding: \"ZebraS3cretWord\"}]\n";
        std::fs::write(folder.path().join("w.yaml"), format!("{secret}{config}")).unwrap();
        for format in ["text", "json", "sarif", "junit", "github"] {
            let output = run(
                folder.path(),
                &format!("validate w.yaml --kubernetes-version v1.34.1 -o {format}"),
            );
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(
                said.contains("redacted") && !said.contains("Zebra"),
                "{value} {format}: {said}"
            );
        }
    }
}

#[test]
fn secrets_are_shown_when_that_is_wished() {
    let (documents, _) = documents();
    let site = site(&documents[..8]);
    let text = harmless(&run(site.path(), "render --all in --show-secrets"));
    assert!(text.contains(CANARY), "{text}");
}
