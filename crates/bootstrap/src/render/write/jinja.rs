//! Which texts cloud-init's jinja changes, or cannot read, though their author meant them as they
//! stand.

/// Names that templates of user data have (cloud-init, `_get_standardized_metadata` and "Instance
/// metadata"): the keys of `v1` stand at the top too.
const INSTANCE_DATA: [&str; 28] = [
    "ds",
    "v1",
    "merged_cfg",
    "merged_system_cfg",
    "sys_info",
    "system_info",
    "userdata",
    "vendordata",
    "combined_cloud_config",
    "base64_encoded_keys",
    "sensitive_keys",
    "availability_zone",
    "cloud_id",
    "cloud_name",
    "distro",
    "distro_version",
    "distro_release",
    "platform",
    "public_ssh_keys",
    "python_version",
    "instance_id",
    "kernel_release",
    "local_hostname",
    "machine",
    "region",
    "subplatform",
    "system_platform",
    "variant",
];

/// What jinja does to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing, or what its author wants: it asks for the instance's data.
    Wanted,
    /// It is evaluated as something that its author hardly means.
    Evaluated,
    /// It cannot be read, and with it the whole document.
    Unreadable,
}

pub(super) fn effect(text: &str) -> Effect {
    let mut rest = text;
    let mut asks_for_data = false;
    let mut effect = Effect::Wanted;
    while let Some(at) = rest.find('{') {
        let after = &rest[at + 1..];
        let close = match after.as_bytes().first() {
            Some(b'{') => "}}",
            Some(b'%') => "%}",
            Some(b'#') => "#}",
            _ => {
                rest = after;
                continue;
            }
        };
        // The sign that opens is not part of what closes: `{#}` is open.
        let Some(end) = after[1..].find(close).map(|end| end + 1) else {
            return Effect::Unreadable;
        };
        let inner = after[1..end].trim_matches(['-', '+', ' ', '\t', '\n']);
        rest = &after[end + close.len()..];
        if close == "%}" && inner == "raw" {
            let Some(end) = end_of_raw(rest) else {
                return Effect::Unreadable;
            };
            rest = &rest[end..];
            continue;
        }
        let continues = close == "%}"
            && asks_for_data
            && ["else", "elif", "endif", "endfor", "endset"]
                .iter()
                .any(|word| inner.starts_with(word));
        if close != "#}" && (continues || names_instance_data(inner)) {
            asks_for_data = true;
        } else {
            effect = Effect::Evaluated;
        }
    }
    effect
}

/// Where the text behind `{% endraw %}` begins.
fn end_of_raw(text: &str) -> Option<usize> {
    text.match_indices("{%").find_map(|(at, _)| {
        let end = at + 2 + text[at + 2..].find("%}")?;
        (text[at + 2..end].trim_matches(['-', '+', ' ']) == "endraw").then_some(end + 2)
    })
}

/// Whether an expression or statement has a name of the instance's data that stands alone.
fn names_instance_data(inner: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let is_field = |at: usize| inner[..at].ends_with('.');
    INSTANCE_DATA.iter().any(|name| {
        inner.match_indices(name).any(|(at, _)| {
            let begins = !inner[..at].ends_with(is_part) && !is_field(at);
            let ends =
                !inner[at + name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
            begins && ends
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_the_instances_data_is_wanted() {
        let check = |text: &str, expected: Effect| assert_eq!(effect(text), expected, "{text}");
        check("a { b } ${x} $x", Effect::Wanted);
        check("hostname {{ ds.meta_data.hostname }}", Effect::Wanted);
        check(
            "{{v1.local_hostname}} {% raw %}{{ .Values }}{% endraw %}",
            Effect::Wanted,
        );
        check("echo {{ local_hostname }} {{- region -}}", Effect::Wanted);
        check(
            "{{ ds['meta_data'].x }} {{ (v1.region or 'x') | upper }}",
            Effect::Wanted,
        );
        check(
            "{% if v1.region == 'a' %}x{% else %}y{% endif %}",
            Effect::Wanted,
        );
        check("{{ .Values.image }}", Effect::Evaluated);
        check("{{ .region }} {{ x.region }}", Effect::Evaluated);
        check("{{ my_region }}", Effect::Evaluated);
        check("{% if x %}{% endif %}", Effect::Evaluated);
        check("{# a comment #}", Effect::Evaluated);
        check(
            "{% raw %}a{% endraw %} {{ .Values.image }}",
            Effect::Evaluated,
        );
        check("echo {{ ds.meta_data.hostname }", Effect::Unreadable);
        check("echo ${#array[@]}", Effect::Unreadable);
        check("{% raw %}{{ x }}", Effect::Unreadable);
        for open in ["{#}", "{%}", "{#}${$(a", "{% raw %}{%}"] {
            check(open, Effect::Unreadable);
        }
    }
}
