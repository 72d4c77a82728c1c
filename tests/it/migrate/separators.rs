//! Documents of one file are written anew each by itself, however they are set apart.

use std::fmt::Write as _;

use windlass_source::diag::Severity;

use super::{NEW, migrated};

/// Documents, and what each becomes.
const DOCUMENTS: [(&str, &str); 5] = [
    (
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Machine\nspec:\n  nodeDrainTimeout: 1m",
        "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nspec:\n  deletion:\n    nodeDrainTimeoutSeconds: 60",
    ),
    (
        "{apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, spec: {failureDomain: \"\", version: v1}}",
        "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, spec: {version: v1}}",
    ),
    (
        "kind: MachineDeployment\napiVersion: cluster.x-k8s.io/v1beta1\nspec:\n  strategy: {type: RollingUpdate}",
        "kind: MachineDeployment\napiVersion: cluster.x-k8s.io/v1beta2\nspec:\n  rollout:\n    strategy: {type: RollingUpdate}",
    ),
    ("a: b", "a: b"),
    ("", ""),
];

/// What may stand between two documents, before the first one and behind the last one; `~` ends a
/// line.
const BETWEEN: [&str; 14] = [
    "~---~",
    "~--- # c~",
    "~---\t~",
    "~---   ~~",
    "~...~---~",
    "~... # c~---~",
    "~...~# c~---~",
    "~---~---~",
    "~~# c~---~# d~",
    "~---~...~---~",
    "~--- ",
    "~---\t",
    "~... ",
    "~...~",
];
const BEFORE: [&str; 8] = [
    "",
    "\u{feff}",
    "---~",
    "--- ",
    "\u{feff}---~",
    "# c~---~",
    "%YAML 1.1~---~",
    "~~",
];
const BEHIND: [&str; 6] = ["", "~", "~...", "~...~", "~---", "~# c"];

/// Every pair of documents with every separator, and everything before and behind them: either each
/// document reads as it should then, or the reason is told: text that is not YAML, or lines that end
/// as no system of today ends them.
#[test]
fn documents_never_meet() {
    let mut whole = 0;
    for line_end in ["\n", "\r\n", "\r"] {
        let ends = |text: &str| text.replace(['~', '\n'], line_end);
        for between in BETWEEN {
            for before in BEFORE {
                for behind in BEHIND {
                    let (mut old, mut new) = (ends(before), ends(before));
                    for (number, (text, after)) in DOCUMENTS.iter().enumerate() {
                        let separator = if number == 0 {
                            String::new()
                        } else {
                            ends(between)
                        };
                        write!(old, "{separator}{}", ends(text)).unwrap();
                        write!(new, "{separator}{}", ends(after)).unwrap();
                    }
                    old.push_str(&ends(behind));
                    new.push_str(&ends(behind));
                    let (after, findings) = migrated(&old, NEW);
                    let errors: Vec<_> = findings
                        .iter()
                        .filter(|finding| finding.rule.severity == Severity::Error)
                        .collect();
                    assert!(
                        (after == new) == errors.is_empty(),
                        "{old:?}\n{after:?}\n{findings:?}"
                    );
                    let differs = errors
                        .iter()
                        .find(|finding| finding.rule.id == "migrate-text-differs");
                    if let Some(finding) = differs {
                        assert!(
                            line_end == "\r"
                                && finding
                                    .help
                                    .as_ref()
                                    .unwrap()
                                    .to_string()
                                    .contains("line feed"),
                            "{old:?}\n{finding:?}"
                        );
                    }
                    whole += usize::from(after == new);
                }
            }
        }
    }
    assert!(whole > 800, "{whole}");
}
