//! `repository add|list|images|doctor|bundle|configmap|push|pull`: clusterctl local repositories,
//! `{repository}/{label}/{version}/…` (book: clusterctl, "Creating a local provider repository").

mod add;
pub mod bundle;
mod cert_manager;
mod config_map;
mod configuration;
pub mod doctor;
mod images;
mod init;
mod list;
mod mirror;
mod overrides;
pub mod pull;
pub mod push;
pub mod signed;
pub mod site;
pub mod tars;
mod within;

pub use add::{Added, Destination, Placement, add};
pub use cert_manager::{Manifest, add_cert_manager, is_manifest, manifest_of};
pub use config_map::{ConfigMap, config_maps, is_namespace, text as config_map_text};
pub use configuration::{CONFIGURATION_FILE, Entry, foreign, merge, rebase, relocate};
pub use images::{ListedImage, images};
pub use init::{Implied, implied, init_arguments, needs_kubeadm};
pub use list::{Listed, cert_managers, list, nothing, table};
pub use mirror::registry;
pub use overrides::{Mirrored, mirrored};
pub use windlass_clusterctl::repository::version_of_folder;
pub use windlass_release::assets::{Assets, CheckedRelease, Stated, judged_release_of, release_of};
pub use within::{Within, release_within};

/// The rules of this crate, one list for each file. A test fails if one is missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[
    crate::bundle::RULES,
    crate::cert_manager::RULES,
    crate::config_map::RULES,
    crate::configuration::RULES,
    crate::doctor::RULES,
    crate::doctor::configuration::RULES,
    crate::doctor::image_keys::RULES,
    crate::doctor::versions::RULES,
    crate::images::RULES,
    crate::list::RULES,
    crate::mirror::RULES,
    crate::overrides::RULES,
    crate::pull::RULES,
    crate::push::RULES,
    crate::signed::RULES,
    crate::site::RULES,
    crate::tars::RULES,
];
