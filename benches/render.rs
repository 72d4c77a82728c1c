//! A worker's bootstrap data: the whole path from the text of its documents, and encoding alone.
//!
//! The inputs are an example, the vector of a worker whose data is nearest to 3 KB, and the vector
//! with the largest data.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark reads files and may fail loudly"
)]

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::Value;
use windlass_bootstrap::render::write::cloud_config::encode;
use windlass_bootstrap::render::write::ignition::v3;
use windlass_bootstrap::render::{self, Encoder, FeatureGates, Notes, Pool, Request};
use windlass_source::Source;
use windlass_source::budget::Budget;

const WORKER: &str = include_str!("../examples/worker.yaml");

/// The size of an ordinary worker's data.
const ORDINARY: u64 = 3_000;

/// The texts to render, by name.
fn inputs() -> Vec<(String, String)> {
    let mut inputs = vec![("example".to_owned(), WORKER.to_owned())];
    let vectors = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/render"));
    let index = std::fs::read(vectors.join("index.json")).unwrap();
    let index: Value = serde_json::from_slice(&index).unwrap();
    let cases = index["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["expected"] == "expected.cloud-config");
    let bytes = |case: &&Value| case["bytes"].as_u64().unwrap();
    let ordinary = cases
        .clone()
        .filter(|case| case["name"].as_str().unwrap().ends_with("-worker"))
        .min_by_key(|case| bytes(case).abs_diff(ORDINARY));
    for case in [ordinary, cases.max_by_key(bytes)].into_iter().flatten() {
        let (name, bytes) = (case["name"].as_str().unwrap(), bytes(&case));
        let text = std::fs::read_to_string(vectors.join(name).join("input.yaml")).unwrap();
        inputs.push((format!("{name} ({bytes} bytes)"), text));
    }
    inputs
}

fn machines(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("render");
    let request = Request::new();
    for (name, text) in inputs() {
        let source = Source::new("input.yaml", text);
        group.bench_function(format!("{name}, whole path"), |bench| {
            bench.iter(|| {
                let (pool, _) =
                    Pool::read(std::slice::from_ref(black_box(&source)), &Budget::default());
                let targets = render::targets(&pool);
                render::render(&pool, &targets[0], &request, &mut Notes::default())
                    .rendered()
                    .unwrap()
            });
        });
        let (pool, _) = Pool::read(std::slice::from_ref(&source), &Budget::default());
        group.bench_function(format!("{name}, from objects"), |bench| {
            bench.iter(|| {
                render::render(
                    black_box(&pool),
                    &render::targets(&pool)[0],
                    &request,
                    &mut Notes::default(),
                )
                .rendered()
                .unwrap()
            });
        });
        let rendered = render::render(
            &pool,
            &render::targets(&pool)[0],
            &request,
            &mut Notes::default(),
        )
        .rendered()
        .unwrap();
        for encoder in Encoder::ALL {
            group.bench_function(format!("{name}, encoding {encoder}"), |bench| {
                bench.iter(|| encode(black_box(&rendered.plan), encoder))
            });
        }
        if v3::encode(&rendered.plan, None, &rendered.spec_path).is_ok() {
            group.bench_function(format!("{name}, encoding Ignition 3.4"), |bench| {
                bench.iter(|| v3::encode(black_box(&rendered.plan), None, &rendered.spec_path))
            });
        }
    }
    let source = Source::new(
        "worker.yaml",
        WORKER.replace("spec:\n", "spec:\n  format: ignition\n"),
    );
    let (pool, _) = Pool::read(std::slice::from_ref(&source), &Budget::default());
    let request = Request {
        feature_gates: FeatureGates {
            ignition: true,
            ..FeatureGates::default()
        },
        ..Request::new()
    };
    let targets = render::targets(&pool);
    assert!(
        render::render(&pool, &targets[0], &request, &mut Notes::default())
            .rendered()
            .is_some()
    );
    group.bench_function("worker, Ignition 2.3 from its objects", |bench| {
        bench.iter(|| {
            render::render(
                &pool,
                black_box(&targets[0]),
                &request,
                &mut Notes::default(),
            )
        });
    });
    group.finish();
}

criterion_group!(benches, machines);
criterion_main!(benches);
