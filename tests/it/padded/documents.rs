//! Documents with a secret, padded to any size, and the reports of `validate` about them.
//! The fuzz target `padded` includes this file.

use windlass_bootstrap::render::{Pool, Request};
use windlass_checks::commands::validate;
use windlass_report::text::Style;
use windlass_report::{Sources, github, json, junit, sarif, text, without_secrets};
use windlass_source::Source;

/// The part of each secret by which a test finds it.
pub(crate) const CANARY: &str = "cAnArY";

/// Documents with a secret at `@`, and with a list or mapping that can be padded at `#`.
pub(crate) const FIELDS: [&str; 8] = [
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n#  a: {@}\n",
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringDat:\n#  a: @\n",
    "users:\n  - name: u\n    sudo: [x]\n    passwd: @\n#",
    "users: [{name: u, passwdFrom: @}]\n#",
    "files:\n  - path: /a\n    owner: [x]\n    content: @\n#",
    "files:\n#  - {path: /a, unknown: 1, contentFrom: {secret: @}}\n",
    "joinConfiguration:\n    discovery:\n      unknown: 1\n      bootstrapToken:\n        token: @\n#",
    "initConfiguration:\n    bootstrapTokens:\n#    - token: @\n    certificateKey: [@]\n",
];

/// The start of each document whose field is part of a KubeadmConfig.
const CONFIG: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  unknown: 1\n  ";

/// Text that makes a document longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Padding {
    Comments,
    /// Items or entries, by what the place holds.
    Entries,
    /// One long scalar.
    Scalar,
    /// A scalar of many lines.
    Block,
    /// Characters of three bytes, so that bounds fall inside of one.
    Wide,
}

impl Padding {
    pub(crate) const ALL: [Padding; 5] = [
        Padding::Comments,
        Padding::Entries,
        Padding::Scalar,
        Padding::Block,
        Padding::Wide,
    ];

    /// Text of at least so many bytes, with the indentation of the field that follows it.
    fn text(self, bytes: usize, is_list: bool, indent: &str) -> String {
        let unit = |unit: &str| unit.repeat(bytes.div_ceil(unit.len()));
        let dash = if is_list { "- " } else { "" };
        match self {
            Padding::Comments => unit(&format!("{indent}# a comment\n")),
            Padding::Entries if is_list => unit(&format!("{indent}- x: 1\n")),
            Padding::Entries => (0..bytes / 12)
                .map(|at| format!("{indent}k{at:06}: 1\n"))
                .collect(),
            Padding::Scalar => format!("{indent}{dash}long: {}\n", unit("x")),
            Padding::Block => format!(
                "{indent}{dash}block: |\n{}",
                unit(&format!("{indent}      a line\n"))
            ),
            Padding::Wide => format!("{indent}{dash}wide: {}\n", unit("€")),
        }
    }
}

/// A document with this secret, and so many bytes before and within it.
pub(crate) fn document(
    field: &str,
    secret: &str,
    padding: Padding,
    before: usize,
    within: usize,
) -> String {
    let (head, tail) = field.split_once('#').unwrap_or((field, ""));
    let is_list = tail.trim_start().starts_with("- ");
    let indent = match tail.len() - tail.trim_start().len() {
        0 => "  ",
        spaces => &tail[..spaces],
    };
    let filled = format!("{head}{}{tail}", padding.text(within, is_list, indent));
    let filled = filled.replace('@', secret);
    let start = if field.starts_with("apiVersion") {
        ""
    } else {
        CONFIG
    };
    format!(
        "{}{start}{filled}",
        Padding::Comments.text(before, false, "")
    )
}

/// The reports of `validate` about a document: text first, then JSON, SARIF, JUnit and GitHub.
pub(crate) fn reports(document: &str) -> Vec<String> {
    let request = Request::new();
    let source = Source::new("w.yaml", document);
    let mut sources = Sources::new();
    sources.add(source.clone());
    let (pool, read) = Pool::read(&[source], &request.budget);
    let judged = validate::Judged::new(pool, &request);
    let mut rendering = judged.render(&request);
    let mut report = validate::run(&judged, &request, &mut rendering, true).report;
    report.extend(read);
    let report = without_secrets(&report, &sources);
    vec![
        text::render(&report, &sources, Style::default()),
        json::render("Validate", (), &report),
        sarif::render(&report, &sources),
        junit::render(&report, &sources),
        github::render(&report),
    ]
}
