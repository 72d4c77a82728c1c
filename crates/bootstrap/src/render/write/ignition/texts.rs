//! Fixed texts of the provider.

/// The unit that runs the script once.
pub(super) fn kubeadm_unit(calls_bash: bool) -> String {
    let bash = if calls_bash { "/bin/bash " } else { "" };
    format!(
        "[Unit]
Description=kubeadm
# Run only once. After successful run, this file is moved to /tmp/.
ConditionPathExists=/etc/kubeadm.yml
After=network.target
[Service]
# To not restart the unit when it exits, as it is expected.
Type=oneshot
ExecStart={bash}/etc/kubeadm.sh
[Install]
WantedBy=multi-user.target
"
    )
}

/// Settings of sshd before those for users with a password.
pub(super) const SSHD_CONFIG: &str = "# Use most defaults for sshd configuration.
Subsystem sftp internal-sftp
ClientAliveInterval 180
UseDNS no
UsePAM yes
PrintLastLog no # handled by PAM
PrintMotd no # handled by PAM";

pub(super) const NTP_FILE: &str = "/etc/ntp.conf";

/// Settings of ntpd after its servers.
pub(super) const NTP_CONF: &str = "# Warning: Using default NTP settings will leave your NTP
# server accessible to all hosts on the Internet.

# If you want to deny all machines (including your own)
# from accessing the NTP server, uncomment:
#restrict default ignore

# Default configuration:
# - Allow only time queries, at a limited rate, sending KoD when in excess.
# - Allow all local queries (IPv4, IPv6)
restrict default nomodify nopeer noquery notrap limited kod
restrict 127.0.0.1
restrict [::1]";

/// Why the provider's template fails for a mount without a mount point.
pub(super) const MOUNT_TOO_SHORT: &str = "rendering CLC configuration: failed to render template: template: template:58:23: executing \"template\" at \
     <index . 1>: error calling index: reflect: slice index out of range";

/// The same for a mount of nothing at all.
pub(super) const MOUNT_EMPTY: &str = "rendering CLC configuration: failed to render template: template: template:57:18: executing \"template\" at \
     <index . 0>: error calling index: reflect: slice index out of range";
