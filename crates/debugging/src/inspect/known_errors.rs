//! Lines of boot logs that others have reported, with what was behind them.

/// A kind of line.
#[derive(Debug)]
pub struct KnownError {
    /// What such a line holds, as a regular expression.
    pub(crate) pattern: &'static str,
    pub cause: &'static str,
    pub remedy: &'static str,
    /// A report of it.
    pub report: &'static str,
}

const fn known(
    pattern: &'static str,
    cause: &'static str,
    remedy: &'static str,
    report: &'static str,
) -> KnownError {
    KnownError {
        pattern,
        cause,
        remedy,
        report,
    }
}

/// All kinds of lines; of several that fit a line the first counts, so the special ones come first.
pub(crate) static KNOWN_ERRORS: &[KnownError] = &[
    known(
        r#"Unknown user or group: "#,
        "a file has an owner that does not exist yet: cloud-init skips the rest of write_files, kubeadm's configuration included",
        "remove `owner` from the file and run `chown` in `preKubeadmCommands`; cloud-init creates users after it writes files",
        "https://github.com/canonical/cloud-init/issues/2573",
    ),
    known(
        r#"No such file or directory: '/etc/secret-userdata\.txt'|/etc/secret-userdata\.txt: No such file"#,
        "cloud-init did not get the data that Cluster API Provider AWS stores in AWS: the boothook that fetches it has not run, or has failed",
        "check the instance profile and the network of the machine, and that the image sets `ERROR_ON_USER_DATA_FAILURE = False` in cloud-init's features",
        "https://github.com/kubernetes-sigs/cluster-api-provider-aws/issues/2757",
    ),
    known(
        r#"Boothooks? script .{0,200} execution error|Boothooks unknown error"#,
        "a boothook failed: on AWS it fetches the bootstrap data",
        "check the permissions of the instance profile for Secrets Manager or Parameter Store, and the network at that time",
        "https://github.com/kubernetes-sigs/cluster-api-provider-aws/issues/5449",
    ),
    known(
        r"ci_missing_jinja_var/",
        "the instance data has no such key, and cloud-init wrote a placeholder in its place",
        "use a key that the data source has; on the node `cloud-init query ds` lists them",
        "https://github.com/vmware-tanzu/tanzu-framework/issues/4207",
    ),
    known(
        r#"nodeRegistration\.name: Invalid value: "\{\{"#,
        "cloud-init did not evaluate the document's jinja: it is too old, or the header is missing",
        "use an image with cloud-init 22.4 or later, and keep the first line `## template: jinja`",
        "https://github.com/kubernetes-sigs/cluster-api-provider-aws/pull/4746",
    ),
    known(
        r"Unhandled non-multipart \(text/x-not-multipart\) userdata",
        "cloud-init did not recognise the user data: it is still base64 or compressed",
        "see above how the data is packed: it is encoded once too often, or compressed for a reader that does not unpack",
        "https://github.com/canonical/cloud-init/issues/4239",
    ),
    known(
        r"invalid character '#' looking for beginning of value",
        "cloud-config went to a reader of JSON, which is Ignition or a provider that expects it",
        "set `format: ignition` for this operating system, or use an image with cloud-init",
        "https://github.com/kubernetes-retired/cluster-api-provider-packet/issues/127",
    ),
    known(
        r"Failed loading yaml blob|empty cloud config",
        "the cloud-config does not parse, and cloud-init went on without any of it",
        "fix the line that is named above or in the message; content with line breaks needs the indentation of its block",
        "https://github.com/canonical/cloud-init/issues/3627",
    ),
    known(
        r"kubeadm: (?:command )?not found|kubeadm: No such file",
        "the image has no kubeadm",
        "use an image of image-builder for this version of Kubernetes, or install kubeadm in `preKubeadmCommands`",
        "https://github.com/kubernetes-sigs/cluster-api-provider-openstack/issues/463",
    ),
    known(
        r"unknown service runtime\.v1(?:alpha2)?\.RuntimeService",
        "containerd's CRI plugin is disabled, or containerd is too old for this kubelet",
        "take `cri` out of `disabled_plugins` in /etc/containerd/config.toml, or update containerd, and restart it before kubeadm",
        "https://github.com/containerd/containerd/issues/4581",
    ),
    known(
        r"\[ERROR CRI\]|container runtime is not running",
        "no container runtime answers at the CRI socket",
        "start the runtime in `preKubeadmCommands`, and compare `nodeRegistration.criSocket` with its socket",
        "https://github.com/containerd/containerd/issues/8139",
    ),
    known(
        r"cgroup driver: .{0,40}is different from",
        "kubelet and container runtime use different cgroup drivers",
        "set `SystemdCgroup = true` in the runtime's configuration, as kubeadm sets it for the kubelet",
        "https://github.com/kubernetes/website/issues/17924",
    ),
    known(
        r"failed to parse kubelet flag|unknown flag: ",
        "the kubelet or a component of this version has no such flag",
        "remove it from `kubeletExtraArgs` or `extraArgs`",
        "https://github.com/kubernetes/website/issues/34755",
    ),
    known(
        r"unknown 'kubernetes\.io' or 'k8s\.io' labels specified",
        "a kubelet may not give itself this label",
        "set it on the Machine's `metadata.labels`, which Cluster API copies to the Node, or with kubectl",
        "https://github.com/kubernetes-sigs/cluster-api/issues/1719",
    ),
    known(
        r"\[ERROR Swap\]|running with swap on is not supported",
        "the machine has swap",
        "add `swapoff -a` to `preKubeadmCommands`, and take the swap out of /etc/fstab",
        "https://github.com/kubernetes-sigs/cluster-api-provider-openstack/issues/292",
    ),
    known(
        r"\[ERROR FileAvailable--|\[ERROR DirAvailable--",
        "kubeadm ran on this machine before, or the image was made of a node",
        "replace the machine: Cluster API does not run kubeadm twice; build images before `kubeadm init`",
        "https://github.com/kubernetes/kubeadm/issues/1616",
    ),
    known(
        r#"\[ERROR FileContent--proc-sys-net-bridge-bridge-nf-call-ip6?tables\]"#,
        "the kernel module br_netfilter is not loaded, or its setting is off",
        "write `br_netfilter` to /etc/modules-load.d and `net.bridge.bridge-nf-call-iptables = 1` to /etc/sysctl.d in the image, or run `modprobe br_netfilter` and `sysctl` in `preKubeadmCommands`",
        "https://github.com/kubernetes/kubeadm/issues/312",
    ),
    known(
        r#"\[ERROR FileContent--proc-sys-net-ipv[46]-"#,
        "the kernel does not forward IP packets",
        "write `net.ipv4.ip_forward = 1` to /etc/sysctl.d in the image, or run `sysctl -w net.ipv4.ip_forward=1` in `preKubeadmCommands`",
        "https://github.com/kubernetes/kubernetes/issues/67431",
    ),
    known(
        r#"\[ERROR Port-\d+\]"#,
        "another process uses a port that Kubernetes needs: mostly a kubelet or control plane of an earlier run",
        "replace the machine, and do not start kubelet before kubeadm",
        "https://github.com/kubernetes/kubeadm/issues/2974",
    ),
    known(
        r#"\[ERROR NumCPU\]|\[ERROR Mem\]"#,
        "the machine is too small: a control plane needs 2 CPUs and 1700 MB",
        "use a larger machine type in the infrastructure template",
        "https://github.com/kubernetes/kubeadm/issues/2479",
    ),
    known(
        r#"\[ERROR FileExisting-"#,
        "the image lacks a program that kubeadm needs",
        "use an image of image-builder, or install the package in `preKubeadmCommands`",
        "https://github.com/flatcar/Flatcar/issues/77",
    ),
    known(
        r#"a Node with name .{0,200} and status .{0,20}Ready.{0,20} already exists"#,
        "another machine has joined with the same node name",
        "give each machine a hostname of its own, and set `nodeRegistration.name` from instance data",
        "https://github.com/kubernetes/kubernetes/issues/89512",
    ),
    known(
        r#"configmaps \\?"(?:kubelet-config|kubeadm-config|kube-proxy)[^"]{0,20}" is forbidden"#,
        "kubeadm of the image has another version than the control plane, or the cluster's roles for joining are missing",
        "set `spec.version` of the Machine to the version that the image has",
        "https://github.com/kubernetes/kubeadm/issues/1624",
    ),
    known(
        r#"can only promote a learner member"#,
        "the new member of etcd did not catch up: etcd did not start on this machine, or the disk or network is slow",
        "check etcd on this machine with `crictl ps -a` and its log, and ports 2379 and 2380 between control plane machines",
        "https://github.com/kubernetes/kubeadm/issues/2997",
    ),
    known(
        r#"unable to select an IP from default routes|no default routes found"#,
        "the machine has no default route when kubeadm runs",
        "configure a gateway, or set `localAPIEndpoint.advertiseAddress`",
        "https://github.com/kubernetes/kubeadm/issues/2604",
    ),
    known(
        r#"plndr-cp-lock.{0,40}is forbidden|leases\.coordination\.k8s\.io .{0,60}is forbidden: User \\?"kubernetes-admin"#,
        "kube-vip uses admin.conf, which has no rights while `kubeadm init` runs with Kubernetes v1.29 or later",
        "mount /etc/kubernetes/super-admin.conf in the static pod on the machine of `kubeadm init`",
        "https://github.com/kube-vip/kube-vip/issues/684",
    ),
    known(
        r#"failed to get sandbox image"#,
        "the container runtime cannot pull the pause image: it has an image of its own in its configuration",
        "set `sandbox_image` in /etc/containerd/config.toml to an image that the machine reaches",
        "https://github.com/kubernetes/kubeadm/issues/2851",
    ),
    known(
        r"\[ERROR ImagePull\]|failed to pull image",
        "an image of the control plane cannot be pulled",
        "check registry, proxy and DNS of the machine, `imageRepository`, and which images the machine's image has",
        "https://github.com/kubernetes/kubernetes/issues/116316",
    ),
    known(
        r"could not find a JWS signature|no JWS signed token|does not yet contain a JWS signature",
        "the workload cluster does not know the bootstrap token: it expired before the machine joined, or was deleted",
        "look for Secret bootstrap-token-ID in kube-system of the workload cluster; delete the Machine, so that the next one gets a new token",
        "https://github.com/kubernetes/kubeadm/issues/668",
    ),
    known(
        r"failed to verify JWS signature",
        "the token's secret is not the one with which the workload cluster signed its cluster-info",
        "delete the Machine, so that the next one gets a new token; check the controller manager of the workload cluster",
        "https://github.com/kubernetes/kubernetes/issues/109233",
    ),
    known(
        r#"secrets "kubeadm-certs" is forbidden|error downloading certs|error downloading the secret"#,
        "kubeadm looks for certificates in the cluster, because they are not on the machine",
        "see above whether the data writes /etc/kubernetes/pki; with Cluster API certificates come in the data, and `certificateKey` stays unset",
        "https://github.com/kubernetes/kubernetes/issues/103978",
    ),
    known(
        r"certificate has expired or is not yet valid",
        "the clock of the machine is off, or a certificate has expired",
        "set `ntp` in the config, check the hypervisor's clock, and compare the certificates above",
        "https://github.com/kubernetes-sigs/cluster-api-provider-vsphere/issues/621",
    ),
    known(
        r"x509: certificate is valid for .{0,200}, not ",
        "the API server's certificate does not have the endpoint's name or address",
        "add it to `clusterConfiguration.apiServer.certSANs`, or use the address of `controlPlaneEndpoint`",
        "https://github.com/kubernetes/kubernetes/issues/58921",
    ),
    known(
        r#"x509: certificate signed by unknown authority"#,
        "the certificate that the endpoint shows is not signed by the cluster's CA: the address leads to another cluster or a proxy",
        "check which machines the control plane endpoint leads to, and the Secret of the cluster's CA",
        "https://github.com/kubernetes/kubeadm/issues/1147",
    ),
    known(
        r#"unable to read config from .{0,200}no such file or directory"#,
        "kubeadm's configuration was not written: an earlier entry of write_files failed",
        "read the lines of the module write_files before this one in /var/log/cloud-init.log",
        "https://github.com/metal3-io/metal3-dev-env/issues/263",
    ),
    known(
        r"strict decoding error: unknown field",
        "kubeadm's configuration has a field that this version of its API does not have",
        "render with the version of Kubernetes that the machine runs, and compare the field with kubeadm's reference",
        "https://github.com/kubernetes/website/issues/49095",
    ),
    known(
        r#"no kind "\w+" is registered for version "kubeadm\.k8s\.io/"#,
        "kubeadm of this version does not read this version of its configuration",
        "set `spec.version` of the Machine to the version that the image has",
        "https://github.com/kubermatic/kubermatic/issues/8039",
    ),
    known(
        r"error creating local etcd static pod manifest file|etcdserver: unhealthy cluster|etcdserver: Peer URLs already exists",
        "the machine did not become a member of etcd: a member does not answer, or ports 2379 and 2380 are closed",
        "check the health of etcd's members and the firewall between control plane machines, then delete the Machine",
        "https://github.com/kubernetes-sigs/cluster-api-provider-azure/issues/5687",
    ),
    known(
        r"[Ff]ailed to request (?:the )?cluster[ -]info|couldn't validate the identity of the API Server|dial tcp .{0,120}(?:connect: connection refused|i/o timeout|no route to host)",
        "the machine does not reach the API server at the endpoint",
        "check load balancer, DNS and firewall of the control plane endpoint from the machine's network",
        "https://github.com/kubernetes/kubeadm/issues/789",
    ),
    known(
        r"\[kubelet-check\] (?:Initial timeout|It seems like)|kubelet is unhealthy due to a misconfiguration|kubelet isn't running or healthy|kubelet is not healthy after",
        "the kubelet does not come up, or ends again",
        "read `journalctl -xeu kubelet` on the machine: mostly cgroups, swap, a flag, or a static pod that fails",
        "https://github.com/kubernetes/kubernetes/issues/62004",
    ),
    known(
        r"Syntax error: |syntax error near unexpected token|syntax error: unexpected end of file|unexpected EOF while looking for matching",
        "the shell cannot read the script: a quote, a block or a here-document does not end, or lines end with CR LF",
        "fix the command before the line that is named; `windlass validate` finds what does not end before a machine boots",
        "https://github.com/canonical/multipass/issues/2606",
    ),
    known(
        r#"error execution phase wait-control-plane|couldn't initialize a Kubernetes cluster"#,
        "the control plane did not become healthy in time: a static pod ends, or its image or endpoint cannot be reached",
        "read `crictl ps -a` and the logs of kube-apiserver and etcd on the machine, and `journalctl -u kubelet`",
        "https://github.com/kubernetes/kubernetes/issues/125992",
    ),
    known(
        r#"Could not get lock /var/lib/(?:dpkg|apt)|Unable to acquire the dpkg frontend lock|is another process using it\?"#,
        "another process, mostly unattended-upgrades, holds the lock of dpkg",
        "install packages into the image, or run apt-get with `-o DPkg::Lock::Timeout=300`",
        "https://github.com/canonical/cloud-init/issues/2908",
    ),
    known(
        r#"curl: \(6\)|Could not resolve host|Temporary failure (?:in name resolution|resolving)|Name or service not known|lookup .{1,200}: no such host|unable to resolve host address"#,
        "the machine cannot resolve a name: DNS is not reachable, or not configured yet",
        "check DHCP and the name servers of the machine's network, and retry the command until the name resolves",
        "https://github.com/NetApp/ez-rancher/pull/103",
    ),
    known(
        r#"curl: \((?:7|28|35|56|60)\)"#,
        "a download failed: the host is not reachable, or its certificate is not trusted",
        "check routes, firewall, proxy and CA certificates of the machine",
        "https://github.com/k0sproject/k0sctl/issues/660",
    ),
    known(
        r#"(?:Failed to start|Job for) containerd|containerd\.service: (?:Failed|Main process exited, code=(?:killed|dumped|exited, status=[1-9]))"#,
        "containerd does not start: mostly its configuration does not parse or has a version that it does not know",
        "read `journalctl -u containerd` on the machine, and compare /etc/containerd/config.toml with `containerd config default`",
        "https://github.com/sapcc/kubernikus/pull/834",
    ),
    known(
        r#"E: Unable to locate package|does not have a Release file|E: Failed to fetch|Unable to find a match: |No match for argument: "#,
        "a package cannot be installed: its repository is not configured, not reachable, or no longer exists",
        "use pkgs.k8s.io for packages of Kubernetes, and install them into the image",
        "https://github.com/kubernetes/kubernetes/issues/123867",
    ),
    known(
        r#"[Nn]o space left on device"#,
        "the disk of the machine is full",
        "use a larger disk in the infrastructure template, and check that growpart enlarges the root partition",
        "https://github.com/play-with-docker/play-with-kubernetes.github.io/issues/78",
    ),
    known(
        r#"Failed partitioning operation|Failed during filesystem operation"#,
        "a disk of `diskSetup` was not partitioned or formatted: it does not exist under this name, or is in use",
        "compare `diskSetup` with `lsblk` on the machine, and use a stable name below /dev/disk",
        "https://github.com/Azure/acs-engine/issues/512",
    ),
    known(
        r#"Out of memory: Killed process|oom-kill:"#,
        "the kernel ended a process because the machine has too little memory",
        "use a larger machine type in the infrastructure template",
        "https://github.com/kubernetes-sigs/kubespray/issues/1936",
    ),
    known(
        r#"unable to translate 2\.x ignition to|config is not valid|failed to acquire config"#,
        "Ignition rejects the data",
        "`windlass validate` checks Ignition; partitions of the machine's Ignition 3 need a number or a label",
        "https://github.com/kubernetes-sigs/cluster-api/issues/7679",
    ),
    known(
        r#"Unit (?:file )?\S*kubelet\S* (?:not found|does not exist|could not be found)|Unit kubelet\.service"#,
        "the image has no kubelet",
        "use an image of image-builder for this version of Kubernetes",
        "https://github.com/ecomm-integration-ballerina/kubernetes-cluster/issues/5",
    ),
    known(
        r"Failed to run module scripts[-_]user|Failed running /var/lib/cloud/instance/scripts/runcmd",
        "the script of `runcmd` ended with an error: its last command failed, or one after `set -e`",
        "read the lines before this one: the first error is the cause",
        "https://github.com/kubernetes-sigs/cluster-api/issues/11427",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use regex::Regex;

    use super::*;

    /// Lines as the reports have them, with the report that must be named.
    const LINES: [(&str, &str); 41] = [
        (
            "OSError: Unknown user or group: \"getpwnam(): name not found: 'rocky'\"",
            "cloud-init/issues/2573",
        ),
        (
            "user_data.py[WARNING]: [Errno 2] No such file or directory: '/etc/secret-userdata.txt' for url: file:///etc/secret-userdata.txt.",
            "cluster-api-provider-aws/issues/2757",
        ),
        (
            "util.py[WARNING]: Boothooks script /var/lib/cloud/instances/i-0/boothooks/part-001 execution error",
            "cluster-api-provider-aws/issues/5449",
        ),
        (
            "\t[ERROR FileContent--proc-sys-net-bridge-bridge-nf-call-iptables]: /proc/sys/net/bridge/bridge-nf-call-iptables does not exist",
            "kubeadm/issues/312",
        ),
        (
            "\t[ERROR FileContent--proc-sys-net-ipv4-ip_forward]: /proc/sys/net/ipv4/ip_forward contents are not set to 1",
            "kubernetes/issues/67431",
        ),
        (
            "\t[ERROR Port-10250]: Port 10250 is in use",
            "kubeadm/issues/2974",
        ),
        (
            "\t[ERROR Mem]: the system RAM (978 MB) is less than the minimum 1700 MB",
            "kubeadm/issues/2479",
        ),
        (
            "\t[ERROR FileExisting-conntrack]: conntrack not found in system path",
            "Flatcar/issues/77",
        ),
        (
            "error execution phase kubelet-start: a Node with name \"x\" and status \"Ready\" already exists in the cluster.",
            "kubernetes/issues/89512",
        ),
        (
            "error execution phase kubelet-start: configmaps \"kubelet-config-1.15\" is forbidden: User \"system:bootstrap:g0toug\" cannot get resource",
            "kubeadm/issues/1624",
        ),
        (
            "error execution phase control-plane-join/etcd: error creating local etcd static pod manifest file: etcdserver: can only promote a learner member which is in sync with leader",
            "kubeadm/issues/2997",
        ),
        (
            "unable to select an IP from default routes.",
            "kubeadm/issues/2604",
        ),
        (
            "error retrieving resource lock kube-system/plndr-cp-lock: leases.coordination.k8s.io \"plndr-cp-lock\" is forbidden: User \"kubernetes-admin\" cannot get",
            "kube-vip/issues/684",
        ),
        (
            "failed to get sandbox image \"registry.k8s.io/pause:3.6\": failed to pull image",
            "kubeadm/issues/2851",
        ),
        (
            "Get \"https://x:6443\": x509: certificate signed by unknown authority",
            "kubeadm/issues/1147",
        ),
        (
            "unable to read config from \"/run/kubeadm/kubeadm.yaml\" : open /run/kubeadm/kubeadm.yaml: no such file or directory",
            "metal3-dev-env/issues/263",
        ),
        (
            "error execution phase preflight: couldn't validate the identity of the API Server: failed to request the cluster-info ConfigMap: context deadline exceeded",
            "kubeadm/issues/789",
        ),
        (
            "error execution phase wait-control-plane: couldn't initialize a Kubernetes cluster",
            "kubernetes/issues/125992",
        ),
        (
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1719 (unattended-upgr)",
            "cloud-init/issues/2908",
        ),
        (
            "curl: (6) Could not resolve host: raw.githubusercontent.com",
            "ez-rancher/pull/103",
        ),
        (
            "curl: (35) error:0A00007B:SSL routines::bad signature",
            "k0sctl/issues/660",
        ),
        (
            "Job for containerd.service failed because the control process exited with error code.",
            "kubernikus/pull/834",
        ),
        (
            "E: Unable to locate package kubelet",
            "kubernetes/issues/123867",
        ),
        (
            "error execution phase certs/ca: failure while saving ca certificate and key: couldn't write key: no space left on device",
            "play-with-kubernetes.github.io/issues/78",
        ),
        (
            "util.py[WARNING]: Failed during filesystem operation",
            "acs-engine/issues/512",
        ),
        (
            "kernel: Out of memory: Killed process 812 (etcd)",
            "kubespray/issues/1936",
        ),
        (
            "ignition[548]: failed to fetch config: unable to translate 2.x ignition to 3.1: error at $.storage.disks.0.partitions.0",
            "cluster-api/issues/7679",
        ),
        (
            "Failed to restart kubelet.service: Unit kubelet.service not found.",
            "kubernetes-cluster/issues/5",
        ),
        (
            "/var/lib/cloud/instance/scripts/runcmd: 12: Syntax error: Unterminated quoted string",
            "multipass/issues/2606",
        ),
        (
            "nodeRegistration.name: Invalid value: \"ci_missing_jinja_var/local_hostname\": a lowercase RFC 1123 subdomain must consist of",
            "tanzu-framework/issues/4207",
        ),
        (
            "nodeRegistration.name: Invalid value: \"{{ ds.meta_data.local_hostname }}\": a lowercase RFC 1123 subdomain must consist of",
            "cluster-api-provider-aws/pull/4746",
        ),
        (
            "2020-06-18 12:16:59,413 - __init__.py[WARNING]: Unhandled non-multipart (text/x-not-multipart) userdata: 'b'H4sIAAAAAAAA/8RV3W4bNxO9'...'",
            "cloud-init/issues/4239",
        ),
        (
            "2020-03-18 13:54:05,321 - util.py[WARNING]: Failed loading yaml blob. Invalid format at line 6 column 1: \"while scanning a simple key",
            "cloud-init/issues/3627",
        ),
        (
            "/var/lib/cloud/instance/scripts/runcmd: 2: /var/lib/cloud/instance/scripts/runcmd: kubeadm: not found",
            "cluster-api-provider-openstack/issues/463",
        ),
        (
            "\t[ERROR CRI]: container runtime is not running: output: time=\"2020-09-24T11:49:16Z\" level=fatal msg=\"getting status of runtime failed: \
             rpc error: code = Unimplemented desc = unknown service runtime.v1alpha2.RuntimeService\"",
            "containerd/issues/4581",
        ),
        (
            "kubelet[6823]: F1102 06:56:02.583158    6823 server.go:185] unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: \
             [node-role.kubernetes.io/worker]",
            "cluster-api/issues/1719",
        ),
        (
            "could not find a JWS signature in the cluster-info ConfigMap for token ID \"abcdef\"",
            "kubeadm/issues/668",
        ),
        (
            "Get https://10.6.0.52:6443/version: x509: certificate has expired or is not yet valid",
            "cluster-api-provider-vsphere/issues/621",
        ),
        (
            "[2025-06-09 01:42:50] error creating local etcd static pod manifest file",
            "cluster-api-provider-azure/issues/5687",
        ),
        (
            "W1215 14:38:56.307918 5914 initconfiguration.go:332] error unmarshaling configuration: strict decoding error: unknown field \"apiServer.x\"",
            "website/issues/49095",
        ),
        (
            "2024-11-15 08:04:43,049 - cc_scripts_user.py[WARNING]: Failed to run module scripts-user (scripts in /var/lib/cloud/instance/scripts)",
            "cluster-api/issues/11427",
        ),
    ];

    #[test]
    fn lines_of_the_reports_are_known() {
        for (line, report) in LINES {
            let found = KNOWN_ERRORS
                .iter()
                .find(|known| Regex::new(known.pattern).unwrap().is_match(line));
            assert!(
                found.is_some_and(|known| known.report.ends_with(report)),
                "{line}: {found:?}"
            );
        }
    }

    #[test]
    fn lines_of_a_sound_boot_are_not() {
        for line in [
            "[preflight] Running pre-flight checks",
            "[kubelet-start] Starting the kubelet",
            "This node has joined the cluster:",
            "[init] Using Kubernetes version: v1.34.2",
            "Cloud-init v. 24.1.3-0ubuntu3 finished at Mon, 09 Sep 2024 02:35:01 +0000. Datasource DataSourceNone.  Up 53.23 seconds",
        ] {
            assert!(
                KNOWN_ERRORS
                    .iter()
                    .all(|known| !Regex::new(known.pattern).unwrap().is_match(line)),
                "{line}"
            );
        }
    }

    #[test]
    fn each_has_a_report_of_its_own() {
        let reports: BTreeSet<_> = KNOWN_ERRORS.iter().map(|known| known.report).collect();
        assert_eq!(reports.len(), KNOWN_ERRORS.len());
        assert!(
            KNOWN_ERRORS.len() >= 12
                && reports
                    .iter()
                    .all(|report| report.starts_with("https://github.com/"))
        );
        assert!(
            KNOWN_ERRORS
                .iter()
                .all(|known| !known.cause.is_empty() && !known.remedy.ends_with('.'))
        );
    }
}
