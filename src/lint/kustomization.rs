//! Kustomizations from which a release is made.

use crate::diag::{Diagnostic, Report, rules};
use crate::provider::Kustomization;

rules! {
    /// kustomize fetches a resource while it builds the release
    REMOTE = warning("kustomization-resource-remote"), catalogue("A08"), url("https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/resource/"), page(r#"
What a kustomization takes from a URL is fetched anew by each build. The build fails without a network. It succeeds with other objects once somebody moves the branch or replaces the file, so the same commit gives two releases.

Commit the file, and name it by its path.

## Bad

```yaml config/kustomization.yaml
resources:
- https://github.com/kubernetes-sigs/metrics-server/releases/download/v0.6.3/components.yaml
```

## Good

```yaml config/kustomization.yaml
resources:
- metrics-server.yaml
```
"#);
}

/// What kustomize tells URLs by, beside `//` behind a scheme: the ways in which git writes a repository, and hosts that need no scheme.
const BEGINNINGS: [&str; 4] = ["git::", "git@", "github.com/", "github.com:"];

/// Judges a kustomization.
pub(crate) fn check(kustomization: &Kustomization) -> Report {
    let remote = kustomization.resources().into_iter().filter(|(resource, _)| is_remote(resource));
    let found = remote.map(|(resource, place)| {
        Diagnostic::of(&REMOTE, format!("kustomize fetches {resource} each time it builds"))
            .at(place)
            .help("commit the file, and name its path")
    });
    found.collect()
}

fn is_remote(resource: &str) -> bool {
    let has_scheme = resource.split_once("://").is_some_and(|(scheme, _)| !scheme.eq_ignore_ascii_case("file"));
    has_scheme || BEGINNINGS.iter().any(|beginning| resource.starts_with(beginning)) || resource.contains("?ref=")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::budget::Budget;
    use crate::text::source::Source;

    #[test]
    fn what_is_fetched_is_told_at_its_place() {
        let text = "resources:\n- a.yaml\n- ../b\n- file:///c\n- https://d/e.yaml\ncomponents:\n- git@f:g/h\nbases:\n- github.com/i/j\n- k/l?ref=m\n- [n]\n";
        let report = check(&Kustomization::read(&Source::new("kustomization.yaml", text), &Budget::default()));
        let lines: Vec<_> = report.findings().iter().map(|finding| finding.place.span.map(|span| span.start.line)).collect();
        assert_eq!(lines, [5, 7, 9, 10].map(Some));
    }
}
