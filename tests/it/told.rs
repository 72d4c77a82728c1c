//! Runs of the program as what a person is told: the exit code and both streams.

use std::path::Path;

use crate::support::windlass;

/// A provider.yaml with two providers of one release.
pub(crate) const TWO: &str = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: BootstrapProvider\nnamespace: b\n\
    manager: {image: ghcr.io/foo/b}\n---\napiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: ControlPlaneProvider\n\
    namespace: c\nmanager: {image: ghcr.io/foo/c}\n";

/// A metadata.yaml with the series 0.1.
pub(crate) const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- major: 0\n  minor: 1\n  contract: v1beta2\n";

/// Exit code, standard output and standard error of a command, whose words are a blank apart.
pub(crate) fn told(folder: &Path, command: &str) -> (i32, String, String) {
    let output = windlass(folder).args(command.split(' ')).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Standard output and standard error of a command that ends with 0.
pub(crate) fn done(folder: &Path, command: &str) -> (String, String) {
    let (code, stdout, stderr) = told(folder, command);
    assert_eq!(code, 0, "{command}: {stderr}");
    (stdout, stderr)
}
