//! From the documents of a Cluster, its class and the templates to the objects that the topology
//! controller would create.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    reason = "criterion makes the functions, and a benchmark reads files"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use windlass_objects::Pool;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_topology::{Options, plan};

fn example() -> String {
    std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/topology/harbour.yaml"
    ))
    .expect("the example is there")
}

fn planning(criterion: &mut Criterion) {
    let source = [Source::new("harbour.yaml", example())];
    let (pool, _) = Pool::read(&source, &Budget::default());
    let options = Options::default();
    assert_eq!(
        plan(&pool, &options, &Budget::default()).objects.len(),
        7,
        "the example is planned"
    );
    criterion.bench_function("topology, the example from its objects", |bencher| {
        bencher.iter(|| plan(black_box(&pool), &options, &Budget::default()).objects);
    });
    criterion.bench_function("topology, the example from its text", |bencher| {
        bencher.iter(|| {
            plan(
                &Pool::read(black_box(&source), &Budget::default()).0,
                &options,
                &Budget::default(),
            )
            .objects
        });
    });
}

/// A hundred MachineDeployments, each with its templates patched.
fn many(criterion: &mut Criterion) {
    let example = example();
    let worker = "      - class: worker\n        name: gpu\n";
    let more: String = (0..99)
        .map(|at| format!("      - {{class: worker, name: md-{at}}}\n"))
        .collect();
    assert!(example.contains(worker));
    let source = [Source::new(
        "many.yaml",
        example.replacen(worker, &format!("{more}{worker}"), 1),
    )];
    let (pool, _) = Pool::read(&source, &Budget::default());
    assert_eq!(
        plan(&pool, &Options::default(), &Budget::default())
            .objects
            .len(),
        4 + 3 * 100
    );
    criterion.bench_function(
        "topology, a hundred MachineDeployments from their objects",
        |bencher| {
            bencher
                .iter(|| plan(black_box(&pool), &Options::default(), &Budget::default()).objects);
        },
    );
}

criterion_group!(benches, planning, many);
criterion_main!(benches);
