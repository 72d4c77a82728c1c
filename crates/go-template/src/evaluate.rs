//! Running the trees: Go's `text/template/exec.go`.

use std::collections::BTreeMap;
use std::fmt;

use super::dialect::Dialect;
use super::functions::{CallFault, Function, Parameter};
use super::held::Held;
use super::node::{Branch, BranchKind, Call, Command, Node, Operand, OperandKind, Pipeline};
use super::number::Number;
use super::parser::Templates;
use super::{Fault, MAX_CALLS, MAX_OUTPUT, Rejection, STEP};
use windlass_go_text::fmt::sprint;
use windlass_go_text::quote::quote;
use windlass_go_text::value::Value;
use windlass_source::budget::{Budget, MAX_NESTING};

/// Why the nodes of a list are left.
enum Leave {
    Break,
    Continue,
    Fault(Fault),
}

impl From<Fault> for Leave {
    fn from(fault: Fault) -> Self {
        Leave::Fault(fault)
    }
}

type Walked = Result<(), Leave>;
type Evaluated<T> = Result<T, Fault>;

/// The node that messages name.
#[derive(Clone, Copy)]
enum At<'t> {
    Nothing,
    Call(&'t Call),
    Pipeline(&'t Pipeline),
    Command(&'t Command),
    Operand(&'t Operand),
}

impl At<'_> {
    fn offset(&self) -> usize {
        match self {
            At::Nothing => 0,
            At::Call(call) => call.at,
            At::Pipeline(pipeline) => pipeline.at,
            At::Command(command) => command.at,
            At::Operand(operand) => operand.at,
        }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Nothing => Ok(()),
            At::Call(call) => write!(f, "{call}"),
            At::Pipeline(pipeline) => write!(f, "{pipeline}"),
            At::Command(command) => write!(f, "{command}"),
            At::Operand(operand) => write!(f, "{operand}"),
        }
    }
}

/// The variables of a template, innermost last.
#[derive(Default)]
struct Variables<'t> {
    values: Vec<(&'t str, Held)>,
    /// The places of each name, innermost last.
    places: BTreeMap<&'t str, Vec<usize>>,
}

impl<'t> Variables<'t> {
    fn of_dot(dot: Held) -> Self {
        let mut variables = Variables::default();
        variables.push("$", dot);
        variables
    }

    fn push(&mut self, name: &'t str, value: Held) {
        self.places.entry(name).or_default().push(self.values.len());
        self.values.push((name, value));
    }

    fn find(&mut self, name: &str) -> Option<&mut Held> {
        let place = *self.places.get(name)?.last()?;
        Some(&mut self.values[place].1)
    }

    fn truncate(&mut self, mark: usize) {
        for (name, _) in self.values.drain(mark..) {
            if let Some(places) = self.places.get_mut(name) {
                places.pop();
            }
        }
    }
}

struct Run<'t> {
    /// The name of the whole text.
    name: &'t str,
    text: &'t str,
    templates: &'t Templates,
    budget: &'t Budget,
    dialect: Dialect,
    /// The name of the template that is being executed.
    executing: &'t str,
    calls: usize,
    variables: Variables<'t>,
    at: At<'t>,
    out: Vec<u8>,
}

/// The text of the template called as the whole.
pub(super) fn run(
    dialect: Dialect,
    name: &str,
    text: &str,
    templates: &Templates,
    data: &Value,
    budget: &Budget,
) -> Evaluated<Vec<u8>> {
    let dot = Held::plain(data.clone());
    let variables = Variables::of_dot(dot.clone());
    let mut run = Run {
        name,
        text,
        templates,
        budget,
        dialect,
        executing: name,
        calls: 0,
        variables,
        at: At::Nothing,
        out: Vec::new(),
    };
    match run.list(templates.get(name).map_or(&[][..], Vec::as_slice), &dot) {
        Ok(()) | Err(Leave::Break | Leave::Continue) => Ok(run.out),
        Err(Leave::Fault(fault)) => Err(fault),
    }
}

impl<'t> Run<'t> {
    fn charge(&self, steps: usize) -> Evaluated<()> {
        self.budget.charge(steps).map_err(|_| Fault::TooLong)
    }

    /// The line of what is evaluated, from 1.
    fn line(&self) -> usize {
        self.text[..self.at.offset()].matches('\n').count() + 1
    }

    fn fault<T>(&self, message: impl AsRef<str>) -> Evaluated<T> {
        let (offset, line) = (self.at.offset(), self.line());
        let before = &self.text[..offset];
        let column = before
            .rfind('\n')
            .map_or(offset, |newline| offset - newline - 1);
        let place = format!(
            "template: {}:{line}:{column}: executing {} ",
            self.name,
            quote(self.executing)
        );
        Err(Fault::Execution(Rejection {
            line,
            place,
            reason: format!("at <{}>: {}", self.at, message.as_ref()),
        }))
    }

    fn write(&mut self, text: &[u8]) -> Evaluated<()> {
        self.charge(text.len())?;
        if self.out.len() + text.len() > MAX_OUTPUT {
            return Err(Fault::TooLarge);
        }
        self.out.extend_from_slice(text);
        Ok(())
    }

    fn list(&mut self, nodes: &'t [Node], dot: &Held) -> Walked {
        nodes.iter().try_for_each(|node| self.node(node, dot))
    }

    fn node(&mut self, node: &'t Node, dot: &Held) -> Walked {
        self.charge(STEP)?;
        match node {
            Node::Text(range) => self.write(self.text[range.clone()].as_bytes())?,
            Node::Action(pipeline) => {
                let value = self.pipeline(pipeline, dot)?;
                if pipeline.variables.is_empty() {
                    let value = if value.is_nothing() {
                        Value::text("<no value>")
                    } else {
                        value.value
                    };
                    let text = sprint(&[value], MAX_OUTPUT).map_err(|_| Fault::TooLarge)?;
                    self.write(&text)?;
                }
            }
            Node::Branch(branch) => {
                let mark = self.variables.values.len();
                let result = self.branch(branch, dot);
                self.variables.truncate(mark);
                return result;
            }
            Node::Break => return Err(Leave::Break),
            Node::Continue => return Err(Leave::Continue),
            Node::Template(call) => self.template(call, dot)?,
        }
        Ok(())
    }

    fn branch(&mut self, branch: &'t Branch, dot: &Held) -> Walked {
        let value = self.pipeline(&branch.pipeline, dot)?;
        match branch.kind {
            BranchKind::Range => match self.range(branch, &value) {
                Err(Leave::Break) => return Ok(()),
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(leave) => return Err(leave),
            },
            BranchKind::If if value.value.truth() => return self.list(&branch.then, dot),
            BranchKind::With if value.value.truth() => return self.list(&branch.then, &value),
            BranchKind::If | BranchKind::With => {}
        }
        self.list(branch.otherwise.as_deref().unwrap_or_default(), dot)
    }

    /// Executes a `range`. Returns whether there were elements.
    fn range(&mut self, branch: &'t Branch, value: &Held) -> Result<bool, Leave> {
        let shown = |value: &Value| {
            sprint(std::slice::from_ref(value), MAX_OUTPUT)
                .map(|text| String::from_utf8_lossy(&text).into_owned())
        };
        match &value.value {
            Value::Nil => Ok(false),
            Value::Int(_) | Value::Byte(_) if branch.pipeline.variables.len() > 1 => {
                let shown = shown(&value.value).map_err(|_| Fault::TooLarge)?;
                Ok(self.fault(format!(
                    "can't use {shown} to iterate over more than one variable"
                ))?)
            }
            Value::Int(count) => {
                for at in 0..*count {
                    self.iteration(branch, Held::nothing(), Held::plain(Value::Int(at)))?;
                }
                Ok(*count > 0)
            }
            Value::Byte(count) => {
                for at in 0..*count {
                    self.iteration(branch, Held::nothing(), Held::plain(Value::Byte(at)))?;
                }
                Ok(*count > 0)
            }
            Value::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    let index = Value::Int(i64::try_from(at).unwrap_or(i64::MAX));
                    self.iteration(branch, Held::plain(index), Held::boxed(item.clone()))?;
                }
                Ok(!items.is_empty())
            }
            Value::Map(entries) => {
                for (key, entry) in entries.iter() {
                    self.iteration(
                        branch,
                        Held::plain(Value::text(key)),
                        Held::boxed(entry.clone()),
                    )?;
                }
                Ok(!entries.is_empty())
            }
            other => {
                let shown = shown(other).map_err(|_| Fault::TooLarge)?;
                Ok(self.fault(format!("range can't iterate over {shown}"))?)
            }
        }
    }

    fn iteration(&mut self, branch: &'t Branch, index: Held, item: Held) -> Walked {
        self.charge(STEP)?;
        let mark = self.variables.values.len();
        let pipeline = &branch.pipeline;
        let names = match pipeline.variables.as_slice() {
            [] => vec![],
            [only] => vec![(only, 1, item.clone())],
            [first, second, ..] => vec![(first, 2, index), (second, 1, item.clone())],
        };
        for (name, from_top, value) in names {
            if pipeline.assigns {
                self.assign(name, value)?;
            } else {
                self.variables.values[mark - from_top].1 = value;
            }
        }
        let result = self.list(&branch.then, &item);
        self.variables.truncate(mark);
        match result {
            Err(Leave::Continue) => Ok(()),
            result => result,
        }
    }

    fn template(&mut self, call: &'t Call, dot: &Held) -> Evaluated<()> {
        self.at = At::Call(call);
        let Some((name, nodes)) = self.templates.get_key_value(&call.name) else {
            return self.fault(format!("template {} not defined", quote(&call.name)));
        };
        if self.calls == MAX_CALLS {
            return Err(Fault::Unsupported(format!(
                "templates that call one another deeper than {MAX_CALLS}"
            )));
        }
        let dot = match &call.pipeline {
            Some(pipeline) => self.pipeline(pipeline, dot)?,
            None => Held::nothing(),
        };
        let variables = std::mem::replace(&mut self.variables, Variables::of_dot(dot.clone()));
        let executing = std::mem::replace(&mut self.executing, name);
        self.calls += 1;
        let result = self.list(nodes, &dot);
        self.calls -= 1;
        (self.variables, self.executing) = (variables, executing);
        match result {
            Err(Leave::Fault(fault)) => Err(fault),
            _ => Ok(()),
        }
    }

    fn assign(&mut self, name: &str, value: Held) -> Evaluated<()> {
        match self.variables.find(name) {
            Some(place) => *place = value,
            None => return self.fault(format!("undefined variable: {name}")),
        }
        Ok(())
    }

    /// The value of a pipeline, out of its box.
    fn pipeline(&mut self, pipeline: &'t Pipeline, dot: &Held) -> Evaluated<Held> {
        self.at = At::Pipeline(pipeline);
        let mut value = None;
        for command in &pipeline.commands {
            self.charge(STEP)?;
            value = Some(self.command(command, dot, value)?.unboxed());
        }
        let value = value.unwrap_or_else(Held::nothing);
        for name in &pipeline.variables {
            if pipeline.assigns {
                self.assign(name, value.clone())?;
            } else {
                self.variables.push(name, value.clone());
            }
        }
        Ok(value)
    }

    /// A literal, a variable or a pipeline takes no arguments.
    fn takes_nothing(&self, command: &Command, last: Option<&Held>) -> Evaluated<()> {
        if command.operands.len() > 1 || last.is_some() {
            return self.fault(format!(
                "can't give argument to non-function {}",
                command.operands[0]
            ));
        }
        Ok(())
    }

    /// The value of a command; `last` is that of the one before.
    fn command(&mut self, command: &'t Command, dot: &Held, last: Option<Held>) -> Evaluated<Held> {
        let first = &command.operands[0];
        let has_arguments = command.operands.len() > 1 || last.is_some();
        match &first.kind {
            OperandKind::Field(_) | OperandKind::Chain(..) => {
                self.fields_of(first, dot, has_arguments)
            }
            OperandKind::Variable(names) => {
                let value = self.variable(first, &names[0])?;
                if names.len() == 1 {
                    self.takes_nothing(command, last.as_ref())?;
                }
                self.chain(value, &names[1..], has_arguments)
            }
            OperandKind::Identifier(name) => {
                self.at = At::Operand(first);
                self.function(
                    name,
                    At::Command(command),
                    &command.operands[1..],
                    dot,
                    last,
                )
            }
            OperandKind::Pipeline(pipeline) => {
                self.takes_nothing(command, last.as_ref())?;
                self.pipeline(pipeline, dot)
            }
            OperandKind::Nil => {
                self.at = At::Operand(first);
                self.takes_nothing(command, last.as_ref())?;
                self.fault("nil is not a command")
            }
            OperandKind::Bool(_)
            | OperandKind::Dot
            | OperandKind::Number(_)
            | OperandKind::String(..) => {
                self.at = At::Operand(first);
                self.takes_nothing(command, last.as_ref())?;
                self.literal(first, dot)
            }
        }
    }

    fn literal(&self, operand: &Operand, dot: &Held) -> Evaluated<Held> {
        Ok(match &operand.kind {
            OperandKind::Bool(bool) => Held::plain(Value::Bool(*bool)),
            OperandKind::Number(number) => Held::plain(self.constant(number)?),
            OperandKind::String(_, text) => Held::plain(Value::text(text)),
            _ => dot.clone(),
        })
    }

    /// A number where nothing says which type is wanted.
    fn constant(&self, number: &Number) -> Evaluated<Value> {
        let text = &number.text;
        let is_hexadecimal = text.len() > 2
            && text.starts_with(['0'])
            && text[1..].starts_with(['x', 'X'])
            && !text.contains(['p', 'P']);
        let looks_like_float =
            !is_hexadecimal && !text.starts_with('\'') && text.contains(['.', 'e', 'E', 'p', 'P']);
        match number {
            Number {
                complex: Some((real, imaginary)),
                ..
            } => Ok(Value::Complex(*real, *imaginary)),
            Number {
                float: Some(float), ..
            } if looks_like_float => Ok(Value::Float(*float)),
            Number { int: Some(int), .. } => Ok(Value::Int(*int)),
            Number { uint: Some(_), .. } => self.fault(format!("{text} overflows int")),
            _ => Ok(Value::Nil),
        }
    }

    fn variable(&mut self, operand: &'t Operand, name: &str) -> Evaluated<Held> {
        self.at = At::Operand(operand);
        match self.variables.find(name) {
            Some(value) => Ok(value.clone()),
            None => self.fault(format!("undefined variable: {name}")),
        }
    }

    /// The fields of the dot or of a chain.
    fn fields_of(
        &mut self,
        operand: &'t Operand,
        dot: &Held,
        has_arguments: bool,
    ) -> Evaluated<Held> {
        self.at = At::Operand(operand);
        match &operand.kind {
            OperandKind::Chain(inner, _) if inner.kind == OperandKind::Nil => {
                self.fault(format!("indirection through explicit nil in {operand}"))
            }
            OperandKind::Chain(inner, fields) => {
                let value = self.argument(inner, dot, Parameter::Any)?;
                self.chain(value, fields, has_arguments)
            }
            OperandKind::Field(fields) => self.chain(dot.clone(), fields, has_arguments),
            _ => Ok(Held::nothing()),
        }
    }

    fn chain(
        &mut self,
        mut value: Held,
        fields: &[String],
        has_arguments: bool,
    ) -> Evaluated<Held> {
        for (at, field) in fields.iter().enumerate() {
            let type_name = value.type_name();
            value = match &value.value {
                Value::Nil if value.boxed => {
                    return self.fault(format!("nil pointer evaluating interface {{}}.{field}"));
                }
                Value::Nil => Held::nothing(),
                Value::Map(_) if has_arguments && at + 1 == fields.len() => {
                    return self.fault(format!("{field} is not a method but has arguments"));
                }
                Value::Map(entries) => match entries.get(field) {
                    None if self.dialect.missing_key_fails => {
                        return self.fault(format!("map has no entry for key {}", quote(field)));
                    }
                    entry => entry.map_or_else(Held::nothing, |entry| Held::boxed(entry.clone())),
                },
                Value::Struct(object) if object.fields.contains_key(field.as_str()) => {
                    Held::plain(object.fields[field.as_str()].clone())
                }
                Value::Struct(object) if object.methods.contains(&field.as_str()) => {
                    return Err(Fault::Unsupported(format!(
                        "the method {field} of {type_name}"
                    )));
                }
                _ => {
                    return self.fault(format!("can't evaluate field {field} in type {type_name}"));
                }
            };
        }
        Ok(value)
    }

    fn function(
        &mut self,
        name: &str,
        node: At<'t>,
        operands: &'t [Operand],
        dot: &Held,
        last: Option<Held>,
    ) -> Evaluated<Held> {
        let Some(function) = self.dialect.find(name) else {
            return self.fault(format!("{} is not a defined function", quote(name)));
        };
        let (least, more) = function.arity();
        let count = operands.len() + usize::from(last.is_some());
        if more && count < least {
            return self.fault(format!(
                "wrong number of args for {name}: want at least {least} got {}",
                operands.len()
            ));
        }
        if !more && count != least {
            return self.fault(format!(
                "wrong number of args for {name}: want {least} got {count}"
            ));
        }
        if function.is(Function::And) || function.is(Function::Or) {
            return self.decide(function.is(Function::Or), operands, dot, last);
        }
        let mut arguments = Vec::with_capacity(count);
        for (index, operand) in operands.iter().enumerate() {
            arguments.push(self.argument(operand, dot, function.parameter(index))?);
        }
        if let Some(last) = last {
            arguments.push(self.typed(last, function.parameter(count - 1))?);
        }
        self.charge(function.cost(&arguments))?;
        let result = match &arguments[..] {
            [Held { value, .. }, ..] if function.is(Function::Call) && *value != Value::Nil => {
                let callee = match (operands.first(), value) {
                    (Some(operand), _) => operand.to_string(),
                    (None, Value::Text(text)) => String::from_utf8_lossy(text).into_owned(),
                    (None, value) => format!("<{} Value>", value.type_name()),
                };
                Err(CallFault::Go(format!(
                    "non-function {callee} of type {}",
                    value.type_name()
                )))
            }
            _ => function.call(&arguments, self.budget),
        };
        match result {
            Ok(value) if value.value.depth() > MAX_NESTING => {
                self.at = node;
                Err(Fault::ValueTooDeep(self.line()))
            }
            Ok(value) => {
                self.charge(match &value.value {
                    // Twice: a text is written, and held.
                    Value::Text(text) => 2 * text.len(),
                    Value::List(items) => STEP * items.len(),
                    Value::Map(entries) => STEP * entries.len(),
                    _ => 0,
                })?;
                Ok(value)
            }
            Err(CallFault::Unsupported(reason)) => Err(Fault::Unsupported(format!(
                "the function `{name}` on line {} of a template, {reason}",
                self.line()
            ))),
            Err(CallFault::TooLong) => Err(Fault::TooLong),
            Err(CallFault::TooLarge) => {
                self.at = node;
                Err(Fault::ValueTooLarge(self.line()))
            }
            Err(CallFault::Go(message)) => {
                self.at = node;
                self.fault(format!("error calling {name}: {message}"))
            }
        }
    }

    /// `and` and `or` look no further than they must.
    fn decide(
        &mut self,
        is_or: bool,
        operands: &'t [Operand],
        dot: &Held,
        last: Option<Held>,
    ) -> Evaluated<Held> {
        let mut value = Held::nothing();
        for operand in operands {
            value = self.argument(operand, dot, Parameter::Any)?;
            if value.value.truth() == is_or {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }

    /// The value of an operand as an argument.
    fn argument(
        &mut self,
        operand: &'t Operand,
        dot: &Held,
        parameter: Parameter,
    ) -> Evaluated<Held> {
        self.charge(STEP)?;
        self.at = At::Operand(operand);
        let value = match &operand.kind {
            OperandKind::Nil => return self.nil(parameter),
            OperandKind::Bool(_) | OperandKind::Number(_) | OperandKind::String(..) => {
                return self.constant_for(operand, dot, parameter);
            }
            OperandKind::Dot => dot.clone(),
            OperandKind::Field(_) | OperandKind::Chain(..) => {
                self.fields_of(operand, dot, false)?
            }
            OperandKind::Variable(names) => {
                let value = self.variable(operand, &names[0])?;
                self.chain(value, &names[1..], false)?
            }
            OperandKind::Pipeline(pipeline) => self.pipeline(pipeline, dot)?,
            OperandKind::Identifier(name) => {
                self.function(name, At::Operand(operand), &[], dot, None)?
            }
        };
        self.typed(value, parameter)
    }

    /// `nil` as an argument.
    fn nil(&self, parameter: Parameter) -> Evaluated<Held> {
        match parameter {
            Parameter::Any => Ok(Held::nothing()),
            Parameter::Map => Ok(Held::plain(Value::map([]))),
            other => self.fault(format!("cannot assign nil to {}", other.type_name())),
        }
    }

    /// A literal as an argument: what the parameter wants decides what it is.
    fn constant_for(&self, operand: &Operand, dot: &Held, parameter: Parameter) -> Evaluated<Held> {
        let wanted = match (parameter, &operand.kind) {
            (Parameter::Any, _)
            | (Parameter::Text, OperandKind::String(..))
            | (Parameter::Bool, OperandKind::Bool(_)) => {
                return self.literal(operand, dot);
            }
            (Parameter::Int, OperandKind::Number(Number { int: Some(int), .. })) => {
                return Ok(Held::plain(Value::Int(*int)));
            }
            (
                Parameter::Float,
                OperandKind::Number(Number {
                    float: Some(float), ..
                }),
            ) => return Ok(Held::plain(Value::Float(*float))),
            (Parameter::Map, _) => {
                return self.fault(format!(
                    "can't handle {operand} for arg of type {}",
                    parameter.type_name()
                ));
            }
            (Parameter::Text, _) => "string",
            (Parameter::Bool, _) => "bool",
            (Parameter::Int, _) => "integer",
            (Parameter::Float, _) => "float",
        };
        self.fault(format!("expected {wanted}; found {operand}"))
    }

    /// The value if a parameter takes it.
    fn typed(&self, value: Held, parameter: Parameter) -> Evaluated<Held> {
        if parameter.takes(&value) {
            return Ok(value);
        }
        let wanted = parameter.type_name();
        match &value.value {
            Value::Nil if !value.boxed && parameter == Parameter::Map => {
                Ok(Held::plain(Value::map([])))
            }
            Value::Nil if !value.boxed => self.fault(format!("invalid value; expected {wanted}")),
            Value::Nil => self.fault(format!(
                "wrong type for value; expected {wanted}; got interface {{}}"
            )),
            _ => self.fault(format!(
                "wrong type for value; expected {wanted}; got {}",
                value.inner_type_name()
            )),
        }
    }
}
