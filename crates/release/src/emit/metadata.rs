//! metadata.yaml of a release, extended by a series (book: clusterctl, "Metadata YAML").

use semver::Version;

use windlass_lint::metadata::{List, MetadataFile, newest_contract};
use windlass_source::edit::Edits;

/// The text of metadata.yaml with the series of a version added after the last one; all else stays
/// as it is. `None` when the series is there already. `contract` is that of the newest series
/// unless it is given.
pub fn bump(file: &MetadataFile, version: &Version, contract: Option<&str>) -> Option<String> {
    if file.metadata.series_of(version).is_some() {
        return None;
    }
    let contract = contract.map_or_else(|| newest_contract(file), str::to_owned);
    let mut edits = Edits::of(file.source().text());
    List::of(file).add(&mut edits, version, &contract);
    edits.apply().ok()
}

#[cfg(test)]
mod tests {
    use windlass_lint::metadata::MetadataFile;
    use windlass_source::Source;
    use windlass_source::budget::Budget;

    use super::*;

    const FILE: &str = "# ours\napiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n  - major: 0\n    minor: 1\n    contract: v1beta1 # old\n";

    fn file(text: &str) -> MetadataFile {
        let (file, report) =
            windlass_lint::metadata::parse(&Source::new("metadata.yaml", text), &Budget::default());
        assert!(report.is_empty());
        file.expect("a usable file")
    }

    #[test]
    fn bump_adds_a_series_and_keeps_everything_else() {
        let bumped =
            bump(&file(FILE), &Version::new(0, 2, 0), Some("v1beta2")).expect("a new series");
        assert_eq!(
            bumped,
            format!("{FILE}  - major: 0\n    minor: 2\n    contract: v1beta2\n")
        );
        assert_eq!(bump(&file(&bumped), &Version::new(0, 2, 5), None), None);
        let bumped = bump(
            &file(&FILE.replace('\n', "\r\n")),
            &Version::new(0, 2, 0),
            None,
        )
        .expect("a new series");
        assert_eq!(
            bumped,
            format!("{FILE}  - major: 0\n    minor: 2\n    contract: v1beta1\n")
                .replace('\n', "\r\n")
        );
    }

    #[test]
    fn a_list_in_brackets_stays_one() {
        let head = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\n";
        let text =
            format!("{head}releaseSeries: [{{major: 0, minor: 1, contract: v1beta1}}] # ours\n");
        let version = Version::new(0, 2, 0);
        let bumped = bump(&file(&text), &version, Some("v1beta2"));
        let expected = text.replace("}]", "}, {major: 0, minor: 2, contract: v1beta2}]");
        assert_eq!(bumped, Some(expected));
    }
}
