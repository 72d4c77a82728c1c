//! What is read and asked: the user's documents, the configs among them, and what is known of the machines that they are for.

pub mod cluster;
pub mod cluster_class;
pub mod origins;
pub mod outcome;
mod owner;
pub mod profile;
pub mod request;
pub mod role;
pub mod secret;
pub mod stand_in;
pub mod surroundings;
pub mod target;
pub mod unresolved;
pub mod variables;
