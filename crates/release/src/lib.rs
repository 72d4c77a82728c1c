//! A provider's release: provider.yaml, what is made of it, and container images.

pub mod emit;
pub mod oci;
pub mod provider;

/// The rules of this crate, by the file that declares them; a test over the sources holds the list
/// complete.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[
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
    crate::oci::elf::RULES,
    crate::oci::read::RULES,
    crate::provider::parse::RULES,
];
