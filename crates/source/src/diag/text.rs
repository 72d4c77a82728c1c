//! The texts of findings: our own words, and in them values of the user's documents.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};

/// The signs around a value while a text is formatted: noncharacters, which Unicode reserves for
/// such use inside of a program.
const OPENS: char = '\u{fdd0}';
const CLOSES: char = '\u{fdd1}';

/// A value of the user's document in a text: `format!("`{}` is not a port", Quoted(port))`. It may
/// be secret, so that [`Text`] remembers where it stands, and reports hide it. Names, keys and
/// paths that the program chooses are not values: they are always shown.
#[derive(Debug, Clone, Copy)]
pub struct Quoted<T>(pub T);

impl<T: fmt::Display> fmt::Display for Quoted<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0.to_string().replace([OPENS, CLOSES], "");
        write!(formatter, "{OPENS}{value}{CLOSES}")
    }
}

/// A text of a finding, which knows which parts of it are values of the user's documents.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text {
    words: String,
    /// Where each value starts and ends, in bytes of the text; in their order, none touches another.
    values: Vec<(u32, u32)>,
}

impl Text {
    /// A text that is one value of the user's document.
    pub fn of_value(text: impl fmt::Display) -> Self {
        Quoted(text).to_string().into()
    }

    /// The text with all its values.
    pub fn as_str(&self) -> &str {
        &self.words
    }

    /// Whether the text contains values of the user's documents, which may be secret.
    pub fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// The text with something else in place of the values for which `instead` gives it.
    pub fn replaced(&self, instead: impl Fn(&str) -> Option<String>) -> Text {
        let mut text = Text::default();
        let mut at = 0;
        for &(start, end) in &self.values {
            let range: Range<usize> = start as usize..end as usize;
            let value = self.words.get(range.clone()).unwrap_or_default();
            text.words
                .push_str(self.words.get(at..range.start).unwrap_or_default());
            text.push_value(&instead(value).unwrap_or_else(|| value.to_owned()));
            at = range.end;
        }
        text.words
            .push_str(self.words.get(at..).unwrap_or_default());
        text
    }

    /// The text with each of its parts changed, our words and the values.
    pub fn mapped(&self, change: impl Fn(&str) -> String) -> Text {
        let mut formatted = String::new();
        for (at, part) in self.marked().split([OPENS, CLOSES]).enumerate() {
            match at % 2 {
                0 => formatted.push_str(&change(part)),
                _ => formatted.push_str(&Quoted(change(part)).to_string()),
            }
        }
        formatted.into()
    }

    /// As another text takes it in, whose values are then those of this one too.
    pub fn marked(&self) -> String {
        let mut marked = String::new();
        let mut at = 0;
        for &(start, end) in &self.values {
            let (start, end) = (start as usize, end as usize);
            marked.push_str(self.words.get(at..start).unwrap_or_default());
            marked.push_str(&Quoted(self.words.get(start..end).unwrap_or_default()).to_string());
            at = end;
        }
        marked.push_str(self.words.get(at..).unwrap_or_default());
        marked
    }

    fn push_value(&mut self, value: &str) {
        let start = self.words.len();
        self.words.push_str(value);
        // Beyond 4 GiB nothing is shown anyway.
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(self.words.len())) {
            self.values.push((start, end));
        }
    }
}

/// Reads the signs that [`Quoted`] writes. A value without an end goes to the end of the text, so
/// that nothing of it can be taken for our words.
impl From<&str> for Text {
    fn from(formatted: &str) -> Self {
        let mut text = Text::default();
        let mut rest = formatted;
        while let Some((words, after)) = rest.split_once(OPENS) {
            let (value, after) = after.split_once(CLOSES).unwrap_or((after, ""));
            text.words.push_str(words);
            text.push_value(value);
            rest = after;
        }
        text.words.push_str(rest);
        text
    }
}

impl From<String> for Text {
    fn from(formatted: String) -> Self {
        if formatted.contains(OPENS) {
            return formatted.as_str().into();
        }
        Text {
            words: formatted,
            values: Vec::new(),
        }
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(formatted: Cow<'_, str>) -> Self {
        formatted.into_owned().into()
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.words
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.words)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.replaced(|_| Some("…".to_owned())).words, formatter)
    }
}

/// A text in another text keeps its values.
impl From<&Text> for Text {
    fn from(text: &Text) -> Self {
        text.clone()
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.words
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.words == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.words == *other
    }
}

impl PartialEq<String> for Text {
    fn eq(&self, other: &String) -> bool {
        self.words == *other
    }
}

impl PartialEq<Text> for str {
    fn eq(&self, other: &Text) -> bool {
        other == self
    }
}

impl PartialEq<Text> for &str {
    fn eq(&self, other: &Text) -> bool {
        other == self
    }
}

impl PartialEq<Text> for String {
    fn eq(&self, other: &Text) -> bool {
        other == self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_replaced_and_our_words_are_not() {
        let text: Text = format!("`{}` of default is `{}`", Quoted("default"), Quoted(5)).into();
        assert_eq!(text, "`default` of default is `5`");
        let hide = |value: &str| (value == "default").then(|| "<redacted>".to_owned());
        let hidden = text.replaced(hide);
        assert_eq!(hidden, "`<redacted>` of default is `5`");
        assert_eq!(
            hidden.replaced(|_| Some("x".to_owned())),
            "`x` of default is `x`"
        );
    }

    #[test]
    fn a_value_cannot_end_itself() {
        let text: Text = format!("a {} b", Quoted("x\u{fdd1}y\u{fdd0}")).into();
        assert_eq!(text.replaced(|_| Some(String::new())), "a  b");
        let cut: Text = "a \u{fdd0}b".into();
        assert_eq!(cut.replaced(|_| Some(String::new())), "a ");
    }

    #[test]
    fn values_do_not_reach_a_debugger() {
        let text: Text = format!("it is {}", Quoted("hunter2")).into();
        assert_eq!(format!("{text:?}"), "\"it is …\"");
    }
}
