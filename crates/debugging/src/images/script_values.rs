//! The values of variables in a shell script, as far as the script itself gives them: assignments
//! of plain text, and the words of `for`.

use std::collections::BTreeMap;

use windlass_shell::{Command, Part, Script, Shape, assignment, unquoted};

/// The maximum number of values of a word. One with more counts as computed.
const MOST: usize = 100;

/// The maximum number of bytes of a value: variables that contain others double it with each
/// assignment.
const LONGEST: usize = 4096;

/// The values of each variable; none where a part of one is computed.
#[derive(Debug, Default)]
pub(super) struct Values {
    known: BTreeMap<String, Option<Vec<String>>>,
    /// Whether the script runs another one, which may set any variable.
    is_open: bool,
}

impl Values {
    pub(super) fn of(script: &Script<'_>) -> Self {
        let mut values = Values::default();
        for command in &script.commands {
            if command.part == Part::Header && values.is_loop(script, command) {
                values.loop_words(command);
            }
            // What `read` gives a variable, only the machine knows.
            if command.program() == Some("read") {
                let names = command.words.iter().filter(|word| !word.starts_with('-'));
                names.skip(1).for_each(|name| values.set(name, None));
            }
            if matches!(command.words.first(), Some(&("." | "source" | "eval"))) {
                values.is_open = true;
            }
            let words = command.words.iter();
            let assigned = words
                .skip_while(|word| is_declaration(word))
                .map_while(|word| assignment(word));
            let assigned: Vec<_> = assigned.collect();
            for (name, value) in assigned {
                let value = values.expand(&unquoted(value));
                values.set(name, value);
            }
        }
        values
    }

    fn is_loop(&self, script: &Script<'_>, command: &Command<'_>) -> bool {
        command
            .parent
            .is_some_and(|parent| script.commands[parent].shape == Shape::For)
    }

    /// `NAME in WORD…`
    fn loop_words(&mut self, command: &Command<'_>) {
        let [name, "in", words @ ..] = command.words.as_slice() else {
            return;
        };
        let words = words.iter().map(|word| self.expand(&unquoted(word)));
        let value: Option<Vec<Vec<String>>> = words.collect();
        let split = |text: &String| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let value: Option<Vec<String>> =
            value.map(|words| words.concat().iter().flat_map(split).collect());
        self.set(name, value.filter(|words| words.len() <= MOST));
    }

    fn set(&mut self, name: &str, value: Option<Vec<String>>) {
        match self.known.get_mut(name) {
            // A variable may have each of its values when it is used.
            Some(known) => {
                *known = known.take().zip(value).and_then(|(mut known, value)| {
                    known.extend(value);
                    (known.len() <= MOST).then_some(known)
                });
            }
            None => drop(self.known.insert(name.to_owned(), value)),
        }
    }

    /// The values of an unquoted word; `None` where a part of it is computed.
    pub(super) fn expand(&self, word: &str) -> Option<Vec<String>> {
        let mut expanded = vec![String::new()];
        let mut rest = word;
        while let Some(at) = rest.find(['$', '`']) {
            let (before, after) = rest.split_at(at);
            let (values, behind) = self.variable(after.strip_prefix('$')?)?;
            if expanded.len() * values.len() > MOST {
                return None;
            }
            expanded = expanded
                .iter()
                .flat_map(|start| {
                    values
                        .iter()
                        .map(move |value| format!("{start}{before}{value}"))
                })
                .collect();
            if expanded.iter().any(|text| text.len() > LONGEST) {
                return None;
            }
            rest = behind;
        }
        expanded.iter_mut().for_each(|text| text.push_str(rest));
        Some(expanded)
    }

    /// The values of the variable that a text begins with, behind its `$`, and what follows it.
    fn variable<'t>(&self, text: &'t str) -> Option<(Vec<String>, &'t str)> {
        let of = |name: &str| self.known.get(name).cloned();
        match text.strip_prefix('{') {
            Some(inner) => {
                let (inner, behind) = inner.split_once('}')?;
                let end = inner.find(|c: char| !is_name(c)).unwrap_or(inner.len());
                let (name, operator) = inner.split_at(end);
                let default = operator
                    .strip_prefix(":-")
                    .or_else(|| operator.strip_prefix('-'));
                let value = match (of(name), default) {
                    (Some(value), _) if operator.is_empty() || default.is_some() => value?,
                    (None, Some(default)) if !self.is_open => self.expand(default)?,
                    _ => return None,
                };
                Some((value, behind))
            }
            None => {
                let end = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
                Some((of(&text[..end])??, &text[end..]))
            }
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_declaration(word: &str) -> bool {
    matches!(
        word,
        "export" | "readonly" | "local" | "declare" | "typeset"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_shell as shell;

    fn expanded(script: &str, word: &str) -> Option<Vec<String>> {
        Values::of(&shell::read(script)).expand(word)
    }

    #[test]
    fn variables_have_the_values_of_the_script() {
        for (script, word, expected) in [
            ("A=x\n", "r/$A:1", Some(vec!["r/x:1"])),
            ("export A=\"x y\"\n", "${A}", Some(vec!["x y"])),
            ("A=1\nB=v$A\n", "$B", Some(vec!["v1"])),
            ("A=1\nA=2\n", "$A", Some(vec!["1", "2"])),
            (
                "for i in a 'b'; do x; done\n",
                "r/$i",
                Some(vec!["r/a", "r/b"]),
            ),
            (
                "L='a b'\nfor i in $L; do x; done\n",
                "$i",
                Some(vec!["a", "b"]),
            ),
            ("", "${A:-d}", Some(vec!["d"])),
            (". /etc/env\n", "${A:-d}", None),
            ("A=1\nread -r A < f\n", "$A", None),
            ("A=$(x)\n", "$A", None),
            ("A=$(x)\nA=1\n", "$A", None),
            ("", "$A", None),
            ("A=1\n", "${A%x}", None),
            ("", "plain", Some(vec!["plain"])),
            ("", "`x`", None),
        ] {
            let expected =
                expected.map(|values| values.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(expanded(script, word), expected, "{script:?} {word}");
        }
    }

    #[test]
    fn values_are_bounded() {
        let words = "a ".repeat(50);
        let script = format!("for i in {words}; do x; done\n");
        assert_eq!(expanded(&script, "$i").map(|values| values.len()), Some(50));
        assert_eq!(expanded(&script, "$i$i"), None);
        let words = "a ".repeat(MOST + 1);
        assert_eq!(
            expanded(&format!("for i in {words}; do x; done\n"), "$i"),
            None
        );
        let doubled: String = (1..60)
            .map(|i| format!("A{i}=$A{0}$A{0}\n", i - 1))
            .collect();
        assert_eq!(expanded(&format!("A0=xx\n{doubled}"), "$A59"), None);
    }
}
