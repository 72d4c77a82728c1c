//! A release as clusterctl gets it: what one provider installs, checked together with its metadata.
//! Providers of a release share its templates.

use std::sync::Arc;

use semver::Version;

use super::components::Components;
use super::conversion::{self, Rejections};
use super::definitions::contract_labels;
use super::metadata::{MetadataFile, is_contract};
use super::{Asked, Audience, definitions};
use windlass_capi::contract::ProviderType;
use windlass_clusterctl::{Config, Provider, ReadBefore, World};
use windlass_objects::Pool;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report};
use windlass_source::tree::Tree;

/// The files of a release, and what is known of them.
pub struct Release<'a> {
    /// The provider that the components install.
    pub provider: &'a Provider,
    /// The version of the release; a guess if `is_version_guessed` is set.
    pub version: &'a Version,
    /// Whether nobody said the version, so that no image can be compared with it.
    pub is_version_guessed: bool,
    /// The components file, with its variables replaced by defaults and samples.
    pub components: Components,
    /// The metadata, where it can be used.
    pub metadata: Option<&'a MetadataFile>,
    /// The namespace that provider.yaml names; `None` where nobody knows a provider.yaml.
    pub namespace: Option<&'a str>,
    /// The reader of the findings: the author of the release, or a user of it.
    pub audience: Audience<'a>,
}

pub struct Verdict {
    pub report: Report,
    /// Whether clusterctl itself rejects the components.
    pub is_rejected: bool,
}

impl<'a> Release<'a> {
    /// Checks the release. `config` is the configuration with which clusterctl would read it.
    pub fn check(self, config: &Config<'_>) -> Verdict {
        let installed = self.installed();
        let budget = config.world().budget;
        let report = self.objects(budget);
        settled(report, installed.rejections(config))
    }

    /// Checks the release as a clusterctl without any configuration reads it.
    pub fn check_by_itself(self, budget: &Budget) -> Verdict {
        let installed = self.installed();
        let rejections = || {
            let files = Tree::new();
            let world = World {
                files: &files,
                environment: &|_| None,
                network: None,
                budget,
            };
            installed.rejections(&Config::empty(world))
        };
        // clusterctl's way through the file and ours have nothing in common but what was read.
        let mut rejected = None;
        let report = rayon::in_place_scope(|scope| {
            scope.spawn(|_| rejected = Some(rejections()));
            self.objects(budget)
        });
        settled(
            report,
            rejected.expect("internal error: the scope waits for what it spawned"),
        )
    }

    fn installed(&self) -> Installed<'a> {
        let Components {
            source,
            has_variables,
            ..
        } = &self.components;
        Installed {
            provider: self.provider,
            version: format!("v{}", self.version),
            source: source.clone(),
            before: self.components.as_read(),
            has_variables: *has_variables,
        }
    }

    /// What is wrong with the components and with what metadata.yaml promises of them.
    fn objects(self, budget: &Budget) -> Report {
        let promise = self.promise();
        let asked = Asked {
            namespace: self.namespace,
            provider_type: Some(self.provider.provider_type),
            version: Some(self.version).filter(|_| !self.is_version_guessed),
            audience: self.audience,
        };
        let mut report = self.components.check(&asked, budget);
        report.extend(promise);
        report
    }

    /// Only kinds that the core looks up by contract need its labels.
    fn promise(&self) -> Vec<Diagnostic> {
        let promised = || {
            let metadata = self
                .metadata
                .filter(|_| self.provider.provider_type.has_contract())?;
            let series = metadata
                .metadata
                .series_of(self.version)
                .filter(|series| is_contract(&series.contract))?;
            Some((&series.contract, metadata.series_place(series)))
        };
        let Some((contract, place)) = promised() else {
            return Vec::new();
        };
        let objects = self.components.objects();
        let mut found: Vec<Diagnostic> =
            contract_labels::promise(contract, definitions::of(objects), &place)
                .into_iter()
                .collect();
        if let Audience::Author(wishes) = self.audience {
            let kinds = definitions::definitions_of(
                objects,
                wishes.roles,
                Some(self.provider.provider_type),
            );
            found.extend(contract_labels::differing(contract, &kinds, &place));
        }
        found
    }
}

/// The components as clusterctl gets them.
struct Installed<'a> {
    provider: &'a Provider,
    version: String,
    source: Source,
    /// The text with its variables replaced, and what we read in it, unless the reader had
    /// something to say.
    before: Option<(Source, Arc<Pool>)>,
    has_variables: bool,
}

impl Installed<'_> {
    fn rejections(&self, config: &Config<'_>) -> Rejections {
        let before = self.before.as_ref().map(|(text, pool)| ReadBefore {
            text: text.text(),
            objects: pool.objects().into(),
        });
        conversion::rejections(
            config,
            self.provider,
            &self.version,
            &self.source,
            before,
            self.has_variables,
        )
    }
}

/// All findings together: what has a finding of its own rule is not said twice.
fn settled(mut report: Report, rejections: Rejections) -> Verdict {
    let is_rejected = rejections.rejected.is_some();
    let told = if report.has_errors() {
        None
    } else {
        rejections.rejected
    };
    report.extend(told.or(rejections.raw));
    Verdict {
        report,
        is_rejected,
    }
}

/// A provider whose release is in a folder of its own, as `repository add` lays it out.
pub fn provider_of(label: &str, provider_type: ProviderType, components: &str) -> Provider {
    let name = label
        .strip_prefix(&provider_type.label(""))
        .unwrap_or(label);
    Provider {
        name: name.to_owned(),
        provider_type,
        url: format!("/{label}/latest/{components}").into(),
    }
}
