//! Components as clusterctl would read them: variables replaced by their defaults, and by a sample where they have none.

use std::collections::BTreeSet;

use crate::diag::Report;
use crate::emit::templates::SAMPLE;
use crate::render::Origins;
use crate::text::envsubst;
use crate::text::source::Source;

/// The text with its variables replaced; `None` when they cannot be, which the report tells. Findings about the text go through the origins,
/// so that they stand in the file as it is written.
pub(super) fn sampled(source: &Source) -> (Option<Source>, Origins, Report) {
    let required: BTreeSet<String> = match envsubst::parse(source.text()) {
        Ok(template) => template.variables().into_iter().filter(|(_, default)| default.is_none()).map(|(name, _)| name).collect(),
        Err(_) => BTreeSet::new(),
    };
    let sample = |name: &str| required.contains(name).then(|| SAMPLE.to_owned());
    let (texts, origins, report) = Origins::substitute(vec![source.clone()], &sample);
    (texts.into_iter().next(), origins, report)
}
