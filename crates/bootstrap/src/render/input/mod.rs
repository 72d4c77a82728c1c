//! What is read and asked: the user's documents, the configs among them, and what is known of the
//! machines that they are for.

pub mod cluster;
pub mod cluster_class;
pub mod filling;
pub(crate) mod origins;
pub(crate) mod outcome;
pub mod owner;
pub mod placeholder;
pub mod profile;
pub mod render_context;
pub(crate) mod request;
pub(crate) mod role;
pub mod secret;
pub mod target;
pub mod unresolved;
pub mod variables;
