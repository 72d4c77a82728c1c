//! Links of documents lead somewhere: files of the repository, headings in them, pages of the book.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::support::{files_below, root};

/// Where the repository is to be read, for pages that stand elsewhere.
const REPOSITORY: &[&str] = &[
    "https://github.com/windlass-dev/windlass/blob/main/",
    "https://github.com/windlass-dev/windlass/tree/main/",
];

/// The text without blocks and code, in which nothing is a link.
fn prose(text: &str) -> String {
    let mut in_block = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            lines.push(line.split('`').step_by(2).collect::<Vec<_>>().join("`"));
        }
    }
    lines.join("\n")
}

/// The targets of the links of a Markdown text.
fn targets(text: &str) -> Vec<String> {
    let prose = prose(text);
    let ends = prose
        .match_indices("](")
        .map(|(at, found)| &prose[at + found.len()..]);
    ends.filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.to_owned())
        .collect()
}

/// The anchor that GitHub and mdBook give a heading.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    letters.flat_map(char::to_lowercase).collect()
}

/// The anchors of a text: those of its headings, with a number from the second of a name on.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut in_block = false;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    for line in text.lines() {
        in_block ^= line.starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !in_block) else {
            continue;
        };
        let name = anchor(heading.trim_start_matches('#'));
        let count = seen
            .entry(name.clone())
            .and_modify(|count| *count += 1)
            .or_insert(0);
        anchors.insert(if *count == 0 {
            name
        } else {
            format!("{name}-{count}")
        });
    }
    anchors
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => assert!(plain.pop(), "{}", path.display()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// What is wrong with a link of a document, if anything.
fn fault(document: &Path, target: &str, pages: &BTreeSet<PathBuf>) -> Option<String> {
    let (path, fragment) = target
        .split_once('#')
        .map_or((target, None), |(path, fragment)| (path, Some(fragment)));
    let in_repository = REPOSITORY.iter().find_map(|begin| path.strip_prefix(begin));
    let file = match in_repository {
        Some(path) => root().join(path),
        None if path.contains("://") || path.starts_with("mailto:") => return None,
        None if path.is_empty() => document.to_path_buf(),
        None => plain(&document.parent().unwrap().join(path)),
    };
    if !file.exists() {
        return Some("no such file".to_owned());
    }
    if in_repository.is_none() && pages.contains(document) && !pages.contains(&file) {
        return Some("the book has no such page: name it by its address on GitHub".to_owned());
    }
    let fragment = fragment?;
    let has = file.extension().is_some_and(|of| of == "md")
        && anchors(&std::fs::read_to_string(&file).unwrap()).contains(fragment);
    (!has).then(|| format!("no heading #{fragment}"))
}

#[test]
fn links_lead_somewhere() {
    let src = root().join("docs/book/src");
    let pages: BTreeSet<PathBuf> = super::book::listed()
        .iter()
        .map(|page| src.join(page))
        .collect();
    let at_the_root = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let documents = at_the_root
        .chain(files_below(&root().join("docs")))
        .chain(files_below(&root().join("examples")))
        .chain([root().join("tests/e2e/README.md")]);
    let (mut count, mut faults) = (0, Vec::new());
    for document in documents.filter(|path| path.extension().is_some_and(|of| of == "md")) {
        for target in targets(&std::fs::read_to_string(&document).unwrap()) {
            count += 1;
            let fault = fault(&document, &target, &pages);
            faults.extend(fault.map(|fault| {
                format!(
                    "{}: {target}: {fault}",
                    document.strip_prefix(root()).unwrap().display()
                )
            }));
        }
    }
    assert!(count > 200, "only {count} links were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn faulty_links_are_seen() {
    let src = root().join("docs/book/src");
    let page = src.join("render.md");
    let pages = BTreeSet::from([page.clone(), src.join("size.md")]);
    let of = |target: &str| fault(&page, target, &pages);
    assert_eq!(of("https://example.com/x"), None);
    assert_eq!(of("size.md"), None);
    assert_eq!(of("no.md").as_deref(), Some("no such file"));
    assert_eq!(of("size.md#no").as_deref(), Some("no heading #no"));
    assert!(
        of("../../../README.md")
            .is_some_and(|fault| fault.starts_with("the book has no such page"))
    );
    assert_eq!(
        of("https://github.com/windlass-dev/windlass/blob/main/README.md#windlass"),
        None
    );
    assert_eq!(
        of("https://github.com/windlass-dev/windlass/blob/main/no.md").as_deref(),
        Some("no such file")
    );
}

#[test]
fn markdown_is_read_as_it_is_shown() {
    assert_eq!(
        targets("[a](b.md) `[c](d)` [e\nf](g#h)\n```sh\n[i](j)\n```\n"),
        ["b.md", "g#h"]
    );
    let text = "# A b\n## `c d`: E, f-g_h\n```sh\n# no\n```\n## A b\n";
    assert_eq!(
        anchors(text).into_iter().collect::<Vec<_>>(),
        ["a-b", "a-b-1", "c-d-e-f-g_h"]
    );
}
