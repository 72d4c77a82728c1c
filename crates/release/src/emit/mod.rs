//! Facts to artifacts: CRDs, roles, components, templates, the whole release. Pure: values and
//! sources in, a `Tree` and a `Report` out.

pub(crate) mod account;
pub mod checksums;
pub mod components;
pub(crate) mod crd_metadata;
pub mod crds;
pub mod definitions;
pub mod install;
pub mod judged;
pub(crate) mod kustomization;
pub mod manager;
pub(crate) mod manager_patch;
pub mod metadata;
pub mod names;
pub(crate) mod patches;
pub(crate) mod rbac;
pub mod release;
pub mod sbom;
pub(crate) mod stamp;
pub mod statement;
pub mod webhooks;
