//! The registry: every rule that this program knows.

use std::collections::BTreeSet;

use windlass_report::text;
use windlass_source::diag::Rule;

/// The rules of all crates.
static DECLARED: &[&[&[&Rule]]] = &[
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

/// Of rules about releases, those for which the version must be known. Beside them stand those of
/// [`WITH_VERSION`].
static OF_VERSIONS: &[&[&Rule]] = windlass_release::VERSION_RULES;

/// Of rules about releases, those for which the release before must be known.
static OF_UPGRADES: &[&[&Rule]] = windlass_lint::UPGRADE_RULES;

/// Of [`DECLARED`], what is one of [`OF_VERSIONS`].
static WITH_VERSION: &[&Rule] = &[
    &windlass_lint::components::images::VERSION_OTHER,
    &windlass_lint::metadata::rules::SERIES_MISSING,
    &windlass_release::assets::COMPONENTS_MISSING,
    &windlass_release::assets::METADATA_MISSING,
];

/// Whether a rule can only be checked for a release whose version is known.
pub(crate) fn depends_on_version(rule: &Rule) -> bool {
    WITH_VERSION.contains(&rule)
}

/// What a run that checks a release knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Knows {
    /// Its files.
    Files,
    /// Its version, too.
    Version,
    /// The release before, too.
    Previous,
}

/// The ids of the rules that such a run checks in every release: those whose pages have files of a
/// release as examples.
pub fn asked(knows: Knows) -> BTreeSet<&'static str> {
    let with_version = |rule: &&Rule| knows >= Knows::Version || !WITH_VERSION.contains(rule);
    let of_files = DECLARED
        .iter()
        .copied()
        .flatten()
        .copied()
        .flatten()
        .copied()
        .filter(with_version);
    let of_versions = OF_VERSIONS
        .iter()
        .copied()
        .flatten()
        .copied()
        .filter(|_| knows >= Knows::Version);
    let of_upgrades = OF_UPGRADES
        .iter()
        .copied()
        .flatten()
        .copied()
        .filter(|_| knows >= Knows::Previous);
    of_files
        .chain(of_versions)
        .chain(of_upgrades)
        .filter(|rule| rule.has_release_example())
        .map(|rule| rule.id)
        .collect()
}

/// All rules, by id.
pub fn all() -> Vec<&'static Rule> {
    let declared = DECLARED.iter().copied().chain([OF_VERSIONS, OF_UPGRADES]);
    let mut rules: Vec<&Rule> = declared.flatten().copied().flatten().copied().collect();
    rules.sort_unstable();
    rules
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
