//! The table of releases and machine roles.

use super::Release;

/// The machines that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machines {
    /// The control plane machine that ran `kubeadm init`.
    Init,
    /// Control plane machines that joined.
    Joined,
    /// Machines of a MachineDeployment.
    Workers,
    /// Machines of a MachinePool.
    Pool,
    /// All machines whose objects a topology makes: templates are replaced, not edited.
    Topology,
}

/// A rule that decides whether a change replaces machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The KubeadmConfig of the machine is compared with the KubeadmControlPlane.
    ControlPlane(Comparison),
    /// The version, failure domain, data Secret and references of a MachineDeployment are compared;
    /// of a reference these fields.
    Workers(&'static [&'static str]),
    /// The infrastructure provider decides.
    Provider,
    /// A template whose spec changes gets a successor with another name.
    Rotation,
}

/// What a release compares of a control plane machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The ClusterConfiguration in the Machine's annotation and the KubeadmConfig, in v1beta1.
    V1Beta1,
    /// The same in v1beta2. A machine with any joinConfiguration has joined.
    Annotated {
        /// Whether `timeouts.controlPlaneComponentHealthCheckSeconds` is ignored.
        ignores_health_check: bool,
    },
    /// The KubeadmConfig with the one that the controller would create now.
    Desired {
        /// Whether a machine that joined is recognized without `joinConfiguration.controlPlane`,
        /// which releases up to v1.11 did not always store.
        accepts_missing_control_plane: bool,
    },
}

/// A line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    machines: &'static [Machines],
    first: Release,
    last: Release,
    /// The rule that these releases apply to these machines.
    pub rule: Rule,
    /// Releases, file and function.
    pub source: &'static str,
}

const CONTROL_PLANE: &[Machines] = &[Machines::Init, Machines::Joined];

/// Since v1.11 references have no other fields.
const REFERENCE: &[&str] = &["group", "kind", "name"];

const fn row_of(
    machines: &'static [Machines],
    first: Release,
    last: Release,
    rule: Rule,
    source: &'static str,
) -> Row {
    Row {
        machines,
        first,
        last,
        rule,
        source,
    }
}

const TABLE: &[Row] = &[
    row_of(
        CONTROL_PLANE,
        Release(10, 0),
        Release(10, 10),
        Rule::ControlPlane(Comparison::V1Beta1),
        "Cluster API v1.10, controlplane/kubeadm/internal/filters.go, UpToDate",
    ),
    row_of(
        CONTROL_PLANE,
        Release(11, 0),
        Release(11, 3),
        Rule::ControlPlane(Comparison::Annotated {
            ignores_health_check: false,
        }),
        "Cluster API v1.11.0 to v1.11.3, controlplane/kubeadm/internal/filters.go, UpToDate",
    ),
    row_of(
        CONTROL_PLANE,
        Release(11, 4),
        Release(11, 11),
        Rule::ControlPlane(Comparison::Annotated {
            ignores_health_check: true,
        }),
        "Cluster API v1.11.4 to v1.11.11, controlplane/kubeadm/internal/filters.go, UpToDate",
    ),
    row_of(
        CONTROL_PLANE,
        Release(12, 0),
        Release(12, 11),
        Rule::ControlPlane(Comparison::Desired {
            accepts_missing_control_plane: false,
        }),
        "Cluster API v1.12, controlplane/kubeadm/internal/filters.go, UpToDate",
    ),
    row_of(
        CONTROL_PLANE,
        Release(13, 0),
        Release(13, 5),
        Rule::ControlPlane(Comparison::Desired {
            accepts_missing_control_plane: false,
        }),
        "Cluster API v1.13.0 to v1.13.5, controlplane/kubeadm/internal/filters.go, UpToDate",
    ),
    row_of(
        CONTROL_PLANE,
        Release(13, 6),
        Release(13, 6),
        Rule::ControlPlane(Comparison::Desired {
            accepts_missing_control_plane: true,
        }),
        "Cluster API v1.13.6, controlplane/kubeadm/internal/filters.go, UpToDate",
    ),
    row_of(
        CONTROL_PLANE,
        Release(14, 0),
        Release(14, 1),
        Rule::ControlPlane(Comparison::Desired {
            accepts_missing_control_plane: false,
        }),
        "Cluster API v1.14.0 to v1.14.1, controlplane/kubeadm/pkg/filters.go, UpToDate",
    ),
    row_of(
        CONTROL_PLANE,
        Release(14, 2),
        Release(14, 2),
        Rule::ControlPlane(Comparison::Desired {
            accepts_missing_control_plane: true,
        }),
        "Cluster API v1.14.2, controlplane/kubeadm/pkg/filters.go, UpToDate",
    ),
    row_of(
        &[Machines::Workers],
        Release(10, 0),
        Release(10, 10),
        Rule::Workers(&[
            "group",
            "kind",
            "name",
            "uid",
            "resourceVersion",
            "fieldPath",
        ]),
        "Cluster API v1.10, internal/controllers/machinedeployment/mdutil, MachineTemplateUpToDate",
    ),
    row_of(
        &[Machines::Workers],
        Release(11, 0),
        Release(11, 11),
        Rule::Workers(REFERENCE),
        "Cluster API v1.11, internal/controllers/machinedeployment/mdutil, MachineTemplateUpToDate",
    ),
    row_of(
        &[Machines::Workers],
        Release(12, 0),
        Release(12, 11),
        Rule::Workers(REFERENCE),
        "Cluster API v1.12, internal/controllers/machinedeployment/mdutil, MachineTemplateUpToDate",
    ),
    row_of(
        &[Machines::Workers],
        Release(13, 0),
        Release(13, 6),
        Rule::Workers(REFERENCE),
        "Cluster API v1.13, internal/controllers/machinedeployment/mdutil, MachineTemplateUpToDate",
    ),
    row_of(
        &[Machines::Workers],
        Release(14, 0),
        Release(14, 2),
        Rule::Workers(REFERENCE),
        "Cluster API v1.14, core/reconcilers/machinedeployment/mdutil, MachineTemplateUpToDate",
    ),
    row_of(
        &[Machines::Pool],
        Release(10, 0),
        Release(14, 2),
        Rule::Provider,
        "Cluster API v1.10 to v1.14, book: MachinePool contract",
    ),
    row_of(
        &[Machines::Topology],
        Release(10, 0),
        Release(13, 6),
        Rule::Rotation,
        "Cluster API v1.10 to v1.13, internal/controllers/topology/cluster, reconcileReferencedTemplate",
    ),
    row_of(
        &[Machines::Topology],
        Release(14, 0),
        Release(14, 2),
        Rule::Rotation,
        "Cluster API v1.14, core/reconcilers/topology/cluster, reconcileReferencedTemplate",
    ),
];

/// The row of a release; `None` when its rules are not known.
pub fn row(release: Release, machines: Machines) -> Option<&'static Row> {
    TABLE
        .iter()
        .find(|row| row.machines.contains(&machines) && row.first <= release && release <= row.last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Machines; 5] = [
        Machines::Init,
        Machines::Joined,
        Machines::Workers,
        Machines::Pool,
        Machines::Topology,
    ];

    #[test]
    fn has_one_row_for_each_release_and_role() {
        let releases = [(10, 10), (11, 11), (12, 11), (13, 6), (14, 2)];
        for (minor, newest) in releases {
            for patch in 0..=newest {
                for machines in ALL {
                    let release = Release(minor, patch);
                    let rows = TABLE.iter().filter(|row| {
                        row.machines.contains(&machines)
                            && row.first <= release
                            && release <= row.last
                    });
                    assert_eq!(rows.count(), 1, "{release:?} {machines:?}");
                }
            }
        }
    }

    #[test]
    fn has_no_row_for_unknown_releases() {
        for release in [Release(9, 9), Release(14, 3), Release(15, 0)] {
            for machines in ALL {
                assert_eq!(row(release, machines), None, "{release:?} {machines:?}");
            }
        }
    }
}
