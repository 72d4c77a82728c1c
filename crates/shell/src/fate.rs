//! What follows when a command fails (POSIX.1-2024, "Shell Command Language", 2.8.1, 2.9 and `set
//! -e`).

use std::collections::BTreeMap;

use super::{Command, Joint, Part, Script, Shape};

/// What follows when a command fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The script ignores the failure and runs what follows.
    GoesOn,
    /// It is the last, and the script ends with its code.
    Last,
    /// The script ends at once: by `set -e`, or by `exit` or `return` after `
    ///
    /// `.
    EndsScript,
    /// Nothing: what `||` runs instead always succeeds.
    Excused,
    /// Nothing: it runs in the background.
    Background,
    /// It is not a failure: it answers `if` or `while`, or it is in a function.
    Answer,
}

/// Whether `set -e` and `set -o pipefail` hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Strictness {
    /// `-e`
    pub ends: bool,
    /// `-o pipefail`
    pub pipes: bool,
}

impl Strictness {
    /// What a `set` makes of it.
    fn after(mut self, words: &[&str]) -> Self {
        let mut words = words.iter().skip_while(|word| **word != "set").skip(1);
        while let Some(word) = words.next() {
            let Some((sign, flags)) = word
                .split_at_checked(1)
                .filter(|(sign, _)| ["-", "+"].contains(sign))
            else {
                break;
            };
            let is_on = sign == "-";
            if flags.contains('e') {
                self.ends = is_on;
            }
            if flags.ends_with('o') {
                match words.next() {
                    Some(&"errexit") => self.ends = is_on,
                    Some(&"pipefail") => self.pipes = is_on,
                    _ => {}
                }
            }
        }
        self
    }
}

/// What holds for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    /// The consequence of a failure of the command.
    pub fate: Fate,
    /// Whether its code is lost in a pipe.
    pub is_piped_away: bool,
}

impl Script<'_> {
    /// What holds for each command. `begin`: what `set` holds at the start.
    pub fn judged(&self, begin: Strictness) -> Vec<Judged> {
        let (answers, lasts) = (self.answers(), self.lasts());
        let mut strictness: BTreeMap<Option<usize>, Strictness> = BTreeMap::from([(None, begin)]);
        let mut scopes: Vec<Option<usize>> = Vec::with_capacity(self.commands.len());
        let mut is_exempt: Vec<bool> = Vec::with_capacity(self.commands.len());
        let mut judged: Vec<Judged> = Vec::with_capacity(self.commands.len());
        for (at, command) in self.commands.iter().enumerate() {
            let scope = command.parent.and_then(|parent| {
                if self.commands[parent].is_scope() {
                    Some(parent)
                } else {
                    scopes[parent]
                }
            });
            scopes.push(scope);
            let outer = scope
                .and_then(|block| strictness.get(&scopes[block]))
                .copied();
            let strict = *strictness.entry(scope).or_insert(outer.unwrap_or(begin));
            is_exempt
                .push(command.is_asked() || command.parent.is_some_and(|parent| is_exempt[parent]));
            let outer = command
                .parent
                .map(|parent| (self.commands[parent].shape, judged[parent].fate));
            let is_answer = command.part != Part::Body || command.is_negated;
            let fate = match (answers[at], outer) {
                (_, Some((Shape::Function, _) | (_, Fate::Answer))) => Fate::Answer,
                _ if is_answer => Fate::Answer,
                (Some(fate), _) => fate,
                (None, _) if strict.ends && !is_exempt[at] => Fate::EndsScript,
                (None, _) if !lasts[at] => Fate::GoesOn,
                (None, None) => Fate::Last,
                (None, Some((_, fate))) => fate,
            };
            judged.push(Judged {
                fate,
                is_piped_away: command.joint == Some(Joint::Pipe) && !strict.pipes,
            });
            if command.shape == Shape::Simple && command.program() == Some("set") {
                strictness.insert(scope, strict.after(&command.words));
            }
        }
        judged
    }

    /// What becomes of a failure inside of the list of each command; nothing when it is the failure
    /// of the list.
    fn answers(&self) -> Vec<Option<Fate>> {
        let mut answers: Vec<Option<Fate>> = vec![None; self.commands.len()];
        for (at, command) in self.commands.iter().enumerate().rev() {
            answers[at] = match (command.joint, command.next) {
                (Some(Joint::Background), _) => Some(Fate::Background),
                (Some(Joint::Or), Some(next)) if self.commands[next].always_succeeds() => {
                    Some(Fate::Excused)
                }
                (Some(Joint::Or), Some(next)) if self.leaves(next) => Some(Fate::EndsScript),
                (Some(Joint::Or), Some(_)) => Some(Fate::GoesOn),
                (Some(Joint::And | Joint::Pipe), Some(next)) => answers[next],
                _ => None,
            };
        }
        answers
    }

    /// Whether a command ends the script, as `exit 1` and `{ echo no; exit 1; }` do; of a block the
    /// first commands are looked at.
    fn leaves(&self, at: usize) -> bool {
        let command = &self.commands[at];
        let leaves =
            |command: &Command<'_>| matches!(command.words.first(), Some(&("exit" | "return")));
        let inside = self.commands[at + 1..]
            .iter()
            .take(20)
            .take_while(|inside| inside.start < command.end);
        leaves(command)
            || (command.shape == Shape::Group
                && inside
                    .filter(|inside| inside.parent == Some(at))
                    .any(leaves))
    }

    /// Of each command, whether nothing follows its list in its part of a block, or in the script.
    fn lasts(&self) -> Vec<bool> {
        let mut lasts: Vec<bool> = self
            .commands
            .iter()
            .map(|command| command.is_last)
            .collect();
        for (at, command) in self.commands.iter().enumerate().rev() {
            lasts[at] = command.next.map_or(command.is_last, |next| lasts[next]);
        }
        lasts
    }
}

impl Command<'_> {
    /// Whether what `set` says inside of it does not reach what follows.
    fn is_scope(&self) -> bool {
        matches!(self.shape, Shape::Subshell | Shape::Function)
    }

    /// Whether `set -e` passes over its failure.
    fn is_asked(&self) -> bool {
        self.is_negated || self.part == Part::Condition || self.joint.is_some_and(Joint::goes_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// The fates of the simple commands that are called `a`.
    #[track_caller]
    fn check(text: &str, expected: &[Fate]) {
        let script = read(text);
        let judged = script.judged(Strictness::default());
        let is_wanted = |command: &Command<'_>| {
            command.shape == Shape::Simple && command.words.first() == Some(&"a")
        };
        let fates: Vec<Fate> = script
            .commands
            .iter()
            .zip(judged)
            .filter(|(command, _)| is_wanted(command))
            .map(|(_, judged)| judged.fate)
            .collect();
        assert_eq!(fates, expected, "{text}");
    }

    /// `tests/it/inspect.rs` compares with bash and dash themselves.
    #[test]
    fn what_follows_a_failure_is_known() {
        use Fate::{Answer, Background, EndsScript, Excused, GoesOn, Last};
        check("a\na", &[GoesOn, Last]);
        check("a || true; a", &[Excused, Last]);
        check("a && b || :", &[Excused]);
        check("a | b || exit 1", &[EndsScript]);
        check("a || { echo no; exit 1; }", &[EndsScript]);
        check("a || echo no", &[GoesOn]);
        check("a && b", &[Last]);
        check("a & b", &[Background]);
        check("{ a; a; } || true", &[GoesOn, Excused]);
        check("if a; then a; else a; fi; b", &[Answer, GoesOn, GoesOn]);
        check("if b; then a; else a; fi", &[Last, Last]);
        check("f() { a; }", &[Answer]);
        check("! a", &[Answer]);
    }

    #[test]
    fn set_e_ends_the_script_where_nothing_asks() {
        use Fate::{EndsScript, Excused, GoesOn, Last};
        check(
            "a\nset -e\na\na && b\na || true\nset +e\na\nb",
            &[GoesOn, EndsScript, GoesOn, Excused, GoesOn],
        );
        check("set -euo pipefail; a; b", &[EndsScript]);
        check("set -o errexit; a; b", &[EndsScript]);
        check("echo set -e; a; b", &[GoesOn]);
        check("(set -e; a; b); a; b", &[EndsScript, GoesOn]);
        check("set -e; (a; b); a", &[EndsScript, EndsScript]);
        check("set -e; { a; b; } || true", &[GoesOn]);
        check("f() { set -e; }; a; b", &[GoesOn]);
        check("set -e; a && b", &[Last]);
    }

    #[test]
    fn a_pipe_loses_the_code_unless_pipefail_holds() {
        let lost = |text| {
            read(text).judged(Strictness::default())[..]
                .iter()
                .filter(|judged| judged.is_piped_away)
                .count()
        };
        assert_eq!(
            [
                lost("a | b | c"),
                lost("set -o pipefail; a | b"),
                lost("a || b")
            ],
            [2, 0, 0]
        );
    }
}
