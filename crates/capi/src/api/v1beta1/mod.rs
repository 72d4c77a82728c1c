//! Version v1beta1, deprecated: contract v1beta1.

mod cluster_configuration;
mod discovery;
mod disks;
mod ignition;
mod init_configuration;
mod join_configuration;
mod node_registration;
mod status;
mod users;
mod windlass_config;
mod windlass_config_template;

pub use cluster_configuration::*;
pub use discovery::*;
pub use disks::*;
pub use ignition::*;
pub use init_configuration::*;
pub use join_configuration::*;
pub use node_registration::*;
pub use status::*;
pub use users::*;
pub use windlass_config::*;
pub use windlass_config_template::*;
