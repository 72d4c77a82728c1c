//! The release series of metadata.yaml: in which order they may be, and where the fault stands.

use serde_json::Value;

use crate::support::windlass;

/// What `lint` says of series of a rule: line, message and help.
fn told(series: &[(u32, u32)], rule: &str) -> Option<(u64, String, String)> {
    let listed: String = series
        .iter()
        .map(|(major, minor)| format!("- {{major: {major}, minor: {minor}, contract: v1beta2}}\n"))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let head = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n";
    std::fs::write(
        folder.path().join("metadata.yaml"),
        format!("{head}{listed}"),
    )
    .unwrap();
    let output = windlass(folder.path())
        .args(["lint", "metadata.yaml", "-o", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let finding = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["rule"] == rule)?;
    let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    Some((
        finding["line"].as_u64().unwrap(),
        text("message"),
        text("help"),
    ))
}

/// The first series has line 4. Oldest or newest first are both an order; the first entry that
/// leaves the order of those before it is told.
#[test]
fn series_are_in_order_from_either_end() {
    let rule = "metadata-series-unordered";
    for sound in [
        &[(0, 1)][..],
        &[(0, 1), (0, 2), (1, 0)],
        &[(1, 0), (0, 10), (0, 9)],
        &[(0, 2), (0, 2), (0, 1), (0, 1)],
        &[(0, 9), (0, 10), (1, 0), (1, 1)],
    ] {
        assert_eq!(told(sound, rule), None, "{sound:?}");
    }
    for (series, line, name) in [
        (&[(0, 1), (0, 3), (0, 2)][..], 6, "0.2"),
        (&[(0, 2), (0, 1), (0, 3)], 6, "0.3"),
        (&[(0, 1), (0, 2), (0, 4), (0, 3), (0, 5)], 7, "0.3"),
        (&[(0, 5), (0, 4), (0, 3), (1, 0), (0, 2)], 7, "1.0"),
        (&[(0, 9), (1, 0), (0, 10)], 6, "0.10"),
        // One that is repeated is told as that, and in no place of its own.
        (&[(0, 1), (0, 1), (0, 3), (0, 2)], 7, "0.2"),
        (&[(0, 2), (0, 3), (0, 3), (0, 1)], 7, "0.1"),
    ] {
        let expected = (
            line,
            format!("series {name} is out of order"),
            "list the series from the oldest to the newest".to_owned(),
        );
        assert_eq!(told(series, rule), Some(expected), "{series:?}");
    }
    let placeholder = "series 0.0 is a placeholder: no release is of it".to_owned();
    assert_eq!(
        told(&[(0, 1), (0, 0)], rule),
        Some((5, placeholder, "remove the entry".to_owned()))
    );
}
