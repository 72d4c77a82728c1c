//! `diff`: the page, and where long parts are cut. The text is in `tests/cases/diff`.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roxmltree::{Document, Node, ParsingOptions};

use crate::support::{Run, run};

/// Compares two texts; `flags` are words.
fn compare(old: &str, new: &str, flags: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.yaml"), old).unwrap();
    fs::write(folder.path().join("new.yaml"), new).unwrap();
    let flags = flags.join(" ");
    run(folder.path(), &format!("diff old.yaml new.yaml {flags}"))
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
    let Run {
        code, stdout: page, ..
    } = compare(&old, &new, &["-o", "html"]);
    assert_eq!(code, 0);
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
    let rejected = rows.iter().find(|row| row.contains("rejected")).copied();
    assert_eq!(rejected, Some("span.badge.bad: rejected"));
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
        .filter(|line| line.starts_with("p.note: placeholders"))
        .collect();
    assert_eq!(notes.len(), 1, "{:?}", sections[0]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cp.yaml"), CONTROL_PLANE).unwrap();
    let versions = "--kubernetes-version v1.33.1..v1.34.1";
    let page = run(folder.path(), &format!("diff cp.yaml {versions} -o html")).stdout;
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
    let Run { stdout: page, .. } = compare(&old, &new, &["-o", "html"]);
    let of_workers = &sections(&page)[1];
    let expected = [
        "h2: MachineDeployment/md worker-join",
        "p: rollout, MachineDeployment/md points to another KubeadmConfigTemplate (bootstrap)",
        "p.muted: Rule: Cluster API v1.14, core/reconcilers/machinedeployment/mdutil, MachineTemplateUpToDate",
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

/// Only machines whose data changes have a section, with the rule of the verdict.
#[test]
fn pages_have_sections_for_changed_data_alone() {
    let cluster = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec:\n  clusterNetwork: {pods: {cidrBlocks: [10.0.0.0/16]}}\n  \
                   controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: cp}\n---\n";
    for (new, has_section) in [
        (CONTROL_PLANE.to_owned(), false),
        (CONTROL_PLANE.replace("name: a}", "name: b}"), false),
        (CONTROL_PLANE.replace("replicas: 3", "replicas: 5"), false),
        (format!("{cluster}{CONTROL_PLANE}"), true),
    ] {
        let Run { stdout: page, .. } = compare(CONTROL_PLANE, &new, &["-o", "html"]);
        assert_eq!(
            page.contains("<p class=\"muted\">Rule: "),
            has_section,
            "{page}"
        );
    }
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
        let Run { stdout: report, .. } = compare(&old, &new, &[]);
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
