//! What a file is: by the name that clusterctl gives it, else by what it holds.

use std::collections::BTreeSet;

use crate::charts::{self, Charts};
use crate::kustomize_files;
use windlass_capi::contract::{METADATA_FILE, ProviderType, labels};
use windlass_lint::templates::is_template;
use windlass_objects::{self as objects, Substituted};
use windlass_provider::KUSTOMIZATION_FILES;
use windlass_source::Source;
use windlass_source::budget::Budget;

/// What a file of a provider is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// All that a provider installs.
    Components,
    /// The release series.
    Metadata,
    /// A cluster template or a ClusterClass, with variables.
    Template,
    /// Objects, of which the rest may be elsewhere: CRDs, roles, webhooks.
    Objects,
    /// What kustomize reads to find the rest.
    Kustomization,
    /// A fragment of an object, which kustomize lays over others.
    Patch,
    /// A provider.yaml, from which a release is built.
    Provider,
    /// A template of a Helm chart.
    Chart,
    /// A file that another tool makes YAML of, such as a template of Go.
    Templated,
    /// A copy of the components beside it, such as install.yaml.
    Copy,
    /// Nothing that the rules speak of.
    Other,
}

impl Form {
    /// What may be said with `--as`, and how.
    pub const NAMED: [(&'static str, Form); 4] = [
        ("components", Form::Components),
        ("metadata", Form::Metadata),
        ("objects", Form::Objects),
        ("template", Form::Template),
    ];

    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Form::Components => "components",
            Form::Metadata => "metadata",
            Form::Template => "template",
            Form::Objects => "objects",
            Form::Kustomization => "kustomization",
            Form::Patch => "patch",
            Form::Provider => "provider",
            Form::Chart => "chart",
            Form::Templated => "templated",
            Form::Copy => "copy",
            Form::Other => "other",
        }
    }

    /// Whether rules speak of such files.
    pub(super) fn is_judged(self) -> bool {
        matches!(
            self,
            Form::Components
                | Form::Metadata
                | Form::Template
                | Form::Objects
                | Form::Provider
                | Form::Kustomization
        )
    }

    pub(super) fn of(source: &Source, charts: &Charts, budget: &Budget) -> Self {
        if charts::is_template(source, charts) {
            return Form::Chart;
        }
        let file = source.file_name();
        match file {
            METADATA_FILE => return Form::Metadata,
            _ if KUSTOMIZATION_FILES.contains(&file) => return Form::Kustomization,
            _ if provider_type_of(file).is_some() => return Form::Components,
            _ if is_template(file) => return Form::Template,
            _ => {}
        }
        // What another tool makes of it is not known here.
        if source.text().lines().any(|line| line.starts_with("{{")) {
            return Form::Templated;
        }
        if kustomize_files::is_builtin(source) {
            return Form::Patch;
        }
        let form = Form::of_kinds(
            &Kinds::of(source, budget),
            source.text().contains(labels::PROVIDER),
        );
        let is_broken = || {
            let sampled = Substituted::sampled(source, budget);
            let text = sampled.as_ref().map_or(source, Substituted::text);
            objects::documents(text, budget).1.has_errors()
        };
        if form != Form::Other && source.text().contains("{{") && is_broken() {
            return Form::Templated;
        }
        form
    }

    fn of_kinds(kinds: &Kinds, is_labelled: bool) -> Self {
        let has = |group: &str, kind: &str| kinds.has(group, kind);
        let runs =
            has("apps", "Deployment") || has("apps", "DaemonSet") || has("apps", "StatefulSet");
        if has("clusterctl.cluster.x-k8s.io", "Metadata") {
            Form::Metadata
        } else if has("windlass.dev", "Provider") {
            Form::Provider
        } else if kinds
            .0
            .iter()
            .any(|(group, _)| group == "kustomize.config.k8s.io")
        {
            Form::Kustomization
        } else if runs
            && is_labelled
            && (has("apiextensions.k8s.io", "CustomResourceDefinition") || has("", "Namespace"))
        {
            Form::Components
        } else if TOPOLOGY.iter().any(|kind| has("cluster.x-k8s.io", kind)) {
            Form::Template
        } else if kinds.0.is_empty() {
            Form::Other
        } else {
            Form::Objects
        }
    }
}

/// Kinds of the core group that stand in templates.
const TOPOLOGY: [&str; 6] = [
    "Cluster",
    "ClusterClass",
    "Machine",
    "MachineDeployment",
    "MachinePool",
    "MachineHealthCheck",
];

/// The type of a provider by the name of its components file: `bootstrap-components.yaml`, or with
/// `-development` as Cluster API itself calls those that are not for production.
pub(super) fn provider_type_of(file: &str) -> Option<ProviderType> {
    let stem = file.strip_suffix(".yaml")?;
    let stem = stem
        .strip_suffix("-development")
        .unwrap_or(stem)
        .strip_suffix("-components")?;
    ProviderType::ALL
        .into_iter()
        .find(|known| known.word() == stem)
}

/// The groups and kinds of a file's documents.
struct Kinds(BTreeSet<(String, String)>);

impl Kinds {
    /// Reads only the lines at the margin, which is all that most files need; a file whose objects
    /// are written in another way is parsed.
    fn of(source: &Source, budget: &Budget) -> Self {
        let mut kinds = Kinds(BTreeSet::new());
        let (mut api_version, mut kind) = ("", "");
        for line in source.text().lines() {
            if line.starts_with("---") {
                kinds.add(std::mem::take(&mut api_version), std::mem::take(&mut kind));
            } else if let Some(value) = line.strip_prefix("apiVersion:") {
                api_version = scalar(value);
            } else if let Some(value) = line.strip_prefix("kind:") {
                kind = scalar(value);
            }
        }
        kinds.add(api_version, kind);
        if kinds.0.is_empty() || kinds.has("", "List") {
            Kinds::parsed(source, budget)
        } else {
            kinds
        }
    }

    fn parsed(source: &Source, budget: &Budget) -> Self {
        // What cannot be read is reported by its own check.
        let (found, _) = objects::documents(source, budget);
        let objects = found
            .into_iter()
            .flat_map(objects::Object::into_items)
            .filter(|object| !object.api_version().is_empty());
        Kinds(
            objects
                .filter(|object| !object.kind().is_empty())
                .map(|object| (object.group().to_owned(), object.kind().to_owned()))
                .collect(),
        )
    }

    fn add(&mut self, api_version: &str, kind: &str) {
        if !api_version.is_empty() && !kind.is_empty() {
            let group = api_version.split_once('/').map_or("", |(group, _)| group);
            self.0.insert((group.to_owned(), kind.to_owned()));
        }
    }

    fn has(&self, group: &str, kind: &str) -> bool {
        self.0.contains(&(group.to_owned(), kind.to_owned()))
    }
}

/// A plain or quoted scalar after its key, without a comment.
fn scalar(value: &str) -> &str {
    let value = value.split(" #").next().unwrap_or_default().trim();
    value.trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(name: &str, text: &str) -> &'static str {
        Form::of(&Source::new(name, text), &Charts::new(), &Budget::default()).as_str()
    }

    const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n";
    const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: \"Deployment\" # the manager\n";

    const LABEL: &str = "metadata: {labels: {cluster.x-k8s.io/provider: infrastructure-foo}}\n";

    #[test]
    fn names_of_clusterctl_decide() {
        for (name, expected) in [
            ("out/metadata.yaml", "metadata"),
            ("infrastructure-components.yaml", "components"),
            ("infrastructure-components-development.yaml", "components"),
            ("runtime-extension-components.yaml", "components"),
            ("cluster-template-x.yaml", "template"),
            ("clusterclass-x.yaml", "template"),
            ("config/crd/kustomization.yaml", "kustomization"),
            ("strange-components.yaml", "other"),
            ("values.yaml", "other"),
        ] {
            assert_eq!(form(name, "a: b\n"), expected, "{name}");
        }
    }

    #[test]
    fn content_decides_where_names_do_not() {
        for (text, expected) in [
            (CRD.to_owned(), "objects"),
            (format!("{CRD}---\n{DEPLOYMENT}{LABEL}"), "components"),
            (format!("apiVersion: v1\nkind: Namespace\n---\n{DEPLOYMENT}{LABEL}"), "components"),
            // Calico, an autoscaler: no provider.
            (format!("{CRD}---\n{DEPLOYMENT}"), "objects"),
            (DEPLOYMENT.to_owned(), "objects"),
            ("apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\n".to_owned(), "template"),
            ("apiVersion: other/v1\nkind: Cluster\n".to_owned(), "objects"),
            ("apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\n".to_owned(), "metadata"),
            ("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n".to_owned(), "kustomization"),
            (
                "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: apps/v1, kind: Deployment}\n- {apiVersion: v1, kind: Namespace}\n# cluster.x-k8s.io/provider\n"
                    .to_owned(),
                "components",
            ),
            ("{\"apiVersion\": \"cluster.x-k8s.io/v1beta2\", \"kind\": \"ClusterClass\"}".to_owned(), "template"),
            (format!("{DEPLOYMENT}metadata: {{name: \"{{{{ .Values.name }}}}\"}}\n"), "chart"),
            (format!("{{{{ if .X }}}}\n{DEPLOYMENT}"), "templated"),
            ("kind: Deployment\n".to_owned(), "other"),
            (String::new(), "other"),
        ] {
            assert_eq!(form("x.yaml", &text), expected, "{text}");
        }
    }
}
