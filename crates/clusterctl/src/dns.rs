//! Kubernetes' checks of DNS names, in its words (apimachinery, `validation.IsDNS1123Label` and
//! `IsDNS1123Subdomain`).

use super::Rejection;

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an \
                     alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and \
                         end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
                         '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// A name of one part, of at most 63 bytes.
pub(super) fn check_label(text: &str) -> Result<(), Rejection> {
    let mut faults = Vec::new();
    if text.len() > 63 {
        faults.push("must be no more than 63 characters");
    }
    if !is_label(text) {
        faults.push(if text.contains('.') && is_subdomain(text) {
            "must not contain dots"
        } else {
            LABEL
        });
    }
    reject(&faults)
}

/// A name of parts between dots, of at most 253 bytes.
pub(super) fn check_subdomain(text: &str) -> Result<(), Rejection> {
    let mut faults = Vec::new();
    if text.len() > 253 {
        faults.push("must be no more than 253 characters");
    }
    if !is_subdomain(text) {
        faults.push(SUBDOMAIN);
    }
    reject(&faults)
}

fn reject(faults: &[&str]) -> Result<(), Rejection> {
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Rejection::new(faults.join("; ")))
    }
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

/// The form alone; the length is checked apart.
fn is_label(text: &str) -> bool {
    let is_inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty() && text.bytes().all(is_inner) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_in_kubernetes_words() {
        assert_eq!(check_label("my-name"), Ok(()));
        assert_eq!(
            check_label("a.b"),
            Err(Rejection::new("must not contain dots"))
        );
        assert_eq!(
            check_label(&"a".repeat(64)),
            Err(Rejection::new("must be no more than 63 characters"))
        );
        for name in ["", "-a", "a-", "A", "a_b", "a..b"] {
            assert_eq!(check_label(name), Err(Rejection::new(LABEL)), "{name}");
            assert_eq!(
                check_subdomain(name),
                Err(Rejection::new(SUBDOMAIN)),
                "{name}"
            );
        }
        assert_eq!(check_subdomain("a.b-c.d"), Ok(()));
        let long = format!("A{}", "a".repeat(253));
        assert_eq!(
            check_subdomain(&long),
            Err(Rejection::new(format!(
                "must be no more than 253 characters; {SUBDOMAIN}"
            )))
        );
    }
}
