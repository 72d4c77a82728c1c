//! Tests of what is published: the tables of the book, and the reports in `docs/conformance`.

use std::collections::BTreeMap;

use crate::outcome::Verdict;
use crate::report::Report;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn reports() -> Vec<Report> {
    let folder = format!("{ROOT}/docs/conformance");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.iter().map(read).collect()
}

/// The table of the results.
fn results(reports: &[Report]) -> String {
    let mut table = "| provider | contract | Cluster API | Kubernetes | passed | failed | not applicable | not covered |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    for report in reports {
        let of = |verdict: Verdict| {
            let mut checks: BTreeMap<&str, ()> = BTreeMap::new();
            checks.extend(
                report
                    .results
                    .iter()
                    .filter(|result| result.verdict == verdict)
                    .map(|result| (result.check.as_str(), ())),
            );
            match checks.len() {
                0 => "none".to_owned(),
                _ => checks.into_keys().collect::<Vec<_>>().join(", "),
            }
        };
        table += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            report.title(),
            report.contract,
            report.cluster_api.version.as_deref().unwrap_or("-"),
            report.kubernetes_version,
            report.summary.pass,
            of(Verdict::Fail),
            of(Verdict::NotApplicable),
            of(Verdict::NotCovered),
        );
    }
    table
}

/// The text with what stands between two marks replaced.
fn with(text: &str, mark: &str, content: &str) -> String {
    let (before, rest) = text.split_once(&format!("<!-- {mark} -->\n")).unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    format!("{before}<!-- {mark} -->\n\n{content}\n<!-- end -->{after}")
}

#[test]
fn tables_of_the_book_are_current() {
    let path = format!("{ROOT}/docs/book/src/conformance.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let current = with(&text, "results", &results(&reports()));
    let current = with(&current, "checks", &crate::list());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    assert!(
        current == std::fs::read_to_string(&path).unwrap(),
        "UPDATE=1 writes {path}"
    );
}

#[test]
fn published_reports_have_every_check() {
    for report in reports() {
        let checks: Vec<&str> = report
            .results
            .iter()
            .map(|result| result.check.as_str())
            .collect();
        let all: Vec<&str> = crate::checks::ALL.iter().map(|check| check.name).collect();
        assert_eq!(checks, all, "{}", report.title());
        assert_eq!(report.api_version, crate::report::API_VERSION);
    }
}
