//! What a document is by its beginning, exactly as cloud-init reads it
//! (`cloudinit/handlers/__init__.py`, `type_from_starts_with`; `cloudinit/templater.py`,
//! `detect_template`; 22.4.2).

use super::step::Form;

/// Beginnings in lower case, the longest first, and what each is.
const BEGINNINGS: [(&str, Kind); 9] = [
    ("#cloud-config-archive", Kind::Archive),
    ("#cloud-config-jsonp", Kind::Unread),
    ("## template: jinja", Kind::Jinja),
    ("#cloud-boothook", Kind::Boothook),
    ("#cloud-config", Kind::CloudConfig),
    ("#part-handler", Kind::Unread),
    ("#include", Kind::Include),
    ("#!", Kind::Script),
    ("{", Kind::Ignition),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Archive,
    Jinja,
    Boothook,
    CloudConfig,
    Include,
    Script,
    Ignition,
    Unread,
}

/// What a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Beginning {
    /// What it is; of a template what is below its first line.
    pub(super) form: Form,
    /// Whether cloud-init evaluates it as a jinja template.
    pub(super) has_jinja: bool,
    /// Whether it is an archive, a list of further documents.
    pub(super) is_archive: bool,
}

/// The maximum number of characters that are looked at.
const LONGEST: usize = 32;

pub(super) fn of(text: &str) -> Beginning {
    let (form, has_jinja, is_archive) = match kind(text) {
        Some(Kind::Jinja) => (below_jinja(text), true, false),
        Some(Kind::Archive) => (Form::Other, false, true),
        kind => (form(kind), false, false),
    };
    Beginning {
        form,
        has_jinja,
        is_archive,
    }
}

fn kind(text: &str) -> Option<Kind> {
    let begin = text
        .trim_start_matches(is_python_space)
        .chars()
        .take(LONGEST)
        .collect::<String>()
        .to_lowercase();
    BEGINNINGS
        .iter()
        .find(|(beginning, _)| begin.starts_with(beginning))
        .map(|(_, kind)| *kind)
}

/// Blanks that `str.lstrip` takes away: a byte order mark is none.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Of a template, whose very first line must name jinja and nothing else, what is below it; an
/// archive or an include does not.
fn below_jinja(text: &str) -> Form {
    let (first, body) = text.split_once('\n').unwrap_or((text, ""));
    let named = first.get(..2).filter(|sign| *sign == "##").and_then(|_| {
        let rest = first[2..].trim_start_matches(is_python_space);
        rest.get(..9)
            .filter(|word| word.eq_ignore_ascii_case("template:"))
            .map(|_| rest[9..].trim_matches(is_python_space).to_lowercase())
    });
    match (named.as_deref(), kind(body)) {
        (Some("jinja"), kind @ Some(Kind::CloudConfig | Kind::Boothook | Kind::Script)) => {
            form(kind)
        }
        _ => Form::Other,
    }
}

fn form(kind: Option<Kind>) -> Form {
    match kind {
        Some(Kind::CloudConfig) => Form::CloudConfig,
        Some(Kind::Boothook) => Form::Boothook,
        Some(Kind::Include) => Form::Include,
        Some(Kind::Script) => Form::Script,
        Some(Kind::Ignition) => Form::Ignition(String::new()),
        Some(Kind::Archive | Kind::Jinja | Kind::Unread) | None => Form::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tests/it/inspect.rs` asks cloud-init itself.
    #[test]
    fn beginnings_are_those_of_cloud_init() {
        for (text, expected) in [
            ("#Cloud-Config\n", Form::CloudConfig),
            (" \n\t#cloud-config\r\n", Form::CloudConfig),
            ("\u{feff}#cloud-config\n", Form::Other),
            ("# cloud-config\n", Form::Other),
            ("#INCLUDE https://x\n", Form::Include),
            ("## template: jinja\r\n#cloud-config\n", Form::CloudConfig),
            ("\n## template: jinja\n#cloud-config\n", Form::Other),
            ("## template: jinja2\n#cloud-config\n", Form::Other),
            ("##template: jinja\n#cloud-config\n", Form::Other),
            ("", Form::Other),
        ] {
            assert_eq!(of(text).form, expected, "{text:?}");
        }
        assert!(
            of("#cloud-config-archive\n- a").is_archive
                && of("## Template: Jinja\n#!/bin/sh").has_jinja
        );
    }
}
