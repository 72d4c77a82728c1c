//! Where what a node has comes from, and why it has not what somebody expected.
//!
//! 1. [`wanted`] reads what is asked for: a path, a command, a user, a label, an argument, a field.
//! 2. [`node`] and [`documents`] list what the node of a rendered machine has, each thing with its
//!    source: a field of the config, or what the rendering filled in.
//! 3. [`steps`] follows a source back to the lines that somebody wrote: the template, the patch and
//!    its condition, the variable and where its value is, the Secret, the Cluster.
//! 4. [`absent`] says why a thing is not there; [`known`] has what Kubernetes puts there by itself.
//!
//! Sources are those that the engines recorded while they rendered and planned. Texts are searched
//! for nothing but names.

mod absent;
mod arguments;
mod documents;
mod known;
mod node;
mod sections;
mod spec;
mod steps;
mod subject;
mod thing;
mod wanted;

pub use absent::absent;
pub use node::things;
pub use steps::{Step, steps};
pub use subject::{Planned, Subject};
pub use thing::{Kind, Thing};
pub use wanted::{Wanted, WantedError};
