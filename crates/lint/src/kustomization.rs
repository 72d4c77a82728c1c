//! Kustomizations from which a release is made.

use windlass_source::diag::{Diagnostic, Place, Report, rules};

rules! {
    /// a kustomization downloads a resource during the build
    REMOTE = warning("kustomization-resource-remote"), catalogue("A08"), url("https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/resource/");
}

/// What kustomize tells URLs by, beside `//` behind a scheme: the ways in which git writes a
/// repository, and hosts that need no scheme.
const BEGINNINGS: [&str; 4] = ["git::", "git@", "github.com/", "github.com:"];

/// Checks what a kustomization is made of, each with its place.
pub fn check<'r>(resources: impl IntoIterator<Item = (&'r str, Place)>) -> Report {
    let remote = resources
        .into_iter()
        .filter(|(resource, _)| is_remote(resource));
    let found = remote.map(|(resource, place)| {
        Diagnostic::of(
            &REMOTE,
            format!("kustomize fetches {resource} each time it builds"),
        )
        .at(place)
        .help("commit the file, and name its path")
    });
    found.collect()
}

fn is_remote(resource: &str) -> bool {
    let has_scheme = resource
        .split_once("://")
        .is_some_and(|(scheme, _)| !scheme.eq_ignore_ascii_case("file"));
    has_scheme
        || BEGINNINGS
            .iter()
            .any(|beginning| resource.starts_with(beginning))
        || resource.contains("?ref=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fetched_is_told() {
        for (resource, is_fetched) in [
            ("a.yaml", false),
            ("../b", false),
            ("file:///c", false),
            ("https://d/e.yaml", true),
            ("git@f:g/h", true),
            ("git::ssh://f/g", true),
            ("github.com/i/j", true),
            ("k/l?ref=m", true),
        ] {
            assert_eq!(
                !check([(resource, Place::file("k"))]).is_empty(),
                is_fetched,
                "{resource}"
            );
        }
    }
}
