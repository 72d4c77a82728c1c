//! What a template names.

use std::collections::BTreeSet;

/// The names behind a dot in the actions of a template: what may be a variable.
pub(super) fn in_template(text: &str) -> Vec<String> {
    let mut names = BTreeSet::new();
    let actions = text
        .split("{{")
        .skip(1)
        .map(|action| action.split("}}").next().unwrap_or_default());
    for action in actions {
        let mut before = ' ';
        for (at, c) in action.char_indices() {
            if c == '.' && !before.is_alphanumeric() && !matches!(before, '_' | ')' | '.' | '"') {
                let name: String = action[at + 1..]
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                if !name.is_empty() {
                    names.insert(name);
                }
            }
            before = c;
        }
    }
    names.into_iter().collect()
}
