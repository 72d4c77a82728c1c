//! What rendering gives: the bytes, and how they came to be.

use super::cloud_config::{self, NodeFile, RunItem};
use super::ignition;
use crate::render::input::request::Encoder;
use crate::render::input::role::Role;
use crate::render::plan::node_plan::NodePlan;
use windlass_capi::api::boot::{Format, IgnitionVersion};
use windlass_capi::api::secret::Sensitive;
use windlass_source::diag::FieldPath;

/// The bootstrap data of a machine, and how it came to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The role.
    pub role: Role,
    /// The cluster.
    pub cluster_name: String,
    /// The Kubernetes version.
    pub kubernetes_version: String,
    /// The format of the data.
    pub format: Format,
    /// The version of Ignition, when that is the format.
    pub ignition: Option<IgnitionVersion>,
    /// How the user's texts are written.
    pub encoder: Encoder,
    /// Where the spec is in the user's object.
    pub spec_path: FieldPath,
    /// What the node gets.
    pub plan: NodePlan,
    /// The data.
    pub data: Sensitive<Vec<u8>>,
}

impl Rendered {
    /// The files that the node gets, in the order in which they are written.
    pub fn node_files(&self) -> Vec<NodeFile<'_>> {
        match self.format {
            Format::CloudConfig => cloud_config::node_files(&self.plan, self.encoder),
            Format::Ignition => ignition::node_files(self.data.expose(), &self.plan),
        }
    }

    /// What the node runs, in this order.
    pub fn run_items(&self) -> Vec<RunItem<'_>> {
        match self.format {
            Format::CloudConfig => cloud_config::run_items(&self.plan),
            Format::Ignition => ignition::run_items(&self.plan),
        }
    }
}
