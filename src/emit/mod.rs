//! Facts to artifacts: CRDs, roles, components, templates, the whole release. Pure: values and
//! sources in, a `Tree` and a `Report` out.

pub(crate) mod account;
pub(crate) mod checksums;
pub(crate) mod components;
pub(crate) mod crd_metadata;
pub mod crds;
pub(crate) mod definitions;
pub(crate) mod install;
pub(crate) mod judged;
pub(crate) mod kustomization;
pub(crate) mod manager;
pub(crate) mod manager_patch;
pub(crate) mod metadata;
pub(crate) mod names;
pub(crate) mod patches;
pub(crate) mod rbac;
pub mod release;
pub(crate) mod sbom;
pub(crate) mod stamp;
pub mod statement;
pub(crate) mod webhooks;
