//! Components as clusterctl would read them: variables replaced by their defaults, and by a sample where they have none.

use crate::diag::Report;
use crate::objects::substituted::samples;
use crate::render::Origins;
use crate::text::budget::Budget;
use crate::text::envsubst;
use crate::text::source::Source;

/// The text with its variables replaced; `None` when they cannot be, which the report tells. Findings about the text go through the origins,
/// so that they stand in the file as it is written.
pub(super) fn sampled(source: &Source, budget: &Budget) -> (Option<Source>, Origins, Report) {
    // What cannot be read is told when the variables are replaced.
    let samples = envsubst::parse(source.text()).map(|template| samples(&template));
    let sample = |name: &str| samples.as_ref().ok().and_then(|samples| samples(name));
    let (texts, origins, report) = Origins::substitute(vec![source.clone()], &sample, budget);
    (texts.into_iter().next(), origins, report)
}
