//! Writes the mutants of a file into its text, each asleep behind its number.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Arm, BinOp, Block, Expr, ExprBinary, ExprStruct, ExprUnary};

use crate::listed::{Mutant, Place};

/// A text with mutants, and where the code of each construct with some of them stands in it.
pub struct Rewritten {
    pub text: String,
    pub constructs: Vec<(Range<usize>, Vec<usize>)>,
}

impl Rewritten {
    /// The mutants that are to blame for a fault of the compiler at this place: the one on the line, or those of the construct around it.
    /// Where arms of a match are missing it is one of those in it.
    pub fn to_blame(&self, at: Range<usize>, is_of_arms: bool) -> Vec<usize> {
        let start = self.text[..at.start].rfind('\n').map_or(0, |line| line + 1);
        let end = self.text[at.end..]
            .find('\n')
            .map_or(self.text.len(), |line| at.end + line);
        let on_the_line: Vec<usize> = self.text[start..end]
            .lines()
            .filter(|line| line.trim_start().starts_with(AWAKE))
            .filter_map(number)
            .collect();
        if !on_the_line.is_empty() {
            return on_the_line;
        }
        let around = self
            .constructs
            .iter()
            .filter(|(range, _)| range.start <= at.start && at.end <= range.end);
        let around = around
            .min_by_key(|(range, _)| range.len())
            .map(|(_, mutants)| mutants.clone());
        let inside = || {
            let inside = self
                .constructs
                .iter()
                .filter(|(range, _)| at.start <= range.start && range.end <= at.end);
            inside.flat_map(|(_, mutants)| mutants.clone()).collect()
        };
        if is_of_arms {
            inside()
        } else {
            around.unwrap_or_else(inside)
        }
    }
}

const AWAKE: &str = "if crate::mutant(";

fn number(line: &str) -> Option<usize> {
    line.trim_start()
        .strip_prefix(AWAKE)?
        .split(')')
        .next()?
        .parse()
        .ok()
}

/// The alternatives of one place.
type Alternatives = Vec<(usize, String)>;

enum Form {
    /// Both sides are compared by reference.
    Comparison {
        left: Range<usize>,
        operator: String,
        right: Range<usize>,
    },
    /// The right side is a matter of the left.
    Lazy {
        left: Range<usize>,
        operator: String,
        right: Range<usize>,
    },
    Arithmetic {
        left: Range<usize>,
        operator: String,
        right: Range<usize>,
    },
    Assignment {
        left: Range<usize>,
        operator: String,
        right: Range<usize>,
    },
    Unary {
        operator: String,
        operand: Range<usize>,
    },
    /// A body, at whose begin they stand.
    Function,
    /// A guard, and those for which the whole arm is gone.
    Guard {
        guard: Option<Range<usize>>,
        gone: Vec<usize>,
    },
    /// A field that the rest of the expression would give.
    Field {
        value: Range<usize>,
        base: Range<usize>,
    },
}

struct Node {
    range: Range<usize>,
    form: Form,
    alternatives: Alternatives,
}

/// The text of a file with those of its mutants that this knows how to write; the numbers of the others.
pub fn rewrite(text: &str, mutants: &[&Mutant]) -> Result<(Rewritten, BTreeSet<usize>), String> {
    let file = syn::parse_file(text).map_err(|error| error.to_string())?;
    let mut finder = Finder {
        mutants: &Located::all(text, mutants),
        nodes: Vec::new(),
    };
    finder.visit_file(&file);
    let mut nodes = finder.nodes;
    nodes.sort_by_key(|node| (node.range.start, std::cmp::Reverse(node.range.end)));
    let written: BTreeSet<usize> = nodes.iter().flat_map(Node::numbers).collect();
    let unknown = mutants
        .iter()
        .map(|mutant| mutant.id)
        .filter(|id| !written.contains(id))
        .collect();
    let mut writer = Writer {
        source: text,
        nodes: &nodes,
        out: Rewritten {
            text: String::new(),
            constructs: Vec::new(),
        },
    };
    writer.copy(0..text.len());
    Ok((writer.out, unknown))
}

/// A mutant and its bytes in the text.
struct Located<'m> {
    mutant: &'m Mutant,
    range: Range<usize>,
}

impl<'m> Located<'m> {
    fn all(text: &str, mutants: &[&'m Mutant]) -> Vec<Located<'m>> {
        let lines: Vec<usize> = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        let offset = |place: Place| {
            let line = lines[place.line - 1];
            text[line..]
                .char_indices()
                .nth(place.column - 1)
                .map_or(text.len(), |(at, _)| line + at)
        };
        let located = |mutant: &&'m Mutant| Located {
            mutant,
            range: offset(mutant.span.start)..offset(mutant.span.end),
        };
        mutants.iter().map(located).collect()
    }
}

impl Node {
    fn numbers(&self) -> impl Iterator<Item = usize> {
        let gone = if let Form::Guard { gone, .. } = &self.form {
            gone.clone()
        } else {
            Vec::new()
        };
        self.alternatives
            .iter()
            .map(|(id, _)| *id)
            .chain(gone)
            .collect::<Vec<_>>()
            .into_iter()
    }
}

struct Finder<'m> {
    mutants: &'m [Located<'m>],
    nodes: Vec<Node>,
}

impl Finder<'_> {
    fn of(&self, genre: &str, fits: impl Fn(&Range<usize>) -> bool) -> Alternatives {
        let found = self
            .mutants
            .iter()
            .filter(|located| located.mutant.genre == genre && fits(&located.range));
        found
            .map(|located| (located.mutant.id, located.mutant.replacement.clone()))
            .collect()
    }

    fn add(&mut self, range: Range<usize>, form: Form, alternatives: Alternatives) {
        let node = Node {
            range,
            form,
            alternatives,
        };
        if node.numbers().next().is_some() {
            self.nodes.push(node);
        }
    }

    /// The mutants of a function are those in its block, and in no function in it.
    fn function(&mut self, block: &Block) {
        let range = bytes(block.span());
        let taken: BTreeSet<usize> = self
            .nodes
            .iter()
            .filter(|node| matches!(node.form, Form::Function))
            .flat_map(Node::numbers)
            .collect();
        let mut alternatives = self.of("FnValue", |span| {
            range.start <= span.start && span.end <= range.end
        });
        alternatives.retain(|(id, _)| !taken.contains(id));
        self.add(range, Form::Function, alternatives);
    }
}

fn bytes(span: Span) -> Range<usize> {
    span.byte_range()
}

/// Whether an expression holds a `let` that only a condition may have.
fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        visit::visit_item_fn(self, item);
        self.function(&item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        visit::visit_impl_item_fn(self, item);
        self.function(&item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        visit::visit_trait_item_fn(self, item);
        if let Some(block) = &item.default {
            self.function(block);
        }
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        visit::visit_expr_binary(self, binary);
        let operator = bytes(binary.op.span());
        let alternatives = self.of("BinaryOperator", |span| *span == operator);
        let (left, right) = (bytes(binary.left.span()), bytes(binary.right.span()));
        let operator = words(&binary.op);
        let form = match binary.op {
            BinOp::And(_) | BinOp::Or(_) if has_let(&binary.left) || has_let(&binary.right) => {
                return;
            }
            BinOp::And(_) | BinOp::Or(_) => Form::Lazy {
                left,
                operator,
                right,
            },
            BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_) => Form::Comparison {
                left,
                operator,
                right,
            },
            _ if operator.ends_with('=') => Form::Assignment {
                left,
                operator,
                right,
            },
            _ => Form::Arithmetic {
                left,
                operator,
                right,
            },
        };
        self.add(bytes(binary.span()), form, alternatives);
    }

    fn visit_expr_unary(&mut self, unary: &'ast ExprUnary) {
        visit::visit_expr_unary(self, unary);
        let operator = bytes(unary.op.span());
        let alternatives = self.of("UnaryOperator", |span| {
            span.start == operator.start && span.end <= bytes(unary.span()).end
        });
        let word = match unary.op {
            syn::UnOp::Not(_) => "!",
            syn::UnOp::Neg(_) => "-",
            _ => return,
        };
        self.add(
            bytes(unary.span()),
            Form::Unary {
                operator: word.to_owned(),
                operand: bytes(unary.expr.span()),
            },
            alternatives,
        );
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        visit::visit_arm(self, arm);
        let whole = bytes(arm.span());
        let gone: Vec<usize> = self
            .of("MatchArm", |span| span.start == whole.start)
            .into_iter()
            .map(|(id, _)| id)
            .collect();
        let pattern = bytes(arm.pat.span());
        match &arm.guard {
            Some((_, guard)) if !has_let(guard) => {
                let range = bytes(guard.span());
                let alternatives = self.of("MatchArmGuard", |span| *span == range);
                self.add(
                    pattern.end..range.end,
                    Form::Guard {
                        guard: Some(range),
                        gone,
                    },
                    alternatives,
                );
            }
            Some(_) => {}
            None => self.add(
                pattern.end..pattern.end,
                Form::Guard { guard: None, gone },
                Vec::new(),
            ),
        }
    }

    fn visit_expr_struct(&mut self, literal: &'ast ExprStruct) {
        visit::visit_expr_struct(self, literal);
        let Some(base) = &literal.rest else { return };
        for field in &literal.fields {
            let whole = bytes(field.span());
            let mut alternatives = self.of("StructField", |span| span.start == whole.start);
            let name = match &field.member {
                syn::Member::Named(name) => name.to_string(),
                syn::Member::Unnamed(index) => index.index.to_string(),
            };
            alternatives
                .iter_mut()
                .for_each(|(_, replacement)| *replacement = name.clone());
            self.add(
                whole,
                Form::Field {
                    value: bytes(field.expr.span()),
                    base: bytes(base.span()),
                },
                alternatives,
            );
        }
    }
}

fn words(operator: &BinOp) -> String {
    operator.span().source_text().unwrap_or_default()
}

struct Writer<'s> {
    source: &'s str,
    nodes: &'s [Node],
    out: Rewritten,
}

impl Writer<'_> {
    /// Writes a part of the source with all constructs in it.
    fn copy(&mut self, range: Range<usize>) {
        let mut at = range.start;
        let mut next = self
            .nodes
            .partition_point(|node| node.range.start < range.start);
        while let Some(node) = self
            .nodes
            .get(next)
            .filter(|node| node.range.start < range.end)
        {
            next += 1;
            if node.range.start < at || node.range.end > range.end {
                continue;
            }
            self.push(&self.source[at..node.range.start]);
            at = node.range.end;
            let start = self.out.text.len();
            self.construct(node);
            self.out
                .constructs
                .push((start..self.out.text.len(), node.numbers().collect()));
        }
        self.push(&self.source[at..range.end]);
    }

    fn push(&mut self, text: &str) {
        self.out.text.push_str(text);
    }

    fn construct(&mut self, node: &Node) {
        match &node.form {
            Form::Function => {
                self.push("{");
                for (id, replacement) in &node.alternatives {
                    self.push(&format!("\n{AWAKE}{id}) {{ return {replacement}; }}\n"));
                }
                self.copy(node.range.start + 1..node.range.end);
            }
            Form::Comparison {
                left,
                operator,
                right,
            } => {
                self.push("(match (&(");
                self.copy(left.clone());
                self.push("), &(");
                self.copy(right.clone());
                self.push(")) { (l_, r_) => {");
                self.alternatives(&node.alternatives, |with| format!("*l_ {with} *r_"));
                self.push(&format!("{{ *l_ {operator} *r_ }} }} }})"));
            }
            Form::Arithmetic {
                left,
                operator,
                right,
            } => {
                self.push("(match ((");
                self.copy(left.clone());
                self.push("), (");
                self.copy(right.clone());
                self.push(")) { (l_, r_) => {");
                self.alternatives(&node.alternatives, |with| format!("l_ {with} r_"));
                self.push(&format!("{{ l_ {operator} r_ }} }} }})"));
            }
            Form::Assignment {
                left,
                operator,
                right,
            } => {
                let place = self.source[left.clone()].to_owned();
                self.push("{ match (");
                self.copy(right.clone());
                self.push(") { r_ => {");
                self.alternatives(&node.alternatives, |with| format!("{place} {with} r_"));
                self.push(&format!("{{ {place} {operator} r_ }} }} }} }}"));
            }
            Form::Lazy {
                left,
                operator,
                right,
            } => {
                self.push("(match (");
                self.copy(left.clone());
                self.push(") { l_ => {");
                for (id, with) in &node.alternatives {
                    self.push(&format!("\n{AWAKE}{id}) {{ l_ {with} (\n"));
                    self.copy(right.clone());
                    self.push(") } else\n");
                }
                self.push(&format!("{{ l_ {operator} ("));
                self.copy(right.clone());
                self.push(") } } })");
            }
            Form::Unary { operator, operand } => {
                self.push("(match (");
                self.copy(operand.clone());
                self.push(") { v_ => {");
                self.alternatives(&node.alternatives, |_| "v_".to_owned());
                self.push(&format!("{{ {operator}v_ }} }} }})"));
            }
            Form::Guard { guard, gone } => self.guard(guard.as_ref(), gone, &node.alternatives),
            Form::Field { value, base } => {
                let base = self.source[base.clone()].to_owned();
                let name = node
                    .alternatives
                    .first()
                    .map_or_else(String::new, |(_, name)| name.clone());
                self.push(&format!("{name}: {{"));
                self.alternatives(&node.alternatives, |name| format!("({base}).{name}"));
                self.push("{");
                // Of a shorthand the value is all there is.
                if *value == node.range {
                    self.push(&self.source[value.clone()]);
                } else {
                    self.copy(value.clone());
                }
                self.push("} }");
            }
        }
    }

    fn alternatives(&mut self, alternatives: &Alternatives, with: impl Fn(&str) -> String) {
        for (id, replacement) in alternatives {
            self.push(&format!(
                "\n{AWAKE}{id}) {{ {} }} else\n",
                with(replacement)
            ));
        }
    }

    fn guard(&mut self, guard: Option<&Range<usize>>, gone: &[usize], alternatives: &Alternatives) {
        self.push(" if ({");
        for id in gone {
            self.push(&format!("\n{AWAKE}{id}) {{ false }} else\n"));
        }
        self.alternatives(alternatives, str::to_owned);
        self.push("{ ");
        match guard {
            Some(guard) => self.copy(guard.clone()),
            None => self.push("true"),
        }
        self.push(" } })");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listed::Span;

    /// The mutant of the only place of `at` in a text.
    fn mutant(id: usize, text: &str, genre: &str, at: &str, replacement: &str) -> Mutant {
        let start = text.find(at).unwrap_or_else(|| panic!("{at} is not there"));
        let place = |offset: usize| {
            let line = text[..offset].rfind('\n').map_or(0, |line| line + 1);
            Place {
                line: text[..offset].matches('\n').count() + 1,
                column: text[line..offset].chars().count() + 1,
            }
        };
        let span = Span {
            start: place(start),
            end: place(start + at.len()),
        };
        let [file, name, genre, replacement] = ["a.rs", "", genre, replacement].map(str::to_owned);
        Mutant {
            id,
            file,
            name,
            genre,
            span,
            replacement,
        }
    }

    /// The text with one mutant in it, without line breaks.
    fn written(text: &str, genre: &str, at: &str, replacement: &str) -> String {
        let mutant = mutant(7, text, genre, at, replacement);
        let (rewritten, unknown) = rewrite(text, &[&mutant]).unwrap();
        assert_eq!(unknown.len(), 0, "{text}");
        syn::parse_file(&rewritten.text)
            .unwrap_or_else(|error| panic!("{error}: {}", rewritten.text));
        rewritten
            .text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn each_kind_of_mutant_sleeps_beside_what_it_replaces() {
        for (text, genre, at, replacement, expected) in [
            (
                "fn f() -> u8 { 1 }",
                "FnValue",
                "1",
                "0",
                "fn f() -> u8 { if crate::mutant(7) { return 0; } 1 }",
            ),
            (
                "fn f() -> bool { a < b }",
                "BinaryOperator",
                "<",
                "<=",
                "fn f() -> bool { (match (&(a), &(b)) { (l_, r_) => { if crate::mutant(7) { *l_ <= *r_ } else { *l_ < *r_ } } }) }",
            ),
            (
                "fn f() -> bool { a && b }",
                "BinaryOperator",
                "&&",
                "||",
                "fn f() -> bool { (match (a) { l_ => { if crate::mutant(7) { l_ || ( b) } else { l_ && (b) } } }) }",
            ),
            (
                "fn f() { a += b; }",
                "BinaryOperator",
                "+=",
                "-=",
                "fn f() { { match (b) { r_ => { if crate::mutant(7) { a -= r_ } else { a += r_ } } } }; }",
            ),
            (
                "fn f() { !a }",
                "UnaryOperator",
                "!",
                "",
                "fn f() { (match (a) { v_ => { if crate::mutant(7) { v_ } else { !v_ } } }) }",
            ),
            (
                "fn f() { match a { 1 => b, _ => c } }",
                "MatchArm",
                "1 => b,",
                "",
                "fn f() { match a { 1 if ({ if crate::mutant(7) { false } else { true } }) => b, _ => c } }",
            ),
            (
                "fn f() { match a { x if x > 1 => b, _ => c } }",
                "MatchArmGuard",
                "x > 1",
                "true",
                "fn f() { match a { x if ({ if crate::mutant(7) { true } else { x > 1 } }) => b, _ => c } }",
            ),
            (
                "fn f() { A { x: 1, ..B::new() } }",
                "StructField",
                "x: 1",
                "",
                "fn f() { A { x: { if crate::mutant(7) { (B::new()).x } else {1} }, ..B::new() } }",
            ),
            (
                "fn f() { A { xy, ..B::new() } }",
                "StructField",
                "xy",
                "",
                "fn f() { A { xy: { if crate::mutant(7) { (B::new()).xy } else {xy} }, ..B::new() } }",
            ),
        ] {
            assert_eq!(written(text, genre, at, replacement), expected);
        }
    }

    /// A right side stands twice where it may not be reached, with all that is in it; columns count characters.
    #[test]
    fn mutants_may_lie_in_one_another() {
        let text = "fn f() -> bool { \"é\" == a && b < c }";
        let mutants = [
            ("BinaryOperator", "==", "!="),
            ("BinaryOperator", "&&", "||"),
            ("BinaryOperator", "<", ">"),
            ("FnValue", "\"é\"", "true"),
        ];
        let mutants: Vec<Mutant> = mutants
            .iter()
            .enumerate()
            .map(|(id, (genre, at, replacement))| mutant(id + 1, text, genre, at, replacement))
            .collect();
        let (rewritten, unknown) = rewrite(text, &mutants.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(unknown.len(), 0);
        syn::parse_file(&rewritten.text).unwrap();
        let times: Vec<usize> = (1..=4)
            .map(|id| rewritten.text.matches(&format!("{AWAKE}{id})")).count())
            .collect();
        assert_eq!(times, [1, 1, 2, 1]);
    }

    /// What a compiler says of a line is about the mutant on it, of a construct about all in it, and of arms about those in the match.
    #[test]
    fn who_is_to_blame_follows_from_the_place() {
        let text = "fn f() -> u8 { match a { 1 => b + c, _ => c } }";
        let mutants = [
            mutant(1, text, "BinaryOperator", "+", "-"),
            mutant(2, text, "MatchArm", "1 => b + c,", ""),
            mutant(3, text, "FnValue", "match", "0"),
        ];
        let (rewritten, _) = rewrite(text, &mutants.iter().collect::<Vec<_>>()).unwrap();
        let at = |needle: &str| {
            rewritten
                .text
                .find(needle)
                .map(|start| start..start + needle.len())
                .unwrap()
        };
        assert_eq!(rewritten.to_blame(at("return 0"), false), [3]);
        assert_eq!(rewritten.to_blame(at("l_ - r_"), false), [1]);
        assert_eq!(rewritten.to_blame(at("match ((b), (c))"), false), [1]);
        assert_eq!(
            rewritten.to_blame(at("_ => c }"), false),
            [3],
            "the function around it"
        );
        let whole = at("match a").start..at("_ => c }").end;
        assert_eq!(
            rewritten
                .to_blame(whole, true)
                .into_iter()
                .collect::<BTreeSet<_>>(),
            BTreeSet::from([1, 2])
        );
    }

    /// `let` cannot stand in brackets: such a condition is left as it is, and what it does not know is said.
    #[test]
    fn what_cannot_be_written_is_told() {
        let text = "fn f() { if let Some(a) = b && c {} }";
        let mutant = mutant(1, text, "BinaryOperator", "&&", "||");
        let (rewritten, unknown) = rewrite(text, &[&mutant]).unwrap();
        assert_eq!(
            (rewritten.text.as_str(), unknown),
            (text, BTreeSet::from([1]))
        );
    }
}
