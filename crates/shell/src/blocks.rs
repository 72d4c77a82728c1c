//! Words that open and close blocks: `if`, `while`, `for`, `case`, `{`, `(`, functions. A word is
//! one of them only where a command may begin.

use std::ops::{Range, RangeInclusive};

use super::{Command, Joint, Part, Shape, Unclosed};

#[derive(Debug)]
pub(super) struct Block {
    /// The command that it is.
    command: usize,
    shape: Shape,
    opener: &'static str,
    part: Part,
    line: u32,
    /// The last command in it that has ended.
    previous: Option<usize>,
}

impl Block {
    pub(super) fn unclosed(&self) -> Unclosed {
        Unclosed {
            opener: self.opener,
            line: self.line,
        }
    }
}

/// What has been read, and what is open of it.
#[derive(Debug, Default)]
pub(super) struct Blocks<'t> {
    pub(super) commands: Vec<Command<'t>>,
    open: Vec<Block>,
    /// The last command outside of all blocks that has ended.
    previous: Option<usize>,
    /// The command that is being read.
    current: Option<usize>,
    /// Whether that one is `[[ …`.
    in_test: bool,
    /// The function whose body is to come.
    awaits_body: Option<usize>,
}

impl<'t> Blocks<'t> {
    pub(super) fn innermost(&self) -> Option<&Block> {
        self.open.last()
    }

    /// Whether what is read is in `[[ … ]]`, where `&&`, `|` and `(` join no commands.
    pub(super) fn is_in_test(&self) -> bool {
        self.in_test
    }

    /// Whether what is read is in a branch of `case`.
    pub(super) fn is_in_branch(&self) -> bool {
        self.open
            .last()
            .is_some_and(|block| block.shape == Shape::Case && block.part == Part::Body)
    }

    /// Goes on to the next pattern of `case`.
    pub(super) fn end_branch(&mut self) {
        self.enter(Part::Header);
    }

    /// The command last read reaches to this line.
    pub(super) fn reach(&mut self, line: u32) {
        if let Some(command) = self.commands.last_mut() {
            command.last_line = command.last_line.max(line);
        }
    }

    pub(super) fn word(&mut self, text: &'t str, range: Range<usize>, lines: RangeInclusive<u32>) {
        let word = &text[range.clone()];
        if self.takes_keyword() && self.keyword(word, &range, *lines.start()) {
            return;
        }
        if self.function(word, &range, *lines.start()) {
            return;
        }
        let at = self.begun(range.start, *lines.start());
        let command = &mut self.commands[at];
        self.in_test = (self.in_test || (command.words.is_empty() && word == "[[")) && word != "]]";
        command.words.push(word);
        (command.end, command.last_line) = (range.end, *lines.end());
    }

    /// The command that is being read, or a new one.
    fn begun(&mut self, start: usize, line: u32) -> usize {
        if let Some(current) = self.current {
            return current;
        }
        let at = self.commands.len();
        let block = self.open.last();
        let (parent, part) = block.map_or((None, Part::Body), |block| {
            (Some(block.command), block.part)
        });
        let previous = block.map_or(self.previous, |block| block.previous);
        if let Some(previous) = previous.map(|previous| &mut self.commands[previous])
            && previous.joint.is_some_and(Joint::goes_on)
        {
            previous.next = Some(at);
        }
        self.commands.push(Command {
            shape: Shape::Simple,
            words: Vec::new(),
            start,
            end: start,
            line,
            last_line: line,
            joint: None,
            next: None,
            is_last: false,
            is_negated: false,
            parent,
            part,
        });
        self.current = Some(at);
        at
    }

    /// Ends the command that is being read.
    pub(super) fn join(&mut self, joint: Joint) {
        self.awaits_body = None;
        let Some(current) = self.current.take() else {
            return;
        };
        self.commands[current].joint = Some(joint);
        match self.open.last_mut() {
            Some(block) => block.previous = Some(current),
            None => self.previous = Some(current),
        }
    }

    /// The end of a line ends a command, unless the body of a function or the end of `[[` is to
    /// come.
    pub(super) fn end_line(&mut self) {
        if self.awaits_body.is_none() && !self.in_test {
            self.join(Joint::End);
        }
    }

    /// Whether a word that opens or closes a block is one here.
    fn takes_keyword(&self) -> bool {
        self.current
            .is_none_or(|current| self.commands[current].words.is_empty())
            || self
                .open
                .last()
                .is_some_and(|block| block.part == Part::Header)
    }

    /// What a word opens, closes or goes on to. Whether it is one that does.
    fn keyword(&mut self, word: &str, range: &Range<usize>, line: u32) -> bool {
        let top = self.open.last().map(|block| (block.shape, block.part));
        let words = self
            .current
            .map_or(0, |current| self.commands[current].words.len());
        match (top, word) {
            (Some((Shape::For, Part::Header)), "do") if words < 2 => self.enter(Part::Body),
            (Some((Shape::For, Part::Header)), _) => return false,
            (Some((Shape::Case, Part::Header)), "in") if words == 1 => self.enter(Part::Header),
            (Some((Shape::Case, Part::Header)), "esac") if words == 0 => {
                self.close(range.end, line)
            }
            (Some((Shape::Case, Part::Header)), _) => return false,
            (Some((Shape::If, _)), "then" | "else") | (Some((Shape::While, _)), "do") => {
                self.enter(Part::Body)
            }
            (Some((Shape::If, _)), "elif") => self.enter(Part::Condition),
            (Some((Shape::If, _)), "fi")
            | (Some((Shape::While | Shape::For, _)), "done")
            | (Some((Shape::Case, _)), "esac")
            | (Some((Shape::Group, _)), "}") => self.close(range.end, line),
            (_, "if") => return self.open(Shape::If, "if", Part::Condition, range.start, line),
            (_, "while") => {
                return self.open(Shape::While, "while", Part::Condition, range.start, line);
            }
            (_, "until") => {
                return self.open(Shape::While, "until", Part::Condition, range.start, line);
            }
            (_, "for") => return self.open(Shape::For, "for", Part::Header, range.start, line),
            (_, "select") => {
                return self.open(Shape::For, "select", Part::Header, range.start, line);
            }
            (_, "case") => return self.open(Shape::Case, "case", Part::Header, range.start, line),
            (_, "{") => return self.open(Shape::Group, "{", Part::Body, range.start, line),
            (_, "!") => {
                let at = self.begun(range.start, line);
                self.commands[at].is_negated ^= true;
            }
            (_, "time") => drop(self.begun(range.start, line)),
            _ => return false,
        }
        true
    }

    /// `name()` and `function name`. Whether the word belongs to one.
    fn function(&mut self, word: &str, range: &Range<usize>, line: u32) -> bool {
        let words = self
            .current
            .map_or(&[][..], |current| &self.commands[current].words);
        let is_function = match words {
            [] => word.len() > 2 && word.ends_with("()"),
            [name] => word == "()" || *name == "function",
            _ => false,
        };
        if is_function
            && self
                .open
                .last()
                .is_none_or(|block| block.part != Part::Header)
        {
            let at = self.begun(range.start, line);
            (self.commands[at].shape, self.commands[at].end) = (Shape::Function, range.end);
            self.commands[at].words.clear();
            self.awaits_body = Some(at);
            return true;
        }
        // `function name ()`
        self.awaits_body.is_some() && word == "()"
    }

    /// Opens a block where none has just been closed.
    fn open(
        &mut self,
        shape: Shape,
        opener: &'static str,
        part: Part,
        start: usize,
        line: u32,
    ) -> bool {
        let has_body = self
            .current
            .is_some_and(|current| self.commands[current].shape != Shape::Simple);
        if has_body && self.awaits_body.is_none() {
            return false;
        }
        let command = self.begun(start, line);
        // The body of a function is the function.
        if self.awaits_body.take().is_none() {
            self.commands[command].shape = shape;
        }
        self.current = None;
        self.open.push(Block {
            command,
            shape,
            opener,
            part,
            line,
            previous: None,
        });
        true
    }

    fn mark_last(&mut self, last: Option<usize>) {
        if let Some(last) = last.and_then(|last| self.commands.get_mut(last)) {
            last.is_last = true;
        }
    }

    pub(super) fn finished(mut self) -> Vec<Command<'t>> {
        let last = self
            .current
            .filter(|_| self.open.is_empty())
            .or(self.previous);
        self.mark_last(last);
        self.commands
    }

    /// Goes on to another part of the innermost block.
    fn enter(&mut self, part: Part) {
        self.join(Joint::End);
        if let Some(block) = self.open.last_mut() {
            block.part = part;
            let last = block.previous.take();
            self.mark_last(last);
        }
    }

    /// Closes the innermost block, whose command goes on with what is redirected.
    fn close(&mut self, end: usize, line: u32) {
        self.join(Joint::End);
        if let Some(block) = self.open.pop() {
            self.mark_last(block.previous);
            let command = &mut self.commands[block.command];
            (command.end, command.last_line) = (end, line);
            self.current = Some(block.command);
        }
    }

    /// `(` where a command may begin. Whether it opens a block, or begins a pattern.
    pub(super) fn open_parenthesis(&mut self, at: usize, line: u32) -> bool {
        let is_header = self
            .open
            .last()
            .is_some_and(|block| block.part == Part::Header);
        let is_begin = self
            .current
            .is_none_or(|current| self.commands[current].words.is_empty());
        match is_header {
            true => {
                self.open
                    .last()
                    .is_some_and(|block| block.shape == Shape::Case)
                    && self.current.is_none()
            }
            false => is_begin && self.open(Shape::Subshell, "(", Part::Body, at, line),
        }
    }

    /// `)`. Whether it closes a block, or ends a pattern.
    pub(super) fn close_parenthesis(&mut self, end: usize, line: u32) -> bool {
        let Some(block) = self.open.last() else {
            return false;
        };
        if block.shape == Shape::Case && block.part == Part::Header {
            self.enter(Part::Body);
            return true;
        }
        let Some(at) = self
            .open
            .iter()
            .rposition(|block| block.shape == Shape::Subshell)
        else {
            return false;
        };
        self.open.truncate(at + 1);
        self.close(end, line);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// The words of commands with the shape of the block around them.
    fn shown(text: &'static str) -> Vec<(String, Option<Shape>)> {
        let script = read(text);
        assert_eq!(script.unclosed, None, "{text}");
        let commands = script
            .commands
            .iter()
            .filter(|command| command.part != Part::Header && command.shape == Shape::Simple);
        commands
            .map(|command| {
                (
                    command.words.join(" "),
                    command.parent.map(|parent| script.commands[parent].shape),
                )
            })
            .collect()
    }

    #[track_caller]
    fn check(text: &'static str, expected: &[(&str, Option<Shape>)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(words, shape)| ((*words).to_owned(), *shape))
            .collect();
        assert_eq!(shown(text), expected, "{text}");
    }

    #[test]
    fn commands_stand_in_their_blocks() {
        check(
            "if a; then b; elif c\nthen d; else e; fi > f; g",
            &[
                ("a", Some(Shape::If)),
                ("b", Some(Shape::If)),
                ("c", Some(Shape::If)),
                ("d", Some(Shape::If)),
                ("e", Some(Shape::If)),
                ("g", None),
            ],
        );
        check(
            "while a; do { b; (c) } done < f",
            &[
                ("a", Some(Shape::While)),
                ("b", Some(Shape::Group)),
                ("c", Some(Shape::Subshell)),
            ],
        );
        check(
            "for x in if do; do a; done; for y do b; done; for ((i=0;i<3;i++)); do c; done",
            &[
                ("a", Some(Shape::For)),
                ("b", Some(Shape::For)),
                ("c", Some(Shape::For)),
            ],
        );
        check(
            "case $x in if|b) a;; (fi) b ;& *) c\nesac\nd",
            &[
                ("a", Some(Shape::Case)),
                ("b", Some(Shape::Case)),
                ("c", Some(Shape::Case)),
                ("d", None),
            ],
        );
    }

    #[test]
    fn functions_have_a_body() {
        for text in [
            "f() { a; }\nb",
            "f()\n{\n a\n}\nb",
            "function f { a; }; b",
            "function f() { a; }\nb",
            "f () ( a )\nb",
        ] {
            let script = read(text);
            let shapes: Vec<_> = script
                .commands
                .iter()
                .map(|command| (command.shape, command.parent))
                .collect();
            assert_eq!(
                shapes,
                [
                    (Shape::Function, None),
                    (Shape::Simple, Some(0)),
                    (Shape::Simple, None)
                ],
                "{text}"
            );
        }
    }

    #[test]
    fn a_word_is_a_keyword_only_where_a_command_begins() {
        check(
            "echo if; echo { }; a=1 then; ! b; > f do; [[ a && (b || c) ]] && d",
            &[
                ("echo if", None),
                ("echo { }", None),
                ("a=1 then", None),
                ("b", None),
                ("> f do", None),
                ("[[ a && (b || c) ]]", None),
                ("d", None),
            ],
        );
    }

    #[test]
    fn blocks_that_nothing_closes_are_found() {
        for (text, opener, line) in [
            ("if a\nthen b", "if", 1),
            ("a\nwhile b; do c", "while", 2),
            ("{ a; b }", "{", 1),
            ("case x in a) b", "case", 1),
            ("for x in a; do b", "for", 1),
            ("if a; then b; fi\n(c", "(", 2),
            ("until a; do if b; then c; done", "if", 1),
        ] {
            assert_eq!(
                read(text).unclosed,
                Some(Unclosed { opener, line }),
                "{text}"
            );
        }
    }
}
