//! The machines of one side: those that can be rendered, and data that was made already.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::changes::{Machine, maker};
use crate::contract::CORE_GROUP;
use crate::diag::{FieldPath, Report, Severity};
use crate::objects::{Object, Pool};
use crate::render::write::cloud_config::NodeFile;
use crate::render::{self, Notes, Rendered, Request, Target, targets};
use crate::text::source::Source;
use crate::topology;

/// One of the two inputs that are compared.
#[derive(Debug)]
pub struct Side {
    /// How the user called it.
    pub(super) shown: String,
    pool: Pool,
    /// Files that are bootstrap data themselves.
    raw: Vec<Source>,
    request: Request,
    /// What is wrong with the input.
    report: Report,
    /// Whether a topology makes its machines.
    is_planned: bool,
}

impl Side {
    /// The side with these files; `unread` are those that are no text.
    pub fn new(shown: impl Into<String>, sources: Vec<Source>, unread: Report, request: Request) -> Self {
        let (raw, sources): (Vec<Source>, Vec<Source>) = sources.into_iter().partition(|source| is_data(source.text()));
        let (pool, unreadable) = Pool::read(&sources, &request.budget);
        let mut report = unread;
        report.extend(unreadable);
        let undeclared = render::undeclared(&sources, &pool, report.has_errors());
        // Of a template that nobody filled in nothing else is worth a word.
        let pool = if undeclared.is_some() { Pool::default() } else { pool };
        report.extend(undeclared.map(|finding| finding.help("fill in its variables first, with `windlass generate yaml`")));
        let planned = planned(&pool, &request, &mut report);
        let is_planned = planned.is_some();
        Side { shown: shown.into(), pool: planned.unwrap_or(pool), raw, request, report, is_planned }
    }

    /// Its machines, in the order of the input. What is wrong is in the report, and what was missing in `filled_in`.
    pub(super) fn nodes(&self, report: &mut Report, filled_in: &mut BTreeSet<&'static str>) -> Vec<Node<'_>> {
        report.extend(self.report.clone());
        let is_wanted = |target: &Target<'_>| target.role.is_none() || self.request.role.is_none() || target.role == self.request.role;
        let mut nodes: Vec<Node<'_>> = Vec::new();
        for target in targets(&self.pool).into_iter().filter(is_wanted) {
            let mut notes = Notes::default();
            let rendered = render::render(&self.pool, &target, &self.request, &mut notes).rendered();
            report.extend(
                notes.report.into_findings().into_iter().filter(|finding| rendered.is_none() || finding.rule.severity == Severity::Error),
            );
            filled_in.extend(notes.stand_ins.iter().map(|stand_in| stand_in.name));
            if let Some(rendered) = rendered {
                nodes.push(self.of_config(target, &rendered));
            }
        }
        for made in self.pool.objects().iter().filter_map(of_secret).chain(self.raw.iter().map(of_file)) {
            nodes.push(made);
        }
        nodes
    }

    fn of_config<'s>(&'s self, target: Target<'s>, rendered: &Rendered) -> Node<'s> {
        let of_file = |file: &NodeFile<'_>| Some((file.path.to_string(), file.origin?.clone()));
        let origins: BTreeMap<String, FieldPath> = rendered.node_files().iter().filter_map(of_file).collect();
        let secret_files = origins.iter().filter(|(_, path)| target.is_referred(path)).map(|(name, _)| name.clone()).collect();
        let named = maker(&self.pool, &target).unwrap_or(target.config);
        Node {
            title: named.title(),
            namespace: named.namespace_or_default().to_owned(),
            role: Some(rendered.role.as_str()),
            machine: Some(Machine { pool: &self.pool, target, request: &self.request, is_planned: self.is_planned }),
            data: rendered.data.expose().clone(),
            origins: origins.into_iter().map(|(name, path)| (name, path.to_string())).collect(),
            secret_files,
        }
    }
}

/// Bootstrap data and what is known of it.
pub(super) struct Node<'s> {
    /// `Kind/name` of what makes the machine.
    pub(super) title: String,
    namespace: String,
    /// The role, if the data was rendered.
    pub(super) role: Option<&'static str>,
    /// The objects behind it, if it was rendered.
    pub(super) machine: Option<Machine<'s>>,
    /// The data. Secret.
    pub(super) data: Vec<u8>,
    /// Of each file of the user the field that it comes from.
    pub(super) origins: BTreeMap<String, String>,
    /// Files whose content comes of a Secret.
    pub(super) secret_files: BTreeSet<String>,
}

impl Node<'_> {
    /// What tells it from the others of its side.
    pub(super) fn key(&self) -> (&str, &str, Option<&'static str>) {
        (&self.title, &self.namespace, self.role)
    }

    /// Whether the data was made already, so that nobody knows which of its files are secret.
    pub(super) fn is_made(&self) -> bool {
        self.machine.is_none()
    }
}

/// A node whose data was made already.
fn made(title: String, namespace: &str, data: Vec<u8>) -> Node<'static> {
    let (origins, secret_files) = Default::default();
    Node { title, namespace: namespace.to_owned(), role: None, machine: None, data, origins, secret_files }
}

/// Whether a text is bootstrap data itself: cloud-config or Ignition.
fn is_data(text: &str) -> bool {
    let is_config = ["#cloud-config", "## template: jinja"].iter().any(|head| text.starts_with(head));
    is_config || text.trim_start().starts_with('{') && text.contains("\"ignition\"") && !text.contains("\"apiVersion\"")
}

fn of_file(source: &Source) -> Node<'static> {
    made(source.name().to_string(), "", source.text().as_bytes().to_vec())
}

/// The data of a Secret as Cluster API has it: the key `value` (book: "Bootstrap provider", data Secret).
fn of_secret(object: &Object) -> Option<Node<'static>> {
    if !object.is("", "Secret") {
        return None;
    }
    let plain = object.field(&["stringData", "value"]).and_then(serde_json::Value::as_str).map(|text| text.as_bytes().to_vec());
    let encoded = || STANDARD.decode(object.text(&["data", "value"])).ok().filter(|data| !data.is_empty());
    Some(made(object.title(), object.namespace_or_default(), plain.or_else(encoded)?))
}

/// The pool with the objects that topologies want in place of their Clusters, classes and templates; `None` when there is no topology.
fn planned(pool: &Pool, request: &Request, report: &mut Report) -> Option<Pool> {
    let has_topology = |object: &&Object| object.is(CORE_GROUP, "Cluster") && object.field(&["spec", "topology"]).is_some();
    if !pool.objects().iter().any(|object| has_topology(&object)) {
        return None;
    }
    let planned = topology::plan(pool, &topology::Options::default(), &request.budget);
    report.extend(planned.report);
    let is_of_class =
        |object: &Object| object.kind().ends_with("Template") && pool.referrers(object).any(|other| other.kind() == "ClusterClass");
    let kept = pool.objects().iter().filter(|object| !has_topology(object) && !is_of_class(object)).cloned();
    let made = planned.objects.into_iter().map(|desired| Object::made(desired.object));
    Some(Pool::of(made.chain(kept).collect()))
}
