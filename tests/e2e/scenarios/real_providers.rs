//! Real providers, each described by a provider.yaml of ours, and by the one that `init` writes:
//! the release is what the real kustomize makes of the same sources, but for a list of differences
//! with their reasons, and of ours nothing is found but what is listed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::harness::process::Start;
use crate::harness::runner::Context;
use crate::harness::{components, peers, shared, windlass};

const LIMIT: Duration = Duration::from_secs(120);

/// A provider: our files for it, and the sources that it is made of.
struct Real {
    /// The folder in `tests/e2e/providers`.
    name: &'static str,
    /// Its repository in the corpus, and the folder there that has `config`.
    sources: (&'static str, &'static str),
    /// The folder from which kustomize builds, below `config`.
    overlay: &'static str,
    version: &'static str,
    /// What kustomize puts around names, and what we put before them; behind them we put the same.
    around: (&'static str, &'static str),
    prefix: &'static str,
}

const fn real(
    name: &'static str,
    sources: (&'static str, &'static str),
    overlay: &'static str,
    version: &'static str,
    prefix: &'static str,
) -> Real {
    Real {
        name,
        sources,
        overlay,
        version,
        around: (prefix, ""),
        prefix,
    }
}

const ADDON_HELM: (&str, &str) = ("kubernetes-sigs+cluster-api-addon-provider-helm", "");
const IN_CLUSTER: (&str, &str) = ("kubernetes-sigs+cluster-api-ipam-provider-in-cluster", "");
const K0SMOTRON: (&str, &str) = ("k0sproject+k0smotron", "");
const K3S: &str = "k3s-io+cluster-api-k3s";
const RKE2: &str = "rancher+cluster-api-provider-rke2";

/// Azure's `config/default` takes the operator of Azure's services from the network: the part
/// before that is `config/capz`.
const PROVIDERS: &[Real] = &[
    real(
        "aws",
        ("kubernetes-sigs+cluster-api-provider-aws", ""),
        "default",
        "v2.11.1",
        "capa-",
    ),
    real(
        "azure",
        ("kubernetes-sigs+cluster-api-provider-azure", ""),
        "capz",
        "v1.26.0",
        "capz-",
    ),
    real("helm", ADDON_HELM, "default", "v0.6.0", "caaph-"),
    real(
        "ipam-in-cluster",
        IN_CLUSTER,
        "default",
        "v1.1.0",
        "capi-ipam-in-cluster-",
    ),
    Real {
        name: "k0smotron-bootstrap",
        sources: K0SMOTRON,
        overlay: "clusterapi/bootstrap",
        version: "v2.1.0",
        around: ("k0smotron-", "-bootstrap"),
        prefix: "k0smotron-",
    },
    Real {
        name: "k0smotron-control-plane",
        sources: K0SMOTRON,
        overlay: "clusterapi/controlplane",
        version: "v2.1.0",
        around: ("k0smotron-", "-control-plane"),
        prefix: "k0smotron-",
    },
    real(
        "k3s-bootstrap",
        (K3S, "bootstrap"),
        "default",
        "v0.3.0",
        "capi-k3s-bootstrap-",
    ),
    real(
        "k3s-control-plane",
        (K3S, "controlplane"),
        "default",
        "v0.3.0",
        "capi-k3s-control-plane-",
    ),
    real(
        "metal3",
        ("metal3-io+cluster-api-provider-metal3", ""),
        "default",
        "v1.14.0",
        "capm3-",
    ),
    real(
        "nutanix",
        ("nutanix-cloud-native+cluster-api-provider-nutanix", ""),
        "default",
        "v1.10.0",
        "capx-",
    ),
    real(
        "rke2-bootstrap",
        (RKE2, "bootstrap"),
        "default",
        "v0.25.0",
        "rke2-bootstrap-",
    ),
    real(
        "rke2-control-plane",
        (RKE2, "controlplane"),
        "default",
        "v0.25.0",
        "rke2-control-plane-",
    ),
    real(
        "vsphere",
        ("kubernetes-sigs+cluster-api-provider-vsphere", ""),
        "default",
        "v1.17.0",
        "capv-",
    ),
];

/// Those that do not build from config/default, which is where `init` reads.
const ELSEWHERE: [&str; 2] = ["k0smotron-bootstrap", "k0smotron-control-plane"];

const CLUSTER_API: &str = "kubernetes-sigs+cluster-api";

/// Cluster API's own, which `init` alone describes.
const UPSTREAM: &[Real] = &[
    real("core", (CLUSTER_API, "core"), "default", "v1.14.0", "capi-"),
    real(
        "kubeadm-bootstrap",
        (CLUSTER_API, "bootstrap/kubeadm"),
        "default",
        "v1.14.0",
        "capi-kubeadm-bootstrap-",
    ),
    real(
        "kubeadm-control-plane",
        (CLUSTER_API, "controlplane/kubeadm"),
        "default",
        "v1.14.0",
        "capi-kubeadm-control-plane-",
    ),
    real(
        "docker",
        (CLUSTER_API, "test/infrastructure/docker"),
        "default",
        "v1.14.0",
        "capd-",
    ),
];

/// Builds each provider with ours and with kustomize.
pub(crate) fn releases_are_what_kustomize_makes(context: &Context) {
    let common = Listed::read("differences.tsv");
    let mut faults = Vec::new();
    for provider in PROVIDERS {
        let folder = context.folder().join(provider.name);
        provider.lay_out(&folder);
        let findings = Listed::read(&format!("{}/findings.tsv", provider.name));
        let (ours, found) = provider.ours(&folder);
        faults.extend(findings.unexpected(&found, provider.name));
        faults.extend(findings.unused(provider.name));
        let own = Listed::read(&format!("{}/differences.tsv", provider.name));
        let differing: Vec<_> = differences(&ours, &provider.theirs(&folder))
            .into_iter()
            .filter(|one| !common.has(one))
            .collect();
        faults.extend(own.unexpected(&differing, provider.name));
        faults.extend(own.unused(provider.name));
    }
    faults.extend(common.unused("all providers"));
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Builds each provider with the provider.yaml of `init`, as it is, and with kustomize.
pub(crate) fn projects_become_what_kustomize_makes(context: &Context) {
    let common = Listed::read("differences.tsv");
    let mut faults = Vec::new();
    for provider in PROVIDERS
        .iter()
        .filter(|provider| !ELSEWHERE.contains(&provider.name))
        .chain(UPSTREAM)
    {
        let folder = context.folder().join(provider.name);
        provider.lay_out_sources(&folder);
        windlass::run(&folder, &["init", "--without-kustomize"]);
        decide(&folder.join("provider.yaml"));
        let (ours, _) = provider.ours(&folder);
        let own = Listed::read(&format!("{}/init.tsv", provider.name));
        let of_ours = Listed::read(&format!("{}/differences.tsv", provider.name));
        let is_new = |one: &(String, String)| !common.has(one) && !of_ours.has(one);
        let differing: Vec<_> = differences(&ours, &provider.theirs(&folder))
            .into_iter()
            .filter(is_new)
            .collect();
        faults.extend(own.unexpected(&differing, provider.name));
        faults.extend(own.unused(provider.name));
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Decides that nothing of `undecided` is needed: what is missing is among the differences.
fn decide(file: &Path) {
    let text = std::fs::read_to_string(file).expect("init wrote it");
    let decided = text.split("\n# Decide each of these").next();
    std::fs::write(
        file,
        format!("{}\n", decided.unwrap_or_default().trim_end()),
    )
    .expect("it can be written");
}

type Objects = BTreeMap<String, Value>;

/// What a report has: rule and message.
fn findings(name: &str, report: &str) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(report).unwrap_or_else(|_| panic!("{name}: {report}"));
    let text =
        |finding: &Value, field: &str| finding[field].as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().into_iter().flatten();
    findings
        .map(|finding| (text(finding, "rule"), text(finding, "message")))
        .collect()
}

/// Errors of upstream's own CRDs, each with a line in the list of its provider: they keep a release
/// back, and the comparison goes on.
const KEPT_BACK: [&str; 2] = ["crd-contract-field-missing", "crd-conversion-missing"];

impl Real {
    /// The sources in a folder.
    fn lay_out_sources(&self, folder: &Path) {
        let (repository, part) = self.sources;
        let root = shared::path(&format!("corpus/{repository}"));
        copy(&root.join(part).join("config"), &folder.join("config"));
        copy_file(&root.join("metadata.yaml"), &folder.join("metadata.yaml"));
    }

    /// The sources and our files in a folder. Objects that stand in one file with the Deployment,
    /// which we make, get a file of their own.
    fn lay_out(&self, folder: &Path) {
        self.lay_out_sources(folder);
        copy(
            &shared::checkout()
                .join("tests/e2e/providers")
                .join(self.name),
            folder,
        );
        let manager = folder.join("config/manager/manager.yaml");
        let text = std::fs::read_to_string(&manager)
            .unwrap_or_else(|error| panic!("{}: {error}", manager.display()));
        let is_made = |document: &&str| {
            ["kind: Deployment", "kind: Namespace"]
                .iter()
                .any(|kind| document.lines().any(|line| line == *kind))
        };
        let others: Vec<&str> = text
            .split("\n---\n")
            .filter(|document| !is_made(document))
            .collect();
        std::fs::write(
            folder.join("config/manager/settings.yaml"),
            others.join("\n---\n"),
        )
        .expect("the folder can be written");
    }

    /// The objects of our release as clusterctl gets them, and what was found: rule and message.
    fn ours(&self, folder: &Path) -> (Objects, Vec<(String, String)>) {
        let arguments = [
            "release",
            "build",
            self.version,
            "--to",
            "out",
            "-o",
            "json",
        ];
        let mut built = windlass::try_run(folder, &arguments);
        let found = findings(self.name, &built.stdout);
        if built.code == Some(1)
            && found
                .iter()
                .any(|(rule, _)| KEPT_BACK.contains(&rule.as_str()))
        {
            let allowed = KEPT_BACK.iter().flat_map(|rule| ["--allow", rule]);
            built = windlass::try_run(
                folder,
                &arguments.into_iter().chain(allowed).collect::<Vec<_>>(),
            );
        }
        let report: Value = serde_json::from_str(&built.stdout)
            .unwrap_or_else(|_| panic!("{}: {}", self.name, built.stderr));
        assert_eq!(
            built.code,
            Some(0),
            "{}: {found:?} {}",
            self.name,
            built.stderr
        );
        let files = report["files"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let file = files
            .into_iter()
            .find(|file| file.ends_with("-components.yaml"))
            .expect("a release has components");
        let text = std::fs::read_to_string(folder.join("out").join(file))
            .expect("what was written can be read");
        let objects = components::documents(self.name, text).into_iter();
        (
            objects
                .map(|object| map_texts(&object, &|text| text.replace("$$", "$")))
                .map(titled)
                .collect(),
            found,
        )
    }

    /// The objects that kustomize makes, with our names.
    fn theirs(&self, folder: &Path) -> Objects {
        let arguments = ["build", "--load-restrictor", "LoadRestrictionsNone"]
            .map(str::to_owned)
            .into_iter();
        let overlay = folder
            .join("config")
            .join(self.overlay)
            .display()
            .to_string();
        let program = peers::program(peers::KUSTOMIZE);
        let built = Start {
            name: "kustomize",
            program: &program,
            arguments: arguments.chain([overlay]).collect(),
            environment: Vec::new(),
            folder,
        }
        .finish(LIMIT);
        built.assert_success("kustomize build");
        let objects = components::documents(self.name, built.stdout);
        let namespace = objects
            .iter()
            .find(|object| object["kind"] == "Namespace")
            .map(name)
            .expect("a provider has a Namespace");
        let renames: BTreeMap<String, String> = objects
            .iter()
            .filter_map(|object| Some((name(object), self.renamed(object, &namespace)?)))
            .collect();
        let renamed = |text: &str| renamed_text(&renames, text);
        objects
            .into_iter()
            .map(|object| titled(map_texts(&object, &renamed)))
            .map(|(title, object)| (title, after_clusterctl(object)))
            .collect()
    }

    /// What an object of kustomize's is called in our release: our prefix is where kustomize
    /// puts one around the name, and names of cluster-wide roles begin with the namespace, so
    /// that `clusterctl delete` takes them.
    fn renamed(&self, object: &Value, namespace: &str) -> Option<String> {
        let old = name(object);
        let rest = old
            .strip_prefix(self.around.0)?
            .strip_suffix(self.around.1)?;
        let is_role = ["ClusterRole", "ClusterRoleBinding"]
            .iter()
            .any(|kind| object["kind"] == *kind);
        let of_namespace = format!("{namespace}-");
        let prefix = if is_role && !self.prefix.starts_with(&of_namespace) {
            &of_namespace
        } else {
            self.prefix
        };
        let is_named =
            object["kind"] != "CustomResourceDefinition" && object["kind"] != "Namespace";
        is_named.then(|| format!("{prefix}{rest}{}", self.around.1))
    }
}

/// clusterctl substitutes in what kustomize printed, too.
fn after_clusterctl(object: Value) -> Value {
    map_texts(&object, &|text| text.replace("$$", "$"))
}

fn name(object: &Value) -> String {
    object["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn titled(object: Value) -> (String, Value) {
    (
        format!(
            "{}/{}",
            object["kind"].as_str().unwrap_or_default(),
            name(&object)
        ),
        object,
    )
}

/// A text that is a name, `NAMESPACE/NAME`, or a host name that begins with one.
fn renamed_text(renames: &BTreeMap<String, String>, text: &str) -> String {
    let renamed = |part: &str| renames.get(part).cloned();
    if let Some(new) = renamed(text) {
        return new;
    }
    if let Some((before, new)) = text
        .split_once('/')
        .and_then(|(before, part)| Some((before, renamed(part)?)))
    {
        return format!("{before}/{new}");
    }
    match text
        .split_once('.')
        .and_then(|(part, after)| Some((renamed(part)?, after)))
    {
        Some((new, after)) => format!("{new}.{after}"),
        None => text.to_owned(),
    }
}

fn map_texts(value: &Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(text).into(),
        Value::Array(items) => items.iter().map(|item| map_texts(item, change)).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), map_texts(value, change)))
            .collect(),
        other => other.clone(),
    }
}

/// Objects and paths that differ. What only one of them has differs as a whole.
fn differences(ours: &Objects, theirs: &Objects) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for title in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
        match (ours.get(title), theirs.get(title)) {
            (Some(ours), Some(theirs)) => {
                let mut paths = Vec::new();
                walk(ours, theirs, "", &mut paths);
                found.extend(paths.into_iter().map(|path| (title.clone(), path)));
            }
            (Some(_), None) => found.push((title.clone(), "only ours".to_owned())),
            _ => found.push((title.clone(), "only theirs".to_owned())),
        }
    }
    found
}

/// By what items of lists are told apart, where their order means nothing.
const KEYS: [(&str, &str); 6] = [
    ("containers", "name"),
    ("env", "name"),
    ("ports", "containerPort"),
    ("volumeMounts", "mountPath"),
    ("volumes", "name"),
    ("webhooks", "name"),
];

fn walk(ours: &Value, theirs: &Value, path: &str, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                walk(
                    a.get(key).unwrap_or(&Value::Null),
                    b.get(key).unwrap_or(&Value::Null),
                    &format!("{path}.{key}"),
                    found,
                );
            }
        }
        (Value::Array(_), Value::Array(_))
            if keyed(ours, path).is_some() && keyed(theirs, path).is_some() =>
        {
            let (a, b) = (
                keyed(ours, path).unwrap_or_default(),
                keyed(theirs, path).unwrap_or_default(),
            );
            for key in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                let item =
                    |items: &BTreeMap<String, Value>| items.get(key).cloned().unwrap_or_default();
                walk(&item(&a), &item(&b), &format!("{path}[{key}]"), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (x, y)) in a.iter().zip(b).enumerate() {
                walk(x, y, &format!("{path}[{at}]"), found);
            }
        }
        _ if ours != theirs => found.push(path.to_owned()),
        _ => {}
    }
}

fn keyed(list: &Value, path: &str) -> Option<BTreeMap<String, Value>> {
    let (_, key) = KEYS
        .iter()
        .find(|(field, _)| path.ends_with(&format!(".{field}")))?;
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    list.as_array()?
        .iter()
        .map(|item| Some((text(item.get(key)?), item.clone())))
        .collect()
}

/// A list of what is expected: lines of two patterns with `*` and the reason, between tabs.
struct Listed {
    lines: Vec<(String, String)>,
    used: RefCell<BTreeSet<usize>>,
}

impl Listed {
    fn read(file: &str) -> Self {
        let path = shared::checkout().join("tests/e2e/providers").join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let line = |line: &str| {
            let parts: Vec<&str> = line.split('\t').collect();
            assert!(
                parts.len() == 3 && parts.iter().all(|part| !part.is_empty()),
                "{file}: two patterns and a reason: {line}"
            );
            (parts[0].to_owned(), parts[1].to_owned())
        };
        let lines = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .map(line)
            .collect();
        Listed {
            lines,
            used: RefCell::default(),
        }
    }

    /// Whether it is listed, which uses the line.
    fn has(&self, (first, second): &(String, String)) -> bool {
        let found = self
            .lines
            .iter()
            .position(|(one, other)| matches(one, first) && matches(other, second));
        self.used.borrow_mut().extend(found);
        found.is_some()
    }

    fn unexpected(&self, found: &[(String, String)], of: &str) -> Vec<String> {
        found
            .iter()
            .filter(|one| !self.has(one))
            .map(|(first, second)| format!("{of}: not listed: {first}\t{second}"))
            .collect()
    }

    fn unused(&self, of: &str) -> Vec<String> {
        let lines = self
            .lines
            .iter()
            .enumerate()
            .filter(|(at, _)| !self.used.borrow().contains(at));
        lines
            .map(|(_, (first, second))| format!("{of}: listed and not there: {first}\t{second}"))
            .collect()
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => {
            let Some(rest) = text.strip_prefix(before) else {
                return false;
            };
            let starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            starts.into_iter().any(|at| matches(after, &rest[at..]))
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the folder can be written");
    for entry in
        std::fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()))
    {
        let (path, name) = (
            entry.as_ref().expect("it can be read").path(),
            entry.as_ref().expect("it can be read").file_name(),
        );
        if path.is_dir() {
            copy(&path, &to.join(name))
        } else {
            copy_file(&path, &to.join(name))
        }
    }
}

/// The content only: the data may be read-only.
fn copy_file(from: &Path, to: &Path) {
    std::fs::write(
        to,
        std::fs::read(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())),
    )
    .expect("the folder can be written");
}
