//! Bootstrap data read back: what it holds, what a change does on a machine, where each part comes
//! from, and which images it pulls.

pub mod changes;
pub mod commands;
pub mod images;
pub mod inspect;
pub mod provenance;

/// The rules of this crate, one list for each file. A test fails if one is missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[
    crate::commands::diff::RULES,
    crate::commands::render::RULES,
    crate::commands::render::secret::RULES,
    crate::commands::render::topology::RULES,
    crate::commands::size::RULES,
    crate::commands::why::RULES,
    crate::images::findings::RULES,
    crate::inspect::findings::RULES,
];
