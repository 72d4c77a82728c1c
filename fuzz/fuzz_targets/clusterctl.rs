//! clusterctl's commands on a configuration and a repository of foreign bytes: they reject or print, and what they print is YAML that reads
//! back as what was printed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_capi::contract::ProviderType;
use windlass_clusterctl::{
    ComponentsOptions, Config, Log, TemplateSource, World, generate_provider, generate_yaml,
};
use windlass_go_yaml::yaml::parse;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::tree::Tree;

const ENDINGS: [&str; 5] = ["yaml", "json", "toml", "env", "ini"];

fuzz_target!(|input: (u8, &[u8], &[u8], &[u8])| {
    let (ending, configuration, metadata, file) = input;
    let name = format!(
        "clusterctl.{}",
        ENDINGS[usize::from(ending) % ENDINGS.len()]
    );
    let folder = "repo/infrastructure-foo/v0.2.0";
    let entry = "providers: [{name: foo, type: InfrastructureProvider, url: /repo/infrastructure-foo/latest/c.yaml}]\n";
    let files = [
        (name.clone(), configuration.to_vec()),
        ("good.yaml".to_owned(), entry.as_bytes().to_vec()),
        (format!("{folder}/metadata.yaml"), metadata.to_vec()),
        (format!("{folder}/c.yaml"), file.to_vec()),
    ];
    let tree: Tree = files.into_iter().collect();
    let environment = |name: &str| (name == "A").then(|| "value".to_owned());
    let budget = Budget::default();
    let world = World {
        files: &tree,
        environment: &environment,
        network: None,
        budget: &budget,
    };
    if let Ok(config) = Config::load(world, &format!("/{name}")) {
        let _ = config.providers();
        if let Ok(yaml) = generate_yaml(&config, &TemplateSource::Stdin(file.to_vec()), false)
            .and_then(|template| template.into_yaml())
        {
            reads_back(&yaml);
        }
    }
    let config = Config::load(world, "/good.yaml").expect("the configuration is valid");
    let options = ComponentsOptions {
        namespace: "ns".to_owned(),
        raw: ending & 128 != 0,
    };
    if let Ok(components) = generate_provider(
        &config,
        "foo",
        ProviderType::InfrastructureProvider,
        &options,
        &mut Log::default(),
    ) && let Ok(yaml) = components.into_yaml()
    {
        reads_back(&yaml);
    }
});

fn reads_back(yaml: &str) {
    let report = parse(&Source::new("printed", yaml), &Budget::default()).report;
    assert!(!report.has_errors(), "{report:?}\n{yaml}");
}
