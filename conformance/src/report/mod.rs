//! The report of a run: one document, and its forms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outcome::{Evidence, Level, Verdict};
use crate::runner::Checked;

pub(crate) mod junit;
pub(crate) mod markdown;
pub(crate) mod text;

pub(crate) const API_VERSION: &str = "report.windlass.dev/v1";

/// What no run proves.
const NOT_PROVEN: [&str; 5] = [
    "that a machine boots from the data: no machine is started, so the sentinel file is only searched for",
    "that cloned machines join or leave a cluster: the program plays Cluster API's core, whose controllers do not run",
    "rules about manifests, CRD schemas and release files: `windlass lint` checks them",
    "rules about the provider's own requests and sources, such as BC-55, BC-66, BC-67 and BC-73",
    "behaviour under load, over an upgrade of the provider, or between several instances with leader election",
];

/// The report, version v1: keys are added, never removed, renamed or retyped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Conformance")]
pub(crate) struct Report {
    /// Always `report.windlass.dev/v1`.
    pub(crate) api_version: String,
    /// Always `Conformance`.
    pub(crate) kind: String,
    /// The program that wrote it.
    pub(crate) tool: Tool,
    /// The provider under test.
    pub(crate) provider: Subject,
    /// The contract whose rules were checked: `v1beta1`, `v1beta2`.
    pub(crate) contract: String,
    /// The generation of Cluster API's objects, and its release if the user named it.
    pub(crate) cluster_api: ClusterApi,
    /// The version of the API server.
    pub(crate) kubernetes_version: String,
    /// The roles of the samples.
    pub(crate) samples: Vec<String>,
    /// Whether this program ran the provider as a process.
    pub(crate) ran_process: bool,
    /// The longest time to wait for the provider, in seconds.
    pub(crate) patience_seconds: u64,
    /// The time in which nothing must happen, in seconds.
    pub(crate) quiet_seconds: u64,
    /// One for each check, in the order of the rules.
    pub(crate) results: Vec<CheckResult>,
    /// How many checks have each verdict.
    pub(crate) summary: Summary,
    /// What the run does not prove.
    pub(crate) not_proven: Vec<String>,
}

/// The program that wrote a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tool {
    /// Always `windlass-conformance`.
    pub(crate) name: String,
    /// Its version, without `v`.
    pub(crate) version: String,
}

/// A provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Subject {
    /// The user's name for it, else its CRD's label `cluster.x-k8s.io/provider`, else its kind.
    pub(crate) name: String,
    /// Its version, if the user named it.
    pub(crate) version: Option<String>,
    /// The config's apiVersion under the contract.
    pub(crate) api_version: String,
    /// The config's kind.
    pub(crate) kind: String,
}

/// The core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClusterApi {
    /// Of Cluster and Machine: `v1beta1`, `v1beta2`.
    pub(crate) api_version: String,
    /// The release of its CRDs, if the user named it.
    pub(crate) version: Option<String>,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckResult {
    /// The rule of the contract checklist: `BC-40`.
    pub(crate) rule: String,
    /// The name of the check, unique: `cluster-name-label`.
    pub(crate) check: String,
    /// How strongly the contract demands it.
    pub(crate) level: Level,
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// Why, in one sentence.
    pub(crate) reason: String,
    /// What proves a failure; empty for other verdicts.
    pub(crate) evidence: Vec<Evidence>,
    /// What the check does.
    pub(crate) does: String,
    /// What it expects.
    pub(crate) expects: String,
}

/// How many checks have each verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    /// The provider fulfils the rule.
    pub(crate) pass: usize,
    /// It violates the rule.
    pub(crate) fail: usize,
    /// The rule does not concern it.
    pub(crate) not_applicable: usize,
    /// The run could not decide.
    pub(crate) not_covered: usize,
}

impl Report {
    /// Fills in the results, and what every report has.
    pub(crate) fn with_results(mut self, checked: Vec<Checked>) -> Report {
        for Checked { check, outcome } in checked {
            let count = match outcome.verdict {
                Verdict::Pass => &mut self.summary.pass,
                Verdict::Fail => &mut self.summary.fail,
                Verdict::NotApplicable => &mut self.summary.not_applicable,
                Verdict::NotCovered => &mut self.summary.not_covered,
            };
            *count += 1;
            self.results.push(CheckResult {
                rule: check.rule.to_owned(),
                check: check.name.to_owned(),
                level: check.level,
                verdict: outcome.verdict,
                reason: outcome.reason,
                evidence: outcome.evidence,
                does: check.does.to_owned(),
                expects: check.expects.to_owned(),
            });
        }
        self.not_proven = NOT_PROVEN.map(str::to_owned).to_vec();
        self
    }

    pub(crate) fn failures(&self) -> impl Iterator<Item = &CheckResult> {
        self.results
            .iter()
            .filter(|result| result.verdict == Verdict::Fail)
    }

    /// Whether a rule of at least this level is violated.
    pub(crate) fn fails_at(&self, level: Level) -> bool {
        self.failures().any(|failure| failure.level <= level)
    }

    /// The provider with its version.
    pub(crate) fn title(&self) -> String {
        let version = self
            .provider
            .version
            .as_deref()
            .map(|version| format!(" {version}"));
        format!("{}{}", self.provider.name, version.unwrap_or_default())
    }

    /// What was tested against what.
    pub(crate) fn setting(&self) -> String {
        let core = match &self.cluster_api.version {
            Some(version) => format!("Cluster API {version}"),
            None => format!("Cluster API objects {}", self.cluster_api.api_version),
        };
        format!(
            "{} {}, contract {}, {core}, Kubernetes {}, samples {}",
            self.provider.api_version,
            self.provider.kind,
            self.contract,
            self.kubernetes_version,
            self.samples.join(", ")
        )
    }

    /// How many checks have each verdict.
    pub(crate) fn counts(&self) -> String {
        let Summary {
            pass,
            fail,
            not_applicable,
            not_covered,
        } = self.summary;
        format!(
            "{pass} passed, {fail} failed, {not_applicable} not applicable, {not_covered} not covered"
        )
    }

    pub(crate) fn to_json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self)
            .map(|json| json + "\n")
            .map_err(|error| error.to_string())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::outcome::Outcome;

    /// A report with one check of each verdict.
    pub(crate) fn sample() -> Report {
        let evidence = Evidence {
            object: "Secret a/b".to_owned(),
            field: Some("type".to_owned()),
            observed: "Opaque <&> | \u{1b}[31m".to_owned(),
            history: vec!["   0.10 s ADDED Secret b".to_owned()],
        };
        let outcomes = [
            Outcome::pass("it is"),
            Outcome::fail("it is not", evidence),
            Outcome::not_applicable("no rule"),
            Outcome::not_covered("no sample"),
        ];
        let checked = crate::checks::ALL.iter().zip(outcomes);
        let report = Report {
            api_version: API_VERSION.to_owned(),
            kind: "Conformance".to_owned(),
            tool: Tool {
                name: "windlass-conformance".to_owned(),
                version: "0.0.0".to_owned(),
            },
            provider: Subject {
                name: "harbour".to_owned(),
                version: Some("v1.0.0".to_owned()),
                api_version: "bootstrap.example.com/v1".to_owned(),
                kind: "HarbourConfig".to_owned(),
            },
            contract: "v1beta2".to_owned(),
            cluster_api: ClusterApi {
                api_version: "v1beta2".to_owned(),
                version: None,
            },
            kubernetes_version: "v1.34.4".to_owned(),
            samples: vec!["worker".to_owned()],
            ran_process: true,
            patience_seconds: 60,
            quiet_seconds: 8,
            results: Vec::new(),
            summary: Summary::default(),
            not_proven: Vec::new(),
        };
        report.with_results(
            checked
                .map(|(check, outcome)| Checked { check, outcome })
                .collect(),
        )
    }

    #[test]
    fn levels_decide_about_failure() {
        let report = sample();
        assert_eq!(
            report.counts(),
            "1 passed, 1 failed, 1 not applicable, 1 not covered"
        );
        assert!(report.fails_at(Level::Must) && report.fails_at(Level::Observed));
        let mut weak = report;
        weak.results
            .iter_mut()
            .for_each(|result| result.level = Level::May);
        assert!(!weak.fails_at(Level::Should) && weak.fails_at(Level::May));
    }

    #[test]
    fn schema_of_the_report_is_published() {
        let schema = serde_json::to_value(schemars::schema_for!(Report)).unwrap();
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../docs/schemas/conformance.json"
        );
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            text,
            "UPDATE=1 writes it"
        );
    }
}
