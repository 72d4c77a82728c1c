//! The blocks of commands in README and book, and who runs those that need other programs
//! (`docs/book-commands.tsv`). `tests/e2e` reads them too.

/// Where it is said of each such block who runs it.
pub(crate) const TABLE: &str = "docs/book-commands.tsv";
const HEADER: &str = "page\tfirst command\trun by\tremark";

/// The blocks of a Markdown text whose fence says this language alone.
pub(crate) fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(fence)) => open = Some((fence == language, String::new())),
            (Some(_), Some(_)) => found.extend(
                open.take()
                    .filter(|(is_wanted, _)| *is_wanted)
                    .map(|(_, block)| block),
            ),
            (Some((_, block)), None) => block.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    found
}

/// A block as one types it, without the prompt.
pub(crate) fn typed(block: &str) -> String {
    block
        .lines()
        .map(|line| format!("{}\n", line.strip_prefix("$ ").unwrap_or(line)))
        .collect()
}

/// A block of a page, and who runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) page: String,
    /// What the block begins with.
    pub(crate) first: String,
    /// A scenario of `tests/e2e`, or `None` where nobody can.
    pub(crate) scenario: Option<String>,
    /// Why nobody can, or what a scenario has in place of something.
    pub(crate) remark: String,
}

/// The rows of the table.
pub(crate) fn rows(table: &str) -> Vec<Row> {
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some(HEADER), "{TABLE}");
    let row = |line: &str| {
        let [page, first, run_by, remark] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{TABLE}: four columns: {line}")
        };
        let scenario = (run_by != "nobody").then(|| run_by.to_owned());
        Row {
            page: page.to_owned(),
            first: first.to_owned(),
            scenario,
            remark: remark.to_owned(),
        }
    };
    lines.map(row).collect()
}

/// The blocks of the page's text that a row means, as one types them.
pub(crate) fn meant(row: &Row, text: &str) -> Vec<String> {
    blocks(text, "console")
        .iter()
        .map(|block| typed(block))
        .filter(|block| block.starts_with(&row.first))
        .collect()
}
