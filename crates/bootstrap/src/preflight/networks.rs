//! Networks of a Cluster: kubeadm and Cluster API's webhook reject what is not a CIDR block
//! (`clusterNetwork.pods|services.cidrBlocks`).

use windlass_capi::admission::core::cidr_fault;
use windlass_capi::contract::CORE_GROUP;
use windlass_objects::Object;
use windlass_schema::{Violation, rejection_message};
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, rules};

rules! {
    /// a CIDR block of the Cluster is invalid
    pub(crate) RANGE_REJECTED = error("cluster-network-rejected");
}

/// Checks a Cluster; nothing for any other object.
pub fn of_cluster(object: &Object) -> Vec<Diagnostic> {
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
    let is_block = |text: &str| cidr_fault(text).is_none();
    let faulty = blocks.filter(|(_, block)| !block.as_str().is_some_and(is_block));
    faulty
        .map(|(index, block)| {
            let path = list.index(index);
            let said = block.as_str().map_or_else(
                || block.to_string(),
                |text| format!("`{text}`", text = Quoted(text)),
            );
            let message = format!("{path} is {said}, which is not a CIDR block");
            let finding = Diagnostic::of(&RANGE_REJECTED, message).at(object.place(&path));
            let help = if network == "pods" {
                "write one such as 192.168.0.0/16"
            } else {
                "write one such as 10.96.0.0/12"
            };
            match block.as_str().and_then(cidr_fault) {
                Some(fault) => {
                    let violation = Violation::invalid(path, block, fault.as_str());
                    let rejection =
                        rejection_message(CORE_GROUP, "Cluster", object.name(), &[violation]);
                    finding.help(help).upstream(rejection)
                }
                None => finding.help(help),
            }
        })
        .collect()
}
