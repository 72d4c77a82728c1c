//! The check of releases: what the core, the API server or clusterctl would reject or change. Verbs
//! that build, lay in or examine a release hand it the same [`Release`], so that they cannot
//! disagree.

pub(crate) mod components;
pub(crate) mod containers;
pub(crate) mod conversion;
pub(crate) mod definitions;
pub(crate) mod descriptions;
pub(crate) mod duplicates;
pub(crate) mod gate;
pub(crate) mod kustomization;
pub(crate) mod metadata;
pub(crate) mod namespaces;
pub(crate) mod pods;
mod release;
pub(crate) mod scalars;
pub(crate) mod scope;
pub(crate) mod template_text;
pub(crate) mod templates;
pub(crate) mod upgrade;

pub(crate) use components::Components;
pub(crate) use release::{Release, provider_of};
pub(crate) use scope::{Asked, Audience, Extent, Scope, Wishes};
