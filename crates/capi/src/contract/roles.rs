//! Which part a kind plays between the core and its providers (book: "Provider contract"). Nothing
//! in a CRD says so: the group, the end of the kind's name and the contract labels do, by the
//! conventions of the contract pages.

use std::collections::BTreeMap;

use super::{CORE_GROUP, ProviderType};

/// The part that a kind plays in the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// What a Cluster refers to as its infrastructure.
    InfraCluster,
    /// Its template, for ClusterClasses.
    InfraClusterTemplate,
    /// What a Machine refers to as its infrastructure.
    InfraMachine,
    /// Its template, from which sets of machines are made.
    InfraMachineTemplate,
    /// What a MachinePool refers to as its infrastructure.
    InfraMachinePool,
    /// Its template, for ClusterClasses.
    InfraMachinePoolTemplate,
    /// The infrastructure of one Machine of a pool, which the pool makes: an InfraMachine that
    /// needs no template.
    MachinePoolMachine,
    /// What makes the bootstrap data of a Machine.
    BootstrapConfig,
    /// Its template, from which sets of machines are made.
    BootstrapConfigTemplate,
    /// What a Cluster refers to as its control plane.
    ControlPlane,
    /// Its template, for ClusterClasses.
    ControlPlaneTemplate,
    /// Who wants an address; a kind of the core.
    IpAddressClaim,
    /// An address; a kind of the core.
    IpAddress,
    /// A pool from which addresses are allocated; a kind of an IPAM provider.
    IpPool,
}

use Role::{
    BootstrapConfig, BootstrapConfigTemplate, ControlPlane, ControlPlaneTemplate, InfraCluster,
    InfraClusterTemplate, InfraMachine, InfraMachinePool, InfraMachinePoolTemplate,
    InfraMachineTemplate, IpAddress, IpAddressClaim, IpPool, MachinePoolMachine,
};

impl Role {
    /// All roles, in the order of their declaration.
    pub const ALL: [Role; 14] = [
        InfraCluster,
        InfraClusterTemplate,
        InfraMachine,
        InfraMachineTemplate,
        InfraMachinePool,
        InfraMachinePoolTemplate,
        MachinePoolMachine,
        BootstrapConfig,
        BootstrapConfigTemplate,
        ControlPlane,
        ControlPlaneTemplate,
        IpAddressClaim,
        IpAddress,
        IpPool,
    ];

    /// Returns the role with this name, as [`Role::as_str`] writes it; `None` for any other string.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// The word of the contract pages.
    pub fn as_str(self) -> &'static str {
        match self {
            InfraCluster => "InfraCluster",
            InfraClusterTemplate => "InfraClusterTemplate",
            InfraMachine => "InfraMachine",
            InfraMachineTemplate => "InfraMachineTemplate",
            InfraMachinePool => "InfraMachinePool",
            InfraMachinePoolTemplate => "InfraMachinePoolTemplate",
            MachinePoolMachine => "InfraMachine of a pool",
            BootstrapConfig => "BootstrapConfig",
            BootstrapConfigTemplate => "BootstrapConfigTemplate",
            ControlPlane => "ControlPlane",
            ControlPlaneTemplate => "ControlPlaneTemplate",
            IpAddressClaim => "IPAddressClaim",
            IpAddress => "IPAddress",
            IpPool => "IP address pool",
        }
    }

    /// The role of the kind that is called like this one with `Template` behind it.
    pub fn template(self) -> Option<Role> {
        match self {
            InfraCluster => Some(InfraClusterTemplate),
            InfraMachine => Some(InfraMachineTemplate),
            InfraMachinePool => Some(InfraMachinePoolTemplate),
            BootstrapConfig => Some(BootstrapConfigTemplate),
            ControlPlane => Some(ControlPlaneTemplate),
            _ => None,
        }
    }

    /// Whether sets of machines cannot be made without the template (book: "InfraMachineTemplate,
    /// …: Mandatory: Yes").
    pub fn needs_template(self) -> bool {
        matches!(self, InfraMachine | BootstrapConfig)
    }

    /// Whether objects of the kind are templates from which other objects are made.
    pub fn is_template(self) -> bool {
        matches!(
            self,
            InfraClusterTemplate
                | InfraMachineTemplate
                | InfraMachinePoolTemplate
                | BootstrapConfigTemplate
                | ControlPlaneTemplate
        )
    }

    /// Whether the core looks up versions of the kind by the contract labels of its CRD (book: "All
    /// resources: version"). The kinds of IPAM are known to it, or never looked at.
    pub fn is_looked_up(self) -> bool {
        !matches!(self, IpAddressClaim | IpAddress | IpPool)
    }

    /// Whether a controller reports the state of an object in its status.
    pub fn has_status(self) -> bool {
        self.is_looked_up() && !self.is_template()
    }
}

/// The properties of a kind from which [`Roles::of`] determines its role.
#[derive(Debug, Clone, Copy)]
pub struct KindFacts<'a> {
    /// The API group, without version: `infrastructure.cluster.x-k8s.io`.
    pub group: &'a str,
    /// The kind in CamelCase, as in objects: `DockerMachine`.
    pub kind: &'a str,
    /// Whether its CRD has a contract label.
    pub is_labelled: bool,
    /// Whose components it is in, if that is known.
    pub provider_type: Option<ProviderType>,
}

/// The roles of kinds: those that their names tell, except where somebody says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roles {
    chosen: BTreeMap<String, Option<Role>>,
}

/// The roles that names tell.
pub static STANDARD_ROLES: Roles = Roles {
    chosen: BTreeMap::new(),
};

impl Roles {
    /// The roles with another one for a kind (`Kind`, or `Kind.group`), or none.
    #[must_use]
    pub fn with(mut self, kind: &str, role: Option<Role>) -> Self {
        self.chosen.insert(kind.to_owned(), role);
        self
    }

    /// The role of a kind, if it has one.
    pub fn of(&self, facts: &KindFacts<'_>) -> Option<Role> {
        let KindFacts { group, kind, .. } = facts;
        let chosen = self
            .chosen
            .get(&format!("{kind}.{group}"))
            .or_else(|| self.chosen.get(*kind));
        chosen.copied().unwrap_or_else(|| by_name(facts))
    }
}

/// Whose kinds are in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Area {
    Infrastructure,
    Bootstrap,
    ControlPlane,
    Ipam,
    /// A group that core objects never refer to.
    Foreign,
    /// The group does not tell, but a contract label says that the core looks the kind up.
    Any,
}

/// The ends of kinds, longer ones first, and the areas in which they mean something. Some providers
/// have control planes in the group of their infrastructure (AzureManagedControlPlane).
const ENDINGS: &[(&str, &[Area], Role)] = &[
    (
        "MachinePoolTemplate",
        &[Area::Infrastructure, Area::Any],
        InfraMachinePoolTemplate,
    ),
    (
        "MachinePoolMachine",
        &[Area::Infrastructure, Area::Any],
        MachinePoolMachine,
    ),
    (
        "MachinePool",
        &[Area::Infrastructure, Area::Any],
        InfraMachinePool,
    ),
    (
        "MachineTemplate",
        &[Area::Infrastructure, Area::Any],
        InfraMachineTemplate,
    ),
    ("Machine", &[Area::Infrastructure, Area::Any], InfraMachine),
    (
        "ClusterTemplate",
        &[Area::Infrastructure, Area::Any],
        InfraClusterTemplate,
    ),
    ("Cluster", &[Area::Infrastructure, Area::Any], InfraCluster),
    (
        "ControlPlaneTemplate",
        &[Area::ControlPlane, Area::Infrastructure, Area::Any],
        ControlPlaneTemplate,
    ),
    (
        "ControlPlane",
        &[Area::ControlPlane, Area::Infrastructure, Area::Any],
        ControlPlane,
    ),
    // Elsewhere a `…Config` is somebody's settings.
    (
        "ConfigTemplate",
        &[Area::Bootstrap],
        BootstrapConfigTemplate,
    ),
    ("Config", &[Area::Bootstrap], BootstrapConfig),
];

/// Kinds with this beginning are machines that wait until an InfraMachine takes them; no Machine
/// refers to them.
const POOLED: &str = "Pooled";

fn by_name(facts: &KindFacts<'_>) -> Option<Role> {
    let area = area(facts);
    if area == Area::Ipam {
        return match facts.kind {
            "IPAddressClaim" => Some(IpAddressClaim),
            "IPAddress" => Some(IpAddress),
            kind => kind.ends_with("Pool").then_some(IpPool),
        };
    }
    let has_contract = facts.provider_type.is_none_or(ProviderType::has_contract);
    if !has_contract || facts.kind.starts_with(POOLED) {
        return None;
    }
    // The environment's name stands before it (book: "InfraCluster, InfraClusterList resource
    // definition").
    let (_, areas, role) = ENDINGS.iter().find(|(ending, ..)| {
        facts
            .kind
            .strip_suffix(ending)
            .is_some_and(|name| !name.is_empty())
    })?;
    areas.contains(&area).then_some(*role)
}

/// Groups are called after what they hold: `infrastructure.cluster.x-k8s.io`, `bootstrap.foo.dev`,
/// `vmware.infrastructure.cluster.x-k8s.io`.
fn area(facts: &KindFacts<'_>) -> Area {
    let has = |word: &str| facts.group.split('.').any(|label| label == word);
    let foreign = ["addons", "clusterctl", "operator", "runtime"];
    if facts.group == CORE_GROUP || foreign.iter().any(|word| has(word)) {
        Area::Foreign
    } else if has("ipam") {
        Area::Ipam
    } else if has("bootstrap") {
        Area::Bootstrap
    } else if has("controlplane") || has("control-plane") {
        Area::ControlPlane
    } else if has("infrastructure") {
        Area::Infrastructure
    } else if facts.is_labelled {
        labelled_area(facts.provider_type)
    } else {
        Area::Foreign
    }
}

/// Label tools put one label on all CRDs, those of other projects too, so what the components are
/// of has to fit.
fn labelled_area(provider_type: Option<ProviderType>) -> Area {
    match provider_type {
        None => Area::Any,
        Some(ProviderType::BootstrapProvider) => Area::Bootstrap,
        Some(ProviderType::ControlPlaneProvider) => Area::ControlPlane,
        Some(ProviderType::InfrastructureProvider) => Area::Infrastructure,
        // Without a contract.
        Some(_) => Area::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(
        group: &str,
        kind: &str,
        is_labelled: bool,
        provider_type: Option<ProviderType>,
    ) -> Option<Role> {
        Roles::default().of(&KindFacts {
            group,
            kind,
            is_labelled,
            provider_type,
        })
    }

    /// Kinds of providers in the wild, by the contract pages.
    #[test]
    fn groups_and_endings_tell_the_role() {
        const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";
        for (group, kind, expected) in [
            (INFRASTRUCTURE, "AWSCluster", Some(InfraCluster)),
            (
                INFRASTRUCTURE,
                "AWSClusterTemplate",
                Some(InfraClusterTemplate),
            ),
            (
                INFRASTRUCTURE,
                "AzureASOManagedControlPlane",
                Some(ControlPlane),
            ),
            (
                INFRASTRUCTURE,
                "AzureManagedControlPlaneTemplate",
                Some(ControlPlaneTemplate),
            ),
            (INFRASTRUCTURE, "DevMachinePool", Some(InfraMachinePool)),
            (
                INFRASTRUCTURE,
                "DevMachinePoolTemplate",
                Some(InfraMachinePoolTemplate),
            ),
            (
                INFRASTRUCTURE,
                "AzureMachinePoolMachine",
                Some(MachinePoolMachine),
            ),
            (
                "vmware.infrastructure.cluster.x-k8s.io",
                "VSphereMachine",
                Some(InfraMachine),
            ),
            (
                "infrastructure.harbour.example",
                "HarbourMachineTemplate",
                Some(InfraMachineTemplate),
            ),
            (
                "bootstrap.windlass.dev",
                "WindlassConfig",
                Some(BootstrapConfig),
            ),
            (
                "bootstrap.cluster.x-k8s.io",
                "EKSConfigTemplate",
                Some(BootstrapConfigTemplate),
            ),
            (
                "controlplane.cluster.x-k8s.io",
                "KThreesControlPlane",
                Some(ControlPlane),
            ),
            (
                "ipam.cluster.x-k8s.io",
                "IPAddressClaim",
                Some(IpAddressClaim),
            ),
            ("ipam.cluster.x-k8s.io", "IPAddress", Some(IpAddress)),
            (
                "ipam.cluster.x-k8s.io",
                "GlobalInClusterPrefixPool",
                Some(IpPool),
            ),
        ] {
            assert_eq!(role(group, kind, false, None), expected, "{kind}.{group}");
        }
    }

    /// The traps that were met in the wild.
    #[test]
    fn kinds_that_only_look_so_have_no_role() {
        for (group, kind) in [
            ("infrastructure.cluster.x-k8s.io", "PooledRemoteMachine"),
            ("infrastructure.cluster.x-k8s.io", "AzureClusterIdentity"),
            ("infrastructure.cluster.x-k8s.io", "Metal3DataTemplate"),
            ("infrastructure.cluster.x-k8s.io", "ROSARoleConfig"),
            ("infrastructure.cluster.x-k8s.io", "Machine"),
            ("bootstrap.cluster.x-k8s.io", "FooMachine"),
            ("runtime.cluster.x-k8s.io", "ExtensionConfig"),
            ("operator.cluster.x-k8s.io", "FooControlPlane"),
            ("cluster.x-k8s.io", "MachinePool"),
            ("cluster.x-k8s.io", "FooMachine"),
            ("k0smotron.io", "Cluster"),
            ("containerservice.azure.com", "ManagedCluster"),
        ] {
            assert_eq!(role(group, kind, false, None), None, "{kind}.{group}");
        }
    }

    /// A group of any name counts when the CRD says that it fulfils a contract, and the kind fits
    /// what the components are of.
    #[test]
    fn labels_tell_what_groups_do_not() {
        use ProviderType::{AddonProvider, BootstrapProvider, InfrastructureProvider};
        let of =
            |kind, is_labelled, provider_type| role("foo.dev", kind, is_labelled, provider_type);
        assert_eq!(of("FooMachine", false, Some(InfrastructureProvider)), None);
        assert_eq!(
            of("FooMachine", true, Some(InfrastructureProvider)),
            Some(InfraMachine)
        );
        assert_eq!(of("FooMachine", true, None), Some(InfraMachine));
        assert_eq!(of("FooMachine", true, Some(BootstrapProvider)), None);
        assert_eq!(
            of("FooConfig", true, Some(BootstrapProvider)),
            Some(BootstrapConfig)
        );
        assert_eq!(of("FooConfig", true, None), None);
        assert_eq!(of("FooMachine", true, Some(AddonProvider)), None);
        assert_eq!(
            role(
                "infrastructure.foo.dev",
                "FooMachine",
                true,
                Some(AddonProvider)
            ),
            None,
            "add-ons have no contract"
        );
    }

    #[test]
    fn somebody_may_say_otherwise() {
        let roles = Roles::default()
            .with("FooHost", Some(InfraMachine))
            .with("FooMachine.infrastructure.foo.dev", None);
        let of = |group, kind| {
            roles.of(&KindFacts {
                group,
                kind,
                is_labelled: false,
                provider_type: None,
            })
        };
        assert_eq!(of("foo.dev", "FooHost"), Some(InfraMachine));
        assert_eq!(of("infrastructure.foo.dev", "FooMachine"), None);
        assert_eq!(
            of("infrastructure.bar.dev", "FooMachine"),
            Some(InfraMachine)
        );
    }

    #[test]
    fn templates_belong_to_their_objects() {
        for role in [
            InfraCluster,
            InfraMachine,
            InfraMachinePool,
            BootstrapConfig,
            ControlPlane,
        ] {
            assert!(
                role.template().is_some_and(Role::is_template)
                    && !role.is_template()
                    && role.has_status(),
                "{role:?}"
            );
        }
        assert_eq!(MachinePoolMachine.template(), None);
        assert!(
            [IpAddressClaim, IpAddress, IpPool]
                .into_iter()
                .all(|role| !role.is_looked_up() && !role.has_status())
        );
    }
}
