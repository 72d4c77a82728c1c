//! A template of clusterctl with its variables replaced, and the way back: findings about the text
//! stand at their places in the template.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::opaque_block::blocks_of;
use windlass_envsubst::{self as envsubst, OffsetMap, SubstError, Template};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Fix, Place, Report};

/// What stands for a variable without a default while a template is checked. It reads as a number
/// and as a name.
pub const SAMPLE: &str = "1";

/// A sample for each variable of a template that has no default; nothing for a block, whose content
/// is unknown.
pub(crate) fn samples(
    text: &str,
    template: &Template<'_>,
) -> impl Fn(&str) -> Option<String> + use<> {
    let required = template
        .variables()
        .into_iter()
        .filter(|(_, default)| default.is_none());
    let required: BTreeSet<String> = required.map(|(name, _)| name).collect();
    let blocks = blocks_of(text, template);
    let blocks: BTreeSet<String> = blocks.into_iter().map(|block| block.name).collect();
    move |name| {
        let sample = if blocks.contains(name) { "" } else { SAMPLE };
        required.contains(name).then(|| sample.to_owned())
    }
}

/// The places of a template at which a variable without a default is used: only the user of the
/// template knows what the text is there.
#[derive(Debug, Clone, Default)]
pub struct OpenUses {
    file: Option<Arc<str>>,
    /// In order; none overlaps another.
    spans: Vec<Range<usize>>,
}

impl OpenUses {
    /// The places of a template; none where its variables cannot be read.
    pub fn of(source: &Source) -> Self {
        let Ok(template) = envsubst::parse(source.text()) else {
            return OpenUses::default();
        };
        let variables = template.variables();
        let is_open = |name: &str| variables.get(name).is_some_and(Option::is_none);
        let uses = template.uses();
        let mut spans: Vec<Range<usize>> = Vec::new();
        for used in uses.into_iter().filter(|used| is_open(used.name)) {
            let end = spans.last().map_or(0, |last| last.end);
            if used.span.start >= end {
                spans.push(used.span);
            }
        }
        OpenUses {
            file: Some(source.name().clone()),
            spans,
        }
    }

    /// Whether a finding is about a value in which such a variable is used. A mapping or a list
    /// that contains one is known apart from that.
    pub fn decide(&self, source: &Source, finding: &Diagnostic) -> bool {
        let Some(span) = finding
            .place
            .span
            .filter(|_| finding.place.file == self.file)
        else {
            return false;
        };
        let range = span.start.offset..span.end.offset.max(span.start.offset + 1);
        let written = source.slice(span.start.offset..span.end.offset);
        let is_scalar = !written.contains('\n') && !written.starts_with(['{', '[']);
        let next = self.spans.partition_point(|used| used.end <= range.start);
        is_scalar
            && self
                .spans
                .get(next)
                .is_some_and(|used| used.start < range.end)
    }
}

/// A template and its text with the variables replaced.
#[derive(Debug, Clone)]
pub struct Substituted {
    template: Source,
    text: Source,
    map: OffsetMap,
}

impl Substituted {
    /// A template and its text after substitution; `map` leads from the text to the template.
    pub fn new(template: Source, text: &str, map: OffsetMap) -> Self {
        Substituted {
            text: Source::new(template.name().clone(), text),
            template,
            map,
        }
    }

    /// A template whose variables are replaced by their defaults or by samples.
    ///
    /// # Errors
    /// When clusterctl cannot read or replace them.
    pub fn sampled(template: &Source, budget: &Budget) -> Result<Self, SubstError> {
        let parsed = envsubst::parse(template.text())?;
        let done = parsed.expand(samples(template.text(), &parsed), budget)?;
        // A variable may cut a character in two; else the bytes are a text already, which is known
        // quickly.
        let text = String::from_utf8(done.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(Substituted::new(template.clone(), &text, done.map))
    }

    /// The findings about the template without those that a variable without a default decides.
    pub fn known(&self, report: Report) -> Report {
        let open = OpenUses::of(&self.template);
        let found = report.into_findings().into_iter();
        found
            .filter(|finding| !open.decide(&self.template, finding))
            .collect()
    }

    /// The text, under the name of the template.
    pub fn text(&self) -> &Source {
        &self.text
    }

    /// What is in the template at a place in the text.
    pub fn written(&self, place: &Place) -> &str {
        place.span.map_or("", |span| {
            self.template.slice(
                self.map
                    .to_template_range(span.start.offset..span.end.offset),
            )
        })
    }

    /// Findings about the text, at their places in the template.
    pub fn restore(&self, report: Report) -> Report {
        report
            .into_findings()
            .into_iter()
            .map(|finding| self.restored(finding))
            .collect()
    }

    /// A finding with its places of this text in the template.
    pub fn restored(&self, mut finding: Diagnostic) -> Diagnostic {
        self.move_place(&mut finding.place);
        finding
            .related
            .iter_mut()
            .for_each(|related| self.move_place(&mut related.place));
        if finding.place.file.as_deref() == Some(self.text.name().as_ref()) {
            finding.fix = finding.fix.and_then(|fix| self.moved(fix));
        }
        finding
    }

    /// A fix of the template; `None` where it would touch what a variable stands for.
    fn moved(&self, mut fix: Fix) -> Option<Fix> {
        for change in &mut fix.changes {
            let range = self.map.to_template_range(change.range.clone());
            if self.template.slice(range.clone()) != self.text.slice(change.range.clone()) {
                return None;
            }
            change.range = range;
        }
        Some(fix)
    }

    /// A place in this text, in the template.
    pub fn restored_place(&self, place: &Place) -> Place {
        let mut place = place.clone();
        self.move_place(&mut place);
        place
    }

    fn move_place(&self, place: &mut Place) {
        if place.file.as_deref() != Some(self.text.name().as_ref()) {
            return;
        }
        if let Some(span) = &mut place.span {
            *span = self.template.span(
                self.map
                    .to_template_range(span.start.offset..span.end.offset),
            );
        }
    }
}
