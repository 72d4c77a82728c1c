//! What a machine is in its cluster.

use std::fmt;

/// The role of a machine, which decides what it boots with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The first machine of the control plane: `kubeadm init`.
    Init,
    /// A further machine of the control plane: `kubeadm join`.
    ControlPlaneJoin,
    /// A worker: `kubeadm join`.
    WorkerJoin,
    /// Any machine of a MachinePool: `kubeadm join`.
    MachinePool,
}

impl Role {
    pub(crate) const ALL: [Role; 4] = [
        Role::Init,
        Role::ControlPlaneJoin,
        Role::WorkerJoin,
        Role::MachinePool,
    ];

    /// The word of flags and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Init => "init",
            Role::ControlPlaneJoin => "control-plane-join",
            Role::WorkerJoin => "worker-join",
            Role::MachinePool => "machinepool",
        }
    }

    /// The role of that word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// Whether the machine belongs to the control plane.
    pub fn is_control_plane(self) -> bool {
        matches!(self, Role::Init | Role::ControlPlaneJoin)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
