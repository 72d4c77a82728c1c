//! `validate`: everything that is wrong with the configs of machines before one of them boots, in
//! one report.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use windlass_bootstrap::preflight;
use windlass_bootstrap::render::Request;
use windlass_capi::admission;
use windlass_capi::contract::CORE_GROUP;
use windlass_debugging::commands::render::{self, Machine, Rendering, Selection, Topologies};
use windlass_objects::{Object, Pool};
use windlass_source::diag::{Diagnostic, FieldPath, Remedy, Report, Setting, Severity, rules};
use windlass_topology as topology;

rules! {
    /// no Kubernetes version is known, so version-specific checks were skipped
    pub VERSION_UNKNOWN = info("validate-version-unknown");
    /// a Kubernetes version lacks its patch number, so 0 is used
    pub(crate) VERSION_SHORT = info("validate-version-short");
    /// the control plane of a Cluster is not in the input, so it was not checked
    pub(crate) CONTROL_PLANE_ABSENT = info("validate-control-plane-absent");
}

/// A machine that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckedMachine {
    /// `Kind/name` of the config.
    pub object: String,
    /// `init`, `control-plane-join`, `worker-join` or `machinepool`.
    pub role: &'static str,
    /// The Kubernetes version that it was checked against; null if none is known.
    pub kubernetes_version: Option<String>,
}

impl CheckedMachine {
    fn of(machine: &Machine<'_>, is_version_said: bool) -> Self {
        let version = machine
            .rendered
            .as_ref()
            .map(|rendered| rendered.kubernetes_version.clone());
        CheckedMachine {
            object: machine.target.named().title(),
            role: machine.role.as_str(),
            kubernetes_version: version.filter(|_| is_version_said),
        }
    }
}

/// What was checked, and what of it is wrong.
#[derive(Debug, Default)]
pub struct Validation {
    /// The machines, in the order of the input.
    pub machines: Vec<CheckedMachine>,
    /// How many objects of Cluster API's core were checked.
    pub topologies: usize,
    /// Objects of kinds that nothing is known of here, as `Kind/name`.
    pub others: Vec<String>,
    /// What is wrong.
    pub report: Report,
}

/// What is checked: the pool with what topologies add to it, and what of its Clusters and classes is
/// wrong.
pub struct Judged {
    pool: Pool,
    topologies: Topologies,
    /// How many objects of Cluster API's core there are.
    clusters: usize,
    report: Report,
}

impl Judged {
    /// Checks the topologies and the ClusterClasses of a pool.
    pub fn new(pool: Pool, request: &Request) -> Self {
        let (clusters, report) = judged_topologies(&pool, request);
        let (pool, topologies) = render::planned(pool, &options(request), &request.budget);
        Judged {
            pool,
            topologies,
            clusters,
            report,
        }
    }

    /// Renders everything that is checked.
    pub fn render(&self, request: &Request) -> Rendering<'_> {
        render::run(&self.pool, &self.topologies, request, &Selection::All)
    }
}

/// Checks all machines. `rendering` is what came of them; `is_version_said`: whether versions of
/// Kubernetes in the objects are those of the user, and no placeholders for variables.
pub fn run(
    judged: &Judged,
    request: &Request,
    rendering: &mut Rendering<'_>,
    is_version_said: bool,
) -> Validation {
    let is_said = |machine: &Machine<'_>| {
        (is_version_said || request.kubernetes_version.is_some())
            && !machine.has_placeholder_version()
    };
    let Judged {
        pool,
        topologies,
        clusters,
        report,
    } = judged;
    let (own, mut report) = (topologies.own(pool), report.clone());
    let told: BTreeSet<_> = report.findings().iter().map(identity).collect();
    let rendered = std::mem::take(&mut rendering.report)
        .into_findings()
        .into_iter();
    // An object of the core is enough to check.
    let is_enough = |finding: &Diagnostic| *clusters > 0 && finding.rule == &render::NO_CONFIG;
    let rendered: Vec<_> = rendered
        .filter(|finding| !is_enough(finding) && !told.contains(&identity(finding)))
        .collect();
    report.extend(rendered);
    let mut known = BTreeSet::new();
    let mut of_machines = Vec::new();
    for machine in &rendering.machines {
        let found = preflight::check(
            pool,
            &machine.target,
            request,
            machine.rendered.as_ref(),
            is_version_said,
        );
        let found = match machine.planned {
            Some(planned) => planned.explained(found, machine.target.config),
            None => found,
        };
        of_machines.extend(
            found
                .into_findings()
                .into_iter()
                .filter(|finding| known.insert(identity(finding))),
        );
    }
    report.extend(of_machines);
    let of_clusters = own.iter().flat_map(preflight::of_cluster).collect();
    let of_clusters = unreported(&report, of_clusters);
    report.extend(of_clusters);
    let of_objects = own.iter().flat_map(|object| {
        preflight::core_kinds::check(object, request)
            .into_iter()
            .chain(admission::metadata::check(object))
    });
    let of_objects = unreported(&report, of_objects.collect());
    report.extend(of_objects);
    let given: BTreeSet<(&str, &str)> = pool
        .objects()
        .iter()
        .map(|object| (object.kind(), object.name()))
        .collect();
    report.extend(
        own.iter()
            .filter_map(|object| control_plane_absent(&given, object)),
    );
    report.extend(version_short(
        rendering.machines.iter().filter(|machine| is_said(machine)),
    ));
    report.extend(version_unknown(
        rendering
            .machines
            .iter()
            .filter(|machine| !is_said(machine))
            .collect(),
    ));
    Validation {
        machines: rendering
            .machines
            .iter()
            .map(|machine| CheckedMachine::of(machine, is_said(machine)))
            .collect(),
        topologies: *clusters,
        others: own
            .iter()
            .filter(|object| !is_known(object))
            .map(Object::title)
            .collect(),
        report,
    }
}

/// What tells findings apart: two machines of one config share its faults.
fn identity(
    finding: &Diagnostic,
) -> (
    &'static str,
    Option<usize>,
    Option<std::sync::Arc<str>>,
    String,
) {
    let start = finding.place.span.map(|span| span.start.offset);
    (
        finding.rule.id,
        start,
        finding.place.file.clone(),
        finding.message.to_string(),
    )
}

/// The findings at locations without an error so far: the schema of a topology, of a config and of the
/// object that holds it may see the same fault.
fn unreported(report: &Report, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let reported = report.starts(|finding| finding.rule.severity == Severity::Error);
    found
        .into_iter()
        .filter(|finding| {
            finding
                .place
                .start()
                .is_none_or(|start| !reported.contains(&start))
        })
        .collect()
}

fn options(request: &Request) -> topology::Options {
    topology::Options {
        allows_external: true,
        release: request
            .profile
            .admission(request.feature_gates.machine_taints),
        ..Default::default()
    }
}

/// How many objects of the core there are, and what Cluster API's API and webhooks reject of
/// Clusters with a topology and of ClusterClasses.
fn judged_topologies(pool: &Pool, request: &Request) -> (usize, Report) {
    let of_core = |kind: &'static str| {
        pool.objects()
            .iter()
            .filter(move |object| object.is(CORE_GROUP, kind))
    };
    let has_topology =
        of_core("Cluster").any(|object| object.field(&["spec", "topology"]).is_some());
    let mut report = Report::new();
    if has_topology {
        // What a runtime extension makes is nobody's fault here; the plan says that it is missing.
        report.extend(topology::plan(pool, &options(request), &request.budget).report);
    }
    let told: BTreeSet<_> = report.findings().iter().map(identity).collect();
    let of_classes = of_core("ClusterClass")
        .flat_map(|class| topology::rejected_of_class(class, &request.budget));
    let of_classes: Vec<_> = of_classes
        .filter(|finding| !told.contains(&identity(finding)))
        .collect();
    report.extend(of_classes);
    (
        pool.objects()
            .iter()
            .filter(|object| preflight::core_kinds::is_judged(object))
            .count(),
        report,
    )
}

/// That flags, gates and versions of some machines are not checked, said once.
fn version_unknown(without: Vec<&Machine<'_>>) -> Option<Diagnostic> {
    let first = without.first()?;
    let others = match without.len() - 1 {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    let message = format!(
        "no Kubernetes version is known for {}{others}, so flags, feature gates and CAPI support were not checked",
        first.target.named().title()
    );
    let place = first.target.config.place(&FieldPath::root());
    let help = Remedy::new("give it: ").set(Setting::KubernetesVersion, "v1.34.1");
    Some(
        Diagnostic::of(&VERSION_UNKNOWN, message)
            .at(place)
            .help(help),
    )
}

/// Versions without a patch number, each said once.
fn version_short<'m>(machines: impl Iterator<Item = &'m Machine<'m>>) -> Vec<Diagnostic> {
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for machine in machines {
        let Some(version) = machine
            .rendered
            .as_ref()
            .map(|rendered| rendered.kubernetes_version.as_str())
        else {
            continue;
        };
        let is_short = version.split('.').count() == 2
            && windlass_capi::contract::parse_tolerant(version).is_ok();
        if is_short && told.insert(version) {
            let message = format!(
                "the Kubernetes version {version} of {} has no patch number: {version}.0 is assumed",
                machine.target.named().title()
            );
            let place = machine.target.config.place(&FieldPath::root());
            let help = Remedy::new("give all of it: ")
                .set(Setting::KubernetesVersion, format!("{version}.1"));
            found.push(Diagnostic::of(&VERSION_SHORT, message).at(place).help(help));
        }
    }
    found
}

/// That a Cluster refers to a control plane that is none of the objects given, of which kinds and
/// names are known.
fn control_plane_absent(given: &BTreeSet<(&str, &str)>, cluster: &Object) -> Option<Diagnostic> {
    let reference = |field: &str| cluster.text(&["spec", "controlPlaneRef", field]);
    let (kind, name) = (reference("kind"), reference("name"));
    if !cluster.is(CORE_GROUP, "Cluster") || name.is_empty() || given.contains(&(kind, name)) {
        return None;
    }
    let message = format!(
        "{} has the control plane {kind}/{name}, which is not in the input: nothing of it is checked",
        cluster.title()
    );
    let place = cluster.place(&FieldPath::of_fields("spec.controlPlaneRef.name"));
    Some(
        Diagnostic::of(&CONTROL_PLANE_ABSENT, message)
            .at(place)
            .help("name the file that has it, too"),
    )
}

/// Whether the object is read: as a config, as what stands around one, or as what a config refers
/// to.
fn is_known(object: &Object) -> bool {
    match object.group() {
        "" => ["Secret", "ConfigMap"].contains(&object.kind()),
        CORE_GROUP => preflight::core_kinds::is_judged(object),
        _ => !windlass_bootstrap::render::targets(&Pool::of(vec![object.clone()])).is_empty(),
    }
}

/// What was checked, in a line.
pub fn done(validation: &Validation) -> String {
    use windlass_report::text::plural;
    let counts = [
        (validation.machines.len(), "machine kind"),
        (validation.topologies, "cluster object"),
        (validation.others.len(), "other object"),
    ];
    let said: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| plural(count, what))
        .collect();
    match (said.is_empty(), validation.others.is_empty()) {
        (true, _) => "nothing checked".to_owned(),
        (_, true) => said.join(", "),
        _ => said.join(", ") + " not checked",
    }
}
