//! Every rule of the registry is raised by an input of the table in `tests/it/rules`; a rule that
//! no input raises fails the test.
//!
//! A file of the table: sections that begin with `=== `. The first is the base, all others name the
//! rules that they raise. A section has lines `$ COMMAND` (without it the base's), `- PATH` (a file
//! of the base that is not there), `~ PATH: OLD => NEW` (a file of the base with another text; `\n`
//! is a line end), and then files: `>>> PATH` and the lines below.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use windlass_go_yaml::yaml::{self, Limits};
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::image;
use crate::support::{files_below, root, windlass};

/// Rules that no input reaches today, and the test that raises them.
const WITHOUT_INPUT: &[(&str, &str)] = &[
    // Only a registry that lies gives such bytes.
    (
        "artifact-digest-wrong",
        "oci::registries_that_lie_are_rejected",
    ),
    (
        "lint-work-exceeded",
        "lint::definitions::versions::tests::what_is_not_judged_is_told",
    ),
    // Every rule of the embedded schemas can be checked within their bounds.
    (
        "topology-size-exceeded",
        "topology::tests::what_a_run_holds_is_bounded",
    ),
    // The only field that is known is removed by an intention without a date.
    (
        "outlook-field",
        "commands::outlook::fields::tests::fields_that_a_planned_release_removes_are_warnings",
    ),
    // The webhook rejects it first, in other words.
    (
        "topology-machine-class-unknown",
        "topology::tests::a_class_of_machines_that_is_not_there_stops_the_controller",
    ),
    (
        "config-rule-not-checked",
        "render::validation::config::tests::rules_that_cannot_be_judged_are_told",
    ),
];

/// Rules that only a build with the feature `signatures` raises.
const OF_SIGNATURES: [&str; 2] = ["signature-missing", "signature-wrong"];

/// One section of the table.
#[derive(Debug, Default, Clone)]
struct Case {
    rules: Vec<String>,
    commands: Vec<String>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Case {
    fn read(section: &str, base: &Case) -> Case {
        let (title, body) = section.split_once('\n').unwrap();
        let mut case = Case {
            rules: title.split(' ').map(str::to_owned).collect(),
            commands: Vec::new(),
            files: base.files.clone(),
        };
        let (head, files) = body.split_at(body.find(">>> ").unwrap_or(body.len()));
        for line in head.lines() {
            match line.split_at(2) {
                ("$ ", command) => case.commands.push(command.to_owned()),
                ("- ", path) => {
                    assert!(case.files.remove(path).is_some(), "{title}: no file {path}")
                }
                ("~ ", edit) => case.edit(edit),
                _ => panic!("{title}: {line}"),
            }
        }
        for file in files.split(">>> ").skip(1) {
            let (path, text) = file.split_once('\n').unwrap();
            case.files.insert(path.to_owned(), text.as_bytes().to_vec());
        }
        if case.commands.is_empty() {
            case.commands.clone_from(&base.commands);
        }
        case
    }

    fn needs_signatures(&self) -> bool {
        self.rules
            .iter()
            .any(|rule| OF_SIGNATURES.contains(&rule.as_str()))
    }

    fn edit(&mut self, edit: &str) {
        let (path, edit) = edit.split_once(": ").unwrap();
        let (old, new) = edit.split_once(" =>").unwrap();
        let lines = |text: &str| {
            text.replace("\\\\", "\0")
                .replace("\\n", "\n")
                .replace('\0', "\\")
        };
        let file = self.files.get_mut(path).unwrap();
        let text = std::str::from_utf8(file).unwrap();
        assert!(
            text.contains(&lines(old)),
            "{:?}: {path} does not hold `{old}`",
            self.rules
        );
        *file = text
            .replace(&lines(old), &lines(new.strip_prefix(' ').unwrap_or(new)))
            .into_bytes();
    }

    /// What the commands find, in a folder with the files and whatever `prepare` does there.
    fn raised(&self, prepare: impl FnOnce(&Path)) -> BTreeSet<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in &self.files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        prepare(folder.path());
        let mut printed = String::new();
        for command in &self.commands {
            let output = windlass(folder.path())
                .args(command.split(' '))
                .env("PWD", folder.path())
                .output()
                .unwrap();
            printed.extend(
                [output.stdout, output.stderr]
                    .map(|bytes| String::from_utf8_lossy(&bytes).into_owned() + "\n"),
            );
        }
        let rule = |line: &str| {
            let (severity, rest) = line.split_once('[')?;
            ["error", "warning", "info"]
                .contains(&severity)
                .then(|| rest.split(']').next().unwrap().to_owned())
        };
        let raised: BTreeSet<String> = printed.lines().filter_map(rule).collect();
        let missing: Vec<_> = self
            .rules
            .iter()
            .filter(|rule| !raised.contains(*rule))
            .collect();
        assert!(missing.is_empty(), "{missing:?} was not raised:\n{printed}");
        raised
    }
}

/// The sections of a file, the base first.
fn cases(text: &str) -> (Case, Vec<Case>) {
    let mut sections = text.split("=== ").skip(1);
    let base = Case::read(sections.next().unwrap(), &Case::default());
    let cases = sections.map(|section| Case::read(section, &base)).collect();
    (base, cases)
}

/// The rules that the files of the table raise.
fn raised_by_the_table() -> BTreeSet<String> {
    let files = files_below(&root().join("tests/it/rules"));
    let tables: Vec<Case> = files
        .iter()
        .flat_map(|file| cases(&std::fs::read_to_string(file).unwrap()).1)
        .filter(|case| cfg!(feature = "signatures") || !case.needs_signatures())
        .collect();
    let (left, right) = tables.split_at(tables.len() / 2);
    let run = |cases: &[Case]| {
        cases
            .iter()
            .flat_map(|case| case.raised(|_| {}))
            .collect::<BTreeSet<_>>()
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| run(left));
        let mut raised = run(right);
        raised.extend(other.join().unwrap());
        raised
    })
}

/// Inputs that no text file can hold: bytes, characters that nobody sees, sizes.
fn raised_by_made_inputs() -> BTreeSet<String> {
    let check = |rule: &str, bytes: Vec<u8>| {
        let case = Case {
            rules: vec![rule.to_owned()],
            commands: vec!["render w.yaml".to_owned()],
            ..Case::default()
        };
        case.raised(|folder| std::fs::write(folder.join("w.yaml"), bytes).unwrap())
    };
    let mut raised = check("input-not-utf8", b"a: \xff\n".to_vec());
    raised.extend(check("yaml-character-rejected", b"a: \"\x01\"\n".to_vec()));
    raised.extend(check(
        "yaml-line-break-unusual",
        "a: \"b\u{2028}c\"\n".into(),
    ));
    raised.extend(check(
        "yaml-depth-exceeded",
        format!("a: {}{}\n", "[".repeat(250), "]".repeat(250)).into(),
    ));
    raised.extend(check(
        "yaml-findings-exceeded",
        "- *a\n".repeat(1200).into(),
    ));
    let many = Case {
        rules: vec!["inspect-steps-cut".to_owned()],
        commands: vec!["inspect u.txt".to_owned()],
        ..Case::default()
    };
    let commands = format!("#cloud-config\nruncmd: [{}]\n", "a, ".repeat(10_001));
    raised.extend(many.raised(|folder| std::fs::write(folder.join("u.txt"), &commands).unwrap()));
    let small = Limits {
        bytes: 4,
        ..Limits::default()
    };
    raised.extend(
        yaml::parse_within(&Source::new("a", "a: 12345\n"), &small, &Budget::default())
            .report
            .findings()
            .iter()
            .map(|found| found.rule.id.to_owned()),
    );
    raised
}

/// A provider with a template whose name gives a command to GitHub.
fn raised_by_made_providers() -> BTreeSet<String> {
    let (base, _) =
        cases(&std::fs::read_to_string(root().join("tests/it/rules/provider.txt")).unwrap());
    let mut case = Case {
        rules: vec!["template-name-control".to_owned()],
        ..base
    };
    case.edit("provider.yaml: crds: [crd.yaml] => crds: [crd.yaml]\\ntemplates: [templates]");
    case.raised(|folder| {
        std::fs::create_dir(folder.join("templates")).unwrap();
        std::fs::write(
            folder.join("templates/cluster-template-a\n::stop-commands::x\n.yaml"),
            "a: 1\n",
        )
        .unwrap();
    })
}

/// Repositories and bundles that hold what they should not.
fn raised_by_made_repositories() -> BTreeSet<String> {
    let (base, _) =
        cases(&std::fs::read_to_string(root().join("tests/it/rules/repository.txt")).unwrap());
    let check = |rule: &str, command: &str, prepare: &dyn Fn(&Path)| {
        let case = Case {
            rules: vec![rule.to_owned()],
            commands: vec![command.to_owned()],
            ..base.clone()
        };
        case.raised(prepare)
    };
    let components = "bootstrap-foo/v0.1.0/bootstrap-components.yaml";
    let broken = |folder: &Path| std::fs::write(folder.join(components), b"\xff").unwrap();
    let mut raised = check(
        "release-asset-name-control",
        "repository add bootstrap-foo/v0.1.0 --to other",
        &|folder| {
            std::fs::write(
                folder.join("bootstrap-foo/v0.1.0/a\n::stop-commands::x\n.yaml"),
                "",
            )
            .unwrap();
        },
    );
    raised.extend(check(
        "repository-file-not-text",
        "repository doctor .",
        &broken,
    ));
    raised.extend(check(
        "release-asset-not-text",
        "repository add bootstrap-foo/v0.1.0 --to other",
        &broken,
    ));
    let configmap = "repository configmap bootstrap-foo/v0.1.0";
    raised.extend(check("config-map-text-unwritable", configmap, &|folder| {
        let file = folder.join("bootstrap-foo/v0.1.0/metadata.yaml");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(file, format!("# a\u{85}# b\n{text}")).unwrap();
    }));
    raised.extend(check("config-map-too-large", configmap, &|folder| {
        let text = std::fs::read_to_string(folder.join(components)).unwrap();
        // What no compression makes much shorter.
        let mut state = 1_u64;
        let mut letter = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(b'!' + u8::try_from((state >> 33) % 90).unwrap())
        };
        let noise: String = (0..20_000)
            .map(|_| format!("# {}\n", (0..100).map(|_| letter()).collect::<String>()))
            .collect();
        std::fs::write(folder.join(components), noise + &text).unwrap();
    }));
    #[cfg(unix)]
    raised.extend(check(
        "artifact-title-rejected",
        "repository push bootstrap-foo/v0.1.0 oci:artifact",
        &|folder| {
            std::fs::write(folder.join("bootstrap-foo/v0.1.0/a:b"), "").unwrap();
        },
    ));
    #[cfg(unix)]
    raised.extend(check(
        "repository-version-linked",
        "repository doctor .",
        &|folder| {
            std::os::unix::fs::symlink(
                folder.join("bootstrap-foo/v0.1.0"),
                folder.join("bootstrap-foo/v0.0.9"),
            )
            .unwrap();
        },
    ));
    let bundle = |rule: &str, change: &dyn Fn(&mut Vec<u8>)| {
        check(rule, "repository add b.tar --to other", &|folder| {
            let packed = windlass(folder)
                .args(["repository", "bundle", ".", "--write-to", "b.tar"])
                .output()
                .unwrap();
            assert!(
                packed.status.success(),
                "{}",
                String::from_utf8_lossy(&packed.stderr)
            );
            let mut bytes = std::fs::read(folder.join("b.tar")).unwrap();
            change(&mut bytes);
            std::fs::write(folder.join("b.tar"), bytes).unwrap();
        })
    };
    raised.extend(check(
        "bundle-configuration-foreign",
        "repository add b.tar --to other",
        &|folder| {
            let configuration = std::fs::read_to_string(folder.join("clusterctl.yaml")).unwrap();
            std::fs::write(
                folder.join("clusterctl.yaml"),
                format!("{configuration}images: {{all: {{repository: evil.example}}}}\n"),
            )
            .unwrap();
            let packed = windlass(folder)
                .args(["repository", "bundle", ".", "--write-to", "b.tar"])
                .output()
                .unwrap();
            assert!(
                packed.status.success(),
                "{}",
                String::from_utf8_lossy(&packed.stderr)
            );
        },
    ));
    raised.extend(bundle("bundle-unreadable", &|bytes| bytes.truncate(700)));
    raised.extend(bundle("bundle-checksum-wrong", &|bytes| {
        let at = bytes
            .windows(11)
            .position(|window| window == b"kind: Names")
            .unwrap();
        bytes[at] = b'K';
    }));
    // The first entry as a symbolic link: its type, and the sum of its header, which has the type
    // in it.
    raised.extend(bundle("bundle-entry-rejected", &|bytes| {
        bytes[156] = b'2';
        bytes[148..156].fill(b' ');
        let sum: u32 = bytes[..512].iter().map(|byte| u32::from(*byte)).sum();
        bytes[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }));
    raised.extend(check("bundle-link-skipped", "lint l.tar", &|folder| {
        let mut tar = tar::Builder::new(std::fs::File::create(folder.join("l.tar")).unwrap());
        tar.append_path_with_name(folder.join("clusterctl.yaml"), "clusterctl.yaml")
            .unwrap();
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        tar.append_link(&mut header, "other.yaml", "clusterctl.yaml")
            .unwrap();
        tar.finish().unwrap();
    }));
    raised
}

/// Binaries that no image can be made of.
fn raised_by_made_binaries() -> BTreeSet<String> {
    let check = |rule: &str, binary: Vec<u8>| {
        let commands = vec!["release image v0.1.0 --binary linux/amd64=m --to image".to_owned()];
        let case = Case {
            rules: vec![rule.to_owned()],
            commands,
            ..Case::default()
        };
        case.raised(|folder| std::fs::write(folder.join("m"), binary).unwrap())
    };
    let mut raised = check("image-binary-architecture", image::program(image::ARM64));
    raised.extend(check("image-binary-not-static", image::dynamic_program()));
    let commands = [
        "release image v0.1.0 --binary linux/amd64=m --to image",
        "repository pull oci:image --to r",
    ]
    .map(str::to_owned);
    let pulled = Case {
        rules: vec!["artifact-rejected".to_owned()],
        commands: commands.into(),
        ..Case::default()
    };
    raised.extend(
        pulled.raised(|folder| {
            std::fs::write(folder.join("m"), image::program(image::AMD64)).unwrap()
        }),
    );
    raised
}

#[test]
fn every_rule_is_raised() {
    let mut raised = raised_by_the_table();
    raised.extend(raised_by_made_inputs());
    raised.extend(raised_by_made_providers());
    raised.extend(raised_by_made_binaries());
    raised.extend(raised_by_made_repositories());
    raised.extend(crate::gate::raised_by_pages());
    raised.extend(WITHOUT_INPUT.iter().map(|(rule, _)| (*rule).to_owned()));
    if cfg!(not(feature = "signatures")) {
        raised.extend(OF_SIGNATURES.map(str::to_owned));
    }
    let registry: BTreeSet<String> = windlass::rules::all()
        .into_iter()
        .map(|rule| rule.id.to_owned())
        .collect();
    let never: Vec<_> = registry.difference(&raised).collect();
    assert!(
        never.is_empty(),
        "no input raises these rules; add one to tests/it/rules, or remove the rule: {never:?}"
    );
    let unknown: Vec<_> = raised.difference(&registry).collect();
    assert!(
        unknown.is_empty(),
        "these are not in the registry: {unknown:?}"
    );
}

#[test]
fn each_rule_has_one_weight_in_all_that_is_printed() {
    let listed = windlass(root())
        .args(["rules", "-o", "json"])
        .output()
        .unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let registry = windlass::rules::all();
    let table = windlass(root()).args(["rules"]).output().unwrap();
    let table = String::from_utf8(table.stdout).unwrap();
    let cells: Vec<Vec<&str>> = table
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().take(3).collect())
        .collect();
    let expected: Vec<Vec<&str>> = registry
        .iter()
        .map(|rule| vec![rule.id, rule.severity.as_str(), rule.class.as_str()])
        .collect();
    assert_eq!(cells, expected);
    let rules = listed["rules"].as_array().unwrap();
    assert_eq!(rules.len(), registry.len());
    for (entry, rule) in rules.iter().zip(registry) {
        assert_eq!(
            (entry["rule"].as_str(), entry["severity"].as_str()),
            (Some(rule.id), Some(rule.severity.as_str()))
        );
        assert_eq!(
            (entry["class"].as_str(), entry["url"].as_str()),
            (Some(rule.class.as_str()), rule.url)
        );
    }
}
