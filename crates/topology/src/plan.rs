//! From the objects of the input to those that a topology wants.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::admission;
use super::blueprint::Blueprint;
use super::class::Class;
use super::cluster::{Cluster, Values};
use super::defaults::with_defaults;
use super::definitions;
use super::engine::{self, external_finding};
use super::history::History;
use super::input::Input;
use super::items::{Item, Outcome, Variables, Write, items, take_over, topology_name};
use super::made::too_large;
use super::origins::{self, Origins, Patched};
use super::part::Part;
use super::rejected::Rejected;
use super::scope::Layer;
use super::state::{State, misshapen, state};
use super::variables;
use super::{
    CLASS_MISSING, CLUSTER_NONE, NAMESAKES, PATCH_EXTERNAL, RANDOM, VARIABLE_REJECTED,
    VARIABLE_UNJUDGED, blueprint,
};
use windlass_capi::admission::Release;
use windlass_capi::contract::CORE_GROUP;
use windlass_go_text::quote;
use windlass_objects::{Object, Pool, fields};
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Report};

/// How a topology is planned.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether external patches are passed over.
    pub allows_external: bool,
    /// Whether what schemas and webhooks reject is planned all the same.
    pub skips_admission: bool,
    /// The release whose webhooks check Clusters and classes.
    pub release: Release,
    /// Whether it is recorded which patches did nothing and why, and what patches replaced.
    pub records: bool,
}

/// What came of a plan.
#[derive(Debug, Default)]
pub struct Planned {
    /// The desired objects: for each Cluster itself, the infrastructure, the control plane, then
    /// MachineDeployments and MachinePools.
    pub objects: Vec<Desired>,
    /// The templates from which the classes have the configs of machines made: group, kind,
    /// namespace, name.
    pub templates: BTreeSet<[String; 4]>,
    /// What is wrong.
    pub report: Report,
}

/// An object that the topology controller would create.
#[derive(Debug, Clone, PartialEq)]
pub struct Desired {
    /// The name of the Cluster.
    pub cluster: String,
    /// `controlPlane`, `md/NAME` or `mp/NAME` for what holds the config of machines.
    pub topology: Option<String>,
    /// What it belongs to: `cluster`, `controlPlane`, `md/NAME`, `mp/NAME`.
    pub part_of: String,
    /// The name of the MachineDeployment or MachinePool that refers to it.
    pub owner: Option<String>,
    /// The Kubernetes version of its machines.
    pub version: Option<String>,
    /// How many machines there are, if the topology says it.
    pub replicas: Option<Value>,
    /// What the patches wrote into its template, in their order.
    pub writes: Vec<Write>,
    /// The origins of the parts of the object, by their paths in it.
    pub origins: Origins,
    /// What became of the patches, when [`Options::records`] asks for it.
    pub history: Option<History>,
    /// The object.
    pub object: Value,
}

/// The Clusters with a topology.
pub fn clusters(pool: &Pool) -> impl Iterator<Item = &Object> {
    pool.objects()
        .iter()
        .filter(|object| Cluster::is_one(object))
}

/// The class of a Cluster with a topology, if the input holds it.
pub fn class_of<'p>(pool: &'p Pool, cluster: &Object) -> Option<&'p Object> {
    class(pool, &Cluster::of(cluster, true))
}

fn class<'p>(pool: &'p Pool, cluster: &Cluster<'_>) -> Option<&'p Object> {
    pool.find(
        CORE_GROUP,
        "ClusterClass",
        cluster.class_namespace(),
        cluster.class.text(),
    )
}

/// Plans every Cluster with a topology.
pub fn plan(pool: &Pool, options: &Options, budget: &Budget) -> Planned {
    let clusters: Vec<&Object> = clusters(pool).collect();
    let mut planned = plan_of(pool, &clusters, options, budget);
    let namesakes = namesakes(&clusters, &planned.objects);
    planned.report.extend(namesakes);
    if clusters.is_empty() {
        planned.report.push(
            Diagnostic::of(&CLUSTER_NONE, "the input holds no Cluster with `spec.topology`")
                .help("name the file with the Cluster too; `windlass topology variables` needs only the ClusterClass"),
        );
    }
    planned
}

/// That objects of one kind have one name, which differ once Cluster API has drawn the ends of
/// their names.
fn namesakes(clusters: &[&Object], objects: &[Desired]) -> Option<Diagnostic> {
    let mut seen = BTreeSet::new();
    let twice = objects.iter().find(|desired| {
        !seen.insert(identity(&desired.object)) && fields::name(&desired.object).contains(RANDOM)
    })?;
    let title = format!(
        "{}/{}",
        fields::kind(&twice.object),
        fields::name(&twice.object)
    );
    let place = clusters
        .iter()
        .rfind(|cluster| cluster.name() == twice.cluster)
        .map(|cluster| cluster.place(&FieldPath::of_fields("metadata.name")));
    let message = format!(
        "several objects are called {title} here: Cluster API draws other characters for each"
    );
    let help = "to tell them apart, give the Cluster or its MachineDeployments shorter names: names are cut after 58 characters";
    Some(
        Diagnostic::of(&NAMESAKES, message)
            .at(place.unwrap_or_default())
            .help(help),
    )
}

/// Group, kind, namespace and name.
fn identity(object: &Value) -> [&str; 4] {
    [
        fields::group_version(object).0,
        fields::kind(object),
        fields::namespace(object),
        fields::name(object),
    ]
}

/// Plans Clusters with a topology: classes are checked once, and Clusters planned on all cores.
pub fn plan_of(pool: &Pool, clusters: &[&Object], options: &Options, budget: &Budget) -> Planned {
    let (defaulted, untold) = match with_defaults(pool, budget) {
        Ok(defaulted) => defaulted,
        Err(finding) => {
            return Planned {
                report: [*finding].into_iter().collect(),
                ..Planned::default()
            };
        }
    };
    let pool = defaulted.as_ref().unwrap_or(pool);
    let clusters: Vec<Cluster<'_>> = clusters
        .iter()
        .map(|object| Cluster::of(object, !options.skips_admission))
        .collect();
    let (prepared, mut reports) = prepare(pool, &clusters, options, budget);
    let all: Vec<(&Cluster<'_>, Option<usize>)> =
        clusters.iter().zip(prepared.of_cluster).collect();
    let one = |(cluster, class): &(&Cluster<'_>, Option<usize>), budget: &Budget| {
        let mut planned = Planned::default();
        one(
            pool,
            cluster,
            class.map(|at| &prepared.classes[at]),
            options,
            budget,
            &mut planned,
        );
        planned
    };
    let mut planned = Planned {
        report: untold,
        ..Planned::default()
    };
    planned.templates.extend(
        prepared
            .classes
            .iter()
            .flat_map(|ready| ready.class.config_templates()),
    );
    for (of_cluster, (_, class)) in budget.each(&all, one).into_iter().zip(&all) {
        // What is said of a class stands before what is said of its first Cluster.
        planned.report.extend(
            class
                .and_then(|class| reports.remove(&class))
                .into_iter()
                .flat_map(Report::into_findings),
        );
        planned.report.extend(of_cluster.report);
        planned.objects.extend(of_cluster.objects);
    }
    planned
}

/// A class, and all that is the same for each of its Clusters.
struct Ready<'o> {
    class: Class<'o>,
    variables: variables::Compiled<'o>,
    /// `None` when a template is missing.
    blueprint: Option<Blueprint<'o>>,
    /// Whether schemas and webhooks let it be used.
    is_sound: bool,
}

/// The classes of Clusters.
struct Prepared<'o> {
    classes: Vec<Ready<'o>>,
    /// Which of them each Cluster has, if the input holds it.
    of_cluster: Vec<Option<usize>>,
}

/// Checks and reads each class once; what is wrong with it is by its number.
fn prepare<'o>(
    pool: &'o Pool,
    clusters: &[Cluster<'_>],
    options: &Options,
    budget: &Budget,
) -> (Prepared<'o>, BTreeMap<usize, Report>) {
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let (mut prepared, mut reports) = (
        Prepared {
            classes: Vec::new(),
            of_cluster: Vec::new(),
        },
        BTreeMap::new(),
    );
    for cluster in clusters {
        let at = class(pool, cluster).map(|object| {
            *known
                .entry((object.namespace_or_default(), object.name()))
                .or_insert_with(|| {
                    let class = Class::of(object).with_templates();
                    let mut report = Report::new();
                    let is_sound =
                        options.skips_admission || judge(&class, options, budget, &mut report);
                    let variables = variables::compile(&class.variables, budget);
                    let blueprint = blueprint::blueprint(pool, cluster, &class).ok();
                    report.extend(blueprint.as_ref().and_then(Blueprint::assumption));
                    reports.insert(prepared.classes.len(), report);
                    prepared.classes.push(Ready {
                        class,
                        variables,
                        blueprint,
                        is_sound,
                    });
                    prepared.classes.len() - 1
                })
        });
        prepared.of_cluster.push(at);
    }
    (prepared, reports)
}

fn one(
    pool: &Pool,
    cluster: &Cluster<'_>,
    ready: Option<&Ready<'_>>,
    options: &Options,
    budget: &Budget,
    planned: &mut Planned,
) {
    if ready.is_some_and(|ready| !ready.is_sound) {
        return;
    }
    let mut faults = Vec::new();
    let values = match ready
        .map(|ready| given(cluster, ready, budget, &mut faults, &mut planned.report))
        .transpose()
    {
        Ok(values) => values,
        Err(finding) => return planned.report.push(*finding),
    };
    if !options.skips_admission {
        planned.report.extend(definitions::unknown(cluster.object));
        let mut findings = Vec::new();
        if !faults.is_empty() {
            let help = "`windlass topology variables FILE` shows what the class takes";
            let rejected = admission::by_webhook(cluster.object, &VARIABLE_REJECTED, faults);
            findings = rejected
                .into_iter()
                .map(|finding| finding.help(help))
                .collect();
        }
        if findings.is_empty() {
            findings = admission::of_cluster(
                cluster,
                ready.map(|ready| &ready.class),
                &options.release,
                budget,
            );
        }
        if !findings.is_empty() {
            planned.report.extend(findings);
            return;
        }
        planned
            .report
            .extend(admission::warnings_of_cluster(cluster));
    }
    let Some((ready, values)) = ready.zip(values) else {
        planned.report.push(class_missing(pool, cluster));
        return;
    };
    let Some(blueprint) = &ready.blueprint else {
        planned.report.extend(
            blueprint::blueprint(pool, cluster, &ready.class)
                .err()
                .unwrap_or_default(),
        );
        return;
    };
    let input = Input {
        cluster,
        class: &ready.class,
        blueprint,
        budget,
    };
    desired(&input, &values, options, planned);
}

/// What schemas and webhooks say of a class. External patches may be allowed.
fn judge(class: &Class<'_>, options: &Options, budget: &Budget, report: &mut Report) -> bool {
    report.extend(definitions::unknown(class.object));
    let findings = admission::of_class(class, true, budget);
    report.extend(admission::warnings_of_class(class));
    let mut is_sound = true;
    for finding in findings {
        if finding.rule == &PATCH_EXTERNAL {
            let upstream = finding.upstream.clone().unwrap_or_default();
            let at = class
                .patches
                .iter()
                .find(|patch| patch.field("external").place() == finding.place);
            report.extend(at.map(|patch| external_finding(patch, upstream)));
            is_sound &= options.allows_external;
        } else {
            report.push(finding);
            is_sound = false;
        }
    }
    is_sound
}

fn class_missing(pool: &Pool, cluster: &Cluster<'_>) -> Diagnostic {
    let (namespace, name) = (cluster.class_namespace(), cluster.class.text());
    let upstream = format!(
        "failed to retrieve ClusterClass {namespace}/{name}: clusterclasses.{CORE_GROUP} {} not found",
        quote(name)
    );
    let message = format!(
        "Cluster/{} is of ClusterClass/{name} in namespace {namespace}, which the input does not hold",
        cluster.name()
    );
    let known: Vec<String> = pool
        .everywhere(CORE_GROUP, "ClusterClass")
        .take(8)
        .map(|class| Class::of(class).key())
        .collect();
    let help = match known.is_empty() {
        true => "name the file with the ClusterClass and its templates too".to_owned(),
        false => format!(
            "the input holds {}; name the file with the other one too, or correct the name",
            known.join(", ")
        ),
    };
    Diagnostic::of(&CLASS_MISSING, message)
        .at(cluster.class.place())
        .upstream(upstream)
        .help(help)
}

/// All values of a Cluster with their defaults, and what is wrong with them.
///
/// # Errors
/// When defaults make more of them than a run may hold.
fn given<'o>(
    cluster: &Cluster<'o>,
    ready: &Ready<'_>,
    budget: &Budget,
    faults: &mut Vec<Rejected<'o>>,
    report: &mut Report,
) -> Result<Variables, Box<Diagnostic>> {
    let compiled = &ready.variables;
    let mut lists: Vec<(Part<'o>, String, bool)> = vec![
        (
            cluster.topology.field("variables"),
            "spec.topology.variables".to_owned(),
            true,
        ),
        (
            cluster.control_plane.at("variables.overrides"),
            "spec.topology.controlPlane.variables.overrides".to_owned(),
            false,
        ),
    ];
    for (workers, list) in [
        (&cluster.deployments, "machineDeployments"),
        (&cluster.pools, "machinePools"),
    ] {
        for worker in workers {
            let field = format!(
                "spec.topology.workers.{list}[{}].variables.overrides",
                worker.name
            );
            lists.push((worker.part.at("variables.overrides"), field, false));
        }
    }
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for (part, field, is_global) in &lists {
        let defaulted = variables::defaulted(part, compiled, field, *is_global, budget);
        let (values, found) = defaulted.map_err(|_| Box::new(too_large(&part.place())))?;
        all.push(values);
        wrong.extend(found);
    }
    // Faults of values come behind those of the lists.
    for ((part, field, is_global), values) in lists.iter().zip(&all) {
        wrong.extend(variables::check(
            part, values, compiled, field, *is_global, budget,
        ));
        for (name, value) in values {
            let gaps = compiled
                .get(name.as_str())
                .map(|variable| variable.not_evaluable(value, budget))
                .unwrap_or_default();
            report.extend(gaps.into_iter().map(|gap| {
                Diagnostic::of(
                    &VARIABLE_UNJUDGED,
                    format!(
                        "a rule of variable `{name}` cannot be checked: {gap}",
                        gap = Quoted(gap)
                    ),
                )
                .at(part.place())
                .help("have it checked by a server, in a dry run")
            }));
        }
    }
    faults.extend(wrong);
    let mut all = all.into_iter().map(|values| defined_only(values, compiled));
    let mut next = || all.next().unwrap_or_default();
    let (global, control_plane) = (next(), next());
    let deployments = cluster.deployments.iter().map(|_| next()).collect();
    let pools = cluster.pools.iter().map(|_| next()).collect();
    Ok(Variables {
        global,
        control_plane,
        deployments,
        pools,
    })
}

/// Patches see only what the class defines.
fn defined_only(mut values: Values, compiled: &variables::Compiled<'_>) -> Values {
    values.retain(|name, _| compiled.contains_key(name.as_str()));
    values
}

/// The desired objects of one Cluster, patches applied.
fn desired(input: &Input<'_>, variables: &Variables, options: &Options, planned: &mut Planned) {
    let mut state = match state(input) {
        Ok(state) => state,
        Err(finding) => return planned.report.push(*finding),
    };
    let shared = Layer::of(&variables.global);
    let Ok((mut items, scopes)) = items(input, &state, &shared, variables) else {
        return planned
            .report
            .push(too_large(&input.cluster.topology.place()));
    };
    if options.records {
        items
            .iter_mut()
            .for_each(|item| item.history = Some(History::default()));
    }
    if !engine::apply(
        input.class,
        &mut items,
        &scopes,
        options,
        input.budget,
        &mut planned.report,
    ) {
        return;
    }
    let mut outcomes: Vec<Outcome<'_>> = items.into_iter().map(Item::outcome).collect();
    if !input.class.patches.is_empty()
        && let Some(template) = take_over(&mut outcomes, &mut state)
    {
        return planned.report.push(misshapen(template));
    }
    planned.objects.extend(listed(input, state, outcomes));
}

/// All objects in their order.
fn listed(input: &Input<'_>, state: State<'_>, outcomes: Vec<Outcome<'_>>) -> Vec<Desired> {
    let cluster = input.cluster;
    let mut outcomes = outcomes.into_iter();
    let of = |object: Value, part_of: &str, writes: Vec<Write>, origins: Origins| Desired {
        cluster: cluster.name().to_owned(),
        topology: None,
        part_of: part_of.to_owned(),
        owner: None,
        version: None,
        replicas: None,
        writes,
        origins,
        history: None,
        object,
    };
    // Of each template its object; those of templates are templates as they are.
    let mut next = |object: Value, part_of: &str, origins: &dyn Fn(Patched<'_>) -> Origins| {
        let outcome = outcomes
            .next()
            .expect("internal error: an item is made for each template");
        let origins = origins(outcome.patched());
        Desired {
            history: outcome.history,
            ..of(object, part_of, outcome.writes, origins)
        }
    };
    let as_template = |item: Patched<'_>| item.origins.clone();
    let replicas = |object: &Value| {
        object["spec"]
            .get("replicas")
            .filter(|replicas| !replicas.is_null())
            .cloned()
    };
    let mut all = vec![of(
        state.cluster,
        "cluster",
        Vec::new(),
        origins::whole(cluster.object),
    )];
    all.push(next(state.infrastructure, "cluster", &origins::of_object));
    let version = state.control_plane["spec"]["version"]
        .as_str()
        .map(str::to_owned);
    let own = next(state.control_plane, "controlPlane", &|item| {
        origins::of_control_plane(item, cluster, input.class, input.blueprint.spelling)
    });
    all.push(Desired {
        topology: Some("controlPlane".to_owned()),
        version,
        replicas: replicas(&own.object),
        ..own
    });
    all.extend(
        state
            .machine
            .map(|machine| next(machine, "controlPlane", &as_template)),
    );
    let check = |object: Value, part_of: &str| {
        of(object, part_of, Vec::new(), origins::whole(cluster.object))
    };
    all.extend(state.check.map(|object| check(object, "controlPlane")));
    for machines in state.deployments.into_iter().chain(state.pools) {
        let part_of = topology_name(&machines);
        let (version, replicas) = (Some(cluster.version.clone()), replicas(&machines.object));
        let owner = Some(fields::name(&machines.object).to_owned());
        let set = of(
            machines.object,
            &part_of,
            Vec::new(),
            origins::of_machines(machines.worker, cluster),
        );
        all.push(Desired {
            version: version.clone(),
            replicas: replicas.clone(),
            ..set
        });
        let made: &dyn Fn(Patched<'_>) -> Origins = if machines.is_pool {
            &origins::of_object
        } else {
            &as_template
        };
        let bootstrap = next(machines.bootstrap, &part_of, made);
        all.push(Desired {
            topology: Some(part_of.clone()),
            owner: owner.clone(),
            version,
            replicas,
            ..bootstrap
        });
        all.push(Desired {
            owner,
            ..next(machines.infrastructure, &part_of, made)
        });
        all.extend(machines.check.map(|object| check(object, &part_of)));
    }
    all
}
