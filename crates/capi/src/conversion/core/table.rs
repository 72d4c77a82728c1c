//! Where v1beta1 and v1beta2 of Cluster API's own kinds and of the kubeadm control plane say the
//! same at different places, as one table.
//!
//! Source: the conversion functions in `api/core/v1beta1/conversion.go` and
//! `api/controlplane/kubeadm/v1beta1/conversion.go` of Cluster API.

use std::sync::LazyLock;

use crate::api::names::{GROUP, KUBEADM_GROUP};

pub(crate) const CORE_GROUP: &str = "cluster.x-k8s.io";
pub(crate) const CONTROL_PLANE_GROUP: &str = "controlplane.cluster.x-k8s.io";

/// How the values of the two versions differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Same,
    /// A duration of Go (`10m`), and whole seconds.
    Seconds,
    /// An object reference, and one with a group in place of a version.
    Reference,
    /// An object reference, and one of `apiVersion`, `kind` and `name`.
    Template,
}

/// One row: fields with `.` between, `[]` for the items of a list. Rows count one after the other:
/// what is `new` in one may be `old` in a later one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) old: String,
    pub(crate) new: String,
    pub(crate) form: Form,
}

/// What differs between the two versions of a kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// In the order from v1beta1 to v1beta2.
    pub(crate) moves: Vec<Move>,
    /// Fields of v1beta1 that v1beta2 has not; Cluster API never used them or no longer does.
    pub(crate) only_old: Vec<String>,
    /// Fields of v1beta2 that v1beta1 has not.
    pub(crate) only_new: Vec<String>,
    /// The path of the kubeadm config in objects of the kind; `None` if it has none.
    pub(crate) configs: Option<&'static str>,
}

/// Group and kind of everything that has two versions here.
pub const KINDS: [(&str, &str); 13] = [
    (CORE_GROUP, "Cluster"),
    (CORE_GROUP, "ClusterClass"),
    (CORE_GROUP, "Machine"),
    (CORE_GROUP, "MachineDeployment"),
    (CORE_GROUP, "MachineHealthCheck"),
    (CORE_GROUP, "MachinePool"),
    (CORE_GROUP, "MachineSet"),
    (KUBEADM_GROUP, "KubeadmConfig"),
    (KUBEADM_GROUP, "KubeadmConfigTemplate"),
    (GROUP, "WindlassConfig"),
    (GROUP, "WindlassConfigTemplate"),
    (CONTROL_PLANE_GROUP, "KubeadmControlPlane"),
    (CONTROL_PLANE_GROUP, "KubeadmControlPlaneTemplate"),
];

/// What differs in a kind; `None` for one that is not in [`KINDS`].
pub fn differences(group: &str, kind: &str) -> Option<&'static Differences> {
    static TABLE: LazyLock<Vec<Differences>> =
        LazyLock::new(|| KINDS.iter().map(|(_, kind)| of_kind(kind)).collect());
    let row = KINDS.iter().position(|known| *known == (group, kind))?;
    TABLE.get(row)
}

fn of_kind(kind: &str) -> Differences {
    let mut rows = Rows::default();
    match kind {
        "Cluster" => rows.cluster(),
        "ClusterClass" => rows.class(),
        "Machine" => rows.machine("spec"),
        "MachineDeployment" => rows.deployment(),
        "MachineHealthCheck" => rows.health_check("spec"),
        "MachinePool" => rows.set(),
        "MachineSet" => {
            rows.set();
            rows.same("spec", "deletePolicy", "deletion.order");
            rows.same("spec", "machineNamingStrategy", "machineNaming");
        }
        "KubeadmControlPlane" => rows.control_plane("spec", true),
        "KubeadmControlPlaneTemplate" => rows.control_plane("spec.template.spec", false),
        _ => {}
    }
    rows.0.configs = match kind {
        "KubeadmConfig" | "WindlassConfig" => Some("spec"),
        "KubeadmConfigTemplate" | "WindlassConfigTemplate" => Some("spec.template.spec"),
        "KubeadmControlPlane" => Some("spec.kubeadmConfigSpec"),
        "KubeadmControlPlaneTemplate" => Some("spec.template.spec.kubeadmConfigSpec"),
        _ => None,
    };
    rows.0
}

#[derive(Default)]
struct Rows(Differences);

impl Rows {
    fn row(&mut self, at: &str, old: &str, new: &str, form: Form) {
        self.0.moves.push(Move {
            old: format!("{at}.{old}"),
            new: format!("{at}.{new}"),
            form,
        });
    }

    fn same(&mut self, at: &str, old: &str, new: &str) {
        self.row(at, old, new, Form::Same);
    }

    fn only_new(&mut self, at: &str, fields: &[&str]) {
        self.0
            .only_new
            .extend(fields.iter().map(|field| format!("{at}.{field}")));
    }

    fn only_old(&mut self, at: &str, fields: &[&str]) {
        self.0
            .only_old
            .extend(fields.iter().map(|field| format!("{at}.{field}")));
    }

    /// What a machine waits for before it goes; below `to` in v1beta2.
    fn timeouts(&mut self, at: &str, to: &str) {
        for name in [
            "nodeDrainTimeout",
            "nodeVolumeDetachTimeout",
            "nodeDeletionTimeout",
        ] {
            self.row(at, name, &format!("{to}{name}Seconds"), Form::Seconds);
        }
    }

    fn machine(&mut self, at: &str) {
        self.row(
            at,
            "bootstrap.configRef",
            "bootstrap.configRef",
            Form::Reference,
        );
        self.row(
            at,
            "infrastructureRef",
            "infrastructureRef",
            Form::Reference,
        );
        self.timeouts(at, "deletion.");
        if at == "spec" {
            self.only_new(at, &["minReadySeconds"]);
        }
    }

    /// What MachineDeployment, MachineSet and MachinePool share.
    fn set(&mut self) {
        self.machine("spec.template.spec");
        self.same("spec", "minReadySeconds", "template.spec.minReadySeconds");
    }

    fn deployment(&mut self) {
        self.set();
        self.same("spec", "strategy", "rollout.strategy");
        self.same(
            "spec",
            "rollout.strategy.rollingUpdate.deletePolicy",
            "deletion.order",
        );
        self.same(
            "spec",
            "rollout.strategy.remediation.maxInFlight",
            "remediation.maxInFlight",
        );
        self.same("spec", "rolloutAfter", "rollout.after");
        self.same("spec", "machineNamingStrategy", "machineNaming");
        self.only_old("spec", &["revisionHistoryLimit", "progressDeadlineSeconds"]);
    }

    fn health_check(&mut self, at: &str) {
        for (old, new) in [
            ("unhealthyConditions", "checks.unhealthyNodeConditions"),
            (
                "unhealthyMachineConditions",
                "checks.unhealthyMachineConditions",
            ),
        ] {
            self.same(at, old, new);
            let conditions = format!("{at}.{new}[]");
            self.row(&conditions, "timeout", "timeoutSeconds", Form::Seconds);
        }
        self.row(
            at,
            "nodeStartupTimeout",
            "checks.nodeStartupTimeoutSeconds",
            Form::Seconds,
        );
        self.same(
            at,
            "maxUnhealthy",
            "remediation.triggerIf.unhealthyLessThanOrEqualTo",
        );
        self.same(
            at,
            "unhealthyRange",
            "remediation.triggerIf.unhealthyInRange",
        );
        self.row(
            at,
            "remediationTemplate",
            "remediation.templateRef",
            Form::Template,
        );
    }

    /// The health check of machines of a topology or a class.
    fn machine_health_check(&mut self, at: &str) {
        self.same(at, "machineHealthCheck", "healthCheck");
        self.health_check(&format!("{at}.healthCheck"));
    }

    fn machine_strategy(&mut self, at: &str) {
        self.same(at, "strategy", "rollout.strategy");
        self.same(
            at,
            "rollout.strategy.rollingUpdate.deletePolicy",
            "deletion.order",
        );
        self.same(
            at,
            "rollout.strategy.remediation.maxInFlight",
            "healthCheck.remediation.maxInFlight",
        );
    }

    fn cluster(&mut self) {
        self.row(
            "spec",
            "controlPlaneRef",
            "controlPlaneRef",
            Form::Reference,
        );
        self.row(
            "spec",
            "infrastructureRef",
            "infrastructureRef",
            Form::Reference,
        );
        self.same("spec.topology", "class", "classRef.name");
        self.same("spec.topology", "classNamespace", "classRef.namespace");
        self.only_old(
            "spec.topology",
            &["rolloutAfter", "variables[].definitionFrom"],
        );
        let control_plane = "spec.topology.controlPlane";
        let deployments = "spec.topology.workers.machineDeployments[]";
        let pools = "spec.topology.workers.machinePools[]";
        for at in [control_plane, deployments] {
            self.machine_health_check(at);
            self.same(&format!("{at}.healthCheck"), "enable", "enabled");
        }
        self.machine_strategy(deployments);
        for at in [control_plane, deployments, pools] {
            self.timeouts(at, "deletion.");
            self.only_old(at, &["variables.overrides[].definitionFrom"]);
        }
    }

    fn class(&mut self) {
        let control_plane = "spec.controlPlane";
        let deployments = "spec.workers.machineDeployments[]";
        let pools = "spec.workers.machinePools[]";
        self.row(
            "spec",
            "infrastructure.ref",
            "infrastructure.templateRef",
            Form::Template,
        );
        self.same(
            "spec",
            "infrastructureNamingStrategy",
            "infrastructure.naming",
        );
        self.row(control_plane, "ref", "templateRef", Form::Template);
        self.row(
            control_plane,
            "machineInfrastructure.ref",
            "machineInfrastructure.templateRef",
            Form::Template,
        );
        self.machine_health_check(control_plane);
        for at in [deployments, pools] {
            for part in ["metadata", "bootstrap", "infrastructure"] {
                self.same(at, &format!("template.{part}"), part);
            }
            self.row(at, "bootstrap.ref", "bootstrap.templateRef", Form::Template);
            self.row(
                at,
                "infrastructure.ref",
                "infrastructure.templateRef",
                Form::Template,
            );
        }
        self.machine_health_check(deployments);
        self.machine_strategy(deployments);
        for at in [control_plane, deployments, pools] {
            self.same(at, "namingStrategy", "naming");
            self.timeouts(at, "deletion.");
        }
        self.same("spec.variables[]", "metadata", "deprecatedV1Beta1Metadata");
        self.same(
            "spec.patches[].external",
            "generateExtension",
            "generatePatchesExtension",
        );
        self.same(
            "spec.patches[].external",
            "validateExtension",
            "validateTopologyExtension",
        );
    }

    fn control_plane(&mut self, at: &str, makes_machines: bool) {
        self.same(at, "rolloutStrategy", "rollout.strategy");
        self.same(at, "rolloutAfter", "rollout.after");
        self.same(at, "rolloutBefore", "rollout.before");
        self.same(at, "machineNamingStrategy", "machineNaming");
        self.same(at, "remediationStrategy", "remediation");
        self.row(
            at,
            "remediation.minHealthyPeriod",
            "remediation.minHealthyPeriodSeconds",
            Form::Seconds,
        );
        self.row(
            at,
            "remediation.retryPeriod",
            "remediation.retryPeriodSeconds",
            Form::Seconds,
        );
        let machine = format!("{at}.machineTemplate");
        if makes_machines {
            self.row(
                &machine,
                "infrastructureRef",
                "spec.infrastructureRef",
                Form::Reference,
            );
            self.same(&machine, "readinessGates", "spec.readinessGates");
        }
        self.same(&machine, "taints", "spec.taints");
        self.timeouts(&machine, "spec.deletion.");
    }
}
