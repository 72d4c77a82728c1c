//! The environment, read once.

use std::collections::BTreeMap;

/// The environment variables of the process, or those that a test gives.
///
/// Names and values that are not UTF-8 are left out: no template and no flag can name them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Reads the environment of the process.
    pub fn of_process() -> Self {
        Environment(
            std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
        )
    }

    /// The value of a variable; `None` when it is not set. A variable that is set to nothing is
    /// `Some("")`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value of a variable that counts only when it is not empty (`NO_COLOR`, `CI`).
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<T: IntoIterator<Item = (N, V)>>(iter: T) -> Self {
        Environment(
            iter.into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_a_value_that_may_not_count() {
        let environment: Environment = [("SET", "1"), ("EMPTY", "")].into_iter().collect();
        let both = |name: &str| (environment.get(name), environment.non_empty(name));
        assert_eq!(both("SET"), (Some("1"), Some("1")));
        assert_eq!(both("EMPTY"), (Some(""), None));
        assert_eq!(both("OTHER"), (None, None));
        assert_eq!(
            Environment::of_process().get("PATH"),
            std::env::var("PATH").ok().as_deref()
        );
    }
}
