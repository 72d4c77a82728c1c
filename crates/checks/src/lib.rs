//! The commands that check the user's files: `lint`, `validate`, `migrate`, `outlook` and `vars`
//! ([`commands`]). All check an object with [`object_check`].

pub mod charts;
pub mod commands;
pub mod fix;
mod go_template;
pub mod kustomize_files;
pub mod object_check;
pub mod settings;

/// The rules of this crate, one list for each file. A test fails if one is missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[
    crate::charts::RULES,
    crate::commands::lint::RULES,
    crate::commands::migrate::RULES,
    crate::commands::outlook::api_versions::RULES,
    crate::commands::outlook::cloud_init::RULES,
    crate::commands::outlook::contracts::RULES,
    crate::commands::outlook::fields::RULES,
    crate::commands::outlook::flags::RULES,
    crate::commands::outlook::gates::RULES,
    crate::commands::outlook::hosts::RULES,
    crate::commands::outlook::kinds::RULES,
    crate::commands::outlook::kubeadm_api::RULES,
    crate::commands::outlook::rules::RULES,
    crate::commands::validate::RULES,
    crate::fix::RULES,
    crate::settings::RULES,
];
