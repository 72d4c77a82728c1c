//! What is around a report: head, title, list of contents, footer.

use super::Html;
use super::style::SHEET;
use crate::Sources;
use windlass_source::diag::Report;

/// What a page may ask for: nothing, but its own style sheet.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A report as an HTML page under construction, to which sections are added one by one.
#[derive(Debug)]
pub struct Page {
    verb: &'static str,
    title: String,
    lead: String,
    contents: Vec<(String, String)>,
    body: Html,
}

impl Page {
    /// A page that a verb makes: what it is about, and what came of it in a line.
    pub fn new(verb: &'static str, title: impl Into<String>, lead: impl Into<String>) -> Self {
        Page {
            verb,
            title: title.into(),
            lead: lead.into(),
            contents: Vec::new(),
            body: Html::default(),
        }
    }

    /// Adds a section, which the list of contents names. `write` is given its id, which is unique
    /// on the page.
    pub fn section(&mut self, title: &str, write: impl FnOnce(&mut Html, &str)) {
        let id = format!("part-{}", self.contents.len() + 1);
        self.contents.push((id.clone(), title.to_owned()));
        let heading = format!("{id}-heading");
        self.body.element(
            "section",
            &[("id", &id), ("aria-labelledby", &heading)],
            |html| {
                html.element("h2", &[("id", &heading)], |html| html.text(title));
                write(html, &id);
            },
        );
    }

    /// Adds a section for each of the items, as long as the page has room.
    pub fn sections<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        title: impl Fn(&T) -> String,
        mut write: impl FnMut(&mut Html, &str, T),
    ) {
        for item in items {
            if self.contents.len() < MOST_SECTIONS && self.body.has_room() {
                self.section(&title(&item), |html, id| write(html, id, item));
            } else {
                self.body.each([item], 0, |_, _| ());
            }
        }
    }

    /// Adds what was found, if something was.
    pub fn findings(&mut self, report: &Report, sources: &Sources) {
        if report.unwaived().next().is_some() {
            self.section("Findings", |html, _| {
                super::findings::findings(html, report, sources)
            });
        }
    }

    /// Returns the HTML document, with a list of contents if it has several sections.
    pub fn finish(self) -> String {
        let mut html = Html::default();
        html.element("html", &[("lang", "en")], |html| {
            html.element("head", &[], |html| self.head(html));
            html.element("body", &[], |html| {
                html.element("a", &[("class", "skip"), ("href", "#report")], |html| {
                    html.text("Skip to the report")
                });
                html.element("header", &[], |html| self.header(html));
                html.element(
                    "main",
                    &[
                        ("id", "report"),
                        ("tabindex", "-1"),
                        ("aria-labelledby", "title"),
                    ],
                    |html| html.append(&self.body),
                );
                let made = format!(
                    "Made by windlass {} from `windlass {}`.",
                    env!("CARGO_PKG_VERSION"),
                    self.verb
                );
                html.element("footer", &[], |html| html.sentence(&made));
            });
        });
        format!("<!DOCTYPE html>\n{}\n", html.markup())
    }

    fn head(&self, html: &mut Html) {
        html.void("meta", &[("charset", "utf-8")]);
        html.void(
            "meta",
            &[
                ("http-equiv", "Content-Security-Policy"),
                ("content", POLICY),
            ],
        );
        html.void(
            "meta",
            &[
                ("name", "viewport"),
                ("content", "width=device-width, initial-scale=1"),
            ],
        );
        html.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
        html.element("title", &[], |html| {
            html.text(&format!("{} · windlass {}", self.title, self.verb))
        });
        html.style(SHEET);
    }

    fn header(&self, html: &mut Html) {
        html.element("h1", &[("id", "title")], |html| html.text(&self.title));
        html.leaf("p", "lead", &self.lead);
        let untold = self.body.untold();
        if untold > 0 {
            html.leaf(
                "p",
                "cut",
                &format!(
                    "This page would be too long: {} left out of it. The report as text or JSON has them.",
                    match untold {
                        1 => "1 entry is".to_owned(),
                        count => format!("{count} entries are"),
                    }
                ),
            );
        }
        if self.contents.len() > 1 {
            html.element("nav", &[("aria-label", "Contents")], |html| {
                html.element("ul", &[], |html| {
                    for (id, title) in &self.contents {
                        html.element("li", &[], |html| {
                            html.element("a", &[("href", &format!("#{id}"))], |html| {
                                html.text(title)
                            })
                        });
                    }
                });
            });
        }
    }
}

const MOST_SECTIONS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn page(sections: usize) -> String {
        let mut page = Page::new("verb", "A title", "what came of it");
        page.sections(
            0..sections,
            |number| format!("section {number}"),
            |html, id, number| html.text(&format!("{number} in {id};")),
        );
        page.finish()
    }

    /// A list of contents helps where there is more than one section; what is left out is reported
    /// only where something is.
    #[test]
    fn sections_are_listed_where_there_are_several() {
        assert!(page(201).contains("This page would be too long: 1 entry is left out of it."));
        for (sections, listed) in [
            (0, None),
            (1, None),
            (2, Some(2)),
            (200, Some(200)),
            (203, Some(200)),
        ] {
            let page = page(sections);
            assert_eq!(
                page.matches("<section ").count(),
                sections.min(200),
                "{sections}"
            );
            assert_eq!(page.contains("<nav "), listed.is_some(), "{sections}");
            assert_eq!(
                page.matches("<li><a href=\"#part-").count(),
                listed.unwrap_or(0),
                "{sections}"
            );
            let told = page.contains("This page would be too long: 3 entries are left out of it.");
            assert_eq!(
                (told, page.contains("class=\"cut\"")),
                (sections == 203, sections == 203),
                "{sections}"
            );
        }
        assert!(
            page(2)
                .contains("<section id=\"part-2\" aria-labelledby=\"part-2-heading\"><h2 id=\"part-2-heading\">section 1</h2>1 in part-2;")
        );
    }
}
