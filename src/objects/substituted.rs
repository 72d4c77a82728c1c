//! A template of clusterctl with its variables replaced, and the way back: findings about the text
//! stand at their places in the template.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, Fix, Place, Report};
use crate::text::budget::Budget;
use crate::text::envsubst::{self, OffsetMap, SubstError, Template};
use crate::text::source::Source;

/// What stands for a variable without a default while a template is judged. It reads as a number
/// and as a name.
pub(crate) const SAMPLE: &str = "1";

/// A sample for each variable of a template that has no default.
pub(crate) fn samples(template: &Template) -> impl Fn(&str) -> Option<String> + use<> {
    let required = template
        .variables()
        .into_iter()
        .filter(|(_, default)| default.is_none());
    let required: BTreeSet<String> = required.map(|(name, _)| name).collect();
    move |name| required.contains(name).then(|| SAMPLE.to_owned())
}

/// A template and its text with the variables replaced.
#[derive(Debug, Clone)]
pub(crate) struct Substituted {
    template: Source,
    text: Source,
    map: OffsetMap,
}

impl Substituted {
    pub(crate) fn new(template: Source, text: &str, map: OffsetMap) -> Self {
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
    pub(crate) fn sampled(template: &Source, budget: &Budget) -> Result<Self, SubstError> {
        let parsed = envsubst::parse(template.text())?;
        let done = parsed.expand(samples(&parsed), budget)?;
        // A variable may cut a character in two; else the bytes are a text already, which is known
        // quickly.
        let text = String::from_utf8(done.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(Substituted::new(template.clone(), &text, done.map))
    }

    /// The text, under the name of the template.
    pub(crate) fn text(&self) -> &Source {
        &self.text
    }

    /// What stands in the template at a place in the text.
    pub(crate) fn written(&self, place: &Place) -> &str {
        place.span.map_or("", |span| {
            self.template.slice(
                self.map
                    .to_template_range(span.start.offset..span.end.offset),
            )
        })
    }

    /// Findings about the text, at their places in the template.
    pub(crate) fn restore(&self, report: Report) -> Report {
        report
            .into_findings()
            .into_iter()
            .map(|finding| self.restored(finding))
            .collect()
    }

    /// A finding with its places of this text in the template.
    pub(crate) fn restored(&self, mut finding: Diagnostic) -> Diagnostic {
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
