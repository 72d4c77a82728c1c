//! `repository add|list|doctor|bundle`: clusterctl local repositories, `{repository}/{label}/{version}/…`
//! (book: clusterctl, "Creating a local provider repository").

mod add;
pub(crate) mod assets;
// A tar: only the command line reads and writes one.
#[cfg(feature = "cli")]
pub mod bundle;
pub(crate) mod configuration;
pub mod doctor;
mod list;

pub use add::{Added, Destination, Placement, add, also_installed, init_arguments, needs_kubeadm};
pub use assets::{Assets, JudgedRelease, judged_release_of, release_of};
#[cfg(feature = "cli")]
pub use configuration::foreign;
pub use configuration::{CONFIGURATION_FILE, Entry, merge, rebase, relocate};
pub use list::{Listed, list, table};
