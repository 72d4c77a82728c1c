//! Findings that say the same about several CRDs: people read the first, and the names of the
//! others.

use std::collections::BTreeMap;

use windlass_source::diag::Diagnostic;

/// How many findings alike are put together; two are read faster by themselves.
const FEWEST: usize = 3;
/// The rules whose findings are about one CRD each begin so.
const OF_CRDS: &str = "crd-";

/// The findings, those alike in place of the first of them.
pub(super) fn together<'r>(findings: impl Iterator<Item = &'r Diagnostic>) -> Vec<Diagnostic> {
    let mut groups: Vec<Vec<&Diagnostic>> = Vec::new();
    let mut known: BTreeMap<(&str, Vec<String>), usize> = BTreeMap::new();
    for finding in findings {
        let key = finding
            .rule
            .id
            .starts_with(OF_CRDS)
            .then(|| (finding.rule.id, what_is_said(finding)));
        match key.as_ref().and_then(|key| known.get(key)) {
            Some(at) => groups[*at].push(finding),
            None => {
                known.extend(key.map(|key| (key, groups.len())));
                groups.push(vec![finding]);
            }
        }
    }
    groups
        .into_iter()
        .flat_map(|group| one_of(&group))
        .collect()
}

fn one_of(group: &[&Diagnostic]) -> Vec<Diagnostic> {
    let (Some((first, others)), true) = (group.split_first(), group.len() >= FEWEST) else {
        return group.iter().map(|finding| (*finding).clone()).collect();
    };
    let names: Vec<String> = others.iter().map(|finding| place(finding)).collect();
    vec![(*first).clone().note(format!(
        "the same applies to {} others: {}",
        others.len(),
        names.join(", ")
    ))]
}

/// The object of a finding and its line.
fn place(finding: &Diagnostic) -> String {
    let message = finding.message.to_string();
    let name = name_of_object(finding)
        .map(str::to_owned)
        .or_else(|| {
            message
                .split(' ')
                .find(|word| is_name(word))
                .map(str::to_owned)
        })
        .unwrap_or_default();
    match (&finding.place.file, finding.place.span) {
        (Some(file), Some(span)) => format!("{name} ({file}:{})", span.start.line),
        _ => name,
    }
}

fn name_of_object(finding: &Diagnostic) -> Option<&str> {
    let title = finding.place.object.as_deref()?;
    Some(title.split_once('/').map_or(title, |(_, name)| name))
}

/// Message, help and notes without the names of CRDs and kinds: a finding with another help or note
/// is shown by itself.
fn what_is_said(finding: &Diagnostic) -> Vec<String> {
    let help = finding.help.iter().map(ToString::to_string);
    let texts = std::iter::once(finding.message.to_string()).chain(help);
    texts
        .chain(finding.notes.iter().map(ToString::to_string))
        .map(|text| match name_of_object(finding) {
            Some(name) => without_names(&text.replace(name, "…")),
            None => without_names(&text),
        })
        .collect()
}

/// The text without the names of CRDs and kinds.
fn without_names(message: &str) -> String {
    let words = message
        .split(' ')
        .map(|word| if is_name(word) { "…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a word is the title of a CRD, or a kind such as `FooMachine`.
fn is_name(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let capitals = bare.chars().filter(|c| c.is_ascii_uppercase()).count();
    bare.starts_with("CustomResourceDefinition/")
        || (capitals > 1
            && bare.chars().all(char::is_alphanumeric)
            && bare.starts_with(|c: char| c.is_ascii_uppercase())
            && bare.chars().any(|c| c.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::diag::{Report, Rule};

    static OF_A_CRD: Rule = Rule::warning("crd-of-a-test", "a rule of this test");

    #[test]
    fn findings_alike_are_one_with_the_names_of_the_others() {
        let finding = |kind: &str, rest: &str| {
            Diagnostic::of(&OF_A_CRD, format!("v1 of {kind} has no `{rest}`"))
        };
        let of = |findings: Vec<Diagnostic>| {
            let report: Report = findings.into_iter().collect();
            together(report.findings().iter())
                .iter()
                .map(|finding| finding.notes.len())
                .collect::<Vec<_>>()
        };
        let three = ["FooCluster", "FooMachine", "AWSBar"].map(|kind| finding(kind, "a"));
        assert_eq!(of(three.to_vec()), [1]);
        assert_eq!(
            of(vec![finding("FooCluster", "a"), finding("FooBar", "a")]),
            [0, 0]
        );
        let other = [
            finding("FooCluster", "a"),
            finding("FooBar", "b"),
            finding("FooBaz", "c"),
        ];
        assert_eq!(of(other.to_vec()), [0, 0, 0]);
        let helped = ["FooCluster", "FooMachine", "AWSBar"]
            .map(|kind| finding(kind, "a").help(format!("write `v{}`", kind.len())));
        assert_eq!(of(helped.to_vec()), [0, 0, 0]);
    }
}
