//! `release bump VERSION`: metadata.yaml with the series of a version added.

use semver::Version;

use crate::emit::metadata;
use windlass_lint as lint;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Remedy, Report, Setting, rules};

rules! {
    /// `--contract` is not a contract that Cluster API accepts
    CONTRACT_FAULT = error("release-contract-unknown");
    /// metadata.yaml lists the series with a different contract than `--contract`
    CONTRACT_OTHER = error("release-contract-other");
}

/// What became of metadata.yaml.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bumped {
    /// The series is there already.
    Unchanged,
    /// The new text, and the contract of the new series.
    Changed(String),
}

/// Adds the series of `version`, with the contract of the newest series unless another one is
/// given. `None` when the file cannot be used.
pub fn run(
    source: &Source,
    version: &Version,
    contract: Option<&str>,
    budget: &Budget,
) -> (Option<Bumped>, Report) {
    let (file, mut report) = lint::metadata::parse(source, budget);
    if let Some(unknown) = contract
        .filter(|contract| windlass_capi::contract::ContractVersion::parse(contract).is_none())
    {
        let finding = Diagnostic::of(
            &CONTRACT_FAULT,
            format!("`{unknown}` is not a contract that Cluster API accepts"),
        );
        report.push(
            finding.help(
                Remedy::new("use ")
                    .setting(Setting::Contract)
                    .then(" v1beta1 or v1beta2"),
            ),
        );
    }
    let Some(file) = file.filter(|_| !report.has_errors()) else {
        return (None, report);
    };
    let listed = file
        .metadata
        .series_of(version)
        .filter(|series| contract.is_some_and(|contract| contract != series.contract));
    if let Some(listed) = listed {
        let (name, series) = (
            source.name(),
            format!("{}.{}", version.major, version.minor),
        );
        let message = format!(
            "{name} lists series {series} already, with the contract {}",
            listed.contract
        );
        let remedy =
            Remedy::new("change it in the file if no release of the series is out, or leave ")
                .setting(Setting::Contract)
                .then(" out");
        report.push(
            Diagnostic::of(&CONTRACT_OTHER, message)
                .at(source.place())
                .help(remedy),
        );
        return (None, report);
    }
    let bumped =
        metadata::bump(&file, version, contract).map_or(Bumped::Unchanged, Bumped::Changed);
    (Some(bumped), report)
}
