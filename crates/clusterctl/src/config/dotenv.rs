//! `NAME=value` lines as viper's reader for `.env` files takes them: a port of gotenv v1.6.0, since
//! no crate agrees with it on quotes, comments and what `$NAME` stands for.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::setting::Setting;
use windlass_objects::secrets::REDACTED;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("internal error: the patterns of this file are valid")
}

static LINE: LazyLock<Regex> = LazyLock::new(|| {
    let blank = r"[\t\n\x0c\r ]";
    let value = r#"'(?:[^'])*'|'(?:'|[^'])*'|"(?:"|[^"])*"|[^#\n]+"#;
    pattern(&format!(
        r"\A{blank}*(?:export{blank}+)?([0-9A-Za-z_.]+)(?:{blank}*={blank}*|:{blank}+?)({value})?{blank}*(?:{blank}*#.*)?\z"
    ))
});
static ESCAPE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\\([^$])"));
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\\)?\$\{?([A-Z0-9_]*)\}?"));

/// # Errors
/// In the words of the reference.
pub(super) fn parse(
    text: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Setting, String> {
    let text = text
        .strip_prefix('\u{feff}')
        .unwrap_or(text)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let mut lines = text.lines();
    let mut entries = BTreeMap::new();
    while let Some(first) = lines.next() {
        let first = first.trim();
        if first.is_empty() || first.starts_with('#') {
            continue;
        }
        let mut line = first.to_owned();
        if let Some(quote) = open_quote(first) {
            let closes = |next: &str| {
                next.rfind(quote)
                    .is_some_and(|at| at == 0 || !next[..at].ends_with('\\'))
            };
            loop {
                let next = lines.next().ok_or("missing quotes")?;
                line.push('\n');
                line.push_str(next);
                if closes(next) {
                    break;
                }
            }
        }
        entry(&line, &mut entries, environment)?;
    }
    Ok(entries
        .into_iter()
        .map(|(key, value)| (key, Setting::Text(value)))
        .collect())
}

/// A rejection without the value in the line that it quotes; `None` when it quotes none. What has no
/// name before it may be a part of a value.
pub(super) fn masked(message: &str) -> Option<String> {
    let (line, fault) = message.strip_prefix("line `")?.rsplit_once("` ")?;
    let name = line.find(['=', ':']).map_or("", |at| &line[..=at]);
    Some(format!("line `{name}{REDACTED}` {fault}"))
}

/// The quote in which the value begins, when the line does not end it.
fn open_quote(line: &str) -> Option<char> {
    let at = line
        .find('=')
        .or_else(|| line.find(':'))
        .filter(|at| *at > 0)?;
    let value = line[at + 1..].trim();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let last = value[1..].trim().rfind(quote);
    // The reference looks one byte before the quote that it found.
    let is_closed = last.is_some_and(|last| value.as_bytes()[last] != b'\\');
    (!is_closed).then_some(quote)
}

fn entry(
    line: &str,
    entries: &mut BTreeMap<String, String>,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<(), String> {
    let Some(found) = LINE.captures(line) else {
        let name = line
            .trim()
            .split_once(' ')
            .filter(|(export, _)| export.starts_with("export"));
        return Err(match name {
            Some((_, name)) if !entries.contains_key(name) => {
                format!("line `{}` has an unset variable", line.trim())
            }
            _ => format!("line `{line}` doesn't match format"),
        });
    };
    let value = found.get(2).map_or("", |value| value.as_str().trim());
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let value = match (inner('"'), inner('\'')) {
        (None, Some(literal)) => literal.to_owned(),
        (Some(quoted), _) => {
            let text = quoted.replace("\\n", "\n").replace("\\r", "\r");
            expanded(&ESCAPE.replace_all(&text, "$1"), entries, environment)
        }
        (None, None) => expanded(value, entries, environment),
    };
    entries.insert(found[1].to_owned(), value);
    Ok(())
}

/// Variables are those of the environment, then those of the lines before.
fn expanded(
    text: &str,
    entries: &BTreeMap<String, String>,
    environment: &dyn Fn(&str) -> Option<String>,
) -> String {
    let value = |found: &Captures<'_>| match (found.get(1), &found[2]) {
        (Some(_), _) => found[0][1..].to_owned(),
        (None, "") => found[0].to_owned(),
        (None, name) => environment(name)
            .or_else(|| entries.get(name).cloned())
            .unwrap_or_default(),
    };
    VARIABLE.replace_all(text, value).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let entries = parse(text, &|name| (name == "HOME").then(|| "/h".to_owned()));
        let expected = expected
            .iter()
            .map(|(key, value)| ((*key).to_owned(), Setting::Text((*value).to_owned())))
            .collect();
        assert_eq!(entries, Ok(expected), "{text}");
    }

    /// Observed of viper 1.21.
    #[test]
    fn lines_are_read_as_viper_reads_them() {
        check(
            "A=b\nexport B = \"a b\" # c\nC='x y'\nD: z\n",
            &[("a", "b"), ("b", "a b"), ("c", "x y"), ("d", "z")],
        );
        check(
            "E=a#b\nF=a #b\n# note\n\nG=\nA=x=y\n",
            &[("e", "a"), ("f", "a"), ("g", ""), ("a", "x=y")],
        );
        check(
            "A=$B\nB=x\nC=${A}y\nD='$A'\nE=\"$B\\n$Z\"\n",
            &[("a", ""), ("b", "x"), ("c", "y"), ("d", "$A"), ("e", "x\n")],
        );
        check("A=\"x\ny\"\nB=1", &[("a", "x\ny"), ("b", "1")]);
        check(
            "A=\"a\\\"b\" \nC=a\\ b\nD=\"\\$A\"\nH=$HOME/x$",
            &[("a", "a\"b"), ("c", "a\\ b"), ("d", "$A"), ("h", "/h/x$")],
        );
        check("B='a\\'b'\nA.b=1\r\n", &[("b", "a\\'b"), ("a.b", "1")]);
    }

    #[test]
    fn other_lines_are_rejected_in_its_words() {
        for (text, message) in [
            ("A", "line `A` doesn't match format"),
            ("a-b=2", "line `a-b=2` doesn't match format"),
            ("B:c", "line `B:c` doesn't match format"),
            ("export A", "line `export A` has an unset variable"),
            ("A=\"x\n", "missing quotes"),
        ] {
            assert_eq!(parse(text, &|_| None), Err(message.to_owned()));
        }
        for (message, expected) in [
            (
                "line `a-b=hunter2 `\n=` doesn't match format",
                Some("line `a-b=<redacted>` doesn't match format"),
            ),
            (
                "line `hunter2` doesn't match format",
                Some("line `<redacted>` doesn't match format"),
            ),
            ("missing quotes", None),
        ] {
            assert_eq!(masked(message).as_deref(), expected);
        }
    }
}
