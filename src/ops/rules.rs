//! The registry: every rule that this program knows.

use crate::diag::Rule;
use crate::report::text;

/// The rules of all files that declare some; a test over the sources holds the list complete.
static DECLARED: &[&[&Rule]] = &[
    crate::emit::account::RULES,
    crate::emit::components::image::RULES,
    crate::emit::components::RULES,
    crate::emit::crd_metadata::RULES,
    crate::emit::definitions::RULES,
    crate::emit::install::RULES,
    crate::emit::kustomization::RULES,
    crate::emit::manager_patch::RULES,
    crate::emit::release::RULES,
    crate::objects::misfit::RULES,
    crate::objects::read::RULES,
    crate::lint::components::RULES,
    crate::lint::containers::RULES,
    crate::lint::conversion::RULES,
    crate::lint::definitions::RULES,
    crate::lint::descriptions::RULES,
    crate::lint::duplicates::RULES,
    crate::lint::metadata::RULES,
    crate::lint::namespaces::RULES,
    crate::lint::pods::RULES,
    crate::lint::scalars::RULES,
    crate::lint::template_text::RULES,
    crate::lint::templates::RULES,
    crate::ops::generate::RULES,
    crate::ops::init::RULES,
    crate::ops::release_build::RULES,
    crate::ops::release_bump::RULES,
    crate::ops::release_compare::RULES,
    crate::ops::release_diff::RULES,
    crate::ops::render::RULES,
    crate::ops::render::secret::RULES,
    crate::ops::repository::assets::RULES,
    #[cfg(feature = "cli")]
    crate::ops::repository::bundle::RULES,
    crate::ops::repository::cert_manager::RULES,
    crate::ops::repository::configuration::RULES,
    crate::ops::repository::doctor::configuration::RULES,
    crate::ops::repository::doctor::RULES,
    crate::ops::repository::doctor::versions::RULES,
    crate::ops::repository::images::RULES,
    crate::provider::parse::RULES,
    crate::render::input::cluster_class::RULES,
    crate::render::input::secret::RULES,
    crate::render::input::surroundings::RULES,
    crate::render::input::unresolved::RULES,
    crate::render::input::variables::RULES,
    crate::render::plan::certificate::RULES,
    crate::render::plan::content::RULES,
    crate::render::plan::discovery::RULES,
    crate::render::plan::kubeadm_run::RULES,
    crate::render::plan::planner::RULES,
    crate::render::prove::config::RULES,
    crate::render::prove::windows::RULES,
    crate::render::write::ignition::RULES,
    crate::render::write::quirks::RULES,
    crate::text::source::RULES,
    crate::text::yaml::builder::RULES,
    crate::text::yaml::limits::RULES,
    crate::text::yaml::syntax::RULES,
];

/// All rules, by id.
pub fn all() -> Vec<&'static Rule> {
    let mut rules: Vec<&Rule> = DECLARED.iter().copied().flatten().copied().collect();
    rules.sort_unstable();
    rules
}

/// The rules as a table with a header.
pub fn table(rules: &[&Rule]) -> String {
    let header = ["RULE", "SEVERITY", "CLASS", "SUMMARY"].map(str::to_owned);
    let rows = rules.iter().map(|rule| [rule.id, rule.severity.as_str(), rule.class.as_str(), rule.summary].map(str::to_owned));
    text::table(&std::iter::once(header).chain(rows).collect::<Vec<_>>())
}
