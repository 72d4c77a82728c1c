//! Code actions: fixes, insertions, waivers, and the migration of a document.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::objects::masked;
use windlass_capi::api::names::Version;
use windlass_checks::commands::migrate::{self, DocumentId, Wanted};
use windlass_checks::fix;
use windlass_go_yaml::yaml;
use windlass_report::text::{Changed, plural, visible};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Change, Diagnostic, Report};
use windlass_source::edit::Edits;

/// The maximum number of fixes that are tried by themselves for one request: for each the file is
/// checked again.
const MOST_FIXES: usize = 8;

/// The longest title, in characters.
const LONGEST_TITLE: usize = 100;

/// A change of a text that the client can offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) title: String,
    pub(super) kind: Kind,
    /// The findings that it is for, by their numbers.
    pub(super) findings: Vec<usize>,
    pub(super) changes: Vec<Change>,
}

/// The kinds of actions: clients show each kind in a menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The fix of a finding.
    Fix,
    /// A change that helps with a finding and leaves a step to the user.
    Step,
    /// All fixes of a text.
    FixAll,
    /// A rewrite without a finding.
    Rewrite,
}

/// Checks a text in place of the one that was read.
pub(super) type Check<'a> = &'a dyn Fn(&Source) -> Report;

/// A text with its findings.
pub(super) struct Subject<'a> {
    pub(super) source: &'a Source,
    pub(super) findings: &'a [Diagnostic],
    /// The findings as they are shown, without secrets.
    pub(super) shown: &'a [Diagnostic],
    pub(super) check: Check<'a>,
    pub(super) budget: &'a Arc<Budget>,
}

impl Subject<'_> {
    /// The actions for some findings of the text.
    pub(super) fn of_findings(&self, numbers: &[usize]) -> Vec<Action> {
        let mut actions: Vec<Action> = Vec::new();
        let with_fix = numbers
            .iter()
            .filter(|number| self.findings[**number].fix.is_some());
        actions.extend(
            with_fix
                .take(MOST_FIXES)
                .filter_map(|number| self.fix(*number)),
        );
        actions.extend(numbers.iter().filter_map(|number| self.insertion(*number)));
        actions.extend(self.waivers(numbers));
        actions
    }

    /// The fix of a finding, unless the text would not be sound with it.
    fn fix(&self, number: usize) -> Option<Action> {
        let changed = self.fixed(&[number])?;
        let help = self.shown[number].help.as_ref().map(ToString::to_string);
        let what = help.unwrap_or_else(|| self.findings[number].rule.id.to_owned());
        Some(Action {
            title: title(&format!("Fix: {what}")),
            kind: Kind::Fix,
            findings: vec![number],
            changes: changes(&changed),
        })
    }

    /// All fixes of the text in one.
    pub(super) fn fix_all(&self) -> Option<Action> {
        let with_fix: Vec<usize> = (0..self.findings.len())
            .filter(|number| self.findings[*number].fix.is_some())
            .collect();
        let changed = self.fixed(&with_fix)?;
        Some(Action {
            title: format!("Fix {}", plural(with_fix.len(), "finding")),
            kind: Kind::FixAll,
            findings: with_fix,
            changes: changes(&changed),
        })
    }

    /// The text with the fixes of some findings; `None` when all of them are left out.
    fn fixed(&self, numbers: &[usize]) -> Option<Changed> {
        let wanted: Report = numbers
            .iter()
            .map(|number| self.findings[*number].clone())
            .collect();
        let found: Report = self.findings.iter().cloned().collect();
        let check =
            |sources: &[Source]| -> Report { sources.iter().flat_map(self.check).collect() };
        let fixed = fix::run(vec![self.source.clone()], found, &wanted, &check);
        fixed.changed.into_iter().next()
    }

    /// The lines that a finding would have added.
    fn insertion(&self, number: usize) -> Option<Action> {
        let finding = &self.findings[number];
        let insertion = finding
            .insertion
            .as_ref()
            .filter(|_| finding.fix.is_none())?;
        let shown = self.shown[number].insertion.as_ref()?;
        let first = shown.lines.first()?.trim();
        let more = match shown.lines.len() - 1 {
            0 => String::new(),
            more => format!(" and {}", plural(more, "more line")),
        };
        let at = match insertion.after_line {
            0 => 0,
            line => next_line(self.source, line)?,
        };
        let mut edits = Edits::of(self.source.text());
        let line_end = edits.line_end_of_text();
        let is_open = at > 0 && !self.source.slice(0..at).ends_with('\n');
        let mut lines = if is_open {
            line_end.to_owned()
        } else {
            String::new()
        };
        for line in &insertion.lines {
            lines.push_str(line);
            lines.push_str(line_end);
        }
        edits.replace(at..at, lines);
        Some(Action {
            title: title(&format!("Insert `{first}`{more}")),
            kind: Kind::Step,
            findings: vec![number],
            changes: windlass_source::diag::Fix::from(edits).changes,
        })
    }

    /// Comments that waive findings once the user adds the reason: without a reason they have no
    /// effect. JSON has no comments, nor has the text of a block.
    fn waivers(&self, numbers: &[usize]) -> Vec<Action> {
        let name = self.source.name();
        if name.ends_with(".json") || name.ends_with(".toml") {
            return Vec::new();
        }
        let mut waived = BTreeSet::new();
        let lines: Vec<(usize, Range<usize>)> = numbers
            .iter()
            .filter_map(|number| {
                let finding = &self.findings[*number];
                let line = finding.place.span?.start.line;
                let is_new = !is_of_waivers(finding) && waived.insert((finding.rule.id, line));
                let range = is_new.then(|| self.source.line_range(line)).flatten()?;
                Some((*number, range))
            })
            .collect();
        let mut starts: Vec<usize> = lines.iter().map(|(_, range)| range.start).collect();
        starts.sort_unstable();
        let in_scalar = yaml::in_scalars(self.source.text(), &starts, self.budget);
        let is_outside = |start: usize| {
            let at = starts.partition_point(|other| *other < start);
            in_scalar.get(at) == Some(&false)
        };
        lines
            .into_iter()
            .filter(|(_, range)| is_outside(range.start))
            .filter_map(|(number, range)| self.waiver(number, range))
            .collect()
    }

    fn waiver(&self, number: usize, line: Range<usize>) -> Option<Action> {
        let text = self.source.slice(line.clone());
        let lead = &text[..text.len() - text.trim_start().len()];
        if lead.contains('\t') {
            return None;
        }
        let line_end = Edits::of(self.source.text()).line_end_of_text();
        let rule = self.findings[number].rule.id;
        Some(Action {
            title: format!("Waive {rule} here; add the reason"),
            kind: Kind::Step,
            findings: vec![number],
            changes: vec![Change {
                range: line.start..line.start,
                with: format!("{lead}# windlass: ignore[{rule}] because {line_end}"),
            }],
        })
    }

    /// The document around a byte in v1beta2, when it is in v1beta1 and can be migrated.
    pub(super) fn migration(&self, offset: usize) -> Option<Action> {
        let text = masked(self.source);
        let documents = yaml::parse(&text, self.budget).documents;
        let around = documents
            .iter()
            .find(|document| document.range.start() <= offset && offset <= document.range.end())?;
        if !self.source.slice(around.range).contains("/v1beta1") {
            return None;
        }
        let held: BTreeSet<DocumentId> = documents
            .iter()
            .filter(|document| document.index != around.index)
            .map(|document| DocumentId {
                file: 0,
                document: document.index,
            })
            .collect();
        let wanted = Wanted {
            version: Some(Version::V1Beta2),
            family: None,
        };
        let sources = std::slice::from_ref(self.source);
        let migration = migrate::run(sources, &wanted, &held, self.budget);
        let changed = migration.changed.first()?;
        let losses = migration.report.findings().iter().filter(|finding| {
            finding.place.document == Some(around.index) && finding.rule.id.starts_with("migrate-")
        });
        let losses = match losses.count() {
            0 => String::new(),
            losses => format!("; see {} of `windlass migrate`", plural(losses, "finding")),
        };
        Some(Action {
            title: format!("Migrate this document to v1beta2{losses}"),
            kind: Kind::Rewrite,
            findings: Vec::new(),
            changes: changes(changed),
        })
    }
}

/// Whether a finding is about a waiver, which no waiver speaks of.
fn is_of_waivers(finding: &Diagnostic) -> bool {
    finding.rule.id.starts_with("waiver-")
}

/// The byte at which the line behind one begins; the end of the text behind the last one.
fn next_line(source: &Source, line: u32) -> Option<usize> {
    let range = source.line_range(line)?;
    Some(
        source
            .line_range(line + 1)
            .map_or(source.text().len(), |next| next.start)
            .max(range.end),
    )
}

/// The lines that change, without those at their begin and end that stay.
fn changes(changed: &Changed) -> Vec<Change> {
    let change = |(range, with): &(std::ops::Range<usize>, String)| Change {
        range: range.clone(),
        with: with.clone(),
    };
    changed.lines.iter().map(change).collect()
}

/// A title of one line.
fn title(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = visible(line);
    match line.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into_owned(),
    }
}
