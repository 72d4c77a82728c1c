//! The commands of README and book do what their text says. A `sh` block is run as it stands, in a
//! copy of the project's root folder that the blocks of one page share; no network, no cluster. A
//! `console` block in which `windlass` alone is called and prints something is a transcript, of
//! which every line has to be what is printed.

use crate::scenarios;
use crate::support::root;

use super::console::{self, blocks, meant, typed};
use super::playground::Playground;

const SRC: &str = "docs/book/src";

/// Runs the `sh` blocks of a text, one after the other.
fn run(page: &str, blocks: &[String]) {
    if blocks.is_empty() {
        return;
    }
    let playground = Playground::new();
    for block in blocks {
        let output = playground.output(block);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{page}: what does not run here is a `console` block; this ends with {}:\n{block}{said}",
            output.status
        );
    }
}

/// The commands of a transcript with what each printed. Nothing if other programs are called, or
/// nothing is printed: that is a thing to type.
fn transcript(block: &str) -> Option<Vec<(String, String)>> {
    let mut steps: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _)
                if command.starts_with("windlass ") && !command.contains(['|', '&', ';']) =>
            {
                steps.push((command.to_owned(), String::new()));
            }
            (None, Some((_, printed))) => printed.push_str(&format!("{line}\n")),
            _ => return None,
        }
    }
    steps
        .iter()
        .any(|(_, printed)| !printed.is_empty())
        .then_some(steps)
}

fn check_transcripts(page: &str, text: &str) {
    let steps: Vec<_> = blocks(text, "console")
        .iter()
        .filter_map(|block| transcript(block))
        .flatten()
        .collect();
    if steps.is_empty() {
        return;
    }
    let playground = Playground::new();
    for (command, printed) in steps {
        let output = playground.output(&format!("{command}\n"));
        let said = [output.stderr, output.stdout].concat();
        assert_eq!(
            String::from_utf8_lossy(&said),
            printed,
            "{page}: `{command}`"
        );
    }
}

fn check(page: &str) {
    let text = std::fs::read_to_string(root().join(SRC).join(page)).unwrap();
    run(page, &blocks(&text, "sh"));
    check_transcripts(page, &text);
}

/// A test for each page, so that one that fails names its page.
macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page),*];
        mod examples_of {
            $(
                #[cfg(unix)]
                #[test]
                fn $name() {
                    super::check($page);
                }
            )*
        }
    };
}

pages! {
    air_gap: "air-gap.md",
    bootstrap_provider: "bootstrap-provider.md",
    clusterctl: "clusterctl.md",
    conformance: "conformance.md",
    contribute: "contribute.md",
    diff: "diff.md",
    editor: "editor.md",
    gate: "gate.md",
    ignition: "ignition.md",
    image: "image.md",
    images: "images.md",
    install: "install.md",
    introduction: "introduction.md",
    kubeadm_configs: "kubeadm-configs.md",
    manager: "manager.md",
    migrate: "migrate.md",
    node: "node.md",
    oci: "oci.md",
    outlook: "outlook.md",
    page: "page.md",
    provenance: "provenance.md",
    provider_yaml: "provider-yaml.md",
    release: "release.md",
    render: "render.md",
    repository: "repository.md",
    settings: "settings.md",
    size: "size.md",
    topology: "topology.md",
    validate: "validate.md",
    why: "why.md",
}

/// The pages that SUMMARY.md lists.
pub(super) fn listed() -> Vec<String> {
    let summary = std::fs::read_to_string(root().join(SRC).join("SUMMARY.md")).unwrap();
    let link = regex::Regex::new(r"\]\(([^)]+)\)").unwrap();
    link.captures_iter(&summary)
        .map(|found| found[1].to_owned())
        .collect()
}

/// The reference is printed from tables; its examples are those of the help.
#[test]
fn every_page_is_listed_once_and_its_commands_run() {
    let mut listed = listed();
    let mut files: Vec<String> = crate::support::files_below(&root().join(SRC))
        .iter()
        .map(|file| {
            file.strip_prefix(root().join(SRC))
                .unwrap()
                .to_str()
                .unwrap()
                .replace('\\', "/")
        })
        .filter(|file| file != "SUMMARY.md")
        .collect();
    listed.sort();
    files.sort();
    assert_eq!(listed, files, "SUMMARY.md and the files beside it");
    let by_hand: Vec<&String> = listed
        .iter()
        .filter(|file| !file.starts_with("reference/"))
        .collect();
    assert_eq!(
        by_hand, PAGES,
        "a page has a row in `pages!` of tests/it/docs/book.rs"
    );
}

/// Pages by hand and README, with their texts.
fn texts() -> Vec<(&'static str, String)> {
    let pages = PAGES
        .iter()
        .map(|page| (*page, root().join(SRC).join(page)));
    let texts = pages.chain([("README.md", root().join("README.md"))]);
    texts
        .map(|(page, path)| (page, std::fs::read_to_string(path).unwrap()))
        .collect()
}

fn table() -> Vec<console::Row> {
    console::rows(&std::fs::read_to_string(root().join(console::TABLE)).unwrap())
}

/// What needs other programs is run by a scenario of `tests/e2e`, which has each of its rows; or it
/// is said why nobody can.
#[test]
fn commands_with_other_programs_are_run_or_it_is_said_why_not() {
    let (table, texts) = (table(), texts());
    let scenarios = scenarios::names();
    for (page, text) in &texts {
        let others = blocks(text, "console")
            .into_iter()
            .filter(|block| transcript(block).is_none());
        for block in others.map(|block| typed(&block)) {
            let count = table
                .iter()
                .filter(|row| row.page == *page && block.starts_with(&row.first))
                .count();
            assert_eq!(
                count,
                1,
                "{page}: rows in {} for this block:\n{block}",
                console::TABLE
            );
        }
    }
    for row in &table {
        let text = texts
            .iter()
            .find(|(page, _)| *page == row.page)
            .map(|(_, text)| text)
            .unwrap_or_else(|| panic!("{row:?}: no such page"));
        assert_eq!(meant(row, text).len(), 1, "{row:?}: blocks that begin so");
        match &row.scenario {
            Some(scenario) => assert!(
                scenarios.contains(&scenario.as_str()),
                "{row:?}: no such scenario"
            ),
            None => assert!(!row.remark.is_empty(), "{row:?}: why does nobody run it?"),
        }
    }
    assert!(
        table.iter().filter(|row| row.scenario.is_some()).count() > table.len() / 2,
        "most are run"
    );
}

/// What nobody runs has at least flags that there are: they are read before `--help` is.
#[cfg(unix)]
#[test]
fn flags_of_what_nobody_runs_are_known() {
    let playground = Playground::new();
    assert!(
        !playground
            .output("windlass release build v0.2.0 --nope --help")
            .status
            .success()
    );
    let mut count = 0;
    for (page, text) in texts() {
        for row in table()
            .into_iter()
            .filter(|row| row.page == page && row.scenario.is_none())
        {
            let block = meant(&row, &text).concat().replace("\\\n", " ");
            for command in block.lines().filter(|line| line.starts_with("windlass ")) {
                count += 1;
                playground.run(&format!(
                    "{} --help > /dev/null",
                    command.split(['>', '|', '&', ';', '#']).next().unwrap()
                ));
            }
        }
    }
    assert!(count >= 2, "only {count} were found");
}

/// README is an introduction: what is longer stands in the book.
#[test]
fn readme_is_short() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(
        readme.lines().count() <= 200,
        "README.md has {} lines",
        readme.lines().count()
    );
}

#[test]
fn readme_begins_with_the_two_commands_of_set_up() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = blocks(&readme, "sh");
    assert!(
        blocks.len() >= 2,
        "README.md has {} `sh` blocks",
        blocks.len()
    );
    for block in &blocks[..2] {
        assert_eq!(block.lines().count(), 1, "one command a block: {block}");
        assert!(
            block.starts_with("cargo "),
            "nothing but Rust is needed: {block}"
        );
    }
    assert!(
        blocks[0].contains("release build v") && blocks[0].contains("--to out"),
        "{}",
        blocks[0]
    );
    assert!(blocks[1].starts_with("cargo test"), "{}", blocks[1]);
}

#[cfg(unix)]
#[test]
fn examples_of_the_readme_work() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    // The first two build the program and run these tests.
    run("README.md", &blocks(&readme, "sh")[2..]);
    check_transcripts("README.md", &readme);
}

#[test]
fn readers_of_markdown_read_what_they_should() {
    assert_eq!(
        blocks(
            "a\n```sh\nx\n```\nb\n```json\n{}\n```\n```sh\ny\nz\n```\n",
            "sh"
        ),
        ["x\n", "y\nz\n"]
    );
    assert_eq!(
        blocks("```text\n```sh\n```\n", "sh"),
        [""; 0],
        "a fence within a block closes it"
    );
    let steps = transcript("$ windlass a\nb\nc\n$ windlass d\n").unwrap();
    assert_eq!(
        steps,
        [
            ("windlass a".to_owned(), "b\nc\n".to_owned()),
            ("windlass d".to_owned(), String::new())
        ]
    );
    for other in [
        "$ windlass a\nb\n$ kubectl c\n",
        "export A=b\n",
        "$ windlass a\n",
        "$ windlass a | b\nc\n",
    ] {
        assert_eq!(transcript(other), None, "{other}");
    }
}
