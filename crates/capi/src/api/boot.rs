//! Format, platform, compression and failure handling of the bootstrap data, the same in both
//! versions. All but [`Format`] are additions of WindlassConfig.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enumeration::string_enum;

string_enum! {
    /// Format of the bootstrap data.
    pub enum Format {
        /// cloud-init's cloud-config.
        CloudConfig = "cloud-config",
        /// Ignition, as Flatcar Container Linux and Fedora CoreOS read it.
        Ignition = "ignition",
    }
}

string_enum! {
    /// Operating system that reads the bootstrap data (an addition of WindlassConfig).
    pub enum Platform {
        /// Linux.
        Linux = "linux",
        /// Windows with cloudbase-init.
        Windows = "windows",
    }
}

string_enum! {
    /// Compression of the bootstrap data as a whole (an addition of WindlassConfig).
    pub enum Compression {
        /// As it is.
        None = "none",
        /// Gzip, which the node unpacks itself.
        Gzip = "gzip",
    }
}

string_enum! {
    /// What happens on the node when a step of the bootstrap fails (an addition of WindlassConfig).
    pub enum OnFailure {
        /// The next step runs.
        Continue = "Continue",
        /// The next step runs, and the failure is reported.
        Report = "Report",
        /// The bootstrap ends, and the failure is reported.
        Abort = "Abort",
    }
}

string_enum! {
    /// Version of the Ignition specification (an addition of WindlassConfig).
    pub enum IgnitionVersion {
        /// 2.3, as the kubeadm bootstrap provider writes.
        V2_3 = "2.3",
        /// 3.4, read by Ignition 2.15.0 and newer.
        V3_4 = "3.4",
    }
}

string_enum! {
    /// Whether cloud-init treats the document as a template (an addition of WindlassConfig).
    pub enum Templating {
        /// The document is a jinja template.
        Jinja = "jinja",
        /// Braces reach the node as written.
        None = "none",
    }
}

/// Options of the format `cloud-config` (an addition of WindlassConfig).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct CloudConfig {
    /// Whether cloud-init treats the document as a jinja template. Absent: `jinja`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub templating: Option<Templating>,
}
