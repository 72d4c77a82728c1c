//! Bootstrap data offline: from the user's documents to the bytes that a machine boots with.
//!
//! The way is parse → convert → prove → plan → encode. [`pool`] reads documents of all kinds, [`target`] finds the configs among them and
//! the machines they are for, [`surroundings`] looks up cluster, role and version, [`config`] proves a config and brings it to v1beta2,
//! [`planner`] makes a [`plan`] of it, which says what the node gets whatever the format, and an encoder writes the plan down; [`machine`] is
//! the whole way.
//! Which CAPI release is matched is a row of the table in [`profile`].

pub mod certificate;
pub mod cloud_config;
pub mod cluster;
pub mod cluster_class;
pub mod config;
pub mod content;
pub mod discovery;
pub mod failure;
pub mod gzip;
pub mod ignition;
mod key_hash;
pub mod kubeadm;
pub mod kubeadm_run;
pub mod legacy;
pub mod machine;
pub mod object;
pub mod origins;
mod outcome;
mod owner;
pub mod plan;
pub mod planner;
pub mod pool;
pub mod profile;
pub mod quirks;
mod request;
mod role;
pub mod secret;
pub mod size;
pub mod stand_in;
pub mod surroundings;
pub mod target;

pub use machine::{Rendered, render};
pub use origins::Origins;
pub use outcome::Notes;
pub use pool::Pool;
pub use profile::Profile;
pub use request::{FeatureGates, Request};
pub use role::Role;
pub use stand_in::StandIn;
pub use target::{Target, targets};
