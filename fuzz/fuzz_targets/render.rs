//! Documents of foreign bytes to bootstrap data: nothing panics, what the encoder `typed` writes is YAML, and Ignition 3.4 is what its
//! specification allows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_bootstrap::render::Encoder;
use windlass_bootstrap::render::write::ignition::v3;
use windlass_bootstrap::render::{self, FeatureGates, Notes, Pool, Profile, Request};
use windlass_capi::api::boot::{Format, IgnitionVersion};
use windlass_go_yaml::yaml::parse;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::gzip;

const RELEASES: [&str; 6] = ["v1.10", "v1.11", "v1.12", "v1.13", "v1.14", "main"];

fuzz_target!(|input: (u8, bool, bool, &str)| {
    let (release, typed, newest, text) = input;
    let encoder = if typed { Encoder::Typed } else { Encoder::Capi };
    let profile = Profile::parse(RELEASES[usize::from(release) % RELEASES.len()])
        .expect("the release is known");
    let feature_gates = FeatureGates {
        ignition: true,
        ..FeatureGates::default()
    };
    let ignition = newest.then_some(IgnitionVersion::V3_4);
    let request = Request {
        profile,
        encoder: Some(encoder),
        ignition,
        feature_gates,
        ..Request::new()
    };
    let (pool, _) = Pool::read(&[Source::new("input", text)], &Budget::default());
    for target in render::targets(&pool) {
        let mut notes = Notes::default();
        let Some(rendered) = render::render(&pool, &target, &request, &mut notes).rendered() else {
            assert!(notes.report.has_errors(), "a rejection says why");
            continue;
        };
        if rendered.format == Format::Ignition {
            let config = serde_json::from_slice(rendered.data.expose()).expect("Ignition is JSON");
            let is_newest = rendered.ignition == Some(IgnitionVersion::V3_4);
            assert!(
                !is_newest || v3::check(&config).is_empty(),
                "{:?}",
                v3::check(&config)
            );
        } else if rendered.encoder == Encoder::Typed {
            let data = rendered.data.into_inner();
            let data = String::from_utf8(gzip::decompress(&data, 64 << 20).unwrap_or(data))
                .expect("typed writes text");
            let parsed = parse(&Source::new("user-data", data), &Budget::default());
            assert!(!parsed.report.has_errors(), "{:?}", parsed.report);
        }
    }
});
