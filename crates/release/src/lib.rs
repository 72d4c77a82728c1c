//! A provider's release: writes it from `provider.yaml` ([`emit`]), reads the files of one
//! ([`assets`]), and packs it as a container image or OCI artifact ([`oci`]). [`commands`] has
//! `init`, `generate` and `release`.

pub mod assets;
pub mod commands;
pub mod emit;
pub mod oci;

/// The rules of this crate but [`VERSION_RULES`], one list for each file. A test fails if one is
/// missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[
    crate::assets::RULES,
    crate::commands::generate::RULES,
    crate::commands::init::RULES,
    crate::commands::release_build::RULES,
    crate::commands::release_bump::RULES,
    crate::commands::release_compare::RULES,
    crate::commands::release_diff::RULES,
    crate::commands::release_image::RULES,
    crate::commands::release_provenance::RULES,
    crate::emit::account::RULES,
    crate::emit::components::RULES,
    crate::emit::components::image::RULES,
    crate::emit::crd_metadata::RULES,
    crate::emit::definitions::RULES,
    crate::emit::install::RULES,
    crate::emit::kustomization::RULES,
    crate::emit::manager_patch::RULES,
    crate::emit::patches::RULES,
    crate::emit::release::RULES,
    crate::oci::elf::RULES,
    crate::oci::read::RULES,
];

/// The rules that apply only if the version of the release is known.
pub static VERSION_RULES: &[&[&windlass_source::diag::Rule]] =
    &[crate::commands::release_check::checksums::RULES];
