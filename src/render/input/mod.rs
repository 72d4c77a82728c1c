//! What is read and asked: the user's documents, the configs among them, and what is known of the
//! machines that they are for.

pub mod cluster;
pub(crate) mod cluster_class;
pub(crate) mod filling;
pub(crate) mod origins;
pub(crate) mod outcome;
pub(crate) mod owner;
pub(crate) mod placeholder;
pub mod profile;
pub(crate) mod render_context;
pub(crate) mod request;
pub(crate) mod role;
pub(crate) mod secret;
pub mod target;
pub(crate) mod unresolved;
pub(crate) mod variables;
