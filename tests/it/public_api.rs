//! What the core offers is what somebody outside of it calls: anything else is `pub(crate)`, where
//! rustc sees that it is dead.

use std::collections::BTreeSet;

use crate::tidy::{code, root, rust_files, shown};

/// Who calls the core. What only its own unit tests call is not public.
const CALLERS: &[&str] = &[
    "src/cli",
    "src/io",
    "tests",
    "benches",
    "fuzz/fuzz_targets",
    "examples",
    "manager/src",
];

/// Tables of Cluster API's contract.
const TABLES: &[&str] = &["src/contract/labels.rs", "src/contract/manager.rs"];

/// The name that a line makes public, unless it is a type's: types are public because public
/// signatures name them, which rustc checks.
fn public_name(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let kinds = ["fn ", "const fn ", "const ", "static ", "trait ", "mod "];
    let is_rule =
        || rest.contains(" = warning(") || rest.contains(" = error(") || rest.contains(" = info(");
    let rest = kinds
        .iter()
        .find_map(|kind| rest.strip_prefix(kind))
        .or_else(|| is_rule().then_some(rest))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
}

#[test]
fn what_is_public_is_called_from_outside() {
    let words: BTreeSet<String> = CALLERS
        .iter()
        .flat_map(|folder| rust_files(&root().join(folder)))
        .flat_map(|file| {
            code(&file)
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    let (mut count, mut idle) = (0, Vec::new());
    for file in rust_files(&root().join("src")) {
        let shown = shown(&file);
        if TABLES.contains(&shown.as_str())
            || CALLERS.iter().any(|caller| shown.starts_with(caller))
        {
            continue;
        }
        for name in code(&file).lines().filter_map(public_name) {
            count += 1;
            if !words.contains(name) {
                idle.push(format!("{shown}: {name}"));
            }
        }
    }
    assert!(count > 200, "only {count} were found");
    assert!(
        idle.is_empty(),
        "nobody outside of the core names these: make them `pub(crate)`\n{}",
        idle.join("\n")
    );
}

#[test]
fn public_names_are_seen() {
    let seen = [
        "    pub fn of<T>(t: T) {",
        "pub const fn a() {}",
        "pub const B: u8 = 1;",
        "    pub C = error(\"c\");",
        "pub mod d;",
    ];
    assert_eq!(
        seen.map(public_name),
        [Some("of"), Some("a"), Some("B"), Some("C"), Some("d")]
    );
    assert_eq!(
        [
            "pub(crate) fn a() {}",
            "    pub name: String,",
            "pub struct A {",
            "pub use a::b;"
        ]
        .map(public_name),
        [None; 4]
    );
}
