//! The versions of CoreDNS, etcd and pause of each kubeadm: a table out of the sources of
//! Kubernetes (`releases.txt` says which, and how it was made).

use std::cmp::Ordering;
use std::sync::LazyLock;

use semver::Version;

/// What kubeadm of some releases of Kubernetes installs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Release {
    /// The first release whose sources have these versions.
    first: Version,
    /// The last release of the minor version, or before the next row, that was read.
    last: Version,
    /// The tag of CoreDNS.
    pub(super) coredns: &'static str,
    /// The tag of etcd.
    pub(super) etcd: &'static str,
    /// The tag of pause.
    pub(super) pause: &'static str,
}

static TABLE: LazyLock<Vec<Release>> = LazyLock::new(|| parse(include_str!("releases.txt")));

fn parse(table: &'static str) -> Vec<Release> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(row).collect()
}

/// `FIRST LAST COREDNS ETCD PAUSE`.
fn row(line: &'static str) -> Option<Release> {
    let cells: Vec<&str> = line.split(' ').collect();
    let [first, last, coredns, etcd, pause] = *cells.as_slice() else {
        return None;
    };
    let version = |text: &str| Version::parse(text.strip_prefix('v')?).ok();
    Some(Release {
        first: version(first)?,
        last: version(last)?,
        coredns,
        etcd,
        pause,
    })
}

/// The row for a version, and, where the sources of that patch version were not read, a release of
/// the row that was; `None` where the minor version is not in the table.
pub(super) fn of(version: &Version) -> Option<(&'static Release, Option<String>)> {
    let of_minor = || {
        TABLE
            .iter()
            .filter(|row| (row.first.major, row.first.minor) == (version.major, version.minor))
    };
    let row = of_minor()
        .rfind(|row| row.first.cmp_precedence(version) != Ordering::Greater)
        .or_else(|| of_minor().next())?;
    let is_read = row.first.cmp_precedence(version) != Ordering::Greater
        && version.cmp_precedence(&row.last) != Ordering::Greater;
    let nearest = if row.first.cmp_precedence(version) == Ordering::Greater {
        &row.first
    } else {
        &row.last
    };
    Some((row, (!is_read).then(|| format!("v{nearest}"))))
}

/// The first and the last minor version of the table: `v1.31`, `v1.38`.
pub(crate) fn covered() -> (String, String) {
    let minor = |row: Option<&Release>| {
        row.map(|row| format!("v{}.{}", row.first.major, row.first.minor))
            .unwrap_or_default()
    };
    (minor(TABLE.first()), minor(TABLE.last()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_ordered_and_do_not_overlap() {
        let rows = include_str!("releases.txt")
            .lines()
            .filter(|line| !line.starts_with('#'));
        assert_eq!(rows.count(), TABLE.len(), "every line is a row");
        for row in TABLE.iter() {
            assert!(row.first <= row.last, "{row:?}");
            assert_eq!(row.first.minor, row.last.minor, "{row:?}");
        }
        for pair in TABLE.windows(2) {
            assert!(pair[0].last < pair[1].first, "{pair:?}");
        }
        let minors: Vec<u64> = TABLE.iter().map(|row| row.first.minor).collect();
        assert!((31..=38).all(|minor| minors.contains(&minor)), "{minors:?}");
    }

    #[test]
    fn versions_outside_of_rows_name_the_nearest_release() {
        let of = |text: &str| {
            of(&Version::parse(text).unwrap()).map(|(row, nearest)| (row.pause, nearest))
        };
        assert_eq!(of("1.31.0"), Some(("3.10", None)));
        assert_eq!(of("1.31.0+vendor.1"), Some(("3.10", None)));
        assert_eq!(
            of("1.31.0-rc.1"),
            Some(("3.10", Some("v1.31.0".to_owned())))
        );
        assert!(of("1.37.99").is_some_and(|(_, nearest)| nearest.is_some()));
        assert_eq!(
            (of("1.30.14"), of("1.39.0"), of("2.31.0")),
            (None, None, None)
        );
    }
}
