//! Who takes part in an election, and where.

use std::hash::{BuildHasher as _, RandomState};

/// Where the Lease is: the namespace of the Pod, else that of its account, else that of our
/// release.
pub(crate) fn namespace() -> String {
    let of_pod = std::env::var("POD_NAMESPACE").ok();
    let of_account =
        || std::fs::read_to_string("/var/run/secrets/kubernetes.io/serviceaccount/namespace").ok();
    first([of_pod, of_account()]).unwrap_or_else(|| "windlass-system".to_owned())
}

/// A name that no other process has, nor another start of this one: as for client-go, the name of
/// the Pod or host and something random.
pub(crate) fn identity() -> String {
    let of_pod = std::env::var("POD_NAME").ok();
    let of_host = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = first([of_pod, of_host()]).unwrap_or_else(|| "windlass-manager".to_owned());
    // The keys of the standard library's hashes come from the system's source of random numbers.
    let random =
        [RandomState::new(), RandomState::new()].map(|state| state.hash_one(std::process::id()));
    format!("{name}_{:016x}{:016x}", random[0], random[1])
}

fn first(names: [Option<String>; 2]) -> Option<String> {
    names
        .into_iter()
        .flatten()
        .map(|name| name.trim().to_owned())
        .find(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_start_has_an_identity_of_its_own() {
        let (one, other) = (identity(), identity());
        assert_ne!(one, other);
        assert!(
            one.split_once('_')
                .is_some_and(|(name, random)| !name.is_empty() && random.len() == 32),
            "{one}"
        );
    }

    #[test]
    fn the_first_name_that_says_something_counts() {
        let check = |names: [Option<&str>; 2], expected: Option<&str>| {
            assert_eq!(
                first(names.map(|name| name.map(str::to_owned))).as_deref(),
                expected
            );
        };
        check([Some("a"), Some("b")], Some("a"));
        check([Some(""), Some("b\n")], Some("b"));
        check([None, None], None);
    }
}
