//! Faults that people make, each with what has to be said of it: the rule, the line and the column
//! where the fault is, what is wrong, and what to write instead. The expectations are what a user
//! needs to go on without asking anybody.

use serde_json::Value;

use crate::support::{root, windlass};

/// One fault of a document.
struct Fault {
    /// What is run; `FILE` is the document.
    command: &'static str,
    document: String,
    /// All errors: rule, `line:column` (empty without a place), a part of the message, a part of
    /// what to do.
    errors: &'static [[&'static str; 4]],
}

const RENDER: &str = "render FILE -o json";

/// A config with this spec, which begins in line 5.
fn config(spec: &str, errors: &'static [[&'static str; 4]]) -> Fault {
    let head = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: worker}\nspec:\n";
    Fault {
        command: RENDER,
        document: format!("{head}{spec}"),
        errors,
    }
}

fn check(fault: &Fault) {
    let folder = tempfile::tempdir().unwrap();
    // provider.yaml is read where the command runs.
    let file = if fault.command.contains("FILE") {
        "in.yaml"
    } else {
        "provider.yaml"
    };
    std::fs::write(folder.path().join(file), &fault.document).unwrap();
    let arguments = fault
        .command
        .split(' ')
        .map(|word| if word == "FILE" { file } else { word });
    let output = windlass(folder.path()).args(arguments).output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}: {}",
        fault.document,
        String::from_utf8_lossy(&output.stderr)
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let errors: Vec<&Value> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .collect();
    assert_eq!(
        errors.len(),
        fault.errors.len(),
        "{}\n{errors:#?}",
        fault.document
    );
    for (found, [rule, place, message, help]) in errors.into_iter().zip(fault.errors) {
        let at = if found["line"].is_null() {
            String::new()
        } else {
            format!("{}:{}", found["line"], found["column"])
        };
        assert_eq!(
            (found["rule"].as_str(), at.as_str()),
            (Some(*rule), *place),
            "{}\n{found:#}",
            fault.document
        );
        let says = |field: &str, part: &str| {
            let said = found[field].as_str().unwrap_or_default();
            assert!(
                said.contains(part),
                "{}\n{field} lacks `{part}`: {said}",
                fault.document
            );
        };
        says("message", message);
        says("help", help);
    }
}

const SYNTAX: &str = "yaml-syntax";
const REFUSED: &str = "config-value-refused";

#[test]
fn faults_of_indentation_are_told_where_they_are() {
    let format = |spec: &str, errors| check(&config(spec, errors));
    // A tab, in the line where it is.
    format(
        "  files:\n  - path: /a\n\tcontent: x\n  mounts: []\n",
        &[[
            SYNTAX,
            "7:1",
            "a tab stands where only spaces may indent",
            "`    content: x`",
        ]],
    );
    // The key that is wrong, not the next right one eleven lines below.
    let block = "     content: |\n       a\n       b\n";
    let files = format!(
        "   files:\n   - path: /a\n{block}   - path: /b\n{block}  preKubeadmCommands:\n  - echo\n"
    );
    check(&config(
        &files,
        &[[
            SYNTAX,
            "5:4",
            "`files` is indented by 3 spaces, but its sibling `preKubeadmCommands` by 2",
            "indent it by 2 spaces, like line 14",
        ]],
    ));
    format(
        "  format: cloud-config\n   files:\n   - path: /a\n",
        &[[
            SYNTAX,
            "6:4",
            "`files` is indented more than `format`",
            "indent it by 2 spaces, like line 5",
        ]],
    );
    format(
        "  preKubeadmCommands:\n  - echo\n   files:\n   - path: /a\n",
        &[[
            SYNTAX,
            "7:4",
            "`files` is indented more than `preKubeadmCommands`",
            "indent it by 2 spaces, like line 5",
        ]],
    );
    format(
        "  preKubeadmCommands:\n  - echo\n files:\n  - path: /a\n",
        &[[
            SYNTAX,
            "7:2",
            "`files` is indented by 1 space",
            "indent it by 2 spaces, like line 5",
        ]],
    );
    // Keys of one item, and items of one list.
    format(
        "  files:\n  - path: /a\n   content: x\n",
        &[[
            SYNTAX,
            "7:4",
            "`content` is indented by 3 spaces, but its sibling `path` by 4",
            "indent it by 4 spaces, like line 6",
        ]],
    );
    format(
        "  files:\n  - path: /a\n     content: x\n",
        &[[
            SYNTAX,
            "7:6",
            "`content` is indented more than `path`",
            "indent it by 4 spaces, like line 6",
        ]],
    );
    format(
        "  files:\n  - path: /a\n    content: x\n - path: /b\n",
        &[[
            SYNTAX,
            "8:2",
            "`- path` is indented by 1 space, but its sibling `- path` by 2",
            "indent it by 2 spaces, like line 6",
        ]],
    );
    format(
        "  files:\n  - path: /a\n    content: |\n  echo\n",
        &[[
            SYNTAX,
            "8:3",
            "nor indented like the text of `content`",
            "indent it by 6 spaces",
        ]],
    );
    format(
        "  files:\n  - path: /a\n    content: |\n      set -e\n    echo\n",
        &[[
            SYNTAX,
            "9:5",
            "nor indented like the text of `content`",
            "indent it by 6 spaces, like line 8, or write `key: value`",
        ]],
    );
    // What no reader of YAML refuses: the field stands one level too far out.
    format(
        "  files:\n  - path: /a\n  content: x\n",
        &[[
            "config-field-unknown",
            "7:3",
            "unknown field `spec.content`",
            "move `content` into `spec.files[]`",
        ]],
    );
    // A blank that is missing.
    format(
        "  files:\n  -path: /a\n   content: x\n",
        &[[
            SYNTAX,
            "6:3",
            "there is no space after the `-`",
            "write `- path: /a`",
        ]],
    );
    format(
        "  format:ignition\n  files: []\n",
        &[[
            SYNTAX,
            "5:3",
            "there is no space after the `:`",
            "write `format: ignition`",
        ]],
    );
}

#[test]
fn texts_that_need_quotes_are_shown_in_them() {
    let commands =
        |lines: &str, errors| check(&config(&format!("  preKubeadmCommands:\n{lines}"), errors));
    commands(
        "  - echo a: b\n",
        &[[
            REFUSED,
            "6:5",
            "[0] is a mapping, not a text",
            "`\"echo a: b\"`",
        ]],
    );
    commands(
        "  - ok\n  - echo foo: bar\n",
        &[[
            REFUSED,
            "7:5",
            "[1] is a mapping, not a text",
            "`\"echo foo: bar\"`",
        ]],
    );
    commands(
        "  - curl -H \"A: b\" http://c # d\n",
        &[[
            REFUSED,
            "6:5",
            "a mapping, not a text",
            "`'curl -H \"A: b\" http://c'`",
        ]],
    );
    commands(
        "  - echo a: b: c\n",
        &[[
            SYNTAX,
            "6:14",
            "a `: ` stands inside a value",
            "`'echo a: b: c'`",
        ]],
    );
    // Tests of a shell look like lists.
    commands(
        "  - [ -f x ] && y\n",
        &[[
            SYNTAX,
            "6:14",
            "something follows a value in brackets",
            "`'[ -f x ] && y'`",
        ]],
    );
    commands(
        "  - [ ! -f x ] || y # why\n",
        &[[
            SYNTAX,
            "6:16",
            "something follows a value in brackets",
            "`'[ ! -f x ] || y'`",
        ]],
    );
    commands(
        "  - [[ $a == 'b' ]] && c\n",
        &[[
            SYNTAX,
            "6:21",
            "something follows a value in brackets",
            "`'[[ $a == ''b'' ]] && c'`",
        ]],
    );
    commands(
        "  - \"a\" && b\n",
        &[[
            SYNTAX,
            "6:9",
            "something follows a quoted text",
            "`'\"a\" && b'`",
        ]],
    );
    commands(
        "  - 'it's'\n",
        &[[
            SYNTAX,
            "6:9",
            "something follows a quoted text",
            "`'it''s'`",
        ]],
    );
    commands(
        "  - *a b\n",
        &[[
            "yaml-alias-undefined",
            "6:5",
            "alias `*a` has no anchor",
            "one pair of quotes: `'*a b'`",
        ]],
    );
    commands(
        "  - `hostname`\n",
        &[[SYNTAX, "6:5", "a word cannot start with", "`'`hostname`'`"]],
    );
    commands(
        "  - > x\n",
        &[[SYNTAX, "6:7", "has a word too much", "`'> x'`"]],
    );
    commands("  - & x\n", &[[SYNTAX, "6:6", "has no name", "`'& x'`"]]);
    // Expressions of jinja look like mappings.
    commands(
        "  - {{ x }}\n",
        &[[
            "yaml-key-invalid",
            "6:5",
            "`{{` starts a mapping in YAML",
            "`'{{ x }}'`",
        ]],
    );
    commands(
        "  - {{ x }} y\n",
        &[[
            "yaml-key-invalid",
            "6:5",
            "`{{` starts a mapping in YAML",
            "one pair of quotes: `'{{ x }} y'`",
        ]],
    );
    let name = |value: &str, errors| {
        check(&config(
            &format!("  joinConfiguration:\n    nodeRegistration:\n      name: {value}\n"),
            errors,
        ))
    };
    name(
        "{{ local_hostname }}",
        &[[
            "yaml-key-invalid",
            "7:13",
            "`{{ local_hostname }}` needs quotes",
            "`'{{ local_hostname }}'`",
        ]],
    );
    name(
        "{{ v1[\"a\"] }}-x",
        &[[
            SYNTAX,
            "7:18",
            "`{{` starts a mapping in YAML",
            "`'{{ v1[\"a\"] }}-x'`",
        ]],
    );
    name(
        "{% if x %}",
        &[[
            SYNTAX,
            "7:14",
            "a word cannot start with `%`",
            "`'{% if x %}'`",
        ]],
    );
    let list =
        |items: &str, errors| check(&config(&format!("  preKubeadmCommands: {items}\n"), errors));
    list(
        "[a, {{ x }}]",
        &[[
            "yaml-key-invalid",
            "5:27",
            "`{{ x }}` needs quotes",
            "`'{{ x }}'`",
        ]],
    );
    list(
        "[a, @b c]",
        &[[SYNTAX, "5:27", "a word cannot start with `@`", "`'@b c'`"]],
    );
    list(
        "[\n    - a\n  ]",
        &[[
            SYNTAX,
            "6:5",
            "a `- ` stands in a list in brackets",
            "`[a, b]`",
        ]],
    );
}

#[test]
fn what_was_written_for_v1beta1_comes_in_the_new_form() {
    check(&config(
        "  clusterConfiguration:\n    apiServer:\n      extraArgs:\n        cloud-provider: external\n        v: 2\n",
        &[[
            REFUSED,
            "8:9",
            "extraArgs is a mapping, not a list",
            "write a list:\nextraArgs:\n- name: cloud-provider\n  value: external\n- name: v\n  value: \"2\"",
        ]],
    ));
    check(&config(
        "  joinConfiguration:\n    nodeRegistration:\n      kubeletExtraArgs: {node-labels: x}\n",
        &[[
            REFUSED,
            "7:25",
            "kubeletExtraArgs is a mapping, not a list",
            "kubeletExtraArgs:\n- name: node-labels\n  value: x",
        ]],
    ));
    // Where the line is in brackets the list is too.
    check(&config(
        "  joinConfiguration: {nodeRegistration: {kubeletExtraArgs: {node-labels: x}}}\n",
        &[[
            REFUSED,
            "5:60",
            "kubeletExtraArgs is a mapping, not a list",
            "`[{name: \"node-labels\", value: \"x\"}]`",
        ]],
    ));
    check(&config(
        "  clusterConfiguration:\n    apiServer:\n      timeoutForControlPlane: 4m0s\n",
        &[[
            "config-field-unknown",
            "7:7",
            "apiServer.timeoutForControlPlane",
            "write `initConfiguration: {timeouts: {controlPlaneComponentHealthCheckSeconds: 240}}` and `joinConfiguration: ",
        ]],
    ));
}

/// The text that people read of a finding about input without a config.
fn no_config(files: &[(&str, &str)], expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    files
        .iter()
        .for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
    let output = windlass(folder.path())
        .arg("render")
        .args(files.iter().map(|(name, _)| name))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let head = "error[render-config-missing]: the input holds no KubeadmConfig, WindlassConfig, their templates, or KubeadmControlPlane\n";
    assert!(
        said.starts_with(head)
            && said.contains("= help: name a file that does")
            && said.contains(expected),
        "{said}"
    );
}

#[test]
fn input_without_a_config_is_said_to_be_what_it_is() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";
    no_config(&[("empty.yaml", "\n")], "  --> empty.yaml\n");
    no_config(&[("empty.yaml", "")], "= note: empty.yaml is empty\n");
    no_config(
        &[("notes.yaml", "# only\n---\n# comments\n")],
        "= note: notes.yaml holds only comments or empty documents\n",
    );
    no_config(
        &[("list.yaml", "- a\n- b\n")],
        "= note: list.yaml holds no object, which would have a `kind`\n",
    );
    no_config(&[("pod.yaml", pod)], "  --> pod.yaml:2:7\n");
    no_config(&[("pod.yaml", pod)], "= note: it holds Pod/p\n");
    no_config(
        &[("pod.yaml", pod), ("empty.yaml", "")],
        "= note: it holds Pod/p; empty.yaml is empty\n",
    );
}

#[test]
fn words_that_are_nearly_right_get_the_right_one() {
    let provider = |kind: &str, errors: &'static [[&'static str; 4]]| {
        let head = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: harbour\n";
        let document =
            format!("{head}type: {kind}\nnamespace: harbour-system\ncomponents: built.yaml\n");
        check(&Fault {
            command: "release build v0.1.0 --to out -o json",
            document,
            errors,
        });
    };
    const WRONG: &str = "provider-value-refused";
    provider(
        "Infrastructure",
        &[[
            WRONG,
            "4:7",
            "type is `Infrastructure`, which is no type",
            "write `type: InfrastructureProvider`",
        ]],
    );
    provider(
        "infra",
        &[[
            WRONG,
            "4:7",
            "type is `infra`, which is no type",
            "write `type: InfrastructureProvider`",
        ]],
    );
    provider(
        "control-plane",
        &[[
            WRONG,
            "4:7",
            "type is `control-plane`",
            "write `type: ControlPlaneProvider`",
        ]],
    );
    provider(
        "machine",
        &[[
            WRONG,
            "4:7",
            "type is `machine`",
            "write one of `CoreProvider`, `BootstrapProvider`",
        ]],
    );
    // Of an object of another kind no field is judged.
    let document =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n".to_owned();
    let errors = &[[
        "provider-kind-wrong",
        "2:7",
        "the document is a Pod (v1), not the description of a provider",
        "`kind: Provider`",
    ]];
    check(&Fault {
        command: "release build v0.1.0 --to out -o json",
        document,
        errors,
    });
    // A flag is named, and no line of the document that is right.
    let mut flag = config(
        "  files: [{path: /a, content: x}]\n",
        &[[
            "kubernetes-version-unsupported",
            "",
            "`1.20` is no version of Kubernetes that CAPI",
            "`--kubernetes-version v1.",
        ]],
    );
    flag.command = "render FILE -o json --kubernetes-version 1.20";
    check(&flag);
    flag.command = "render FILE -o json --kubernetes-version one";
    flag.errors = &[[
        "kubernetes-version-unsupported",
        "",
        "`one` is no version",
        "from v1.22.0 on, such as `--kubernetes-version v1.",
    ]];
    check(&flag);
    for (flags, said) in [
        (
            "--token bad",
            "error: the value of `--token` is not a bootstrap token\n  help: write it such as `--token abcdef.0123456789abcdef`",
        ),
        (
            "--ca-cert-hash abc",
            "error: `--ca-cert-hash abc` is not the hash of a key\n  help: write `sha256:` and the hash",
        ),
    ] {
        let output = windlass(root())
            .args(["render", "examples/worker.yaml"])
            .args(flags.split(' '))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(2) && text.starts_with(said),
            "{text}"
        );
    }
}

#[test]
fn a_list_with_too_few_items_is_named_once() {
    let errors = &[[
        REFUSED,
        "5:11",
        "spec.mounts should have at least 1 item",
        "add what is missing, or remove `mounts`",
    ]];
    check(&config("  mounts: []\n", errors));
}
