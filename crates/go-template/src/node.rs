//! The tree of a template, and how Go writes its nodes in messages: `text/template/parse/node.go`.

use std::fmt::{self, Write as _};
use std::ops::Range;

use super::number::Number;
use windlass_go_text::quote::quote;

/// A node. Places are offsets in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Text(Range<usize>),
    /// A pipeline whose value is printed, unless it declares variables.
    Action(Pipeline),
    Branch(Branch),
    Break,
    Continue,
    Template(Call),
}

/// `if`, `with` and `range`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Branch {
    pub(super) kind: BranchKind,
    pub(super) pipeline: Pipeline,
    pub(super) then: Vec<Node>,
    pub(super) otherwise: Option<Vec<Node>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BranchKind {
    If,
    With,
    Range,
}

/// `template`, and `block` where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) pipeline: Option<Pipeline>,
}

/// Commands, each of which gets the value of the one before as its last argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pipeline {
    pub(super) at: usize,
    /// The variables that get the value.
    pub(super) variables: Vec<String>,
    /// Whether the variables exist already.
    pub(super) assigns: bool,
    pub(super) commands: Vec<Command>,
}

/// Operands, of which the first may be a function.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Command {
    pub(super) at: usize,
    pub(super) operands: Vec<Operand>,
}

/// A value, or the way to one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operand {
    pub(super) at: usize,
    pub(super) kind: OperandKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum OperandKind {
    Bool(bool),
    /// Fields of any other operand.
    Chain(Box<Operand>, Vec<String>),
    Dot,
    /// Fields of the dot.
    Field(Vec<String>),
    Identifier(String),
    Nil,
    Number(Number),
    Pipeline(Pipeline),
    /// As it is written, and what it means.
    String(String, Vec<u8>),
    /// A name with its `$`, and fields.
    Variable(Vec<String>),
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.variables.is_empty() {
            write!(
                f,
                "{} {} ",
                self.variables.join(", "),
                if self.assigns { "=" } else { ":=" }
            )?;
        }
        joined(f, &self.commands, " | ")
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, operand) in self.operands.iter().enumerate() {
            f.write_str(if at > 0 { " " } else { "" })?;
            operand.write_in_parentheses(f)?;
        }
        Ok(())
    }
}

impl Operand {
    fn write_in_parentheses(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(self.kind, OperandKind::Pipeline(_)) {
            write!(f, "({self})")
        } else {
            write!(f, "{self}")
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            OperandKind::Bool(bool) => write!(f, "{bool}"),
            OperandKind::Chain(operand, fields) => {
                operand.write_in_parentheses(f)?;
                fields.iter().try_for_each(|field| write!(f, ".{field}"))
            }
            OperandKind::Dot => f.write_char('.'),
            OperandKind::Field(fields) => fields.iter().try_for_each(|field| write!(f, ".{field}")),
            OperandKind::Identifier(name) => f.write_str(name),
            OperandKind::Nil => f.write_str("nil"),
            OperandKind::Number(number) => f.write_str(&number.text),
            OperandKind::Pipeline(pipeline) => write!(f, "{pipeline}"),
            OperandKind::String(literal, _) => f.write_str(literal),
            OperandKind::Variable(names) => f.write_str(&names.join(".")),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{template {}", quote(&self.name))?;
        if let Some(pipeline) = &self.pipeline {
            write!(f, " {pipeline}")?;
        }
        f.write_str("}}")
    }
}

fn joined<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T], between: &str) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if at > 0 { between } else { "" })?;
    }
    Ok(())
}
