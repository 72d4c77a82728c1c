//! Texts and the languages they are written in: YAML as Go reads and writes it, clusterctl's
//! substitution, folders in memory. Knows nothing of Kubernetes or of us, and never touches a file.

pub mod budget;
pub(crate) mod cut;
pub(crate) mod der;
pub(crate) mod edit;
pub mod envsubst;
pub mod glob;
pub mod go;
pub(crate) mod go_template;
pub mod goyaml;
pub mod gzip;
pub(crate) mod hex;
pub(crate) mod libyaml;
pub(crate) mod names;
pub mod nearest;
pub(crate) mod pyyaml;
pub(crate) mod quantity;
pub(crate) mod shell;
pub mod source;
mod steps;
pub mod tree;
pub mod url;
pub mod yaml;
pub(crate) mod yaml_v3;
