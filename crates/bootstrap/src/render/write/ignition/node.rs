//! What a node gets of data in Ignition, read back from the data itself.

use serde_json::Value;

use super::{data_url, script};
use crate::render::plan::node_plan::NodePlan;
use crate::render::write::cloud_config::{NodeFile, Phase, RunItem};
use windlass_source::gzip;

/// The most that all compressed parts of a config are unpacked to.
const LARGEST: usize = 64 << 20;

/// The files of a config, with the fields of the plan that they come from. Contents that the node
/// downloads are empty.
pub fn node_files<'a>(data: &[u8], plan: &'a NodePlan) -> Vec<NodeFile<'a>> {
    let mut left = LARGEST;
    let config = config(data, &mut left);
    let files = config.pointer("/storage/files").and_then(Value::as_array);
    files
        .into_iter()
        .flatten()
        .map(|file| node_file(file, plan, &mut left))
        .collect()
}

/// The systemd units in some data, as Ignition's configuration has them.
pub fn node_units(data: &[u8]) -> Vec<Value> {
    let config = config(data, &mut { LARGEST });
    let units = config.pointer("/systemd/units").and_then(Value::as_array);
    units.cloned().unwrap_or_default()
}

/// The config, or the compressed one that replaces it.
fn config(data: &[u8], left: &mut usize) -> Value {
    let config: Value = serde_json::from_slice(data).unwrap_or_default();
    match config.pointer("/ignition/config/replace") {
        Some(replace) => serde_json::from_slice(&content(replace, left)).unwrap_or_default(),
        None => config,
    }
}

/// What a resource holds; nothing where more than `left` bytes would be unpacked.
fn content(resource: &Value, left: &mut usize) -> Vec<u8> {
    let bytes = resource["source"]
        .as_str()
        .and_then(|source| data_url::read(source).ok())
        .unwrap_or_default();
    match resource["compression"].as_str() {
        Some("gzip") => {
            let unpacked = gzip::decompress(&bytes, *left).unwrap_or_default();
            *left -= unpacked.len();
            unpacked
        }
        _ => bytes,
    }
}

fn node_file<'a>(file: &Value, plan: &'a NodePlan, left: &mut usize) -> NodeFile<'a> {
    let name = |key: &str| match (&file[key]["name"], &file[key]["id"]) {
        (Value::String(name), _) => name.clone(),
        (_, Value::Number(id)) => id.to_string(),
        _ => String::new(),
    };
    let (user, group) = (name("user"), name("group"));
    let path = file["path"].as_str().unwrap_or_default();
    let mut bytes = content(&file["contents"], left);
    for appended in file["append"].as_array().into_iter().flatten() {
        bytes.extend(content(appended, left));
    }
    NodeFile {
        path: path.to_owned().into(),
        owner: if group.is_empty() {
            user
        } else {
            format!("{user}:{group}")
        }
        .into(),
        permissions: file["mode"]
            .as_u64()
            .map(|mode| format!("{mode:04o}"))
            .unwrap_or_default()
            .into(),
        encoding: "",
        content: bytes.into(),
        append: file["append"].is_array(),
        is_exact: true,
        origin: plan
            .files
            .iter()
            .find(|planned| planned.path == path)
            .and_then(|planned| planned.origin.as_ref()),
    }
}

/// The user's commands and kubeadm, in the order of the script.
pub fn run_items(plan: &NodePlan) -> Vec<RunItem<'static>> {
    let item = |lines: script::Lines| {
        let phase = match (lines.command, lines.is_kubeadm) {
            (Some(("preKubeadmCommands", _)), _) => Phase::PreKubeadm,
            (Some(_), _) => Phase::PostKubeadm,
            (None, true) => Phase::Kubeadm,
            (None, false) => return None,
        };
        Some(RunItem {
            phase,
            command: lines.text.into(),
            source: lines.command,
        })
    };
    script::script(plan).into_iter().filter_map(item).collect()
}
