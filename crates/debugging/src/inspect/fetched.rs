//! Data that is not in the input, because the machine fetches it when it boots: `#include`, and
//! `ignition.config` with `merge`, `append` or `replace`.

use super::findings::DATA_FETCHED;
use super::step::{Action, Document, Failure, Form, Step};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Quoted};
use windlass_source::url::without_credentials;

/// The maximum number of findings of one machine.
const MOST: usize = 50;

/// Where providers store bootstrap data, by what a script that fetches it contains.
const STORES: [(&[&str], &str); 7] = [
    (&["aws", "secretsmanager"], "AWS Secrets Manager"),
    (
        &["aws", "ssm", "get-parameter"],
        "AWS Systems Manager Parameter Store",
    ),
    (&["aws", "s3"], "Amazon S3"),
    (&["gcloud", "secrets"], "Google Secret Manager"),
    (&["az", "keyvault"], "Azure Key Vault"),
    (&["vault", "kv"], "Vault"),
    (&["curl"], "a web server"),
];

/// The steps of an include part (cloud-init, `user_data.py`, `_do_include`): each line is an
/// address, also behind `#include`, and other lines that begin with `#` are comments. Since 20.3 a
/// failure ends the processing of all user data, unless the distribution has set
/// `ERROR_ON_USER_DATA_FAILURE` in `features.py` to false.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let lower = line.to_ascii_lowercase();
        let behind = ["#include-once", "#include"]
            .iter()
            .find(|word| lower.starts_with(**word))
            .map_or(line, |word| &line[word.len()..]);
        let address = behind.trim();
        if address.is_empty() || address.starts_with('#') {
            continue;
        }
        found.push(Step {
            stage: "init",
            by: format!("include[{}]", found.len()),
            action: Action::Other(shown(address)),
            failure: Failure::LosesData,
            lines: None,
            at: start,
            sentinel: None,
        });
    }
    found
}

/// An address without credentials: what follows `?` may be a signature.
fn shown(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    without_credentials(address).into_owned()
}

pub(super) fn is_fetched(document: &Document) -> bool {
    document.form == Form::Include || document.steps.iter().any(|step| step.stage == "fetch")
}

/// What the documents of a machine fetch. A file on the machine is written by another part, such
/// as the boothook of Cluster API Provider AWS.
pub(super) fn findings(documents: &[Document], texts: &[Source]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (document, source) in documents
        .iter()
        .zip(texts)
        .filter(|(document, _)| is_fetched(document))
    {
        let is_fetch = |step: &&Step| document.form == Form::Include || step.stage == "fetch";
        for step in document.steps.iter().filter(is_fetch) {
            let Action::Other(address) = &step.action else {
                continue;
            };
            if address == super::ignition::IN_THE_DOCUMENT || found.len() == MOST {
                continue;
            }
            let message = format!(
                "the machine fetches further data from {}, which is not in the input",
                Quoted(address)
            );
            let place = match document.form {
                Form::Include => source.place_at(step.at..step.at),
                _ => source.place(),
            };
            let mut finding = Diagnostic::of(&DATA_FETCHED, message).at(place);
            if let Some(note) = address
                .strip_prefix("file://")
                .and_then(|path| writer(path, documents))
            {
                finding = finding.note(note);
            }
            found.push(finding.help("inspect the Secret of `spec.bootstrap.dataSecretName` of the Machine: it has the data that the provider stores elsewhere"));
        }
    }
    found
}

/// The part that writes a file, and from where.
fn writer(path: &str, documents: &[Document]) -> Option<String> {
    documents.iter().find_map(|document| {
        let writes = |step: &Step| match &step.action {
            Action::Command(command) if command.expose().contains(path) => {
                let text = command.expose();
                let is_store = |words: &[&str]| words.iter().all(|word| text.contains(word));
                let store = STORES.iter().find(|(words, _)| is_store(words));
                Some(store.map_or(String::new(), |(_, store)| format!(" from {store}")))
            }
            _ => None,
        };
        let from = document.steps.iter().find_map(writes)?;
        let kind = document.form.words();
        Some(format!("the {kind} of the data writes the file{from}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::inspect;
    use windlass_capi::api::time::Timestamp;
    use windlass_source::budget::Budget;

    #[test]
    fn addresses_are_read_as_cloud_init_does() {
        let text = "#include https://user:hunter2@x/a?signature=hunter2\n# a comment\n\n#include-once\nhttps://y/b\n  file:///c  \n";
        let shown: Vec<_> = steps(text)
            .into_iter()
            .map(|step| (step.by, step.action))
            .collect();
        let expected = |by: &str, address: &str| (by.to_owned(), Action::Other(address.to_owned()));
        assert_eq!(
            shown,
            [
                expected("include[0]", "https://x/a"),
                expected("include[1]", "https://y/b"),
                expected("include[2]", "file:///c"),
            ]
        );
    }

    #[test]
    fn fetched_data_is_reported_for_each_form() {
        for (data, addresses) in [
            ("#include\nhttps://x/a\n", vec!["https://x/a"]),
            (
                r#"{"ignition":{"version":"2.3.0","config":{"append":[{"source":"s3://bucket/node/x"}]}}}"#,
                vec!["s3://bucket/node/x"],
            ),
            (
                r#"{"ignition":{"version":"3.4.0","config":{"replace":{"source":"data:,x"}}}}"#,
                vec![],
            ),
        ] {
            let found = inspect(
                "f",
                data.as_bytes(),
                Timestamp::of_second(0),
                &Budget::default(),
            );
            let findings = found.report.findings().iter();
            let reported: Vec<&str> = findings
                .filter(|finding| finding.rule.id == "inspect-data-fetched")
                .map(|finding| {
                    finding
                        .message
                        .split(' ')
                        .nth(6)
                        .unwrap()
                        .trim_end_matches(',')
                })
                .collect();
            assert_eq!(reported, addresses, "{data}");
            assert!(
                !found
                    .report
                    .findings()
                    .iter()
                    .any(|finding| finding.rule.id == "inspect-sentinel-missing")
                    || addresses.is_empty()
            );
        }
    }
}
