//! The registry: every rule that this program knows.

use std::collections::BTreeSet;

use crate::diag::Rule;
use crate::report::text;

/// The rules of all files that declare some; a test over the sources holds the list complete.
static DECLARED: &[&[&Rule]] = &[
    crate::admission::core::unknown::RULES,
    crate::admission::metadata_types::RULES,
    crate::emit::account::RULES,
    crate::emit::components::image::RULES,
    crate::emit::components::RULES,
    crate::emit::crd_metadata::RULES,
    crate::emit::definitions::RULES,
    crate::emit::install::RULES,
    crate::emit::kustomization::RULES,
    crate::emit::manager_patch::RULES,
    crate::emit::patches::RULES,
    crate::emit::release::RULES,
    crate::images::findings::RULES,
    crate::migrate::findings::RULES,
    crate::objects::misfit::RULES,
    crate::objects::pool::RULES,
    crate::objects::read::RULES,
    crate::inspect::findings::RULES,
    crate::lint::components::RULES,
    crate::lint::components::certificates::RULES,
    crate::lint::components::claims::RULES,
    crate::lint::components::images::RULES,
    crate::lint::components::labels::RULES,
    crate::lint::components::managers::RULES,
    crate::lint::components::placeholders::RULES,
    crate::lint::components::removed::RULES,
    crate::lint::components::roles::RULES,
    crate::lint::components::services::RULES,
    crate::lint::components::services_missing::RULES,
    crate::lint::components::variables::RULES,
    crate::lint::components::webhook_resources::RULES,
    crate::lint::components::webhooks::RULES,
    crate::lint::components::workloads::RULES,
    crate::lint::containers::RULES,
    crate::lint::conversion::RULES,
    crate::lint::definitions::bounds::RULES,
    crate::lint::definitions::contract_labels::RULES,
    crate::lint::definitions::RULES,
    crate::lint::definitions::fields_demanded::RULES,
    crate::lint::definitions::kinds::RULES,
    crate::lint::definitions::outdated::RULES,
    crate::lint::definitions::rights::RULES,
    crate::lint::definitions::versions::RULES,
    crate::lint::descriptions::RULES,
    crate::lint::duplicates::RULES,
    crate::lint::kustomization::RULES,
    crate::lint::metadata::rules::RULES,
    crate::lint::namespaces::RULES,
    crate::lint::pods::RULES,
    crate::lint::scalars::RULES,
    crate::lint::scope::RULES,
    crate::lint::template_text::RULES,
    crate::lint::templates::rules::RULES,
    crate::lint::templates::fields::RULES,
    crate::lint::templates::flags::RULES,
    crate::lint::templates::kinds::RULES,
    crate::lint::templates::references::RULES,
    crate::lint::templates::scripts::RULES,
    crate::lint::templates::variables::RULES,
    #[cfg(feature = "cli")]
    crate::oci::elf::RULES,
    #[cfg(feature = "cli")]
    crate::oci::read::RULES,
    crate::ops::charts::RULES,
    crate::ops::diff::RULES,
    crate::ops::fix::RULES,
    crate::ops::generate::RULES,
    crate::ops::init::RULES,
    crate::ops::lint::RULES,
    crate::ops::migrate::RULES,
    crate::ops::outlook::api_versions::RULES,
    crate::ops::outlook::cloud_init::RULES,
    crate::ops::outlook::contracts::RULES,
    crate::ops::outlook::fields::RULES,
    crate::ops::outlook::flags::RULES,
    crate::ops::outlook::gates::RULES,
    crate::ops::outlook::hosts::RULES,
    crate::ops::outlook::kinds::RULES,
    crate::ops::outlook::kubeadm_api::RULES,
    crate::ops::outlook::rules::RULES,
    crate::ops::release_build::RULES,
    crate::ops::release_bump::RULES,
    crate::ops::release_compare::RULES,
    crate::ops::release_diff::RULES,
    #[cfg(feature = "cli")]
    crate::ops::release_image::RULES,
    crate::ops::release_provenance::RULES,
    crate::ops::render::RULES,
    crate::ops::render::secret::RULES,
    crate::ops::render::topology::RULES,
    crate::ops::repository::assets::RULES,
    #[cfg(feature = "cli")]
    crate::ops::repository::bundle::RULES,
    #[cfg(feature = "cli")]
    crate::ops::repository::mirror::RULES,
    #[cfg(feature = "cli")]
    crate::ops::repository::overrides::RULES,
    #[cfg(feature = "cli")]
    crate::ops::repository::pull::RULES,
    #[cfg(feature = "cli")]
    crate::ops::repository::push::RULES,
    #[cfg(feature = "cli")]
    crate::ops::repository::signed::RULES,
    #[cfg(feature = "cli")]
    crate::ops::repository::tars::RULES,
    crate::ops::repository::cert_manager::RULES,
    crate::ops::repository::config_map::RULES,
    crate::ops::repository::configuration::RULES,
    crate::ops::repository::doctor::configuration::RULES,
    crate::ops::repository::doctor::image_keys::RULES,
    crate::ops::repository::doctor::RULES,
    crate::ops::repository::doctor::versions::RULES,
    crate::ops::repository::images::RULES,
    crate::ops::repository::list::RULES,
    #[cfg(feature = "cli")]
    crate::ops::repository::site::RULES,
    crate::ops::settings::RULES,
    crate::ops::size::RULES,
    crate::ops::validate::RULES,
    crate::ops::why::RULES,
    crate::preflight::cloud_config::RULES,
    crate::preflight::commands::RULES,
    crate::preflight::component_flags::RULES,
    crate::preflight::core_kinds::RULES,
    crate::preflight::gates::RULES,
    crate::preflight::kubeadm_values::RULES,
    crate::preflight::node_files::RULES,
    crate::preflight::patch_files::RULES,
    crate::preflight::static_pods::RULES,
    crate::preflight::matrix::RULES,
    crate::preflight::networks::RULES,
    crate::preflight::node_labels::RULES,
    crate::preflight::node_taints::RULES,
    crate::provider::parse::RULES,
    crate::render::input::cluster_class::RULES,
    crate::render::input::secret::RULES,
    crate::render::input::render_context::RULES,
    crate::render::input::unresolved::RULES,
    crate::render::input::variables::RULES,
    crate::render::plan::certificate::RULES,
    crate::render::plan::content::RULES,
    crate::render::plan::discovery::RULES,
    crate::render::plan::kubeadm_run::RULES,
    crate::render::plan::planner::RULES,
    crate::render::validation::findings::RULES,
    crate::render::validation::created::RULES,
    crate::render::validation::windows::RULES,
    crate::render::write::ignition::RULES,
    crate::render::write::quirks::RULES,
    crate::report::waivers::RULES,
    crate::text::source::RULES,
    crate::text::yaml::builder::RULES,
    crate::text::yaml::limits::RULES,
    crate::text::yaml::syntax::RULES,
    crate::topology::RULES,
];

/// Of rules about releases, those for which the version must be known.
static OF_VERSIONS: &[&[&Rule]] = &[
    // Beside them stand those of WITH_VERSION.
    crate::ops::release_check::checksums::RULES,
];

/// Of rules about releases, those for which the release before must be known.
static OF_UPGRADES: &[&[&Rule]] = &[
    crate::lint::upgrade::definitions::RULES,
    crate::lint::upgrade::immutable::RULES,
    crate::lint::upgrade::left_behind::RULES,
    crate::lint::upgrade::schema::RULES,
    crate::lint::upgrade::series::RULES,
    crate::lint::upgrade::templates::RULES,
    crate::lint::upgrade::variables::RULES,
];

/// Of [`DECLARED`], what is one of [`OF_VERSIONS`].
static WITH_VERSION: &[&Rule] = &[
    &crate::lint::components::images::VERSION_OTHER,
    &crate::lint::metadata::rules::SERIES_MISSING,
    &crate::ops::repository::assets::COMPONENTS_MISSING,
    &crate::ops::repository::assets::METADATA_MISSING,
];

/// Whether a rule can only be checked for a release whose version is known.
pub(crate) fn depends_on_version(rule: &Rule) -> bool {
    WITH_VERSION.contains(&rule)
}

/// What a run that checks a release knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Knows {
    /// Its files.
    Files,
    /// Its version, too.
    Version,
    /// The release before, too.
    Previous,
}

/// The ids of the rules that such a run checks in every release: those whose pages have files of a
/// release as examples.
pub fn asked(knows: Knows) -> BTreeSet<&'static str> {
    let with_version = |rule: &&Rule| knows >= Knows::Version || !WITH_VERSION.contains(rule);
    let of_files = DECLARED
        .iter()
        .copied()
        .flatten()
        .copied()
        .filter(with_version);
    let of_versions = OF_VERSIONS
        .iter()
        .copied()
        .flatten()
        .copied()
        .filter(|_| knows >= Knows::Version);
    let of_upgrades = OF_UPGRADES
        .iter()
        .copied()
        .flatten()
        .copied()
        .filter(|_| knows >= Knows::Previous);
    of_files
        .chain(of_versions)
        .chain(of_upgrades)
        .filter(|rule| rule.has_release_example())
        .map(|rule| rule.id)
        .collect()
}

/// All rules, by id.
pub fn all() -> Vec<&'static Rule> {
    let declared = [DECLARED, OF_VERSIONS, OF_UPGRADES];
    let mut rules: Vec<&Rule> = declared
        .into_iter()
        .flatten()
        .copied()
        .flatten()
        .copied()
        .collect();
    rules.sort_unstable();
    rules
}

/// The rules as a table with a header.
pub fn table(rules: &[&Rule]) -> String {
    let header = ["RULE", "SEVERITY", "CLASS", "SUMMARY"].map(str::to_owned);
    let rows = rules.iter().map(|rule| {
        [
            rule.id,
            rule.severity.as_str(),
            rule.class.as_str(),
            rule.summary,
        ]
        .map(str::to_owned)
    });
    text::table(&std::iter::once(header).chain(rows).collect::<Vec<_>>())
}

/// The page of a rule in Markdown, which `explain` prints: its summary, severity, class and source,
/// then why it matters, how to fix a finding, and examples.
pub fn page(rule: &Rule) -> String {
    let Rule {
        id,
        severity,
        summary,
        url,
        class,
        catalogue,
        page,
        ..
    } = rule;
    let mut text = format!("# {id}\n\n{}\n\n", sentence(summary));
    text.push_str(&format!("- severity: {}\n", severity.as_str()));
    text.push_str(&format!("- class: {}\n", class.as_str()));
    catalogue
        .iter()
        .for_each(|number| text.push_str(&format!("- catalogue: {number}\n")));
    url.iter()
        .for_each(|url| text.push_str(&format!("- contract: {url}\n")));
    text.push_str(&format!("\n{}\n", page.trim()));
    text
}

fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string())
        .unwrap_or_default();
    // A clause that begins with code, a file or a name stays as it is.
    let is_word = clause
        .split(' ')
        .next()
        .is_some_and(|word| word.chars().all(char::is_alphabetic));
    if is_word {
        format!("{first}{}.", letters.as_str())
    } else {
        format!("{clause}.")
    }
}
