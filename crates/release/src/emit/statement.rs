//! Where a release comes from: an in-toto statement with SLSA's provenance, unsigned (<https://in-toto.io/Statement/v1>,
//! <https://slsa.dev/spec/v1.1/provenance>). It claims no level: who signs it vouches for it.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::checksums::{CHECKSUMS_FILE, listed};
use windlass_source::hex::hex;

/// What kind of build it is; the page about provenance in the book says what its parameters mean.
const BUILD_TYPE: &str = "https://windlass.dev/release-build/v1";

/// Who builds a release, and of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The URI of the builder, whom those who verify trust or not.
    pub builder: String,
    /// The URI of the sources, such as `git+https://github.com/owner/repository@refs/tags/v0.1.0`.
    pub source: String,
    /// The commit of the sources, in hexadecimal digits.
    pub commit: String,
}

/// The parameters of a release build, which the statement records (SLSA `buildDefinition`).
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The provider file as the user named it.
    pub provider: &'a str,
    /// The version, with `v`.
    pub version: &'a str,
    /// Images in place of those of the provider file, `IMAGE` or `LABEL=IMAGE`, a digest for an
    /// image.
    pub images: &'a [String],
    /// Seconds since 1970 for dates in the release.
    pub epoch: i64,
}

/// The statement about the files of a list of checksums, one subject a line, and about the list
/// itself, so that it can be its signature. The same input gives the same bytes: it holds no time
/// and no id of a run.
pub fn statement(origin: &Origin, request: Request<'_>, sums: &str) -> String {
    let subject = |(name, sum): (&str, &str)| json!({"name": name, "digest": {"sha256": sum}});
    let sum_of_list = hex(&Sha256::digest(sums));
    let mut external = Map::new();
    external.insert("provider".to_owned(), request.provider.into());
    external.insert("version".to_owned(), request.version.into());
    if !request.images.is_empty() {
        external.insert("images".to_owned(), request.images.into());
    }
    let document = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": listed(sums).into_iter().chain([(CHECKSUMS_FILE, sum_of_list.as_str())]).map(subject).collect::<Vec<Value>>(),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": external,
                "internalParameters": {"sourceDateEpoch": request.epoch},
                "resolvedDependencies": [{"uri": origin.source, "digest": {"gitCommit": origin.commit}}],
            },
            "runDetails": {"builder": {"id": origin.builder, "version": {"windlass": env!("CARGO_PKG_VERSION")}}},
        },
    });
    let mut text =
        serde_json::to_string_pretty(&document).expect("internal error: a value is JSON");
    text.push('\n');
    text
}
