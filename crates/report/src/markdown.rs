//! A comment on GitHub, in Markdown: its bounds, and foreign text in it.

use super::text::{plural, visible};

/// GitHub rejects comments above 65,536 characters. Some are left for what people put around it.
pub const MOST_CHARACTERS: usize = 60_000;
/// What is kept for the last line.
const LAST_LINE: usize = 200;

/// The parts of a comment as far as they fit.
#[derive(Default)]
pub struct Comment {
    text: String,
    characters: usize,
    left_out: usize,
}

impl Comment {
    /// Adds a part, if it fits.
    pub fn push(&mut self, part: &str) {
        let characters = part.chars().count();
        if self.left_out > 0 || self.characters + characters > MOST_CHARACTERS - LAST_LINE {
            self.left_out += 1;
            return;
        }
        self.characters += characters;
        self.text.push_str(part);
    }

    /// The comment; its last line says what was left out.
    pub fn finish(mut self) -> String {
        if self.left_out > 0 {
            let parts = plural(self.left_out, "part");
            self.text.push_str(&format!(
                "\n{parts} left out, because GitHub takes comments up to 65536 characters.\n"
            ));
        }
        self.text
    }
}

/// A folded part: lines as `diff` writes them, under the name of something.
pub fn folded_diff(name: &str, body: &str) -> String {
    // A fence that is longer than any run of backticks inside.
    let runs = body
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat((runs + 1).max(3));
    format!(
        "\n<details><summary>{}</summary>\n\n{fence}diff\n{body}{fence}\n\n</details>\n",
        code(name)
    )
}

/// Foreign text as code, of which Markdown and HTML read nothing.
pub fn code(text: &str) -> String {
    format!("<code>{}</code>", entities(text, "-./: "))
}

/// A sentence: what is in backquotes as code, of the rest Markdown and HTML read nothing.
pub fn escaped(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let is_paired = parts.len() % 2 == 1;
    let part = |(at, part): (usize, &&str)| match is_paired && at % 2 == 1 {
        true => code(part),
        false => entities(part, "-./: ,;()'\"=$%?"),
    };
    let escaped: Vec<String> = parts.iter().enumerate().map(part).collect();
    escaped.join(if is_paired { "" } else { "&#96;" })
}

/// A text with entities for all signs but some.
fn entities(text: &str, kept: &str) -> String {
    let mut escaped = String::new();
    for c in visible(text).chars() {
        match c {
            c if c.is_ascii_punctuation() && !kept.contains(c) => {
                escaped.push_str(&format!("&#{};", u32::from(c)));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_code_and_nothing_else() {
        assert_eq!(code("a-b.c/d:e f"), "<code>a-b.c/d:e f</code>");
        assert_eq!(
            code("<b>`x`_*é"),
            "<code>&#60;b&#62;&#96;x&#96;&#95;&#42;é</code>"
        );
    }

    #[test]
    fn text_in_backquotes_is_code() {
        assert_eq!(
            escaped("write `a: b`, not *c*"),
            "write <code>a: b</code>, not &#42;c&#42;"
        );
        assert_eq!(escaped("a ` b"), "a &#96; b");
    }

    /// A fence is longer than what could end it.
    #[test]
    fn a_fence_is_longer_than_those_inside() {
        let folded = |body: &str| folded_diff("n", body);
        let expected = |fence: &str, body: &str| {
            format!(
                "\n<details><summary><code>n</code></summary>\n\n{fence}diff\n{body}{fence}\n\n</details>\n"
            )
        };
        for (body, fence) in [
            ("+ a\n", "```"),
            ("+ ``\n", "```"),
            ("+ ```\n", "````"),
            ("+ ` ````` ``\n", "``````"),
        ] {
            assert_eq!(folded(body), expected(fence, body));
        }
    }

    /// What does not fit is left out with all that follows, and counted; characters count, and not
    /// bytes.
    #[test]
    fn a_comment_has_what_fits_of_its_parts() {
        let of = |parts: &[String]| {
            let mut comment = Comment::default();
            parts.iter().for_each(|part| comment.push(part));
            comment.finish()
        };
        let most = MOST_CHARACTERS - LAST_LINE;
        let full = "é".repeat(most - 1);
        let left_out = |what: &str| {
            format!("\n{what} left out, because GitHub takes comments up to 65536 characters.\n")
        };
        assert_eq!(of(&[full.clone(), "x".to_owned()]), format!("{full}x"));
        assert_eq!(
            of(&[full.clone(), "xy".to_owned()]),
            format!("{full}{}", left_out("1 part"))
        );
        assert_eq!(
            of(&[full.clone(), "xy".to_owned(), "z".to_owned()]),
            format!("{full}{}", left_out("2 parts"))
        );
        assert_eq!(of(&[]), "");
    }
}
