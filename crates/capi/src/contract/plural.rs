//! The name that Cluster API expects of a CRD: `CalculateCRDName` of
//! `sigs.k8s.io/cluster-api/util/contract`, which pluralises the lower-case kind with
//! `gobuffalo/flect` (book: "BootstrapConfig, BootstrapConfigList resource definition").

use super::plural_words::{ACRONYMS, ENDINGS, WORDS};

/// The name that the core controllers compute for the CRD of a kind, without ever searching for it:
/// `windlassconfigs.bootstrap.windlass.dev`.
pub fn crd_name(group: &str, kind: &str) -> String {
    format!("{}.{group}", pluralize(&kind.to_lowercase()))
}

/// The plural of one lower-case word, as flect gives it.
pub(crate) fn pluralize(word: &str) -> String {
    if word.is_empty() {
        return String::new();
    }
    if let Some(plural) = plural_of(word) {
        return plural.to_owned();
    }
    if is_plural(word) {
        return word.to_owned();
    }
    let upper = word.to_uppercase();
    if ACRONYMS.binary_search(&upper.as_str()).is_ok() {
        // flect spells an acronym in capitals first and then fails to find that spelling in the
        // word, so it appends it.
        return match inflect_ending(&upper) {
            Some(plural) => format!("{word}{plural}"),
            None if word.ends_with('s') => word.to_owned(),
            None => format!("{word}s"),
        };
    }
    match inflect_ending(word) {
        Some(plural) => plural,
        None if word.ends_with('s') => word.to_owned(),
        None => format!("{word}s"),
    }
}

fn plural_of(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|w| w.singular == word).map(|w| w.plural)
}

fn is_plural(word: &str) -> bool {
    WORDS.iter().any(|w| {
        !w.one_way && (w.plural == word || (!w.alternative.is_empty() && w.alternative == word))
    })
}

/// Words as endings of longer ones, the last entry first, then the endings. Each pair is first
/// tried as a plural already made.
fn inflect_ending(word: &str) -> Option<String> {
    let words = WORDS
        .iter()
        .rev()
        .filter(|w| !w.exact)
        .map(|w| (w.singular, w.plural));
    for (singular, plural) in words.chain(ENDINGS.iter().copied()) {
        if word.ends_with(plural) {
            return Some(word.to_owned());
        }
        if let Some(stem) = word.strip_suffix(singular) {
            return Some(format!("{stem}{plural}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acronyms_are_sorted() {
        assert!(ACRONYMS.is_sorted(), "the look-up is a binary search");
    }

    /// Observed of clusterctl.
    #[test]
    fn kinds_are_pluralised_as_clusterctl_does() {
        for (kind, plural) in [
            ("BarConfig", "barconfigs"),
            ("BarConfigTemplate", "barconfigtemplates"),
            ("ClusterClass", "clusterclasses"),
            ("IPAddress", "ipaddresses"),
            ("Gateway", "gateways"),
            ("HelmChartProxy", "helmchartproxies"),
            ("ClusterPolicy", "clusterpolicies"),
            ("NodeStatus", "nodestatuses"),
            ("Endpoints", "endpoints"),
            ("Ingress", "ingresses"),
            ("Kubernetes", "kubernetes"),
            ("K3s", "k3s"),
            ("Talos", "talos"),
            ("Index", "indices"),
            ("Matrix", "matrices"),
            ("Leaf", "leaves"),
            ("Child", "children"),
            ("NodeData", "nodedata"),
            ("Metadata", "metadata"),
            ("BootstrapInfo", "bootstrapinfoes"),
            ("Photo", "photos"),
            ("Echo", "echoes"),
            ("Box", "boxes"),
            ("Bus", "buses"),
            ("Linux", "linuxes"),
            ("Quiz", "quizzes"),
            ("OS", "os"),
            ("ClusterDNS", "clusterdns"),
            ("Equipment", "equipment"),
            ("News", "news"),
            ("Firmware", "firmwares"),
            ("Media", "media"),
            ("DNS", "dnsDNSes"),
            ("HTTPS", "httpsHTTPSes"),
        ] {
            assert_eq!(pluralize(&kind.to_lowercase()), plural, "{kind}");
        }
    }

    #[test]
    fn crd_name_joins_plural_and_group() {
        assert_eq!(
            crd_name("bootstrap.windlass.dev", "WindlassConfig"),
            "windlassconfigs.bootstrap.windlass.dev"
        );
    }
}
