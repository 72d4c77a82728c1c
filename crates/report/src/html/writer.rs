//! Markup under construction. Names of elements and attributes are ours; every text and every value
//! of an attribute goes through [`escape`], and what would reorder a line or is no sign at all
//! through the way that the terminal has ([`visible`]).

use std::borrow::Cow;

use crate::text::{visible, visible_lines};
use windlass_source::cut::cut;

/// The maximum number of bytes of a page: what browsers of phones show without trouble.
const LARGEST: usize = 4 << 20;

/// The rank of a heading below those of sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// `h3`
    Three,
    /// `h4`
    Four,
}

impl Level {
    fn tag(self) -> &'static str {
        match self {
            Level::Three => "h3",
            Level::Four => "h4",
        }
    }
}

/// How something weighs, which decides its colour. The words say it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It breaks something.
    Bad,
    /// It may.
    Doubtful,
    /// It is as it should be.
    Good,
    /// It is worth a word.
    Plain,
}

impl Tone {
    /// The CSS class of the tone in the style sheet of the page.
    pub fn class(self) -> &'static str {
        match self {
            Tone::Bad => "bad",
            Tone::Doubtful => "doubtful",
            Tone::Good => "good",
            Tone::Plain => "plain",
        }
    }
}

/// A writer of HTML markup that escapes every text and every attribute value.
#[derive(Debug, Default)]
pub struct Html {
    text: String,
    untold: usize,
}

impl Html {
    pub(super) fn markup(&self) -> &str {
        &self.text
    }

    pub(super) fn has_room(&self) -> bool {
        self.text.len() < LARGEST
    }

    /// How many entries were left out because the page is full.
    pub(super) fn untold(&self) -> usize {
        self.untold
    }

    pub(super) fn append(&mut self, other: &Html) {
        self.text.push_str(&other.text);
    }

    /// Writes an element with its attributes; `inside` writes the content between the two tags.
    pub fn element(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &str)],
        inside: impl FnOnce(&mut Html),
    ) {
        self.open(tag, attributes);
        self.text.push('>');
        inside(self);
        self.text.extend(["</", tag, ">"]);
    }

    /// An element that never has anything in it.
    pub(super) fn void(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) {
        self.open(tag, attributes);
        self.text.push_str("/>");
    }

    fn open(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) {
        self.text.extend(["<", tag]);
        for (name, value) in attributes {
            self.text.extend([" ", name, "=\""]);
            escape(&visible(value), &mut self.text);
            self.text.push('"');
        }
    }

    /// A text of one line.
    pub fn text(&mut self, text: &str) {
        escape(&visible(text), &mut self.text);
    }

    /// A text whose lines stay.
    pub(crate) fn lines(&mut self, text: &str) {
        escape(&visible_lines(text), &mut self.text);
    }

    /// A style sheet of ours, as it is.
    pub(super) fn style(&mut self, sheet: &'static str) {
        self.text.extend(["<style>", sheet, "</style>"]);
    }

    /// An element of a class with a text.
    pub fn leaf(&mut self, tag: &'static str, class: &'static str, text: &str) {
        let class = [("class", class)];
        let attributes = if class[0].1.is_empty() {
            &class[..0]
        } else {
            &class[..]
        };
        self.element(tag, attributes, |html| html.text(text));
    }

    /// Writes a heading, of a rank below the headings of sections.
    pub fn heading(&mut self, level: Level, text: &str) {
        self.leaf(level.tag(), "", text);
    }

    /// Words in which what stands between backticks is code; their lines stay.
    pub(crate) fn sentence(&mut self, text: &str) {
        for (at, part) in text.split('`').enumerate() {
            if at % 2 == 1 {
                self.element("code", &[], |html| html.lines(part))
            } else {
                self.lines(part)
            }
        }
    }

    /// A sentence whose addresses are links.
    pub(super) fn linked(&mut self, text: &str) {
        let mut left = text;
        while let Some(at) = left.find("https://") {
            let (before, rest) = left.split_at(at);
            let end = rest
                .find(|c: char| c.is_whitespace() || "`'\"<>()".contains(c))
                .unwrap_or(rest.len());
            let url = cut(rest, ..end).trim_end_matches(['.', ',', ';', ':']);
            // Within backticks an address is code.
            if before.matches('`').count() % 2 == 1 || url == "https://" {
                break;
            }
            self.sentence(before);
            self.element("a", &[("href", url), ("rel", "noreferrer")], |html| {
                html.text(url)
            });
            left = cut(rest, url.len()..);
        }
        self.sentence(left);
    }

    /// Writes short text on the colour of a tone; backticks enclose code.
    pub fn badge(&mut self, tone: Tone, text: &str) {
        self.element(
            "span",
            &[("class", &format!("badge {}", tone.class()))],
            |html| html.sentence(text),
        );
    }

    /// Lines of code, which scroll by themselves where they are too long, with a name for those who
    /// do not see them.
    pub fn listing(&mut self, name: &str, write: impl FnOnce(&mut Html)) {
        let attributes = [("tabindex", "0"), ("role", "group"), ("aria-label", name)];
        self.element("pre", &attributes, |html| html.element("code", &[], write));
    }

    /// A list of facts: what each is, and its value.
    pub fn facts(&mut self, facts: &[(&str, Cow<'_, str>)]) {
        self.element("dl", &[("class", "facts")], |html| {
            for (name, value) in facts {
                html.element("div", &[], |html| {
                    html.leaf("dt", "", name);
                    html.leaf("dd", "", value);
                });
            }
        });
    }

    /// Writes each of the items as long as the page has room for it, and no more than `most`; the
    /// others are counted.
    pub fn each<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        most: usize,
        mut write: impl FnMut(&mut Html, T),
    ) {
        for (at, item) in items.into_iter().enumerate() {
            if at < most && self.has_room() {
                write(self, item)
            } else {
                self.untold += 1
            }
        }
    }
}

/// Adds a text in which nothing is markup any more, between elements as well as between quotes.
fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        out.push_str(cut(rest, ..at));
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        });
        rest = cut(rest, at + 1..);
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Html)) -> String {
        let mut html = Html::default();
        write(&mut html);
        html.text
    }

    /// HTML 5, "13.1.2.3 Attributes" and "13.1.3 Text": what would end either is a reference.
    #[test]
    fn foreign_text_is_no_markup() {
        for hostile in [
            "</style><script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "\" onload=\"x",
            "' x='",
            "&lt;",
            "<!--",
            "]]>",
        ] {
            let text = written(|html| html.text(hostile));
            assert!(!text.contains(['<', '>', '"', '\'']), "{text}");
            assert!(!hostile.contains('&') || text.contains("&amp;"), "{text}");
            assert_eq!(written(|html| html.lines(hostile)), text);
            let element = written(|html| html.element("p", &[("title", hostile)], |_| ()));
            assert_eq!(element, format!("<p title=\"{text}\"></p>"));
        }
    }

    #[test]
    fn no_sign_moves_or_hides_others() {
        assert_eq!(
            written(|html| html.text("a\u{202e}b\x1b\0\n")),
            "a\u{fffd}b␛␀␊"
        );
        assert_eq!(
            written(|html| html.lines("a\u{2066}\n\tb\r\n")),
            "a\u{fffd}\n\tb␍\n"
        );
        assert_eq!(
            written(|html| html.element("p", &[("title", "\u{202e}\n")], |_| ())),
            "<p title=\"\u{fffd}␊\"></p>"
        );
    }

    #[test]
    fn code_in_a_sentence_is_marked() {
        assert_eq!(
            written(|html| html.sentence("run `a<b`, now")),
            "run <code>a&lt;b</code>, now"
        );
    }

    #[test]
    fn parts_of_a_page_are_elements_of_their_kind() {
        assert_eq!(
            written(|html| html.heading(Level::Three, "a")),
            "<h3>a</h3>"
        );
        assert_eq!(written(|html| html.heading(Level::Four, "a")), "<h4>a</h4>");
        assert_eq!(
            written(|html| html.leaf("p", "lead", "a")),
            "<p class=\"lead\">a</p>"
        );
        assert_eq!(
            written(|html| html.void("meta", &[("charset", "utf-8")])),
            "<meta charset=\"utf-8\"/>"
        );
        let classes = [Tone::Bad, Tone::Doubtful, Tone::Good, Tone::Plain]
            .map(|tone| written(|html| html.badge(tone, "`a`")));
        let expected = ["bad", "doubtful", "good", "plain"]
            .map(|class| format!("<span class=\"badge {class}\"><code>a</code></span>"));
        assert_eq!(classes, expected);
        assert_eq!(
            written(|html| html.listing("n", |html| html.lines("a\nb"))),
            "<pre tabindex=\"0\" role=\"group\" aria-label=\"n\"><code>a\nb</code></pre>"
        );
        assert_eq!(
            written(|html| html.facts(&[("a", "b".into())])),
            "<dl class=\"facts\"><div><dt>a</dt><dd>b</dd></div></dl>"
        );
    }

    #[test]
    fn a_page_is_full_at_four_mebibytes_and_not_before() {
        let mut html = Html::default();
        html.lines(&"x".repeat((4 << 20) - 1));
        assert!(html.has_room());
        html.text("x");
        assert!(!html.has_room());
        html.text("x");
        assert!(!html.has_room());
    }

    #[test]
    fn a_full_page_takes_nothing_more_and_counts_it() {
        let mut html = Html::default();
        html.each(0..5, 3, |html, n| html.text(&n.to_string()));
        assert_eq!((html.text.as_str(), html.untold), ("012", 2));
        html.lines(&"x".repeat(LARGEST));
        html.each(0..2, 3, |html, _| html.text("never"));
        assert!(html.untold == 4 && !html.text.contains("never"));
    }
}
