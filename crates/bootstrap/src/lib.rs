//! Bootstrap data: what Cluster API writes for a config, byte for byte, and what a machine would
//! reject in it.

pub mod der;
pub mod preflight;
pub mod pyyaml;
pub mod render;

/// The rules of this crate, one list for each file. A test fails if one is missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[
    crate::preflight::cloud_config::RULES,
    crate::preflight::commands::RULES,
    crate::preflight::component_flags::RULES,
    crate::preflight::core_kinds::RULES,
    crate::preflight::gates::RULES,
    crate::preflight::kubeadm_values::RULES,
    crate::preflight::matrix::RULES,
    crate::preflight::networks::RULES,
    crate::preflight::node_files::RULES,
    crate::preflight::node_labels::RULES,
    crate::preflight::node_taints::RULES,
    crate::preflight::patch_files::RULES,
    crate::preflight::static_pods::RULES,
    crate::render::input::cluster_class::RULES,
    crate::render::input::render_context::RULES,
    crate::render::input::secret::RULES,
    crate::render::input::unresolved::RULES,
    crate::render::input::variables::RULES,
    crate::render::plan::certificate::RULES,
    crate::render::plan::content::RULES,
    crate::render::plan::discovery::RULES,
    crate::render::plan::kubeadm_run::RULES,
    crate::render::plan::planner::RULES,
    crate::render::validation::created::RULES,
    crate::render::validation::findings::RULES,
    crate::render::validation::windows::RULES,
    crate::render::write::ignition::RULES,
    crate::render::write::quirks::RULES,
];
