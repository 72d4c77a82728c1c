//! Findings as JSON, one schema for all commands: `apiVersion: report.windlass.dev/v1`.
//!
//! Within v1 keys are added, never removed, renamed or retyped. Every key is always there, `null`
//! when empty; lists are never null.

use schemars::JsonSchema;
use serde::Serialize;

use super::text;
use windlass_source::diag::{self, Diagnostic, Place, Report};

pub(crate) const API_VERSION: &str = "report.windlass.dev/v1";

/// The program that wrote a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Always `windlass`.
    pub name: &'static str,
    /// Its version, without `v`.
    pub version: &'static str,
}

impl Tool {
    pub(crate) const THIS: Tool = Tool {
        name: "windlass",
        version: env!("CARGO_PKG_VERSION"),
    };
}

/// What every verb prints with `-o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Envelope<T> {
    /// Always `report.windlass.dev/v1`.
    #[schemars(extend("const" = API_VERSION))]
    pub api_version: &'static str,
    /// What the report is about: `Release`, `Render`, `Lint`, …
    pub kind: &'static str,
    /// The program that wrote it.
    pub tool: Tool,
    /// The verb's own keys.
    #[serde(flatten)]
    pub body: T,
    /// What was found: files in the order given, then document, position, rule.
    pub findings: Vec<Finding>,
    /// How much was found.
    pub summary: Summary,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The rule that found it, kebab-case.
    pub rule: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// The defect in one phrase.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Lines that would correct the document.
    pub insertion: Option<Insertion>,
    /// Changes of the file that certainly fix it: those of `--fix`. `null` where there are none,
    /// or where they hold a secret.
    pub fix: Option<Fix>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// The whole message of the upstream program that rejects the same. Of thousands of findings about one object only the first has it.
    pub upstream: Option<String>,
    /// Where the rule comes from.
    pub url: Option<&'static str>,
    /// The URL of the rule's page, which `explain` prints.
    pub page: String,
    /// Location.
    #[serde(flatten)]
    pub location: Location,
    /// What is at that place.
    pub label: Option<String>,
    /// Further places.
    pub related: Vec<Related>,
    /// The reason for which the finding does not count, as a waiver gives it.
    pub waived: Option<String>,
}

/// Lines to add.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Insertion {
    /// The line (from 1) after which they belong.
    pub after_line: u32,
    /// The lines, indented as the document is.
    pub lines: Vec<String>,
}

/// Changes of the file of a finding. Either all of them are made, or none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fix {
    /// The changes; none touches another one.
    pub changes: Vec<Change>,
}

/// A text that replaces another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The first byte that goes, from 0.
    pub start: usize,
    /// The byte behind the last that goes; `start` where something is inserted.
    pub end: usize,
    /// What stands there then.
    pub with: String,
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// clusterctl, the API server or Cluster API rejects the document, or breaks on it.
    Error,
    /// Likely harm.
    Warning,
    /// Advice.
    Info,
}

/// Where something stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// The file as the user gave it, with `/` between the parts; `<stdin>` for standard input.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// Line of the end, from 1.
    pub end_line: Option<u32>,
    /// Column just after the end, from 1.
    pub end_column: Option<u32>,
    /// The document in the file, from 1.
    pub document: Option<usize>,
    /// `Kind/name`.
    pub object: Option<String>,
    /// The field.
    pub path: Option<String>,
}

/// A second place that a finding speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Related {
    /// Location.
    #[serde(flatten)]
    pub location: Location,
    /// What is there.
    pub label: Option<String>,
}

/// How many findings there are of each weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Pieces of advice.
    pub infos: usize,
    /// Findings that are waived; they are in none of the other numbers.
    pub waived: usize,
}

/// The report of a verb as one JSON object and a final newline. `body` is a struct with the verb's
/// own keys.
pub fn render<T: Serialize>(kind: &'static str, body: T, report: &Report) -> String {
    let written = Written {
        api_version: API_VERSION,
        kind,
        tool: Tool::THIS,
        body,
        findings: Findings(report),
        summary: Summary::from(report.summary()),
    };
    let text = serde_json::to_string_pretty(&written)
        .expect("internal error: a report has only text keys");
    escaped(text) + "\n"
}

/// An [`Envelope`] whose findings are converted one by one while they are written: there may be as
/// many as the input has lines.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'r, T> {
    api_version: &'static str,
    kind: &'static str,
    tool: Tool,
    #[serde(flatten)]
    body: T,
    findings: Findings<'r>,
    summary: Summary,
}

struct Findings<'r>(&'r Report);

impl Serialize for Findings<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.findings().iter().map(Finding::from))
    }
}

/// The same JSON, in which nothing is a command to a terminal or a CI system: serde_json leaves
/// characters beyond ASCII as they are.
pub(super) fn escaped(json: String) -> String {
    let is_unsafe = |c: char| c != '\n' && text::is_unsafe(c);
    let json = if json.contains(is_unsafe) {
        let mut escaped = String::with_capacity(json.len() + 1);
        for c in json.chars() {
            if is_unsafe(c) {
                // JSON escapes UTF-16: a character beyond U+FFFF is a pair of surrogates.
                for unit in c.encode_utf16(&mut [0; 2]) {
                    escaped.push_str(&format!("\\u{unit:04x}"));
                }
            } else {
                escaped.push(c)
            }
        }
        escaped
    } else {
        json
    };
    if !json.contains("##") {
        return json;
    }
    // Only in texts of JSON does `##` stand before a bracket or a letter.
    json.replace("##[", "#\\u0023[")
        .replace("##vso[", "#\\u0023vso[")
}

/// The JSON Schema of one entry of `findings`.
pub fn finding_schema() -> serde_json::Value {
    schema_of::<Finding>()
}

/// The JSON Schema (2020-12) of what is serialised: keys that are always written are required.
pub fn schema_of<T: JsonSchema>() -> serde_json::Value {
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

impl From<&Diagnostic> for Finding {
    fn from(finding: &Diagnostic) -> Self {
        let Diagnostic {
            rule,
            message,
            place,
            label,
            related,
            insertion,
            help,
            fix,
            notes,
            upstream,
            waived,
            ..
        } = finding;
        Finding {
            rule: rule.id,
            severity: rule.severity.into(),
            message: message.to_string(),
            help: help.as_ref().map(ToString::to_string),
            insertion: insertion.as_ref().map(Insertion::from),
            fix: fix.as_ref().map(Fix::from),
            notes: notes.iter().map(ToString::to_string).collect(),
            upstream: upstream.as_ref().map(ToString::to_string),
            url: rule.url,
            page: rule.page_url(),
            location: place.into(),
            label: non_empty(label),
            related: related.iter().map(Related::from).collect(),
            waived: waived.as_ref().map(|waiver| waiver.reason.clone()),
        }
    }
}

impl From<&diag::Insertion> for Insertion {
    fn from(insertion: &diag::Insertion) -> Self {
        Insertion {
            after_line: insertion.after_line,
            lines: insertion.lines.iter().map(ToString::to_string).collect(),
        }
    }
}

impl From<&diag::Fix> for Fix {
    fn from(fix: &diag::Fix) -> Self {
        let change = |change: &diag::Change| Change {
            start: change.range.start,
            end: change.range.end,
            with: change.with.clone(),
        };
        Fix {
            changes: fix.changes.iter().map(change).collect(),
        }
    }
}

fn non_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

impl From<diag::Severity> for Severity {
    fn from(severity: diag::Severity) -> Self {
        match severity {
            diag::Severity::Error => Severity::Error,
            diag::Severity::Warning => Severity::Warning,
            diag::Severity::Info => Severity::Info,
        }
    }
}

impl From<&Place> for Location {
    fn from(place: &Place) -> Self {
        Location {
            file: place.file.as_deref().map(str::to_owned),
            line: place.span.map(|span| span.start.line),
            column: place.span.map(|span| span.start.column),
            end_line: place.span.map(|span| span.end.line),
            end_column: place.span.map(|span| span.end.column),
            document: place.document,
            object: place.object.clone(),
            path: Some(place.path.to_string()).filter(|path| !path.is_empty()),
        }
    }
}

impl From<&diag::Related> for Related {
    fn from(related: &diag::Related) -> Self {
        Related {
            location: (&related.place).into(),
            label: non_empty(&related.label),
        }
    }
}

impl From<diag::Summary> for Summary {
    fn from(summary: diag::Summary) -> Self {
        Summary {
            errors: summary.errors,
            warnings: summary.warnings,
            infos: summary.infos,
            waived: summary.waived,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use windlass_source::diag::{FieldPath, Position, Rule, Span};

    #[derive(Serialize)]
    struct Body {
        machines: Vec<u8>,
    }

    fn cut_value() -> Diagnostic {
        let position = |column| Position {
            offset: 0,
            line: 7,
            column,
        };
        let place = Place::file("ops.yaml")
            .in_document(1)
            .in_object("KubeadmConfig/ops")
            .at_path(
                FieldPath::root()
                    .field("spec")
                    .field("users")
                    .index(0)
                    .field("gecos"),
            )
            .at_span(Span {
                start: position(17),
                end: position(19),
            });
        Diagnostic::of(
            const { &Rule::warning("cloud-config-value-cut", "") },
            "spec.users[0].gecos reaches cloud-init as `Ops`",
        )
        .at(place)
        .label("only this")
        .insertion(7, vec!["    gecos: \"Ops #1\"".to_owned()])
        .note("cloud-init takes ` #` for a comment")
        .help("drop the ` #`, or use `--encoder typed` or a WindlassConfig, which quote")
    }

    #[test]
    fn a_finding_has_every_key() {
        let text = render(
            "Render",
            Body {
                machines: Vec::new(),
            },
            &[cut_value()].into_iter().collect(),
        );
        let expected = json!({
            "rule": "cloud-config-value-cut", "severity": "warning", "message": "spec.users[0].gecos reaches cloud-init as `Ops`",
            "help": "drop the ` #`, or use `--encoder typed` or a WindlassConfig, which quote", "upstream": null, "url": null, "page": cut_value().rule.page_url(),
            "insertion": {"afterLine": 7, "lines": ["    gecos: \"Ops #1\""]}, "notes": ["cloud-init takes ` #` for a comment"],
            "file": "ops.yaml", "line": 7, "column": 17, "endLine": 7, "endColumn": 19, "document": 1, "object": "KubeadmConfig/ops",
            "path": "spec.users[0].gecos", "label": "only this", "related": [], "waived": null, "fix": null
        });
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["findings"], json!([expected]));
        assert_eq!(
            report["summary"],
            json!({"errors": 0, "warnings": 1, "infos": 0, "waived": 0})
        );
        assert_eq!(
            report["tool"],
            json!({"name": "windlass", "version": env!("CARGO_PKG_VERSION")})
        );
    }

    #[test]
    fn nothing_in_it_reaches_a_terminal_as_a_command() {
        let message = "a\x1b[2J\x7f\u{9b}2J\u{202e}é##[x]\t\n";
        let text = render(
            "Render",
            Body {
                machines: Vec::new(),
            },
            &[Diagnostic::of(const { &Rule::error("a-b", "") }, message)]
                .into_iter()
                .collect(),
        );
        assert!(
            text.contains(r#""a\u001b[2J\u007f\u009b2J\u202eé#\u0023[x]\t\n""#),
            "{text}"
        );
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap()["findings"][0]["message"],
            message
        );
    }

    #[test]
    fn keys_come_in_their_order_and_one_newline_ends_the_text() {
        let text = render(
            "Render",
            Body {
                machines: Vec::new(),
            },
            &Report::new(),
        );
        let keys = [
            "\"apiVersion\": \"report.windlass.dev/v1\"",
            "\"kind\": \"Render\"",
            "\"tool\"",
            "\"machines\"",
            "\"findings\"",
            "\"summary\"",
        ];
        let places: Vec<usize> = keys.iter().map(|key| text.find(key).unwrap()).collect();
        assert!(places.is_sorted(), "{text}");
        assert!(text.starts_with('{') && text.ends_with("}\n") && !text.ends_with("\n\n"));
    }

    #[test]
    fn a_finding_without_a_place_has_nulls() {
        let finding = Finding::from(
            &Diagnostic::of(const { &Rule::error("a-b", "") }, "m").related(Place::file("x"), ""),
        );
        let finding = serde_json::to_value(finding).unwrap();
        for key in [
            "file",
            "line",
            "column",
            "endLine",
            "endColumn",
            "document",
            "object",
            "path",
            "label",
            "insertion",
            "fix",
        ] {
            assert_eq!(finding[key], Value::Null, "{key}");
        }
        assert_eq!(finding["related"][0]["file"], "x");
        assert_eq!(finding["related"][0]["label"], Value::Null);
    }

    #[test]
    fn the_schema_requires_every_key() {
        let schema = finding_schema();
        let finding = serde_json::to_value(Finding::from(&cut_value())).unwrap();
        let mut required: Vec<&str> = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key.as_str().unwrap())
            .collect();
        required.sort_unstable();
        let keys: Vec<&str> = finding
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(required, keys);
    }
}
