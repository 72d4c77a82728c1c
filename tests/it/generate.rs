//! `generate`: one artifact of a release.

use std::fs;

use crate::support::{copy, root, run};

/// The tag is the first release of the newest series, or the one of `--release`.
#[test]
fn tags_components_with_the_newest_series() {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("examples/harbour"), folder.path());
    let metadata = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n\
                    - {major: 0, minor: 9, contract: v1beta2}\n\
                    - {major: 1, minor: 2, contract: v1beta2}\n\
                    - {major: 1, minor: 0, contract: v1beta2}\n";
    fs::write(folder.path().join("metadata.yaml"), metadata).unwrap();
    for (flags, image) in [
        ("", "ghcr.io/example/harbour-manager:v1.2.0"),
        ("--release v0.9.1", "ghcr.io/example/harbour-manager:v0.9.1"),
        ("--image ghcr.io/a/b:v3", "ghcr.io/a/b:v3"),
    ] {
        let text = run(folder.path(), &format!("generate components {flags}")).stdout;
        assert!(
            text.contains(&format!("\n        image: {image}\n")),
            "{flags}"
        );
    }
    assert_eq!(run(folder.path(), "generate metadata").stdout, metadata);
}
