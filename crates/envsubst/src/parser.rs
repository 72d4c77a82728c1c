//! The substitution grammar. A port of the reference's parser; a stack of open references stands
//! for its recursion.

use std::ops::Range;

use super::functions::Function;
use super::scanner::{
    Accept, CLOSE, ESCAPED_BACKSLASH, ESCAPED_DOLLAR, IDENT, Mode, OPEN, Scanner, Token,
};
use super::squeeze::Squeezed;
use super::{Part, Reference, SubstError, SubstErrorKind, Template};
use windlass_go_text::rune;

/// A reference whose arguments are being read.
struct Frame {
    name: Range<usize>,
    start: usize,
    function: Function,
    awaits: Awaits,
    arguments: Vec<Part>,
}

/// What an open reference needs next.
#[derive(Clone, Copy)]
enum Awaits {
    Position,
    Length,
    Pattern,
    Search,
    Replacement,
    DefaultOrEnd,
}

/// What stands after a reference's name.
enum Opened {
    Complete(Reference),
    Frame(Frame),
}

pub(crate) type Fault = (SubstErrorKind, usize);

struct Parser<'a> {
    scanner: Scanner<'a>,
    references: Vec<Reference>,
}

pub(super) fn parse(source: Squeezed<'_>) -> Result<Template<'_>, SubstError> {
    let mut parser = Parser {
        scanner: Scanner::new(&source.bytes),
        references: Vec::new(),
    };
    let mut parts = Vec::new();
    loop {
        match parser
            .scanner
            .scan(IDENT | OPEN | ESCAPED_DOLLAR, Accept::All)
        {
            Token::Ident => parts.push(Part::Text(parser.scanner.token_text())),
            Token::Open => match parser.reference() {
                Ok(index) => parts.push(Part::Reference(index)),
                Err((kind, start)) => {
                    let stopped = source.original(parser.scanner.start());
                    return Err(SubstError {
                        kind,
                        start: source.original(start),
                        stopped,
                    });
                }
            },
            Token::End | Token::Close | Token::Illegal => break,
        }
    }
    let Parser {
        scanner,
        references,
    } = parser;
    let dropped = scanner.into_dropped();
    Ok(Template {
        source,
        dropped,
        references,
        parts,
    })
}

impl Parser<'_> {
    /// Reads a reference of which `${` was read, and all within it; returns its index.
    fn reference(&mut self) -> Result<usize, Fault> {
        let mut stack = match self.open()? {
            Opened::Complete(reference) => return Ok(self.complete(reference)),
            Opened::Frame(frame) => vec![frame],
        };
        while let Some(frame) = stack.last_mut() {
            let start = frame.start;
            let mut ended = self.ended(frame);
            if !ended {
                match self.argument(frame.awaits).map_err(|kind| (kind, start))? {
                    Some(text) => {
                        ended = self.receive(frame, text).map_err(|kind| (kind, start))?
                    }
                    None => match self.open()? {
                        Opened::Frame(inner) => {
                            stack.push(inner);
                            continue;
                        }
                        Opened::Complete(reference) => {
                            let part = Part::Reference(self.complete(reference));
                            ended = self.receive(frame, part).map_err(|kind| (kind, start))?;
                        }
                    },
                }
            }
            while ended {
                let Some(frame) = stack.pop() else { break };
                let reference = self.close(frame);
                let index = self.complete(reference);
                let Some(outer) = stack.last_mut() else {
                    return Ok(index);
                };
                let start = outer.start;
                ended = self
                    .receive(outer, Part::Reference(index))
                    .map_err(|kind| (kind, start))?;
            }
        }
        unreachable!("internal error: the stack empties only by returning")
    }

    fn complete(&mut self, reference: Reference) -> usize {
        self.references.push(reference);
        self.references.len() - 1
    }

    fn close(&self, frame: Frame) -> Reference {
        let function = frame.function.with_arguments(frame.arguments.len());
        Reference {
            name: frame.name,
            function,
            arguments: frame.arguments,
            span: frame.start..self.scanner.at(),
        }
    }

    /// Reads the name and the function's sign.
    fn open(&mut self) -> Result<Opened, Fault> {
        let start = self.scanner.at() - "${".len();
        let fault = |kind| (kind, start);
        if self.scanner.peek() == '#' {
            return self.length(start).map(Opened::Complete).map_err(fault);
        }
        let name = self.name().ok_or((SubstErrorKind::VariableName, start))?;
        let frame = |function, awaits| {
            Opened::Frame(Frame {
                name: name.clone(),
                start,
                function,
                awaits,
                arguments: Vec::new(),
            })
        };
        match self.scanner.peek() {
            ':' => {
                // The reference steps back by the width of the character after the colon.
                self.scanner.read();
                let next = self.scanner.peek();
                self.scanner.unread();
                if matches!(next, '=' | '-' | '?' | '+') {
                    self.sign(accept_default)
                        .ok_or((SubstErrorKind::DefaultFunction, start))?;
                    return Ok(frame(Function::Default, Awaits::DefaultOrEnd));
                }
                self.sign(|c, i| c == ':' && i == 1)
                    .ok_or((SubstErrorKind::BadSubstitution, start))?;
                Ok(frame(Function::Substring, Awaits::Position))
            }
            '=' => {
                self.sign(|c, i| c == '=' && i == 1)
                    .ok_or((SubstErrorKind::DefaultFunction, start))?;
                Ok(frame(Function::Default, Awaits::DefaultOrEnd))
            }
            sign @ (',' | '^' | '/' | '#' | '%') => {
                let accept = match sign {
                    '/' => accept_replace,
                    '#' => |c, i| c == '#' && i < 3,
                    '%' => |c, i| c == '%' && i < 3,
                    _ => |c, i| matches!(c, ',' | '^') && i < 3,
                };
                let function = self
                    .sign(accept)
                    .and_then(Function::of_sign)
                    .ok_or((SubstErrorKind::BadSubstitution, start))?;
                match sign {
                    '/' => Ok(frame(function, Awaits::Search)),
                    '#' | '%' => Ok(frame(function, Awaits::Pattern)),
                    _ => {
                        self.closing_brace().map_err(fault)?;
                        Ok(Opened::Complete(Reference {
                            name,
                            function,
                            arguments: Vec::new(),
                            span: start..self.scanner.at(),
                        }))
                    }
                }
            }
            _ => match self.scanner.scan(CLOSE, Accept::If(accept_none)) {
                Token::Close => {
                    let span = start..self.scanner.at();
                    Ok(Opened::Complete(Reference {
                        name,
                        function: Function::Value,
                        arguments: Vec::new(),
                        span,
                    }))
                }
                _ => Err((SubstErrorKind::MissingClosingBrace, start)),
            },
        }
    }

    fn name(&mut self) -> Option<Range<usize>> {
        let token = self
            .scanner
            .scan(IDENT, Accept::If(|c, _| rune::is_name(c)));
        (token == Token::Ident).then(|| self.scanner.start()..self.scanner.at())
    }

    fn sign(&mut self, accept: fn(char, usize) -> bool) -> Option<&[u8]> {
        (self.scanner.scan(IDENT, Accept::If(accept)) == Token::Ident).then(|| self.scanner.token())
    }

    /// `${#NAME}`
    fn length(&mut self, start: usize) -> Result<Reference, SubstErrorKind> {
        self.sign(|c, i| c == '#' && i == 1)
            .ok_or(SubstErrorKind::BadSubstitution)?;
        let name = self.name().ok_or(SubstErrorKind::BadSubstitution)?;
        self.closing_brace()?;
        Ok(Reference {
            name,
            function: Function::Length,
            arguments: Vec::new(),
            span: start..self.scanner.at(),
        })
    }

    fn closing_brace(&mut self) -> Result<(), SubstErrorKind> {
        match self.scanner.scan(CLOSE, Accept::If(accept_none)) {
            Token::Close => Ok(()),
            _ => Err(SubstErrorKind::BadSubstitution),
        }
    }

    /// Whether an open default ends here; reads its brace.
    fn ended(&mut self, frame: &Frame) -> bool {
        matches!(frame.awaits, Awaits::DefaultOrEnd)
            && self.scanner.peek() == '}'
            && self.closing_brace().is_ok()
    }

    /// Reads a piece of text, or the `${` of a nested reference (`None`).
    fn argument(&mut self, awaits: Awaits) -> Result<Option<Part>, SubstErrorKind> {
        let escapes: Mode = ESCAPED_DOLLAR | ESCAPED_BACKSLASH;
        let token = match awaits {
            Awaits::Position => self
                .scanner
                .scan(IDENT | OPEN, Accept::If(|c, _| c != ':' && c != '}')),
            Awaits::Length | Awaits::Pattern | Awaits::DefaultOrEnd => self
                .scanner
                .scan(IDENT | OPEN, Accept::If(accept_not_closing)),
            Awaits::Search => self
                .scanner
                .scan(IDENT | OPEN | escapes, Accept::If(|c, _| c != '/')),
            Awaits::Replacement => self
                .scanner
                .scan(IDENT | OPEN | escapes, Accept::If(accept_not_closing)),
        };
        match token {
            Token::Open => Ok(None),
            Token::Ident => Ok(Some(Part::Text(self.scanner.token_text()))),
            Token::Illegal | Token::End | Token::Close => Err(SubstErrorKind::FunctionArgument),
        }
    }

    /// Gives an open reference an argument and reads what must follow it. Says whether the
    /// reference is complete.
    fn receive(&mut self, frame: &mut Frame, argument: Part) -> Result<bool, SubstErrorKind> {
        frame.arguments.push(argument);
        match frame.awaits {
            Awaits::DefaultOrEnd => Ok(false),
            Awaits::Length | Awaits::Pattern | Awaits::Replacement => {
                self.closing_brace().map(|()| true)
            }
            Awaits::Position => match self
                .scanner
                .scan(IDENT | CLOSE, Accept::If(|c, _| c == ':'))
            {
                Token::Close => Ok(true),
                Token::Ident => {
                    frame.awaits = Awaits::Length;
                    Ok(false)
                }
                _ => Err(SubstErrorKind::BadSubstitution),
            },
            Awaits::Search => {
                if self.scanner.scan(IDENT, Accept::If(|c, _| c == '/')) != Token::Ident {
                    return Err(SubstErrorKind::BadSubstitution);
                }
                frame.awaits = Awaits::Replacement;
                if self.scanner.peek() == '}' {
                    self.closing_brace().map(|()| true)
                } else {
                    Ok(false)
                }
            }
        }
    }
}

fn accept_none(_: char, _: usize) -> bool {
    false
}

fn accept_not_closing(c: char, _: usize) -> bool {
    c != '}'
}

fn accept_default(c: char, index: usize) -> bool {
    match index {
        1 => c == ':',
        2 => matches!(c, '=' | '-' | '?' | '+'),
        _ => false,
    }
}

fn accept_replace(c: char, index: usize) -> bool {
    match index {
        1 => c == '/',
        2 => matches!(c, '/' | '#' | '%'),
        _ => false,
    }
}
