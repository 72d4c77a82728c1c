//! Files of the corpus that hold something that is migrated, with their variables replaced, and
//! what machines they make.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use windlass_bootstrap::render::{Origins, Pool, Request, Variables};
use windlass_debugging::commands::render;
use windlass_source::Source;

/// Kinds of which files are read.
const KINDS: [&str; 9] = [
    "KubeadmC",
    "WindlassConfig",
    "Cluster\n",
    "ClusterClass",
    "Machine\n",
    "MachineDeployment",
    "MachineSet",
    "MachinePool",
    "MachineHealthCheck",
];

/// The text of a file that holds something that is migrated, with its path below a folder.
pub(crate) fn text_of(root: &Path, path: &PathBuf) -> Option<(String, String)> {
    let is_yaml = path
        .extension()
        .is_some_and(|ending| ending == "yaml" || ending == "yml");
    let text = is_yaml.then(|| fs::read_to_string(path).ok()).flatten()?;
    let is_asked = KINDS
        .iter()
        .any(|kind| text.contains(&format!("kind: {kind}")))
        && !text.contains("kind: CustomResourceDefinition");
    is_asked.then(|| {
        (
            path.strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned(),
            text,
        )
    })
}

/// An object for each kind that is referred to with its version, so that the way back knows it.
pub(crate) fn referred(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.trim_start_matches([' ', '-']))
        .collect();
    let mut versions: BTreeMap<&str, &str> = BTreeMap::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(kind) = line.strip_prefix("kind: ") else {
            continue;
        };
        let near = &lines[number.saturating_sub(3)..lines.len().min(number + 4)];
        if let Some(version) = near
            .iter()
            .find_map(|line| line.strip_prefix("apiVersion: "))
        {
            versions.insert(kind, version);
        }
    }
    versions
        .iter()
        .map(|(kind, version)| format!("---\napiVersion: {version}\nkind: {kind}\n"))
        .collect()
}

/// A template of clusterctl with its variables' defaults.
pub(crate) fn substituted(name: &str, text: &str) -> Option<Source> {
    let request = Request::new();
    let given = |_: &str| None;
    let (texts, _, report) = Origins::substitute(
        vec![Source::new(name, text)],
        Variables {
            given: &given,
            request: &request,
        },
        &request.budget,
    );
    texts.into_iter().next().filter(|_| !report.has_errors())
}

/// The data of all machines of a text, by config and role; none when one cannot be rendered.
pub(crate) fn rendered(name: &str, text: &str) -> Option<BTreeMap<String, Vec<u8>>> {
    let request = Request::new();
    let source = substituted(name, text)?;
    let (pool, report) = Pool::read(std::slice::from_ref(&source), &request.budget);
    if report.has_errors() {
        return None;
    }
    let (pool, topologies) = render::with_topologies(pool, true, &request.budget);
    let rendering = render::run(&pool, &topologies, &request, &render::Selection::All);
    let data = rendering.machines.into_iter().map(|machine| {
        let key = format!("{}:{}", machine.target.config.name(), machine.role);
        Some((key, machine.rendered?.data.into_inner()))
    });
    data.collect::<Option<BTreeMap<_, _>>>()
        .filter(|machines| !machines.is_empty() && !rendering.report.has_errors())
}

/// Arguments that a patch adds to a list come behind the others, where a map had them in the order
/// of their names.
pub(crate) fn has_patched_argument(text: &str) -> bool {
    text.contains("xtraArgs/")
}
