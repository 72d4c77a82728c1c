//! From a template to its tree.

use std::ops::Range;

use super::Fault;
use super::functions::{self, Function};
use super::lexer::{Piece, line, pieces, syntax, words};
use super::value::Value;

/// How deep actions and parentheses may be nested.
const DEPTH: usize = 64;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Text(Range<usize>),
    /// A pipeline whose value is printed, unless it declares a variable.
    Action(Pipeline),
    If(Branch),
    With(Branch),
}

/// `if` or `with`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Branch {
    pub(super) condition: Pipeline,
    pub(super) then: Vec<Node>,
    pub(super) otherwise: Vec<Node>,
}

/// Commands, each of which gets the value of the one before as its last argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pipeline {
    pub(super) variable: Option<String>,
    pub(super) declares: bool,
    pub(super) commands: Vec<Command>,
}

/// A function with arguments, or a single operand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Command {
    pub(super) function: Option<Function>,
    pub(super) operands: Vec<Operand>,
    pub(super) span: Range<usize>,
}

/// A value of a command, with the fields that are taken of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operand {
    pub(super) base: Base,
    pub(super) fields: Vec<String>,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Base {
    Dot,
    Variable(String),
    Literal(Value),
    Pipeline(Box<Pipeline>),
}

/// Parses a template.
pub(super) fn parse(text: &str) -> Result<Vec<Node>, Fault> {
    let pieces = pieces(text)?;
    let mut parser = Parser { text, pieces: &pieces, at: 0 };
    let (nodes, end) = parser.list(0)?;
    match end {
        End::File => Ok(nodes),
        End::Else(words) | End::Keyword(words) => syntax(text, words[0].start, format!("unexpected {{{{{}}}}}", &text[words[0].clone()])),
    }
}

struct Parser<'a> {
    text: &'a str,
    pieces: &'a [Piece],
    at: usize,
}

/// What ended a list of nodes.
enum End {
    File,
    Else(Vec<Range<usize>>),
    Keyword(Vec<Range<usize>>),
}

impl Parser<'_> {
    fn list(&mut self, depth: usize) -> Result<(Vec<Node>, End), Fault> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.get(self.at) {
            self.at += 1;
            let action = match piece {
                Piece::Text(range) => {
                    nodes.push(Node::Text(range.clone()));
                    continue;
                }
                Piece::Action(range) => range.clone(),
            };
            let words = words(self.text, action.clone())?;
            let Some(first) = words.first() else { return syntax(self.text, action.start, "missing value for command") };
            match &self.text[first.clone()] {
                "end" => return Ok((nodes, End::Keyword(words))),
                "else" => return Ok((nodes, End::Else(words))),
                "if" => nodes.push(Node::If(self.branch(&words, depth)?)),
                "with" => nodes.push(Node::With(self.branch(&words, depth)?)),
                word @ ("range" | "define" | "template" | "block" | "break" | "continue") => {
                    return Err(Fault::Unsupported(format!("`{word}` on line {}", line(self.text, first.start))));
                }
                _ => nodes.push(Node::Action(self.pipeline(&words, depth)?)),
            }
        }
        Ok((nodes, End::File))
    }

    /// `if` or `with`, up to its `end`.
    fn branch(&mut self, words: &[Range<usize>], depth: usize) -> Result<Branch, Fault> {
        let keyword = words[0].clone();
        if depth >= DEPTH {
            return syntax(self.text, keyword.start, "actions are nested too deep");
        }
        let condition = self.pipeline(&words[1..], depth)?;
        let (then, end) = self.list(depth + 1)?;
        let otherwise = match end {
            End::Keyword(_) => Vec::new(),
            End::Else(words) if words.len() == 1 => match self.list(depth + 1)? {
                (nodes, End::Keyword(_)) => nodes,
                _ => return syntax(self.text, keyword.start, "unexpected end of the template or second else"),
            },
            // `else if` and `else with` share the `end`.
            End::Else(words) => {
                let rest = &words[1..];
                match &self.text[rest[0].clone()] {
                    "if" => vec![Node::If(self.branch(rest, depth + 1)?)],
                    "with" => vec![Node::With(self.branch(rest, depth + 1)?)],
                    word => return syntax(self.text, rest[0].start, format!("unexpected {word} in else")),
                }
            }
            End::File => return syntax(self.text, self.text.len(), "unexpected EOF"),
        };
        Ok(Branch { condition, then, otherwise })
    }

    fn pipeline(&self, words: &[Range<usize>], depth: usize) -> Result<Pipeline, Fault> {
        let word = |at: usize| words.get(at).map(|range| &self.text[range.clone()]);
        let (mut variable, mut declares, mut from) = (None, false, 0);
        if let (Some(name), Some(mark @ (":=" | "="))) = (word(0).filter(|name| name.starts_with('$')), word(1)) {
            (variable, declares, from) = (Some(name.to_owned()), mark == ":=", 2);
        }
        let mut commands = Vec::new();
        let mut cursor = from;
        loop {
            let (command, next) = self.command(words, cursor, depth)?;
            commands.push(command);
            if word(next) != Some("|") {
                if let Some(extra) = words.get(next) {
                    return syntax(self.text, extra.start, format!("unexpected {}", &self.text[extra.clone()]));
                }
                return Ok(Pipeline { variable, declares, commands });
            }
            cursor = next + 1;
        }
    }

    /// The command at a word, and the word after it.
    fn command(&self, words: &[Range<usize>], from: usize, depth: usize) -> Result<(Command, usize), Fault> {
        let at_end = words.last().map_or(self.text.len(), |last| last.end);
        let Some(first) = words.get(from) else { return syntax(self.text, at_end.min(self.text.len()), "missing value for command") };
        let name = &self.text[first.clone()];
        let mut at = from;
        let mut function = None;
        if name.starts_with(|c: char| c.is_alphabetic() || c == '_') && !matches!(name, "true" | "false" | "nil") {
            function = functions::find(name);
            if function.is_none() {
                return syntax(self.text, first.start, format!("function {name:?} not defined"));
            }
            at += 1;
        }
        let mut operands = Vec::new();
        while let Some(range) = words.get(at) {
            if matches!(&self.text[range.clone()], "|" | ")") {
                break;
            }
            let (operand, next) = self.operand(words, at, depth)?;
            operands.push(operand);
            at = next;
        }
        if function.is_none() && operands.len() != 1 {
            return syntax(self.text, first.start, format!("can't give argument to non-function {name}"));
        }
        let span = first.start..words[at - 1].end;
        Ok((Command { function, operands, span }, at))
    }

    fn operand(&self, words: &[Range<usize>], at: usize, depth: usize) -> Result<(Operand, usize), Fault> {
        let range = words[at].clone();
        let word = &self.text[range.clone()];
        if word == "(" {
            if depth >= DEPTH {
                return syntax(self.text, range.start, "parentheses are nested too deep");
            }
            let close = self.closing(words, at)?;
            let inner = self.pipeline(&words[at + 1..close], depth + 1)?;
            // `(…).field` is one operand when nothing is between.
            let after = words.get(close + 1).filter(|next| next.start == words[close].end && self.text[(*next).clone()].starts_with('.'));
            let fields = after.map(|next| fields_of(&self.text[next.clone()])).unwrap_or_default();
            let next = if after.is_some() { close + 2 } else { close + 1 };
            return Ok((Operand { base: Base::Pipeline(Box::new(inner)), fields, span: range.start..words[next - 1].end }, next));
        }
        let (base, fields) = match word.as_bytes()[0] {
            b'.' if word == "." => (Base::Dot, Vec::new()),
            b'.' if !word[1..].starts_with(|c: char| c.is_ascii_digit()) => (Base::Dot, fields_of(word)),
            b'$' => {
                let (name, rest) = word.split_at(word.find('.').unwrap_or(word.len()));
                (Base::Variable(name.to_owned()), fields_of(rest))
            }
            _ => match functions::literal(word) {
                Some(value) => (Base::Literal(value), Vec::new()),
                None if functions::find(word).is_some() => return Err(Fault::Unsupported(format!("function `{word}` as an argument"))),
                None => return syntax(self.text, range.start, format!("unexpected {word:?} in operand")),
            },
        };
        if fields.iter().any(String::is_empty) {
            return syntax(self.text, range.start, format!("unexpected {word:?} in operand"));
        }
        Ok((Operand { base, fields, span: range }, at + 1))
    }

    /// The word that closes a parenthesis.
    fn closing(&self, words: &[Range<usize>], open: usize) -> Result<usize, Fault> {
        let mut depth = 0usize;
        for (at, range) in words.iter().enumerate().skip(open) {
            match &self.text[range.clone()] {
                "(" => depth += 1,
                ")" if depth == 1 => return Ok(at),
                ")" => depth -= 1,
                _ => {}
            }
        }
        syntax(self.text, words[open].start, "unclosed left paren")
    }
}

/// The names of `.a.b`.
fn fields_of(word: &str) -> Vec<String> {
    word.strip_prefix('.').map(|names| names.split('.').map(str::to_owned).collect()).unwrap_or_default()
}
