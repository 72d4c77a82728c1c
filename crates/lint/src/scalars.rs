//! Scalars that do not reach the cluster as they are written: keys and labels that YAML takes for
//! something else, numbers beyond a double, variables without quotes.

use windlass_capi::contract::book;
use windlass_go_yaml::yaml::{self, Document, Node, Value};
use windlass_source::diag::{Diagnostic, FieldPath, Fix, Place, Quoted, Report, Segment, rules};
use windlass_source::edit::Edits;
use windlass_source::{Source, TextRange};

rules! {
    /// an unquoted key such as `y` or `on` becomes `true` or `false`
    KEY_CHANGED = warning("components-key-changed");
    /// an integer exceeds 2^53, so clusterctl rounds it
    INTEGER_INEXACT = warning("components-integer-inexact");
    /// the value of a label is not a string, so clusterctl drops all labels of the object
    LABEL_NOT_TEXT = warning("components-label-not-text");
    /// a variable is unquoted in a field that accepts only strings
    VARIABLE_UNQUOTED = warning("components-variable-unquoted"), url(book::VARIABLES);
}

/// Whole numbers beyond this are not exact as doubles.
const EXACT: u64 = 1 << 53;

/// Checks the scalars of a file as it is written, variables included.
pub(super) fn check(source: &Source, documents: &[Document]) -> Report {
    let mut report = Report::new();
    for document in documents {
        let kind = document
            .root
            .at(&FieldPath::root().field("kind"))
            .and_then(Node::as_str)
            .unwrap_or_default();
        let mut walk = Walk {
            source,
            document: document.index,
            is_typed: is_typed(kind),
            path: FieldPath::root(),
            report: &mut report,
        };
        walk.visit(&document.root);
    }
    report
}

/// Whether anything in a value could be reported here, that variables apart: documents without it
/// need not be read once more for their places.
pub(super) fn is_suspect(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    let is_no_text = |label: &Value| !label.is_string();
    let labels = value.pointer("/metadata/labels").and_then(Value::as_object);
    labels.is_some_and(|labels| labels.values().any(is_no_text)) || holds_suspects(value)
}

/// The depth is that of the reader's limits.
fn holds_suspects(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| matches!(key.as_str(), "true" | "false") || holds_suspects(value)),
        Value::Array(items) => items.iter().any(holds_suspects),
        Value::Number(number) => is_inexact(number),
        _ => false,
    }
}

/// Whether it is a whole number that a double cannot hold.
fn is_inexact(number: &serde_json::Number) -> bool {
    number.as_i64().is_some_and(|n| n.unsigned_abs() > EXACT)
        || number.as_u64().is_some_and(|n| n > EXACT)
}

/// Kinds whose texts clusterctl rejects when they are numbers or booleans.
fn is_typed(kind: &str) -> bool {
    matches!(
        kind,
        "Deployment"
            | "DaemonSet"
            | "ClusterRoleBinding"
            | "RoleBinding"
            | "CustomResourceDefinition"
            | "MutatingWebhookConfiguration"
            | "ValidatingWebhookConfiguration"
    )
}

struct Walk<'s> {
    source: &'s Source,
    document: usize,
    is_typed: bool,
    path: FieldPath,
    report: &'s mut Report,
}

impl Walk<'_> {
    /// The depth is that of the reader's limits.
    fn visit(&mut self, node: &Node) {
        match &node.value {
            Value::Mapping(mapping) => {
                for entry in mapping {
                    self.path.push(Segment::Field(entry.key.clone()));
                    self.key(entry);
                    self.visit(&entry.value);
                    self.path.pop();
                }
            }
            Value::Sequence(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.path.push(Segment::Index(at));
                    self.visit(item);
                    self.path.pop();
                }
            }
            Value::Number(number) if is_inexact(number) => {
                let message = format!(
                    "{} is {number}, which clusterctl rounds: it is beyond 2^53",
                    self.path
                );
                let finding = Diagnostic::of(&INTEGER_INEXACT, message).at(self.place(node.span));
                self.report
                    .push(finding.help("write it as a text, if the field takes one"));
            }
            Value::String(text) if self.is_typed => self.text(node, text),
            _ => {}
        }
    }

    fn key(&mut self, entry: &yaml::Entry) {
        let written = self.written(entry.key_span);
        if matches!(entry.key.as_str(), "true" | "false")
            && !written.starts_with(['"', '\''])
            && written != entry.key
        {
            let finding = Diagnostic::of(
                &KEY_CHANGED,
                format!(
                    "the bare key `{written}` becomes `{}`",
                    entry.key,
                    written = Quoted(written)
                ),
            );
            let fix = self.replaced(entry.key_span, format!("\"{written}\""));
            self.report.push(
                finding
                    .at(self.place(entry.key_span))
                    .help(format!("write `\"{written}\"`", written = Quoted(written)))
                    .fix(fix),
            );
        }
        if self.is_label() && !matches!(entry.value.value, Value::String(_)) {
            let message = format!(
                "label {} is not text, so clusterctl drops all labels of the object",
                entry.key
            );
            let finding = Diagnostic::of(&LABEL_NOT_TEXT, message).at(self.place(entry.value.span));
            let written = self.written(entry.value.span);
            let mut finding = finding.help(format!(
                "write `{}: \"{written}\"`",
                entry.key,
                written = Quoted(written)
            ));
            // Of what is neither a number nor a boolean, the intended text is unknown.
            let is_plain = matches!(entry.value.value, Value::Number(_) | Value::Bool(_))
                && !written.starts_with(['!', '&', '*']);
            finding.fix =
                is_plain.then(|| self.replaced(entry.value.span, format!("\"{written}\"")));
            self.report.push(finding);
        }
    }

    /// Whether the path is that of a label of the object.
    fn is_label(&self) -> bool {
        let [Segment::Field(metadata), Segment::Field(labels), _] = self.path.segments() else {
            return false;
        };
        metadata == "metadata" && labels == "labels"
    }

    /// A text that is nothing but a variable, in a field that takes only text.
    fn text(&mut self, node: &Node, text: &str) {
        let is_variable =
            text.starts_with("${") && text.ends_with('}') && !text[2..].contains("${");
        if !is_variable
            || !self.takes_only_text()
            || self.written(node.span).starts_with(['"', '\'', '|', '>'])
        {
            return;
        }
        let message = format!(
            "{} is a variable without quotes: the value `true` or `1` would be no text",
            self.path
        );
        let finding = Diagnostic::of(&VARIABLE_UNQUOTED, message).at(self.place(node.span));
        let finding = finding.note("clusterctl ends with an error on such a value");
        self.report.push(match quoted(text) {
            Some(quoted) => {
                let fix = self.replaced(node.span, quoted.clone());
                // The name of a variable is always shown, its default is a value.
                let (name, default) =
                    quoted.split_at(quoted.find([':', '=', '-', '}']).unwrap_or(quoted.len()));
                let finding = finding.help(format!("write `{name}{}`", Quoted(default)));
                if self.written(node.span) == text {
                    finding.fix(fix)
                } else {
                    finding
                }
            }
            None => finding.help("write it in quotes that its default does not have"),
        });
    }

    /// Arguments, values of the environment, labels and annotations.
    fn takes_only_text(&self) -> bool {
        let segments = self.path.segments();
        let field = |back: usize| match segments
            .len()
            .checked_sub(back)
            .and_then(|at| segments.get(at))
        {
            Some(Segment::Field(name)) => name.as_str(),
            _ => "",
        };
        matches!(
            field(2),
            "args" | "command" | "annotations" | "labels" | "matchLabels"
        ) || (field(1) == "value" && field(3) == "env")
    }

    fn replaced(&self, span: TextRange, with: String) -> Fix {
        let mut edits = Edits::of(self.source.text());
        edits.replace(span, with);
        edits.into()
    }

    fn written(&self, span: TextRange) -> &str {
        self.source.slice(span)
    }

    fn place(&self, span: TextRange) -> Place {
        self.source
            .place_at(span)
            .in_document(self.document)
            .at_path(self.path.clone())
    }
}

/// A variable in quotes, with the same value by its default. A default that is in quotes already,
/// as in `${NAME:=""}`, loses them: within quotes they would be a part of the value.
fn quoted(variable: &str) -> Option<String> {
    let mut text = variable.to_owned();
    for quote in ['"', '\''] {
        let Some((name, default)) = variable
            .strip_suffix(format!("{quote}}}").as_str())
            .and_then(|text| text.split_once(quote))
        else {
            continue;
        };
        if !name.ends_with(['=', '-']) || default.contains(['"', '\'', '\\']) {
            return None;
        }
        text = format!("{name}{default}}}");
    }
    let quote = ['"', '\'']
        .into_iter()
        .find(|quote| !text.contains(*quote) && (*quote == '\'' || !text.contains('\\')))?;
    Some(format!("{quote}{text}{quote}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str, expected: &[(&str, u32)]) {
        let source = Source::new("c.yaml", text);
        let report = check(
            &source,
            &yaml::parse(&source, &windlass_source::budget::Budget::default()).documents,
        );
        let found: Vec<_> = report
            .findings()
            .iter()
            .map(|f| (f.rule.id, f.place.span.unwrap().start.line))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn keys_labels_and_numbers_that_change_are_found() {
        check_text("a:\n  y: 1\n  \"n\": 2\n", &[("components-key-changed", 2)]);
        check_text(
            "a:\n  true: 3\n  off: 4\n",
            &[("components-key-changed", 3)],
        );
        check_text(
            "metadata:\n  labels:\n    a: b\n    c: 1\n",
            &[("components-label-not-text", 4)],
        );
        let inexact = [
            ("components-integer-inexact", 2),
            ("components-integer-inexact", 3),
        ];
        check_text(
            "a: 9007199254740992\nb: 9007199254740993\nc: -9007199254740993\n",
            &inexact,
        );
    }

    #[test]
    fn variables_need_quotes_where_only_text_is_allowed() {
        let text = "kind: Deployment\nspec:\n  replicas: ${N:=1}\n  env:\n  - value: ${A:=true}\n  - value: \"${A:=true}\"\n  args:\n  - ${B}\n  - --x=${B}\n";
        check_text(
            text,
            &[
                ("components-variable-unquoted", 5),
                ("components-variable-unquoted", 8),
            ],
        );
        check_text("kind: ConfigMap\nargs:\n- ${B}\n", &[]);
    }

    /// With the default, the value is the same before and after.
    #[test]
    fn defaults_in_quotes_lose_them_within_quotes() {
        for (variable, expected) in [
            ("${A}", Some("\"${A}\"")),
            ("${A:=x}", Some("\"${A:=x}\"")),
            ("${A:=\"\"}", Some("\"${A:=}\"")),
            ("${A:='x y'}", Some("\"${A:=x y}\"")),
            ("${A:=a\\b}", Some("'${A:=a\\b}'")),
            ("${A:=\"x\\ty\"}", None),
            ("${A:=\"'x'\"}", None),
            ("${A:=x\"y\"}", None),
            ("${A:=x'}", Some("\"${A:=x'}\"")),
        ] {
            assert_eq!(quoted(variable).as_deref(), expected, "{variable}");
        }
    }
}
