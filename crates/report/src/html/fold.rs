//! Long contents, folded until somebody wants to see them, and unfolded on paper.

use super::Html;
use crate::text::plural;
use windlass_source::cut::cut;

/// The maximum number of bytes of one content.
const MOST_BYTES: usize = 64 << 10;

/// Writes `content` behind a summary, which `summary` writes. `name` is the accessible name. Long
/// content is cut, and the number of omitted lines is shown.
pub fn folded(html: &mut Html, name: &str, content: &str, summary: impl FnOnce(&mut Html)) {
    html.element("details", &[], |html| {
        html.element("summary", &[], summary);
        html.listing(name, |html| html.lines(beginning(content)));
        let rest = cut(content, beginning(content).len()..);
        if !rest.is_empty() {
            html.leaf(
                "p",
                "cut",
                &format!(
                    "{} more, which are not shown",
                    plural(rest.lines().count(), "line")
                ),
            );
        }
    });
}

/// Whole lines as far as they fit, or the beginning of the first.
fn beginning(content: &str) -> &str {
    if content.len() <= MOST_BYTES {
        return content;
    }
    let mut end = MOST_BYTES;
    while !content.is_char_boundary(end) {
        end -= 1;
    }
    cut(content, ..end)
        .rfind('\n')
        .map_or(cut(content, ..end), |at| cut(content, ..=at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(content: &str) -> String {
        let mut html = Html::default();
        folded(&mut html, "n", content, |html| html.text("a"));
        html.markup().to_owned()
    }

    /// A content without lines is cut at a whole character.
    #[test]
    fn a_cut_takes_no_character_apart() {
        assert_eq!(
            beginning(&format!("a{}", "é".repeat(MOST_BYTES))).len(),
            MOST_BYTES - 1
        );
        assert_eq!(beginning(&"x".repeat(MOST_BYTES + 1)).len(), MOST_BYTES);
        for whole in [
            "a\nb".to_owned(),
            "x".repeat(MOST_BYTES),
            format!("x\n{}", "x".repeat(MOST_BYTES - 2)),
        ] {
            assert_eq!(beginning(&whole), whole);
        }
    }

    #[test]
    fn long_contents_are_cut_at_a_line_and_the_cut_is_told() {
        let short = "x\n".repeat(10);
        assert!(written(&short).contains(&short) && !written(&short).contains("not shown"));
        let long = format!("{}é\ny\nz\n", "x\n".repeat(MOST_BYTES / 2));
        assert!(
            written(&long).contains("<p class=\"cut\">3 lines more, which are not shown</p>"),
            "{}",
            &written(&long)[MOST_BYTES..]
        );
        assert!(written(&"é".repeat(MOST_BYTES)).contains("1 line more, which"));
    }
}
