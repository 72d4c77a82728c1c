//! What a kubebuilder project holds, where kubebuilder puts it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::overlays::{self, CRDS};
use crate::contract::{METADATA_FILE, template_flavor};
use crate::diag::Report;
use crate::objects::{self, Object, fields};
use crate::provider::{KUSTOMIZATION_FILES, Kustomization};
use crate::text::budget::Budget;
use crate::text::glob::plain;
use crate::text::source::Source;
use crate::text::tree::Tree;
use crate::text::yaml;

/// A kubebuilder project.
pub(super) struct Project<'a> {
    tree: &'a Tree,
    budget: &'a Budget,
    /// What is in `PROJECT`, metadata.yaml and kustomizations.
    values: BTreeMap<String, Value>,
    /// See [`Project::overlays`].
    overlays: Vec<String>,
    /// The CRDs, with the files that they are in.
    pub(super) crds: Vec<(String, Object)>,
}

impl<'a> Project<'a> {
    /// Reads what is looked at more than once; faults of YAML are reported.
    pub(super) fn read(tree: &'a Tree, budget: &'a Budget, report: &mut Report) -> Self {
        let mut project = Project { tree, budget, values: BTreeMap::new(), overlays: Vec::new(), crds: Vec::new() };
        let kustomizations = tree.paths().filter(|path| path.starts_with("config/") && is_kustomization(path));
        for path in kustomizations.chain(["PROJECT", METADATA_FILE]) {
            project.read_value(path, report);
        }
        project.overlays = overlays::overlays(&|folder| project.kustomization(folder));
        // Patches and configuration of kustomize stand beside the CRDs.
        let is_crds = |path: &String| {
            project.text(path).is_some_and(|text| text.contains("kind: CustomResourceDefinition") && text.contains("openAPIV3Schema"))
        };
        for path in project.paths(&format!("{CRDS}/")).into_iter().filter(is_crds).collect::<Vec<_>>() {
            for object in project.objects(&path, report) {
                if object.kind() == "CustomResourceDefinition" {
                    project.crds.push((path.clone(), object));
                }
            }
        }
        project
    }

    fn read_value(&mut self, path: &str, report: &mut Report) {
        let Some(text) = self.text(path) else { return };
        let parsed = yaml::parse(&Source::new(path, text), self.budget);
        report.extend(parsed.report);
        let value = parsed.documents.into_iter().next().map_or(Value::Null, |document| document.root.into_json());
        self.values.insert(path.to_owned(), value);
    }

    /// The YAML files below a folder, without kustomize's own.
    pub(super) fn paths(&self, folder: &str) -> Vec<String> {
        let is_wanted = |path: &&str| path.starts_with(folder) && path.ends_with(".yaml") && !is_kustomization(path);
        self.tree.paths().filter(is_wanted).map(str::to_owned).collect()
    }

    /// The text of a file.
    pub(super) fn text(&self, path: &str) -> Option<&'a str> {
        std::str::from_utf8(self.tree.get(path)?).ok()
    }

    /// The objects of a file.
    pub(super) fn objects(&self, path: &str, report: &mut Report) -> Vec<Object> {
        let Some(text) = self.text(path) else { return Vec::new() };
        let (objects, found) = objects::read(&Source::new(path, text), self.budget);
        report.extend(found);
        objects
    }

    /// The first document of a file that was read as a value, such as `PROJECT`.
    pub(super) fn value(&self, path: &str) -> &Value {
        self.values.get(path).unwrap_or(&Value::Null)
    }

    /// The kustomization of a folder such as `config/default`.
    pub(super) fn kustomization(&self, folder: &str) -> Value {
        self.kustomization_path(folder).map_or(Value::Null, |path| self.value(&path).clone())
    }

    /// The file of a folder's kustomization, of the three that kustomize looks for.
    fn kustomization_path(&self, folder: &str) -> Option<String> {
        KUSTOMIZATION_FILES.into_iter().map(|name| format!("{folder}/{name}")).find(|path| self.tree.get(path).is_some())
    }

    /// The same as a file whose patches can be read.
    pub(super) fn kustomization_file(&self, folder: &str) -> Option<Kustomization> {
        let path = self.kustomization_path(folder)?;
        Some(Kustomization::read(&Source::new(path.as_str(), self.text(&path)?), self.budget))
    }

    /// The folders whose kustomizations wrap those of kubebuilder, outermost first; config/default is always the first.
    pub(super) fn overlays(&self) -> &[String] {
        &self.overlays
    }

    /// What the overlays say in a field, outermost first, with their files.
    pub(super) fn said(&self, field: &str) -> Vec<(String, String)> {
        let of = |folder: &String| {
            let path = self.kustomization_path(folder)?;
            Some((fields::text(self.value(&path), &[field]).to_owned(), path))
        };
        self.overlays.iter().filter_map(of).filter(|(text, _)| !text.is_empty()).collect()
    }

    /// What the whole of the work may cost.
    pub(super) fn budget(&self) -> &'a Budget {
        self.budget
    }

    /// The files of a folder that its kustomization takes, in its order; all of them where it names none.
    pub(super) fn resources(&self, folder: &str) -> Vec<String> {
        let kustomization = self.kustomization(folder);
        let named =
            fields::items(&kustomization, &["resources"]).iter().filter_map(Value::as_str).map(|path| plain(&format!("{folder}/{path}")));
        let named: Vec<String> = named.filter(|path| self.tree.get(path).is_some()).collect();
        if named.is_empty() { self.paths(&format!("{folder}/")) } else { named }
    }

    /// The labels that kustomizations put on things, each with the file that says so; outer folders first.
    pub(super) fn labels(&self) -> Vec<(String, String, String)> {
        let mut labels = Vec::new();
        for (file, kustomization) in self.values.iter().filter(|(path, _)| is_kustomization(path)) {
            let pairs = fields::items(kustomization, &["labels"]).iter().map(|entry| &entry["pairs"]);
            for map in pairs.chain([&kustomization["commonLabels"]]).filter_map(Value::as_object) {
                let texts = map.iter().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned(), file.clone())));
                labels.extend(texts);
            }
        }
        labels
    }

    /// The contract of the last series of metadata.yaml.
    pub(super) fn newest_contract(&self) -> Option<String> {
        let series = fields::items(self.value(METADATA_FILE), &["releaseSeries"]);
        Some(fields::text(newest(series)?, &["contract"]).to_owned())
    }

    /// The first version of the newest series of metadata.yaml.
    pub(super) fn newest_version(&self) -> Option<String> {
        let newest = newest(fields::items(self.value(METADATA_FILE), &["releaseSeries"]))?;
        Some(format!("v{}.{}.0", newest["major"].as_u64()?, newest["minor"].as_u64()?))
    }

    /// The files of config/rbac: those with roles, bindings and ServiceAccounts, and those with anything else.
    pub(super) fn rbac_files(&self, report: &mut Report) -> (Vec<String>, Vec<String>) {
        const RIGHTS: [&str; 5] = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ServiceAccount"];
        let is_rights = |path: &String| self.objects(path, report).iter().all(|object| RIGHTS.contains(&object.kind()));
        self.resources("config/rbac").into_iter().partition(is_rights)
    }

    /// Whether there are cluster templates.
    pub(super) fn has_templates(&self) -> bool {
        self.tree.paths().filter_map(|path| path.strip_prefix("templates/")).any(|file| template_flavor(file).is_some())
    }
}

fn is_kustomization(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| KUSTOMIZATION_FILES.contains(&name))
}

fn newest(series: &[Value]) -> Option<&Value> {
    series.iter().max_by_key(|series| (series["major"].as_u64(), series["minor"].as_u64()))
}
