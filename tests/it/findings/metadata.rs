//! metadata.yaml: its fixed fields, its series, and how a missing kind is written into it.

use crate::support::windlass;

use super::{found, notes, text, told};

const HEAD: &str =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n";

fn of(text: &str) -> Vec<String> {
    told(&[("metadata.yaml", text)], "")
}

fn series(list: &[(u32, u32, &str)]) -> String {
    let entries = list.iter().map(|(major, minor, contract)| {
        format!("- {{major: {major}, minor: {minor}, contract: {contract}}}\n")
    });
    format!("{HEAD}{}", entries.collect::<String>())
}

/// Contracts of former days are known; of a series that is there several times clusterctl takes the
/// first.
#[test]
fn series_are_told_by_their_place() {
    assert_eq!(
        of(&series(&[
            (0, 1, "v1alpha2"),
            (0, 2, "v1alpha3"),
            (0, 3, "v1alpha4"),
            (0, 4, "v1beta1"),
            (1, 0, "v1beta2")
        ])),
        [""; 0]
    );
    assert_eq!(
        of(&series(&[
            (0, 1, "v1beta2"),
            (0, 2, "v1beta3"),
            (0, 3, "v1alpha1")
        ])),
        [
            "5:34-41: contract `v1beta3` of series 0.2 is unknown: write v1beta1 or v1beta2",
            "6:34-42: contract `v1alpha1` of series 0.3 is unknown: write v1beta1 or v1beta2",
        ]
    );
    let again = |place: &str, at: u32| {
        format!(
            "{place} & 5:3-42 the first, which clusterctl takes: releaseSeries[{at}] repeats series 0.2: remove one of the two"
        )
    };
    assert_eq!(
        of(&series(&[
            (0, 1, "v1beta2"),
            (0, 2, "v1beta2"),
            (0, 2, "v1beta1"),
            (0, 2, "v1beta2")
        ])),
        [again("6:3-42", 2), again("7:3-42", 3)]
    );
    assert_eq!(
        of(&series(&[
            (0, 2, "v1beta2"),
            (1, 2, "v1beta2"),
            (1, 3, "v1beta2")
        ])),
        [""; 0],
        "another major version is another series"
    );
    assert_eq!(
        of(&HEAD.replace("releaseSeries:\n", "releaseSeries: []\n")),
        [
            "3:16-18: releaseSeries is empty: add an entry with major, minor and contract for each series of releases"
        ]
    );
}

/// The format of the file is fixed. Without a kind clusterctl takes it; with another one it does
/// not.
#[test]
fn the_format_is_fixed() {
    let sound = series(&[(0, 1, "v1beta2")]);
    assert_eq!(of(&sound), [""; 0]);
    assert_eq!(
        of(&sound
            .replace("v1alpha3", "v1alpha2")
            .replace("kind: Metadata", "kind: Meta")),
        [
            "1:13-49: apiVersion is `clusterctl.cluster.x-k8s.io/v1alpha2`, but clusterctl reads only `clusterctl.cluster.x-k8s.io/v1alpha3`: write `apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3`",
            "2:7-11: kind is `Meta`, but clusterctl reads only `Metadata`: write `kind: Metadata`",
        ]
    );
    assert_eq!(
        of(&sound.replace("kind: Metadata\n", "")),
        ["1:1-3:42: kind is missing, which clusterctl tolerates: add `kind: Metadata`"]
    );
    assert_eq!(
        of(&sound.replace(", contract: v1beta2", "")),
        ["4:4-9: releaseSeries[0].contract is missing: add `contract:`"]
    );
    assert_eq!(
        of(&sound.replace("v1beta2}", "v1beta2, x: y}")),
        ["4:43-44: unknown field `releaseSeries[0].x`: remove `x`"]
    );
    let empty = found(&[("metadata.yaml", "# nothing\n---\n# at all\n")], &[], "");
    assert_eq!(empty.len(), 1);
    let told = (
        text(&empty[0], "rule"),
        text(&empty[0], "message"),
        text(&empty[0], "help"),
    );
    let help = "list the release series in it, as the book shows";
    assert_eq!(
        told,
        (
            "metadata-document-missing",
            "metadata.yaml holds no document",
            help
        )
    );
    let broken = found(&[("metadata.yaml", "a: [\n")], &[], "");
    assert_eq!(
        broken
            .iter()
            .map(|finding| text(finding, "rule"))
            .collect::<Vec<_>>(),
        ["yaml-syntax"],
        "that there is no document is told once"
    );
}

/// A document before the one that we read: clusterctl reads the first.
#[test]
fn what_clusterctl_refuses_is_told_in_its_words() {
    let [finding] = &found(
        &[(
            "metadata.yaml",
            &format!("---\n---\n{}", series(&[(0, 1, "v1beta2")])),
        )],
        &[],
        "",
    )[..] else {
        panic!()
    };
    assert_eq!(
        (text(finding, "rule"), text(finding, "message")),
        ("metadata-refused", "clusterctl refuses metadata.yaml")
    );
    let said = text(finding, "upstream");
    assert!(
        said.starts_with("invalid provider metadata: unexpected apiVersion \"\""),
        "{said}"
    );
    assert_eq!(
        (notes(finding), text(finding, "help")),
        (
            format!("clusterctl says: {said}"),
            "correct the file as the note says"
        )
    );
}

/// The kind comes behind the version of the format, in the indentation of the file; in brackets it
/// comes first.
#[test]
fn a_missing_kind_is_written_where_it_belongs() {
    let fixed = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("metadata.yaml");
        std::fs::write(&file, text).unwrap();
        let output = windlass(folder.path())
            .args(["lint", "--fix", "metadata.yaml"])
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
        std::fs::read_to_string(file).unwrap()
    };
    let (version, list) = (
        "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3",
        "releaseSeries: [{major: 0, minor: 1, contract: v1beta2}]",
    );
    for (before, after) in [
        (
            format!("{version} # ours\n{list}\n"),
            format!("{version} # ours\nkind: Metadata\n{list}\n"),
        ),
        (
            format!("{list}\n{version}\n"),
            format!("{list}\n{version}\nkind: Metadata\n"),
        ),
        (
            format!("  {version}\n  {list}\n"),
            format!("  {version}\n  kind: Metadata\n  {list}\n"),
        ),
        (
            format!("{{{version}, {list}}}\n"),
            format!("{{kind: Metadata, {version}, {list}}}\n"),
        ),
    ] {
        assert_eq!(fixed(&before), after);
        assert_eq!(fixed(&after), after);
    }
}

/// The contract that a release promises is that of its own series.
#[test]
fn the_promise_of_a_release_is_that_of_its_series() {
    let metadata = series(&[(0, 1, "v1beta1"), (0, 2, "v1beta2"), (0, 3, "v1beta1")]);
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
               metadata: {name: foos.foo.io, labels: {cluster.x-k8s.io/v1beta1: v1}}\n\
               spec:\n  group: foo.io\n  names: {kind: Foo, plural: foos}\n  versions: [{name: v1, served: true, storage: true}]\n";
    let of = |version: &str| {
        let folder = format!("infrastructure-foo/{version}");
        let (components, metadata_file) = (
            format!("{folder}/infrastructure-components.yaml"),
            format!("{folder}/metadata.yaml"),
        );
        told(
            &[(&components, crd), (&metadata_file, &metadata)],
            "crd-contract-label-missing",
        )
    };
    let missing = "5:34-41: metadata.yaml promises contract v1beta2, but no CRD carries the label cluster.x-k8s.io/v1beta2: label the CRDs `cluster.x-k8s.io/v1beta2: VERSION` (`contracts` of provider.yaml does), or correct the series (known contracts: v1beta1, v1beta2)";
    assert_eq!(
        (of("v0.1.0"), of("v0.2.1"), of("v0.3.0")),
        (vec![], vec![missing.to_owned()], vec![])
    );
}
