//! A shell script read as far as `sh -n` looks at it: commands with their words, how they are
//! joined, in which blocks they stand, and what does not end (POSIX.1-2024, "Shell Command
//! Language", 2.2, 2.3, 2.9 and 2.10; bash's `$'…'`, `<<<`, `[[ … ]]` and `function`).
//!
//! `reader` takes signs and words apart, `blocks` knows the words that open and close (`if`, `{`,
//! `case` …), and `fate` tells what follows when a command fails. What is in `$(…)` and
//! backquotes is skipped as part of its word. In doubt nothing is said.

mod blocks;
mod fate;
mod interpreter;
mod reader;
mod words;

pub(crate) use fate::{Fate, Judged, Strictness};
pub(crate) use interpreter::Interpreter;
pub(crate) use reader::read;
pub(crate) use words::{assignment, quoted, unquoted};

/// What joins a command to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `&`
    Background,
    /// `;`, or the end of a line.
    End,
}

impl Joint {
    /// Whether the next command belongs to the same list.
    fn goes_on(self) -> bool {
        matches!(self, Joint::And | Joint::Or | Joint::Pipe)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Words.
    Simple,
    /// `{ … }`
    Group,
    /// `( … )`
    Subshell,
    /// `if … fi`
    If,
    /// `while … done` or `until … done`
    While,
    /// `for … done` or `select … done`
    For,
    /// `case … esac`
    Case,
    /// A function, which runs when it is called.
    Function,
}

/// Where in its block a command stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// In what `if`, `while` or `until` asks.
    Condition,
    /// In what is run, or in no block.
    Body,
    /// No command: the words behind `for` and `case`, and the patterns of a `case`.
    Header,
}

/// A command outside of any substitution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command<'t> {
    pub(crate) shape: Shape,
    /// Its words, with their quotes; of a block what is redirected.
    pub(crate) words: Vec<&'t str>,
    /// Where it begins, in bytes.
    pub(crate) start: usize,
    /// Where it ends, in bytes, without its here-documents.
    pub(crate) end: usize,
    /// Its first line, from 1.
    pub(crate) line: u32,
    /// Its last line, with its here-documents.
    pub(crate) last_line: u32,
    /// What follows it.
    pub(crate) joint: Option<Joint>,
    /// The next command of the same list.
    pub(crate) next: Option<usize>,
    /// Whether its list is the last in its part of the block, or in the script; said of the last
    /// command of a list.
    is_last: bool,
    /// Whether `!` stands before it.
    pub(crate) is_negated: bool,
    /// The block that contains it.
    pub(crate) parent: Option<usize>,
    pub(crate) part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unclosed {
    pub(crate) opener: &'static str,
    /// The line of that, from 1.
    pub(crate) line: u32,
}

impl Unclosed {
    pub(crate) fn help(self) -> String {
        match self.opener {
            "<<" => "write the word that ends the here-document on a line of its own".to_owned(),
            "'" | "\"" | "`" => format!(
                "write the closing `{0}`, or `\\{0}` for the sign itself",
                self.opener
            ),
            opener => format!("close `{opener}`"),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Script<'t> {
    /// The commands, each behind the block that contains it.
    pub(crate) commands: Vec<Command<'t>>,
    pub(crate) unclosed: Option<Unclosed>,
}

impl<'t> Script<'t> {
    /// The first commands of all lists, in their order.
    pub(crate) fn firsts(&self) -> Vec<usize> {
        let mut is_next = vec![false; self.commands.len()];
        self.commands
            .iter()
            .filter_map(|command| command.next)
            .for_each(|next| is_next[next] = true);
        is_next
            .iter()
            .enumerate()
            .filter(|(_, is_next)| !**is_next)
            .map(|(at, _)| at)
            .collect()
    }

    /// The last command, when an operator stands behind it and nothing follows.
    pub(crate) fn trailing(&self) -> Option<&Command<'t>> {
        self.commands
            .last()
            .filter(|command| command.next.is_none() && command.joint.is_some_and(Joint::goes_on))
    }

    /// The commands of a list from this one on.
    pub(crate) fn list(&self, first: usize) -> impl Iterator<Item = (usize, &Command<'t>)> {
        let from = |at: usize| (at, &self.commands[at]);
        std::iter::successors(Some(from(first)), move |(_, command)| {
            command.next.map(from)
        })
    }
}
