//! A release as clusterctl gets it: what one provider installs, its metadata and its templates, judged together.

use semver::Version;

use super::components::Components;
use super::metadata::MetadataFile;
use super::{conversion, definitions, templates};
use crate::clusterctl::{Config, Provider, World};
use crate::contract::ProviderType;
use crate::diag::{Diagnostic, Report};
use crate::text::budget::Budget;
use crate::text::source::Source;
use crate::text::tree::Tree;

/// The files of a release, and what is known of them.
pub(crate) struct Release<'a> {
    /// The provider, as a configuration names it.
    pub(crate) provider: &'a Provider,
    /// The version of the release.
    pub(crate) version: &'a Version,
    /// The components.
    pub(crate) components: Components,
    /// The metadata, where it can be used.
    pub(crate) metadata: Option<&'a MetadataFile>,
    /// The cluster templates and ClusterClasses.
    pub(crate) templates: &'a [Source],
    /// The namespace that provider.yaml names; `None` where nobody knows a provider.yaml.
    pub(crate) namespace: Option<&'a str>,
}

/// What the judge says of a release.
pub(crate) struct Verdict {
    /// Everything that is wrong.
    pub(crate) report: Report,
    /// Whether clusterctl itself refuses the components.
    pub(crate) is_refused: bool,
}

impl Release<'_> {
    /// Judges the release. `config` is the configuration with which clusterctl would read it.
    pub(crate) fn check(self, config: &Config<'_>) -> Verdict {
        let promise = self.promise();
        let version = format!("v{}", self.version);
        let (source, has_variables) = (self.components.source.clone(), self.components.has_variables);
        let mut report = self.components.check(self.namespace, config.world().budget);
        report.extend(promise);
        let refusals = conversion::refusals(config, self.provider, &version, &source, has_variables);
        let is_refused = refusals.refused.is_some();
        // What has a finding of its own rule is not said twice.
        let told = if report.has_errors() { None } else { refusals.refused };
        report.extend(told.or(refusals.raw));
        report.extend(templates::check(self.templates, config.world().budget));
        Verdict { report, is_refused }
    }

    /// Judges the release as a clusterctl without any configuration reads it.
    pub(crate) fn check_by_itself(self, budget: &Budget) -> Verdict {
        let files = Tree::new();
        let world = World { files: &files, environment: &|_| None, network: None, budget };
        self.check(&Config::empty(world))
    }

    /// Only kinds that the core looks up by contract need its labels.
    fn promise(&self) -> Option<Diagnostic> {
        let metadata = self.metadata.filter(|_| self.provider.provider_type.has_contract())?;
        let series = metadata.metadata.series_of(self.version)?;
        definitions::promise(&series.contract, definitions::of(self.components.objects()), &metadata.series_place(series))
    }
}

/// A provider whose release lies in a folder of its own, as `repository add` lays it out.
pub(crate) fn provider_of(label: &str, provider_type: ProviderType, components: &str) -> Provider {
    let name = label.strip_prefix(&provider_type.label("")).unwrap_or(label);
    Provider { name: name.to_owned(), provider_type, url: format!("/{label}/latest/{components}") }
}
