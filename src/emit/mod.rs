//! Facts in, artifacts out: what a release is made of.

pub mod crds;
