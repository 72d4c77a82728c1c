//! `release` and `generate`: versions, images, series, checksums and differences as they are told,
//! word by word.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{copy, root, windlass};

fn told(folder: &Path, command: &str) -> (i32, String, String) {
    let output = windlass(folder).args(command.split(' ')).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The project of an example.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("examples/harbour"), folder.path());
    folder
}

/// A folder with these files.
fn site(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files
        .iter()
        .for_each(|(path, text)| write(folder.path(), path, text));
    folder
}

/// A version is semantic, with `v`; each way not to be so has its own remedy, and nothing is
/// written.
#[test]
fn versions_and_images_are_refused_with_what_to_write() {
    let folder = project();
    let three = "write three numbers, as in v0.1.0";
    for (version, message, help) in [
        ("1.2.3", "the version `1.2.3` has no `v`", "write v1.2.3"),
        (
            "v1.02.3",
            "the version `v1.02.3` has the number 02 with a leading zero",
            "write it without the zero",
        ),
        (
            "01.2.3",
            "the version `01.2.3` has the number 01 with a leading zero",
            "write it without the zero",
        ),
        (
            "v1.2.3foo",
            "the version `v1.2.3foo` ends in `foo`, which is no pre-release",
            "write it as in v1.2.3-rc.1",
        ),
        ("v1.2", "`v1.2` is no semantic version", three),
        ("v1.2.3.4", "`v1.2.3.4` is no semantic version", three),
        ("x", "`x` is no semantic version", three),
    ] {
        let (code, _, said) = told(
            folder.path(),
            &format!("release build {version} --to out -q"),
        );
        let expected = format!("error[release-version-malformed]: {message}\n  = help: {help}\n");
        assert_eq!((code, said), (1, expected));
    }
    for image in ["ghcr.io/a/b", "b:v1", "a/b:v1"] {
        let help =
            "write `--image ghcr.io/owner/manager:v0.1.0`, or with `@sha256:…` in place of the tag";
        let expected = format!(
            "error[release-image-malformed]: `{image}` is no image with registry and tag or digest\n  = help: {help}\n"
        );
        for given in [image.to_owned(), format!("infrastructure-harbour={image}")] {
            let (code, _, said) = told(
                folder.path(),
                &format!("release build v0.1.0 --to out -q --image {given}"),
            );
            assert_eq!((code, said.as_str()), (1, expected.as_str()), "{given}");
        }
    }
    assert!(!folder.path().join("out").exists());
}

/// `--check` tells of each file how it differs: at the first character of the first line that does.
#[test]
fn a_folder_is_held_against_its_release() {
    let folder = project();
    assert_eq!(told(folder.path(), "release build v0.1.0 --to out -q").0, 0);
    assert_eq!(
        told(folder.path(), "release build v0.1.0 --to out --check")
            .2
            .lines()
            .last(),
        Some("out is what provider.yaml gives")
    );
    // What was signed where it lies is still what provider.yaml gives.
    write(folder.path(), "out/SHA256SUMS.sigstore.json", "{}");
    assert_eq!(
        told(folder.path(), "release build v0.1.0 --to out --check").0,
        0
    );
    fs::remove_file(folder.path().join("out/SHA256SUMS.sigstore.json")).unwrap();
    let metadata = fs::read_to_string(folder.path().join("out/metadata.yaml")).unwrap();
    let stale = |text: &str| {
        write(folder.path(), "out/metadata.yaml", text);
        let (code, report, _) = told(
            folder.path(),
            "release build v0.1.0 --to out --check -o json",
        );
        let report: Value = serde_json::from_str(&report).unwrap();
        let findings = report["findings"].as_array().unwrap().clone();
        assert_eq!((code, findings.len()), (1, 1), "{report:#}");
        let number = |field: &str| findings[0][field].as_u64().unwrap();
        assert_eq!(
            (&findings[0]["rule"], &findings[0]["help"]),
            (
                &"release-file-stale".into(),
                &"build the release again".into()
            )
        );
        (
            findings[0]["message"].as_str().unwrap().to_owned(),
            ["line", "column", "endLine", "endColumn"].map(number),
        )
    };
    let line =
        |is: &str, wanted: &str| format!("the line is `{is}`, provider.yaml gives `{wanted}`");
    let accents = metadata.replace("kind: Metadata", "kind: MétadatÀ");
    assert_eq!(
        stale(&accents),
        (line("kind: MétadatÀ", "kind: Metadata"), [2, 8, 2, 15])
    );
    let indented = metadata.replace("  minor: 1", "  minor: 12");
    assert_eq!(
        stale(&indented),
        (line("minor: 12", "minor: 1"), [5, 11, 5, 12])
    );
    assert_eq!(stale(&format!("# one\n{metadata}")).1, [1, 1, 1, 6]);
    assert_eq!(
        stale(&format!("{metadata}# more\n")),
        (
            "the line `# more` is too much, provider.yaml gives none here".to_owned(),
            [7, 1, 7, 7]
        )
    );
    let cut: String = metadata
        .lines()
        .take(4)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(
        stale(&cut),
        (
            "the file ends here, provider.yaml goes on with `minor: 1`".to_owned(),
            [5, 1, 5, 1]
        )
    );
    let ends = |with: &str| format!("the line ends with {with}, provider.yaml gives LF");
    assert_eq!(stale(&metadata.replacen('\n', "\r\n", 1)).0, ends("CR LF"));
    assert_eq!(stale(metadata.trim_end()).0, ends("no line break"));
    assert_eq!(stale("").1[0], 1);
    write(folder.path(), "out/metadata.yaml", &metadata);
    write(folder.path(), "out/foreign", "");
    fs::remove_file(folder.path().join("out/images.txt")).unwrap();
    let (_, report, _) = told(folder.path(), "release build v0.1.0 --to out/ --check -q");
    let foreign = "error[release-file-foreign]: out/foreign is there, but provider.yaml does not give it\n  --> out/foreign\n  \
                   = help: remove the file, or build into another folder\n";
    let absent = "error[release-file-absent]: out/images.txt is not there, but provider.yaml gives it\n  --> out/images.txt\n  \
                  = help: build the release again\n";
    assert_eq!(report, format!("{foreign}{absent}"));
}

/// SHA256SUMS names exactly the files of a release; a signature of a file that is there comes after
/// the list.
#[test]
fn checksums_name_the_files_of_a_release() {
    let folder = project();
    let sums = |change: &dyn Fn(&Path)| {
        assert_eq!(
            told(folder.path(), "release build v0.1.0 --to out --force -q").0,
            0
        );
        change(&folder.path().join("out"));
        let (_, report, _) = told(folder.path(), "release check v0.1.0 out/ -o json");
        let report: Value = serde_json::from_str(&report).unwrap();
        let of = |finding: &Value| {
            ["message", "file", "help"].map(|field| finding[field].as_str().unwrap().to_owned())
        };
        let findings = report["findings"].as_array().unwrap().iter();
        findings
            .filter(|finding| finding["rule"] == "release-checksum-incomplete")
            .map(of)
            .collect::<Vec<_>>()
    };
    let finding = |message: &str, help: &str| [message, "out/SHA256SUMS", help].map(str::to_owned);
    let unlisted = |file: &str| {
        finding(
            &format!("{file} is not in SHA256SUMS"),
            &format!("add the line that `sha256sum {file}` prints"),
        )
    };
    assert_eq!(sums(&|_| ()), [[""; 3]; 0]);
    assert_eq!(
        sums(&|out| write(out, "new.txt", "a")),
        [unlisted("new.txt")]
    );
    fs::remove_file(folder.path().join("out/new.txt")).unwrap();
    // Of what is not there a file is no signature.
    let signatures = [
        "SHA256SUMS.sig",
        "images.txt.sigstore.json",
        "none.sigstore.json",
    ];
    assert_eq!(
        sums(&|out| signatures.iter().for_each(|file| write(out, file, "a"))),
        [unlisted("none.sigstore.json")]
    );
    for file in signatures {
        fs::remove_file(folder.path().join("out").join(file)).unwrap();
    }
    let gone = finding(
        "SHA256SUMS lists images.txt, which is not in the release",
        "add images.txt, or remove its line",
    );
    assert_eq!(
        sums(&|out| fs::remove_file(out.join("images.txt")).unwrap()),
        [gone]
    );
    // What has another content is told by another rule.
    assert_eq!(sums(&|out| write(out, "images.txt", "a")), [[""; 3]; 0]);
    assert_eq!(
        sums(&|out| fs::remove_file(out.join("SHA256SUMS")).unwrap()),
        [[""; 3]; 0]
    );
}

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- major: 0\n  minor: 1\n  contract: v1beta2\n";

/// A series is added with the contract of the newest one unless another is given, and one that is
/// listed stays.
#[test]
fn a_series_is_added_once_with_its_contract() {
    let added = |major: u32, minor: u32, contract: &str| {
        format!("{METADATA}- major: {major}\n  minor: {minor}\n  contract: {contract}\n")
    };
    let other = "error[release-contract-other]: metadata.yaml lists series 0.1 already, with the contract v1beta2\n  --> metadata.yaml\n  \
                 = help: change it in the file if no release of the series is out, or leave `--contract` out\n1 error; nothing written\n";
    let unknown = "error[release-contract-unknown]: `v1` is no contract that Cluster API accepts\n  \
                   = help: use `--contract` v1beta1 or v1beta2\n1 error; nothing written\n";
    let same = "metadata.yaml lists series 0.1 already; unchanged\n";
    for (arguments, code, said, text) in [
        ("v0.1.5", 0, same, METADATA.to_owned()),
        ("v0.1.5 --contract v1beta2", 0, same, METADATA.to_owned()),
        ("v0.1.5 --contract v1beta1", 1, other, METADATA.to_owned()),
        ("v0.2.0 --contract v1", 1, unknown, METADATA.to_owned()),
        (
            "v0.2.0",
            0,
            "metadata.yaml lists series 0.2 now\n",
            added(0, 2, "v1beta2"),
        ),
        (
            "v0.2.0 --contract v1beta1",
            0,
            "metadata.yaml lists series 0.2 now\n",
            added(0, 2, "v1beta1"),
        ),
        (
            "v1.0.0",
            0,
            "metadata.yaml lists series 1.0 now\n",
            added(1, 0, "v1beta2"),
        ),
    ] {
        let folder = site(&[("metadata.yaml", METADATA)]);
        let (found, _, talk) = told(folder.path(), &format!("release bump {arguments}"));
        assert_eq!((found, talk.as_str()), (code, said), "{arguments}");
        assert_eq!(
            fs::read_to_string(folder.path().join("metadata.yaml")).unwrap(),
            text,
            "{arguments}"
        );
    }
    // What is wrong with the file is told beside what is wrong with the wish.
    let folder = site(&[(
        "metadata.yaml",
        &METADATA.replace("kind: Metadata", "kind: X"),
    )]);
    let (code, _, said) = told(folder.path(), "release bump v0.2.0 --contract v1");
    assert!(
        code == 1
            && said.contains("error[metadata-kind-wrong]")
            && said.contains("error[release-contract-unknown]"),
        "{said}"
    );
    let (code, _, said) = told(folder.path(), "release bump v0.2.0");
    assert!(
        code == 1 && said.ends_with("\n1 error; nothing written\n"),
        "{said}"
    );
}

/// What the provider does not have is told with what it has; tags are of the first release of the
/// newest series, or of `--release`.
#[test]
fn artifacts_are_those_that_the_provider_has() {
    let folder = project();
    let absent = |what: &str| {
        let (code, printed, said) = told(folder.path(), &format!("generate {what} x -q"));
        assert_eq!((code, printed.as_str()), (1, ""));
        said
    };
    let finding = |file: &str, help: &str| {
        format!("error[provider-artifact-missing]: the provider has no {file}\n  = help: {help}\n")
    };
    assert_eq!(
        absent("template"),
        finding("cluster-template-x.yaml", "the provider has no flavors")
    );
    assert_eq!(
        absent("clusterclass"),
        finding("clusterclass-x.yaml", "the provider has no classes")
    );
    let template =
        fs::read_to_string(folder.path().join("templates/cluster-template.yaml")).unwrap();
    for name in [
        "cluster-template-ha",
        "cluster-template-b",
        "clusterclass-k",
    ] {
        write(
            folder.path(),
            &format!("templates/{name}.yaml"),
            &format!("# {name}\n{template}"),
        );
    }
    assert_eq!(
        absent("template"),
        finding("cluster-template-x.yaml", "its flavors are b, ha")
    );
    assert_eq!(
        absent("clusterclass"),
        finding("clusterclass-x.yaml", "its classes are k")
    );
    for (what, name) in [
        ("template ha", "cluster-template-ha"),
        ("template b", "cluster-template-b"),
        ("clusterclass k", "clusterclass-k"),
    ] {
        assert!(
            told(folder.path(), &format!("generate {what}"))
                .1
                .starts_with(&format!("# {name}\n")),
            "{what}"
        );
    }
    assert_eq!(told(folder.path(), "generate template").1, template);
    let series = |list: &[(u32, u32)]| -> String {
        let entry = |(major, minor): &(u32, u32)| {
            format!("- {{major: {major}, minor: {minor}, contract: v1beta2}}\n")
        };
        METADATA.split("- major").next().unwrap().to_owned()
            + &list.iter().map(entry).collect::<String>()
    };
    write(
        folder.path(),
        "metadata.yaml",
        &series(&[(0, 9), (1, 2), (1, 0)]),
    );
    for (arguments, image) in [
        ("", "ghcr.io/example/harbour-manager:v1.2.0"),
        (
            " --release v0.9.1",
            "ghcr.io/example/harbour-manager:v0.9.1",
        ),
        (" --image ghcr.io/a/b:v3", "ghcr.io/a/b:v3"),
    ] {
        let (_, text, _) = told(folder.path(), &format!("generate components{arguments}"));
        assert!(
            text.contains(&format!("\n        image: {image}\n")),
            "{arguments}"
        );
    }
    assert_eq!(
        told(folder.path(), "generate metadata").1,
        series(&[(0, 9), (1, 2), (1, 0)])
    );
    fs::remove_file(folder.path().join("metadata.yaml")).unwrap();
    for artifact in ["metadata", "components", "template"] {
        let (code, printed, said) = told(folder.path(), &format!("generate {artifact}"));
        assert!(
            code == 1 && printed.is_empty() && said.contains("error[provider-file-missing]"),
            "{artifact}: {said}"
        );
    }
}

/// Long lines are told in 160 characters, of which 40 stand before the first that differs, and
/// where something is left out stands `…`.
#[test]
fn long_lines_are_told_around_what_differs() {
    let text = |length: usize, at: usize, letter: &str| {
        format!("{}{letter}{}", "x".repeat(at), "y".repeat(length - at - 1))
    };
    let object = |value: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{x: {value}}}\n")
    };
    for (length, at, from) in [
        (160, 0, 0),
        (161, 0, 0),
        (161, 160, 1),
        (300, 40, 0),
        (300, 41, 1),
        (300, 45, 5),
        (300, 179, 139),
        (300, 180, 140),
        (300, 181, 140),
        (300, 299, 140),
    ] {
        let (old, new) = (text(length, at, "a"), text(length, at, "b"));
        let folder = site(&[("o.yaml", &object(&old)), ("n.yaml", &object(&new))]);
        let cut = |line: &str| {
            let (before, after) = (
                if from > 0 { "…" } else { "" },
                if from + 160 < length { "…" } else { "" },
            );
            format!("{before}{}{after}", &line[from..from + 160])
        };
        let (_, report, _) = told(folder.path(), "release diff o.yaml n.yaml");
        let lines: Vec<&str> = report
            .lines()
            .skip(4)
            .take(2)
            .map(str::trim_start)
            .collect();
        assert_eq!(
            lines,
            [format!("-{}", cut(&old)), format!("+{}", cut(&new))],
            "{length} {at}"
        );
    }
}

const OBJECTS: &str = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nx: 1\n---\napiVersion: v1\nkind: A\nmetadata: {name: a}\nx: 2\n---\n\
                       apiVersion: g/v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: A\nmetadata: {name: a, namespace: n}\n";

/// Objects are told apart by file, group, kind, namespace and name, those of one name by their
/// order, and other files by their bytes.
#[test]
fn objects_and_files_of_releases_are_told_in_every_format() {
    let other = OBJECTS
        .replace("x: 2", "x: 3")
        .replace("namespace: n", "namespace: m")
        .replace("x: 1", "x: 1\nz: [1]");
    let folder = site(&[
        ("a/x.yml", "a: 1\n"),
        ("a/n.txt", "x"),
        ("a/m.txt", "x"),
        ("a/same.txt", "x"),
        ("a/o.yaml", OBJECTS),
        ("b/x.yml", "a: 2\n"),
        ("b/m.txt", "y"),
        ("b/p.txt", "z"),
        ("b/same.txt", "x"),
        ("b/o.yaml", &other),
    ]);
    let overview = "changed  o.yaml: A/a: 1 field\nchanged  o.yaml: A/a: 1 field\n~removed  }o.yaml: A/a\n{added    }o.yaml: A/a in m\n\
                    changed  x.yml: (a document without kind): 1 field\nchanged  m.txt (file)\n~removed  }n.txt (file)\n{added    }p.txt (file)\n";
    let fields = "\n*o.yaml: A/a}\n  z\n    {+- 1}\n\n*o.yaml: A/a}\n  x\n    ~-2}\n    {+3}\n\n*x.yml: (a document without kind)}\n  a\n    ~-1}\n    {+2}\n";
    let summary = "1 object added, 1 object removed, 3 objects changed, 1 object unchanged, 3 files without objects of their own differ";
    let signs = [
        ("*", "\u{1b}[1m"),
        ("{", "\u{1b}[32m"),
        ("~", "\u{1b}[31m"),
        ("}", "\u{1b}[0m"),
    ];
    let text = format!("{overview}{fields}");
    let coloured = signs
        .iter()
        .fold(text.clone(), |text, (sign, code)| text.replace(sign, code));
    let plain = signs
        .iter()
        .fold(text, |text, (sign, _)| text.replace(sign, ""));
    assert_eq!(
        told(folder.path(), "release diff a/ b").1,
        format!("{plain}{summary}\n")
    );
    assert_eq!(
        told(folder.path(), "--color always release diff a b").1,
        format!("{coloured}{summary}\n")
    );
    let (_, comment, _) = told(folder.path(), "release diff a b -o github");
    let row = |change: &str, title: &str, rest: &str| {
        format!("| {change} | <code>{title}</code>{rest} |\n")
    };
    let rows = [
        row("changed", "o.yaml: A/a", ", 1 field").repeat(2),
        row("removed", "o.yaml: A/a", ""),
        row("added", "o.yaml: A/a in m", ""),
        row(
            "changed",
            "x.yml: &#40;a document without kind&#41;",
            ", 1 field",
        ),
        row("changed", "m.txt", " (file)"),
        row("removed", "n.txt", " (file)"),
        row("added", "p.txt", " (file)"),
    ];
    let details = |title: &str, body: &str| {
        format!(
            "\n<details><summary><code>{title}</code></summary>\n\n```diff\n{body}```\n\n</details>\n"
        )
    };
    let expected = format!(
        "### <code>a</code> → <code>b</code>\n\n{summary}\n\n| | |\n|---|---|\n{}{}{}{}",
        rows.concat(),
        details("o.yaml: A/a", "  z\n+ - 1\n"),
        details("o.yaml: A/a", "  x\n- 2\n+ 3\n"),
        details(
            "x.yml: &#40;a document without kind&#41;",
            "  a\n- 1\n+ 2\n"
        )
    );
    assert_eq!(comment, expected);
    let (_, comment, _) = told(folder.path(), "release diff a a -o github");
    assert_eq!(
        comment,
        "### <code>a</code> → <code>a</code>\n\n5 objects unchanged\n"
    );
}

/// A file that is no text is told, and the rest compared; where nothing is there, nothing is
/// unchanged.
#[test]
fn what_is_no_text_is_told_with_its_file() {
    let folder = site(&[
        ("a/o.yaml", OBJECTS),
        ("b/o.yaml", OBJECTS),
        ("c.yaml", ""),
        ("d/n.txt", "x"),
        ("e/n.txt", "y"),
    ]);
    fs::write(folder.path().join("a/bin.yaml"), [0xff]).unwrap();
    let (code, report, said) = told(folder.path(), "release diff a/ b");
    assert_eq!(
        (code, report.as_str()),
        (1, "4 objects unchanged; 1 error\n")
    );
    assert!(
        said.starts_with("error[release-asset-not-text]: a/bin.yaml is not UTF-8 text\n"),
        "{said}"
    );
    let (code, report, _) = told(folder.path(), "release diff c.yaml c.yaml");
    assert_eq!((code, report.as_str()), (0, "no objects on either side\n"));
    let (_, report, _) = told(folder.path(), "release diff d e");
    assert_eq!(
        report,
        "changed  n.txt (file)\nno objects on either side, 1 file without objects of their own differs\n"
    );
}

/// `explain` says of each rule what `rules` says of it: a clause as a sentence, and of rules
/// without a page what a controller would do.
#[test]
fn the_page_of_a_rule_has_what_the_registry_has() {
    let (_, report, _) = told(root(), "rules -o json");
    let report: Value = serde_json::from_str(&report).unwrap();
    let rules = report["rules"].as_array().unwrap();
    let (mut with_code, mut with_page) = (0, 0);
    for rule in rules.iter().step_by(7) {
        let text = |field: &str| rule[field].as_str().unwrap_or_default();
        let (_, page, _) = told(root(), &format!("explain {}", text("rule")));
        let summary = text("summary");
        let is_word = summary
            .split(' ')
            .next()
            .unwrap()
            .chars()
            .all(char::is_alphabetic);
        let first = &summary[..summary.chars().next().unwrap().len_utf8()];
        let sentence = if is_word {
            format!("{}{}.", first.to_uppercase(), &summary[first.len()..])
        } else {
            format!("{summary}.")
        };
        let has_page = page.contains("\n## Bad\n");
        let line = |name: &str, value: &str| {
            if value.is_empty() {
                String::new()
            } else {
                format!("- {name}: {value}\n")
            }
        };
        let head = [
            format!("# {}\n\n{sentence}\n\n", text("rule")),
            line("severity", text("severity")),
            line(
                "a controller would",
                if has_page { "" } else { text("class") },
            ),
            line("catalogue", text("catalogue")),
            line("contract", text("url")),
        ];
        assert!(page.starts_with(&head.concat()), "{page}");
        assert_eq!(page.len() > head.concat().len(), has_page, "{page}");
        with_code += usize::from(!is_word);
        with_page += usize::from(has_page);
    }
    assert!(with_code > 0 && with_page > 0, "{with_code} {with_page}");
    let (code, said, _) = told(root(), "rules");
    let head: Vec<&str> = said.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(
        (code, head, said.lines().count()),
        (
            0,
            vec!["RULE", "SEVERITY", "CLASS", "SUMMARY"],
            rules.len() + 1
        )
    );
}

/// What of a document does not go into the SBOM, or says too little there, is told in one line.
#[test]
fn what_an_sbom_lacks_is_told() {
    let folder = project();
    let document = |supplier: &str, services: usize| {
        let main =
            r#"{"bom-ref": "m", "name": "program", "version": "1", "supplier": {"name": "x"}}"#;
        let services = vec![r#"{"name": "s"}"#; services].join(", ");
        format!(
            r#"{{"bomFormat": "CycloneDX", "specVersion": "1.5", "metadata": {{"component": {main}}},
            "components": [{{"bom-ref": "l", "name": "lib", "version": "2"{supplier}}}], "services": [{services}]}}"#
        )
    };
    let (whole, lacking) = (
        r#", "supplier": {"name": "x"}"#,
        "packages without supplier or version, which NTIA's minimum elements ask for: 1",
    );
    for (supplier, services, message) in [
        (whole, 0, None),
        ("", 0, Some(lacking.to_owned())),
        (whole, 2, Some("left out are 2 services".to_owned())),
        ("", 1, Some(format!("{lacking}; left out are 1 service"))),
    ] {
        write(folder.path(), "s.json", &document(supplier, services));
        let (code, _, said) = told(
            folder.path(),
            "release build v0.1.0 --to out --force --sbom s.json",
        );
        let finding = message.map(|message| {
            format!("info[release-sbom-partial]: of s.json in the SBOM: {message}\n  --> s.json\n")
        });
        let from = said
            .find("info[")
            .map(|from| &said[from..])
            .and_then(|rest| {
                Some(rest.split_inclusive('\n').take(2).collect::<String>())
                    .filter(|text| !text.is_empty())
            });
        assert_eq!((code, from), (0, finding), "{said}");
    }
}

/// A file that is named is read whatever it is called.
#[test]
fn files_are_compared_whatever_they_are_called() {
    let folder = site(&[("o.txt", OBJECTS), ("n", &OBJECTS.replace("x: 1", "x: 5"))]);
    assert!(
        told(folder.path(), "release diff o.txt n")
            .1
            .ends_with("\n1 object changed, 3 objects unchanged\n")
    );
}
