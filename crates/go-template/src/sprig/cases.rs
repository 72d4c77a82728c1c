//! Upper and lower case, and words: Go's `strings`, `goutils` and `xstrings`.

use super::strings::is_space;
use windlass_go_text::rune::{is_name, to_lower, to_upper};

pub(super) fn upper(text: &str) -> String {
    text.chars().map(to_upper).collect()
}

pub(super) fn lower(text: &str) -> String {
    text.chars().map(to_lower).collect()
}

/// `strings.Title`: a word goes on behind letters, digits and `_`, and in ASCII behind nothing
/// else.
pub(super) fn title(text: &str) -> String {
    let mut before = ' ';
    let mut one = |c: char| {
        let is_separator = if before.is_ascii() {
            !before.is_ascii_alphanumeric() && before != '_'
        } else {
            !is_name(before) && is_space(before)
        };
        before = c;
        if is_separator { to_upper(c) } else { c }
    };
    text.chars().map(&mut one).collect()
}

/// `goutils.Uncapitalize`
pub(super) fn untitle(text: &str) -> String {
    let mut is_first = true;
    let mut one = |c: char| match is_space(c) {
        true => {
            is_first = true;
            c
        }
        false if std::mem::take(&mut is_first) => to_lower(c),
        false => c,
    };
    text.chars().map(&mut one).collect()
}

/// `goutils.SwapCase`
pub(super) fn swap(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_uppercase() {
                to_lower(c)
            } else {
                to_upper(c)
            }
        })
        .collect()
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || is_space(c)
}

/// `xstrings.ToPascalCase`: connectors at the beginning and doubled ones stay.
pub(super) fn pascal(text: &str) -> String {
    let leading = text.chars().take_while(|c| is_connector(*c)).count();
    let mut out: String = text.chars().take(leading).collect();
    let mut rest = text.chars().skip(leading);
    let Some(first) = rest.next() else { return out };
    let mut word_is_upper = first.is_uppercase();
    let mut last = to_upper(first);
    for c in rest {
        let mut next = c;
        if is_connector(c) && is_connector(last) {
            out.push(last);
            last = c;
            continue;
        }
        if is_connector(last) {
            word_is_upper = c.is_uppercase();
            next = to_upper(c);
        } else {
            if word_is_upper && c.is_uppercase() {
                next = to_lower(c);
            } else {
                word_is_upper = false;
            }
            out.push(last);
        }
        last = next;
    }
    out.push(last);
    out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Number,
    Upper,
    Letters,
    Connector,
    Punctuation,
    Other,
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c)
}

/// The next word, and what follows it.
fn next_word(text: &str) -> Option<(Word, &str, &str)> {
    let first = text.chars().next()?;
    let run = |keep: &dyn Fn(char) -> bool| text.find(|c| !keep(c)).unwrap_or(text.len());
    let small = |from: usize| {
        from + text[from..]
            .find(|c: char| !c.is_alphabetic() || c.is_uppercase())
            .unwrap_or(text.len() - from)
    };
    let (word, end) = match first {
        c if is_connector(c) => (Word::Connector, run(&is_connector)),
        c if is_punctuation(c) => (Word::Punctuation, run(&is_punctuation)),
        c if c.is_uppercase() => {
            let uppers = run(&char::is_uppercase);
            let last = text[..uppers].chars().next_back().map_or(0, char::len_utf8);
            let letter_follows = text[uppers..].starts_with(char::is_alphabetic);
            (
                Word::Upper,
                match uppers > first.len_utf8() {
                    true if letter_follows => uppers - last,
                    true => uppers,
                    false => small(first.len_utf8()),
                },
            )
        }
        c if c.is_alphabetic() => (Word::Letters, small(0)),
        c if c.is_numeric() => (Word::Number, run(&char::is_numeric)),
        _ => (
            Word::Other,
            run(&|c| {
                !is_connector(c) && !c.is_alphabetic() && !c.is_numeric() && !is_punctuation(c)
            }),
        ),
    };
    Some((word, &text[..end], &text[end..]))
}

/// Whether a word goes on behind a number.
fn goes_on(word: Option<(Word, &str, &str)>) -> bool {
    matches!(word, Some((Word::Letters | Word::Number, ..)))
}

/// Whether a connector is written before it.
fn is_apart(word: Option<(Word, &str, &str)>) -> bool {
    word.is_some_and(|(kind, ..)| kind != Word::Connector && kind != Word::Punctuation)
}

/// `xstrings.ToSnakeCase` and `ToKebabCase`: words in lower case with a connector between them.
pub(super) fn joined(text: &str, connector: char) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let push = |out: &mut String, word: Word, text: &str| match word {
        Word::Connector => out.extend(text.chars().map(|_| connector)),
        _ => out.push_str(&lower(text)),
    };
    let mut next = next_word(text);
    while let Some((word, part, rest)) = next {
        if rest.is_empty() {
            push(&mut out, word, part);
            break;
        }
        push(&mut out, word, part);
        next = next_word(rest);
        match (word, next) {
            (Word::Connector | Word::Punctuation, _) => {}
            (Word::Number, _) => {
                while let Some((kind, part, rest)) = next.filter(|_| goes_on(next)) {
                    push(&mut out, kind, part);
                    next = next_word(rest);
                }
                out.extend(is_apart(next).then_some(connector));
            }
            (_, Some((Word::Number, digits, rest))) if !rest.is_empty() => {
                let behind = next_word(rest);
                if matches!(behind, Some((Word::Letters, ..))) {
                    out.push(connector);
                    push(&mut out, Word::Number, digits);
                    next = behind;
                    while let Some((kind, part, rest)) = next.filter(|_| goes_on(next)) {
                        push(&mut out, kind, part);
                        next = next_word(rest);
                    }
                } else {
                    push(&mut out, Word::Number, digits);
                    next = behind;
                }
                out.extend(is_apart(next).then_some(connector));
            }
            (_, Some((Word::Number, ..))) => {}
            _ => out.extend(is_apart(next).then_some(connector)),
        }
    }
    out
}
