//! The rules about releases of providers: what Cluster API, the API server or clusterctl would
//! reject or change. All commands that build, check or install a release call these rules with the
//! same [`Release`], so their results agree. [`gate`] lists the families of rules.

pub mod components;
pub mod components_name;
pub mod containers;
mod conversion;
pub mod definitions;
mod descriptions;
pub mod duplicates;
pub mod gate;
pub mod kustomization;
pub mod metadata;
mod namespaces;
mod pods;
mod release;
mod scalars;
mod scope;
mod template_text;
pub mod templates;
pub mod upgrade;

pub use components::Components;
pub use release::{Release, provider_of};
pub use scope::{Asked, Audience, Extent, Scope, Wishes};

/// The rules of this crate but [`UPGRADE_RULES`], one list for each file. A test fails if one is
/// missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[
    crate::components::RULES,
    crate::components::certificates::RULES,
    crate::components::claims::RULES,
    crate::components::images::RULES,
    crate::components::labels::RULES,
    crate::components::managers::RULES,
    crate::components::placeholders::RULES,
    crate::components::removed::RULES,
    crate::components::roles::RULES,
    crate::components::services::RULES,
    crate::components::services_missing::RULES,
    crate::components::variables::RULES,
    crate::components::webhook_resources::RULES,
    crate::components::webhooks::RULES,
    crate::components::workloads::RULES,
    crate::components_name::RULES,
    crate::containers::RULES,
    crate::conversion::RULES,
    crate::definitions::RULES,
    crate::definitions::bounds::RULES,
    crate::definitions::contract_labels::RULES,
    crate::definitions::fields_demanded::RULES,
    crate::definitions::kinds::RULES,
    crate::definitions::outdated::RULES,
    crate::definitions::rights::RULES,
    crate::definitions::versions::RULES,
    crate::descriptions::RULES,
    crate::duplicates::RULES,
    crate::kustomization::RULES,
    crate::metadata::rules::RULES,
    crate::namespaces::RULES,
    crate::pods::RULES,
    crate::scalars::RULES,
    crate::scope::RULES,
    crate::template_text::RULES,
    crate::templates::fields::RULES,
    crate::templates::flags::RULES,
    crate::templates::kinds::RULES,
    crate::templates::references::RULES,
    crate::templates::rules::RULES,
    crate::templates::scripts::RULES,
    crate::templates::variables::RULES,
];

/// The rules that compare a release with the previous one.
pub static UPGRADE_RULES: &[&[&windlass_source::diag::Rule]] = &[
    crate::upgrade::definitions::RULES,
    crate::upgrade::immutable::RULES,
    crate::upgrade::left_behind::RULES,
    crate::upgrade::schema::RULES,
    crate::upgrade::series::RULES,
    crate::upgrade::templates::RULES,
    crate::upgrade::variables::RULES,
];
