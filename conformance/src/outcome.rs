//! The result of a check: whether the provider fulfils the rule, and the evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How strongly the contract demands a rule.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Level {
    /// The contract demands it.
    Must,
    /// The contract recommends it.
    Should,
    /// The contract permits it, with conditions.
    May,
    /// Cluster API's own provider or its core behaves like this; no page demands it.
    Observed,
}

impl Level {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Level::Must => "MUST",
            Level::Should => "SHOULD",
            Level::May => "MAY",
            Level::Observed => "OBSERVED",
        }
    }
}

/// The verdict about one rule.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Verdict {
    /// The provider behaves as the rule demands.
    Pass,
    /// The provider violates the rule.
    Fail,
    /// The rule does not concern this provider or contract.
    NotApplicable,
    /// The run could not decide.
    NotCovered,
}

impl Verdict {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::NotApplicable => "not applicable",
            Verdict::NotCovered => "not covered",
        }
    }
}

/// An observation that proves a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evidence {
    /// Kind, namespace and name.
    pub(crate) object: String,
    /// The path of the field, if one field is concerned.
    pub(crate) field: Option<String>,
    /// What the API server returned, or what did not happen.
    pub(crate) observed: String,
    /// Versions of the objects in the order of their writes, with the seconds since the start.
    pub(crate) history: Vec<String>,
}

/// A verdict with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    /// One sentence; of a failure, what is wrong.
    pub(crate) reason: String,
    pub(crate) evidence: Vec<Evidence>,
}

impl Outcome {
    pub(crate) fn pass(reason: impl Into<String>) -> Self {
        Outcome::new(Verdict::Pass, reason)
    }

    pub(crate) fn not_applicable(reason: impl Into<String>) -> Self {
        Outcome::new(Verdict::NotApplicable, reason)
    }

    pub(crate) fn not_covered(reason: impl Into<String>) -> Self {
        Outcome::new(Verdict::NotCovered, reason)
    }

    pub(crate) fn fail(reason: impl Into<String>, evidence: Evidence) -> Self {
        Outcome {
            evidence: vec![evidence],
            ..Outcome::new(Verdict::Fail, reason)
        }
    }

    fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Outcome {
            verdict,
            reason: reason.into(),
            evidence: Vec::new(),
        }
    }

    /// The outcome of a rule that was checked several times: the worst verdict, with the reasons
    /// and the evidence of all failures.
    pub(crate) fn of_all(outcomes: Vec<Outcome>) -> Outcome {
        let failures: Vec<&Outcome> = outcomes
            .iter()
            .filter(|outcome| outcome.verdict == Verdict::Fail)
            .collect();
        if !failures.is_empty() {
            return Outcome {
                verdict: Verdict::Fail,
                reason: joined(failures.iter().map(|failure| failure.reason.as_str())),
                evidence: failures
                    .iter()
                    .flat_map(|failure| failure.evidence.clone())
                    .collect(),
            };
        }
        // A rule that could not be decided for one of the samples is not proven.
        let rank = [Verdict::NotCovered, Verdict::Pass, Verdict::NotApplicable];
        for verdict in rank {
            let of_it = || outcomes.iter().filter(|outcome| outcome.verdict == verdict);
            if of_it().next().is_some() {
                return Outcome::new(verdict, joined(of_it().map(|one| one.reason.as_str())));
            }
        }
        Outcome::not_covered("no sample was given for it")
    }
}

/// Each sentence once.
fn joined<'a>(reasons: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for reason in reasons {
        if !all.contains(&reason) {
            all.push(reason);
        }
    }
    all.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_verdict_decides_and_undecided_is_no_pass() {
        let evidence = Evidence {
            object: "Secret a/b".to_owned(),
            field: None,
            observed: "none".to_owned(),
            history: Vec::new(),
        };
        let all = |verdicts: &[Outcome]| Outcome::of_all(verdicts.to_vec()).verdict;
        let (pass, fail) = (Outcome::pass("a"), Outcome::fail("b", evidence));
        let (none, unknown) = (Outcome::not_applicable("c"), Outcome::not_covered("d"));
        assert_eq!(
            all(&[pass.clone(), fail.clone(), none.clone()]),
            Verdict::Fail
        );
        assert_eq!(all(&[pass.clone(), unknown.clone()]), Verdict::NotCovered);
        assert_eq!(all(&[pass.clone(), none.clone()]), Verdict::Pass);
        assert_eq!(all(&[none]), Verdict::NotApplicable);
        assert_eq!(all(&[]), Verdict::NotCovered);
        let merged = Outcome::of_all(vec![pass.clone(), pass]);
        assert_eq!(merged.reason, "a");
    }
}
