//! Strings that patterns and CEL rules take and reject: what a machine cannot find out by itself.
//!
//! A pattern or a rule of our schemas that is not here fails the suite, so that none goes unproven.

use serde_json::{Value, json};

/// A pattern (also one inside a CEL rule) with a string that it takes and one that it rejects.
struct Pattern {
    pattern: &'static str,
    good: &'static str,
    bad: &'static str,
}

const PATTERNS: &[Pattern] = &[
    // resource.Quantity
    Pattern {
        pattern: r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
        good: "2Gi",
        bad: "2 Gi",
    },
    // metav1.Condition: reason and type
    Pattern {
        pattern: r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        good: "Because",
        bad: "be cause",
    },
    Pattern {
        pattern: r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        good: "Ready",
        bad: "Not Ready",
    },
    // owner and permissions of files
    Pattern {
        pattern: r"^[^:\s]+(:[^:\s]+)?$",
        good: "root:root",
        bad: "root:root:root",
    },
    Pattern {
        pattern: r"^0?[0-7]{3}$",
        good: "0640",
        bad: "0649",
    },
    // CEL: directories[].path
    Pattern {
        pattern: r"^(/|[A-Za-z]:[/\\])",
        good: "/opt",
        bad: "opt",
    },
    // CEL: diskSetup.partitions[].diskLayout[].partitionType
    Pattern {
        pattern: "^(Linux|LinuxSwap|LinuxRAID|LVM|Fat32|NTFS|LinuxExtended|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$",
        good: "LinuxSwap",
        bad: "Windows",
    },
];

fn entry(pattern: &str) -> &'static Pattern {
    PATTERNS
        .iter()
        .find(|known| known.pattern == pattern)
        .unwrap_or_else(|| panic!("no examples for the pattern {pattern}; add them to PATTERNS"))
}

/// A string that the pattern takes.
pub(super) fn matching(pattern: &str) -> &'static str {
    entry(pattern).good
}

/// A string that the pattern rejects.
pub(super) fn not_matching(pattern: &str) -> &'static str {
    entry(pattern).bad
}

/// The pattern of a rule that is `self.matches('…')`, as the regular expression and not as CEL's
/// literal.
pub(super) fn pattern_of_rule(rule: &str) -> Option<String> {
    let literal = rule.strip_prefix("self.matches('")?.strip_suffix("')")?;
    Some(literal.replace(r"\\", r"\"))
}

/// Rules that are neither `self.matches(…)`, nor about exactly one of some fields, nor about unique
/// names: by their message and field path, a value of the rule's node that breaks this rule and no
/// other constraint.
pub(super) fn breaking(message: &str, field_path: &str) -> Value {
    let windows = |field: &str, value: Value| json!({"platform": "windows", field: value});
    match (message, field_path) {
        ("not supported when spec.format is set to: \"ignition\"", ".cloudConfig") => {
            json!({"format": "ignition", "cloudConfig": {"templating": "none"}})
        }
        (
            "gzip needs spec.ignition.version \"3.4\" when spec.format is set to: \"ignition\"",
            ".compression",
        ) => {
            json!({"format": "ignition", "compression": "gzip"})
        }
        ("ignition is not supported when spec.platform is set to: \"windows\"", ".format") => {
            windows("format", json!("ignition"))
        }
        ("not supported when spec.platform is set to: \"windows\"", ".bootCommands") => {
            windows("bootCommands", json!(["dir"]))
        }
        ("not supported when spec.platform is set to: \"windows\"", ".diskSetup") => windows(
            "diskSetup",
            json!({"partitions": [{"device": "/dev/sda", "layout": true}]}),
        ),
        ("not supported when spec.platform is set to: \"windows\"", ".mounts") => {
            windows("mounts", json!([["/dev/sda", "/mnt"]]))
        }
        ("not supported when spec.platform is set to: \"windows\"", ".clusterConfiguration") => {
            windows("clusterConfiguration", json!({"imageRepository": "r"}))
        }
        ("not supported when spec.platform is set to: \"windows\"", ".initConfiguration") => {
            windows("initConfiguration", json!({"skipPhases": ["addon"]}))
        }
        (
            "not supported when spec.platform is set to: \"windows\"",
            ".joinConfiguration.controlPlane",
        ) => windows(
            "joinConfiguration",
            json!({"controlPlane": {"localAPIEndpoint": {"bindPort": 6443}}}),
        ),
        (
            "owner and permissions are not supported when spec.platform is set to: \"windows\"",
            ".directories",
        ) => windows("directories", json!([{"path": "C:\\k", "owner": "me"}])),
        ("only Continue is supported when spec.platform is set to: \"windows\"", ".onFailure") => {
            windows("onFailure", json!("Abort"))
        }
        ("can be set only with spec.ignition.version \"2.3\"", ".containerLinuxConfig") => {
            json!({"version": "3.4", "containerLinuxConfig": {"additionalConfig": "a: b"}})
        }
        ("can be set only with spec.ignition.version \"3.4\"", ".additionalConfig") => {
            json!({"additionalConfig": "{}"})
        }
        ("only one of encoding or transferEncoding may be set", ".transferEncoding") => {
            json!({"path": "/a", "content": "YQ==", "encoding": "base64", "transferEncoding": "base64"})
        }
        _ => panic!("no value that breaks the rule {message:?} at {field_path:?}; add one"),
    }
}

/// Fields that a field cannot be without, because a rule says so: field, what it needs, and the
/// value.
pub(super) const COMPANIONS: &[(&str, &str, &str)] = &[("additionalConfig", "version", "3.4")];

/// Texts of fields whose schema takes any, but whose meaning conversion has to understand.
pub(super) fn of_field(name: &str) -> Option<&'static str> {
    match name {
        "timeout" | "timeoutForControlPlane" | "ttl" => Some("1m30s"),
        "expires" => Some("2026-01-02T03:04:05Z"),
        _ => None,
    }
}
