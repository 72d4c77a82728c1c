//! clusterctl's offline commands beside the real clusterctl: the same bytes on standard output, and the same exit code.

mod corpus;
mod random;
mod sides;

use crate::harness::random::Random;
use crate::harness::runner::Context;
use sides::compare;

/// Every template and ClusterClass of the corpus: `generate yaml` and `generate cluster --from`, with values, without, and as lists.
pub(crate) fn templates_of_the_corpus_are_equal(context: &Context) {
    let told = compare(context.folder(), corpus::templates(context.folder()));
    assert!(told.succeeded > 500 && told.refused > 100, "only {told:?}");
}

/// Every components file of the corpus: `generate provider`, also into a namespace, with other images, raw and described.
pub(crate) fn components_of_the_corpus_are_equal(context: &Context) {
    let told = compare(context.folder(), corpus::components(context.folder()));
    assert!(told.succeeded > 60, "only {told:?}");
}

/// Some hundred random templates, variables, configurations and repositories.
pub(crate) fn random_input_gives_the_same(context: &Context) {
    let mut random = Random::announced();
    let calls = (0..150).flat_map(|index| random::calls(&mut random, &context.folder().join(format!("case-{index}")))).collect();
    let told = compare(context.folder(), calls);
    assert!(told.succeeded > 60 && told.refused > 40, "only {told:?}");
}
