//! The check of the objects in files of a provider: what `validate --template` reports about
//! Cluster API's and kubeadm's objects, for each command that reads templates, ClusterClasses and
//! samples.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::commands::validate;
use windlass_bootstrap::preflight;
use windlass_bootstrap::preflight::core_kinds::{self, is_supplied_by_blocks};
use windlass_bootstrap::render::input::{cluster_class, unresolved, variables};
use windlass_bootstrap::render::validation::findings;
use windlass_bootstrap::render::{FeatureGates, Origins, Request, Variables, plan, write};
use windlass_capi::admission::core::unknown::FIELD_UNKNOWN;
use windlass_capi::admission::metadata_types::METADATA_REJECTED;
use windlass_capi::contract::{CORE_GROUP, cluster_class_name};
use windlass_debugging::commands::render;
use windlass_envsubst as envsubst;
use windlass_lint::{Audience, Extent, templates};
use windlass_objects::opaque_block::opaque_blocks;
use windlass_objects::substituted::{OpenUses, SAMPLE};
use windlass_objects::{Object, Pool};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Class, Diagnostic, Report, Rule, Severity};
use windlass_topology as topology;

/// The groups whose objects are checked.
const GROUPS: [&str; 3] = [
    CORE_GROUP,
    "bootstrap.cluster.x-k8s.io",
    "controlplane.cluster.x-k8s.io",
];

/// Findings about objects that are not in the file: they may be in the management cluster, or in
/// another file of the repository.
static INCOMPLETE_INPUT: [&Rule; 16] = [
    &variables::TEMPLATE_REJECTED,
    &variables::TEMPLATE_UNDECLARED,
    &unresolved::REFERENCE_DANGLING,
    &render::NO_CONFIG,
    &render::CLASS_ABSENT,
    &render::topology::NOT_RENDERED,
    &cluster_class::PATCH_NOT_APPLIED,
    &validate::VERSION_UNKNOWN,
    &validate::CONTROL_PLANE_ABSENT,
    &topology::CLUSTER_NONE,
    &topology::CLASS_NONE,
    &topology::CLASS_MISSING,
    &topology::TEMPLATE_MISSING,
    &topology::PATCH_EXTERNAL,
    &topology::CONTRACT_ASSUMED,
    &topology::DEFAULTS_UNKNOWN,
];

/// Rules that apply to parts of objects, too, which kustomize completes.
static OF_PARTS: [&Rule; 8] = [
    &findings::FIELD_UNKNOWN,
    &findings::VALUE_REJECTED,
    &findings::VERSION_UNKNOWN,
    &FIELD_UNKNOWN,
    &core_kinds::VALUE_REJECTED,
    &core_kinds::VERSION_UNKNOWN,
    &unresolved::KIND_UNKNOWN,
    &METADATA_REJECTED,
];

/// Rules about what becomes of a config on a node. For a template of a class they do not hold where
/// patches change it before a machine is made.
static OF_NODES: [&[&Rule]; 14] = [
    preflight::cloud_config::RULES,
    preflight::commands::RULES,
    preflight::component_flags::RULES,
    preflight::gates::RULES,
    preflight::kubeadm_values::RULES,
    preflight::matrix::RULES,
    preflight::node_labels::RULES,
    preflight::node_taints::RULES,
    preflight::patch_files::RULES,
    plan::content::RULES,
    plan::kubeadm_run::RULES,
    plan::planner::RULES,
    write::ignition::RULES,
    write::quirks::RULES,
];

/// A file whose objects are checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) source: &'a Source,
    /// Whether the objects are complete, or parts that kustomize combines.
    pub(crate) extent: Extent,
}

/// Checks templates of a release, and for their author the objects in them.
pub fn check_templates(
    sources: &[Source],
    asked: &templates::Asked<'_>,
    definitions: &[Object],
    budget: &Budget,
) -> Report {
    let mut report = templates::check(sources, asked, budget);
    if let Audience::Author(_) = asked.audience {
        let found = check_whole(sources, definitions, &report, budget);
        report.extend(found);
    }
    report
}

/// Checks the objects of templates that are whole. `reported` are earlier findings.
pub fn check_whole(
    sources: &[Source],
    definitions: &[Object],
    reported: &Report,
    budget: &Budget,
) -> Report {
    let subject = |source| Subject {
        source,
        extent: Extent::Whole,
    };
    let subjects: Vec<_> = sources.iter().map(subject).collect();
    check(&subjects, definitions, reported, budget)
}

/// Checks the objects of a file together with those of files that they refer to. `reported` are
/// earlier findings, which are not repeated.
pub fn check_among(
    source: &Source,
    others: &[&Source],
    reported: &Report,
    budget: &Budget,
) -> Report {
    let subject = Subject {
        source,
        extent: Extent::Whole,
    };
    let found = subject.check(others, &[], budget);
    let is_here = |finding: &Diagnostic| finding.place.file.as_ref() == Some(source.name());
    unreported(reported, found.into_iter().filter(is_here))
}

/// Whether objects of a group are checked.
pub(crate) fn is_checked(object: &Object) -> bool {
    GROUPS.contains(&object.group())
}

/// Checks the objects of each file. Classes that a template refers to are taken from the other
/// files, and defaults of its kinds from `definitions`, which are CRDs. `reported` are earlier
/// findings, which are not repeated.
pub(crate) fn check(
    subjects: &[Subject<'_>],
    definitions: &[Object],
    reported: &Report,
    budget: &Budget,
) -> Report {
    let classes: Vec<(&str, &Source)> = subjects
        .iter()
        .filter_map(|subject| {
            Some((
                cluster_class_name(subject.source.file_name())?,
                subject.source,
            ))
        })
        .collect();
    let found = budget.each(subjects, |subject, budget| {
        let is_used = |(name, class): &&(&str, &Source)| {
            folder(class) == folder(subject.source)
                && class.name() != subject.source.name()
                && subject.source.text().contains(name)
        };
        let classes = classes.iter().filter(is_used).map(|(_, class)| *class);
        subject.check(&classes.collect::<Vec<_>>(), definitions, budget)
    });
    unreported(reported, found.into_iter().flatten())
}

fn folder(source: &Source) -> &str {
    source
        .name()
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder)
}

/// The findings that are not reported yet: one of another rule at the location of an error is about the
/// same thing.
fn unreported(reported: &Report, found: impl Iterator<Item = Diagnostic>) -> Report {
    let errors = reported.starts(|finding| finding.rule.severity == Severity::Error);
    let identity = |finding: &Diagnostic| {
        (
            finding.rule.id,
            finding.place.start(),
            finding.message.to_string(),
        )
    };
    let mut known: BTreeSet<_> = reported.findings().iter().map(identity).collect();
    found
        .filter(|finding| {
            finding
                .place
                .start()
                .is_none_or(|start| !errors.contains(&start))
        })
        .filter(|finding| known.insert(identity(finding)))
        .collect()
}

impl Subject<'_> {
    fn check(&self, classes: &[&Source], definitions: &[Object], budget: &Budget) -> Report {
        let own = Arc::new(budget.rest());
        let request = Request {
            budget: Arc::clone(&own),
            // Users of a template can turn on the feature gates that it needs.
            feature_gates: FeatureGates {
                ignition: true,
                machine_pool: true,
                machine_taints: true,
            },
            ..Request::new()
        };
        let report = self.checked(classes, definitions, &request);
        // What was spent counts for the run, whether or not there was enough.
        let _ = budget.take_all(&own);
        report
    }

    fn checked(&self, classes: &[&Source], definitions: &[Object], request: &Request) -> Report {
        let budget = &request.budget;
        let all = std::iter::once(self.source).chain(classes.iter().copied());
        let without_marker: BTreeSet<String> = all.clone().flat_map(without_marker).collect();
        let sample = |name: &str| without_marker.contains(name).then(|| SAMPLE.to_owned());
        let given = Variables {
            given: &sample,
            request,
        };
        let (texts, origins, _) = Origins::substitute(all.cloned().collect(), given, budget);
        let (pool, unreadable) = Pool::read(&texts, budget);
        if !pool.objects().iter().any(is_checked) {
            return self.apart_from_variables(metadata_of(&pool, &origins));
        }
        let has_patches = pool.objects().iter().any(|object| {
            object.is(CORE_GROUP, "ClusterClass") && !object.items(&["spec", "patches"]).is_empty()
        });
        let pool = pool.with([], definitions.iter().cloned());
        let judged = validate::Judged::new(pool, request);
        let mut rendering = judged.render(request);
        let validation = validate::run(&judged, request, &mut rendering, false);
        let report = render::settle(&mut rendering, validation.report, &origins);
        let is_unreadable = unreadable.has_errors();
        let is_told = |finding: &Diagnostic| {
            let is_incomplete = finding.rule.class == Class::Requeue
                || INCOMPLETE_INPUT.contains(&finding.rule)
                || finding.rule.severity == Severity::Info
                    && finding.rule.id.starts_with("topology-");
            let is_of_part = OF_PARTS.contains(&finding.rule);
            let is_patched = has_patches
                && is_of_template(finding)
                && OF_NODES.iter().any(|rules| rules.contains(&finding.rule));
            let is_defaulted =
                finding.rule == &topology::PATCH_FAILS && !is_defined(finding, definitions);
            let is_here = finding.place.file.as_ref().is_none_or(|file| {
                file == self.source.name() || classes.iter().any(|class| file == class.name())
            });
            is_here
                && !is_incomplete
                && !is_patched
                && !is_defaulted
                && (is_of_part || self.extent == Extent::Whole && !is_unreadable)
        };
        let report = report.into_findings().into_iter().filter(is_told).collect();
        self.apart_from_variables(report)
    }

    /// The findings without those about a value that only the user of the template knows, and
    /// without those about what a block that is one variable may contain.
    fn apart_from_variables(&self, report: Report) -> Report {
        let blocks = opaque_blocks(self.source);
        let open = OpenUses::of(self.source);
        let is_known = |finding: &Diagnostic| {
            if finding.place.span.is_none() {
                return true;
            }
            if finding.place.file.as_deref() != Some(self.source.name().as_ref()) {
                return true;
            }
            let is_of_block = is_supplied_by_blocks(finding, self.source.text(), &blocks);
            !is_of_block && !open.decide(self.source, finding)
        };
        report
            .into_findings()
            .into_iter()
            .filter(is_known)
            .collect()
    }
}

/// Whether the CRD of the template is known that a patch does not apply to. Without it the field may
/// be one that the API server fills in.
fn is_defined(finding: &Diagnostic, definitions: &[Object]) -> bool {
    let is_of = |kind: &str| finding.message.contains(&format!(" to {kind}/"));
    let kinds = definitions
        .iter()
        .map(|crd| crd.text(&["spec", "names", "kind"]));
    is_of("KubeadmControlPlaneTemplate")
        || is_of("KubeadmConfigTemplate")
        || kinds.into_iter().any(is_of)
}

/// Whether a finding is about a template, such as that of a class.
fn is_of_template(finding: &Diagnostic) -> bool {
    let object = finding.place.object.as_deref().unwrap_or_default();
    object
        .split('/')
        .next()
        .is_some_and(|kind| kind.ends_with("Template"))
}

fn metadata_of(pool: &Pool, origins: &Origins) -> Report {
    let found = pool
        .objects()
        .iter()
        .flat_map(windlass_capi::admission::metadata::check);
    origins.settle(found.collect(), [], [], []).0
}

/// The variables of a template for which no marker can stand, because an operator or another
/// variable would change it.
fn without_marker(source: &Source) -> Vec<String> {
    let Ok(template) = envsubst::parse(source.text()) else {
        return Vec::new();
    };
    let is_required: BTreeSet<String> = template
        .variables()
        .into_iter()
        .filter(|(_, default)| default.is_none())
        .map(|(name, _)| name)
        .collect();
    let is_plain = |text: &str, name: &str| {
        text.strip_prefix("${")
            .and_then(|text| text.strip_suffix('}'))
            .is_some_and(|text| text.trim() == name)
    };
    let is_many = is_required.len() > variables::MOST_MARKERS;
    let changed = template.uses().into_iter().filter(|used| {
        is_many || used.nested || !is_plain(source.slice(used.span.clone()), used.name)
    });
    changed
        .map(|used| used.name.to_owned())
        .filter(|name| is_required.contains(name))
        .collect()
}
