//! The kustomizations from which a project builds its release: config/default, and what that wraps around the folders of kubebuilder.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::objects::fields;
use crate::text::glob::plain;

/// Where releases are built.
pub(super) const DEFAULT: &str = "config/default";
/// The folder of the CRDs.
pub(super) const CRDS: &str = "config/crd";
/// The folders of kubebuilder, which are looked at by themselves.
pub(super) const BASES: [&str; 5] = [CRDS, "config/rbac", "config/manager", "config/webhook", "config/certmanager"];
/// How deep kustomizations are followed; real ones have three layers.
const DEEPEST: usize = 16;

/// What a kustomization is made of, as it has it, each with its path in the project.
pub(super) fn parts(folder: &str, kustomization: &Value) -> Vec<(String, String)> {
    let lists = ["resources", "bases", "components"].into_iter();
    let items = lists.flat_map(|list| fields::items(kustomization, &[list]).iter().filter_map(Value::as_str));
    items.map(|part| (part.to_owned(), plain(&format!("{folder}/{part}")))).collect()
}

/// The folders of the kustomizations that lead from config/default to those of kubebuilder, outermost first; config/default is always one.
pub(super) fn overlays<'k>(kustomization: &dyn Fn(&str) -> &'k Value) -> Vec<String> {
    let mut walk = Walk { kustomization, led: BTreeMap::new(), overlays: Vec::new() };
    walk.leads(DEFAULT, 0);
    let mut overlays = walk.overlays;
    overlays.retain(|folder| folder != DEFAULT);
    overlays.push(DEFAULT.to_owned());
    overlays.reverse();
    overlays
}

struct Walk<'a, 'k> {
    kustomization: &'a dyn Fn(&str) -> &'k Value,
    /// The folders that were looked at, and whether they lead to a folder of kubebuilder.
    led: BTreeMap<String, bool>,
    /// Those that do, innermost first.
    overlays: Vec<String>,
}

impl Walk<'_, '_> {
    /// Whether a folder leads to one of kubebuilder's. One that leads to itself does not by that.
    fn leads(&mut self, folder: &str, depth: usize) -> bool {
        if let Some(known) = self.led.get(folder) {
            return *known;
        }
        self.led.insert(folder.to_owned(), false);
        let (mut leads, mut wraps) = (false, false);
        for (_, part) in parts(folder, (self.kustomization)(folder)) {
            if BASES.contains(&part.as_str()) {
                leads = true;
            } else if !wraps && depth < DEEPEST && self.leads(&part, depth + 1) {
                // Two beside each other would be two releases.
                (leads, wraps) = (true, true);
            }
        }
        if leads {
            self.led.insert(folder.to_owned(), true);
            self.overlays.push(folder.to_owned());
        }
        leads
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrapped_is_found_outermost_first() {
        let project = json!({
            "config/default": {"resources": ["../outer", "a.yaml"], "components": ["../extra"]},
            "config/outer": {"bases": ["./inner/"], "resources": ["../default", "../crd"]},
            "config/outer/inner": {"resources": ["../../manager/", "namespace.yaml"]},
            "config/extra": {"resources": ["b.yaml"]},
        });
        let overlays = overlays(&|folder| &project[folder]);
        assert_eq!(overlays, ["config/default", "config/outer", "config/outer/inner"]);
    }

    #[test]
    fn of_two_beside_each_other_the_first_counts() {
        let project = json!({
            "config/default": {"resources": ["../b", "../a"]},
            "config/a": {"resources": ["../manager"]},
            "config/b": {"resources": ["../crd"]},
        });
        assert_eq!(overlays(&|folder| &project[folder]), ["config/default", "config/b"]);
    }

    #[test]
    fn what_leads_nowhere_is_none() {
        assert_eq!(overlays(&|_| &Value::Null), ["config/default"]);
        let circle = json!({"config/default": {"resources": ["../a"]}, "config/a": {"resources": ["../default"]}});
        assert_eq!(overlays(&|folder| &circle[folder]), ["config/default"]);
    }

    #[test]
    fn chains_are_followed_as_deep_as_real_ones_are_and_not_for_ever() {
        let chain = |length: usize| {
            let below = |at: usize| if at == length { "../crd".to_owned() } else { format!("../{}", at + 1) };
            let links = (1..=length).map(|at| (format!("config/{at}"), json!({"resources": [below(at)]})));
            let all: Value = links.chain([(DEFAULT.to_owned(), json!({"resources": ["../1"]}))]).collect();
            overlays(&|folder| &all[folder]).len()
        };
        assert_eq!((chain(3), chain(DEEPEST), chain(DEEPEST + 1)), (4, DEEPEST + 1, 1));
        let endless = json!({"resources": ["a"]});
        assert_eq!(overlays(&|_| &endless), ["config/default"]);
    }
}
