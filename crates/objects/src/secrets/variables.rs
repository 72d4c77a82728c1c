//! Variables that hold secrets, known by their names: those of clusterctl's templates, of
//! environments, of ClusterClasses and their topologies.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Document, Field, SECRET, brackets, compiled, push};
use windlass_source::cut::cut;

/// Parts of the names of variables that hold secrets, in upper case and without underscores and
/// dashes.
const VARIABLES: [&str; 9] = [
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "SECRET",
    "CREDENTIAL",
    "PRIVATEKEY",
    "APIKEY",
    "ACCESSKEY",
];
/// Words of such names that are too short to look for within others.
const WORDS: [&str; 5] = ["PASS", "PW", "PWD", "PAT", "JWT"];
/// Fields of a variable that hold a value of it, beside `value`.
const VALUES: [&str; 3] = ["default", "example", "enum"];

/// A variable with a default.
static DEFAULT: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"\$\{[ \t]*((?-u:\w)+)[ \t]*:?[=-]([^}]*)\}"));
/// The name of a variable in a list of variables, or the path of a JSON patch.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#"(?-u:\b)(name|path)["']?:[ \t]*["']?(/[^\s"',}]*|(?-u:[\w-])+)["']?[ \t]*(?:[,}#]|\r?\n|\z)"#,
    )
});

/// Whether a variable of this name holds a secret.
pub fn is_secret(name: &str) -> bool {
    let letters: String = name
        .chars()
        .filter(|c| *c != '_')
        .map(|c| c.to_ascii_uppercase())
        .collect();
    let is_word = |word: &str| WORDS.contains(&word.to_ascii_uppercase().as_str());
    // `PWD` alone is a folder.
    VARIABLES.iter().any(|part| letters.contains(part))
        || name.contains('_') && name.split('_').any(is_word)
}

/// Whether a field of this name is a variable that holds a secret, as a configuration of clusterctl
/// has them (fields of objects have no underscores), or an argument of a component that does.
pub(super) fn is_secret_key(name: &str) -> bool {
    is_secret_argument(name) || (name.contains('_') && is_secret(name))
}

/// Whether an argument of this name, of several words, holds a secret: `oidc-client-secret`. One
/// that says something of a secret goes on behind it: `token-auth-file`,
/// `authentication-token-webhook`.
fn is_secret_argument(name: &str) -> bool {
    name.contains('-') && !name.contains(['_', '.']) && ends_as_secret(name)
}

fn ends_as_secret(name: &str) -> bool {
    let letters: String = name
        .chars()
        .filter(|c| *c != '-')
        .map(|c| c.to_ascii_uppercase())
        .collect();
    VARIABLES.iter().any(|part| letters.ends_with(part))
}

/// Whether what a list has by this name is a secret: a variable, an argument, or what a JSON patch
/// (RFC 6902) writes at this path.
fn is_secret_name(name: &str) -> bool {
    match name.rsplit_once('/') {
        Some((_, field)) => SECRET.contains(&field) || ends_as_secret(field),
        None if name.contains('-') => is_secret_argument(name),
        None => is_secret(name),
    }
}

impl Document<'_> {
    /// Defaults of variables that hold secrets, and their values where they are listed by name.
    pub(super) fn variables(&self, found: &mut Vec<Range<usize>>) {
        let part = cut(self.text, self.range.clone());
        let absolute =
            |range: Range<usize>| self.range.start + range.start..self.range.start + range.end;
        if part.contains("${") {
            let defaults = DEFAULT
                .captures_iter(part)
                .filter(|default| is_secret(&default[1]));
            found.extend(
                defaults
                    .filter_map(|default| default.get(2))
                    .map(|default| absolute(default.range())),
            );
        }
        let mut done = self.range.start;
        for variable in NAME
            .captures_iter(part)
            .filter(|variable| is_secret_name(&variable[2]))
        {
            let name = absolute(variable.get(1).map_or(0..0, |name| name.range())).start;
            // What stands within a variable was searched with it.
            if name >= done {
                done = self.values_of_variable(name, done, found);
            }
        }
    }

    /// The values of the variable whose `name` stands there; gives the end of its item in the list.
    fn values_of_variable(&self, name: usize, from: usize, found: &mut Vec<Range<usize>>) -> usize {
        let line = cut(self.text, from..name)
            .rfind('\n')
            .map_or(from, |end| from + end + 1);
        let before = cut(self.text, line..name)
            .trim_end_matches(['"', '\''])
            .trim_end();
        let open = if before.ends_with(['{', ',']) {
            before.rfind('{').map(|at| line + at)
        } else {
            None
        };
        let is_over_lines = !before.is_empty() && !before.ends_with('-')
            || cut(self.text, from..line).trim_end().ends_with(['{', ',']);
        let open = open.or_else(|| {
            if is_over_lines {
                cut(self.text, from..name).rfind('{').map(|at| from + at)
            } else {
                None
            }
        });
        let item = match open {
            Some(open) => {
                open..brackets(cut(self.text, open..self.range.end))
                    .map_or(self.range.end, |end| open + end)
            }
            None => self.item(name, from, line),
        };
        let column = open.is_none().then(|| self.column(name));
        let mut at = item.start;
        while let Some(field) = self.field_from(at).filter(|field| field.start < item.end) {
            at = field.value;
            let is_value = field.name == "value"
                && column.is_none_or(|column| column == self.column(field.start));
            if is_value || VALUES.contains(&field.name) {
                at = self.value_end(&field).max(field.value);
                self.value(&field, at, found);
            }
        }
        item.end
    }

    fn value(&self, field: &Field<'_>, end: usize, found: &mut Vec<Range<usize>>) {
        let value = self.trimmed(field.value..end);
        // A reference to a variable says nothing.
        if !cut(self.text, value.clone())
            .trim_matches(['"', '\''])
            .starts_with('$')
        {
            push(found, value);
        }
    }

    /// The lines of the item of a list that has a field there: those above and below that are as
    /// deep.
    fn item(&self, field: usize, from: usize, line: usize) -> Range<usize> {
        let column = self.column(field);
        let depth = |line: &str| line.len() - line.trim_start().len();
        let belongs = |line: &str| {
            line.trim().is_empty() || line.trim_start().starts_with('#') || depth(line) >= column
        };
        let mut start = line;
        let mut is_first = cut(self.text, line..field).contains('-');
        while start > from && !is_first {
            let above = cut(self.text, from..start - 1)
                .rfind('\n')
                .map_or(from, |end| from + end + 1);
            let text = cut(self.text, above..start);
            is_first = text.trim_start().starts_with("- ") && depth(text) < column;
            if !belongs(text) && !is_first {
                break;
            }
            start = above;
        }
        let mut end = cut(self.text, field..self.range.end)
            .find('\n')
            .map_or(self.range.end, |end| field + end + 1);
        while end < self.range.end {
            let after = cut(self.text, end..self.range.end)
                .find('\n')
                .map_or(self.range.end, |next| end + next + 1);
            if !belongs(cut(self.text, end..after)) {
                break;
            }
            end = after;
        }
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::super::{REDACTED, masked, spans};

    /// The text with each secret as `<>`.
    fn check(text: &str, expected: &str) {
        assert_eq!(masked(text).replace(REDACTED, "<>"), expected, "{text}");
    }

    #[test]
    fn variables_that_hold_secrets_are_known_by_their_names() {
        check(
            "a: ${API_TOKEN:=x}\nb: \"${API_TOKEN:-y}\" ${FOO:=z}\n",
            "a: ${API_TOKEN:=<>}\nb: \"${API_TOKEN:-<>}\" ${FOO:=z}\n",
        );
        check(
            "env:\n- name: API_TOKEN\n  value: x\n- name: OTHER\n  value: y\n",
            "env:\n- name: API_TOKEN\n  value: <>\n- name: OTHER\n  value: y\n",
        );
        check(
            "extraEnvs:\n- {name: DB_PASS, value: x}\n- {name: PWD, value: y}\n- {name: BYPASS_PROXY, value: z}\n",
            "extraEnvs:\n- {name: DB_PASS, value: <>}\n- {name: PWD, value: y}\n- {name: BYPASS_PROXY, value: z}\n",
        );
        check(
            "env: [{name: API_TOKEN, value: \"x, y\"}]\n",
            "env: [{name: API_TOKEN, value: <>}]\n",
        );
        check(
            "- name: API_TOKEN\n  value: ${API_TOKEN}\n",
            "- name: API_TOKEN\n  value: ${API_TOKEN}\n",
        );
    }

    #[test]
    fn variables_of_topologies_are_variables() {
        check(
            "variables:\n- name: proxyPassword\n  value: x\n- name: proxyHost\n  value: y\n",
            "variables:\n- name: proxyPassword\n  value: <>\n- name: proxyHost\n  value: y\n",
        );
        check(
            "- name: registryCredentials\n  value:\n    user: u\n    key: k\nb: 1\n",
            "- name: registryCredentials\n  value:\n    <>\nb: 1\n",
        );
        check(
            "- value: x\n  name: privateKey # of ssh\n- value: y\n  name: z\n",
            "- value: <>\n  name: privateKey # of ssh\n- value: y\n  name: z\n",
        );
        check(
            "- {value: x, name: token}\n- {value: y, name: z}\n",
            "- {value: <>, name: token}\n- {value: y, name: z}\n",
        );
        check(
            "[{\n  \"name\": \"proxyPassword\",\n  \"value\": \"x\"\n}, {\n  \"name\": \"b\",\n  \"value\": \"y\"\n}]",
            "[{\n  \"name\": \"proxyPassword\",\n  \"value\": <>\n}, {\n  \"name\": \"b\",\n  \"value\": \"y\"\n}]",
        );
        check(
            "- name: proxyPassword\n  value: |\n    x\n\n    y\n  other: z\n",
            "- name: proxyPassword\n  value: <>\n  other: z\n",
        );
    }

    #[test]
    fn defaults_of_the_schema_of_a_variable_are_values_of_it() {
        check(
            "- name: adminPassword\n  required: false\n  schema:\n    openAPIV3Schema:\n      type: string\n      default: x\n      example: y\n- name: b\n  schema:\n    openAPIV3Schema: {default: z}\n",
            "- name: adminPassword\n  required: false\n  schema:\n    openAPIV3Schema:\n      type: string\n      default: <>\n      example: <>\n- name: b\n  schema:\n    openAPIV3Schema: {default: z}\n",
        );
    }

    #[test]
    fn arguments_that_hold_secrets_are_known_by_the_ends_of_their_names() {
        check(
            "extraArgs:\n  oidc-client-secret: x\n  v: 2\n",
            "extraArgs:\n  oidc-client-secret: <>\n  v: 2\n",
        );
        check(
            "extraArgs:\n- name: cloud-api-key\n  value: x\n- name: v\n  value: \"2\"\n",
            "extraArgs:\n- name: cloud-api-key\n  value: <>\n- name: v\n  value: \"2\"\n",
        );
        for harmless in [
            "token-auth-file: /x\nauthentication-token-webhook: y\n",
            "- name: authentication-token-webhook-cache-ttl\n  value: 1s\n",
            "metadata:\n  name: registry-credential\n",
            "kubeadm.k8s.io/x-token: y\n",
        ] {
            check(harmless, harmless);
        }
    }

    #[test]
    fn json_patches_write_secrets_where_their_paths_say_so() {
        check(
            "jsonPatches:\n- op: add\n  path: /spec/users/0/passwd\n  value: x\n- op: add\n  path: \"/spec/format\"\n  value: y\n",
            "jsonPatches:\n- op: add\n  path: /spec/users/0/passwd\n  value: <>\n- op: add\n  path: \"/spec/format\"\n  value: y\n",
        );
        check(
            "- {op: add, path: /a/bootstrapToken/token, value: x}\n",
            "- {op: add, path: /a/bootstrapToken/token, value: <>}\n",
        );
        check(
            "- {path: /a/extraArgs/oidc-client-secret, value: x}\n",
            "- {path: /a/extraArgs/oidc-client-secret, value: <>}\n",
        );
        for harmless in [
            "- {path: /a/tokenTTL, value: 5m}\n",
            "- path: /etc/token\n  owner: root\n",
            "- {path: /a/secretName, value: x}\n",
        ] {
            check(harmless, harmless);
        }
    }

    #[test]
    fn what_only_has_such_a_name_is_no_variable() {
        check(
            "metadata:\n  name: secret\nspec:\n  value: x\n",
            "metadata:\n  name: secret\nspec:\n  value: x\n",
        );
        check(
            "- name: token\n  env:\n  - name: A\n    value: x\n",
            "- name: token\n  env:\n  - name: A\n    value: x\n",
        );
        check(
            "- name: token-ttl\n  value: 1\n",
            "- name: token-ttl\n  value: 1\n",
        );
        check(
            "tokenTTL: 5m\nsecretName: s\n",
            "tokenTTL: 5m\nsecretName: s\n",
        );
    }

    #[test]
    fn many_names_are_read_once() {
        assert_eq!(spans(&"{name: aToken, ".repeat(30_000)).len(), 0);
        assert_eq!(spans(&"name: aToken\n".repeat(30_000)).len(), 0);
        assert_eq!(spans(&"- b: 1\n  name: aToken\n".repeat(30_000)).len(), 0);
    }
}
