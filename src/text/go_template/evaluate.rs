//! Running the tree.

use std::ops::Range;

use super::functions;
use super::parser::{Base, Branch, Command, Node, Operand, Pipeline};
use super::value::Value;
use super::{Fault, MAX_OUTPUT};

/// One run of a template.
pub(super) struct Run<'a> {
    name: &'a str,
    text: &'a str,
    data: &'a Value,
    variables: Vec<(String, Value)>,
    out: String,
}

impl<'a> Run<'a> {
    pub(super) fn new(name: &'a str, text: &'a str, data: &'a Value) -> Self {
        Run { name, text, data, variables: vec![("$".to_owned(), data.clone())], out: String::new() }
    }

    /// The text of all nodes.
    pub(super) fn all(mut self, nodes: &[Node]) -> Result<String, Fault> {
        let data = self.data.clone();
        self.list(nodes, &data)?;
        Ok(self.out)
    }

    fn list(&mut self, nodes: &[Node], dot: &Value) -> Result<(), Fault> {
        for node in nodes {
            match node {
                Node::Text(range) => self.out.push_str(&self.text[range.clone()]),
                Node::Action(pipeline) => {
                    let value = self.pipeline(pipeline, dot)?;
                    if pipeline.variable.is_none() {
                        self.out.push_str(&value.shown());
                    }
                }
                Node::If(branch) => self.branch(branch, dot, false)?,
                Node::With(branch) => self.branch(branch, dot, true)?,
            }
            if self.out.len() > MAX_OUTPUT {
                return Err(Fault::TooLarge);
            }
        }
        Ok(())
    }

    fn branch(&mut self, branch: &Branch, dot: &Value, moves_dot: bool) -> Result<(), Fault> {
        let scope = self.variables.len();
        let value = self.pipeline(&branch.condition, dot)?;
        if value.truth() {
            self.list(&branch.then, if moves_dot { &value } else { dot })?;
        } else {
            self.list(&branch.otherwise, dot)?;
        }
        self.variables.truncate(scope);
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline, dot: &Value) -> Result<Value, Fault> {
        let mut value = None;
        for command in &pipeline.commands {
            value = Some(self.command(command, dot, value)?);
        }
        let value = value.unwrap_or(Value::Missing);
        if let Some(name) = &pipeline.variable {
            let known = self.variables.iter_mut().rev().find(|(known, _)| known == name);
            match known {
                Some((_, old)) if !pipeline.declares => *old = value.clone(),
                None if !pipeline.declares => return Err(Fault::Syntax { line: 1, message: format!("undefined variable {name:?}") }),
                _ => self.variables.push((name.clone(), value.clone())),
            }
        }
        Ok(value)
    }

    fn command(&mut self, command: &Command, dot: &Value, piped: Option<Value>) -> Result<Value, Fault> {
        let Some(function) = command.function else {
            if piped.is_some() {
                return Err(self.fault(&command.span, "can't give argument to non-function"));
            }
            return self.operand(&command.operands[0], dot);
        };
        let mut arguments = Vec::with_capacity(command.operands.len() + 1);
        for operand in &command.operands {
            // `and` and `or` look no further than they must.
            let value = self.operand(operand, dot)?;
            if function.stops_at(&value) {
                return Ok(value);
            }
            arguments.push(value);
        }
        arguments.extend(piped);
        functions::call(function, &arguments).map_err(|fault| match fault {
            functions::CallFault::Go(message) => self.fault(&command.span, &format!("error calling {}: {message}", function.name())),
            functions::CallFault::Arguments(message) => self.fault(&command.span, &message),
            functions::CallFault::Unsupported(what) => Fault::Unsupported(what),
        })
    }

    fn operand(&mut self, operand: &Operand, dot: &Value) -> Result<Value, Fault> {
        let mut value = match &operand.base {
            Base::Dot => dot.clone(),
            Base::Literal(value) => value.clone(),
            Base::Pipeline(pipeline) => self.pipeline(pipeline, dot)?,
            Base::Variable(name) => match self.variables.iter().rev().find(|(known, _)| known == name) {
                Some((_, value)) => value.clone(),
                None => {
                    return Err(Fault::Syntax {
                        line: super::lexer::line(self.text, operand.span.start),
                        message: format!("undefined variable {name:?}"),
                    });
                }
            },
        };
        for field in &operand.fields {
            value = match value {
                Value::Map(mut map) => map.remove(field).unwrap_or(Value::Missing),
                Value::Missing | Value::Nil => {
                    return Err(self.fault(&operand.span, &format!("nil pointer evaluating interface {{}}.{field}")));
                }
                other => return Err(self.fault(&operand.span, &format!("can't evaluate field {field} in type {}", other.kind()))),
            };
        }
        Ok(value)
    }

    /// A fault in Go's words: name, line, column in bytes from 0, the node, at most 20 characters of it.
    fn fault(&self, span: &Range<usize>, message: &str) -> Fault {
        let before = &self.text[..span.start];
        let line = before.matches('\n').count() + 1;
        let column = before.rfind('\n').map_or(span.start, |newline| span.start - newline - 1);
        let node = &self.text[span.clone()];
        let node = if node.len() > 20 { format!("{}...", node.chars().take(20).collect::<String>()) } else { node.to_owned() };
        Fault::Execution(format!(
            "{0}:{line}:{column}: executing {1} at <{node}>: {message}",
            self.name,
            crate::text::go_value::quote(self.name)
        ))
    }
}
