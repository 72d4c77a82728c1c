//! YAML in and out: every CRD that controller-gen wrote survives reading and writing.

use windlass::text::goyaml;
use windlass::text::source::Source;
use windlass::text::yaml::{Limits, parse};

use crate::support::{files_below, shared};

/// A file read and written. The line `---` that controller-gen puts before the first document is kept.
fn rewritten(text: &str) -> Result<String, String> {
    let parsed = parse(&Source::new("crd.yaml", text), &Limits::default());
    if let Some(finding) = parsed.report.findings().first() {
        return Err(format!("{}: {}", finding.rule.as_str(), finding.message));
    }
    let start = if text.starts_with('\n') {
        "\n---\n"
    } else if text.starts_with("---\n") {
        "---\n"
    } else {
        ""
    };
    let values: Vec<_> = parsed.documents.into_iter().map(|d| d.root.into_json()).collect();
    Ok(format!("{start}{}", goyaml::documents_to_string(&values).map_err(|e| e.to_string())?))
}

#[test]
fn crds_survive_reading_and_writing() {
    let Some(corpus) = shared("corpus") else { return };
    let is_crd = |name: &str| name.contains("config/crd/bases/") && name.ends_with(".yaml");
    let (mut files, mut broken) = (0, Vec::new());
    for path in files_below(&corpus) {
        let name = path.to_str().unwrap();
        if is_crd(name) {
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            if rewritten(&text).as_deref() != Ok(&text) {
                broken.push(format!("{name}: {}", first_difference(&text)));
            }
        }
    }
    assert!(files >= 90, "only {files} CRDs found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn first_difference(text: &str) -> String {
    match rewritten(text) {
        Err(why) => why,
        Ok(again) => {
            let line = text.lines().zip(again.lines()).position(|(a, b)| a != b).unwrap_or_default();
            format!("line {}: {:?} became {:?}", line + 1, text.lines().nth(line), again.lines().nth(line))
        }
    }
}
