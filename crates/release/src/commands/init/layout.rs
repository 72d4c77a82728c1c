//! Where a project has what: the folders of kubebuilder, and the kustomizations from config/default
//! to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use windlass_objects::fields;
use windlass_source::glob::plain;

/// Where releases are built.
pub(super) const DEFAULT: &str = "config/default";
/// How deep kustomizations are followed; real ones have three layers.
const DEEPEST: usize = 16;

/// A folder of kubebuilder, which is looked at by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Base {
    Crds,
    /// Roles, bindings and accounts.
    Rbac,
    /// The Deployment.
    Manager,
    /// What calls webhooks.
    Webhooks,
    /// The certificates of webhooks.
    Certificates,
}

impl Base {
    const ALL: [Base; 5] = [
        Base::Crds,
        Base::Rbac,
        Base::Manager,
        Base::Webhooks,
        Base::Certificates,
    ];

    fn name(self) -> &'static str {
        match self {
            Base::Crds => "crd",
            Base::Rbac => "rbac",
            Base::Manager => "manager",
            Base::Webhooks => "webhook",
            Base::Certificates => "certmanager",
        }
    }

    /// Where kubebuilder puts it.
    fn usual(self) -> String {
        format!("config/{}", self.name())
    }
}

/// The folders that a release is built from.
#[derive(Debug, Default)]
pub(super) struct Layout {
    overlays: Vec<String>,
    /// Those of kubebuilder that are taken.
    taken: BTreeSet<Base>,
    /// Those of kubebuilder that stand elsewhere.
    moved: BTreeMap<Base, String>,
}

impl Layout {
    /// Finds the folders. A project that takes CRDs, say, from `config/default/crd` and not from
    /// `config/crd` has moved them.
    pub(super) fn of<'k>(
        kustomization: &dyn Fn(&str) -> &'k Value,
        is_there: &dyn Fn(&str) -> bool,
    ) -> Layout {
        let walked = |movable: Vec<Base>| {
            let mut walk = Walk {
                kustomization,
                is_there,
                movable,
                led: BTreeMap::new(),
                found: Layout::default(),
            };
            walk.leads(DEFAULT, 0);
            walk.found
        };
        let usual = walked(Vec::new()).taken;
        let mut found = walked(
            Base::ALL
                .into_iter()
                .filter(|base| !usual.contains(base))
                .collect(),
        );
        found.overlays.retain(|folder| folder != DEFAULT);
        found.overlays.push(DEFAULT.to_owned());
        found.overlays.reverse();
        found
    }

    /// The folders whose kustomizations lead from config/default to those of kubebuilder, outermost
    /// first; config/default is always the first.
    pub(super) fn overlays(&self) -> &[String] {
        &self.overlays
    }

    pub(super) fn folder(&self, base: Base) -> String {
        self.moved
            .get(&base)
            .cloned()
            .unwrap_or_else(|| base.usual())
    }

    /// Which folder of kubebuilder is at a path.
    pub(super) fn base(&self, path: &str) -> Option<Base> {
        Base::ALL
            .into_iter()
            .find(|base| self.folder(*base) == path)
    }

    /// Whether the kustomizations leave a folder of kubebuilder out. CRDs are released in any case,
    /// and a project without kustomizations leaves nothing out.
    pub(super) fn leaves_out(&self, base: Base) -> bool {
        base != Base::Crds && !self.taken.is_empty() && !self.taken.contains(&base)
    }

    /// The folders of kubebuilder that are left out.
    pub(super) fn left_out(&self) -> impl Iterator<Item = String> {
        Base::ALL
            .into_iter()
            .filter(|base| self.leaves_out(*base))
            .map(|base| self.folder(base))
    }

    pub(super) fn folders(&self) -> impl Iterator<Item = String> {
        Base::ALL.into_iter().map(|base| self.folder(base))
    }
}

/// What a kustomization is made of, as it has it, each with its path in the project.
pub(super) fn parts(folder: &str, kustomization: &Value) -> Vec<(String, String)> {
    let lists = ["resources", "bases", "components"].into_iter();
    let items = lists.flat_map(|list| {
        fields::items(kustomization, &[list])
            .iter()
            .filter_map(Value::as_str)
    });
    items
        .map(|part| (part.to_owned(), plain(&format!("{folder}/{part}"))))
        .collect()
}

struct Walk<'a, 'k> {
    kustomization: &'a dyn Fn(&str) -> &'k Value,
    is_there: &'a dyn Fn(&str) -> bool,
    /// What is not taken from where kubebuilder puts it.
    movable: Vec<Base>,
    /// The folders that were looked at, and whether they lead to a folder of kubebuilder.
    led: BTreeMap<String, bool>,
    /// With the overlays innermost first.
    found: Layout,
}

impl Walk<'_, '_> {
    /// Whether a kustomization includes a kubebuilder folder, directly or through others. A cycle
    /// alone does not count.
    fn leads(&mut self, folder: &str, depth: usize) -> bool {
        if let Some(known) = self.led.get(folder) {
            return *known;
        }
        self.led.insert(folder.to_owned(), false);
        let (mut leads, mut wraps) = (false, false);
        for (_, part) in parts(folder, (self.kustomization)(folder)) {
            if self.is_usual(&part) {
                leads = true;
            } else if !wraps && depth < DEEPEST && self.leads(&part, depth + 1) {
                // Two beside each other would be two releases.
                (leads, wraps) = (true, true);
            } else if self.is_moved(&part) {
                leads = true;
            }
        }
        if leads {
            self.led.insert(folder.to_owned(), true);
            self.found.overlays.push(folder.to_owned());
        }
        leads
    }

    /// Whether a folder is one of kubebuilder's by its path. A file of one takes it too.
    fn is_usual(&mut self, part: &str) -> bool {
        let below = |base: &Base| {
            part.strip_prefix(&base.usual())
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
                .map(str::is_empty)
        };
        let found = Base::ALL
            .into_iter()
            .find_map(|base| Some((base, below(&base)?)));
        self.found.taken.extend(found.map(|(base, _)| base));
        found.is_some_and(|(_, is_whole)| is_whole)
    }

    /// Whether a folder is one of kubebuilder's by its name. The first of a name that is there
    /// counts.
    fn is_moved(&mut self, folder: &str) -> bool {
        let name = folder.rsplit('/').next();
        let Some(base) = self
            .movable
            .iter()
            .find(|base| Some(base.name()) == name)
            .filter(|_| (self.is_there)(folder))
        else {
            return false;
        };
        self.found.taken.insert(*base);
        self.found
            .moved
            .entry(*base)
            .or_insert_with(|| folder.to_owned())
            == folder
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The overlays of a project that has all folders of kubebuilder where it puts them.
    fn overlays_of<'k>(kustomization: &dyn Fn(&str) -> &'k Value) -> Vec<String> {
        Layout::of(kustomization, &|_| true).overlays
    }

    #[test]
    fn what_is_wrapped_is_found_outermost_first() {
        let project = json!({
            "config/default": {"resources": ["../outer", "a.yaml"], "components": ["../extra"]},
            "config/outer": {"bases": ["./inner/"], "resources": ["../default", "../crd"]},
            "config/outer/inner": {"resources": ["../../manager/", "namespace.yaml"]},
            "config/extra": {"resources": ["b.yaml"]},
        });
        let overlays = overlays_of(&|folder| &project[folder]);
        assert_eq!(
            overlays,
            ["config/default", "config/outer", "config/outer/inner"]
        );
    }

    #[test]
    fn of_two_beside_each_other_the_first_counts() {
        let project = json!({
            "config/default": {"resources": ["../b", "../a"]},
            "config/a": {"resources": ["../manager"]},
            "config/b": {"resources": ["../crd"]},
        });
        assert_eq!(
            overlays_of(&|folder| &project[folder]),
            ["config/default", "config/b"]
        );
    }

    #[test]
    fn what_leads_nowhere_is_none() {
        assert_eq!(overlays_of(&|_| &Value::Null), ["config/default"]);
        let circle = json!({"config/default": {"resources": ["../a"]}, "config/a": {"resources": ["../default"]}});
        assert_eq!(overlays_of(&|folder| &circle[folder]), ["config/default"]);
    }

    #[test]
    fn chains_are_followed_as_deep_as_real_ones_are_and_not_for_ever() {
        let chain = |length: usize| {
            let below = |at: usize| {
                if at == length {
                    "../crd".to_owned()
                } else {
                    format!("../{}", at + 1)
                }
            };
            let links =
                (1..=length).map(|at| (format!("config/{at}"), json!({"resources": [below(at)]})));
            let all: Value = links
                .chain([(DEFAULT.to_owned(), json!({"resources": ["../1"]}))])
                .collect();
            overlays_of(&|folder| &all[folder]).len()
        };
        assert_eq!(
            (chain(3), chain(DEEPEST), chain(DEEPEST + 1)),
            (4, DEEPEST + 1, 1)
        );
        let endless = json!({"resources": ["a"]});
        assert_eq!(overlays_of(&|_| &endless), ["config/default"]);
    }

    #[test]
    fn what_stands_elsewhere_is_found_by_its_name() {
        let project = json!({
            "config/default": {"resources": ["https://harbour.example//crd", "../base", "./crd", "../a/webhook", "../b/webhook", "../c/webhook"]},
            "config/base": {"bases": ["../rbac", "../manager", "../other/manager"]},
        });
        // What else is in config/crd is no reason to look for the CRDs there.
        let is_there = |folder: &str| folder != "config/a/webhook" && !folder.contains("https:");
        let layout = Layout::of(&|folder| &project[folder], &is_there);
        assert_eq!(layout.overlays(), ["config/default", "config/base"]);
        let folders: Vec<String> = layout.folders().collect();
        assert_eq!(
            folders,
            [
                "config/default/crd",
                "config/rbac",
                "config/manager",
                "config/b/webhook",
                "config/certmanager"
            ]
        );
    }

    #[test]
    fn what_nobody_takes_is_left_out_but_crds() {
        let of = |resources: Value| {
            let project = json!({ DEFAULT: { "resources": resources } });
            Layout::of(&|folder| &project[folder], &|_| true)
                .left_out()
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of(json!(["../manager", "../rbac/role.yaml"])),
            ["config/webhook", "config/certmanager"]
        );
        assert_eq!(
            of(json!([
                "../crd",
                "../rbac",
                "../manager",
                "../webhook",
                "../certmanager"
            ])),
            [""; 0]
        );
        assert_eq!(of(json!(["a.yaml"])), [""; 0]);
    }

    #[test]
    fn a_folder_that_leads_on_is_none_of_kubebuilder() {
        let project = json!({
            "config/default": {"resources": ["../base/manager"]},
            "config/base/manager": {"namePrefix": "inner-", "resources": ["manager.yaml", "../../rbac"]},
        });
        let layout = Layout::of(&|folder| &project[folder], &|_| true);
        assert_eq!(layout.overlays(), ["config/default", "config/base/manager"]);
        assert_eq!(layout.folder(Base::Manager), "config/manager");
    }

    #[test]
    fn what_stands_where_kubebuilder_puts_it_is_not_looked_for() {
        let project = json!({"config/default": {"resources": ["../manager", "../other/crd"]}, "config/other/crd": {"resources": ["../../crd"]}});
        let layout = Layout::of(&|folder| &project[folder], &|_| true);
        assert_eq!(layout.overlays(), ["config/default", "config/other/crd"]);
        assert_eq!(layout.folder(Base::Crds), "config/crd");
    }
}
