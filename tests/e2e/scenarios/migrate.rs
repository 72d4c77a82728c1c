//! What `migrate` makes of real files: the API server takes it, with every webhook and conversion
//! of Cluster API, and it makes the same machines.

#[path = "../../migrate/corpus.rs"]
mod corpus;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use corpus::{has_patched_argument, referred, rendered, substituted, text_of};
use serde_json::{Value, json};
use windlass_capi::api::names::Version;
use windlass_checks::commands::migrate::{self, Wanted};
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Severity;

use super::topology::placeholders::{self, Kinds};
use crate::harness::api_server::Rejection;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{components, managers, shared, wait};

/// The release whose API `migrate` writes: v1.13 added fields to v1beta1.
const CLUSTER_API: &str = "v1.14.0";
const SOON: Duration = Duration::from_secs(60);
/// How many files are checked at a time.
const WORKERS: usize = 16;
/// In the order in which a file is migrated: there and back.
const WAYS: [Version; 2] = [Version::V1Beta2, Version::V1Beta1];
/// The kinds to which Clusters and Machines refer are in groups that end so.
const GROUPS: &str = "cluster.x-k8s.io";

/// Each file of the corpus whose variables have values, migrated to v1beta2 and from there to
/// v1beta1: the server takes every object that it took before, and the machines that can be
/// rendered have the same data.
pub(crate) fn files_of_the_corpus_are_taken(context: &Context) {
    let plane = context.control_plane();
    for file in ["core", "bootstrap", "control-plane"] {
        components::apply(
            &plane,
            &shared::cluster_api(CLUSTER_API).join(format!("{file}-components.yaml")),
        );
    }
    let files = File::all(&shared::path("corpus"));
    placeholders::install_kinds(&plane, &foreign(&plane, &files));
    let made: BTreeSet<&str> = files
        .iter()
        .flat_map(|file| &file.objects)
        .map(|object| text(&object["metadata"], "namespace"))
        .collect();
    for namespace in made.into_iter().filter(|name| !name.is_empty()) {
        plane
            .api
            .apply(
                &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
            )
            .unwrap();
    }
    managers::start(
        &plane,
        CLUSTER_API,
        &[
            managers::CORE,
            managers::KUBEADM_BOOTSTRAP,
            managers::KUBEADM_CONTROL_PLANE,
        ],
    );
    let by_hand = judged(
        &plane,
        &[File {
            name: "by hand".to_owned(),
            text: BY_HAND.to_owned(),
            objects: objects("", BY_HAND).unwrap(),
        }],
    );
    assert!(
        by_hand.faults.is_empty() && (by_hand.taken, by_hand.same) == ([3, 2], 1),
        "{by_hand:#?}"
    );
    let mut tally = judged(&plane, &files);
    let faults = std::mem::take(&mut tally.faults);
    println!("  {tally:?}");
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(
        tally.files >= 250
            && tally.rendered >= 180
            && tally.taken.iter().all(|taken| *taken >= 300),
        "{tally:?}"
    );
}

/// A file of the corpus.
struct File {
    name: String,
    text: String,
    /// Its objects, with the defaults of its variables.
    objects: Vec<Value>,
}

impl File {
    /// All that hold something that is migrated, but those with variables that have no value, and
    /// those that are not YAML.
    fn all(corpus: &Path) -> Vec<File> {
        let texts: Vec<(String, String)> = shared::yaml_files(corpus)
            .iter()
            .filter_map(|path| text_of(corpus, path))
            .collect();
        let count = texts.len();
        let of_text = |(name, text): (String, String)| {
            Some(File {
                objects: objects(&name, &text)?,
                name,
                text,
            })
        };
        let files: Vec<File> = texts.into_iter().filter_map(of_text).collect();
        println!(
            "  {} of {count} files, whose variables have values",
            files.len()
        );
        files
    }
}

/// The kinds of other providers that the files speak of.
fn foreign(plane: &ControlPlane, files: &[File]) -> Kinds {
    let mut kinds = Kinds::new();
    files
        .iter()
        .flat_map(|file| &file.objects)
        .for_each(|object| named(object, &mut kinds));
    let crds = plane
        .api
        .list("apiextensions.k8s.io/v1", "CustomResourceDefinition", None);
    let ours: BTreeSet<(&str, &str)> = crds
        .iter()
        .map(|crd| {
            (
                text(&crd["spec"], "group"),
                text(&crd["spec"]["names"], "kind"),
            )
        })
        .collect();
    kinds.retain(|(group, kind), _| {
        group.ends_with(GROUPS) && !ours.contains(&(group.as_str(), kind.as_str()))
    });
    kinds
}

/// Adds the kinds that are named with their version.
fn named(value: &Value, kinds: &mut Kinds) {
    match value {
        Value::Object(fields) => {
            let is_word =
                |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
            if let Some((group, version)) = text(value, "apiVersion").split_once('/')
                && is_word(text(value, "kind"))
                && is_word(version)
            {
                kinds
                    .entry((group.to_owned(), text(value, "kind").to_owned()))
                    .or_default()
                    .insert(version.to_owned());
            }
            fields.values().for_each(|inner| named(inner, kinds));
        }
        Value::Array(items) => items.iter().for_each(|item| named(item, kinds)),
        _ => {}
    }
}

/// What was checked, and what was left out.
#[derive(Debug, Default)]
struct Tally {
    /// Files of which an object changed and was taken.
    files: usize,
    /// Objects that changed and are taken, in v1beta2 and in v1beta1.
    taken: [usize; 2],
    /// Migrated files whose machines have the data of before.
    rendered: usize,
    /// Migrations that say that something cannot be carried, to v1beta2 and to v1beta1.
    not_carried: [usize; 2],
    /// Objects that change, and that the server does not take as they are written.
    rejected_before: usize,
    /// Objects that stay as they are, or come back so.
    same: usize,
    /// What must not be.
    faults: Vec<String>,
}

/// Checks files, many at a time: the webhook of Clusters waits some seconds for a class that is not
/// there.
fn judged(plane: &ControlPlane, files: &[File]) -> Tally {
    let judge = Judge {
        plane,
        answers: Mutex::default(),
        tally: Mutex::default(),
    };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    judge.file(file);
                }
            });
        }
    });
    judge.tally.into_inner().unwrap()
}

struct Judge<'a> {
    plane: &'a ControlPlane,
    /// What the server said of objects, which stand in several files.
    answers: Mutex<BTreeMap<String, Option<String>>>,
    tally: Mutex<Tally>,
}

impl Judge<'_> {
    /// Migrates a file there and back.
    fn file(&self, file: &File) {
        let data = rendered(&file.name, &file.text).filter(|_| !has_patched_argument(&file.text));
        let (mut now, mut has_taken) = (file.text.clone(), false);
        for (way, version) in WAYS.into_iter().enumerate() {
            let Some(migrated) = migrated(&now, &referred(&file.text), version) else {
                self.tally().not_carried[way] += 1;
                break;
            };
            let after = objects(&file.name, &migrated).unwrap_or_default();
            assert_eq!(
                after.len(),
                file.objects.len(),
                "{}: objects in {version}",
                file.name
            );
            for (old, new) in file.objects.iter().zip(&after) {
                has_taken |= self.object(&file.name, old, new, way);
            }
            if let Some(data) = data.as_ref().filter(|_| migrated != now) {
                let is_same = rendered(&file.name, &migrated).is_some_and(|new| new == *data);
                let mut tally = self.tally();
                tally.rendered += usize::from(is_same);
                tally
                    .faults
                    .extend((!is_same).then(|| format!("{}: other data in {version}", file.name)));
            }
            now = migrated;
        }
        self.tally().files += usize::from(has_taken);
    }

    /// Asks the server for an object that was migrated, if it takes the one that it was; whether it
    /// takes both.
    fn object(&self, file: &str, old: &Value, new: &Value, way: usize) -> bool {
        if old == new {
            self.tally().same += 1;
            return false;
        }
        if self.answer(old).is_some() {
            self.tally().rejected_before += 1;
            return false;
        }
        let rejection = self.answer(new);
        let mut tally = self.tally();
        match &rejection {
            None => tally.taken[way] += 1,
            Some(words) => tally
                .faults
                .push(format!("{file}: {words}\n  {old}\n  {new}")),
        }
        rejection.is_none()
    }

    /// What the server says against an object.
    fn answer(&self, object: &Value) -> Option<String> {
        let key = object.to_string();
        if let Some(answer) = self.answers.lock().unwrap().get(&key) {
            return answer.clone();
        }
        let answer = wait::until(
            &format!(
                "a word about {} {}",
                object["kind"], object["metadata"]["name"]
            ),
            SOON,
            || {
                self.plane.assert_running();
                match self.plane.api.try_create(object) {
                    Ok(_) => Ok(None),
                    Err(rejection) if rejection.passes() && is_early(&rejection) => {
                        Err(rejection.to_string())
                    }
                    Err(rejection) => Ok(Some(rejection.to_string())),
                }
            },
        );
        self.answers.lock().unwrap().insert(key, answer.clone());
        answer
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap()
    }
}

/// Whether it is the connection that a webhook or a conversion lacks: what they say themselves
/// against an object is an answer.
fn is_early(rejection: &Rejection) -> bool {
    rejection.code == 404
        || ["dial tcp", "x509", "EOF"]
            .iter()
            .any(|fault| rejection.message().contains(fault))
}

/// Objects of v1beta1 that the server takes and whose parts v1beta2 wants absent.
const BY_HAND: &str = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: by-hand}
spec:
  clusterName: c
  template:
    spec:
      clusterName: c
      bootstrap: {configRef: {}, dataSecretName: x}
      infrastructureRef:
        apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
        kind: DockerMachineTemplate
        name: x
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: by-hand}
spec:
  controlPlaneRef: {}
  infrastructureRef:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: DockerCluster
    name: x
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlaneTemplate
metadata: {name: by-hand}
spec: {template: {metadata: {labels: {a: b}}, spec: {kubeadmConfigSpec: {}}}}
"#;

/// A text after its migration; `None` when it says that something cannot be carried.
fn migrated(text: &str, others: &str, version: Version) -> Option<String> {
    let sources = [
        Source::new("f.yaml", text),
        Source::new("others.yaml", others),
    ];
    let wanted = Wanted {
        version: Some(version),
        family: None,
    };
    let migration = migrate::run(&sources, &wanted, &BTreeSet::new(), &Arc::default());
    let is_whole = migration
        .report
        .findings()
        .iter()
        .all(|finding| finding.rule.severity != Severity::Error);
    is_whole.then(|| migration.sources[0].text().to_owned())
}

/// The objects of a template with its variables' defaults; `None` when one has none, or when it is
/// no YAML.
fn objects(name: &str, template: &str) -> Option<Vec<Value>> {
    let parsed = yaml::parse(&substituted(name, template)?, &Budget::default());
    (!parsed.report.has_errors()).then(|| {
        parsed
            .documents
            .iter()
            .map(|document| document.root.to_json())
            .collect()
    })
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}
