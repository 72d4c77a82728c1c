//! Bootstrap data offline: from the user's documents to the bytes that a machine boots with.
//!
//! A document walks through four rooms, and a room uses only those before it:
//!
//! 1. [`input`]: what is read and asked. A pool of objects of all kinds, the configs among them,
//!    the machines they are for, and their render context: cluster, role, version.
//! 2. [`validation`]: a config is checked as its API would check it, and brought to v1beta2.
//! 3. [`plan`]: what the node gets, whatever the format.
//! 4. [`write`](mod@write): the plan as cloud-config or Ignition, as a named CAPI release writes
//!    it, and what is lost or too large in that form.
//!
//! [`machine`] is the whole way. Which CAPI release is matched is a row of the table in
//! [`input::profile`].

pub mod input;
pub mod machine;
pub mod plan;
pub mod validation;
pub mod write;

pub use input::origins::{Origins, report_undeclared};
pub use input::outcome::Notes;
pub use input::placeholder::Placeholder;
pub use input::profile::Profile;
pub use input::request::{Encoder, FeatureGates, Request};
pub use input::role::Role;
pub use input::target::{Target, targets};
pub use input::unresolved::unresolved;
pub use input::variables::Variables;
pub use machine::{Outcome, render};
pub use windlass_objects::Pool;
pub use write::rendered::Rendered;
