//! Hover: the rules under a diagnostic, variables, and fields.

use std::ops::Range;

use serde_json::Value;

use super::cursor::{Document, Spot};
use super::objects::objects;
use super::schemas::{Field, schema};
use super::variables::{defined, named_at, used_at};
use windlass_checks::commands::vars;
use windlass_objects::secrets::is_secret_variable;
use windlass_report::Sources;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Diagnostic;

/// The maximum number of uses of a variable that are listed.
const MOST_USES: usize = 20;

/// Markdown about a word of a text, and the bytes of the word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) markdown: String,
    pub(super) range: Range<usize>,
}

/// A text with the files beside it. Secrets of the text are not shown.
pub(super) struct Subject<'a> {
    pub(super) source: &'a Source,
    /// The files of its folder, itself among them.
    pub(super) sources: &'a [Source],
    pub(super) budget: &'a Budget,
}

/// The pages of the rules of findings, which have no secrets, with the upstream messages.
pub(super) fn of_findings<'f>(findings: impl Iterator<Item = &'f Diagnostic>) -> Vec<String> {
    let mut pages: Vec<String> = Vec::new();
    for finding in findings {
        let mut page = crate::rules::page(finding.rule);
        if let Some(upstream) = &finding.upstream {
            page.push_str(&format!(
                "\nUpstream message:\n\n```text\n{}\n```\n",
                upstream.trim_end()
            ));
        }
        if !pages.contains(&page) {
            pages.push(page);
        }
    }
    pages
}

impl Subject<'_> {
    /// Describes the variable or the field at a byte.
    pub(super) fn at(&self, offset: usize) -> Option<Shown> {
        let text = self.source.text();
        let shown = self.clusterctl_variable(offset).or_else(|| {
            let document = Document::at(text, offset, self.budget)?;
            let spot = document.spot(offset)?;
            self.class_variable(&document, &spot, offset)
                .or_else(|| self.field(&document, &spot))
        })?;
        let secrets: Sources = self.sources.iter().cloned().collect();
        Some(Shown {
            markdown: secrets.words().removed_from(&shown.markdown),
            ..shown
        })
    }

    fn clusterctl_variable(&self, offset: usize) -> Option<Shown> {
        let (name, range) = used_at(self.source.text(), offset)?;
        let (own, _) = vars::list(std::slice::from_ref(self.source));
        let variable = own.into_iter().find(|variable| variable.name == name)?;
        let mut lines = vec![format!("`{name}`: variable of clusterctl")];
        lines.push(match &variable.default {
            _ if variable.set_by_generate_cluster => {
                "Set by `clusterctl generate cluster`.".to_owned()
            }
            Some(_) if is_secret_variable(&name) => "Its default is hidden.".to_owned(),
            Some(default) if variable.required => {
                format!("Default: {}; required at uses without one.", code(default))
            }
            Some(default) => format!("Default: {}.", code(default)),
            None if variable.nested => {
                "Used in defaults only: clusterctl neither lists nor requires it.".to_owned()
            }
            None => "Required: it has no default.".to_owned(),
        });
        lines.push(self.uses(&name));
        Some(Shown {
            markdown: lines.join("\n\n"),
            range,
        })
    }

    /// The uses of a clusterctl variable, those of this text first.
    fn uses(&self, name: &str) -> String {
        let others = self
            .sources
            .iter()
            .filter(|other| other.name() != self.source.name());
        let mut lines = Vec::new();
        for source in std::iter::once(self.source).chain(others) {
            for (range, _) in super::variables::uses(source, name) {
                let line = source.position(range.start).line;
                lines.push(match source.name() == self.source.name() {
                    true => format!("- line {line}"),
                    false => format!("- {} line {line}", source.file_name()),
                });
            }
        }
        let more = lines.len().saturating_sub(MOST_USES);
        lines.truncate(MOST_USES);
        if more > 0 {
            lines.push(format!("- and {more} more"));
        }
        format!("Used at:\n\n{}", lines.join("\n"))
    }

    fn class_variable(&self, document: &Document, spot: &Spot, offset: usize) -> Option<Shown> {
        let named = named_at(document, spot, offset, self.source.text())?;
        let variable = defined(&named, self.sources, self.budget)?.variable;
        let required = if variable.required { ", required" } else { "" };
        let mut lines = vec![format!(
            "`{}`: {}{required}; variable of ClusterClass `{}`",
            variable.name, variable.kind, named.class
        )];
        let keyword = |name: &str| variable.schema.get(name);
        lines.extend(
            keyword("description")
                .and_then(Value::as_str)
                .map(str::to_owned),
        );
        if let Some(default) = &variable.default {
            lines.push(match is_secret_variable(&variable.name) {
                true => "Its default is hidden.".to_owned(),
                false => format!("Default: {}.", code(&default.to_string())),
            });
        }
        let values = keyword("enum").and_then(Value::as_array);
        if let Some(values) = values {
            let values: Vec<String> = values
                .iter()
                .map(|value| code(&value.to_string()))
                .collect();
            lines.push(format!("One of {}.", values.join(", ")));
        }
        let uses = variable.uses.iter().map(|used| {
            let what = used
                .path
                .as_ref()
                .map_or_else(|| "`enabledIf`".to_owned(), |path| code(path));
            let line = used
                .line
                .map_or_else(String::new, |line| format!(", line {line}"));
            format!("- {}: {what}{line}", code(&used.patch))
        });
        let uses: Vec<String> = uses.take(MOST_USES).collect();
        lines.push(match uses.is_empty() {
            true => "No inline patch uses it.".to_owned(),
            false => format!("Patches that use it:\n\n{}", uses.join("\n")),
        });
        Some(Shown {
            markdown: lines.join("\n\n"),
            range: spot.range.clone(),
        })
    }

    fn field(&self, document: &Document, spot: &Spot) -> Option<Shown> {
        let definitions: Vec<_> = self
            .sources
            .iter()
            .filter(|source| source.text().contains("openAPIV3Schema"))
            .flat_map(|source| objects(source, self.budget))
            .collect();
        let schema = schema(
            document.text("apiVersion"),
            document.text("kind"),
            &definitions,
        )?;
        let field = Field::root(&schema).at(&spot.path)?;
        Some(Shown {
            markdown: described(&spot.path.to_string(), field),
            range: spot.range.clone(),
        })
    }
}

/// A field as hover and completion show it.
pub(super) fn described(name: &str, field: Field<'_>) -> String {
    let words = field.type_name();
    let required = if field.is_required { ", required" } else { "" };
    let mut lines = vec![match words.is_empty() {
        true => format!("`{name}`{required}"),
        false => format!("`{name}`: {words}{required}"),
    }];
    lines.extend(field.description().map(str::to_owned));
    if let Some(default) = field.default() {
        let default = match default {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        lines.push(format!("Default: {}.", code(&default)));
    }
    let values: Vec<String> = field
        .values()
        .iter()
        .map(|(value, _)| code(value))
        .collect();
    if !values.is_empty() && words != "boolean" {
        lines.push(format!("One of {}.", values.join(", ")));
    }
    lines.join("\n\n")
}

/// Text between the backticks of Markdown, as many as it needs.
fn code(text: &str) -> String {
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!(
        "{fence}{space}{}{space}{fence}",
        text.replace(['\n', '\r'], " ")
    )
}
