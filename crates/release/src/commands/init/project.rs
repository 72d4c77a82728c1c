//! What a kubebuilder project holds, where kubebuilder puts it or its kustomizations have it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::NO_KUSTOMIZATION;
use super::layout::{Base, Layout, parts};
use windlass_capi::contract::{METADATA_FILE, labels, template_flavor};
use windlass_go_yaml::yaml;
use windlass_lint::definitions::{CRD_GROUP, CRD_KIND};
use windlass_objects::{self as objects, Object, fields};
use windlass_provider::{Action, KUSTOMIZATION_FILES, Kustomization};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report};
use windlass_source::glob::plain;
use windlass_source::tree::Tree;

pub(super) struct Project<'a> {
    tree: &'a Tree,
    budget: &'a Budget,
    /// What is in `PROJECT` and metadata.yaml.
    values: BTreeMap<&'static str, Value>,
    /// The kustomizations with their patches, by folder.
    kustomizations: BTreeMap<String, Kustomization>,
    layout: Layout,
    /// The CRDs, with the files that they are in.
    pub(super) crds: Vec<(String, Object)>,
    /// The objects that kustomize built, if they are given.
    built: Vec<Object>,
}

impl<'a> Project<'a> {
    /// Reads what is looked at more than once; faults of YAML are reported.
    ///
    /// Of a project whose objects are built, only `PROJECT`, metadata.yaml and templates are read.
    pub(super) fn read(
        tree: &'a Tree,
        built: Option<&(String, Source)>,
        budget: &'a Budget,
        report: &mut Report,
    ) -> Self {
        let mut project = Project {
            tree,
            budget,
            values: BTreeMap::new(),
            kustomizations: BTreeMap::new(),
            layout: Layout::default(),
            crds: Vec::new(),
            built: Vec::new(),
        };
        for path in ["PROJECT", METADATA_FILE] {
            project.read_value(path, report);
        }
        if let Some((_, source)) = built {
            project.read_built(source, report);
            return project;
        }
        let folders = tree
            .paths()
            .filter_map(|path| path.rsplit_once('/'))
            .filter(|(_, file)| KUSTOMIZATION_FILES.contains(file));
        for folder in folders
            .map(|(folder, _)| folder)
            .filter(|folder| folder.starts_with("config/"))
            .collect::<BTreeSet<_>>()
        {
            project.read_kustomization(folder, report);
        }
        project.layout = Layout::of(&|folder| project.kustomization(folder), &|folder| {
            project.has(folder)
        });
        project.judge_kustomizations(report);
        project.read_crds(report);
        project
    }

    /// Reads what kustomize built.
    fn read_built(&mut self, source: &Source, report: &mut Report) {
        let (objects, found) = objects::read(source, self.budget);
        report.extend(found);
        let crds = objects
            .iter()
            .filter(|object| object.is(CRD_GROUP, CRD_KIND))
            .map(|crd| (source.name().to_string(), crd.clone()));
        self.crds = crds.collect();
        self.built = objects;
    }

    /// Tells the kustomizations from which nobody could take anything.
    fn judge_kustomizations(&self, report: &mut Report) {
        let folders = self
            .layout
            .overlays()
            .iter()
            .cloned()
            .chain(self.layout.folders());
        let files = folders.filter_map(|folder| self.kustomizations.get(&folder));
        for file in files.filter(|file| !file.value().is_object() && !file.report().has_errors()) {
            let message = format!(
                "{} is not a map, so that kustomize rejects it",
                file.source().name()
            );
            let finding = Diagnostic::of(&NO_KUSTOMIZATION, message).at(file.source().place());
            report.push(
                finding.help("write `resources:` and the files that it takes, or remove the file"),
            );
        }
    }

    /// Reads the CRDs; patches and configuration of kustomize stand beside them.
    fn read_crds(&mut self, report: &mut Report) {
        let folder = self.folder(Base::Crds);
        let patches = self
            .kustomization_file(&folder)
            .map(Kustomization::patch_files)
            .unwrap_or_default();
        let patches: BTreeSet<String> = patches
            .iter()
            .map(|file| plain(&format!("{folder}/{file}")))
            .collect();
        for path in self
            .paths(&format!("{folder}/"))
            .into_iter()
            .filter(|path| !patches.contains(path))
        {
            let Some(source) = self.source(&path, report) else {
                continue;
            };
            if source.text().contains("kind: CustomResourceDefinition")
                && source.text().contains("openAPIV3Schema")
            {
                let (objects, found) = objects::read(&source, self.budget);
                report.extend(found);
                let crds = objects
                    .into_iter()
                    .filter(|object| object.kind() == "CustomResourceDefinition");
                self.crds.extend(crds.map(|object| (path.clone(), object)));
            }
        }
    }

    /// Reads the kustomization of a folder from the first of the files that kustomize looks for.
    fn read_kustomization(&mut self, folder: &str, report: &mut Report) {
        let path = KUSTOMIZATION_FILES
            .into_iter()
            .map(|name| format!("{folder}/{name}"))
            .find(|path| self.tree.get(path).is_some());
        let Some(source) = path.and_then(|path| self.source(&path, report)) else {
            return;
        };
        let mut kustomization = Kustomization::read(&source, self.budget);
        report.extend(kustomization.report().clone());
        for file in kustomization.patch_files() {
            if let Some(source) = self.source(&plain(&format!("{folder}/{file}")), report) {
                kustomization.insert(file, source);
            }
        }
        self.kustomizations.insert(folder.to_owned(), kustomization);
    }

    fn read_value(&mut self, path: &'static str, report: &mut Report) {
        let Some(source) = self.source(path, report) else {
            return;
        };
        let parsed = yaml::parse(&source, self.budget);
        report.extend(parsed.report);
        let value = parsed
            .documents
            .into_iter()
            .next()
            .map_or(Value::Null, |document| document.root.into_json());
        self.values.insert(path, value);
    }

    /// Whether there is such a file, or a file below such a folder.
    pub(super) fn has(&self, path: &str) -> bool {
        self.tree.holds(path)
    }

    /// The YAML files below a folder, without kustomize's own.
    pub(super) fn paths(&self, folder: &str) -> Vec<String> {
        let is_own = |path: &str| {
            path.rsplit('/')
                .next()
                .is_some_and(|name| KUSTOMIZATION_FILES.contains(&name))
        };
        let is_wanted =
            |path: &&str| path.starts_with(folder) && path.ends_with(".yaml") && !is_own(path);
        self.tree
            .paths()
            .filter(is_wanted)
            .map(str::to_owned)
            .collect()
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.tree.get(path).is_some()
    }

    /// The text of a file; one that is not text is reported.
    fn source(&self, path: &str, report: &mut Report) -> Option<Source> {
        Source::of_bytes(path, self.tree.get(path)?)
            .map_err(|fault| report.push(*fault))
            .ok()
    }

    pub(super) fn objects(&self, path: &str, report: &mut Report) -> Vec<Object> {
        let Some(source) = self.source(path, report) else {
            return Vec::new();
        };
        let (objects, found) = objects::read(&source, self.budget);
        report.extend(found);
        objects
    }

    /// The first document of `PROJECT` or metadata.yaml.
    pub(super) fn value(&self, path: &str) -> &Value {
        self.values.get(path).unwrap_or(&Value::Null)
    }

    /// What the kustomization of a folder such as `config/default` says; null where there is none.
    pub(super) fn kustomization(&self, folder: &str) -> &Value {
        self.kustomization_file(folder)
            .map_or(&Value::Null, Kustomization::value)
    }

    pub(super) fn kustomization_file(&self, folder: &str) -> Option<&Kustomization> {
        self.kustomizations.get(folder)
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn folder(&self, base: Base) -> String {
        self.layout.folder(base)
    }

    /// What the overlays say in a field, outermost first, with their files.
    pub(super) fn said(&self, field: &str) -> Vec<(String, String)> {
        let built = self.built.iter();
        let namespace = built
            .filter(|object| field == "namespace" && object.kind() == "Namespace")
            .filter_map(|object| {
                Some((
                    object.name().to_owned(),
                    object.source()?.name().to_string(),
                ))
            })
            .next();
        if let Some(namespace) = namespace {
            return vec![namespace];
        }
        let of = |folder: &String| {
            let kustomization = self.kustomization_file(folder)?;
            Some((
                fields::text(kustomization.value(), &[field]).to_owned(),
                kustomization.source().name().to_string(),
            ))
        };
        self.layout
            .overlays()
            .iter()
            .filter_map(of)
            .filter(|(text, _)| !text.is_empty())
            .collect()
    }

    /// What the whole of the work may cost.
    pub(super) fn budget(&self) -> &'a Budget {
        self.budget
    }

    /// The files of a folder of kubebuilder, see [`Project::resources`]; none of one that is left
    /// out.
    pub(super) fn files_of(&self, base: Base) -> Vec<String> {
        if self.layout.leaves_out(base) {
            Vec::new()
        } else {
            self.resources(&self.folder(base))
        }
    }

    /// The files that the overlays take themselves.
    pub(super) fn files_of_overlays(&self) -> impl Iterator<Item = String> {
        let overlays = self.layout.overlays().iter();
        let parts = overlays.flat_map(|folder| parts(folder, self.kustomization(folder)));
        parts
            .map(|(_, path)| path)
            .filter(|path| self.has_file(path))
    }

    /// The labels that kustomize also puts into selectors: those of the folder of the manager and of
    /// all overlays, the outermost last.
    pub(super) fn labels_of_selectors(&self) -> BTreeMap<String, Value> {
        let manager = self.folder(Base::Manager);
        let folders = std::iter::once(&manager).chain(self.layout.overlays().iter().rev());
        let of = |folder: &String| {
            let value = self.kustomization(folder);
            let entries = fields::items(value, &["labels"])
                .iter()
                .filter(|entry| entry["includeSelectors"] == true)
                .map(|entry| &entry["pairs"]);
            let maps = entries.chain([&value["commonLabels"]]).cloned();
            maps.collect::<Vec<_>>()
        };
        folders
            .flat_map(of)
            .filter_map(|map| match map {
                Value::Object(map) => Some(map),
                _ => None,
            })
            .flatten()
            .collect()
    }

    /// The files of a folder that its kustomization takes, in its order; all of them where it names
    /// none.
    pub(super) fn resources(&self, folder: &str) -> Vec<String> {
        let named = parts(folder, self.kustomization(folder))
            .into_iter()
            .map(|(_, path)| path);
        let named: Vec<String> = named.filter(|path| self.has_file(path)).collect();
        if named.is_empty() {
            self.paths(&format!("{folder}/"))
        } else {
            named
        }
    }

    /// The labels that kustomizations put on things, each with the file that says so; outer folders
    /// first.
    pub(super) fn labels(&self) -> Vec<(String, String, String)> {
        let built = self.built.iter().filter_map(|object| {
            let value = object.label(labels::PROVIDER)?.to_owned();
            let file = object.source()?.name().to_string();
            Some((labels::PROVIDER.to_owned(), value, file))
        });
        let mut labels: Vec<_> = built.collect();
        for file in self.kustomizations.values() {
            let (file, kustomization) = (file.source().name(), file.value());
            let pairs = fields::items(kustomization, &["labels"])
                .iter()
                .map(|entry| &entry["pairs"]);
            for map in pairs
                .chain([&kustomization["commonLabels"]])
                .filter_map(Value::as_object)
            {
                let texts = map.iter().filter_map(|(key, value)| {
                    Some((key.clone(), value.as_str()?.to_owned(), file.to_string()))
                });
                labels.extend(texts);
            }
        }
        labels
    }

    /// The labels that the overlays put on all objects; the outermost win.
    pub(super) fn labels_of_overlays(&self) -> BTreeMap<String, String> {
        let changes = self
            .layout
            .overlays()
            .iter()
            .rev()
            .filter_map(|folder| self.kustomization_file(folder))
            .flat_map(Kustomization::metadata);
        let labels = changes.filter_map(|change| match change.action {
            Action::Metadata("labels", texts) => Some(texts),
            _ => None,
        });
        labels.flatten().collect()
    }

    /// The contract of the last series of metadata.yaml.
    pub(super) fn newest_contract(&self) -> Option<String> {
        let series = fields::items(self.value(METADATA_FILE), &["releaseSeries"]);
        Some(fields::text(newest(series)?, &["contract"]).to_owned())
    }

    /// The first version of the newest series of metadata.yaml.
    pub(super) fn newest_version(&self) -> Option<String> {
        let newest = newest(fields::items(self.value(METADATA_FILE), &["releaseSeries"]))?;
        Some(format!(
            "v{}.{}.0",
            newest["major"].as_u64()?,
            newest["minor"].as_u64()?
        ))
    }

    /// The files with rights: those with roles, bindings and ServiceAccounts, and those with
    /// anything else.
    pub(super) fn rbac_files(&self, report: &mut Report) -> (Vec<String>, Vec<String>) {
        const RIGHTS: [&str; 5] = [
            "Role",
            "ClusterRole",
            "RoleBinding",
            "ClusterRoleBinding",
            "ServiceAccount",
        ];
        let is_rights = |path: &String| {
            self.objects(path, report)
                .iter()
                .all(|object| RIGHTS.contains(&object.kind()))
        };
        self.files_of(Base::Rbac).into_iter().partition(is_rights)
    }

    pub(super) fn has_templates(&self) -> bool {
        self.tree
            .paths()
            .filter_map(|path| path.strip_prefix("templates/"))
            .any(|file| template_flavor(file).is_some())
    }
}

fn newest(series: &[Value]) -> Option<&Value> {
    series
        .iter()
        .max_by_key(|series| (series["major"].as_u64(), series["minor"].as_u64()))
}
