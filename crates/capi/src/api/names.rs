//! Names of the API: group, versions, kinds and what they are called in URLs and on the command
//! line.

use std::fmt;

/// The API group of WindlassConfig and WindlassConfigTemplate.
pub const GROUP: &str = "bootstrap.windlass.dev";

/// The API group of the kubeadm bootstrap provider, whose specs these types read too.
pub const KUBEADM_GROUP: &str = "bootstrap.cluster.x-k8s.io";

/// Annotation of an object that holds what the version it was converted to cannot express; see
/// `conversion`.
pub const CONVERSION_ANNOTATION: &str = "bootstrap.windlass.dev/conversion";

/// A version of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Served, deprecated; fulfils contract v1beta1.
    V1Beta1,
    /// Served and stored; fulfils contract v1beta2.
    V1Beta2,
}

impl Version {
    /// All versions, older first.
    pub const ALL: [Version; 2] = [Version::V1Beta1, Version::V1Beta2];

    /// The version as in `apiVersion`, after the slash.
    pub fn as_str(self) -> &'static str {
        match self {
            Version::V1Beta1 => "v1beta1",
            Version::V1Beta2 => "v1beta2",
        }
    }

    /// The version of that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str() == text)
    }

    /// `apiVersion` of our objects in this version.
    pub fn api_version(self) -> String {
        format!("{GROUP}/{self}")
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A kind of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Configuration of one machine.
    Config,
    /// Pattern for the configurations of a set of machines.
    Template,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 2] = [Kind::Config, Kind::Template];

    /// Our name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Config => "WindlassConfig",
            Kind::Template => "WindlassConfigTemplate",
        }
    }

    /// The name of the kubeadm bootstrap provider's kind of the same role.
    pub fn kubeadm(self) -> &'static str {
        match self {
            Kind::Config => "KubeadmConfig",
            Kind::Template => "KubeadmConfigTemplate",
        }
    }

    /// Our kind of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The plural, as in URLs and RBAC rules.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Config => "windlassconfigs",
            Kind::Template => "windlassconfigtemplates",
        }
    }

    /// The short name for kubectl.
    pub fn short_name(self) -> &'static str {
        match self {
            Kind::Config => "wlc",
            Kind::Template => "wlct",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
