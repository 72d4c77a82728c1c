//! How much user data infrastructures take, and what their providers do with it before.
//!
//! A table, so that `size` and whoever warns of large data say the same.

use windlass_capi::api::boot::Format;

/// What a limit is a limit of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    /// The bytes that the machine reads.
    Raw,
    /// The base64 of these bytes.
    Base64,
}

impl Measured {
    /// The word of reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Measured::Raw => "raw",
            Measured::Base64 => "base64",
        }
    }
}

/// Which data a provider compresses by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gzips {
    /// None.
    Nothing,
    /// cloud-config.
    CloudConfig,
    /// Ignition.
    Ignition,
    /// All.
    All,
}

impl Gzips {
    /// Whether data of a format is compressed.
    pub fn takes(self, format: Format) -> bool {
        match self {
            Gzips::Nothing => false,
            Gzips::CloudConfig => format == Format::CloudConfig,
            Gzips::Ignition => format == Format::Ignition,
            Gzips::All => true,
        }
    }
}

/// The limit of one way to hand user data to a machine.
#[derive(Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its name in flags and reports.
    pub infrastructure: &'static str,
    /// How the kinds of its objects begin.
    kinds: &'static [&'static str],
    /// The most bytes.
    pub bytes: usize,
    /// What is counted.
    pub measured: Measured,
    /// What the provider compresses unless it is told not to.
    pub gzips: Gzips,
    /// Where the provider puts the data in place of user data, and when; empty: it does not.
    pub moved: &'static str,
    /// Where the number is from.
    pub source: &'static str,
    /// Where it says what the provider does; empty: it sends the data as it is.
    pub of_provider: &'static str,
}

/// The machines whose provider puts all data elsewhere unless it is told not to, which only the
/// object of the infrastructure says (`Limit::moved` of its infrastructure): nothing speaks of
/// their limit unasked.
const MOVED_BY_DEFAULT: [&str; 1] = ["AWSMachine"];

/// Whether the data of a machine of that kind goes elsewhere by default.
pub(crate) fn is_moved_by_default(kind: &str) -> bool {
    MOVED_BY_DEFAULT.contains(&kind)
}

/// All limits, by name.
pub static LIMITS: &[Limit] = &[
    Limit {
        infrastructure: "aws",
        kinds: &["AWS"],
        bytes: 16_384,
        measured: Measured::Raw,
        // `spec.uncompressedUserData` of an AWSMachine says otherwise.
        gzips: Gzips::CloudConfig,
        moved: "cloud-config to Secrets Manager or SSM unless cloudInit.insecureSkipSecretsManager, Ignition to S3 unless ignition.storageType \
                is UnencryptedUserData; data of an AWSMachinePool stays",
        source: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html",
        of_provider: "https://github.com/kubernetes-sigs/cluster-api-provider-aws/blob/main/docs/book/src/topics/userdata-privacy.md",
    },
    Limit {
        infrastructure: "azure",
        kinds: &["Azure"],
        bytes: 65_535,
        measured: Measured::Raw,
        gzips: Gzips::Nothing,
        moved: "",
        source: "https://learn.microsoft.com/en-us/dotnet/api/azure.resourcemanager.computeschedule.models.virtualmachineosprofile.customdata",
        of_provider: "",
    },
    Limit {
        infrastructure: "cloud-director",
        kinds: &["VCD"],
        bytes: 65_536,
        measured: Measured::Base64,
        gzips: Gzips::Ignition,
        moved: "",
        source: "https://github.com/vmware-archive/cluster-api-provider-cloud-director/pull/656",
        of_provider: "https://github.com/vmware-archive/cluster-api-provider-cloud-director/pull/656",
    },
    Limit {
        infrastructure: "cloudstack",
        kinds: &["CloudStack"],
        // The default of the setting vm.userdata.max.length.
        bytes: 32_768,
        measured: Measured::Base64,
        gzips: Gzips::All,
        moved: "",
        source: "https://docs.cloudstack.apache.org/en/latest/adminguide/virtual_machines/user-data.html",
        of_provider: "https://github.com/kubernetes-sigs/cluster-api-provider-cloudstack/pull/14",
    },
    Limit {
        infrastructure: "gcp",
        kinds: &["GCP"],
        bytes: 262_144,
        measured: Measured::Raw,
        gzips: Gzips::Nothing,
        moved: "",
        source: "https://cloud.google.com/compute/docs/reference/rest/v1/Metadata",
        of_provider: "",
    },
    Limit {
        infrastructure: "hetzner",
        // A machine of bare metal gets its data by SSH.
        kinds: &["HCloud", "HetznerCluster"],
        bytes: 32_768,
        measured: Measured::Raw,
        gzips: Gzips::Nothing,
        moved: "",
        source: "https://docs.hetzner.com/cloud/servers/getting-started/creating-a-server/",
        of_provider: "",
    },
    Limit {
        infrastructure: "ibm-vpc",
        kinds: &["IBMVPC"],
        bytes: 65_536,
        measured: Measured::Raw,
        gzips: Gzips::Nothing,
        moved: "",
        source: "https://cloud.ibm.com/docs/vpc?topic=vpc-user-data",
        of_provider: "",
    },
    Limit {
        infrastructure: "linode",
        kinds: &["Linode"],
        bytes: 16_384,
        measured: Measured::Raw,
        gzips: Gzips::Nothing,
        moved: "to object storage when the LinodeCluster has an objectStore",
        source: "https://github.com/linode/cluster-api-provider-linode/pull/94",
        of_provider: "https://github.com/linode/cluster-api-provider-linode/pull/586",
    },
    Limit {
        infrastructure: "nutanix",
        kinds: &["Nutanix"],
        bytes: 32_768,
        measured: Measured::Raw,
        gzips: Gzips::Nothing,
        moved: "",
        source: "https://github.com/nutanix-cloud-native/cluster-api-provider-nutanix/pull/406",
        of_provider: "",
    },
    Limit {
        infrastructure: "openstack",
        kinds: &["OpenStack"],
        bytes: 65_535,
        measured: Measured::Base64,
        gzips: Gzips::Nothing,
        moved: "",
        source: "https://docs.openstack.org/nova/stein/user/user-data.html",
        of_provider: "",
    },
    Limit {
        infrastructure: "vsphere",
        kinds: &["VSphere"],
        // As a customization with cloud-init's raw data.
        bytes: 524_288,
        measured: Measured::Raw,
        gzips: Gzips::Nothing,
        moved: "",
        source: "https://developer.broadcom.com/xapis/virtual-infrastructure-json-api/latest/data-structures/CustomizationCloudinitPrep",
        of_provider: "",
    },
    Limit {
        infrastructure: "vsphere-guestinfo",
        kinds: &["VSphere"],
        // One value of guestinfo, as open-vm-tools reads it.
        bytes: 65_536,
        measured: Measured::Base64,
        gzips: Gzips::Nothing,
        moved: "",
        source: "https://github.com/vmware-tanzu/vm-operator/issues/148",
        of_provider: "",
    },
];

/// The limits of the infrastructure to which a kind of object belongs; none for a kind of another
/// group or one that is not known.
pub fn of_kind(group: &str, kind: &str) -> Vec<&'static Limit> {
    const GROUP: &str = "infrastructure.cluster.x-k8s.io";
    let is_of =
        |limit: &&Limit| group == GROUP && limit.kinds.iter().any(|start| kind.starts_with(start));
    LIMITS.iter().filter(is_of).collect()
}

impl Limit {
    /// How many bytes count of data that has so many, and so many compressed.
    pub fn counted(&self, format: Format, raw: usize, gzip: usize) -> usize {
        let sent = if self.gzips.takes(format) { gzip } else { raw };
        match self.measured {
            Measured::Raw => sent,
            Measured::Base64 => base64_len(sent),
        }
    }
}

/// How long the base64 of so many bytes is, with padding (RFC 4648, section 4).
pub fn base64_len(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(name: &str) -> &'static Limit {
        LIMITS
            .iter()
            .find(|limit| limit.infrastructure == name)
            .unwrap()
    }

    #[test]
    fn what_counts_is_what_the_infrastructure_gets() {
        let counted = |name: &str, format| limit(name).counted(format, 30_000, 10_000);
        assert_eq!(counted("hetzner", Format::CloudConfig), 30_000);
        assert_eq!(counted("openstack", Format::CloudConfig), 40_000);
        assert_eq!(
            (
                counted("aws", Format::CloudConfig),
                counted("aws", Format::Ignition)
            ),
            (10_000, 30_000)
        );
        assert_eq!(counted("cloudstack", Format::CloudConfig), 13_336);
    }

    /// 65,535 after base64 are 49,149 bytes before.
    #[test]
    fn the_largest_data_for_nova_has_49149_bytes() {
        let nova = limit("openstack");
        let fits = |bytes| nova.counted(Format::CloudConfig, bytes, 0) <= nova.bytes;
        assert!(fits(49_149) && !fits(49_152));
    }

    #[test]
    fn kinds_of_an_infrastructure_are_known_by_their_names() {
        let names = |kind: &str| {
            of_kind("infrastructure.cluster.x-k8s.io", kind)
                .iter()
                .map(|limit| limit.infrastructure)
                .collect::<Vec<_>>()
        };
        assert_eq!(names("AWSMachineTemplate"), ["aws"]);
        assert_eq!(names("HCloudMachine"), ["hetzner"]);
        assert_eq!(
            names("VSphereMachineTemplate"),
            ["vsphere", "vsphere-guestinfo"]
        );
        assert!(
            names("HetznerBareMetalMachineTemplate").is_empty()
                && names("DockerMachine").is_empty()
        );
        assert!(of_kind("example.org", "AWSMachine").is_empty());
    }

    #[test]
    fn the_table_is_sorted_and_each_number_has_a_source() {
        assert!(LIMITS.is_sorted_by_key(|limit| limit.infrastructure));
        assert!(
            LIMITS
                .iter()
                .all(|limit| limit.source.starts_with("https://") && !limit.kinds.is_empty())
        );
        assert!(
            LIMITS
                .iter()
                .all(|limit| limit.moved.is_empty() || limit.of_provider.starts_with("https://"))
        );
    }
}
