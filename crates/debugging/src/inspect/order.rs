//! The order in which cloud-init takes its modules, which keys each reads, and what of a module is
//! skipped when an entry fails (`config/cloud.cfg.tmpl` of cloud-init 24.1, the schemas of its
//! modules, and `cloudinit/config/cc_NAME.py`, the same in 22.4 and 26.2). A distribution may change
//! the order.
//!
//! `Modules._run_modules` of `cloudinit/config/modules.py` catches what a module raises, logs
//! `Running module NAME … failed`, and runs the next one: a module is the unit of failure.

use super::step::Failure;

/// A module of cloud-init.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) stage: &'static str,
    pub(super) name: &'static str,
    pub(super) keys: &'static [&'static str],
}

impl Module {
    /// What follows when an entry fails. These modules go through their entries without a `try`;
    /// the others either have one step, or log the failure of an entry and take the next one
    /// (`cc_disk_setup.py`, `cc_mounts.py`, `cc_growpart.py`, `cc_ssh.py`,
    /// `cc_package_update_upgrade_install.py`).
    pub(super) fn failure(&self) -> Failure {
        match self.name {
            // `write_files`: decoding, writing and `util.chownbyname` raise.
            "write_files" | "write_files_deferred" => Failure::EndsModule("write_files"),
            // `handle`: `usermod` of a group and `Distro.create_user` raise.
            "users_groups" => Failure::EndsModule("users_groups"),
            _ => Failure::GoesOn,
        }
    }
}

const fn module(stage: &'static str, name: &'static str, keys: &'static [&'static str]) -> Module {
    Module { stage, name, keys }
}

/// The modules, in the order in which they run. `runcmd` writes a script that `scripts_user` runs,
/// so it stands there; files with `defer` are written by a module of their own.
pub(super) static MODULES: &[Module] = &[
    module("network", "seed_random", &["random_seed"]),
    module("network", "bootcmd", &["bootcmd"]),
    module("network", "write_files", &["write_files"]),
    module("network", "growpart", &["growpart"]),
    module("network", "resizefs", &["resize_rootfs"]),
    module(
        "network",
        "disk_setup",
        &["disk_setup", "fs_setup", "device_aliases"],
    ),
    module(
        "network",
        "mounts",
        &["mounts", "swap", "mount_default_fields"],
    ),
    module(
        "network",
        "set_hostname",
        &[
            "hostname",
            "fqdn",
            "preserve_hostname",
            "prefer_fqdn_over_hostname",
            "create_hostname_file",
        ],
    ),
    module("network", "update_etc_hosts", &["manage_etc_hosts"]),
    module("network", "ca_certs", &["ca_certs", "ca-certs"]),
    module("network", "rsyslog", &["rsyslog"]),
    module("network", "users_groups", &["groups", "users", "user"]),
    module(
        "network",
        "ssh",
        &[
            "ssh_authorized_keys",
            "ssh_keys",
            "ssh_deletekeys",
            "ssh_genkeytypes",
            "disable_root",
            "disable_root_opts",
            "allow_public_ssh_keys",
            "ssh_publish_hostkeys",
            "ssh_quiet_keygen",
        ],
    ),
    module(
        "network",
        "set_passwords",
        &["chpasswd", "password", "ssh_pwauth"],
    ),
    module("config", "wireguard", &["wireguard"]),
    module("config", "snap", &["snap"]),
    module("config", "ssh_import_id", &["ssh_import_id"]),
    module("config", "keyboard", &["keyboard"]),
    module("config", "locale", &["locale", "locale_configfile"]),
    module("config", "apt_configure", &["apt"]),
    module("config", "yum_add_repo", &["yum_repos", "yum_repo_dir"]),
    module("config", "zypper_add_repo", &["zypper"]),
    module("config", "rh_subscription", &["rh_subscription"]),
    module("config", "ubuntu_pro", &["ubuntu_pro", "ubuntu_advantage"]),
    module("config", "ntp", &["ntp"]),
    module("config", "timezone", &["timezone"]),
    module(
        "final",
        "package_update_upgrade_install",
        &[
            "packages",
            "package_update",
            "package_upgrade",
            "package_reboot_if_required",
        ],
    ),
    module("final", "write_files_deferred", &[]),
    module("final", "puppet", &["puppet"]),
    module("final", "chef", &["chef"]),
    module("final", "ansible", &["ansible"]),
    module("final", "salt_minion", &["salt_minion"]),
    module("final", "scripts_user", &["runcmd"]),
    module(
        "final",
        "ssh_authkey_fingerprints",
        &["no_ssh_fingerprints", "authkey_hash"],
    ),
    module(
        "final",
        "keys_to_console",
        &[
            "ssh",
            "ssh_fp_console_blacklist",
            "ssh_key_console_blacklist",
        ],
    ),
    module("final", "phone_home", &["phone_home"]),
    module("final", "final_message", &["final_message"]),
    module("final", "power_state_change", &["power_state"]),
];

/// Keys that cloud-init itself reads, or cloudbase-init, without a step of their own.
pub(super) const READ_OTHERWISE: [&str; 13] = [
    "merge_how",
    "merge_type",
    "output",
    "network",
    "datasource",
    "datasource_list",
    "bootcmd_timeout",
    "cloud_init_modules",
    "cloud_config_modules",
    "cloud_final_modules",
    "updates",
    "vendor_data",
    "set_hostname",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// cloud-init, "Boot stages": what runcmd does comes after files, users and packages.
    #[test]
    fn what_kubeadm_needs_comes_before_its_command() {
        let at = |name: &str| {
            MODULES
                .iter()
                .position(|module| module.name == name)
                .unwrap()
        };
        assert!(
            at("bootcmd") < at("write_files")
                && at("write_files") < at("disk_setup")
                && at("disk_setup") < at("mounts")
        );
        assert!(at("users_groups") < at("ntp") && at("ntp") < at("package_update_upgrade_install"));
        assert!(
            at("package_update_upgrade_install") < at("write_files_deferred")
                && at("write_files_deferred") < at("scripts_user")
        );
    }

    /// `tests/it/inspect.rs` runs the cloud-init modules itself.
    #[test]
    fn modules_without_a_try_skip_their_rest() {
        let skipping = MODULES
            .iter()
            .filter(|module| module.failure() != Failure::GoesOn);
        assert_eq!(
            skipping.map(|module| module.name).collect::<Vec<_>>(),
            ["write_files", "users_groups", "write_files_deferred"]
        );
    }

    #[test]
    fn each_key_belongs_to_one_module() {
        let keys: Vec<_> = MODULES
            .iter()
            .flat_map(|module| module.keys)
            .chain(&READ_OTHERWISE)
            .collect();
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    }
}
