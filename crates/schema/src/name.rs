//! Names: DNS labels and subdomains, label keys and values, and what the API server says about bad
//! ones.
//!
//! Source: `k8s.io/apimachinery/pkg/api/validate/content` and `pkg/util/validation` of Kubernetes
//! 0.36.

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const LABEL_1035: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const VALUE: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";

/// `<what> (e.g. 'a',  or 'b', regex used for validation is '<regex>')`, upstream's punctuation
/// included.
fn expected(what: &str, regex: &str, examples: &[&str]) -> String {
    let examples = examples
        .iter()
        .map(|example| format!("'{example}', "))
        .collect::<Vec<_>>()
        .join(" or ");
    format!("{what} (e.g. {examples}regex used for validation is '{regex}')")
}

fn is_lower_alphanumeric(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

/// Whether all bytes are inner ones, and the first and the last outer ones.
fn is_framed(text: &str, outer: fn(u8) -> bool, inner: fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return false;
    };
    outer(*first) && outer(*last) && bytes.iter().all(|b| inner(*b))
}

fn is_label_1123(text: &str) -> bool {
    is_framed(text, is_lower_alphanumeric, |b| {
        is_lower_alphanumeric(b) || b == b'-'
    })
}

fn is_label_1035(text: &str) -> bool {
    is_label_1123(text) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label_1123)
}

fn is_key_name(text: &str) -> bool {
    is_framed(
        text,
        |b| b.is_ascii_alphanumeric(),
        |b| b.is_ascii_alphanumeric() || b"-_.".contains(&b),
    )
}

fn at_most(text: &str, limit: usize, unit: &str) -> Option<String> {
    (text.len() > limit).then(|| format!("must be no more than {limit} {unit}"))
}

/// What is wrong with a name that must be a DNS subdomain of RFC 1123.
pub fn subdomain_errors(text: &str) -> Vec<String> {
    subdomain_errors_in(text, "characters")
}

fn subdomain_errors_in(text: &str, unit: &str) -> Vec<String> {
    const WHAT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start \
                        and end with an alphanumeric character";
    let form = (!is_subdomain(text)).then(|| expected(WHAT, SUBDOMAIN, &["example.com"]));
    at_most(text, 253, unit).into_iter().chain(form).collect()
}

/// What is wrong with a name that must be a DNS label of RFC 1123, such as a namespace.
pub fn label_errors(text: &str) -> Vec<String> {
    const WHAT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end \
                        with an alphanumeric character";
    let form = match () {
        () if is_label_1123(text) => None,
        () if is_subdomain(text) => Some("must not contain dots".to_owned()),
        () => Some(expected(WHAT, LABEL, &["my-name", "123-abc"])),
    };
    at_most(text, 63, "characters")
        .into_iter()
        .chain(form)
        .collect()
}

/// What is wrong with a name that must be a DNS label of RFC 1035, such as a kind in lower case.
pub(crate) fn label_1035_errors(text: &str) -> Vec<String> {
    const WHAT: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
                        character, and end with an alphanumeric character";
    let form = (!is_label_1035(text)).then(|| expected(WHAT, LABEL_1035, &["my-name", "abc-123"]));
    at_most(text, 63, "characters")
        .into_iter()
        .chain(form)
        .collect()
}

/// What is wrong with the key of a label, an annotation (in lower case) or the name of a finalizer.
pub fn label_key_errors(text: &str) -> Vec<String> {
    const WHAT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let form = || expected(WHAT, KEY, &["MyName", "my.name", "123-abc"]);
    let parts: Vec<_> = text.split('/').collect();
    let mut errors = Vec::new();
    let name = match parts[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                errors.extend(
                    subdomain_errors_in(prefix, "bytes")
                        .iter()
                        .map(|error| format!("prefix part {error}")),
                );
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                form()
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    }
    errors.extend(at_most(name, 63, "bytes").map(|error| format!("name part {error}")));
    if !is_key_name(name) {
        errors.push(format!("name part {}", form()));
    }
    errors
}

/// What is wrong with the value of a label.
pub fn label_value_errors(text: &str) -> Vec<String> {
    const WHAT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start \
                        and end with an alphanumeric character";
    let good = text.is_empty() || is_key_name(text);
    let form = (!good).then(|| expected(WHAT, VALUE, &["MyValue", "my_value", "12345"]));
    at_most(text, 63, "bytes").into_iter().chain(form).collect()
}

/// What is wrong with a name that only has to fit into a path; `prefix` for a `generateName`.
pub(super) fn path_segment_errors(text: &str, prefix: bool) -> Vec<String> {
    if !prefix && matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    ["/", "%"]
        .iter()
        .filter(|part| text.contains(**part))
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names_have_no_errors() {
        for (errors, good) in [
            (subdomain_errors as fn(&str) -> Vec<String>, "a-1.b.c"),
            (label_errors, "kube-system"),
            (label_1035_errors, "kubeadmconfig"),
            (label_key_errors, "cluster.x-k8s.io/Cluster_name"),
            (label_value_errors, ""),
        ] {
            assert_eq!(errors(good), [""; 0], "{good}");
        }
    }

    #[test]
    fn errors_say_what_upstream_says() {
        assert_eq!(label_errors("a.b"), ["must not contain dots"]);
        assert_eq!(label_key_errors("/x"), ["prefix part must be non-empty"]);
        assert_eq!(
            label_key_errors(&"a".repeat(64)),
            ["name part must be no more than 63 bytes"]
        );
        let expected = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an \
                        alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
        assert_eq!(label_errors("A"), [expected]);
        assert_eq!(path_segment_errors("..", false), ["may not be '..'"]);
        assert!(path_segment_errors("..", true).is_empty());
    }
}
