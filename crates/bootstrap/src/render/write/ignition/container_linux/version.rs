//! Versions as go-semver reads them.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) major: i64,
    pub(super) minor: i64,
    patch: i64,
    pre_release: String,
    metadata: String,
}

impl Version {
    pub(super) fn new(major: i64, minor: i64, patch: i64) -> Self {
        Version {
            major,
            minor,
            patch,
            pre_release: String::new(),
            metadata: String::new(),
        }
    }

    /// # Errors
    ///
    /// In go-semver's words.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (rest, metadata) = text.split_once('+').unwrap_or((text, ""));
        let (rest, pre_release) = rest.split_once('-').unwrap_or((rest, ""));
        let parts: Vec<&str> = rest.splitn(3, '.').collect();
        let [major, minor, patch] = parts[..] else {
            return Err(format!("{rest} is not in dotted-tri format"));
        };
        for (name, identifier) in [("pre-release", pre_release), ("metadata", metadata)] {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
            if !identifier.is_empty()
                && !identifier
                    .split('.')
                    .all(|part| !part.is_empty() && part.chars().all(fits))
            {
                return Err(format!(
                    "failed to validate {name}: {identifier} is not a valid semver identifier"
                ));
            }
        }
        let number = |text: &str| {
            let fault = |words: &str| format!("strconv.ParseInt: parsing \"{text}\": {words}");
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(fault("invalid syntax"));
            }
            text.parse::<i64>().map_err(|_| fault("value out of range"))
        };
        Ok(Version {
            major: number(major)?,
            minor: number(minor)?,
            patch: number(patch)?,
            pre_release: pre_release.to_owned(),
            metadata: metadata.to_owned(),
        })
    }

    /// Whether this version is before one without a pre-release.
    pub(super) fn is_before(&self, other: &Version) -> bool {
        let numbers = |version: &Version| (version.major, version.minor, version.patch);
        numbers(self) < numbers(other)
            || numbers(self) == numbers(other) && !self.pre_release.is_empty()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Version {
            major,
            minor,
            patch,
            pre_release,
            metadata,
        } = self;
        write!(formatter, "{major}.{minor}.{patch}")?;
        if !pre_release.is_empty() {
            write!(formatter, "-{pre_release}")?;
        }
        if metadata.is_empty() {
            Ok(())
        } else {
            write!(formatter, "+{metadata}")
        }
    }
}
