//! YAML exactly as programs written in Go read and write it: `sigs.k8s.io/yaml` and `yaml.v3`,
//! with the location of every value.

pub mod goyaml;
pub mod libyaml;
pub mod yaml;
pub mod yaml_v3;

/// The rules of this crate, by the file that declares them; a test over the sources holds the list
/// complete.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[
    crate::yaml::builder::RULES,
    crate::yaml::limits::RULES,
    crate::yaml::syntax::RULES,
];

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
