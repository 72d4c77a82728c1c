//! Networks of a Cluster: kubeadm and Cluster API's webhook refuse what is no range of addresses
//! (`clusterNetwork.pods|services.cidrBlocks`).

use std::net::IpAddr;

use serde_json::Value;

use crate::contract::CORE_GROUP;
use crate::diag::{Diagnostic, FieldPath, Quoted, rules};
use crate::objects::Object;

rules! {
    /// a CIDR block of the Cluster is invalid
    pub(crate) RANGE_REFUSED = error("cluster-network-refused");
}

/// Judges a Cluster; nothing for any other object.
pub(crate) fn of_cluster(object: &Object) -> Vec<Diagnostic> {
    if !object.is(CORE_GROUP, "Cluster") {
        return Vec::new();
    }
    ["pods", "services"]
        .into_iter()
        .flat_map(|network| ranges(object, network))
        .collect()
}

fn ranges(object: &Object, network: &str) -> Vec<Diagnostic> {
    let list = FieldPath::root()
        .field("spec")
        .field("clusterNetwork")
        .field(network)
        .field("cidrBlocks");
    let blocks = object
        .items(&["spec", "clusterNetwork", network, "cidrBlocks"])
        .iter()
        .enumerate();
    let faulty = blocks.filter(|(_, block)| !block.as_str().is_some_and(is_range));
    faulty
        .map(|(index, block)| {
            let path = list.index(index);
            let said = block.as_str().map_or_else(
                || block.to_string(),
                |text| format!("`{text}`", text = Quoted(text)),
            );
            let message = format!("{path} is {said}, which is no range of addresses");
            let finding = Diagnostic::of(&RANGE_REFUSED, message).at(object.place(&path));
            let upstream = format!(
                "invalid CIDR address: {}",
                block.as_str().unwrap_or_default()
            );
            let help = if network == "pods" {
                "write one such as 192.168.0.0/16"
            } else {
                "write one such as 10.96.0.0/12"
            };
            if matches!(block, Value::String(_)) {
                finding.help(help).upstream(upstream)
            } else {
                finding.help(help)
            }
        })
        .collect()
}

/// Whether a text is an address and the length of its prefix (RFC 4632, RFC 4291).
fn is_range(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let is_number =
        !length.is_empty() && length.len() <= 3 && length.bytes().all(|byte| byte.is_ascii_digit());
    let most = match address.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    is_number && length.parse::<u16>().is_ok_and(|length| length <= most)
}

#[cfg(test)]
mod tests {
    use super::is_range;

    #[test]
    fn ranges_are_an_address_and_a_length() {
        for range in ["10.0.0.0/8", "fd00::/64", "0.0.0.0/0", "10.1.2.3/32"] {
            assert!(is_range(range), "{range}");
        }
        for none in [
            "10.0.0.0",
            "10.0.0.0/33",
            "fd00::/129",
            "10.0.0/8",
            "/8",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "a/8",
        ] {
            assert!(!is_range(none), "{none}");
        }
    }
}
