//! The sections `update` and `locksmith`: lines of `/etc/coreos/update.conf`.

use super::decode::{Decoded, Decoder, FromMapping};
use super::go_struct::go_struct;
use crate::render::write::ignition::checked::{Checked, Shape};
use crate::render::write::ignition::findings::Entry;
use windlass_capi::api::time::GoDuration;
use windlass_go_text as go;
use windlass_go_text::url::Url;
use windlass_go_yaml::yaml_v3::NodeId;

go_struct! {
    /// Where updates come from.
    Update = "types.Update" {
        group: String = "group" as "types.UpdateGroup",
        server: String = "server" as "types.UpdateServer",
        pcr_policy_server: String = "pcr_policy_server" as "types.UpdatePCRPolicyServer",
        download_user: String = "download_user" as "types.UpdateDownloadUser",
        download_password: String = "download_password" as "types.UpdateDownloadPassword",
        machine_alias: String = "machine_alias" as "types.UpdateMachineAlias",
    } {
        fn check(&self) -> Vec<Entry> {
            let is_known = matches!(self.group.to_lowercase().as_str(), "stable" | "beta" | "alpha");
            let is_unknown = !is_known && self.server.is_empty();
            is_unknown.then(|| Entry::warning("unknown update group")).into_iter().collect()
        }

        fn check_field(&self, key: &str) -> Vec<Entry> {
            let fault = if key == "server" { Url::parse(&self.server).err() } else { None };
            fault.map(Entry::error).into_iter().collect()
        }
    }
}

go_struct! {
    /// When the machine restarts for an update.
    Locksmith = "types.Locksmith" {
        reboot_strategy: Option<String> = "reboot_strategy",
        window_start: Option<String> = "window_start",
        window_length: Option<String> = "window_length",
        group: Option<String> = "group",
        etcd_endpoints: Option<String> = "etcd_endpoints",
        etcd_cafile: Option<String> = "etcd_cafile",
        etcd_certfile: Option<String> = "etcd_certfile",
        etcd_keyfile: Option<String> = "etcd_keyfile",
    } {
        fn check(&self) -> Vec<Entry> {
            let given = |field: &Option<String>| field.as_deref().is_some_and(|text| !text.is_empty());
            let one_is_missing = given(&self.window_start) != given(&self.window_length);
            one_is_missing.then(|| Entry::error("window-start and window-length must both be specified")).into_iter().collect()
        }

        fn check_field(&self, key: &str) -> Vec<Entry> {
            let (field, words): (_, fn(&str) -> Option<&'static str>) = match key {
                "reboot_strategy" => (&self.reboot_strategy, strategy_fault),
                "window_start" => (&self.window_start, window_fault),
                "window_length" => (&self.window_length, length_fault),
                _ => return Vec::new(),
            };
            let text = field.as_deref().filter(|text| !text.is_empty());
            text.and_then(words).map(Entry::error).into_iter().collect()
        }
    }
}

fn strategy_fault(text: &str) -> Option<&'static str> {
    let is_known = matches!(text.to_lowercase().as_str(), "reboot" | "etcd-lock" | "off");
    (!is_known).then_some("unknown reboot strategy")
}

fn window_fault(text: &str) -> Option<&'static str> {
    let mut words = text.split_whitespace();
    let (day, time) = match (words.next(), words.next()) {
        (Some(day), Some(time)) => (Some(day), time),
        _ => (None, text),
    };
    let is_day = |day: &str| {
        matches!(
            day.to_lowercase().as_str(),
            "sun" | "mon" | "tue" | "wed" | "thu" | "fri" | "sat"
        )
    };
    if day.is_some_and(|day| !is_day(day)) {
        return Some("unknown day in window start");
    }
    let number = |text: &str, lengths: &[usize], most: u32| {
        lengths.contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && text.parse::<u32>().is_ok_and(|n| n <= most)
    };
    let is_time = time
        .split_once(':')
        .is_some_and(|(hour, minute)| number(hour, &[1, 2], 23) && number(minute, &[2], 59));
    (!is_time).then_some("couldn't parse window start")
}

fn length_fault(text: &str) -> Option<&'static str> {
    GoDuration::parse(text)
        .is_err()
        .then_some("couldn't parse window length")
}

/// The content of the file, `""` when there is none.
pub(super) fn update_conf(update: Option<&Update>, locksmith: Option<&Locksmith>) -> String {
    let mut contents = String::new();
    if let Some(Update {
        group,
        server,
        pcr_policy_server,
        download_user,
        download_password,
        machine_alias,
    }) = update
    {
        if !group.is_empty() {
            contents = format!("GROUP={}", group.to_lowercase());
        }
        let rest = [
            ("SERVER", server),
            ("PCR_POLICY_SERVER", pcr_policy_server),
            ("DOWNLOAD_USER", download_user),
            ("DOWNLOAD_PASSWORD", download_password),
            ("MACHINE_ALIAS", machine_alias),
        ];
        contents.extend(
            rest.into_iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| format!("\n{name}={value}")),
        );
    }
    if let Some(locksmith) = locksmith {
        let Locksmith {
            reboot_strategy,
            window_start,
            window_length,
            group,
            etcd_endpoints,
            etcd_cafile,
            etcd_certfile,
            etcd_keyfile,
        } = locksmith;
        let lines = [
            ("REBOOT_STRATEGY", reboot_strategy),
            ("LOCKSMITHD_REBOOT_WINDOW_START", window_start),
            ("LOCKSMITHD_REBOOT_WINDOW_LENGTH", window_length),
            ("LOCKSMITHD_GROUP", group),
            ("LOCKSMITHD_ENDPOINT", etcd_endpoints),
            ("LOCKSMITHD_ETCD_CAFILE", etcd_cafile),
            ("LOCKSMITHD_ETCD_CERTFILE", etcd_certfile),
            ("LOCKSMITHD_ETCD_KEYFILE", etcd_keyfile),
        ];
        let line = |(name, value): (&str, &Option<String>)| {
            Some(format!("\n{name}={}", go::quote(value.as_deref()?)))
        };
        contents.extend(lines.into_iter().filter_map(line));
    }
    contents
}
