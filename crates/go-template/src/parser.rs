//! From tokens to trees: Go's `text/template/parse/parse.go`, with its messages.

use std::collections::BTreeMap;

use super::dialect::Dialect;
use super::lexer::{Keyword, Kind, Lexer, Token};
use super::node::{Branch, BranchKind, Call, Command, Node, Operand, OperandKind, Pipeline};
use super::number::Number;
use super::{Fault, MAX_DEPTH, Rejection};
use windlass_go_text::quote::{quote, unquote};

/// The templates of a text by their names.
pub(super) type Templates = BTreeMap<String, Vec<Node>>;

/// Parses a template called `name`, and those that it defines.
pub(super) fn parse(dialect: Dialect, name: &str, text: &str) -> Result<Templates, Fault> {
    let mut parser = Parser {
        dialect,
        name,
        text,
        lexer: Lexer::new(text),
        templates: Templates::new(),
        tree: Tree::new(name),
        depth: 0,
    };
    parser.file()?;
    Ok(parser.templates)
}

/// One template while it is read: what it looked ahead at, and which variables there are.
struct Tree {
    name: String,
    tokens: [Token; 3],
    peeked: usize,
    variables: Vec<String>,
    known: BTreeMap<String, usize>,
    action_line: usize,
    ranges: usize,
}

impl Tree {
    fn new(name: &str) -> Self {
        let token = || Token {
            kind: Kind::End,
            at: 0,
            text: String::new(),
            line: 0,
        };
        let mut tree = Tree {
            name: name.to_owned(),
            tokens: [token(), token(), token()],
            peeked: 0,
            variables: Vec::new(),
            known: BTreeMap::new(),
            action_line: 0,
            ranges: 0,
        };
        tree.declare("$");
        tree
    }

    fn declare(&mut self, name: &str) {
        self.variables.push(name.to_owned());
        *self.known.entry(name.to_owned()).or_default() += 1;
    }

    fn forget(&mut self, mark: usize) {
        for name in self.variables.drain(mark..) {
            if let Some(count) = self.known.get_mut(&name) {
                *count -= 1;
            }
        }
    }
}

struct Parser<'a> {
    dialect: Dialect,
    /// The name of the whole text, for messages.
    name: &'a str,
    text: &'a str,
    lexer: Lexer<'a>,
    templates: Templates,
    tree: Tree,
    /// How deep actions and parentheses lie in one another.
    depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    End,
    Else,
}

impl Ending {
    fn shown(self) -> &'static str {
        match self {
            Ending::End => "{{end}}",
            Ending::Else => "{{else}}",
        }
    }
}

/// A node, or what ends a list of them.
enum Step {
    Node(Node),
    Ending(Ending),
}

type Parsed<T> = Result<T, Fault>;

impl Parser<'_> {
    fn next(&mut self) -> Token {
        if self.tree.peeked > 0 {
            self.tree.peeked -= 1;
        } else {
            self.tree.tokens[0] = self.lexer.next();
        }
        self.tree.tokens[self.tree.peeked].clone()
    }

    fn backup(&mut self) {
        self.tree.peeked += 1;
    }

    /// Goes back by two tokens, of which the second is at hand.
    fn backup2(&mut self, first: Token) {
        self.tree.tokens[1] = first;
        self.tree.peeked = 2;
    }

    fn backup3(&mut self, first: Token, second: Token) {
        self.tree.tokens[1] = second;
        self.tree.tokens[2] = first;
        self.tree.peeked = 3;
    }

    fn peek(&mut self) -> &Token {
        if self.tree.peeked == 0 {
            self.tree.peeked = 1;
            self.tree.tokens[0] = self.lexer.next();
        }
        &self.tree.tokens[self.tree.peeked - 1]
    }

    fn next_not_space(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_not_space(&mut self) -> Token {
        let token = self.next_not_space();
        self.backup();
        token
    }

    fn fault<T>(&self, message: impl AsRef<str>) -> Parsed<T> {
        let line = self.tree.tokens[0].line;
        Err(Fault::Parse(Rejection {
            line,
            place: format!("template: {}:{line}: ", self.name),
            reason: message.as_ref().to_owned(),
        }))
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Parsed<Token> {
        let token = self.next_not_space();
        if token.kind == kind {
            Ok(token)
        } else {
            self.unexpected(&token, context)
        }
    }

    fn unexpected<T>(&self, token: &Token, context: &str) -> Parsed<T> {
        if token.kind != Kind::Error {
            return self.fault(format!("unexpected {} in {context}", token.shown()));
        }
        let line = self.tree.action_line;
        if line == 0 || line == token.line {
            return self.fault(&token.text);
        }
        let within = if token.text.ends_with(" action") {
            ""
        } else {
            " in action"
        };
        self.fault(format!(
            "{}{within} started at {}:{line}",
            token.text, self.name
        ))
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Fault::Unsupported(format!(
                "actions nested deeper than {MAX_DEPTH}"
            )));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn file(&mut self) -> Parsed<()> {
        let mut nodes = Vec::new();
        while self.peek().kind != Kind::End {
            if self.peek().kind == Kind::LeftDelimiter {
                let delimiter = self.next();
                if self.next_not_space().kind == Kind::Keyword(Keyword::Define) {
                    self.definition()?;
                    continue;
                }
                self.backup2(delimiter);
            }
            match self.text_or_action()? {
                Step::Node(node) => nodes.push(node),
                Step::Ending(ending) => {
                    return self.fault(format!("unexpected {}", ending.shown()));
                }
            }
        }
        let name = self.tree.name.clone();
        self.add(name, nodes)
    }

    /// Reads another template by a tree of its own.
    fn other<T>(&mut self, name: &str, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.tree, Tree::new(name));
        let result = inner(self)?;
        self.tree = outer;
        Ok(result)
    }

    fn definition(&mut self) -> Parsed<()> {
        const CONTEXT: &str = "define clause";
        self.other("definition", |parser| {
            let token = parser.next_not_space();
            let name = parser.template_name(&token, CONTEXT)?;
            parser.expect(Kind::RightDelimiter, CONTEXT)?;
            let (nodes, ending) = parser.list()?;
            if ending == Ending::Else {
                return parser.fault(format!("unexpected {} in {CONTEXT}", ending.shown()));
            }
            parser.add(name, nodes)
        })
    }

    /// A second template of a name is a fault, but where one of them is empty.
    fn add(&mut self, name: String, nodes: Vec<Node>) -> Parsed<()> {
        let is_empty = |nodes: &[Node]| {
            nodes.iter().all(|node| matches!(node, Node::Text(range) if self.text[range.clone()].trim_matches(is_space).is_empty()))
        };
        match self.templates.get(&name) {
            Some(known) if !is_empty(known) => {
                if !is_empty(&nodes) {
                    return self.fault(format!(
                        "template: multiple definition of template {}",
                        quote(&name)
                    ));
                }
            }
            _ => {
                self.templates.insert(name, nodes);
            }
        }
        Ok(())
    }

    fn list(&mut self) -> Parsed<(Vec<Node>, Ending)> {
        let mut nodes = Vec::new();
        while self.peek_not_space().kind != Kind::End {
            match self.text_or_action()? {
                Step::Node(node) => nodes.push(node),
                Step::Ending(ending) => return Ok((nodes, ending)),
            }
        }
        self.fault("unexpected EOF")
    }

    fn text_or_action(&mut self) -> Parsed<Step> {
        let token = self.next_not_space();
        match token.kind {
            Kind::Text => Ok(Step::Node(Node::Text(
                token.at..token.at + token.text.len(),
            ))),
            Kind::LeftDelimiter => {
                self.tree.action_line = token.line;
                let step = self.nested(Self::action);
                if step.is_ok() {
                    self.tree.action_line = 0;
                }
                step
            }
            _ => self.unexpected(&token, "input"),
        }
    }

    fn action(&mut self) -> Parsed<Step> {
        let token = self.next_not_space();
        let Kind::Keyword(keyword) = token.kind else {
            self.backup();
            self.peek();
            return Ok(Step::Node(Node::Action(
                self.pipeline("command", Kind::RightDelimiter)?,
            )));
        };
        Ok(Step::Node(match keyword {
            Keyword::Block => self.block()?,
            Keyword::Break => self.leave("break", Node::Break)?,
            Keyword::Continue => self.leave("continue", Node::Continue)?,
            Keyword::Else => {
                if !matches!(
                    self.peek_not_space().kind,
                    Kind::Keyword(Keyword::If | Keyword::With)
                ) {
                    self.expect(Kind::RightDelimiter, "else")?;
                }
                return Ok(Step::Ending(Ending::Else));
            }
            Keyword::End => {
                self.expect(Kind::RightDelimiter, "end")?;
                return Ok(Step::Ending(Ending::End));
            }
            Keyword::If => self.control(BranchKind::If)?,
            Keyword::Range => self.control(BranchKind::Range)?,
            Keyword::With => self.control(BranchKind::With)?,
            Keyword::Template => self.template()?,
            Keyword::Dot | Keyword::Nil | Keyword::Define => {
                self.backup();
                self.peek();
                Node::Action(self.pipeline("command", Kind::RightDelimiter)?)
            }
        }))
    }

    /// `break` and `continue`.
    fn leave(&mut self, word: &str, node: Node) -> Parsed<Node> {
        let token = self.next_not_space();
        if token.kind != Kind::RightDelimiter {
            return self.unexpected(&token, &format!("{{{{{word}}}}}"));
        }
        if self.tree.ranges == 0 {
            return self.fault(format!("{{{{{word}}}}} outside {{{{range}}}}"));
        }
        Ok(node)
    }

    fn control(&mut self, kind: BranchKind) -> Parsed<Node> {
        let mark = self.tree.variables.len();
        let context = match kind {
            BranchKind::If => "if",
            BranchKind::With => "with",
            BranchKind::Range => "range",
        };
        let pipeline = self.pipeline(context, Kind::RightDelimiter)?;
        self.tree.ranges += usize::from(kind == BranchKind::Range);
        let (then, ending) = self.list()?;
        self.tree.ranges -= usize::from(kind == BranchKind::Range);
        let otherwise = match ending {
            Ending::End => None,
            Ending::Else => Some(self.otherwise(kind)?),
        };
        self.tree.forget(mark);
        Ok(Node::Branch(Branch {
            kind,
            pipeline,
            then,
            otherwise,
        }))
    }

    /// What follows `else`: `else if` and `else with` share the `end`.
    fn otherwise(&mut self, kind: BranchKind) -> Parsed<Vec<Node>> {
        let chained = match kind {
            BranchKind::If => Some(Keyword::If),
            BranchKind::With => Some(Keyword::With),
            BranchKind::Range => None,
        };
        if chained.is_some_and(|keyword| self.peek().kind == Kind::Keyword(keyword)) {
            self.next();
            return Ok(vec![self.nested(|parser| parser.control(kind))?]);
        }
        let (nodes, ending) = self.list()?;
        match ending {
            Ending::End => Ok(nodes),
            Ending::Else => self.fault(format!("expected end; found {}", ending.shown())),
        }
    }

    fn block(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "block clause";
        let token = self.next_not_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipeline = self.pipeline(CONTEXT, Kind::RightDelimiter)?;
        // The reference reports an `else` by the line of the outer template, and a second template
        // of the name by that of the inner one.
        let mut ending = Ending::End;
        self.other(&name, |parser| {
            let (nodes, found) = parser.list()?;
            ending = found;
            if ending == Ending::End {
                parser.add(name.clone(), nodes)
            } else {
                Ok(())
            }
        })?;
        if ending == Ending::Else {
            return self.fault(format!("unexpected {} in {CONTEXT}", ending.shown()));
        }
        Ok(Node::Template(Call {
            at: token.at,
            name,
            pipeline: Some(pipeline),
        }))
    }

    fn template(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "template clause";
        let token = self.next_not_space();
        let name = self.template_name(&token, CONTEXT)?;
        let mut pipeline = None;
        if self.next_not_space().kind != Kind::RightDelimiter {
            self.backup();
            pipeline = Some(self.pipeline(CONTEXT, Kind::RightDelimiter)?);
        }
        Ok(Node::Template(Call {
            at: token.at,
            name,
            pipeline,
        }))
    }

    fn template_name(&mut self, token: &Token, context: &str) -> Parsed<String> {
        if !matches!(token.kind, Kind::String | Kind::RawString) {
            return self.unexpected(token, context);
        }
        match unquote(&token.text) {
            Some(name) => Ok(String::from_utf8_lossy(&name).into_owned()),
            None => self.fault("invalid syntax"),
        }
    }

    fn pipeline(&mut self, context: &str, end: Kind) -> Parsed<Pipeline> {
        let at = self.peek_not_space().at;
        let mut pipeline = Pipeline {
            at,
            variables: Vec::new(),
            assigns: false,
            commands: Vec::new(),
        };
        self.declarations(&mut pipeline, context)?;
        loop {
            let token = self.next_not_space();
            match token.kind {
                kind if kind == end => return self.checked(pipeline, context),
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::RawString
                | Kind::String
                | Kind::Variable
                | Kind::LeftParenthesis
                | Kind::Keyword(Keyword::Dot | Keyword::Nil) => {
                    self.backup();
                    let command = self.command()?;
                    pipeline.commands.push(command);
                }
                _ => return self.unexpected(&token, context),
            }
        }
    }

    /// `$x :=`, `$x =`, and for `range` `$i, $x :=`.
    fn declarations(&mut self, pipeline: &mut Pipeline, context: &str) -> Parsed<()> {
        loop {
            let variable = self.peek_not_space();
            if variable.kind != Kind::Variable {
                return Ok(());
            }
            self.next();
            // Blanks are tokens: up to three have to be given back.
            let behind = self.peek().clone();
            let next = self.peek_not_space();
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    pipeline.assigns = next.kind == Kind::Assign;
                    self.next_not_space();
                    pipeline.variables.push(variable.text.clone());
                    self.tree.declare(&variable.text);
                    return Ok(());
                }
                Kind::Char if next.text == "," => {
                    self.next_not_space();
                    pipeline.variables.push(variable.text.clone());
                    self.tree.declare(&variable.text);
                    if context != "range" || pipeline.variables.len() >= 2 {
                        return self.fault(format!("too many declarations in {context}"));
                    }
                    if !matches!(
                        self.peek_not_space().kind,
                        Kind::Variable | Kind::RightDelimiter | Kind::RightParenthesis
                    ) {
                        return self.fault("range can only initialize variables");
                    }
                }
                _ => {
                    if behind.kind == Kind::Space {
                        self.backup3(variable, behind);
                    } else {
                        self.backup2(variable);
                    }
                    return Ok(());
                }
            }
        }
    }

    fn checked(&self, pipeline: Pipeline, context: &str) -> Parsed<Pipeline> {
        if pipeline.commands.is_empty() {
            return self.fault(format!("missing value for {context}"));
        }
        for (at, command) in pipeline.commands.iter().enumerate().skip(1) {
            let literal = match command.operands[0].kind {
                OperandKind::Bool(_)
                | OperandKind::Dot
                | OperandKind::Nil
                | OperandKind::Number(_)
                | OperandKind::String(..) => true,
                OperandKind::Chain(..)
                | OperandKind::Field(_)
                | OperandKind::Identifier(_)
                | OperandKind::Pipeline(_)
                | OperandKind::Variable(_) => false,
            };
            if literal {
                return self.fault(format!(
                    "non executable command in pipeline stage {}",
                    at + 1
                ));
            }
        }
        Ok(pipeline)
    }

    fn command(&mut self) -> Parsed<Command> {
        let mut command = Command {
            at: self.peek_not_space().at,
            operands: Vec::new(),
        };
        loop {
            self.peek_not_space();
            if let Some(operand) = self.operand()? {
                command.operands.push(operand);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelimiter | Kind::RightParenthesis => self.backup(),
                Kind::Pipe => {}
                _ => return self.unexpected(&token, "operand"),
            }
            break;
        }
        if command.operands.is_empty() {
            self.fault("empty command")
        } else {
            Ok(command)
        }
    }

    /// A term and the fields that are taken of it.
    fn operand(&mut self) -> Parsed<Option<Operand>> {
        let Some(term) = self.term()? else {
            return Ok(None);
        };
        if self.peek().kind != Kind::Field {
            return Ok(Some(term));
        }
        let at = self.peek().at;
        let mut fields = Vec::new();
        while self.peek().kind == Kind::Field {
            fields.push(self.next().text[1..].to_owned());
        }
        let kind = match term.kind {
            OperandKind::Field(mut names) => {
                names.append(&mut fields);
                OperandKind::Field(names)
            }
            OperandKind::Variable(mut names) => {
                names.append(&mut fields);
                OperandKind::Variable(names)
            }
            OperandKind::Bool(_)
            | OperandKind::String(..)
            | OperandKind::Number(_)
            | OperandKind::Nil
            | OperandKind::Dot => {
                return self.fault(format!(
                    "unexpected . after term {}",
                    quote(&term.to_string())
                ));
            }
            _ => OperandKind::Chain(Box::new(term), fields),
        };
        Ok(Some(Operand { at, kind }))
    }

    fn term(&mut self) -> Parsed<Option<Operand>> {
        let token = self.next_not_space();
        let kind = match token.kind {
            Kind::Identifier if self.dialect.find(&token.text).is_none() => {
                return self.fault(format!("function {} not defined", quote(&token.text)));
            }
            Kind::Identifier => OperandKind::Identifier(token.text),
            Kind::Keyword(Keyword::Dot) => OperandKind::Dot,
            Kind::Keyword(Keyword::Nil) => OperandKind::Nil,
            Kind::Variable
                if self
                    .tree
                    .known
                    .get(&token.text)
                    .is_none_or(|count| *count == 0) =>
            {
                return self.fault(format!("undefined variable {}", quote(&token.text)));
            }
            Kind::Variable => OperandKind::Variable(vec![token.text]),
            Kind::Field => OperandKind::Field(vec![token.text[1..].to_owned()]),
            Kind::Bool => OperandKind::Bool(token.text == "true"),
            Kind::CharConstant => self.number(Number::character(&token.text))?,
            Kind::Complex => self.number(Number::complex(&token.text))?,
            Kind::Number => self.number(Number::plain(&token.text))?,
            Kind::LeftParenthesis => {
                let pipeline = self.nested(|parser| {
                    parser.pipeline("parenthesized pipeline", Kind::RightParenthesis)
                })?;
                return Ok(Some(Operand {
                    at: pipeline.at,
                    kind: OperandKind::Pipeline(pipeline),
                }));
            }
            Kind::String | Kind::RawString => match unquote(&token.text) {
                Some(text) => OperandKind::String(token.text, text),
                None => return self.fault("invalid syntax"),
            },
            _ => {
                self.backup();
                return Ok(None);
            }
        };
        Ok(Some(Operand { at: token.at, kind }))
    }

    fn number(&self, number: Result<Number, String>) -> Parsed<OperandKind> {
        match number {
            Ok(number) => Ok(OperandKind::Number(number)),
            Err(message) => self.fault(message),
        }
    }
}

/// `unicode.IsSpace`
fn is_space(c: char) -> bool {
    c.is_whitespace() && !('\x1c'..='\x1f').contains(&c)
}
