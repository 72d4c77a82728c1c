//! `render --extract`: what a node would have of each file, and the list of all of them.

use super::render_text;

const HEAD: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  files:\n";

/// `zipped` and a line break, by gzip without a name and a time.
const ZIPPED: &str = "H4sIAAAAAAAAA6vKLChITeECAKwAOscHAAAA";

/// A file, its other fields, and what the node has of it; nothing where the path is not a file.
const FILES: &[(&str, &str, Option<&str>)] = &[
    ("/a", "content: one", Some("one\n")),
    ("/a/b", "content: below a file", None),
    ("/c/d", "content: two", Some("two\n")),
    ("/c", "content: a folder already", None),
    ("/ab", "content: beside", Some("beside\n")),
    ("/breaks", "content: \"\\n\\n\"", Some("")),
    ("/ends", "content: \"x\\n\\n\\n\"", Some("x\n")),
    (
        "/b64",
        "encoding: base64, content: \"cGx\\nhaW4=\\n\"",
        Some("plain"),
    ),
    ("/bad64", "encoding: base64, content: \"*\"", Some("*\n")),
    (
        "/gz",
        "encoding: gzip+base64, permissions: \"0600\", owner: \"root:adm\", content: ZIPPED",
        Some("zipped\n"),
    ),
    (
        "/badgz",
        "encoding: gzip+base64, content: cGxhaW4=",
        Some("cGxhaW4=\n"),
    ),
    ("/", "content: nowhere", None),
    ("/.windlass/files", "content: ours", None),
    ("/etc/.windlass/files", "content: theirs", Some("theirs\n")),
];

#[test]
fn a_node_has_what_its_files_say() {
    let folder = tempfile::tempdir().unwrap();
    let node = folder.path().join("node");
    let files: String = FILES
        .iter()
        .map(|(path, fields, _)| format!("  - {{path: {path}, {fields}}}\n"))
        .collect();
    let text = format!("{HEAD}{}", files.replace("ZIPPED", ZIPPED));
    let (code, _, talk) = render_text(&text, &["render", "-", "--extract", node.to_str().unwrap()]);
    assert_eq!(code, 0, "{talk}");
    for (path, _, expected) in FILES
        .iter()
        .filter(|(path, ..)| !["/", "/c", "/.windlass/files"].contains(path))
    {
        let found = std::fs::read_to_string(node.join(path.trim_start_matches('/'))).ok();
        assert_eq!(found.as_deref(), *expected, "{path}");
    }
    // All of them are listed, what is a folder or nothing too.
    let listed = std::fs::read_to_string(node.join(".windlass/files")).unwrap();
    let rows: Vec<Vec<&str>> = listed
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(
        rows[0],
        ["path", "permissions", "owner", "encoding", "bytes", "from"]
    );
    for (at, (path, ..)) in FILES.iter().enumerate() {
        let (row, from) = (&rows[at + 1], format!("spec.files[{at}]"));
        assert_eq!((row[0], row[5]), (*path, from.as_str()), "{listed}");
    }
    assert_eq!(rows[1][1..5], ["-", "-", "-", "3"]);
    assert_eq!(
        rows[10][1..5],
        [
            "0600",
            "root:adm",
            "gzip+base64",
            ZIPPED.len().to_string().as_str()
        ]
    );
    assert_eq!(
        rows.last().unwrap()[5],
        "-",
        "what the provider writes comes from no field"
    );
}

/// The commands in their order, each with its part of the boot, its field and its text.
#[test]
fn commands_are_numbered_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let node = folder.path().join("node");
    let text = HEAD.replace(
        "  files:\n",
        "  preKubeadmCommands: [first, \"se\\tcond\"]\n  postKubeadmCommands: [last]\n",
    );
    let (code, _, talk) = render_text(&text, &["render", "-", "--extract", node.to_str().unwrap()]);
    assert_eq!(code, 0, "{talk}");
    let commands = std::fs::read_to_string(node.join(".windlass/commands")).unwrap();
    let lines: Vec<&str> = commands.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "1\tpre-kubeadm\tspec.preKubeadmCommands[0]\t\"first\"",
            "2\tpre-kubeadm\tspec.preKubeadmCommands[1]\t\"se\\tcond\""
        ]
    );
    assert!(
        lines[2].starts_with("3\tkubeadm\t-\t\"kubeadm join "),
        "{commands}"
    );
    assert_eq!(
        lines[3..],
        ["4\tpost-kubeadm\tspec.postKubeadmCommands[0]\t\"last\""]
    );
}
