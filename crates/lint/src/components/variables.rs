//! Names of the variables of components (book: clusterctl, "Variables"; checklist CC-30).

use std::collections::BTreeMap;

use windlass_capi::contract::labels::PROVIDER;
use windlass_capi::contract::{ProviderType, book};
use windlass_envsubst::Template;
use windlass_objects::Object;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, rules};

rules! {
    /// the name of a variable does not start with the name of the provider
    VARIABLE_UNPREFIXED = info("components-variable-unprefixed"), catalogue("T09"), url(book::VARIABLES);
}

/// What the names of variables may begin with, as far as the objects say whose they are.
pub(super) struct Prefixes(Vec<String>);

/// Variables of Cluster API's own components, with one meaning for all providers.
const CORE: [&str; 2] = ["CLUSTER_TOPOLOGY", "KUBEADM_BOOTSTRAP_TOKEN_TTL"];

impl Prefixes {
    /// The words of the provider's name, each by itself.
    pub(super) fn of(objects: &[Object]) -> Self {
        let label = objects
            .iter()
            .find_map(|object| object.label(PROVIDER))
            .unwrap_or_default();
        let name = ProviderType::ALL[1..]
            .iter()
            .find_map(|of| label.strip_prefix(of.label("").as_str()))
            .unwrap_or(label);
        let words = name.split('-').filter(|word| !word.is_empty());
        Prefixes(
            words
                .map(|word| format!("{}_", word.to_uppercase()))
                .collect(),
        )
    }

    fn fit(&self, name: &str) -> bool {
        let is_short = name.starts_with("CAP")
            && name
                .split_once('_')
                .is_some_and(|(first, _)| first.len() > 3);
        CORE.contains(&name)
            || is_short
            || name.starts_with("EXP_")
            || self
                .0
                .iter()
                .any(|prefix| name.starts_with(prefix.as_str()))
    }

    /// The example for a name.
    fn corrected(&self, name: &str) -> String {
        let prefix: String = self.0.concat();
        format!("${{{prefix}{name}}}")
    }
}

/// Checks the variables of a file: all of them are reported at once.
pub(super) fn check(
    source: &Source,
    template: &Template<'_>,
    prefixes: &Prefixes,
) -> Option<Diagnostic> {
    let mut found = BTreeMap::new();
    for used in template.uses() {
        found.entry(used.name.to_owned()).or_insert(used.span);
    }
    found.retain(|name, _| !prefixes.0.is_empty() && !prefixes.fit(name));
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    let (first, span) = found.iter().next()?;
    let message = match names.as_slice() {
        [name] => format!("variable {name} does not begin with the name of the provider"),
        names => format!(
            "variables do not begin with the name of the provider: {}",
            names.join(", ")
        ),
    };
    let finding = Diagnostic::of(&VARIABLE_UNPREFIXED, message).at(source.place_at(span.clone()));
    let finding = finding.help(format!("call it `{}`", prefixes.corrected(first)));
    let finding =
        finding.note("one environment and one configuration hold the variables of all providers");
    Some(found.values().skip(1).fold(finding, |finding, span| {
        finding.related(source.place_at(span.clone()), "")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::tests::labelled;
    use windlass_envsubst as envsubst;

    fn found(label: &str, text: &str) -> Vec<String> {
        let objects = [labelled("ConfigMap", "c", Some(label))];
        let report = check(
            &Source::new("c.yaml", text),
            &envsubst::parse(text).unwrap(),
            &Prefixes::of(&objects),
        );
        report
            .iter()
            .map(|finding| format!("{}; {}", finding.message, finding.help.as_ref().unwrap()))
            .collect()
    }

    /// Book: "it is highly recommended to prefix the variable name with the provider name e.g.
    /// ${AWS_CREDENTIALS}".
    #[test]
    fn names_begin_with_the_provider() {
        assert_eq!(
            found(
                "infrastructure-aws",
                "${AWS_CREDENTIALS} ${EXP_EKS:=x} ${CAPA_LOGLEVEL:=0} ${CAPI_X}"
            ),
            [""; 0]
        );
        assert_eq!(found("ipam-in-cluster", "${CLUSTER_X} ${IN_X}"), [""; 0]);
        assert_eq!(found("", "${X}"), [""; 0], "nobody says whose they are");
        assert_eq!(
            found("infrastructure-aws", "${K8S_LABEL} ${CAP_X} ${K8S_LABEL}"),
            [
                "variables do not begin with the name of the provider: CAP_X, K8S_LABEL; call it `${AWS_CAP_X}`"
            ]
        );
    }
}
