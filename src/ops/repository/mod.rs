//! `repository add|list|doctor`: clusterctl local repositories, `{repository}/{label}/{version}/…`
//! (book: clusterctl, "Creating a local provider repository").

mod add;
mod assets;
mod configuration;
pub mod doctor;
mod list;

pub use add::{Added, Destination, Placement, add, also_installed, init_arguments};
pub use assets::{Assets, release_of};
pub use configuration::{CONFIGURATION_FILE, Entry, merge};
pub use list::{Listed, list, table};
