//! The gate over our own release, in memory: what a pipeline waits for beside reading files.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    reason = "criterion makes the functions, and a benchmark reads files"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use windlass_checks::commands::lint::{self, Request};
use windlass_source::Source;
use windlass_source::budget::Budget;

fn release(criterion: &mut Criterion) {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/releases/bootstrap-windlass/v0.2.0"
    );
    let files = [
        "bootstrap-components.yaml",
        "metadata.yaml",
        "cluster-template.yaml",
    ];
    let read = |file: &str| {
        Some(Source::new(
            file,
            std::fs::read_to_string(format!("{folder}/{file}")).ok()?,
        ))
    };
    let sources: Vec<Source> = files.into_iter().filter_map(read).collect();
    criterion.bench_function("lint, our own release", |bencher| {
        bencher.iter(|| {
            lint::run(&Request {
                sources: &sources,
                charts: &windlass_checks::charts::Charts::new(),
                form: None,
                contract: None,
                roles: &Default::default(),
                budget: &Budget::default(),
            })
            .report
        });
    });
}

criterion_group!(benches, release);
criterion_main!(benches);
