//! Decisions (`docs/adr`): each file has the parts of one, and the index lists all of them.

use crate::support::{files_below, root};

/// The parts of a decision, in their order.
const PARTS: [&str; 5] = [
    "- Status: ",
    "- Date: 2",
    "## Context\n",
    "## Decision\n",
    "## Consequences\n",
];

#[test]
fn decisions_are_complete_and_listed() {
    let folder = root().join("docs/adr");
    let index = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut files = files_below(&folder);
    files.sort();
    files.retain(|file| !file.ends_with("README.md"));
    assert!(files.len() >= 45, "{files:?}");
    for (file, number) in files.iter().zip(1..) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(file).unwrap();
        let title = text.lines().next().unwrap();
        assert!(name.starts_with(&format!("{number:04}-")), "{name}");
        let title = title.strip_prefix(&format!("# {number}. ")).expect(name);
        let row = format!("\n| [{number:04}]({name}) | {title} | 2");
        assert!(index.contains(&row), "docs/adr/README.md lacks {row}");
        let places: Vec<_> = PARTS.map(|part| text.find(part)).into_iter().collect();
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{name}: expected {PARTS:?}"
        );
    }
}
