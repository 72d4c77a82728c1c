//! The signs of a script: quotes, substitutions, here-documents, comments and operators. Where
//! words begin and end is told to `blocks`.

use super::blocks::{Block, Blocks};
use super::{Joint, Script, Unclosed};

/// What is open inside of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Double,
    /// `$(` or `(`.
    Paren(&'static str),
    /// `${`
    Brace,
    /// A parenthesis of an arithmetic expression, in which `<<` and `#` mean something else.
    Arithmetic,
}

impl Open {
    fn opener(self) -> &'static str {
        match self {
            Open::Double => "\"",
            Open::Paren(opener) => opener,
            Open::Brace => "${",
            Open::Arithmetic => "((",
        }
    }
}

/// A here-document whose text begins with the next line.
struct HereDocument {
    delimiter: String,
    strips_tabs: bool,
    line: u32,
}

/// Reads a script, up to the first quote, backquote or here-document that is not closed.
pub fn read(text: &str) -> Script<'_> {
    let mut reader = Reader {
        text,
        at: 0,
        line: 1,
        open: Vec::new(),
        pending: Vec::new(),
        word: None,
        blocks: Blocks::default(),
        unclosed: None,
    };
    while reader.at < text.len() && reader.unclosed.is_none() {
        reader.step();
    }
    reader.finish()
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    /// What is open, and the line of each.
    open: Vec<(Open, u32)>,
    pending: Vec<HereDocument>,
    /// Where the word begins that is being read, and its line.
    word: Option<(usize, u32)>,
    blocks: Blocks<'t>,
    unclosed: Option<Unclosed>,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn top(&self) -> Option<Open> {
        self.open.last().map(|(open, _)| *open)
    }

    fn push(&mut self, open: Open) {
        self.open.push((open, self.line));
    }

    /// Goes on by so many bytes, which belong to a word.
    fn take(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.text.len());
        if self.word.is_none() && self.open.is_empty() {
            self.word = Some((self.at, self.line));
        }
        self.line +=
            u32::try_from(self.text[self.at..end].matches('\n').count()).unwrap_or(u32::MAX);
        self.at = end;
    }

    fn end_word(&mut self) {
        if let Some((start, line)) = self.word.take() {
            self.blocks
                .word(self.text, start..self.at, line..=self.line);
        }
    }

    /// Ends the command; an operator at the begin of a line goes with the command before.
    fn join(&mut self, joint: Joint, bytes: usize) {
        self.end_word();
        self.blocks.join(joint);
        self.at += bytes;
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return;
        };
        if rest.starts_with("\\\n") {
            // The line goes on, and a word does with it.
            self.at += 2;
            self.line += 1;
            return;
        }
        if first == '\\' {
            let next = rest[1..].chars().next().map_or(0, char::len_utf8);
            return self.take(1 + next);
        }
        if self.expansion(rest) {
            return;
        }
        match self.top() {
            Some(Open::Double) => {
                if first == '"' {
                    self.open.pop();
                    return self.close(1);
                }
                self.take(first.len_utf8());
            }
            Some(Open::Brace) => self.in_braces(first),
            _ => self.in_commands(first, rest),
        }
    }

    /// Goes on behind what closes.
    fn close(&mut self, bytes: usize) {
        // The word goes on: its begin is known.
        self.at += bytes;
    }

    /// Opens a substitution, in quotes or not.
    fn expansion(&mut self, rest: &str) -> bool {
        let (opens, bytes): (&[Open], usize) = match rest {
            // What stands between two of them is read when it is run.
            _ if rest.starts_with('`') => {
                self.raw('`', 1, true);
                return true;
            }
            // The number of the process.
            _ if rest.starts_with("$$") => {
                self.take(2);
                return true;
            }
            _ if rest.starts_with("$((") => (&[Open::Arithmetic, Open::Arithmetic], 3),
            _ if rest.starts_with("$(") => (&[Open::Paren("$(")], 2),
            _ if rest.starts_with("${") => (&[Open::Brace], 2),
            _ => return false,
        };
        self.take(bytes);
        opens.iter().for_each(|open| self.push(*open));
        true
    }

    fn in_braces(&mut self, first: char) {
        let is_quoted = self.open.iter().any(|(open, _)| *open == Open::Double);
        match first {
            '}' => {
                self.open.pop();
                self.close(1);
            }
            '"' => {
                self.take(1);
                self.push(Open::Double);
            }
            '\'' if !is_quoted => self.raw('\'', 1, false),
            _ => self.take(first.len_utf8()),
        }
    }

    fn in_commands(&mut self, first: char, rest: &'t str) {
        let is_arithmetic = self.top() == Some(Open::Arithmetic);
        // What stands behind the end of a test joins commands again.
        if ";&|)".contains(first)
            && self.blocks.is_in_test()
            && self
                .word
                .is_some_and(|(start, _)| &self.text[start..self.at] == "]]")
        {
            self.end_word();
        }
        match first {
            '\'' => self.raw('\'', 1, false),
            '$' if rest.starts_with("$'") => self.raw('\'', 2, true),
            '"' => {
                self.take(1);
                self.push(Open::Double);
            }
            '(' if is_arithmetic => self.nested(Open::Arithmetic, 1),
            '(' | ')' if self.opens_or_closes_block(first) => self.at += 1,
            '(' if rest.starts_with("((") && self.word.is_none() => {
                self.nested(Open::Arithmetic, 2);
                self.push(Open::Arithmetic);
            }
            '(' => self.nested(Open::Paren("("), 1),
            ')' if matches!(self.top(), Some(Open::Paren(_) | Open::Arithmetic)) => {
                self.open.pop();
                self.close(1);
            }
            '#' if !is_arithmetic && self.word.is_none() && self.begins_word() => {
                self.at += rest.find('\n').unwrap_or(rest.len())
            }
            '<' if rest.starts_with("<<<") => self.take(3),
            '<' if rest.starts_with("<<") && !is_arithmetic => self.here_document(),
            '\n' => self.line_end(),
            _ if !self.open.is_empty() => self.take(first.len_utf8()),
            _ => self.outside(first, rest),
        }
    }

    fn nested(&mut self, open: Open, bytes: usize) {
        self.take(bytes);
        self.push(open);
    }

    /// Whether a parenthesis is that of a subshell or of a pattern of `case`.
    fn opens_or_closes_block(&mut self, sign: char) -> bool {
        if !self.open.is_empty() || self.blocks.is_in_test() {
            return false;
        }
        if sign == '(' {
            return self.word.is_none()
                && !self.rest().starts_with("((")
                && self.blocks.open_parenthesis(self.at, self.line);
        }
        self.end_word();
        self.blocks.close_parenthesis(self.at + 1, self.line)
    }

    fn begins_word(&self) -> bool {
        self.text[..self.at]
            .chars()
            .next_back()
            .is_none_or(|before| before.is_whitespace() || ";&|()".contains(before))
    }

    /// Blanks, operators and letters outside of everything.
    fn outside(&mut self, first: char, rest: &str) {
        let is_redirection = self.text[..self.at].ends_with(['>', '<']) || rest.starts_with("&>");
        match first {
            ' ' | '\t' => {
                self.end_word();
                self.at += 1;
            }
            _ if self.blocks.is_in_test() => self.take(first.len_utf8()),
            '&' if rest.starts_with("&&") => self.join(Joint::And, 2),
            '|' if rest.starts_with("||") => self.join(Joint::Or, 2),
            '|' if !is_redirection => {
                self.join(Joint::Pipe, if rest.starts_with("|&") { 2 } else { 1 })
            }
            ';' => self.semicolon(rest),
            '&' if !is_redirection => self.join(Joint::Background, 1),
            _ => self.take(first.len_utf8()),
        }
    }

    /// `;`, and the signs that end a branch of `case`.
    fn semicolon(&mut self, rest: &str) {
        let ends_branch = [";;&", ";;", ";&"]
            .into_iter()
            .find(|sign| rest.starts_with(sign));
        match ends_branch.filter(|_| self.blocks.is_in_branch()) {
            Some(sign) => {
                self.join(Joint::End, sign.len());
                self.blocks.end_branch();
            }
            None => self.join(Joint::End, 1),
        }
    }

    /// A text that nothing but its sign ends; it begins behind so many bytes.
    fn raw(&mut self, sign: char, bytes: usize, has_escapes: bool) {
        let (start, line) = (self.at + bytes, self.line);
        let mut letters = self.text[start..].char_indices();
        let end = loop {
            match letters.next() {
                Some((at, letter)) if letter == sign => break Some(start + at + 1),
                Some((_, '\\')) if has_escapes => drop(letters.next()),
                Some(_) => {}
                None => break None,
            }
        };
        self.take(end.unwrap_or(self.text.len()) - self.at);
        if end.is_none() {
            let opener = if sign == '`' { "`" } else { "'" };
            self.unclosed = Some(Unclosed { opener, line });
        }
    }

    /// `<<` and the word behind it.
    fn here_document(&mut self) {
        let line = self.line;
        if self.open.is_empty() {
            self.end_word();
        }
        // Like any redirection it is a word.
        self.take(2);
        let strips_tabs = self.rest().starts_with('-');
        self.at += usize::from(strips_tabs);
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
        let mut delimiter = String::new();
        let mut quote = None;
        let mut letters = self.rest().char_indices();
        let mut end = self.rest().len();
        while let Some((at, letter)) = letters.next() {
            match (quote, letter) {
                (None, letter)
                    if [' ', '\t', '\n'].contains(&letter) || ";&|<>()".contains(letter) =>
                {
                    end = at;
                    break;
                }
                (None, '\\') => delimiter.extend(letters.next().map(|(_, letter)| letter)),
                (None, '\'' | '"') => quote = Some(letter),
                (Some(open), letter) if letter == open => quote = None,
                (_, letter) => delimiter.push(letter),
            }
        }
        self.take(end);
        if !delimiter.is_empty() {
            self.pending.push(HereDocument {
                delimiter,
                strips_tabs,
                line,
            });
        }
    }

    /// The end of a line, and the here-documents that begin behind it.
    fn line_end(&mut self) {
        if self.open.is_empty() {
            self.end_word();
            self.blocks.end_line();
        }
        self.at += 1;
        self.line += 1;
        for document in std::mem::take(&mut self.pending) {
            if !self.skip(&document) {
                self.unclosed = Some(Unclosed {
                    opener: "<<",
                    line: document.line,
                });
                return;
            }
            self.blocks.reach(self.line - 1);
        }
    }

    /// Goes behind the last line of a here-document. Whether it has one.
    fn skip(&mut self, document: &HereDocument) -> bool {
        while self.at < self.text.len() {
            let rest = self.rest();
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let line = rest[..end].trim_end_matches('\n');
            let line = if document.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            self.at += end;
            self.line += 1;
            if line == document.delimiter {
                return true;
            }
        }
        false
    }

    fn finish(mut self) -> Script<'t> {
        self.end_word();
        let open = self.open.last().map(|(open, line)| Unclosed {
            opener: open.opener(),
            line: *line,
        });
        let pending = self.pending.first().map(|document| Unclosed {
            opener: "<<",
            line: document.line,
        });
        let block = self.blocks.innermost().map(Block::unclosed);
        let unclosed = self.unclosed.or(open).or(pending).or(block);
        Script {
            commands: self.blocks.finished(),
            unclosed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&'static str, u32)>) {
        assert_eq!(
            read(text).unclosed.map(|found| (found.opener, found.line)),
            expected,
            "{text}"
        );
    }

    /// What `bash -n` says of them (`tests/it/validate.rs` asks it).
    #[test]
    fn what_does_not_end_is_found() {
        check("echo 'a\necho b", Some(("'", 1)));
        check("true\necho \"a", Some(("\"", 2)));
        check("echo $(date", Some(("$(", 1)));
        check("echo ${A", Some(("${", 1)));
        check("echo `date", Some(("`", 1)));
        check("(cd /", Some(("(", 1)));
        check("cat <<EOF > /a\nb\n", Some(("<<", 1)));
        check("cat <<EOF", Some(("<<", 1)));
        for whole in [
            "echo 'a\"' \"b'\" \\\" # it's",
            "cat <<EOF\nit's $(\nEOF\necho",
            "cat <<-'EOF'\n\ta\n\tEOF\n",
            "echo ${A#'}'} ${#B} $((1 << 2)) \"${C:-\"x\"}\"",
            "case $x in a) echo b;; esac",
            "echo \"$(echo \"a)\")\" `echo '\"`",
            "echo $'it\\'s'",
            "cat <<<\"a\"",
            "echo a#'b'",
            "x=$(cat <<EOF\n)\nEOF\n)",
            "echo \"it's\"",
            "(( x << 2 ))",
            "if [[ $a =~ ^(b|c) ]]; then d; fi",
            "([[ a || b ]]) && c",
        ] {
            check(whole, None);
        }
    }

    #[test]
    fn commands_and_their_joints_are_told_apart() {
        let of = |text: &'static str| -> Vec<(Vec<&str>, Option<Joint>)> {
            read(text)
                .commands
                .into_iter()
                .map(|command| (command.words, command.joint))
                .collect()
        };
        assert_eq!(
            of("a 'x;y' && b 2>&1 | c || true; d &> /e\nf &"),
            [
                (vec!["a", "'x;y'"], Some(Joint::And)),
                (vec!["b", "2>&1"], Some(Joint::Pipe)),
                (vec!["c"], Some(Joint::Or)),
                (vec!["true"], Some(Joint::End)),
                (vec!["d", "&>", "/e"], Some(Joint::End)),
                (vec!["f"], Some(Joint::Background)),
            ]
        );
        assert_eq!(
            of("a &&\n  b $(c | d)"),
            [(vec!["a"], Some(Joint::And)), (vec!["b", "$(c | d)"], None)]
        );
    }
}
