//! What the verbs that speak of nodes take beside `render`, from the text of the example of a
//! control plane: each does what `render` does and its own work.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a benchmark may fail loudly, and criterion makes the functions"
)]

use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use windlass_bootstrap::render::{Origins, Pool, Request};
use windlass_capi::api::names::Version;
use windlass_checks::commands::migrate::{self, Wanted};
use windlass_checks::commands::validate::{self, Judged};
use windlass_debugging::commands::diff::{self, Comparing, Side};
use windlass_debugging::commands::inspect::{self, Inspecting};
use windlass_debugging::commands::render::{self, Rendering, Selection};
use windlass_debugging::commands::size::{self, Measuring};
use windlass_debugging::commands::why::{self, Asking};
use windlass_report::Sources;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;

const CONTROL_PLANE: &str = include_str!("../examples/control-plane.yaml");

fn sources() -> [Source; 1] {
    [Source::new("control-plane.yaml", CONTROL_PLANE)]
}

/// Reads and renders, and hands both to `more`.
fn rendered<T>(more: impl FnOnce(&Pool, &Rendering<'_>, &Request) -> T) -> T {
    let request = Request::new();
    let (pool, _) = Pool::read(black_box(&sources()), &request.budget);
    let (pool, topologies) = render::with_topologies(pool, false, &request.budget);
    let rendering = render::run(&pool, &topologies, &request, &Selection::All);
    assert_eq!(
        rendering.machines.len(),
        2,
        "the first and the joining control plane"
    );
    more(&pool, &rendering, &request)
}

fn verbs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("nodes");
    group.bench_function("render", |bencher| {
        bencher.iter(|| rendered(|_, rendering, _| rendering.machines.len()))
    });
    group.bench_function("size", |bencher| {
        bencher.iter(|| {
            rendered(|pool, rendering, request| {
                size::run(pool, rendering, &Measuring::default(), &request.budget)
            })
        });
    });
    group.bench_function("why", |bencher| {
        let origins = Origins::default();
        let asking = Asking::new(
            "/run/kubeadm/kubeadm.yaml",
            Sources::new().words().clone(),
            &origins,
            false,
            |_| String::new(),
        );
        let asking = asking.unwrap_or_else(|_| unreachable!("the question is one"));
        bencher.iter(|| {
            rendered(|pool, rendering, request| why::run(pool, rendering, request, &asking))
        });
    });
    group.bench_function("validate", |bencher| {
        bencher.iter(|| {
            let request = Request::new();
            let judged = Judged::new(
                Pool::read(black_box(&sources()), &request.budget).0,
                &request,
            );
            let mut rendering = judged.render(&request);
            validate::run(&judged, &request, &mut rendering, true)
        });
    });
    group.bench_function("diff, with itself", |bencher| {
        bencher.iter(|| {
            let side = || {
                Side::new(
                    "control-plane.yaml",
                    sources().to_vec(),
                    Report::new(),
                    None,
                    Request::new(),
                )
            };
            diff::run(
                &side(),
                &side(),
                Comparing::default(),
                &Arc::new(Budget::default()),
            )
        });
    });
    let data: Vec<Vec<u8>> = rendered(|_, rendering, _| {
        rendering
            .machines
            .iter()
            .filter_map(|machine| Some(machine.rendered.as_ref()?.data.expose().clone()))
            .collect()
    });
    group.bench_function("inspect, the data of both", |bencher| {
        bencher.iter(|| {
            let of = |bytes: &Vec<u8>| {
                let inspecting = Inspecting {
                    name: "data",
                    bytes,
                    log: None,
                    is_log_alone: false,
                    now: 0,
                    show_secrets: false,
                };
                inspect::run(&inspecting, &Budget::default())
                    .0
                    .documents
                    .len()
            };
            data.iter().map(of).sum::<usize>()
        });
    });
    group.bench_function("migrate, to v1beta1", |bencher| {
        let wanted = Wanted {
            version: Version::parse("v1beta1"),
            family: None,
        };
        bencher.iter(|| {
            migrate::run(
                black_box(&sources()),
                &wanted,
                &BTreeSet::new(),
                &Arc::default(),
            )
        });
    });
    group.finish();
}

criterion_group!(benches, verbs);
criterion_main!(benches);
