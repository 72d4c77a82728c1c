//! Values of the configuration file, as viper hands them out.

use std::collections::BTreeMap;

/// A value. Keys of mappings are in lower case: viper does not distinguish.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Setting {
    Null,
    Bool(bool),
    /// Already as viper prints it: numbers and times have no other use here.
    Scalar(String),
    /// The same, of a whole number.
    Integer(String),
    Text(String),
    List(Vec<Setting>),
    Map(BTreeMap<String, Setting>),
}

impl Setting {
    /// The value of a variable (`cast.ToString`): lists and mappings are empty. `None` for null,
    /// which counts as not set.
    pub(super) fn to_variable(&self) -> Option<String> {
        match self {
            Setting::Null => None,
            Setting::Bool(bool) => Some(bool.to_string()),
            Setting::Scalar(text) | Setting::Integer(text) | Setting::Text(text) => {
                Some(text.clone())
            }
            Setting::List(_) | Setting::Map(_) => Some(String::new()),
        }
    }

    /// The value of a text field of a section (mapstructure, weakly typed). `None` for lists and
    /// mappings.
    pub(crate) fn to_field(&self) -> Option<String> {
        match self {
            Setting::Null => Some(String::new()),
            Setting::Bool(bool) => Some(if *bool { "1" } else { "0" }.to_owned()),
            Setting::Scalar(text) | Setting::Integer(text) | Setting::Text(text) => {
                Some(text.clone())
            }
            Setting::List(_) | Setting::Map(_) => None,
        }
    }

    pub(super) fn go_type(&self) -> &'static str {
        match self {
            Setting::Null => "nil",
            Setting::Bool(_) => "bool",
            Setting::Scalar(_) => "float64",
            Setting::Integer(_) => "int",
            Setting::Text(_) => "string",
            Setting::List(_) => "[]interface {}",
            Setting::Map(_) => "map[string]interface {}",
        }
    }

    /// The value at a key; `.` separates the steps, and a key that contains one is found too.
    pub(crate) fn get(&self, key: &str) -> Option<&Setting> {
        let Setting::Map(entries) = self else {
            return None;
        };
        let key = key.to_lowercase();
        if let Some(found) = entries.get(&key) {
            return Some(found);
        }
        // The longest first step wins, as in viper.
        let dots: Vec<usize> = key.match_indices('.').map(|(at, _)| at).collect();
        dots.into_iter()
            .rev()
            .find_map(|at| entries.get(&key[..at])?.get(&key[at + 1..]))
    }
}

/// Collects entries under keys in lower case.
impl FromIterator<(String, Setting)> for Setting {
    fn from_iter<T: IntoIterator<Item = (String, Setting)>>(entries: T) -> Self {
        Setting::Map(
            entries
                .into_iter()
                .map(|(key, value)| (key.to_lowercase(), value))
                .collect::<BTreeMap<_, _>>(),
        )
    }
}
