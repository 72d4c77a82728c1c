//! Version numbers as Go reads them: `version.ParseSemantic` of apimachinery (clusterctl,
//! repositories) and `semver.ParseTolerant` of blang (Kubernetes versions in Cluster API). The
//! crate `semver` reads neither form.

use semver::{BuildMetadata, Prerelease, Version};

use windlass_go_text::quote;

/// The reason why a string is not a semantic version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionFault {
    /// It does not begin with a number, or has no dots at all.
    NotAVersion,
    /// It has fewer or more than three numbers.
    NotThreeNumbers,
    /// A number begins with a zero; holds the number.
    LeadingZero(String),
    /// What follows the third number is not a pre-release or build metadata; holds it.
    Suffix(String),
}

/// A version as clusterctl demands it of tags and folders: blanks around it, an optional `v`,
/// exactly three numbers without leading zeros, optional pre-release and build metadata
/// (`k8s.io/apimachinery/pkg/util/version.ParseSemantic`).
///
/// # Errors
/// Says what is wrong with the text.
pub fn parse_semantic(text: &str) -> Result<Version, VersionFault> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let numbers_end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (numbers, suffix) = text.split_at(numbers_end);
    let parts: Vec<&str> = numbers.split('.').collect();
    if parts[0].is_empty() || parts.len() < 2 {
        return Err(VersionFault::NotAVersion);
    }
    if parts.len() != 3 || parts.iter().any(|part| part.is_empty()) {
        return Err(VersionFault::NotThreeNumbers);
    }
    if let Some(part) = parts
        .iter()
        .find(|part| part.len() > 1 && part.starts_with('0'))
    {
        return Err(VersionFault::LeadingZero((*part).to_owned()));
    }
    let number = |part: &str| part.parse::<u64>().map_err(|_| VersionFault::NotAVersion);
    let mut version = Version::new(number(parts[0])?, number(parts[1])?, number(parts[2])?);
    let fault = || VersionFault::Suffix(suffix.to_owned());
    let (pre, build) = match suffix.split_once('+') {
        Some((pre, build)) => (pre, Some(build)),
        None => (suffix, None),
    };
    if !pre.is_empty() {
        let pre = pre
            .strip_prefix('-')
            .filter(|p| !p.is_empty())
            .ok_or_else(fault)?;
        version.pre = Prerelease::new(pre).map_err(|_| fault())?;
    }
    if let Some(build) = build {
        version.build = BuildMetadata::new(build)
            .ok()
            .filter(|b| !b.is_empty())
            .ok_or_else(fault)?;
    }
    Ok(version)
}

/// A Kubernetes version as Cluster API reads it: blanks around it and a leading `v` are dropped,
/// leading zeros too, missing minor and patch numbers are zero, but a short version with a suffix
/// is rejected (`blang/semver.ParseTolerant`). The error is blang's text.
///
/// # Errors
/// blang's own words.
pub fn parse_tolerant(text: &str) -> Result<Version, String> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(str::to_owned).collect();
    for part in &mut parts {
        *part = without_leading_zeros(part);
    }
    if parts.len() < 3 {
        let last = parts.last().map_or("", String::as_str);
        if last.contains(['+', '-']) {
            return Err("Short version cannot contain PreRelease/Build meta data".to_owned());
        }
        parts.resize(3, "0".to_owned());
    }
    let (patch, suffix) = split_suffix(&parts[2]);
    let mut version = Version::new(
        go_number(&parts[0], "major")?,
        go_number(&parts[1], "minor")?,
        go_number(patch, "patch")?,
    );
    let (pre, build) = match suffix.split_once('+') {
        Some((pre, build)) => (pre, Some(build)),
        None => (suffix, None),
    };
    if let Some(pre) = pre.strip_prefix('-') {
        version.pre =
            Prerelease::new(pre).map_err(|_| format!("Invalid prerelease string {pre:?}"))?;
        if pre.is_empty() {
            return Err("Prerelease is empty".to_owned());
        }
    }
    if let Some(build) = build {
        version.build = BuildMetadata::new(build)
            .map_err(|_| format!("Invalid build meta data string {build:?}"))?;
        if build.is_empty() {
            return Err("Build meta data is empty".to_owned());
        }
    }
    Ok(version)
}

/// blang strips zeros from the front as long as a digit follows.
fn without_leading_zeros(part: &str) -> String {
    if part.len() <= 1 {
        return part.to_owned();
    }
    let stripped = part.trim_start_matches('0');
    if stripped.starts_with(|c: char| c.is_ascii_digit()) {
        stripped.to_owned()
    } else {
        format!("0{stripped}")
    }
}

fn split_suffix(patch: &str) -> (&str, &str) {
    patch.split_at(patch.find(['-', '+']).unwrap_or(patch.len()))
}

fn go_number(part: &str, name: &str) -> Result<u64, String> {
    if part.is_empty() {
        return Err("strconv.ParseUint: parsing \"\": invalid syntax".to_owned());
    }
    if !part.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!(
            "Invalid character(s) found in {name} number {}",
            quote(part)
        ));
    }
    part.parse()
        .map_err(|_| format!("strconv.ParseUint: parsing {part:?}: value out of range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn semantic(text: &str) -> Option<String> {
        parse_semantic(text).ok().map(|v| v.to_string())
    }

    /// Observed of apimachinery's parser.
    #[test]
    fn semantic_versions_have_three_numbers() {
        for (text, expected) in [
            ("v1.2.3", Some("1.2.3")),
            ("1.2.3", Some("1.2.3")),
            (" v1.2.3", Some("1.2.3")),
            ("v0.1.0-rc.1", Some("0.1.0-rc.1")),
            ("v1.30.5+rke2r1", Some("1.30.5+rke2r1")),
            ("V1.2.3", None),
            ("v1.2", None),
            ("1.2.3.4", None),
            ("v1.2.3-", None),
            ("v1.2.3x", None),
            ("v01.2.3", None),
            ("v1.2.3-01", None),
            ("latest", None),
            ("", None),
        ] {
            assert_eq!(semantic(text).as_deref(), expected, "{text}");
        }
        assert_eq!(
            parse_semantic("v01.2.3"),
            Err(VersionFault::LeadingZero("01".to_owned()))
        );
        assert_eq!(parse_semantic("v1.2"), Err(VersionFault::NotThreeNumbers));
    }

    /// Observed of blang's parser, as the kubeadm bootstrap provider reports it.
    #[test]
    fn tolerant_versions_are_filled_up() {
        for (text, expected) in [
            ("v1.34", Ok("1.34.0")),
            ("1.034.1", Ok("1.34.1")),
            ("1.31.0-alpha.1+x", Ok("1.31.0-alpha.1+x")),
            ("", Err("strconv.ParseUint: parsing \"\": invalid syntax")),
            (
                "v1.34-rc.1",
                Err("Invalid character(s) found in minor number \"34-rc\""),
            ),
            (
                "vfoo",
                Err("Invalid character(s) found in major number \"0foo\""),
            ),
        ] {
            assert_eq!(
                parse_tolerant(text).map(|v| v.to_string()),
                expected.map(str::to_owned).map_err(str::to_owned),
                "{text}"
            );
        }
    }
}
