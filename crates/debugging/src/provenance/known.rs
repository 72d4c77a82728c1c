//! What Kubernetes and the provider put onto a node by themselves.

use super::thing::Kind;
use windlass_bootstrap::render::write::cloud_config::Phase;

/// What a program makes on every node of some roles, whatever the bootstrap data says.
#[derive(Debug)]
pub(crate) struct Known {
    kind: Kind,
    /// The name; with a `/` at its end all below it.
    name: &'static str,
    /// Whether only nodes of the control plane have it.
    of_control_plane: bool,
    /// Who makes it.
    pub(super) why: &'static str,
}

const fn file(name: &'static str, of_control_plane: bool, why: &'static str) -> Known {
    Known {
        kind: Kind::File,
        name,
        of_control_plane,
        why,
    }
}

const fn label(name: &'static str, of_control_plane: bool, why: &'static str) -> Known {
    Known {
        kind: Kind::Label,
        name,
        of_control_plane,
        why,
    }
}

const fn taint(name: &'static str, of_control_plane: bool, why: &'static str) -> Known {
    Known {
        kind: Kind::Taint,
        name,
        of_control_plane,
        why,
    }
}

const KUBECONFIGS: &str = "kubeadm makes it on the node while it runs (phase kubeconfig)";
const KUBELET_LABEL: &str = "the kubelet sets it by itself when it registers its Node";
const CLOUD_LABEL: &str =
    "the cloud provider of Kubernetes sets it, or the kubelet with `node-labels`";
const ROLE_LABEL: &str = "kubeadm sets it while it runs (phase mark-control-plane)";

/// kubeadm: "Implementation details", "Constants and well-known values and paths"; Kubernetes:
/// "Well-Known Labels, Annotations and Taints"; cloud-init: "Directory layout". The first that fits
/// counts.
static KNOWN: [Known; 22] = [
    file(
        "/run/cluster-api/bootstrap-success.complete",
        false,
        "kubeadm's command writes it when kubeadm has succeeded: by it Cluster API knows that the machine is up",
    ),
    file("/etc/kubernetes/admin.conf", true, KUBECONFIGS),
    file(
        "/etc/kubernetes/super-admin.conf",
        true,
        "kubeadm makes it on the first node while it runs (phase kubeconfig)",
    ),
    file("/etc/kubernetes/controller-manager.conf", true, KUBECONFIGS),
    file("/etc/kubernetes/scheduler.conf", true, KUBECONFIGS),
    file(
        "/etc/kubernetes/kubelet.conf",
        false,
        "kubeadm makes it on the node while it runs; on joining nodes the kubelet does, from its bootstrap token",
    ),
    file(
        "/etc/kubernetes/bootstrap-kubelet.conf",
        false,
        "kubeadm join makes it from the token of discovery, for the kubelet's first start",
    ),
    file(
        "/etc/kubernetes/manifests/",
        true,
        "kubeadm makes the static pods while it runs, from clusterConfiguration (phases control-plane and etcd)",
    ),
    file(
        "/etc/kubernetes/pki/ca.crt",
        false,
        "kubeadm join fetches it from the cluster and writes it (workers have it from nowhere else)",
    ),
    file(
        "/etc/kubernetes/pki/",
        true,
        "kubeadm makes it on the node while it runs, signed by the cluster's CAs (phase certs)",
    ),
    file(
        "/var/lib/kubelet/config.yaml",
        false,
        "kubeadm writes it while it runs, from the ConfigMap kubelet-config of the cluster (phase kubelet-start); kubeletExtraArgs are not in it",
    ),
    file(
        "/var/lib/kubelet/kubeadm-flags.env",
        false,
        "kubeadm writes it while it runs, from nodeRegistration: kubeletExtraArgs and taints are there (phase kubelet-start)",
    ),
    file(
        "/var/lib/cloud/",
        false,
        "cloud-init writes what it read and did there",
    ),
    file(
        "/var/log/cloud-init",
        false,
        "cloud-init writes its log there; `windlass inspect` explains its lines",
    ),
    label("node-role.kubernetes.io/control-plane", true, ROLE_LABEL),
    label(
        "node.kubernetes.io/exclude-from-external-load-balancers",
        true,
        ROLE_LABEL,
    ),
    taint(
        "node-role.kubernetes.io/control-plane",
        true,
        "kubeadm sets it while it runs (phase mark-control-plane), unless nodeRegistration has `taints`",
    ),
    label("kubernetes.io/hostname", false, KUBELET_LABEL),
    label("kubernetes.io/os", false, KUBELET_LABEL),
    label("kubernetes.io/arch", false, KUBELET_LABEL),
    label("node.kubernetes.io/instance-type", false, CLOUD_LABEL),
    label("topology.kubernetes.io/", false, CLOUD_LABEL),
];

/// What makes a thing of that name on such a node, if something does.
pub(super) fn known(kind: Kind, name: &str, is_control_plane: bool) -> Option<&'static Known> {
    let fits = |known: &&Known| {
        let is_it = known.name == name
            || known.name.ends_with('/') && name.starts_with(known.name)
            || is_log(known, name);
        known.kind == kind && is_it && (is_control_plane || !known.of_control_plane)
    };
    KNOWN.iter().find(fits)
}

/// Logs have several names with the same beginning.
fn is_log(known: &Known, name: &str) -> bool {
    known.name.starts_with("/var/log/") && name.starts_with(known.name)
}

/// Why the provider writes a file that no field of the config names.
pub(super) fn of_provider(path: &str) -> &'static str {
    match path.rsplit(['/', '\\']).next().unwrap_or_default() {
        "kubeadm.yaml" | "kubeadm-join-config.yaml" | "kubeadm.yml" => {
            "the provider writes what kubeadm reads into it: clusterConfiguration and initConfiguration, or joinConfiguration, completed from \
             Cluster and Machine"
        }
        "placeholder" => {
            "the provider writes it so that the folder of bootstrap-success.complete is there"
        }
        "kubeadm.sh" => {
            "the provider writes the commands and kubeadm's into it; with Ignition a systemd unit runs it"
        }
        "kubeadm-bootstrap-script" => {
            "the provider writes it for `useExperimentalRetryJoin`: it runs kubeadm join several times"
        }
        "ntp.conf" => "the provider writes it from `ntp`, which Ignition has no section for",
        "sshd_config" => "the provider writes it because of `lockPassword` of a user",
        _ => "the provider writes it from a field that Ignition has no section for",
    }
}

/// Why a command runs that no field of the config has.
pub(super) fn of_phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Kubeadm => {
            "the provider runs kubeadm, and has it write bootstrap-success.complete when it succeeds"
        }
        Phase::OnFailure => "`onFailure` of the config watches the commands",
        Phase::Directories | Phase::PreKubeadm | Phase::PostKubeadm => "the provider adds it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kubeadm_makes_is_known_by_role() {
        let why = |kind, name, is_control_plane| {
            known(kind, name, is_control_plane).map(|known| known.why)
        };
        assert_eq!(
            why(Kind::File, "/etc/kubernetes/admin.conf", true),
            Some(KUBECONFIGS)
        );
        assert_eq!(
            why(Kind::File, "/etc/kubernetes/admin.conf", false),
            None,
            "a worker has none"
        );
        assert!(
            why(Kind::File, "/etc/kubernetes/pki/apiserver.crt", true)
                .unwrap()
                .contains("signed by")
        );
        assert!(
            why(Kind::File, "/etc/kubernetes/pki/ca.crt", false)
                .unwrap()
                .contains("kubeadm join")
        );
        assert_eq!(
            why(Kind::File, "/etc/kubernetes/pki/apiserver.crt", false),
            None
        );
        let mark = |is_control_plane| {
            why(
                Kind::Taint,
                "node-role.kubernetes.io/control-plane",
                is_control_plane,
            )
        };
        assert!(mark(true).unwrap().contains("mark-control-plane") && mark(false).is_none());
        assert_eq!(
            why(Kind::Label, "topology.kubernetes.io/zone", false),
            Some(CLOUD_LABEL)
        );
        assert_eq!(why(Kind::Label, "kubernetes.io/hostname2", false), None);
        assert!(why(Kind::File, "/var/log/cloud-init-output.log", false).is_some());
        assert_eq!(why(Kind::User, "kubernetes.io/os", false), None);
    }
}
