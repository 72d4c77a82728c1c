//! A whole provider's folder of foreign bytes: building its release never panics, tells the same twice, and what it writes can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_go_yaml::yaml;
use windlass_provider::{self as provider, Inputs, Matched, Wanted};
use windlass_release::commands::release_build::{self, Order, version};
use windlass_source::Source;
use windlass_source::budget::Budget;

/// A provider.yaml that reads every part, for inputs whose own does not parse.
const PROVIDER: &str = "apiVersion: windlass.dev/v1alpha1
kind: Provider
name: foo
type: InfrastructureProvider
group: infrastructure.foo.example
contracts: {v1beta2: [v1alpha1]}
namespace: foo-system
crds: [crd.yaml]
rbac: {roles: [role.yaml]}
objects: [object.yaml]
manager: {image: ghcr.io/foo/manager, webhooks: webhook.yaml, conversion: true}
templates: [templates]
";

fuzz_target!(|input: (&str, &str, &str, &str, &str, &str, &str)| {
    let (own, metadata, crd, role, object, webhook, template) = input;
    build(own, &[metadata, crd, role, object, webhook, template]);
    build(PROVIDER, &[metadata, crd, role, object, webhook, template]);
    build(
        &format!(
            "{}components: object.yaml\n",
            PROVIDER.split("crds:").next().unwrap_or_default()
        ),
        &[metadata, object],
    );
});

/// Builds the release; the texts stand behind the patterns of the file in turn.
fn build(provider: &str, texts: &[&str]) {
    let (providers, report) =
        provider::parse(&Source::new("provider.yaml", provider), &Budget::default());
    let mut inputs = Inputs::new();
    let wanted = providers
        .iter()
        .flat_map(|declared| declared.provider.wanted());
    for ((pattern, kind), text) in wanted.zip(texts.iter().cycle()) {
        let name = match kind {
            Wanted::Files | Wanted::Excluded | Wanted::Components => pattern.to_owned(),
            Wanted::TemplateFolder => format!("{pattern}/cluster-template.yaml"),
        };
        inputs.insert(
            pattern,
            Matched {
                files: vec![Source::new(name, *text)],
                ..Matched::default()
            },
        );
    }
    let version = version("v0.1.0").expect("semantic");
    let release = || release_build::run(&providers, report.clone(), &inputs, Order::of(&version));
    let (first, second) = (release(), release());
    assert_eq!(first.report, second.report);
    if first.report.has_errors() {
        return;
    }
    for (name, bytes) in first
        .files
        .iter()
        .filter(|(name, _)| name.ends_with("-components.yaml"))
    {
        let text = std::str::from_utf8(bytes).expect("components are text");
        assert!(
            !yaml::parse(&Source::new(name.as_str(), text), &Budget::default())
                .report
                .has_errors(),
            "{text}"
        );
    }
}
