//! Where a text of objects holds secrets: values of Secrets, passwords, tokens, private keys. Lines
//! and brackets are read here, not YAML, so that it is known in a broken text too; in doubt more is
//! taken rather than less.
// Offsets come from several places here, and a panic would print what must be hidden.
#![cfg_attr(not(test), deny(clippy::string_slice))]

mod commands;
mod lines;
mod pattern;
mod programs;
mod variables;
mod words;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use windlass_source::cut::cut;

pub use commands::redacted;
pub use variables::is_secret as is_secret_variable;
pub use words::Words;

/// The text that output has in place of a secret.
pub const REDACTED: &str = "<redacted>";

/// Fields whose value is secret, whatever it is.
const SECRET: [&str; 11] = [
    "passwd",
    "password",
    "passwordHash",
    "token",
    "tlsBootstrapToken",
    "certificateKey",
    "authProvider",
    "client-key-data",
    "id-token",
    "refresh-token",
    "secretGenerator",
];
/// Fields that say where a secret is: a bare text there was meant to be the secret itself.
const REFERENCES: [&str; 4] = ["passwdFrom", "contentFrom", "secret", "bootstrapToken"];
/// What is in them beside.
const OF_REFERENCES: [&str; 13] = [
    "name",
    "namespace",
    "key",
    "optional",
    "secret",
    "configMap",
    "secretName",
    "defaultMode",
    "items",
    "path",
    "mode",
    "apiServerEndpoint",
    "caCertHashes",
];
/// Fields with commands, and with options of mounts and file systems, which look like them.
const COMMANDS: [&str; 8] = [
    "preKubeadmCommands",
    "postKubeadmCommands",
    "bootCommands",
    "bootcmd",
    "runcmd",
    "mounts",
    "extraOpts",
    "extra_opts",
];
/// Lists of objects with secrets in them: a bare text there may be one.
const LISTS: [&str; 2] = ["users", "files"];
/// Fields with contents of files, in configs, cloud-config and Ignition: which of them are secret
/// only their author knows.
const CONTENTS: [&str; 2] = ["content", "source"];
/// A field that is longer is hidden as a whole.
const MOST_SEARCHED: usize = 1 << 20;
/// What a Secret has beside its values.
const BESIDE_VALUES: [&str; 5] = ["apiVersion", "kind", "metadata", "type", "immutable"];

static KEY: LazyLock<Regex> = LazyLock::new(|| compiled(r#"((?-u:[\w.-])+)(\\?["'])?[ \t]*:"#));
/// `kind: Secret`, also with a tag, an anchor, a variable or a line end between the two, and in the
/// long form `? kind`.
static KIND: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#"(?m)(^)?["'\\{?, \t]*(?-u:\b)kind\\?["']?\s*:\s*(?:[&!][^\s]*\s+|[|>][+-]?\s+)*\\?["']?(?:\$\{(?-u:\w)+:?[=-])?Secret(?-u:\b)"#,
    )
});
/// A key or a kind that only a reader of YAML recognises: one with an escape, or a key in the long
/// form that is not a list or map.
static OBSCURE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#"(?m)^[ \t{,]*"[^"\n]*\\[xuU][^"\n]*"\s*:|(?-u:\b)kind["']?\s*:\s*"[^"\n]*\\[xuU]|^\?\s+[^\s\[{]"#,
    )
});
/// Where an operation of a JSON patch changes what a Secret holds.
static OPERATION: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r#"(?-u:\b)path\\?["']?\s*:\s*\\?["']?/(?:data|stringData)(?-u:\b)"#)
});
/// The credentials in a URL.
static URL: LazyLock<Regex> =
    LazyLock::new(|| compiled(r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]*://([^\s/?#@"'<>]+)@"#));
static PRIVATE_KEY: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"));

/// Names and their ends are ASCII: the classes of Unicode would cost more to build than most texts
/// cost to search.
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("internal error: the pattern is one of ours")
}

/// The stretches of a text that are secret, in their order; none touches another.
pub fn spans(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    documents(text).for_each(|document| document.spans(&mut found));
    found.retain(|span| !cut(text, span.clone()).trim().is_empty());
    joined(found)
}

fn documents(text: &str) -> impl Iterator<Item = Document<'_>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let is_mark = |at: usize| {
            cut(text, at + 3..)
                .chars()
                .next()
                .is_none_or(char::is_whitespace)
        };
        let mut marks = cut(text, start..)
            .match_indices("\n---")
            .map(|(at, _)| start + at + 1);
        let end = marks
            .find(|at| *at > start && is_mark(*at))
            .unwrap_or(text.len());
        let range = std::mem::replace(&mut start, end)..end;
        (!range.is_empty()).then(|| Document::new(text, range))
    })
}

/// Stretches in their order, those that overlap as one.
pub fn joined(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_unstable_by_key(|span| (span.start, span.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for span in found {
        match joined.last_mut().filter(|last| span.start < last.end) {
            Some(last) => last.end = last.end.max(span.end),
            None => joined.push(span),
        }
    }
    joined
}

/// The text with `<redacted>` in place of each secret that [`spans`] finds.
pub fn masked(text: &str) -> Cow<'_, str> {
    replaced(text, spans(text))
}

/// The text with `<redacted>` in place of these stretches.
fn replaced(text: &str, spans: Vec<Range<usize>>) -> Cow<'_, str> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        masked.push_str(cut(text, at..span.start));
        masked.push_str(REDACTED);
        at = span.end;
    }
    masked.push_str(cut(text, at..));
    Cow::Owned(masked)
}

/// The stretches that [`spans`] found in a text, all contents of files, and in fields with commands
/// what looks like a secret.
pub fn with_commands(text: &str, spans: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = spans.to_vec();
    documents(text)
        .filter(|document| !document.is_schema)
        .for_each(|document| document.commands(&mut found));
    let credentials = URL
        .captures_iter(text)
        .filter_map(|captures| captures.get(1));
    found.extend(credentials.map(|found| found.range()));
    joined(found)
}

/// The text without its secrets, contents of files, and what looks like a secret in commands.
pub fn masked_with_contents(text: &str) -> Cow<'_, str> {
    replaced(text, with_commands(text, &spans(text)))
}

/// The words of a text's secrets, the shortest included.
pub fn words(text: &str) -> Words {
    Words::new(spans(text).into_iter().map(|span| cut(text, span)), 1)
}

struct Document<'t> {
    text: &'t str,
    range: Range<usize>,
    has_secret: bool,
    is_secret: bool,
    /// Whether it holds operations of a JSON patch on what Secrets hold; a ConfigMap has such a
    /// field too.
    is_patch_of_secret: bool,
    /// A CustomResourceDefinition has fields by any name, and no values.
    is_schema: bool,
}

/// A field and where its value begins.
struct Field<'t> {
    name: &'t str,
    start: usize,
    value: usize,
}

impl<'t> Document<'t> {
    fn new(text: &'t str, range: Range<usize>) -> Self {
        let part = cut(text, range.clone());
        let mut kinds = KIND.captures_iter(part).peekable();
        let has_secret = kinds.peek().is_some();
        let is_secret = kinds.any(|found| {
            found
                .get(0)
                .is_some_and(|all| all.as_str().starts_with(['k', '"', '{']))
                && found.get(1).is_some()
        });
        let is_patch_of_secret = OPERATION.is_match(part);
        Document {
            text,
            range,
            has_secret,
            is_secret,
            is_patch_of_secret,
            is_schema: !has_secret && part.contains("\nkind: CustomResourceDefinition\n"),
        }
    }

    fn spans(&self, found: &mut Vec<Range<usize>>) {
        if self.is_schema {
            return;
        }
        let part = cut(self.text, self.range.clone());
        if OBSCURE.is_match(part) {
            // Which of it is secret only a reader of YAML could tell.
            found.push(self.trimmed(self.range.clone()));
            return;
        }
        self.variables(found);
        let mut at = self.range.start;
        let mut key = PRIVATE_KEY.find_at(cut(self.text, ..self.range.end), at);
        while let Some(field) = self.field_from(at) {
            if let Some(private) = key.filter(|private| private.start() < field.start) {
                at = self.private_key(private.start(), found);
                key = PRIVATE_KEY.find_at(cut(self.text, ..self.range.end), at);
                continue;
            }
            at = self.field(&field, found).unwrap_or(field.value);
        }
        while let Some(private) = key {
            let end = self.private_key(private.start(), found);
            key = PRIVATE_KEY.find_at(cut(self.text, ..self.range.end), end);
        }
    }

    /// Contents of files, and what looks like a secret in commands.
    fn commands(&self, found: &mut Vec<Range<usize>>) {
        let mut at = self.range.start;
        while let Some(field) = self.field_from(at) {
            at = field.value;
            if CONTENTS.contains(&field.name) {
                let value = field.value..self.value_end(&field);
                at = value.end.max(field.value);
                if is_content(&field, cut(self.text, value.clone())) {
                    push(found, self.trimmed(value));
                }
            } else if COMMANDS.contains(&field.name) {
                let value = field.value..self.value_end(&field);
                at = value.end.max(field.value);
                match value.len() > MOST_SEARCHED {
                    true => push(found, self.trimmed(value)),
                    false => {
                        let inner =
                            commands::command_spans(cut(self.text, value.clone())).into_iter();
                        found.extend(
                            inner.map(|span| value.start + span.start..value.start + span.end),
                        );
                    }
                }
            }
        }
    }

    /// The lines of a private key, up to those that mark its end.
    fn private_key(&self, start: usize, found: &mut Vec<Range<usize>>) -> usize {
        let rest = cut(self.text, start..self.range.end);
        let end = rest
            .find("-----END")
            .map_or(self.range.end, |end| start + end);
        push(found, start..end);
        end
    }

    fn field_from(&self, at: usize) -> Option<Field<'t>> {
        let part = cut(self.text, ..self.range.end);
        let mut from = at;
        loop {
            let key = KEY.captures_at(part, from)?;
            let (all, name) = (key.get(0)?, key.get(1)?);
            let begins = cut(part, ..name.start())
                .chars()
                .next_back()
                .is_none_or(|c| c.is_whitespace() || "{[,\"'\\(".contains(c));
            let ends = cut(part, all.end()..)
                .chars()
                .next()
                .is_none_or(|c| c.is_whitespace())
                || key.get(2).is_some();
            if begins && ends {
                return Some(Field {
                    name: name.as_str(),
                    start: name.start(),
                    value: all.end(),
                });
            }
            from = all.end();
        }
    }

    /// Takes what is secret of a field's value; gives where to go on, if that is behind the value.
    fn field(&self, field: &Field<'t>, found: &mut Vec<Range<usize>>) -> Option<usize> {
        let end = || self.value_end(field);
        let is_data = self.has_secret && matches!(field.name, "data" | "stringData");
        if is_data
            || (self.is_secret
                && self.column(field.start) == 0
                && !BESIDE_VALUES.contains(&field.name))
        {
            let end = end();
            self.values(field, end, found);
            return Some(end);
        }
        let is_operation = field.name == "value" && self.is_patch_of_secret;
        if is_operation || SECRET.contains(&field.name) || variables::is_secret_key(field.name) {
            let end = end();
            push(found, self.trimmed(field.value..end));
            return Some(end);
        }
        if LISTS.contains(&field.name) && self.is_scalar(field) {
            let end = end();
            push(found, self.trimmed(field.value..end));
            return Some(end);
        }
        let takes: fn(&str) -> bool = match field.name {
            "exec" => |name| name == "value",
            name if REFERENCES.contains(&name) => |name| !OF_REFERENCES.contains(&name),
            _ => return None,
        };
        let end = end();
        if !self.is_mapping(field, end) {
            push(found, self.trimmed(field.value..end));
            return Some(end);
        }
        let inner = Document {
            range: field.value..end,
            text: self.text,
            has_secret: false,
            is_secret: false,
            is_patch_of_secret: false,
            is_schema: false,
        };
        let mut at = field.value;
        while let Some(field) = inner.field_from(at) {
            at = field.value;
            if takes(field.name)
                || (REFERENCES.contains(&field.name) && !inner.is_mapping(&field, inner.range.end))
            {
                at = inner.value_end(&field);
                push(found, self.trimmed(field.value..at));
            }
        }
        Some(end)
    }

    /// Whether the value is a text on the line of its field.
    fn is_scalar(&self, field: &Field<'t>) -> bool {
        let value = cut(self.text, field.value..self.range.end).trim_start_matches([' ', '\t']);
        !value.is_empty() && !value.starts_with(['{', '[', '\n', '\r', '#', '&', '*', '!', '$'])
    }

    fn is_mapping(&self, field: &Field<'t>, end: usize) -> bool {
        cut(self.text, field.value..end)
            .trim_start_matches([' ', '\t'])
            .starts_with(['{', '\n', '\r', '#'])
    }

    /// The values of a Secret: the names of its keys stay where they stand on lines of their own.
    fn values(&self, field: &Field<'t>, end: usize, found: &mut Vec<Range<usize>>) {
        let value = self.trimmed(field.value..end);
        let is_block = cut(self.text, field.value..value.start).contains('\n');
        let own = self.column(value.start);
        let mut at = value.start;
        while at < value.end {
            let line_end = cut(self.text, at..value.end)
                .find('\n')
                .map_or(value.end, |end| at + end + 1);
            let key = KEY.find_at(cut(self.text, ..line_end), at).filter(|key| {
                is_block
                    && self.column(key.start()) == own
                    && cut(self.text, at..key.start())
                        .trim_start_matches(['"', '\'', ' '])
                        .is_empty()
            });
            let secret = key.map_or(at, |key| key.end())..line_end;
            if !cut(self.text, secret.clone()).trim().is_empty() {
                push(found, self.trimmed(secret));
            }
            at = line_end;
        }
    }

    fn value_end(&self, field: &Field<'t>) -> usize {
        let in_flow = cut(self.text, ..field.start)
            .trim_end_matches(['"', '\'', '\\'])
            .trim_end_matches([' ', '\t'])
            .ends_with(['{', ',']);
        // A tag and an anchor stand before the value.
        let mut rest = cut(self.text, field.value..self.range.end).trim_start_matches([' ', '\t']);
        while rest.starts_with(['&', '!']) {
            rest = rest
                .trim_start_matches(|c: char| !c.is_whitespace())
                .trim_start_matches([' ', '\t']);
        }
        let start = self.range.end - rest.len();
        let first = rest.chars().next();
        let closed = match first {
            Some('{' | '[') => Some(brackets(rest)),
            Some(quote @ ('"' | '\'')) => Some(quoted(rest, quote)),
            _ => None,
        };
        match closed {
            Some(None) => self.range.end,
            Some(Some(end)) if in_flow => cut(self.text, start + end..self.range.end)
                .find([',', '}', ']', '\n'])
                .map_or(self.range.end, |more| start + end + more),
            Some(Some(end)) => self.block_end(field, start + end),
            None if in_flow => rest
                .find([',', '}', ']'])
                .map_or(self.range.end, |end| start + end),
            None => self.block_end(field, start),
        }
    }

    /// The end of the line at `from`, and of the lines below it that are deeper than the field, or
    /// items of it.
    fn block_end(&self, field: &Field<'t>, from: usize) -> usize {
        let column = self.column(field.start);
        let line_end = |at: usize| {
            cut(self.text, at..self.range.end)
                .find('\n')
                .map_or(self.range.end, |end| at + end + 1)
        };
        let mut end = line_end(from);
        let mut next = end;
        while next < self.range.end {
            let after = line_end(next);
            let line = cut(self.text, next..after);
            let depth = line.len() - line.trim_start().len();
            let is_item = depth == column && cut(line, depth..).starts_with("- ");
            let is_comment = cut(line, depth..).starts_with('#');
            if !line.trim().is_empty() && !is_comment {
                if depth <= column && !is_item {
                    break;
                }
                end = after;
            }
            next = self.quote_end(next, after).map_or(after, line_end);
            end = end.max(if next > after { next } else { end });
        }
        end
    }

    /// Where a quoted text ends that begins in a line and does not end there: what it has at the
    /// margin ends no block.
    fn quote_end(&self, line: usize, after: usize) -> Option<usize> {
        let written = cut(self.text, line..after);
        let item = written.trim_start().trim_start_matches("- ");
        let value = KEY
            .find(item)
            .map_or(item, |key| cut(item, key.end()..))
            .trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let start = line + (written.len() - value.len());
        let end = quoted(cut(self.text, start..self.range.end), quote)
            .map_or(self.range.end, |end| start + end);
        (end > after).then_some(end)
    }

    /// Bytes before a place in its line; a quote before it does not count.
    /// In a line that is longer than indentations are, any large number does.
    fn column(&self, at: usize) -> usize {
        const DEEPEST: usize = 4096;
        let before = &self.text.as_bytes()[at.saturating_sub(DEEPEST)..at];
        let line = before
            .rsplit(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        line.len() - usize::from(line.ends_with(b"\"") || line.ends_with(b"'"))
    }

    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let part = cut(self.text, range.clone());
        let start = range.start + part.len() - part.trim_start().len();
        start..(start + part.trim().len())
    }
}

/// Whether a value is the content of a file. A variable of a template shows nothing of it, and of
/// Ignition's sources only those hold a content that are data themselves.
fn is_content(field: &Field<'_>, value: &str) -> bool {
    let bare = value.trim().trim_matches(['"', '\'']);
    let is_variable = bare.starts_with("${") && bare.find('}') == Some(bare.len() - 1);
    !is_variable && (field.name != "source" || bare.starts_with("data:"))
}

fn push(found: &mut Vec<Range<usize>>, span: Range<usize>) {
    if !span.is_empty() {
        found.push(span);
    }
}

/// Just behind the bracket that closes the first one.
fn brackets(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(c) = cut(text, at..).chars().next() {
        at += match c {
            // A quote opens a text only where one can begin.
            '"' | '\'' if cut(text, ..at).trim_end().ends_with(['{', '[', ',', ':']) => {
                quoted(cut(text, at..), c)?
            }
            _ => c.len_utf8(),
        };
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Just behind the quote that closes a quoted text.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
