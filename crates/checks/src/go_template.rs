//! Texts that are templates of Go, such as those of a Helm chart, and not YAML before they are
//! rendered. Templates inside of YAML are none: those of cloud-init (jinja) and of ClusterClass
//! patches stand in block scalars or in quotes.

use std::ops::Range;

/// Who renders a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Renderer {
    /// Helm, by the objects that only its templates have.
    Helm,
    /// Any program that uses Go's templates.
    Go,
}

/// Objects that Helm gives to its templates.
const HELM_OBJECTS: [&str; 6] = [
    ".Values",
    ".Release",
    ".Chart",
    ".Capabilities",
    ".Subcharts",
    ".Files",
];

/// Words with which an action of Go's templates begins, and that jinja does not have.
const GO_WORDS: [&str; 9] = [
    "if", "range", "with", "end", "else", "define", "template", "include", "block",
];

/// Who renders a text that is a template, and its first action; `None` for one that is YAML, or that
/// another program renders.
pub(crate) fn renderer(text: &str) -> Option<(Renderer, Range<usize>)> {
    if !text.contains("{{") {
        return None;
    }
    let mut of_go = None;
    // The key whose list the lines are items of.
    let mut list = "";
    for (start, line) in lines_outside_of_blocks(text) {
        let is_item = line.trim_start().starts_with("- ");
        if !is_item {
            list = line.trim().strip_suffix(':').unwrap_or_default();
        }
        let is_command = is_item && list.ends_with("ommands");
        for (at, _) in line.match_indices("{{") {
            let inside = line[at + 2..].split("}}").next().unwrap_or_default();
            let range = start + at..start + at + 2 + inside.len();
            if is_of_helm(inside) && !is_for_the_node(&line[..at], is_command) {
                return Some((Renderer::Helm, range));
            }
            if of_go.is_none() && is_of_go(&line[..at], inside) {
                of_go = Some(range);
            }
        }
    }
    of_go.map(|range| (Renderer::Go, range))
}

/// The first action of a text outside of block scalars, for any renderer.
pub(crate) fn first_action(text: &str) -> Option<Range<usize>> {
    lines_outside_of_blocks(text).find_map(|(start, line)| {
        let at = line.find("{{")?;
        Some(start + at..start + at + 2)
    })
}

/// Whether an action is in the quoted text of a file or a command, which the node may render.
fn is_for_the_node(before: &str, is_command: bool) -> bool {
    let is_quoted = before.matches('"').count() % 2 == 1 || before.matches('\'').count() % 2 == 1;
    is_quoted && (is_command || before.contains("content:") || before.contains("ommands:"))
}

fn is_of_helm(inside: &str) -> bool {
    let is_object = |name: &&str| {
        inside.match_indices(*name).any(|(at, _)| {
            let before = inside[..at].chars().next_back();
            let behind = inside[at + name.len()..].chars().next();
            // `x.Values` is a field of something else; `$.Values` is the object.
            let is_field = before.is_some_and(|c| c.is_alphanumeric() || "_)]\"'".contains(c));
            !is_field && !behind.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
    };
    let action = inside.trim_start_matches('-').trim_start();
    HELM_OBJECTS.iter().any(is_object) || action.starts_with("include \"")
}

/// Whether an action is one of Go's and is where YAML has a line or a value.
fn is_of_go(before: &str, inside: &str) -> bool {
    let action = inside.trim_start_matches('-').trim_start();
    let is_word = GO_WORDS.iter().any(|word| {
        action
            .strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '-']))
    });
    let is_action = is_word || action.starts_with(['.', '$']) || action.starts_with("/*");
    let begins_line = before.trim().is_empty();
    let begins_value = before.ends_with(": ") || before.ends_with("- ");
    is_action && (begins_line || begins_value && inside.starts_with('-'))
}

/// The lines of YAML that are not comments and not in a block scalar, each with its offset.
fn lines_outside_of_blocks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    // The column of what the block scalar belongs to.
    let mut block: Option<usize> = None;
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = start;
        start += line.len();
        let trimmed = line.trim();
        let indent = line.len() - line.trim_start().len();
        if trimmed.is_empty() || block.is_some_and(|column| indent > column) {
            return None;
        }
        block = None;
        if trimmed.starts_with('#') {
            return None;
        }
        if opens_block(trimmed) {
            block = Some(column_of_key(line));
        }
        Some((at, line))
    })
}

/// Whether a line ends with the header of a block scalar: `|`, `>-`, `|2+`.
fn opens_block(line: &str) -> bool {
    let code = line.split(" #").next().unwrap_or(line).trim_end();
    let Some(header) = code.rsplit(' ').next() else {
        return false;
    };
    let is_header = header.starts_with(['|', '>'])
        && header[1..]
            .chars()
            .all(|c| c == '+' || c == '-' || c.is_ascii_digit());
    let before = code[..code.len() - header.len()].trim_end();
    is_header && (before.ends_with(':') || before.ends_with('-'))
}

/// The column of the key of a line, behind the dashes of lists; that of the last dash where there is
/// no key.
fn column_of_key(line: &str) -> usize {
    let mut column = line.len() - line.trim_start().len();
    while let Some(rest) = line[column..].strip_prefix("- ") {
        let next = line.len() - rest.trim_start().len();
        if rest.trim_start().starts_with(['|', '>']) {
            break;
        }
        column = next;
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(Renderer, &str)> {
        renderer(text).map(|(renderer, range)| (renderer, &text[range]))
    }

    #[test]
    fn templates_of_helm_are_told_by_its_objects() {
        for (text, expected) in [
            ("name: {{ .Values.name }}\n", "{{ .Values.name "),
            ("name: \"{{ .Release.Name }}-x\"\n", "{{ .Release.Name "),
            (
                "{{- if $.Values.on }}\nkind: A\n{{- end }}\n",
                "{{- if $.Values.on ",
            ),
            (
                "labels:\n  {{- include \"x.labels\" . | nindent 2 }}\n",
                "{{- include \"x.labels\" . | nindent 2 ",
            ),
            ("a: |\n  b\n{{- with .Values.c }}\n", "{{- with .Values.c "),
            ("args:\n- \"{{ .Values.d }}\"\n", "{{ .Values.d "),
            (
                "bootCommands:\n- a\nargs:\n- '{{ .Values.e }}'\n",
                "{{ .Values.e ",
            ),
            (
                "- args:\n  - |\n    x\n  - {{ .Chart.Name }}\n",
                "{{ .Chart.Name ",
            ),
        ] {
            assert_eq!(found(text), Some((Renderer::Helm, expected)), "{text}");
        }
    }

    #[test]
    fn other_templates_of_go_are_told_by_their_actions() {
        for text in [
            "{{ if .X }}\na: b\n{{ end }}\n",
            "{{- range .Items }}\n",
            "a: {{- .B }}\n",
            "  {{ .Name }}: x\n",
            "{{/* a comment */}}\n",
        ] {
            assert_eq!(found(text).map(|(of, _)| of), Some(Renderer::Go), "{text}");
        }
    }

    /// jinja of cloud-init; `template` and `enabledIf` of ClusterClass patches; values that somebody
    /// forgot to quote.
    #[test]
    fn templates_inside_of_yaml_are_none() {
        for text in [
            "name: '{{ ds.meta_data.local_hostname }}'\n",
            "name: {{ ds.meta_data.local_hostname }}\n",
            "content: |\n  {{ if .Values.x }}\n\n  y\nb: c\n",
            "content: >-\n  {{- include \"a\" . }}\n",
            "- valueFrom:\n    template: |\n      - name: {{ .builtin.cluster.name }}\n",
            "template: \"{{ .etcdImageTag }}\"\n",
            "preKubeadmCommands:\n- echo a\n- \"echo {{ .Values.x }}\"\n",
            "enabledIf: \"{{ if .x }}true{{ end }}\"\n",
            "# {{ .Values.x }}\na: b\n",
            "a: {{ x.Values.b }}\n",
            "a: ${B}\n",
            "a: {{b: c}: d}\n",
            "",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn block_scalars_end_where_their_indentation_does() {
        let text = "a:\n- b: |\n    x\n  c: {{ .Values.d }}\n";
        assert_eq!(found(text).map(|(of, _)| of), Some(Renderer::Helm));
        let text = "a:\n- |\n  x {{ .Values.d }}\nb: c\n";
        assert_eq!(found(text), None);
    }
}
