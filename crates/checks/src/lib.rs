//! What commands find in the user's files: `lint`, `validate`, `migrate`, `outlook` and `vars`, on one
//! check of an object.

pub mod charts;
pub mod commands;
pub mod fix;
mod go_template;
pub mod kustomize_files;
pub mod object_check;
pub mod settings;

/// The rules of this crate, by the file that declares them; a test over the sources holds the list
/// complete.
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
