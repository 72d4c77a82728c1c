//! Image names as container runtimes take them.

use windlass_capi::contract::{Image, ImageFault};

/// What a text is, where an image name is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    /// A shell or a template computes it when the machine boots.
    Computed,
    Invalid,
}

/// The kind of a text. Names without a registry are valid: runtimes complete them.
pub(super) fn kind(text: &str) -> Kind {
    if text.contains(['$', '`']) || text.contains("{{") || text.contains("{%") {
        return Kind::Computed;
    }
    match Image::parse(text) {
        Ok(_) | Err(ImageFault::NotCanonical) => Kind::Name,
        Err(_) => Kind::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_what_computes_them() {
        for (text, expected) in [
            ("ghcr.io/kube-vip/kube-vip:v1.0.0", Kind::Name),
            ("nginx", Kind::Name),
            ("localhost:5000/a@sha256:0", Kind::Invalid),
            ("ghcr.io/a:${TAG}", Kind::Computed),
            ("{{ ds.image }}", Kind::Computed),
            ("$(cat /etc/image)", Kind::Computed),
            ("ghcr.io/A:c", Kind::Invalid),
            ("", Kind::Invalid),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }
}
