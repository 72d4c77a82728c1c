//! YAML exactly as programs written in Go read and write it, with the location of every value:
//! [`yaml`] reads as `sigs.k8s.io/yaml` (Kubernetes objects), [`yaml_v3`] as `go.yaml.in/yaml/v3`
//! (other files), and [`goyaml`] writes.

pub mod goyaml;
mod libyaml;
pub mod yaml;
pub mod yaml_v3;

/// The rules of this crate, one list for each file. A test fails if one is missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[
    crate::yaml::builder::RULES,
    crate::yaml::limits::RULES,
    crate::yaml::syntax::RULES,
];

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
