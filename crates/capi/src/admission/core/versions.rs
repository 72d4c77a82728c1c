//! Kubernetes versions, as the webhooks of the releases check them.

use semver::Version;

/// How a release checks the version of machines, control planes and topologies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionCheck {
    /// By the regular expression `KubeSemver` of `util/version` (before v1.14).
    Pattern,
    /// By `semver.Parse` of blang (since v1.14).
    Semantic,
}

impl VersionCheck {
    /// What is wrong with a version; `invalid` is the webhook's message for one that is not
    /// semantic.
    pub fn faults(self, version: &str, invalid: &'static str) -> Vec<&'static str> {
        match self {
            VersionCheck::Pattern if is_of_pattern(version) => Vec::new(),
            VersionCheck::Pattern => vec![invalid],
            VersionCheck::Semantic => {
                let numbers = version.strip_prefix('v');
                let prefix = numbers.is_none().then_some("must start with v");
                let is_semantic = is_semantic(numbers.unwrap_or(version));
                let form = (!is_semantic).then_some(invalid);
                prefix.into_iter().chain(form).collect()
            }
        }
    }
}

/// `semver.Parse` of `github.com/blang/semver/v4`.
fn is_semantic(version: &str) -> bool {
    Version::parse(version).is_ok()
}

/// `^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)([-0-9a-zA-Z_\.+]*)?$`
fn is_of_pattern(version: &str) -> bool {
    let Some(numbers) = version.strip_prefix('v') else {
        return false;
    };
    let mut parts = numbers.splitn(3, '.');
    let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_number = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && (text == "0" || !text.starts_with('0'))
    };
    // Digits behind a leading zero belong to the suffix.
    let is_patch = rest.starts_with(|first: char| first.is_ascii_digit());
    let is_suffix = rest
        .chars()
        .all(|char| char.is_ascii_alphanumeric() || "-_.+".contains(char));
    is_number(major) && is_number(minor) && is_patch && is_suffix
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expectations are what Go's regular expression and blang's parser answer.
    #[test]
    fn releases_check_versions_differently() {
        let of = |version: &str| {
            [VersionCheck::Pattern, VersionCheck::Semantic]
                .map(|check| check.faults(version, "invalid").is_empty())
        };
        assert_eq!(of("v1.34.1"), [true, true]);
        assert_eq!(of("v1.34.1-rc.0+build"), [true, true]);
        assert_eq!(of("v1.34.1_x"), [true, false]);
        assert_eq!(of("v1.34.01"), [true, false]);
        assert_eq!(of("v1.34"), [false, false]);
        assert_eq!(of("v01.34.1"), [false, false]);
        assert_eq!(of("1.34.1"), [false, false]);
        assert_eq!(
            VersionCheck::Semantic.faults("1.34", "invalid"),
            ["must start with v", "invalid"]
        );
    }
}
