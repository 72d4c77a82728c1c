//! `release build --provenance`: the statement about where a release comes from.

use crate::emit::checksums::CHECKSUMS_FILE;
use crate::emit::release::{ImageOverride, Release, Replacement};
pub use crate::emit::statement::Origin;
use crate::emit::statement::{Request, statement};
use windlass_source::diag::{Diagnostic, Remedy, Report, Setting, rules};

rules! {
    /// the builder, source or commit of a release is malformed
    ORIGIN_FAULT = error("release-origin-malformed");
}

/// The lengths of commits: SHA-1 and SHA-256 (gitformat-signature, "object-format").
const COMMIT_DIGITS: [usize; 2] = [40, 64];

/// Who builds a release and of what, held against the forms that those who verify expect.
///
/// # Errors
/// A finding for each part that has another form.
pub fn origin(builder: &str, source: &str, commit: &str) -> Result<Origin, Report> {
    let mut report = Report::new();
    let mut wrong = |is_right: bool, what: &str, value: &str, help: Remedy| {
        if !is_right {
            let message = format!("the {what} of the release is `{}`", value.escape_debug());
            report.push(Diagnostic::of(&ORIGIN_FAULT, message).help(help));
        }
    };
    wrong(
        is_uri(builder),
        "builder",
        builder,
        Remedy::new("write a URI: ").set(Setting::BuilderId, "https://ci.example.com/release"),
    );
    let example = "git+https://github.com/owner/repository@refs/tags/v0.1.0";
    wrong(
        is_uri(source),
        "source",
        source,
        Remedy::new("write a URI: ").set(Setting::Source, example),
    );
    let is_commit = COMMIT_DIGITS.contains(&commit.len())
        && commit
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    wrong(
        is_commit,
        "commit",
        commit,
        Remedy::new("write all of its lower-case digits: ")
            .set(Setting::SourceCommit, "$(git rev-parse HEAD)"),
    );
    let (builder, source, commit) = (builder.to_owned(), source.to_owned(), commit.to_owned());
    if report.has_errors() {
        Err(report)
    } else {
        Ok(Origin {
            builder,
            source,
            commit,
        })
    }
}

/// Whether a text is an absolute URI (RFC 3986, 4.3), as far as its characters say.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme
        && !rest.is_empty()
        && rest
            .chars()
            .all(|c| c.is_ascii_graphic() && !"<>\"{}|\\^`".contains(c))
}

/// The statement about a release that was built.
pub fn provenance(
    origin: &Origin,
    release: &Release,
    provider: &str,
    version: &str,
    images: &[ImageOverride],
    epoch: i64,
) -> String {
    let images: Vec<String> = images.iter().map(shown).collect();
    let sums = String::from_utf8_lossy(release.files.get(CHECKSUMS_FILE).unwrap_or_default());
    statement(
        origin,
        Request {
            provider,
            version,
            images: &images,
            epoch,
        },
        &sums,
    )
}

fn shown(image: &ImageOverride) -> String {
    let (Replacement::Image(by) | Replacement::Digest(by)) = &image.by;
    image
        .label
        .as_ref()
        .map_or_else(|| by.clone(), |label| format!("{label}={by}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_uris_and_whole_commits() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let faults = |builder: &str, source: &str, commit: &str| {
            origin(builder, source, commit).map_or_else(|report| report.findings().len(), |_| 0)
        };
        assert_eq!(
            faults(
                "https://ci.example.com/x",
                "git+https://h/o/r@refs/tags/v1",
                commit
            ),
            0
        );
        assert_eq!(faults("urn:x", "git+ssh://h/r", &"a".repeat(64)), 0);
        for (builder, source, commit) in [
            ("ci", "git+https://h/r", commit),
            ("https:", "git+https://h/r", commit),
            ("1a:b", "git+https://h/r", commit),
            ("https://h/a b", "git+https://h/r", commit),
            ("https://h", "git+https://h/\n", commit),
            ("https://h", "", commit),
            ("https://h", "git+https://h/r", "HEAD"),
            ("https://h", "git+https://h/r", &commit[1..]),
            ("https://h", "git+https://h/r", &commit.to_uppercase()),
        ] {
            assert_eq!(
                faults(builder, source, commit),
                1,
                "{builder} {source} {commit}"
            );
        }
        assert_eq!(faults("", "", ""), 3, "one run tells everything");
    }
}
