//! `render`: the machines of the user's documents, and what is printed or written of each.

mod extract;
mod html;
mod report;
pub(crate) mod secret;
pub mod topology;

pub use extract::{extract, is_gzip, unpacked};
pub use html::page;
pub use report::{Disclosure, MachineReport, machine_report};
pub use topology::{
    CLASS_ABSENT, PlannedConfig, Topologies, planned, with_histories, with_topologies,
};

use std::collections::{BTreeMap, BTreeSet};

use windlass_bootstrap::preflight::core_kinds::is_supplied_by_blocks;
use windlass_bootstrap::render::input::filling::Filled;
use windlass_bootstrap::render::input::placeholder;
use windlass_bootstrap::render::{
    self, Notes, Origins, Placeholder, Pool, Rendered, Request, Role, Target,
};
use windlass_capi::admission::metadata_types;
use windlass_capi::api::boot::IgnitionVersion;
use windlass_objects::{Contents, Object};
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Remedy, Report, Setting, rules};
use windlass_source::tree::Tree;
use windlass_topology::RANDOM;

rules! {
    /// the input contains no config to render
    pub NO_CONFIG = error("render-config-missing");
    /// the input contains several machines and none is selected
    pub(crate) AMBIGUOUS = error("render-machine-ambiguous");
    /// no machine in the input has the requested name
    pub(crate) NOT_FOUND = error("render-machine-not-found");
    /// two machines would be written to the same file
    pub(crate) FILE_TWICE = error("render-file-twice");
}

/// The kinds that can be rendered, for messages.
const KINDS: &str = "KubeadmConfig, WindlassConfig, their templates, or KubeadmControlPlane";

/// Which machines are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// The only one.
    Only,
    /// All.
    All,
    /// The one of that name, and of that role when the name has several: `NAME` or `NAME:ROLE`.
    Named(String),
}

/// One machine and what came of it.
#[derive(Debug, Clone)]
pub struct Machine<'a> {
    /// The config.
    pub target: Target<'a>,
    /// What it is in a topology, if it is of one.
    pub planned: Option<&'a PlannedConfig>,
    /// The role.
    pub role: Role,
    /// Whether another namespace has a config of this name.
    pub is_namesake: bool,
    /// The data; `None` when something is wrong.
    pub rendered: Option<Rendered>,
    /// What was filled in.
    pub placeholders: Vec<Placeholder>,
    /// What rendering added to the config on its own.
    pub(crate) filled: Vec<Filled>,
    /// The Secret as YAML, when it was asked for: [`Rendering::write_secrets`].
    pub secret: Option<String>,
}

impl Machine<'_> {
    /// Whether its Kubernetes version is a placeholder.
    pub fn has_placeholder_version(&self) -> bool {
        self.placeholders
            .iter()
            .any(|placeholder| placeholder.setting == Some(Setting::KubernetesVersion))
    }
}

/// What came of all machines that were meant.
#[derive(Debug, Clone, Default)]
pub struct Rendering<'a> {
    /// The machines, in the order of the input.
    pub machines: Vec<Machine<'a>>,
    /// What is wrong.
    pub report: Report,
    /// The Secrets that were read.
    pub secrets: Vec<String>,
}

/// A machine, and what it is in a topology.
type Meant<'a> = (Target<'a>, Option<&'a PlannedConfig>);

/// Renders the machines that are meant.
pub fn run<'a>(
    pool: &'a Pool,
    topologies: &'a Topologies,
    request: &Request,
    selection: &Selection,
) -> Rendering<'a> {
    let mut rendering = Rendering::default();
    let all = machines(pool, topologies, selection);
    // Who names one machine does not ask for the others.
    let is_found = matches!(selection, Selection::Named(_))
        && all.iter().any(|(target, _)| is_named(target, selection));
    if !is_found {
        rendering.report.extend(topologies.report().clone());
    }
    if all.is_empty() {
        if !rendering.report.has_errors() {
            rendering.report.push(no_config(pool));
        }
        rendering.report.extend(render::unresolved(pool));
        return rendering;
    }
    if !matches!(selection, Selection::Named(_)) {
        rendering.report.extend(render::unresolved(pool));
    }
    let own = topologies.own(pool).iter();
    rendering.report.extend(own.flat_map(metadata_types::check));
    let of_role = |target: &Target<'_>| {
        target.role.is_none() || request.role.is_none() || target.role == request.role
    };
    let namesakes = namesakes(&all);
    let mut secrets = BTreeSet::new();
    let mut reports = Vec::new();
    for (target, planned) in all
        .iter()
        .filter(|(target, _)| of_role(target) && is_named(target, selection))
    {
        let mut notes = Notes::default();
        let rendered = render::render(pool, target, request, &mut notes).rendered();
        let role = rendered
            .as_ref()
            .map(|rendered| rendered.role)
            .or(target.role)
            .or(request.role)
            .unwrap_or_else(|| target.likely_role());
        if !has_role(selection, role) {
            continue;
        }
        secrets.append(&mut notes.secrets);
        notes
            .placeholders
            .extend(planned.map(|_| placeholder::drawn(RANDOM)));
        notes.placeholders.sort_by_key(Placeholder::rank);
        let report = std::mem::take(&mut notes.report);
        reports.push(match planned {
            Some(planned) => planned.explained(report, target.config),
            None => report,
        });
        let (target, planned) = (*target, *planned);
        let is_namesake = namesakes.contains(target.named().name());
        let Notes {
            placeholders,
            filled,
            ..
        } = notes;
        rendering.machines.push(Machine {
            target,
            planned,
            role,
            is_namesake,
            rendered,
            placeholders,
            filled,
            secret: None,
        });
    }
    match (selection, rendering.machines.len()) {
        (Selection::Named(name), 0) => rendering.report.push(not_found(name, &all)),
        (Selection::Only, 0) => rendering.report.push(not_found("", &all)),
        (Selection::Only | Selection::Named(_), 2..) => {
            rendering.report.push(ambiguous(&rendering.machines));
            rendering.machines.clear();
            return rendering;
        }
        _ => {}
    }
    rendering.report.extend(each_once(reports));
    request.budget.tell(&mut rendering.report);
    rendering.secrets = secrets.into_iter().collect();
    rendering
}

/// The machines among which one chooses. A template of a class is asked for by its name alone:
/// machines are made of copies.
fn machines<'a>(
    pool: &'a Pool,
    topologies: &'a Topologies,
    selection: &Selection,
) -> Vec<Meant<'a>> {
    let all = topologies.targets(pool);
    let is_known = all.iter().any(|(target, _)| is_named(target, selection));
    if matches!(selection, Selection::Named(_)) && !is_known {
        let templates = topologies.templates(pool);
        if templates
            .iter()
            .any(|(target, _)| is_named(target, selection))
        {
            return templates;
        }
    }
    all
}

/// What came of a template: the report with its places, and in place of what is wrong with
/// placeholders of variables the variables that have to be given. The other placeholders are those of
/// each machine too.
pub fn settle(rendering: &mut Rendering<'_>, report: Report, origins: &Origins) -> Report {
    if origins.is_empty() {
        return report;
    }
    let outputs = outputs_of(rendering);
    settle_for(rendering, report, origins, contents(&outputs))
}

fn outputs_of(rendering: &Rendering<'_>) -> Vec<Tree> {
    let rendered = rendering
        .machines
        .iter()
        .filter_map(|machine| machine.rendered.as_ref());
    rendered
        .map(|rendered| extract(rendered, &Budget::default()))
        .collect()
}

fn contents(outputs: &[Tree]) -> impl Iterator<Item = &[u8]> {
    outputs
        .iter()
        .flat_map(Tree::iter)
        .map(|(_, bytes)| bytes.as_slice())
}

/// The configs that could not be rendered.
fn rejected_of(rendering: &Rendering<'_>) -> Vec<Place> {
    let rejected = rendering
        .machines
        .iter()
        .filter(|machine| machine.rendered.is_none());
    rejected
        .map(|machine| machine.target.config.place(&FieldPath::root()))
        .collect()
}

fn add_placeholders(rendering: &mut Rendering<'_>, placeholders: &[Placeholder]) {
    for machine in &mut rendering.machines {
        machine.placeholders.extend(placeholders.iter().cloned());
        machine.placeholders.sort_by_key(Placeholder::rank);
        machine.placeholders.dedup();
    }
}

/// The same for machines that are validated and not rendered: blocks need no value.
pub fn settle_judged(rendering: &mut Rendering<'_>, report: Report, origins: &Origins) -> Report {
    if origins.is_empty() {
        return report;
    }
    let outputs = outputs_of(rendering);
    let rejected = rejected_of(rendering);
    let (report, placeholders) =
        origins.settle_judged(report, contents(&outputs), rejected, is_supplied_by_blocks);
    add_placeholders(rendering, &placeholders);
    report
}

/// The same where not all of the data is needed: variables have to be given that `outputs` depend
/// on.
pub fn settle_for<'o>(
    rendering: &mut Rendering<'_>,
    report: Report,
    origins: &Origins,
    outputs: impl IntoIterator<Item = &'o [u8]>,
) -> Report {
    if origins.is_empty() {
        return report;
    }
    let rejected = rejected_of(rendering);
    let root = |machine: &Machine<'_>| machine.target.config.place(&FieldPath::root());
    let configs: Vec<Place> = rendering.machines.iter().map(root).collect();
    let (report, placeholders) = origins.settle(report, outputs, configs, rejected);
    add_placeholders(rendering, &placeholders);
    report
}

/// All findings, each once: two machines of one config share its faults.
fn each_once(reports: Vec<Report>) -> Report {
    let mut known: BTreeMap<(&str, Option<usize>, String), Vec<usize>> = BTreeMap::new();
    let mut findings: Vec<Diagnostic> = Vec::new();
    for finding in reports.into_iter().flat_map(Report::into_findings) {
        let start = finding.place.span.map(|span| span.start.offset);
        let alike = known
            .entry((finding.rule.id, start, finding.message.to_string()))
            .or_default();
        if alike.iter().all(|at| findings[*at] != finding) {
            alike.push(findings.len());
            findings.push(finding);
        }
    }
    findings.into_iter().collect()
}

fn is_named(target: &Target<'_>, selection: &Selection) -> bool {
    match selection {
        Selection::Named(name) => {
            let name = name.split(':').next().unwrap_or_default();
            let is_it = |object: &Object| {
                name == object.name()
                    || name.split_once('/') == Some((object.namespace_or_default(), object.name()))
            };
            is_it(target.config) || is_it(target.named())
        }
        _ => true,
    }
}

/// The names that configs of several namespaces have.
fn namesakes<'a>(all: &[Meant<'a>]) -> BTreeSet<&'a str> {
    let mut namespaces: BTreeMap<&str, &str> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for config in all.iter().map(|(target, _)| target.named()) {
        let first = *namespaces
            .entry(config.name())
            .or_insert(config.namespace_or_default());
        if first != config.namespace_or_default() {
            found.insert(config.name());
        }
    }
    found
}

/// The finding for two machines that would be written to one file.
pub fn file_written_twice(machines: &[(&Machine<'_>, &Rendered)]) -> Option<Diagnostic> {
    let mut known = BTreeMap::new();
    machines.iter().find_map(|(machine, rendered)| {
        let other = known.insert(machine.file_name(rendered), *machine)?;
        let (config, name) = (machine.target.config, machine.file_name(rendered));
        let message = format!(
            "{} and {} would both be written to the file {name}",
            other.target.named().title(),
            machine.target.named().title()
        );
        let finding = Diagnostic::of(&FILE_TWICE, message)
            .at(config.place(&FieldPath::root().field("metadata").field("name")));
        Some(
            finding.help(
                Remedy::new("rename one of them, or render them into two folders with ")
                    .setting(Setting::Select),
            ),
        )
    })
}

/// The finding for input without a config, which says what was read instead.
fn no_config(pool: &Pool) -> Diagnostic {
    let place = match (pool.objects(), pool.without_objects()) {
        ([only], []) => only.place(&FieldPath::root().field("kind")),
        ([], [only]) => Place::file(only.name.clone()),
        _ => Place::default(),
    };
    let finding = Diagnostic::of(&NO_CONFIG, format!("the input holds no {KINDS}"))
        .at(place)
        .note(held(pool));
    match may_be_rendered(pool) {
        true => finding.help("name a file with one; to read rendered bootstrap data, run `windlass inspect FILE`"),
        false => finding.help("name a file with a KubeadmConfig, a WindlassConfig, a template of these, or a KubeadmControlPlane"),
    }
}

/// Whether the input holds what rendering gives: a Secret with bootstrap data, or a document that
/// is not an object.
fn may_be_rendered(pool: &Pool) -> bool {
    let has_data = |object: &Object| {
        object.is("", "Secret")
            && [["data", "value"], ["stringData", "value"]]
                .iter()
                .any(|path| object.field(path).is_some())
    };
    pool.objects().iter().any(has_data)
        || pool
            .without_objects()
            .iter()
            .any(|source| matches!(source.holds, Contents::Others))
}

/// What the input holds, in words.
fn held(pool: &Pool) -> String {
    const SHOWN: usize = 5;
    let titles: Vec<_> = pool
        .objects()
        .iter()
        .take(SHOWN)
        .map(Object::title)
        .collect();
    let empty = pool.without_objects().iter().map(|source| {
        let holds = match source.holds {
            Contents::Nothing => "is empty",
            Contents::Comments => "holds only comments or empty documents",
            Contents::Others => "holds no object, which would have a `kind`",
        };
        format!("{} {holds}", source.name)
    });
    let objects = match (titles.as_slice(), pool.objects().len() - titles.len()) {
        ([], _) if pool.without_objects().is_empty() => Some("no file was read".to_owned()),
        ([], _) => None,
        (titles, 0) => Some(format!("it holds {}", titles.join(", "))),
        (titles, more) => Some(format!("it holds {} and {more} more", titles.join(", "))),
    };
    objects
        .into_iter()
        .chain(empty.take(SHOWN))
        .collect::<Vec<_>>()
        .join("; ")
}

fn has_role(selection: &Selection, role: Role) -> bool {
    match selection {
        Selection::Named(name) => name
            .split_once(':')
            .is_none_or(|(_, wanted)| wanted == role.as_str()),
        _ => true,
    }
}

fn not_found(name: &str, all: &[Meant<'_>]) -> Diagnostic {
    // A name of several machines is one with their roles.
    let mut machines: BTreeMap<&str, usize> = BTreeMap::new();
    all.iter()
        .for_each(|(target, _)| *machines.entry(target.named().name()).or_default() += 1);
    let selected = |target: &Target<'_>| match target.named().name() {
        name if machines.get(name) == Some(&1) => name.to_owned(),
        name => format!(
            "{name}:{}",
            target.role.unwrap_or_else(|| target.likely_role())
        ),
    };
    let mut told = BTreeSet::new();
    let names: Vec<String> = all
        .iter()
        .map(|(target, _)| selected(target))
        .filter(|name| told.insert(name.clone()))
        .collect();
    let message = if name.is_empty() {
        "no machine has that role".to_owned()
    } else {
        format!("no machine is called `{name}`")
    };
    Diagnostic::of(&NOT_FOUND, message)
        .help(Remedy::of(Setting::Select).then(format!(" one of {}", names.join(", "))))
}

fn ambiguous(machines: &[Machine<'_>]) -> Diagnostic {
    let message = format!("the input holds {} machines", machines.len());
    let all = Remedy::new("add ")
        .setting(Setting::All)
        .then(", or one of ");
    let each = machines
        .iter()
        .enumerate()
        .fold(all, |remedy, (index, machine)| {
            let remedy = if index == 0 {
                remedy
            } else {
                remedy.then(", ")
            };
            remedy.set(
                Setting::Select,
                format!("{}:{}", machine.name(), machine.role),
            )
        });
    Diagnostic::of(&AMBIGUOUS, message).help(each)
}

impl Machine<'_> {
    /// The name of its file with `--all --to DIR`: `{object}.{role}.{format}`, after the namespace
    /// where names repeat.
    pub fn file_name(&self, rendered: &Rendered) -> String {
        format!(
            "{}.{}.{}",
            self.name().replace('/', "_"),
            self.role,
            rendered.format
        )
    }

    /// The name by which it is selected: that of its object, after the namespace where names
    /// repeat.
    pub fn name(&self) -> String {
        let named = self.target.named();
        if self.is_namesake {
            format!("{}/{}", named.namespace_or_default(), named.name())
        } else {
            named.name().to_owned()
        }
    }

    /// The line that says what was rendered.
    pub fn headline(&self, rendered: &Rendered, request: &Request) -> String {
        let bytes = rendered.data.expose().len();
        let title = match self.target.set {
            Some(set) => format!("{} of {}", self.target.config.title(), set.title()),
            None => self.target.config.title(),
        };
        let format = match rendered.ignition {
            Some(IgnitionVersion::V3_4) => "Ignition 3.4".to_owned(),
            _ => format!(
                "{} as CAPI {} writes it",
                rendered.format,
                request.profile.version()
            ),
        };
        format!("{title}: {}, {format}, {bytes} bytes", self.role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::Source;
    use windlass_source::budget::Budget;

    /// What names no namespace is in `default`, as kubectl has it.
    #[test]
    fn namesakes_are_told_apart_by_their_namespaces() {
        let config = |metadata: &str| {
            format!(
                "---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{{metadata}}}\n"
            )
        };
        let text = [
            config("name: a"),
            config("name: a, namespace: other"),
            config("name: b"),
            config("name: b, namespace: default"),
        ]
        .concat();
        let (pool, _) = Pool::read(&[Source::new("i.yaml", text)], &Budget::default());
        let names = |selection: &Selection| -> Vec<String> {
            run(
                &pool,
                &Topologies::default(),
                &Request::default(),
                selection,
            )
            .machines
            .iter()
            .map(Machine::name)
            .collect()
        };
        assert_eq!(names(&Selection::All), ["default/a", "other/a", "b", "b"]);
        assert_eq!(
            names(&Selection::Named("default/a".to_owned())),
            ["default/a"]
        );
    }

    /// Two machines of one config share its faults, in the order in which they were found; what
    /// only looks the same stays.
    #[test]
    fn faults_are_told_once_each() {
        let source = Source::new("i.yaml", "a: b");
        let finding = |message: &str, at: usize| {
            Diagnostic::of(&NOT_FOUND, message).at(source.place_at(at..at + 1))
        };
        let shared = [finding("one", 0), finding("other", 0)];
        let of_one = [
            finding("one", 3),
            finding("one", 0).help("another"),
            Diagnostic::of(&AMBIGUOUS, "one").at(source.place_at(0..1)),
        ];
        let reports =
            [&shared[..], &shared, &of_one, &of_one].map(|report| report.iter().cloned().collect());
        assert_eq!(
            each_once(reports.into()).into_findings(),
            [&shared[..], &of_one].concat()
        );
    }
}
