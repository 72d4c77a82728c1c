//! `repository add|list|images|doctor|bundle|configmap|push|pull`: clusterctl local repositories,
//! `{repository}/{label}/{version}/…` (book: clusterctl, "Creating a local provider repository").

mod add;
pub(crate) mod assets;
// Tars: only the command line reads and writes them.
pub mod bundle;
pub(crate) mod cert_manager;
pub(crate) mod config_map;
pub(crate) mod configuration;
pub mod doctor;
pub(crate) mod images;
mod init;
pub(crate) mod list;
// Registries: only the command line knows them.
pub(crate) mod mirror;
pub(crate) mod overrides;
pub(crate) mod pull;
pub(crate) mod push;
// What verifies signatures is the command line's.
pub mod signed;
pub mod site;
pub mod tars;
mod within;

pub use add::{Added, Destination, Placement, add};
pub use assets::{Assets, CheckedRelease, Stated, judged_release_of, release_of};
pub use cert_manager::{Manifest, add_cert_manager, is_manifest, manifest_of};
pub use config_map::{ConfigMap, config_maps, is_namespace, text as config_map_text};
pub use configuration::foreign;
pub use configuration::{CONFIGURATION_FILE, Entry, merge, rebase, relocate};
pub use images::{ListedImage, images};
pub use init::{Implied, implied, init_arguments, needs_kubeadm};
pub use list::{Listed, cert_managers, list, nothing, table};
pub use mirror::registry;
pub use overrides::{Mirrored, mirrored};
pub use within::{Within, release_within, version_of_folder};
