//! A comment on GitHub, in Markdown: its bounds, and foreign text in it.

use super::text::{plural, visible};

/// GitHub refuses comments above 65,536 characters. Some are left for what people put around it.
pub(crate) const MOST_CHARACTERS: usize = 60_000;
/// What is kept for the last line.
const LAST_LINE: usize = 200;

/// The parts of a comment as far as they fit.
#[derive(Default)]
pub(crate) struct Comment {
    text: String,
    characters: usize,
    left_out: usize,
}

impl Comment {
    /// Adds a part, if it fits.
    pub(crate) fn push(&mut self, part: &str) {
        let characters = part.chars().count();
        if self.left_out > 0 || self.characters + characters > MOST_CHARACTERS - LAST_LINE {
            self.left_out += 1;
            return;
        }
        self.characters += characters;
        self.text.push_str(part);
    }

    /// The comment; its last line says what was left out.
    pub(crate) fn finish(mut self) -> String {
        if self.left_out > 0 {
            let parts = plural(self.left_out, "part");
            self.text.push_str(&format!("\n{parts} left out, because GitHub takes comments up to 65536 characters.\n"));
        }
        self.text
    }
}

/// A folded part: lines as `diff` writes them, under the name of something.
pub(crate) fn folded_diff(name: &str, body: &str) -> String {
    // A fence that is longer than any run of backticks inside.
    let runs = body.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((runs + 1).max(3));
    format!("\n<details><summary>{}</summary>\n\n{fence}diff\n{body}{fence}\n\n</details>\n", code(name))
}

/// Foreign text as code, of which Markdown and HTML read nothing.
pub(crate) fn code(text: &str) -> String {
    let mut escaped = String::from("<code>");
    for c in visible(text).chars() {
        match c {
            '-' | '.' | '/' | ':' | ' ' => escaped.push(c),
            c if c.is_ascii_punctuation() => escaped.push_str(&format!("&#{};", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped + "</code>"
}
