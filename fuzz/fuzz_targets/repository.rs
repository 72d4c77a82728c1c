//! A repository of foreign bytes: doctor, list, vars, bundles and the configuration of a repository never panic, and what is packed comes
//! out again as it went in.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use windlass_checks::commands::vars;
use windlass_clusterctl::{Config, World};
use windlass_go_yaml::yaml;
use windlass_repository::{CONFIGURATION_FILE, bundle, doctor, list, merge, rebase};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::tree::Tree;

fuzz_target!(|input: (&str, &[u8], &[u8], &str, &[u8])| {
    let (configuration, metadata, components, template, tar) = input;
    let folder = "infrastructure-foo/v0.2.0";
    let files = [
        (
            CONFIGURATION_FILE.to_owned(),
            configuration.as_bytes().to_vec(),
        ),
        (format!("{folder}/metadata.yaml"), metadata.to_vec()),
        (
            format!("{folder}/infrastructure-components.yaml"),
            components.to_vec(),
        ),
        (
            format!("{folder}/cluster-template.yaml"),
            template.as_bytes().to_vec(),
        ),
    ];
    let tree: Tree = files.into_iter().collect();
    examine(&tree, configuration);
    examine(
        &tree,
        "providers: [{name: foo, type: InfrastructureProvider, url: /infrastructure-foo/latest/infrastructure-components.yaml}]\n",
    );
    let _ = list(&tree, &Budget::default());
    let _ = vars::text(&vars::list(&[Source::new("t", template)]).0, false);
    let source = Source::new("c", configuration);
    let _ = rebase(&source, "/r", &Budget::default());
    if let (Some(merged), _) = merge(Some(&source), &[], &Budget::default()) {
        // What is added stands at the end of the first document.
        let mut lines = merged.lines();
        let stays = configuration.lines().all(|line| {
            line.trim_end().is_empty() || lines.any(|merged| merged.trim_end() == line.trim_end())
        });
        // A null that is written out makes room for what is added.
        let is_null = || {
            yaml::parse(&source, &Budget::default())
                .documents
                .first()
                .is_some_and(|document| document.root.is_null())
        };
        assert!(stays || is_null(), "what people wrote stays");
    }
    if let (Some(packed), _) = bundle::pack(&tree, "r", &BTreeSet::new(), &Budget::default()) {
        let (unpacked, report) = bundle::unpack(&packed.bytes, "b");
        assert!(!report.has_errors(), "{report:?}");
        assert_eq!(unpacked.releases[0].2, tree.subtree(folder));
    }
    let _ = bundle::unpack(tar, "b");
});

fn examine(tree: &Tree, configuration: &str) {
    let environment = |_: &str| None;
    let source = Source::new("/c.yaml", configuration);
    let file: Tree = [("c.yaml".to_owned(), configuration.as_bytes().to_vec())]
        .into_iter()
        .collect();
    let budget = Budget::default();
    let world = World {
        files: &file,
        environment: &environment,
        network: None,
        budget: &budget,
    };
    if Config::load(world, "/c.yaml").is_ok() {
        let mut files = tree.clone();
        files.insert("c.yaml", configuration.as_bytes());
        let world = World {
            files: &files,
            ..world
        };
        let config = Config::load(world, "/c.yaml").expect("it was read before");
        let found = doctor::examine(doctor::Subject {
            config: &config,
            source: Some(&source),
            repository: Some((".", "/")),
            files: &files,
        });
        let _ = doctor::text(&found.providers);
    }
}
