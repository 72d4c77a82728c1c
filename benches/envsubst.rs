//! Substitution of a components file of 1.5 MB with ten thousand escapes, on which the reference is
//! quadratic.
#![allow(clippy::unwrap_used, reason = "a benchmark may fail loudly")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use windlass_envsubst as envsubst;
use windlass_source::budget::Budget;

/// Lines as CRD descriptions have them; the numbers of escapes and references are those asked for.
fn template(size: usize, escapes: usize, references: usize) -> String {
    let lines = size / 75;
    let mut text = String::with_capacity(size + 64);
    for line in 0..lines {
        text.push_str(
            "                description: a line of prose about a field, as long as most",
        );
        let due = |count: usize| (line + 1) * count / lines > line * count / lines;
        text.push_str(if due(escapes) { " $$(VAR)" } else { "" });
        text.push_str(if due(references) {
            " ${REPLICAS:=1}"
        } else {
            ""
        });
        text.push('\n');
    }
    text
}

fn substitution(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("envsubst");
    for (name, size, escapes) in [
        ("1.5 MB, 10k escapes", 1_500_000, 10_000),
        ("3 MB, 20k escapes", 3_000_000, 20_000),
        ("1.5 MB plain", 1_500_000, 0),
    ] {
        let text = template(size, escapes, 200);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bench| {
            bench.iter(|| {
                envsubst::parse(black_box(&text))
                    .unwrap()
                    .substitute(|_| None::<String>, &Budget::default())
                    .unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, substitution);
criterion_main!(benches);
