//! Tables with a caption and headers, which scroll by themselves where a screen is narrower than
//! they are.

use super::{Html, Tone, grouped};

const MOST_ROWS: usize = 1_000;

/// A column of a table: its title and its alignment.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    title: &'static str,
    is_number: bool,
}

impl Column {
    /// A column of anything but numbers, which is aligned to the left.
    pub const fn text(title: &'static str) -> Self {
        Column {
            title,
            is_number: false,
        }
    }

    /// A column of numbers, which stand on the right.
    pub const fn number(title: &'static str) -> Self {
        Column {
            title,
            is_number: true,
        }
    }
}

/// The content of a cell of a table.
#[derive(Debug, Clone)]
pub enum Cell {
    /// Text, in which backticks enclose code.
    Text(String),
    /// Names, paths, commands.
    Code(String),
    /// A count or a size, printed in groups of three digits.
    Number(usize),
    /// A share in percent, with a bar.
    Share(usize),
    /// Short text on the colour of a tone; backticks enclose code.
    Badge(Tone, String),
    /// A page of others, which is asked for only if somebody goes there.
    Link(&'static str),
}

/// A table. The first text of each row is its header.
pub fn table(
    html: &mut Html,
    caption: &str,
    columns: &[Column],
    rows: impl IntoIterator<Item = Vec<Cell>>,
) {
    let header_at = columns.iter().position(|column| !column.is_number);
    html.element(
        "div",
        &[
            ("class", "scroll"),
            ("role", "region"),
            ("aria-label", caption),
            ("tabindex", "0"),
        ],
        |html| {
            html.element("table", &[], |html| {
                html.leaf("caption", "", caption);
                html.element("thead", &[], |html| {
                    html.element("tr", &[], |html| {
                        columns.iter().for_each(|column| header(html, column))
                    })
                });
                html.element("tbody", &[], |html| {
                    html.each(rows, MOST_ROWS, |html, cells| {
                        html.element("tr", &[], |html| {
                            cells.iter().zip(columns).enumerate().for_each(
                                |(at, (cell, column))| {
                                    body(html, cell, column, header_at == Some(at))
                                },
                            );
                        });
                    });
                });
            });
        },
    );
}

fn header(html: &mut Html, column: &Column) {
    let class: &[_] = if column.is_number {
        &[("scope", "col"), ("class", "number")]
    } else {
        &[("scope", "col")]
    };
    html.element("th", class, |html| html.text(column.title));
}

fn body(html: &mut Html, cell: &Cell, column: &Column, is_header: bool) {
    let (tag, scope) = if is_header {
        ("th", Some(("scope", "row")))
    } else {
        ("td", None)
    };
    let class = column.is_number.then_some(("class", "number"));
    let attributes: Vec<_> = scope.into_iter().chain(class).collect();
    html.element(tag, &attributes, |html| match cell {
        Cell::Text(text) => html.sentence(text),
        Cell::Code(text) => html.leaf("code", "", text),
        Cell::Number(number) => html.text(&grouped(*number)),
        Cell::Share(percent) => share(html, *percent),
        Cell::Badge(tone, text) => html.badge(*tone, text),
        Cell::Link(url) => link(html, url),
    });
}

/// A percentage with a bar that is full at a hundred.
fn share(html: &mut Html, percent: usize) {
    let tone = match percent {
        0..90 => Tone::Plain,
        90..=100 => Tone::Doubtful,
        _ => Tone::Bad,
    };
    let (class, width) = (
        format!("bar {}", tone.class()),
        percent.min(100).to_string(),
    );
    html.element("span", &[("class", "share")], |html| {
        html.element("span", &[("class", "percent")], |html| {
            html.text(&format!("{} %", grouped(percent)))
        });
        let view = [
            ("class", class.as_str()),
            ("viewBox", "0 0 100 8"),
            ("preserveAspectRatio", "none"),
            ("aria-hidden", "true"),
        ];
        html.element("svg", &view, |html| {
            html.element(
                "rect",
                &[("class", "trough"), ("width", "100"), ("height", "8")],
                |_| (),
            );
            html.element(
                "rect",
                &[("class", "fill"), ("width", &width), ("height", "8")],
                |_| (),
            );
        });
    });
}

/// The host of an address, which leads there.
fn link(html: &mut Html, url: &str) {
    let Some(rest) = url.strip_prefix("https://") else {
        return html.text(url);
    };
    let host = rest.split('/').next().unwrap_or(rest);
    html.element("a", &[("href", url), ("rel", "noreferrer")], |html| {
        html.text(host)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_say_what_they_are_headers_of() {
        let mut html = Html::default();
        let rows = [vec![Cell::Code("<a>".to_owned()), Cell::Number(16_384)]];
        table(
            &mut html,
            "Parts",
            &[Column::text("Part"), Column::number("Bytes")],
            rows,
        );
        let text = html.markup();
        for expected in [
            "<caption>Parts</caption>",
            "<th scope=\"col\">Part</th><th scope=\"col\" class=\"number\">Bytes</th>",
            "<th scope=\"row\"><code>&lt;a&gt;</code></th><td class=\"number\">16,384</td>",
        ] {
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn shares_weigh_by_what_is_left() {
        let class = |percent| {
            let mut html = Html::default();
            share(&mut html, percent);
            html.markup()
                .split("class=\"bar ")
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap()
                .to_owned()
        };
        assert_eq!(
            [0, 89, 90, 100, 101].map(class),
            ["plain", "plain", "doubtful", "doubtful", "bad"]
        );
    }

    #[test]
    fn only_addresses_become_links() {
        let link_of = |url| {
            let mut html = Html::default();
            link(&mut html, url);
            html.markup().to_owned()
        };
        assert_eq!(
            link_of("https://a.example/b?c=\"d\""),
            "<a href=\"https://a.example/b?c=&quot;d&quot;\" rel=\"noreferrer\">a.example</a>"
        );
        assert_eq!(link_of("javascript:alert(1)"), "javascript:alert(1)");
    }
}
