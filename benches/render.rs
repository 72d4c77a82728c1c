//! A worker's bootstrap data: the whole path from the text of its documents, and encoding alone.
#![allow(clippy::unwrap_used, reason = "a benchmark may fail loudly")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use windlass::render::cloud_config::{Encoder, encode};
use windlass::render::ignition::v3;
use windlass::render::{self, FeatureGates, Notes, Pool, Request};
use windlass::text::source::Source;

const WORKER: &str = include_str!("../examples/worker.yaml");

fn worker(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("render");
    let request = Request::new();
    let source = Source::new("worker.yaml", WORKER);
    group.bench_function("worker, whole path", |bench| {
        bench.iter(|| {
            let (pool, _) = Pool::read(std::slice::from_ref(black_box(&source)));
            let targets = render::targets(&pool);
            render::render(&pool, &targets[0], &request, &mut Notes::default()).unwrap()
        });
    });
    let (pool, _) = Pool::read(std::slice::from_ref(&source));
    let rendered = render::render(&pool, &render::targets(&pool)[0], &request, &mut Notes::default()).unwrap();
    for encoder in Encoder::ALL {
        group.bench_function(format!("worker, encoding {encoder}"), |bench| bench.iter(|| encode(black_box(&rendered.plan), encoder)));
    }
    let ignition = v3::encode(black_box(&rendered.plan), None, &rendered.spec_path);
    assert!(ignition.is_ok());
    group.bench_function("worker, encoding Ignition 3.4", |bench| {
        bench.iter(|| v3::encode(black_box(&rendered.plan), None, &rendered.spec_path))
    });
    let source = Source::new("worker.yaml", WORKER.replace("spec:\n", "spec:\n  format: ignition\n"));
    let (pool, _) = Pool::read(std::slice::from_ref(&source));
    let request = Request { feature_gates: FeatureGates { ignition: true, machine_pool: true }, ..Request::new() };
    let targets = render::targets(&pool);
    assert!(render::render(&pool, &targets[0], &request, &mut Notes::default()).is_some());
    group.bench_function("worker, Ignition 2.3 from its objects", |bench| {
        bench.iter(|| render::render(&pool, black_box(&targets[0]), &request, &mut Notes::default()));
    });
    group.finish();
}

criterion_group!(benches, worker);
criterion_main!(benches);
