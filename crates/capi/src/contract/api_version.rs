//! Versions of APIs, in the order in which Kubernetes prefers them.

/// A version of an API: `v1`, `v1beta2`, `v2alpha1`. The order is that of Kubernetes, the newest
/// last: alpha, beta, then versions without such a word (Kubernetes:
/// `version.CompareKubeAwareVersionStrings`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiVersion {
    stage: Stage,
    major: u32,
    minor: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Alpha,
    Beta,
    Stable,
}

impl ApiVersion {
    /// Reads a version; `None` when the text has another form.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| text.parse().ok())
                .flatten()
        };
        let rest = text.strip_prefix('v')?;
        let stages = [("alpha", Stage::Alpha), ("beta", Stage::Beta)];
        let staged = stages
            .into_iter()
            .find_map(|(word, stage)| Some((rest.split_once(word)?, stage)));
        match staged {
            Some(((major, minor), stage)) => Some(ApiVersion {
                stage,
                major: number(major)?,
                minor: number(minor)?,
            }),
            None => Some(ApiVersion {
                stage: Stage::Stable,
                major: number(rest)?,
                minor: 0,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of the documentation of Kubernetes ("Versions in CustomResourceDefinitions"), from
    /// the last to the first.
    #[test]
    fn versions_are_in_kubernetes_order() {
        let expected = [
            "v11alpha2",
            "v12alpha1",
            "v3beta1",
            "v10beta3",
            "v11beta2",
            "v1",
            "v2",
            "v10",
        ];
        let mut sorted = expected;
        sorted.reverse();
        sorted.sort_by_key(|version| ApiVersion::parse(version));
        assert_eq!(sorted, expected);
        for text in ["", "1", "v", "v1beta", "vbeta1", "v1-beta1", "v1.2", "foo1"] {
            assert_eq!(ApiVersion::parse(text), None, "{text}");
        }
    }
}
