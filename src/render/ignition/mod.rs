//! Ignition, the format that Flatcar and Fedora CoreOS read at their first boot.
//!
//! [`version 2.3`](v2) is what CAPI's kubeadm bootstrap provider writes, byte for byte: it makes a Container Linux Config with a template
//! ([`generated`]), which a transpiler reads and translates ([`container_linux`]).

mod container_linux;
mod data_url;
mod findings;
mod generated;
mod json;
mod script;
mod texts;
mod unit_file;
mod v2;
mod v2_encoder;

pub use v2_encoder::{ADDITIONAL_REFUSED, ADDITIONAL_WARNING, CONFIG_REFUSED, Context, encode};
