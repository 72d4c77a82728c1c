//! `diff`: what each report says of machines that are new, gone, changed or the same, which files
//! are data, and whose machines are one.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;

use crate::support::windlass;

/// Code, standard output and standard error of a comparison of files.
fn run(files: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    files
        .iter()
        .for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    at(folder.path(), arguments)
}

fn at(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = windlass(folder)
        .arg("diff")
        .args(arguments)
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn compare(old: &str, new: &str, flags: &[&str]) -> (Option<i32>, String, String) {
    run(
        &[("old.yaml", old), ("new.yaml", new)],
        &[&["old.yaml", "new.yaml"], flags].concat(),
    )
}

fn config(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: {name}}}\nspec:\n{spec}---\n"
    )
}

/// A data Secret; `name` is all of its metadata.
fn secret(metadata: &str, word: &str) -> String {
    let data = STANDARD.encode(format!("#cloud-config\nruncmd: [\"{word}\"]\n"));
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{{metadata}}}\ndata: {{value: {data}}}\n---\n"
    )
}

/// The heads of the machines in the text.
fn heads(report: &str) -> Vec<&str> {
    report
        .lines()
        .filter(|line| !line.starts_with(' ') && !line.contains("machine kind"))
        .collect()
}

const CONTROL_PLANE: &str = "apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: cp}
spec:
  replicas: 3
  version: v1.34.1
  machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerMachineTemplate, name: a}}}
  kubeadmConfigSpec: {clusterConfiguration: {certificatesDir: /etc/kubernetes/pki}}
---
";
const WORKERS: &str = "apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: md}
spec:
  clusterName: c
  template:
    spec:
      clusterName: c
      version: v1.34.1
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: t}}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerMachineTemplate, name: i}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: t}
spec:
  template:
    spec:
      files: [{path: /etc/a, content: \"one\\ntwo\\n\", permissions: \"0644\"}, {path: /etc/gone, content: x}]
      users: [{name: u}]
---
";

/// A side with a machine of each kind, and the same side later.
fn sides() -> (String, String) {
    let last = config("last", "  files: [{path: /etc/l, content: l}]\n");
    let old = format!(
        "{WORKERS}{CONTROL_PLANE}{}{}{last}",
        secret("name: kept", "a"),
        secret("name: redone", "a")
    );
    let workers = WORKERS
        .replace("name: t}", "name: t2}")
        .replace("two", "three")
        .replace("0644", "0600")
        .replace(
            "{path: /etc/gone, content: x}",
            "{path: /etc/new, content: z}",
        )
        .replace("name: u}", "name: v}");
    let control_plane = CONTROL_PLANE.replace("/etc/kubernetes/pki", "/etc/pki");
    let first = last.replace("name: last", "name: first");
    let new = format!(
        "{workers}{control_plane}{first}{}{}",
        secret("name: kept", "a"),
        secret("name: redone", "b")
    );
    (old, new)
}

const SUMMARY: &str = "4 machine kinds changed, 1 machine kind new, 1 machine kind gone, 1 machine kind the same, 1 machine kind replaced";

/// The text of the workers, with signs in place of colours: `{` green, `~` red, `*` bold, `}` the
/// end of each.
const WORKERS_TEXT: &str =
    "*MachineDeployment/md worker-join}: rollout, MachineDeployment/md points to another KubeadmConfigTemplate (bootstrap)
  rule: Cluster API v1.14, mdutil.MachineTemplateUpToDate; book: MachineDeployment
  {added }user v
    @@ -0,0 +1 @@
    {+name: v}
  /etc/a   spec.template.spec.files[0]
    permissions: 0644 → 0600
    @@ -1,2 +1,2 @@
     one
    ~-two}
    {+three}
  {added }/etc/new   spec.template.spec.files[1]
    @@ -0,0 +1 @@
    {+z}
  ~removed }user u
    @@ -1 +0,0 @@
    ~-name: u}
  ~removed }/etc/gone   spec.template.spec.files[1]
    @@ -1 +0,0 @@
    ~-x}
";

/// What is new is green and what is gone is red, and a machine that only one side has is told by
/// its name.
#[test]
fn the_text_tells_machines_parts_attributes_and_lines() {
    let (old, new) = sides();
    let (code, plain, _) = compare(&old, &new, &[]);
    assert_eq!(code, Some(0));
    assert!(
        plain.starts_with(&WORKERS_TEXT.replace(['*', '{', '}', '~'], "")),
        "{plain}"
    );
    assert!(plain.ends_with(&format!("\n{SUMMARY}\n")), "{plain}");
    assert_eq!(
        heads(&plain)[3..],
        [
            "KubeadmConfig/first worker-join: new",
            "Secret/kept: same data",
            "Secret/redone: other data",
            "KubeadmConfig/last worker-join: gone"
        ]
    );
    assert!(
        plain.contains("first worker-join: new\nSecret/kept: same data\nSecret/redone: other data\n  commands runcmd\n"),
        "{plain}"
    );
    assert!(
        plain.contains("\nKubeadmControlPlane/cp init: refused, "),
        "{plain}"
    );
    let (_, coloured, _) = compare(&old, &new, &["--color", "always"]);
    let signs = [
        ("*", "\u{1b}[1m"),
        ("{", "\u{1b}[32m"),
        ("~", "\u{1b}[31m"),
        ("}", "\u{1b}[0m"),
    ];
    let expected = signs
        .iter()
        .fold(WORKERS_TEXT.to_owned(), |text, (sign, code)| {
            text.replace(sign, code)
        });
    assert!(coloured.starts_with(&expected), "{coloured}");
}

fn words(node: Node<'_, '_>) -> String {
    node.descendants()
        .filter(Node::is_text)
        .filter_map(|text| text.text())
        .collect()
}

/// The elements below a node as `tag.class: words`, those with elements of their own by them.
fn outline(node: Node<'_, '_>) -> Vec<String> {
    let mut found = Vec::new();
    for child in node.children().filter(Node::is_element) {
        if child.children().any(|inner| inner.is_element()) {
            found.extend(outline(child));
        } else {
            let class = child
                .attribute("class")
                .map(|class| format!(".{}", class.replace(' ', ".")))
                .unwrap_or_default();
            found.push(format!(
                "{}{class}: {}",
                child.tag_name().name(),
                words(child)
            ));
        }
    }
    found
}

/// The page of a comparison: of each section its heading and outline.
pub(crate) fn sections(page: &str) -> Vec<Vec<String>> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(page, options).unwrap();
    document
        .descendants()
        .filter(|node| node.has_tag_name("section"))
        .map(outline)
        .collect()
}

/// Each machine is a row, and a section if both sides have it and it differs.
#[test]
fn the_page_has_a_row_of_each_machine_and_a_section_of_what_differs() {
    let (old, new) = sides();
    let (code, page, _) = compare(&old, &new, &["-o", "html"]);
    assert_eq!(code, Some(0));
    assert!(page.contains("<h1 id=\"title\">What changes from old.yaml to new.yaml</h1>"));
    assert!(page.contains(&format!("<p class=\"lead\">{SUMMARY}</p>")));
    let sections = sections(&page);
    let titles: Vec<&str> = sections.iter().map(|section| section[0].as_str()).collect();
    let changed = [
        "MachineDeployment/md worker-join",
        "KubeadmControlPlane/cp init",
        "KubeadmControlPlane/cp control-plane-join",
        "Secret/redone",
    ];
    let expected: Vec<String> = ["Machines"]
        .iter()
        .chain(&changed)
        .map(|title| format!("h2: {title}"))
        .collect();
    assert_eq!(titles, expected);
    let rows: Vec<&str> = sections[0]
        .iter()
        .filter(|line| !line.starts_with("th:") && !line.starts_with('p'))
        .map(String::as_str)
        .collect();
    let refused = rows.iter().find(|row| row.contains("refused")).copied();
    assert_eq!(refused, Some("span.badge.bad: refused"));
    let of = |machine: &str, rest: &[&'static str]| {
        let from = rows
            .iter()
            .position(|row| *row == format!("code: {machine}"))
            .unwrap();
        assert_eq!(rows[from + 1..=from + rest.len()], *rest, "{machine}");
    };
    let points = "td: MachineDeployment/md points to another KubeadmConfigTemplate (bootstrap)";
    of(
        changed[0],
        &[
            "span.badge.doubtful: changed",
            "span.badge.doubtful: rollout",
            points,
        ],
    );
    of(
        "KubeadmConfig/first worker-join",
        &["span.badge.good: new", "td: ", "td: "],
    );
    of(
        "KubeadmConfig/last worker-join",
        &["span.badge.bad: gone", "td: ", "td: "],
    );
    of(
        "Secret/kept",
        &["span.badge.plain: the same", "td: ", "td: "],
    );
    of(
        "Secret/redone",
        &["span.badge.doubtful: changed", "td: ", "td: "],
    );
    let notes: Vec<&String> = sections[0]
        .iter()
        .filter(|line| line.starts_with("p.note: filled in"))
        .collect();
    assert_eq!(notes.len(), 1, "{:?}", sections[0]);
    let (_, page, _) = run(
        &[("cp.yaml", CONTROL_PLANE)],
        &[
            "cp.yaml",
            "--kubernetes-version",
            "v1.33.1..v1.34.1",
            "-o",
            "html",
        ],
    );
    assert!(
        page.contains("<h1 id=\"title\">What changes in cp.yaml</h1>"),
        "{page}"
    );
}

/// A section has the parts in the order of the text, each with what became of it, where it comes
/// from, its attributes and lines.
#[test]
fn a_section_of_the_page_has_each_part() {
    let (old, new) = sides();
    let (_, page, _) = compare(&old, &new, &["-o", "html"]);
    let of_workers = &sections(&page)[1];
    let expected = [
        "h2: MachineDeployment/md worker-join",
        "p: rollout, MachineDeployment/md points to another KubeadmConfigTemplate (bootstrap)",
        "p.muted: Rule: Cluster API v1.14, mdutil.MachineTemplateUpToDate; book: MachineDeployment",
        "h3: user v",
        "span.badge.good: added",
        "span.change: @@ -0,0 +1 @@",
        "span.change.added: +name: v",
        "h3: /etc/a",
        "span.badge.doubtful: changed",
        "code: spec.template.spec.files[0]",
        "caption: Attributes of /etc/a",
        "th: Attribute",
        "th: Old",
        "th: New",
        "th: permissions",
        "code: 0644",
        "code: 0600",
        "span.change: @@ -1,2 +1,2 @@",
        "span.change:  one",
        "span.change.removed: -two",
        "span.change.added: +three",
        "h3: /etc/new",
        "span.badge.good: added",
        "code: spec.template.spec.files[1]",
        "span.change: @@ -0,0 +1 @@",
        "span.change.added: +z",
        "h3: user u",
        "span.badge.bad: gone",
        "span.change: @@ -1 +0,0 @@",
        "span.change.removed: -name: u",
        "h3: /etc/gone",
        "span.badge.bad: gone",
        "code: spec.template.spec.files[1]",
        "span.change: @@ -1 +0,0 @@",
        "span.change.removed: -x",
    ];
    assert_eq!(*of_workers, expected);
    assert_eq!(
        sections(&page).last().unwrap()[..3],
        ["h2: Secret/redone", "p: other data", "h3: commands runcmd"]
    );
}

/// The table has each machine; what differs of those that both sides have is folded.
#[test]
fn the_comment_has_a_row_of_each_machine_and_the_lines_of_what_differs() {
    let (old, new) = sides();
    let (_, comment, _) = compare(&old, &new, &["-o", "github"]);
    let rows: Vec<&str> = comment
        .lines()
        .filter(|line| line.starts_with("| <code>") && !line.contains("/cp<"))
        .collect();
    let points = "rollout: <code>MachineDeployment/md points to another KubeadmConfigTemplate &#40;bootstrap&#41;</code>";
    let expected = [
        &format!("| <code>MachineDeployment/md</code> | worker-join | {points} |"),
        "| <code>KubeadmConfig/first</code> | worker-join | new |",
        "| <code>Secret/kept</code> |  | same data |",
        "| <code>Secret/redone</code> |  | other data |",
        "| <code>KubeadmConfig/last</code> | worker-join | gone |",
    ];
    assert_eq!(rows, expected);
    assert!(
        comment.contains(&format!(
            "</code>\n\n{SUMMARY}\n\n| machine | role | what happens |\n"
        )),
        "{comment}"
    );
    assert_eq!(comment.matches("<details>").count(), 4);
    let parts = "```diff
  added user v
@@ -0,0 +1 @@
+name: v
  file /etc/a   spec.template.spec.files[0]
- permissions: 0644
+ permissions: 0600
@@ -1,2 +1,2 @@
 one
-two
+three
  added file /etc/new   spec.template.spec.files[1]
@@ -0,0 +1 @@
+z
  removed user u
@@ -1 +0,0 @@
-name: u
  removed file /etc/gone   spec.template.spec.files[1]
@@ -1 +0,0 @@
-x
```
";
    assert!(
        comment.contains(&format!(
            "<details><summary><code>MachineDeployment/md worker-join</code></summary>\n\n{parts}"
        )),
        "{comment}"
    );
    assert!(
        comment.contains("  commands runcmd\n@@ -1 +1 @@\n-a\n+b\n```\n"),
        "{comment}"
    );
}

/// A rule stands where something follows of it: not below a machine of which nothing changes.
/// `--exit-code` tells the same, in the code.
#[test]
fn something_changes_where_data_or_machines_do() {
    let cluster = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec:\n  clusterNetwork: {pods: {cidrBlocks: [10.0.0.0/16]}}\n  \
                   controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: cp}\n---\n";
    let beside = format!("{cluster}{CONTROL_PLANE}");
    let cases = [
        (
            CONTROL_PLANE.to_owned(),
            "none, nothing changes",
            false,
            0,
            "2 machine kinds the same",
        ),
        (
            CONTROL_PLANE.replace("name: a}", "name: b}"),
            "rollout, ",
            true,
            1,
            "2 machine kinds the same, 2 machine kinds replaced",
        ),
        (
            CONTROL_PLANE.replace("replicas: 3", "replicas: 5"),
            "in place, ",
            true,
            1,
            "2 machine kinds the same",
        ),
        (
            beside,
            "none, what changes replaces no machine",
            true,
            1,
            "1 machine kind changed, 1 machine kind the same",
        ),
    ];
    for (new, said, is_told, code, summary) in &cases {
        let (found, report, _) = compare(CONTROL_PLANE, new, &["--exit-code"]);
        assert!(
            report.starts_with(&format!("KubeadmControlPlane/cp init: {said}")),
            "{report}"
        );
        assert_eq!(
            (report.contains("\n  rule: "), found),
            (*is_told, Some(*code)),
            "{report}"
        );
        assert_eq!(report.lines().last(), Some(*summary), "{report}");
        let (_, page, _) = compare(CONTROL_PLANE, new, &["-o", "html"]);
        // Only changed data has a section of its own.
        assert_eq!(
            page.contains("<p class=\"muted\">Rule: "),
            summary.contains("changed"),
            "{page}"
        );
    }
    for (new, code) in [
        (secret("name: w", "a"), 0),
        (secret("name: w", "b"), 1),
        (secret("name: w", "a") + &secret("name: x", "a"), 1),
    ] {
        let (found, report, _) = compare(&secret("name: w", "a"), &new, &["--exit-code"]);
        assert_eq!(found, Some(code), "{report}");
    }
}

/// A file with data is a machine of the file's name; a config that speaks of Ignition is none.
#[test]
fn files_of_data_are_told_from_files_with_configs() {
    let config = |format: &str| {
        format!(
            "{{\"apiVersion\": \"bootstrap.cluster.x-k8s.io/v1beta2\", \"kind\": \"KubeadmConfig\", \"metadata\": {{\"name\": \"w\"}}, \
             \"spec\": {{{format}\"files\": [{{\"path\": \"/a\", \"permissions\": \"0644\", \"content\": \"a\"}}]}}}}"
        )
    };
    let yaml = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec: {format: \"ignition\", files: [{path: /a, permissions: \"0644\", content: a}]}\n";
    let (as_data, as_config) = (
        "f: same data",
        "KubeadmConfig/w worker-join: none, a machine keeps the data with which it was made",
    );
    for (text, head) in [
        ("#cloud-config\nruncmd: [a]\n", as_data),
        ("## template: jinja\n#cloud-config\nruncmd: [a]\n", as_data),
        ("{\"ignition\": {\"version\": \"3.4.0\"}}", as_data),
        (" \n{\"ignition\": {\"version\": \"3.4.0\"}}", as_data),
        (&config(""), as_config),
        (&config("\"format\": \"ignition\", "), as_config),
        (yaml, as_config),
    ] {
        let (code, report, talk) = run(
            &[("f", text)],
            &[
                "f",
                "f",
                "--feature-gates",
                "KubeadmBootstrapFormatIgnition=true",
            ],
        );
        assert_eq!(
            (code, heads(&report)),
            (Some(0), vec![head]),
            "{text}: {talk}"
        );
    }
    let empty = "apiVersion: v1\nkind: Secret\nmetadata: {name: w}\ndata: {value: \"\"}\n";
    let plain = "apiVersion: v1\nkind: Secret\nmetadata: {name: w}\nstringData: {value: \"#cloud-config\\nruncmd: [a]\\n\"}\n";
    for (old, new, side) in [
        (empty, empty, "old.yaml"),
        ("a: 1\n", "#cloud-config\n", "old.yaml"),
        (plain, empty, "new.yaml"),
    ] {
        let (code, report, talk) = compare(old, new, &[]);
        assert_eq!((code, report.as_str()), (Some(1), "1 error\n"), "{talk}");
        let message = format!(
            "error[diff-machine-missing]: {side} holds no machine: no config that can be rendered, no bootstrap data\n  --> {side}\n  \
             = help: name a file or folder with a KubeadmConfig, WindlassConfig, KubeadmControlPlane, one of their templates, or a data Secret\n"
        );
        assert_eq!(talk, message);
    }
    assert_eq!(
        heads(&compare(&secret("name: w", "a"), plain, &[]).1),
        ["Secret/w: same data"]
    );
}

/// Machines are those of a name, a namespace and a role; data of Secrets also those of a set, whose
/// names end with five letters of Kubernetes.
#[test]
fn machines_of_both_sides_are_those_of_one_name_namespace_and_set() {
    let of = |names: [(&str, &str); 3]| {
        names
            .map(|(metadata, word)| secret(metadata, word))
            .concat()
    };
    let old = of([
        ("name: x-aaaaa", "a"),
        ("name: y-bcdfgh", "b"),
        ("name: z-bcdfg", "c"),
    ]);
    let new = of([
        ("name: x-eeeee", "a"),
        ("name: y-zzzzzz", "b"),
        ("name: z-zzzzz", "c"),
    ]);
    let expected = [
        "Secret/x-eeeee: new",
        "Secret/y-zzzzzz: new",
        "Secret/z-zzzzz: same data",
        "Secret/x-aaaaa: gone",
        "Secret/y-bcdfgh: gone",
    ];
    assert_eq!(heads(&compare(&old, &new, &[]).1), expected);
    let old = of([
        ("name: w, namespace: a", "a"),
        ("name: w, namespace: b", "b"),
        ("name: w-bcdfg, namespace: a", "c"),
    ]);
    let new = of([
        ("name: w, namespace: b", "b"),
        ("name: w-bcdfh, namespace: b", "d"),
        ("name: w, namespace: a", "a"),
    ]);
    let (_, report, _) = compare(&old, &new, &[]);
    // The last of each side is the only one that is left.
    assert_eq!(
        heads(&report),
        [
            "Secret/w: same data",
            "Secret/w-bcdfh: other data",
            "Secret/w: same data"
        ]
    );
    let files = "  files: [{path: /etc/l, content: l}]\n";
    let (_, report, _) = compare(&config("a", files), &config("b", files), &[]);
    assert_eq!(
        heads(&report),
        ["KubeadmConfig/b worker-join: none, a machine keeps the data with which it was made"]
    );
    let two = config("a", files) + &config("c", files);
    let (_, report, _) = compare(&two, &config("b", files), &[]);
    assert_eq!(
        heads(&report),
        [
            "KubeadmConfig/b worker-join: new",
            "KubeadmConfig/a worker-join: gone",
            "KubeadmConfig/c worker-join: gone"
        ]
    );
}

/// `--select` means a name, with its kind or without, on either side; of those that are there, ten
/// are named.
#[test]
fn what_is_selected_is_of_either_side_and_what_is_not_there_is_told() {
    let files = "  files: [{path: /etc/l, content: l}]\n";
    let many: String = (1..=11).map(|n| config(&format!("m{n}"), files)).collect();
    let fewer: String = (2..=12).map(|n| config(&format!("m{n}"), files)).collect();
    for (name, head) in [
        ("m1", "KubeadmConfig/m1 worker-join: gone"),
        (
            "KubeadmConfig/m12:worker-join",
            "KubeadmConfig/m12 worker-join: new",
        ),
        (
            "m11:worker-join",
            "KubeadmConfig/m11 worker-join: none, a machine keeps the data with which it was made",
        ),
    ] {
        assert_eq!(
            heads(&compare(&many, &fewer, &["--select", name]).1),
            [head]
        );
    }
    let known = "KubeadmConfig/m1, KubeadmConfig/m10, KubeadmConfig/m11, KubeadmConfig/m12, KubeadmConfig/m2, KubeadmConfig/m3, KubeadmConfig/m4, KubeadmConfig/m5, KubeadmConfig/m6, KubeadmConfig/m7";
    let expected = |name: &str| {
        format!(
            "error[diff-machine-missing]: neither side has a machine `{name}`\n  = help: name one of them with `--select`: {known}\n"
        )
    };
    for name in ["m", "Secret/m1", "m1:init"] {
        let (code, report, talk) = compare(&many, &fewer, &["--select", name]);
        assert_eq!(
            (code, report.as_str(), talk),
            (Some(1), "1 error\n", expected(name))
        );
    }
    // What is wrong with the input comes first.
    let (_, _, talk) = compare(&many, "a: 1\n", &["--select", "m"]);
    assert!(
        talk.contains("new.yaml holds no machine") && !talk.contains("neither side"),
        "{talk}"
    );
}

/// Warnings of what can be rendered are not what a comparison is asked for; what is not rendered at
/// all is.
#[test]
fn what_is_said_of_the_input_is_what_keeps_it_from_being_compared() {
    let jinja = config("w", "  files: [{path: /a, content: \"{% x\"}]\n");
    // The one file is both sides, and told once.
    let rules = |text: &str| -> (Option<i32>, Vec<String>) {
        let (code, report, _) = run(&[("a.yaml", text)], &["a.yaml", "a.yaml", "-o", "json"]);
        let report: Value = serde_json::from_str(&report).unwrap();
        let rule = |finding: &Value| finding["rule"].as_str().unwrap().to_owned();
        (
            code,
            report["findings"]
                .as_array()
                .unwrap()
                .iter()
                .map(rule)
                .collect(),
        )
    };
    let of = |code: i32, rules: &[&str]| {
        (
            Some(code),
            rules
                .iter()
                .map(|rule| (*rule).to_owned())
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(rules(&jinja), of(0, &[]));
    let wrong = jinja.clone() + &config("v", "  unknownField: 1\n");
    assert_eq!(
        rules(&wrong),
        of(1, &["cloud-config-jinja", "config-field-unknown"])
    );
    let topology = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec: {topology: {classRef: {name: k}, version: v1.34.1}}\n";
    assert_eq!(
        rules(&(jinja + topology)),
        of(0, &["render-topology-class-missing"])
    );
    // Data that was made is compared without a config.
    assert_eq!(rules(&secret("name: a", "a")), of(0, &[]));
}

/// 400 lines of a part are told, with the line that says where they stand, and then how many more
/// there are.
#[test]
fn long_parts_are_cut_where_it_is_said() {
    let old = config("w", "  files:\n  - {path: /o, content: o}\n");
    for (lines, last) in [
        (398, "    +l398"),
        (399, "    +l399"),
        (400, "    … 1 line more"),
        (402, "    … 3 lines more"),
    ] {
        let content: String = (1..=lines).map(|line| format!("      l{line}\n")).collect();
        let new = config(
            "w",
            &format!(
                "  files:\n  - {{path: /o, content: o}}\n  - path: /n\n    content: |\n{content}"
            ),
        );
        let (_, report, _) = compare(&old, &new, &[]);
        assert_eq!(report.lines().rev().nth(1), Some(last), "{report}");
        assert_eq!(
            report
                .lines()
                .filter(|line| line.starts_with("    +l"))
                .count(),
            lines.min(399)
        );
    }
}
