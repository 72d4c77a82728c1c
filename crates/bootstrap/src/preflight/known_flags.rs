//! The flags that a component has, by its version: a table out of the sources of Kubernetes and
//! etcd (`flags.txt` says which, and how).

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::arguments::Component;

/// The Kubernetes minor versions 1 whose flags are all known.
const KUBERNETES: RangeInclusive<u64> = 26..=37;

/// Those of etcd 3.
const ETCD: RangeInclusive<u64> = 5..=7;

/// The minor versions with a flag.
pub(super) type Versions = RangeInclusive<u64>;

/// The minor versions of a component whose flags are all known.
pub(super) fn covered(component: Component) -> Versions {
    if component == Component::Etcd {
        ETCD
    } else {
        KUBERNETES
    }
}

/// Who has a flag, and in which versions.
type Row = Vec<(Component, Versions)>;

static TABLE: LazyLock<BTreeMap<&str, Row>> = LazyLock::new(|| parse(include_str!("flags.txt")));

fn parse(table: &'static str) -> BTreeMap<&'static str, Row> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let (name, cells) = line
            .split_once(' ')
            .expect("internal error: a row has a name and cells");
        (name, cells.split(' ').map(cell).collect())
    };
    lines.map(row).collect()
}

/// `k`, `k28-`, `k-33` or `k28-33`.
fn cell(text: &str) -> (Component, Versions) {
    let (letter, versions) = text.split_at(1);
    let component = Component::ALL
        .into_iter()
        .find(|component| component.letter() == letter)
        .expect("internal error: a letter of the table");
    let (first, last) = versions.split_once('-').unwrap_or_default();
    let known = covered(component);
    let end = |digits: &str, absent: u64| {
        if digits.is_empty() {
            absent
        } else {
            digits.parse().expect("internal error: a version")
        }
    };
    (
        component,
        end(first, *known.start())..=end(last, *known.end()),
    )
}

/// The versions of a component that have a flag, out of those that are covered; `None` when none
/// has.
pub(super) fn versions(component: Component, flag: &str) -> Option<Versions> {
    let (_, versions) = TABLE
        .get(flag)?
        .iter()
        .find(|(known, _)| *known == component)?;
    Some(versions.clone())
}

/// The flags of a component: those of a minor version, or without one all of them.
pub(super) fn flags(
    component: Component,
    minor: Option<u64>,
) -> impl Iterator<Item = &'static str> {
    let has = move |row: &Row| {
        row.iter().any(|(known, versions)| {
            *known == component && minor.is_none_or(|minor| versions.contains(&minor))
        })
    };
    TABLE
        .iter()
        .filter(move |(_, row)| has(row))
        .map(|(name, _)| *name)
}

/// The components that have a flag in some version.
pub(super) fn owners(flag: &str) -> impl Iterator<Item = Component> {
    TABLE
        .get(flag)
        .into_iter()
        .flatten()
        .map(|(component, _)| *component)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_each_row_in_its_bounds() {
        let rows: Vec<&str> = include_str!("flags.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .collect();
        let names: Vec<&str> = rows
            .iter()
            .filter_map(|row| row.split(' ').next())
            .collect();
        assert!(
            names.is_sorted() && names.len() == TABLE.len(),
            "{} names, {} rows",
            names.len(),
            TABLE.len()
        );
        for (name, row) in TABLE.iter() {
            for (component, versions) in row {
                let covered = covered(*component);
                assert!(
                    covered.contains(versions.start())
                        && covered.contains(versions.end())
                        && !versions.is_empty(),
                    "{name}"
                );
            }
        }
    }

    /// `kube-apiserver --help` of v1.34.4 lists 170 flags; five that are deprecated
    /// (`MarkDeprecated`) it hides. `etcd --help` of v3.6.5 lists 136, and the table has the 13
    /// that it only ignores, `--config-file`, `--help`, `-h` and `--version`.
    #[test]
    fn flags_are_those_of_the_version() {
        assert_eq!(flags(Component::ApiServer, Some(34)).count(), 175);
        assert_eq!(flags(Component::Etcd, Some(6)).count(), 153);
        assert_eq!(versions(Component::Kubelet, "config-dir"), Some(28..=37));
        assert_eq!(versions(Component::Kubelet, "etcd-servers"), None);
        assert_eq!(
            owners("config-dir").collect::<Vec<_>>(),
            [Component::Kubelet]
        );
    }
}
