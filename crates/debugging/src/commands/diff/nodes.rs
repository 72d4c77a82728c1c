//! The machines of one side: those that can be rendered, and data that was made already.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::changes::{Machine, maker};
use crate::commands::render::{
    CLASS_ABSENT, NO_CONFIG, Selection, Topologies, run, settle, with_topologies,
};
use crate::inspect::documents_in;
use windlass_bootstrap::render::input::cluster::Reference;
use windlass_bootstrap::render::write::cloud_config::NodeFile;
use windlass_bootstrap::render::{self, Origins, Rendered, Request, Target};
use windlass_objects::{Object, Pool};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Report, Severity};

/// One of the two inputs that are compared.
#[derive(Debug)]
pub struct Side {
    /// How the user called it.
    pub(super) shown: String,
    pool: Pool,
    topologies: Topologies,
    /// Files that are bootstrap data themselves.
    raw: Vec<Source>,
    request: Request,
    report: Report,
    origins: Origins,
}

impl Side {
    /// The side with these files; `unread` is what is wrong with those that could not be read.
    /// `origins` are the places of the variables that were replaced; `None` when the files are
    /// no templates.
    pub fn new(
        shown: impl Into<String>,
        sources: Vec<Source>,
        unread: Report,
        origins: Option<Origins>,
        request: Request,
    ) -> Self {
        let (raw, sources): (Vec<Source>, Vec<Source>) = sources
            .into_iter()
            .partition(|source| is_data(source.text()));
        let (pool, unreadable) = Pool::read(&sources, &request.budget);
        let mut report = unread;
        report.extend(unreadable);
        let is_undeclared =
            origins.is_none() && render::report_undeclared(&sources, &pool, &mut report);
        // Of a template that nobody filled in nothing else is worth a word.
        let pool = if is_undeclared { Pool::default() } else { pool };
        let (pool, topologies) = with_topologies(pool, true, &request.budget);
        Side {
            shown: shown.into(),
            pool,
            topologies,
            raw,
            request,
            report,
            origins: origins.unwrap_or_default(),
        }
    }

    /// Its machines, in the order of the input. What is wrong is in the report, and what was
    /// missing in `filled_in`.
    pub(super) fn nodes(
        &self,
        report: &mut Report,
        filled_in: &mut BTreeSet<&'static str>,
    ) -> Vec<Node<'_>> {
        let mut found = self.report.clone();
        let mut rendering = run(&self.pool, &self.topologies, &self.request, &Selection::All);
        let is_nothing_rendered = rendering
            .machines
            .iter()
            .any(|machine| machine.rendered.is_none());
        let is_worth_it = |finding: &Diagnostic| {
            finding.rule != &NO_CONFIG
                && (is_nothing_rendered
                    || finding.rule.severity == Severity::Error
                    || finding.rule == &CLASS_ABSENT)
        };
        found.extend(
            std::mem::take(&mut rendering.report)
                .into_findings()
                .into_iter()
                .filter(is_worth_it)
                .collect::<Report>(),
        );
        report.extend(settle(&mut rendering, found, &self.origins));
        let mut nodes: Vec<Node<'_>> = Vec::new();
        for machine in &rendering.machines {
            filled_in.extend(
                machine
                    .placeholders
                    .iter()
                    .map(|placeholder| placeholder.name),
            );
            if let Some(rendered) = &machine.rendered {
                nodes.push(self.of_config(machine.target, rendered, machine.planned.is_some()));
            }
        }
        let secrets = self
            .pool
            .objects()
            .iter()
            .filter_map(|object| of_secret(object, &self.request.budget, report))
            .collect::<Vec<_>>();
        for made in secrets.into_iter().chain(self.raw.iter().map(of_file)) {
            nodes.push(made);
        }
        nodes
    }

    fn of_config<'s>(
        &'s self,
        target: Target<'s>,
        rendered: &Rendered,
        is_planned: bool,
    ) -> Node<'s> {
        let of_file = |file: &NodeFile<'_>| Some((file.path.to_string(), file.origin?.clone()));
        let origins: BTreeMap<String, FieldPath> =
            rendered.node_files().iter().filter_map(of_file).collect();
        let secret_files = origins
            .iter()
            .filter(|(_, path)| target.is_referred(path))
            .map(|(name, _)| name.clone())
            .collect();
        let named = maker(&self.pool, &target).unwrap_or(target.config);
        Node {
            title: named.title(),
            namespace: named.namespace_or_default().to_owned(),
            role: Some(rendered.role.as_str()),
            machine: Some(Machine {
                pool: &self.pool,
                target,
                request: &self.request,
                is_planned,
                infrastructure: self.infrastructure(named),
            }),
            data: rendered.data.expose().clone(),
            origins: origins
                .into_iter()
                .map(|(name, path)| (name, path.to_string()))
                .collect(),
            secret_files,
        }
    }
}

impl Side {
    /// The infrastructure template that a control plane or MachineDeployment names.
    fn infrastructure(&self, maker: &Object) -> Option<&Object> {
        const REFERENCES: [&[&str]; 3] = [
            &["spec", "machineTemplate", "spec", "infrastructureRef"],
            &["spec", "machineTemplate", "infrastructureRef"],
            &["spec", "template", "spec", "infrastructureRef"],
        ];
        let named = REFERENCES
            .iter()
            .find_map(|path| Reference::read(maker.field(path)?))?;
        self.topologies.template(&named).or_else(|| {
            let namespace = maker.namespace_or_default();
            self.pool
                .find(&named.group, &named.kind, namespace, &named.name)
        })
    }
}

/// The letters at the end of names that Kubernetes makes (`k8s.io/apimachinery/pkg/util/rand`).
const RANDOM: &str = "bcdfghjklmnpqrstvwxz2456789";
const RANDOM_LETTERS: usize = 5;

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

    /// The same of data that was made, without the random letters at the end of its name: those of
    /// another machine of the same set.
    pub(super) fn set_key(&self) -> Option<(&str, &str)> {
        let (set, random) = self.title.rsplit_once('-').filter(|_| self.is_made())?;
        (random.len() == RANDOM_LETTERS && random.chars().all(|c| RANDOM.contains(c)))
            .then_some((set, self.namespace.as_str()))
    }

    /// Whether the data was made already, so that nobody knows which of its files are secret.
    pub(super) fn is_made(&self) -> bool {
        self.machine.is_none()
    }
}

/// A node whose data was made already.
fn made(title: String, namespace: &str, data: Vec<u8>) -> Node<'static> {
    let (origins, secret_files) = Default::default();
    Node {
        title,
        namespace: namespace.to_owned(),
        role: None,
        machine: None,
        data,
        origins,
        secret_files,
    }
}

/// The documents of a file that is encoded as a whole with gzip or base64, such as
/// `user-data.txt.gz` or a Secret's `data.value`; `None` for any other file. The report has the
/// decoding errors.
pub fn documents(name: &str, bytes: &[u8], budget: &Budget) -> Option<(Vec<Source>, Report)> {
    documents_in(name, bytes, budget)
}

/// Whether a text is bootstrap data itself: cloud-config or Ignition.
fn is_data(text: &str) -> bool {
    let is_config = ["#cloud-config", "## template: jinja"]
        .iter()
        .any(|head| text.starts_with(head));
    is_config
        || text.trim_start().starts_with('{')
            && text.contains("\"ignition\"")
            && !text.contains("\"apiVersion\"")
}

fn of_file(source: &Source) -> Node<'static> {
    made(
        source.name().to_string(),
        "",
        source.text().as_bytes().to_vec(),
    )
}

/// The data of a Secret as Cluster API has it, in gzip when a provider packed it: the key `value`
/// (book: "Bootstrap provider", data Secret).
fn of_secret(object: &Object, budget: &Budget, report: &mut Report) -> Option<Node<'static>> {
    if !object.is("", "Secret") {
        return None;
    }
    let plain = object
        .field(&["stringData", "value"])
        .and_then(serde_json::Value::as_str)
        .map(|text| text.as_bytes().to_vec());
    let encoded = || {
        STANDARD
            .decode(object.text(&["data", "value"]))
            .ok()
            .filter(|data| !data.is_empty())
    };
    let data = plain.or_else(encoded)?;
    let data = match documents_in(&object.title(), &data, budget) {
        None => data,
        Some((documents, faults)) => {
            report.extend(faults);
            documents
                .first()
                .map(|document| document.text().as_bytes().to_vec())?
        }
    };
    Some(made(object.title(), object.namespace_or_default(), data))
}
