//! Documents of foreign bytes to the objects of topologies: nothing panics, a rejection says why, and what is planned can be planned again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_bootstrap::render::Request;
use windlass_debugging::commands::render::{Selection, run, with_topologies};
use windlass_objects::Pool;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_topology::{Options, Planned, plan};

fuzz_target!(|input: (bool, bool, &str)| {
    let (allows_external, skips_admission, text) = input;
    let read = || Pool::read(&[Source::new("input", text)], &Budget::default()).0;
    let options = |records| Options {
        allows_external,
        skips_admission,
        records,
        ..Options::default()
    };
    // What is recorded for `why` changes nothing.
    let (first, again) = (
        plan(&read(), &options(false), &Budget::default()),
        plan(&read(), &options(true), &Budget::default()),
    );
    assert!(
        !first.objects.is_empty() || first.report.has_errors(),
        "a rejection says why"
    );
    let made = |planned: &Planned| {
        planned
            .objects
            .iter()
            .map(|made| (made.part_of.clone(), made.object.clone()))
            .collect::<Vec<_>>()
    };
    assert!(
        made(&first) == made(&again),
        "the same input gives the same objects"
    );
    let (pool, topologies) = with_topologies(read(), allows_external, &Budget::default());
    drop(run(
        &pool,
        &topologies,
        &Request::default(),
        &Selection::All,
    ));
});
