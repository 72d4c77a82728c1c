//! `tests/corpus.tsv`: the origin of each file of the corpus that a test, scenario or benchmark
//! reads. `tests/corpus.md` explains the columns.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::support::{CORPUS_OF_CASES, files_below, root, shared, vectors};

/// File below the corpus, repository, version, path in the repository.
type Row = [String; 4];

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("tests/corpus.tsv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("file\trepository\tversion\tpath"));
    let row = |line: &str| {
        let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
        Row::try_from(cells).unwrap_or_else(|_| panic!("four columns: {line}"))
    };
    lines.map(row).collect()
}

/// The names of files, or of folders with files, as the rows have them.
fn files() -> BTreeSet<String> {
    rows().into_iter().map(|[file, ..]| file).collect()
}

fn is_commit(version: &str) -> bool {
    version.len() == 40
        && version
            .bytes()
            .all(|byte| b"0123456789abcdef".contains(&byte))
}

fn is_tag(version: &str) -> bool {
    version
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains('.'))
}

#[test]
fn rows_have_one_form() {
    let rows = rows();
    assert!(rows.is_sorted_by(|one, next| one[0] < next[0]));
    for [file, repository, version, path] in &rows {
        assert_eq!(repository.split('/').count(), 2, "{file}: {repository}");
        assert!(is_commit(version) || is_tag(version), "{file}: {version}");
        let is_inside = |path: &str| path.split('/').all(|name| !["", ".", ".."].contains(&name));
        assert!(is_inside(file) && is_inside(path), "{file}: {path}");
        if file.starts_with("published/") || file.starts_with("rendered") {
            continue;
        }
        // A file of a repository has its name after it.
        let folder = repository.replace('/', "+");
        let folders = match is_tag(version) {
            true => [format!("{folder}@{version}"), String::new()],
            false => [format!("{folder}@{}", &version[..12]), folder],
        };
        let is_named = |folder: &String| *file == format!("{folder}/{path}");
        assert!(folders.iter().any(is_named), "{file}: {version} {path}");
    }
}

#[test]
fn recorded_invocations_read_files_that_are_listed() {
    let files = files();
    let mut missing = BTreeSet::new();
    for record in files_below(&vectors("clusterctl"))
        .iter()
        .filter(|path| path.ends_with("case.json"))
    {
        let case: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
        let sources = case["files"].as_object().into_iter().flatten();
        let sources = sources.map(|(_, source)| source).chain([&case["stdin"]]);
        let of_corpus = sources
            .filter_map(Value::as_str)
            .filter_map(|source| source.strip_prefix(CORPUS_OF_CASES));
        missing.extend(
            of_corpus
                .filter(|file| !files.contains(*file))
                .map(str::to_owned),
        );
    }
    assert_eq!(missing, BTreeSet::new());
}

/// Several tests read every YAML file of the corpus, `init` also reads `PROJECT`.
#[test]
fn files_that_are_read_are_listed_and_no_others() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let is_read = |path: &Path| {
        path.extension()
            .is_some_and(|ending| ending == "yaml" || ending == "yml")
            || path.ends_with("PROJECT")
    };
    let read: BTreeSet<String> = files_below(&corpus)
        .iter()
        .filter(|path| is_read(path))
        .map(|path| path.strip_prefix(&corpus).unwrap())
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    let listed = files();
    let unlisted: Vec<_> = read.difference(&listed).collect();
    let missing: Vec<_> = listed.difference(&read).collect();
    assert!(
        unlisted.is_empty() && missing.is_empty(),
        "not listed: {unlisted:?}\nnot in the corpus: {missing:?}"
    );
}
