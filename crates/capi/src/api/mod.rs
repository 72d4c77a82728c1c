//! The API of Windlass: the kinds WindlassConfig and WindlassConfigTemplate in both versions, as
//! Rust types.
//!
//! The spec is KubeadmConfigSpec of the same version plus the fields that [`additions`] lists, so
//! the same types read a KubeadmConfig. Every optional field is an `Option`: an absent list and an
//! empty one are different values, as they are in Go. The types say what is in a document, not
//! whether it is right: bounds, enums and rules are in the schema that is made of them.

#![allow(
    unreachable_pub,
    reason = "the derive of the schema copies each struct into a function, its `pub` included"
)]

mod absent;
pub mod additions;
pub mod boot;
pub mod condition;
pub mod control_plane;
mod enumeration;
pub mod env;
pub mod files;
pub mod metadata;
pub mod names;
pub mod node;
pub mod openapi;
pub(crate) mod rules;
pub mod secret;
pub mod time;
pub mod v1beta1;
pub mod v1beta2;
