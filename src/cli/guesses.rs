//! Other names that users try for flags: hidden aliases, so that each meaning has one name in the
//! help and any common name works.

use std::collections::{BTreeMap, BTreeSet};

use clap::Command;

/// Flags, each with the names that users of other programs try for it.
const GUESSES: &[(&str, &[&str])] = &[
    ("output", &["format", "output-format"]),
    (
        "to",
        &[
            "write-to",
            "out",
            "out-dir",
            "output-dir",
            "output-directory",
            "dir",
            "directory",
        ],
    ),
    (
        "write-to",
        &["to", "out", "out-file", "output-file", "file"],
    ),
    ("write", &["in-place", "inplace", "fix"]),
    ("fix", &["write", "in-place"]),
    ("check", &["exit-code", "dry-run"]),
    ("exit-code", &["check"]),
    (
        "kubernetes-version",
        &["k8s-version", "kube-version", "kubernetes", "k8s"],
    ),
    ("capi-version", &["cluster-api-version", "capi"]),
    ("infrastructure", &["infra"]),
    ("no-placeholders", &["no-stand-ins"]),
    ("var", &["variable", "variables", "set"]),
    ("select", &["machine", "only", "filter"]),
    ("previous", &["against", "old", "from"]),
    ("against", &["old", "previous"]),
    ("release", &["release-version"]),
    ("allow", &["ignore", "skip-rule", "disable"]),
    ("deny", &["fail-on", "error-on"]),
    ("to-version", &["target-version", "api-version"]),
    ("to-kind", &["target-kind", "kind"]),
    ("cluster-name", &["cluster"]),
    ("certs-dir", &["cert-dir", "pki", "pki-dir"]),
    ("ca-cert-hash", &["discovery-token-ca-cert-hash"]),
    ("endpoint", &["control-plane-endpoint"]),
    ("feature-gates", &["feature-gate"]),
    ("show-secrets", &["reveal", "reveal-secrets"]),
    ("force", &["overwrite"]),
    ("all", &["all-machines"]),
    ("log", &["logs", "log-file"]),
    ("image", &["img"]),
    ("fail-over", &["threshold", "fail-above"]),
];

/// A command whose flags have the names that users try, unless another flag has the name.
pub(super) fn with_guesses(command: Command) -> Command {
    let longs = |command: &Command| -> Vec<(clap::Id, String)> {
        let named = |arg: &clap::Arg| Some((arg.get_id().clone(), arg.get_long()?.to_owned()));
        command.get_arguments().filter_map(named).collect()
    };
    let flags = longs(&command);
    let mut taken: BTreeSet<String> = flags.iter().map(|(_, long)| long.clone()).collect();
    let mut aliases: BTreeMap<clap::Id, Vec<&'static str>> = BTreeMap::new();
    for (flag, guesses) in GUESSES {
        if let Some((id, _)) = flags.iter().find(|(_, long)| long == flag) {
            let free = guesses
                .iter()
                .copied()
                .filter(|guess| taken.insert((*guess).to_owned()));
            aliases.insert(id.clone(), free.collect());
        }
    }
    // In place: the order of the help is that of the definition.
    command.mut_args(|arg| match aliases.remove(arg.get_id()) {
        Some(free) => arg.aliases(free),
        None => arg,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::verbs::{Manner, VERBS};

    #[test]
    fn each_guess_is_for_a_flag_that_exists() {
        let flags: BTreeSet<String> = VERBS
            .iter()
            .flat_map(|verb| {
                let command = verb.command("windlass");
                let longs = command.get_arguments().filter_map(clap::Arg::get_long);
                longs.map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        for (flag, _) in GUESSES {
            assert!(flags.contains(*flag), "{flag}");
        }
    }

    #[test]
    fn clusterctls_commands_take_their_own_flags_alone() {
        for verb in VERBS {
            let has_aliases = verb
                .command("windlass")
                .get_arguments()
                .any(|arg| arg.get_all_aliases().is_some());
            assert!(
                !has_aliases || verb.manner == Manner::Ours,
                "{}",
                verb.name()
            );
        }
    }
}
