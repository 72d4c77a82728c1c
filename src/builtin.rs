//! Our own provider, embedded: the same files that stand at the root of the project.

use windlass_provider::{Declared, Inputs, Matched, parse};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;

const PROVIDER: (&str, &str) = ("builtin:provider.yaml", include_str!("../provider.yaml"));
const METADATA: (&str, &str) = ("builtin:metadata.yaml", include_str!("../metadata.yaml"));

/// The files of `templates/`; a test compares the list with the folder.
const TEMPLATES: &[(&str, &str)] = &[
    (
        "builtin:templates/cluster-template-flatcar-aws.yaml",
        include_str!("../templates/cluster-template-flatcar-aws.yaml"),
    ),
    (
        "builtin:templates/cluster-template-ignition.yaml",
        include_str!("../templates/cluster-template-ignition.yaml"),
    ),
    (
        "builtin:templates/cluster-template-machinepool.yaml",
        include_str!("../templates/cluster-template-machinepool.yaml"),
    ),
    (
        "builtin:templates/cluster-template-standalone-control-plane.yaml",
        include_str!("../templates/cluster-template-standalone-control-plane.yaml"),
    ),
    (
        "builtin:templates/cluster-template-topology.yaml",
        include_str!("../templates/cluster-template-topology.yaml"),
    ),
    (
        "builtin:templates/cluster-template.yaml",
        include_str!("../templates/cluster-template.yaml"),
    ),
    (
        "builtin:templates/clusterclass-windlass.yaml",
        include_str!("../templates/clusterclass-windlass.yaml"),
    ),
];

/// The provider that this program ships, with the files that it names.
pub fn builtin() -> (Vec<Declared>, Inputs, Report) {
    let source = |(name, text): &(&str, &str)| Source::new(*name, *text);
    let (declared, report) = parse(&source(&PROVIDER), &Budget::default());
    let mut inputs = Inputs::new();
    let found = |files: Vec<Source>| Matched {
        files,
        ..Matched::default()
    };
    inputs.insert("metadata.yaml", found(vec![source(&METADATA)]));
    inputs.insert("templates", found(TEMPLATES.iter().map(source).collect()));
    (declared, inputs, report)
}

/// The names of the templates that are built in.
pub fn template_files() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_provider_is_sound_and_all_it_names_is_embedded() {
        let (declared, inputs, report) = builtin();
        assert_eq!(report, Report::new());
        let wanted: Vec<&str> = declared
            .iter()
            .flat_map(|declared| declared.provider.wanted())
            .map(|(pattern, _)| pattern)
            .collect();
        assert!(
            wanted
                .iter()
                .all(|pattern| !inputs.files(pattern).is_empty()),
            "{wanted:?}"
        );
    }

    #[test]
    fn every_template_is_embedded() {
        #[allow(
            clippy::disallowed_methods,
            reason = "a test compares the list with the folder"
        )]
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/templates"))
            .expect("the folder is there");
        let mut files: Vec<String> = folder
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        files.sort();
        let embedded: Vec<&str> = TEMPLATES
            .iter()
            .filter_map(|(name, _)| name.rsplit('/').next())
            .collect();
        assert_eq!(embedded, files, "add the file to TEMPLATES");
    }

    /// The flags that our Deployment passes are flags that the manager has.
    #[test]
    fn arguments_are_flags_of_the_manager() {
        let (declared, _, _) = builtin();
        let manager = declared[0]
            .provider
            .manager
            .as_ref()
            .expect("we have a manager");
        for argument in &manager.args {
            let name = argument
                .trim_start_matches('-')
                .split('=')
                .next()
                .unwrap_or_default();
            assert!(
                windlass_capi::contract::manager::FLAGS
                    .iter()
                    .any(|flag| flag.name == name),
                "{argument}"
            );
        }
    }
}
