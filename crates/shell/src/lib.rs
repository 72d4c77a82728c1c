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

pub use fate::{Fate, Judged, Strictness};
pub use interpreter::Interpreter;
pub use reader::read;
pub use words::{assignment, quoted, unquoted};

/// What joins a command to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joint {
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

/// The syntactic kind of a command: simple, a compound command, or a function definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
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
pub enum Part {
    /// In what `if`, `while` or `until` asks.
    Condition,
    /// In what is run, or in no block.
    Body,
    /// No command: the words behind `for` and `case`, and the patterns of a `case`.
    Header,
}

/// A command outside of any substitution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command<'t> {
    /// The syntactic kind, which decides how `words` are read.
    pub shape: Shape,
    /// Its words, with their quotes; of a block what is redirected.
    pub words: Vec<&'t str>,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends, in bytes, without its here-documents.
    pub end: usize,
    /// Its first line, from 1.
    pub line: u32,
    /// Its last line, with its here-documents.
    pub last_line: u32,
    /// What follows it.
    pub joint: Option<Joint>,
    /// The next command of the same list.
    pub next: Option<usize>,
    /// Whether its list is the last in its part of the block, or in the script; said of the last
    /// command of a list.
    is_last: bool,
    /// Whether `!` stands before it.
    pub is_negated: bool,
    /// The block that contains it.
    pub parent: Option<usize>,
    /// The part of the parent block that contains it; `Body` outside of all blocks.
    pub part: Part,
}

/// A quote, substitution, here-document or block that the script opens and does not close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unclosed {
    /// The characters or the reserved word that opened it, such as `"`, `$(`, `<<` or `if`.
    pub opener: &'static str,
    /// The line of that, from 1.
    pub line: u32,
}

impl Unclosed {
    /// Returns the help of a finding: how to close it, or how to write the character literally.
    pub fn help(self) -> String {
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

/// A shell script as its commands, and the first construct that it does not close.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script<'t> {
    /// The commands, each behind the block that contains it.
    pub commands: Vec<Command<'t>>,
    /// The construct that is not closed; `None` when the script is complete.
    pub unclosed: Option<Unclosed>,
}

impl<'t> Script<'t> {
    /// The first commands of all lists, in their order.
    pub fn firsts(&self) -> Vec<usize> {
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
    pub fn trailing(&self) -> Option<&Command<'t>> {
        self.commands
            .last()
            .filter(|command| command.next.is_none() && command.joint.is_some_and(Joint::goes_on))
    }

    /// The commands of a list from this one on.
    pub fn list(&self, first: usize) -> impl Iterator<Item = (usize, &Command<'t>)> {
        let from = |at: usize| (at, &self.commands[at]);
        std::iter::successors(Some(from(first)), move |(_, command)| {
            command.next.map(from)
        })
    }
}
