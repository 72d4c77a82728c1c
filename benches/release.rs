//! `release build` of our own provider, in memory: what a pipeline waits for, without process start
//! and disk.
#![allow(missing_docs, reason = "criterion makes the functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use windlass::builtin::builtin;
use windlass_release::commands::release_build::{self, Order, version};

fn release(criterion: &mut Criterion) {
    let version = version("v0.1.0").expect("semantic");
    criterion.bench_function("release build, builtin provider", |bencher| {
        bencher.iter(|| {
            let (providers, inputs, report) = builtin();
            release_build::run(&providers, report, &inputs, Order::of(&version))
        });
    });
}

criterion_group!(benches, release);
criterion_main!(benches);
