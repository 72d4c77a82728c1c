//! What cloud-init makes of several cloud-config documents: a key of a later one replaces
//! the same key before, as a whole, unless the later one says how to merge (`cloud_config.py`,
//! `DEF_MERGERS`: `dict(replace)+list()+str()`).

use std::collections::{BTreeMap, BTreeSet};

use super::findings::KEY_REPLACED;
use super::step::{Document, Failure, Form, Step};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Report};

/// The maximum number of replaced keys of a run that are reported one by one.
const MOST: usize = 50;

/// Marks the steps that never run because a later document has their key. `texts` are those of the
/// documents, in their order.
pub(super) fn replaced(documents: &mut [Document], texts: &[Source], report: &mut Report) {
    let mut last: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut hidden: Vec<BTreeSet<String>> = vec![BTreeSet::new(); documents.len()];
    let mut count = 0_usize;
    for (at, document) in documents
        .iter()
        .enumerate()
        .filter(|(_, document)| document.form == Form::CloudConfig)
    {
        for (key, offset) in &document.keys {
            let earlier = last
                .insert(key.clone(), (at, *offset))
                .filter(|(earlier, _)| *earlier != at && !document.merges);
            let Some((earlier, offset)) = earlier else {
                continue;
            };
            count += 1;
            if count <= MOST {
                let message = format!(
                    "`{key}` never takes effect: {} has it too, and cloud-init takes the last one",
                    document.name
                );
                let finding = Diagnostic::of(&KEY_REPLACED, message)
                    .at(texts[earlier].place_at(offset..offset));
                report.push(finding.help(TOGETHER));
            }
            hidden[earlier].insert(key.clone());
        }
    }
    if let Some(source) = texts.first().filter(|_| count > MOST) {
        let message = format!(
            "{} never take effect either",
            super::counted(count - MOST, "more key", "more keys")
        );
        report.push(
            Diagnostic::of(&KEY_REPLACED, message)
                .at(source.place())
                .help(TOGETHER),
        );
    }
    for (document, keys) in documents
        .iter_mut()
        .zip(hidden)
        .filter(|(_, keys)| !keys.is_empty())
    {
        let is_hidden =
            |step: &&mut Step| keys.contains(step.by.split('[').next().unwrap_or_default());
        document
            .steps
            .iter_mut()
            .filter(is_hidden)
            .for_each(|step| step.failure = Failure::NeverRuns("a later part replaces it"));
    }
}

/// What to do about a key that is replaced.
const TOGETHER: &str =
    "put both into one part, or give the later part `merge_how` with `list(append)`";

#[cfg(test)]
mod tests {
    use crate::inspect::{Inspection, inspect};
    use windlass_capi::api::time::Timestamp;
    use windlass_source::budget::Budget;

    fn read(second: &str) -> Inspection {
        let first = "#cloud-config\nruncmd:\n- a && touch /run/cluster-api/bootstrap-success.complete\nntp: {enabled: true}\n";
        let message = format!(
            "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n{first}\n--b\n\n{second}\n--b--\n"
        );
        inspect(
            "f",
            message.as_bytes(),
            Timestamp::of_second(0),
            &Budget::default(),
        )
    }

    /// The sentinel of a part whose `runcmd` is replaced is never written.
    #[test]
    fn a_key_of_a_later_part_takes_the_place_of_the_same_key_before() {
        let found = read("#cloud-config\nruncmd: [b]\n");
        let failures: Vec<_> = found
            .documents
            .iter()
            .flat_map(|document| &document.steps)
            .map(|step| step.failure.as_str())
            .collect();
        assert_eq!(failures, ["goes-on", "never-runs", "reported"]);
        let rules: Vec<_> = found
            .report
            .findings()
            .iter()
            .map(|finding| finding.rule.id)
            .collect();
        assert_eq!(rules, ["inspect-key-replaced", "inspect-sentinel-missing"]);
        assert_eq!(found.report.findings()[0].place.span.unwrap().start.line, 2);
    }

    #[test]
    fn parts_that_say_how_to_merge_or_have_other_keys_replace_nothing() {
        for second in [
            "#cloud-config\nmerge_how: list(append)\nruncmd: [b]\n",
            "#cloud-config\nlocale: C\n",
            "#!/bin/sh\nruncmd: b\n",
        ] {
            let found = read(second);
            assert!(
                found.machines[0].sentinel.is_some() && found.report.is_empty(),
                "{second}: {:?}",
                found.report
            );
        }
    }
}
