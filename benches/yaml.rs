//! Reading and writing 1.4 MB of CRDs, as one file and as a stream that is large enough for all
//! cores.
#![allow(clippy::unwrap_used, reason = "a benchmark may fail loudly")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Map, Value, json};
use windlass_go_yaml::goyaml;
use windlass_go_yaml::yaml::parse;
use windlass_source::Source;
use windlass_source::budget::Budget;

/// A schema as controller-gen writes it: descriptions that are folded or blocks, enums, patterns,
/// lists, and `width` fields a level.
fn schema(depth: usize, width: usize) -> Value {
    let mut properties = Map::new();
    for field in 0..width {
        let name = format!("field{field}");
        let value = match field % 4 {
            0 if depth > 0 => schema(depth - 1, width),
            0 | 1 => json!({
                "description": "name is the name of a thing that has a rather long description, which the writer folds behind column eighty: always.",
                "type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 253, "minLength": 1,
            }),
            2 => json!({
                "description": "mode says how.\nIt has two lines.\n\n- and a list",
                "type": "string", "enum": ["On", "Off", "true", "1.0"], "default": "On",
            }),
            _ => {
                json!({ "items": { "format": "int32", "type": "integer" }, "type": "array", "x-kubernetes-list-type": "atomic" })
            }
        };
        properties.insert(name, value);
    }
    json!({ "description": "schema of an object", "properties": properties, "required": ["field1", "field2"], "type": "object" })
}

/// CRDs of about 60 kB each.
fn crds(count: usize) -> Vec<Value> {
    let crd = |number: usize| {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "annotations": { "controller-gen.kubebuilder.io/version": "v0.18.0" }, "name": format!("things{number}.example.com") },
            "spec": { "group": "example.com", "scope": "Namespaced", "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema(3, 10) }, "subresources": { "status": {} },
            }] },
        })
    };
    (0..count).map(crd).collect()
}

fn yaml(criterion: &mut Criterion) {
    let one = goyaml::to_string(&crds(1)[0]).unwrap();
    let many = crds(1_400_000 / one.len() + 1);
    let text = goyaml::documents_to_string(many.clone()).unwrap();
    let whole = Value::from(many.clone());
    let source = Source::new("crds.yaml", text.as_str());
    let small = Source::new("crd.yaml", one.as_str());
    let parsed = parse(&source, &Budget::default());
    assert!(parsed.report.is_empty() && parsed.documents.len() == many.len());

    let mut group = criterion.benchmark_group("yaml");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("read 1.4 MB, all cores", |bench| {
        bench.iter(|| parse(black_box(&source), &Budget::default()))
    });
    group.bench_function("to JSON", |bench| {
        bench.iter(|| {
            parsed
                .documents
                .iter()
                .map(|d| d.root.to_json())
                .collect::<Vec<_>>()
        })
    });
    group.bench_function("write 1.4 MB, all cores", |bench| {
        bench.iter_batched(
            || many.clone(),
            |many| goyaml::documents_to_string(black_box(many)).unwrap(),
            BatchSize::LargeInput,
        );
    });
    group.bench_function("write 1.4 MB, one core", |bench| {
        bench.iter(|| goyaml::to_string(black_box(&whole)).unwrap())
    });
    group.throughput(Throughput::Bytes(one.len() as u64));
    group.bench_function("read one CRD, one core", |bench| {
        bench.iter(|| parse(black_box(&small), &Budget::default()))
    });
    group.finish();
}

criterion_group!(benches, yaml);
criterion_main!(benches);
