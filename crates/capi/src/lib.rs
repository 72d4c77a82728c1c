//! Cluster API without a cluster: the provider contract ([`contract`]), conversion between API
//! versions ([`conversion`]), the webhooks of core and kubeadm ([`admission`]), and the migration
//! of files ([`migrate`]). [`api`] has the types of `bootstrap.windlass.dev`.

pub mod admission;
pub mod api;
pub mod contract;
pub mod conversion;
pub mod migrate;

/// The rules of this crate, one list for each file. A test fails if one is missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[
    crate::admission::core::unknown::RULES,
    crate::admission::metadata_types::RULES,
    crate::migrate::findings::RULES,
];
