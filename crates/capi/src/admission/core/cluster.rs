//! The validating webhook of Cluster without its topology: `validate` in
//! `core/webhooks/admission/cluster.go` of Cluster API v1.14. `windlass-bootstrap` checks its
//! networks (`preflight::networks`).

use std::net::IpAddr;

use serde_json::Value;

use super::{Release, text};
use windlass_schema::Violation;
use windlass_schema::name::label_value_errors;
use windlass_source::diag::FieldPath;

pub(super) fn violations(object: &Value, release: &Release) -> Vec<Violation> {
    let spec = &object["spec"];
    let is_defined = |field: &str| match &spec[field] {
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    };
    // A Cluster with a topology is checked as a whole by `topology`.
    if is_defined("topology") {
        return Vec::new();
    }
    let name = text(object, "/metadata/name");
    let of_name = label_value_errors(name).into_iter().map(|error| {
        let detail = format!("must be a valid label value {error}");
        Violation::invalid(FieldPath::of_fields("metadata.name"), &name.into(), &detail)
    });
    let mut violations: Vec<Violation> = of_name.collect();
    if release.demands_references
        && !is_defined("controlPlaneRef")
        && !is_defined("infrastructureRef")
    {
        let detail =
            "one of spec.controlPlaneRef, spec.infrastructureRef or spec.topology must be set";
        violations.push(Violation::forbidden(FieldPath::of_fields("spec"), detail));
    }
    violations
}

/// Why a string is not a block of addresses: `net.ParseCIDR` of Go (RFC 4632, RFC 4291).
pub fn cidr_fault(text: &str) -> Option<String> {
    (!is_block(text)).then(|| format!("invalid CIDR address: {text}"))
}

fn is_block(text: &str) -> bool {
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
    use super::is_block;

    #[test]
    fn blocks_are_an_address_and_a_length() {
        for block in ["10.0.0.0/8", "fd00::/64", "0.0.0.0/0", "10.1.2.3/32"] {
            assert!(is_block(block), "{block}");
        }
        for other in [
            "10.0.0.0",
            "10.0.0.0/33",
            "fd00::/129",
            "10.0.0/8",
            "/8",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "a/8",
        ] {
            assert!(!is_block(other), "{other}");
        }
    }
}
