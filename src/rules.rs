//! All rules of the program, and those that a check of a release applies.

use std::collections::BTreeSet;

use windlass_report::text;
use windlass_source::diag::Rule;

/// The rules of a crate: one list for each file.
type Rules = &'static [&'static [&'static Rule]];

/// The rules of all crates, except `VERSION_RULES` and `UPGRADE_RULES`.
static CRATES: &[Rules] = &[
    windlass_bootstrap::RULES,
    windlass_capi::RULES,
    windlass_checks::RULES,
    windlass_debugging::RULES,
    windlass_go_yaml::RULES,
    windlass_lint::RULES,
    windlass_objects::RULES,
    windlass_provider::RULES,
    windlass_release::RULES,
    windlass_report::RULES,
    windlass_repository::RULES,
    windlass_source::RULES,
    windlass_topology::RULES,
];

/// The rules in [`CRATES`] that need the version of the release, as all `VERSION_RULES` do.
static NEED_VERSION: &[&Rule] = &[
    &windlass_lint::components::images::VERSION_OTHER,
    &windlass_lint::metadata::rules::SERIES_MISSING,
    &windlass_release::assets::COMPONENTS_MISSING,
    &windlass_release::assets::METADATA_MISSING,
];

/// Whether a rule can only be checked for a release whose version is known.
pub(crate) fn depends_on_version(rule: &Rule) -> bool {
    NEED_VERSION.contains(&rule)
}

/// What a run that checks a release knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Knows {
    /// Its files.
    Files,
    /// Its files and its version.
    Version,
    /// Its files, its version and the previous release.
    Previous,
}

/// The ids of the rules that such a run checks in every release: those whose pages have files of a
/// release as examples.
pub fn asked(knows: Knows) -> BTreeSet<&'static str> {
    let of_files = CRATES.iter().copied().flat_map(each);
    let of_versions = each(windlass_release::VERSION_RULES);
    let of_upgrades = each(windlass_lint::UPGRADE_RULES);
    of_files
        .filter(|rule| knows >= Knows::Version || !depends_on_version(rule))
        .chain(of_versions.filter(|_| knows >= Knows::Version))
        .chain(of_upgrades.filter(|_| knows >= Knows::Previous))
        .filter(|rule| rule.has_release_example())
        .map(|rule| rule.id)
        .collect()
}

/// All rules, by id.
pub fn all() -> Vec<&'static Rule> {
    let further = [
        windlass_release::VERSION_RULES,
        windlass_lint::UPGRADE_RULES,
    ];
    let lists = CRATES.iter().copied().chain(further);
    let mut rules: Vec<&Rule> = lists.flat_map(each).collect();
    rules.sort_unstable();
    rules
}

fn each(rules: Rules) -> impl Iterator<Item = &'static Rule> {
    rules.iter().copied().flatten().copied()
}

/// The rules as a table with a header.
pub fn table(rules: &[&Rule]) -> String {
    let header = ["RULE", "SEVERITY", "CLASS", "SUMMARY"].map(str::to_owned);
    let rows = rules.iter().map(|rule| {
        [
            rule.id,
            rule.severity.as_str(),
            rule.class.as_str(),
            rule.summary,
        ]
        .map(str::to_owned)
    });
    text::table(&std::iter::once(header).chain(rows).collect::<Vec<_>>())
}

/// The page of a rule in Markdown, which `explain` prints: its summary, severity, class and source,
/// then why it matters, how to fix a finding, and examples.
pub fn page(rule: &Rule) -> String {
    let Rule {
        id,
        severity,
        summary,
        url,
        class,
        catalogue,
        page,
        ..
    } = rule;
    let mut text = format!("# {id}\n\n{}\n\n", sentence(summary));
    text.push_str(&format!("- severity: {}\n", severity.as_str()));
    text.push_str(&format!("- class: {}\n", class.as_str()));
    catalogue
        .iter()
        .for_each(|number| text.push_str(&format!("- catalogue: {number}\n")));
    url.iter()
        .for_each(|url| text.push_str(&format!("- contract: {url}\n")));
    text.push_str(&format!("\n{}\n", page.trim()));
    text
}

fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string())
        .unwrap_or_default();
    // A clause that begins with code, a file or a name stays as it is.
    let is_word = clause
        .split(' ')
        .next()
        .is_some_and(|word| word.chars().all(char::is_alphabetic));
    if is_word {
        format!("{first}{}.", letters.as_str())
    } else {
        format!("{clause}.")
    }
}
