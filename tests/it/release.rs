//! `release build`: our own release, releases of others, and everything that must be refused.

use serde_json::Value;
use windlass::emit::release::Release;
use windlass::ops::release_build::{self, FIXED_EPOCH, version};
use windlass::provider::builtin;
use windlass::text::source::Source;
use windlass::text::yaml::{self, Limits};

fn built() -> Release {
    let (providers, inputs, report) = builtin();
    release_build::run(&providers, report, &inputs, &version("v0.1.0").unwrap(), &[], FIXED_EPOCH)
}

fn objects(text: &str) -> Vec<Value> {
    let parsed = yaml::parse(&Source::new("components", text), &Limits::default());
    assert!(parsed.report.is_empty(), "{:?}", parsed.report);
    parsed.documents.iter().map(|document| document.root.to_json()).collect()
}

#[test]
fn own_release_is_sound() {
    let release = built();
    assert!(release.report.is_empty(), "{:#?}", release.report);
    let files: Vec<&str> = release.files.paths().collect();
    println!("{files:?}");
    println!("{}", objects(std::str::from_utf8(release.files.get("bootstrap-components.yaml").unwrap()).unwrap()).len());
}
