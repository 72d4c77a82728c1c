//! Clusters with a topology in the input of `render`: their machines are those of the objects that
//! the topology controller would create.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::provenance::Planned;
use windlass_bootstrap::render::input::cluster::Reference;
use windlass_bootstrap::render::input::target::{ConfigKind, targets_of};
use windlass_bootstrap::render::{Role, Target};
use windlass_capi::contract::CORE_GROUP;
use windlass_objects::{Object, Pool, fields};
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};
use windlass_topology::{self as topology, Desired, History, Options, Origins, Stands, Write};

rules! {
    /// the machines of a topology have a bootstrap config of a kind that cannot be rendered
    pub NOT_RENDERED = warning("render-topology-kind-unknown");
    /// the machines of a topology are not rendered because its ClusterClass is missing
    pub CLASS_ABSENT = info("render-topology-class-missing");
}

/// What the Clusters with a topology add to the input.
#[derive(Debug, Default)]
pub struct Topologies {
    /// The objects of the user are those before this one of the pool.
    first: Option<usize>,
    configs: Vec<PlannedConfig>,
    /// The infrastructure templates that they create.
    infrastructure: Vec<Object>,
    /// The templates of their classes: machines have copies of them.
    templates: BTreeSet<[String; 4]>,
    report: Report,
}

/// An object that holds the config of machines of a topology.
#[derive(Debug)]
pub struct PlannedConfig {
    /// Its place in the pool.
    at: usize,
    /// The place of the MachineDeployment or MachinePool that refers to it.
    set: Option<usize>,
    /// Whether another object has its name, which ends with a placeholder.
    is_namesake: bool,
    cluster: String,
    part_of: String,
    writes: Vec<Write>,
    origins: Origins,
    history: Option<History>,
}

/// Plans the Clusters with a topology: the pool with the objects that the topology controller would
/// create, and what they are. A Cluster whose control plane is in the input is as it is.
pub fn with_topologies(pool: Pool, allows_external: bool, budget: &Budget) -> (Pool, Topologies) {
    planned(
        pool,
        &Options {
            allows_external,
            ..Options::default()
        },
        budget,
    )
}

/// The same, for who asks where things come from: it is recorded which patches did nothing and why.
pub fn with_histories(pool: Pool, allows_external: bool, budget: &Budget) -> (Pool, Topologies) {
    planned(
        pool,
        &Options {
            allows_external,
            records: true,
            ..Options::default()
        },
        budget,
    )
}

/// The same, with all options of a plan.
pub fn planned(pool: Pool, options: &Options, budget: &Budget) -> (Pool, Topologies) {
    let mut report = Report::new();
    let clusters = planned_clusters(&pool, &mut report);
    let planned = topology::plan_of(&pool, &clusters, options, budget);
    report.extend(planned.report);
    let mut topologies = Topologies {
        first: Some(pool.objects().len()),
        configs: Vec::new(),
        infrastructure: Vec::new(),
        templates: planned.templates,
        report,
    };
    let changed = changed_clusters(&pool, &planned.objects);
    let more = topologies.take(planned.objects, pool.objects().len());
    (pool.with(changed, more), topologies)
}

fn planned_clusters<'p>(pool: &'p Pool, report: &mut Report) -> Vec<&'p Object> {
    let has_config = pool
        .objects()
        .iter()
        .any(|object| ConfigKind::of(object).is_some());
    let is_made = |cluster: &Object| {
        let reference = cluster
            .field(&["spec", "controlPlaneRef"])
            .and_then(Reference::read);
        reference.is_some_and(|made| {
            pool.find(
                &made.group,
                &made.kind,
                cluster.namespace_or_default(),
                &made.name,
            )
            .is_some()
        })
    };
    let mut planned = Vec::new();
    for cluster in topology::clusters(pool).filter(|cluster| !is_made(cluster)) {
        if has_config && topology::class_of(pool, cluster).is_none() {
            let message = format!(
                "the input does not hold the ClusterClass of {}, so what it makes is not rendered",
                cluster.title()
            );
            let place = cluster.place(&FieldPath::of_fields("spec.topology"));
            report.push(
                Diagnostic::of(&CLASS_ABSENT, message)
                    .at(place)
                    .help("name the files of the ClusterClass and its templates too"),
            );
        } else {
            planned.push(cluster);
        }
    }
    planned
}

/// The Clusters with the references that the topology controller sets.
fn changed_clusters(pool: &Pool, objects: &[Desired]) -> Vec<(usize, Object)> {
    let values = objects.iter().map(|desired| &desired.object);
    let clusters = values.filter(|value| {
        fields::kind(value) == "Cluster" && fields::group_version(value).0 == CORE_GROUP
    });
    let mut by_name: BTreeMap<(&str, &str), &Value> = clusters
        .map(|cluster| ((fields::namespace(cluster), fields::name(cluster)), cluster))
        .collect();
    let all = pool
        .objects()
        .iter()
        .enumerate()
        .filter(|(_, object)| object.is(CORE_GROUP, "Cluster"));
    let changed = all.filter_map(|(at, object)| {
        let made = by_name.remove(&(object.namespace_or_default(), object.name()))?;
        Some((at, object.revised(made.clone())))
    });
    changed.collect()
}

impl Topologies {
    /// The objects of the pool that the user gave.
    pub fn own<'p>(&self, pool: &'p Pool) -> &'p [Object] {
        &pool.objects()[..self.first.unwrap_or(pool.objects().len())]
    }

    /// Keeps what is known of the objects of a plan; gives those that rendering looks at, which
    /// stand from `first` on.
    fn take(&mut self, objects: Vec<Desired>, first: usize) -> Vec<Object> {
        let mut taken: Vec<Object> = Vec::new();
        let mut set = None;
        for desired in objects {
            let Desired {
                cluster,
                topology,
                part_of,
                writes,
                origins,
                history,
                object,
                ..
            } = desired;
            let is_config = topology.is_some();
            let mut object =
                Object::composed(object, origins.clone().map(|stands: Stands| stands.stand));
            object.drop_nulls();
            let at = first + taken.len();
            if object.group() == CORE_GROUP
                && matches!(object.kind(), "MachineDeployment" | "MachinePool")
            {
                set = Some(at);
                taken.push(object);
            } else if is_config && ConfigKind::of(&object).is_some() {
                let set = set.filter(|_| part_of != "controlPlane");
                self.configs.push(PlannedConfig {
                    at,
                    set,
                    is_namesake: false,
                    cluster,
                    part_of,
                    writes,
                    origins,
                    history,
                });
                taken.push(object);
            } else if is_config {
                self.report.push(not_rendered(&object, &cluster, &part_of));
                taken.push(object);
            } else if object.kind().ends_with("Template") {
                self.infrastructure.push(object);
            }
        }
        let mut names: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
        let name = |object: &'_ PlannedConfig| {
            let object = &taken[object.at - first];
            (object.kind(), object.namespace_or_default(), object.name())
        };
        self.configs
            .iter()
            .for_each(|config| *names.entry(name(config)).or_default() += 1);
        let shared: Vec<bool> = self
            .configs
            .iter()
            .map(|config| names[&name(config)] > 1)
            .collect();
        self.configs
            .iter_mut()
            .zip(shared)
            .for_each(|(config, is_shared)| config.is_namesake = is_shared);
        taken
    }

    /// The infrastructure template of that name that a topology creates.
    pub(crate) fn template(&self, named: &Reference) -> Option<&Object> {
        self.infrastructure.iter().find(|object| {
            (object.group(), object.kind(), object.name())
                == (&*named.group, &*named.kind, &*named.name)
        })
    }

    pub(super) fn report(&self) -> &Report {
        &self.report
    }

    /// The machines: of the user's configs, but for templates of classes whose Clusters are
    /// planned, and of what is planned.
    pub(super) fn targets<'a>(
        &'a self,
        pool: &'a Pool,
    ) -> Vec<(Target<'a>, Option<&'a PlannedConfig>)> {
        let own = pool
            .objects()
            .iter()
            .take(self.first.unwrap_or(pool.objects().len()))
            .filter(|object| !self.is_of_class(object));
        let own = own
            .flat_map(|object| targets_of(pool, object))
            .map(|target| (target, None));
        let planned = self.configs.iter().flat_map(|config| {
            let targets = config.targets(pool);
            targets
                .into_iter()
                .map(move |target| (target, Some(config)))
        });
        own.chain(planned).collect()
    }

    /// The machines of the templates of classes, as they are without patches.
    pub(super) fn templates<'a>(
        &'a self,
        pool: &'a Pool,
    ) -> Vec<(Target<'a>, Option<&'a PlannedConfig>)> {
        let own = pool
            .objects()
            .iter()
            .filter(|object| self.is_of_class(object));
        own.flat_map(|object| targets_of(pool, object))
            .map(|target| (target, None))
            .collect()
    }

    fn is_of_class(&self, object: &Object) -> bool {
        let key = || {
            [
                object.group(),
                object.kind(),
                object.namespace_or_default(),
                object.name(),
            ]
            .map(str::to_owned)
        };
        !self.templates.is_empty() && self.templates.contains(&key())
    }
}

fn not_rendered(object: &Object, cluster: &str, part_of: &str) -> Diagnostic {
    let message = format!(
        "the machines of {part_of} of Cluster/{cluster} are not rendered: their config is a {}",
        object.kind()
    );
    let finding = Diagnostic::of(&NOT_RENDERED, message).at(object.place(&FieldPath::root()));
    finding
        .help("see it with `windlass topology plan`, and ask its own provider what a machine gets")
}

impl PlannedConfig {
    fn targets<'a>(&self, pool: &'a Pool) -> Vec<Target<'a>> {
        let config = &pool.objects()[self.at];
        let Some(kind) = ConfigKind::of(config) else {
            return Vec::new();
        };
        let roles: &[Option<Role>] = match kind {
            ConfigKind::ControlPlane { .. } => &[Some(Role::Init), Some(Role::ControlPlaneJoin)],
            _ => &[None],
        };
        // The set is looked up by the name of the config, as for any other one.
        let set = self
            .set
            .filter(|_| self.is_namesake)
            .map(|at| &pool.objects()[at]);
        roles
            .iter()
            .map(|role| Target {
                config,
                kind,
                role: *role,
                set,
            })
            .collect()
    }

    /// The findings of its machine; those about what a patch wrote name the patch and its
    /// variables.
    pub fn explained(&self, report: Report, config: &Object) -> Report {
        let title = config.title();
        let explained = |finding: Diagnostic| {
            let is_here = finding.place.object.as_deref() == Some(title.as_str());
            match self
                .origins
                .nearest(&finding.place.path)
                .0
                .write
                .and_then(|write| self.writes.get(write))
            {
                Some(write) if is_here => finding.note(told(write)),
                _ => finding,
            }
        };
        report.into_findings().into_iter().map(explained).collect()
    }

    /// What is known of where its parts come from.
    pub(crate) fn provenance(&self) -> Planned<'_> {
        Planned {
            cluster: &self.cluster,
            part_of: &self.part_of,
            writes: &self.writes,
            origins: &self.origins,
            history: self.history.as_ref(),
        }
    }

    pub(super) fn report(&self) -> TopologyReport {
        let origin = |(path, stands): (&FieldPath, &Stands)| {
            let Write {
                patch,
                op,
                variables,
                ..
            } = self.writes.get(stands.write?)?.clone();
            let place = stands.stand.anchor.place(&stands.stand.path);
            let line = place.span.map(|span| span.start.line);
            Some(OriginReport {
                path: path.to_string(),
                patch,
                op,
                variables,
                file: place.file.map(|file| file.to_string()),
                line,
            })
        };
        TopologyReport {
            cluster: self.cluster.clone(),
            part_of: self.part_of.clone(),
            origins: self
                .origins
                .parts_below(&FieldPath::root())
                .filter_map(origin)
                .collect(),
        }
    }
}

fn told(write: &Write) -> String {
    let from = match write.variables.as_slice() {
        [] => String::new(),
        [only] => format!(" from the variable `{only}`"),
        several => format!(
            " from the variables {}",
            several
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    match write.op.as_str() {
        "remove" => format!("the patch `{}` removes it", write.patch),
        _ => format!("the patch `{}` writes it{from}", write.patch),
    }
}

/// The topology that a machine is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TopologyReport {
    /// The name of the Cluster.
    cluster: String,
    /// `controlPlane`, `md/NAME` or `mp/NAME`.
    part_of: String,
    /// What patches wrote: these fields of the object, with all below them. The rest is from its
    /// template and the topology.
    origins: Vec<OriginReport>,
}

/// A field that a patch wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OriginReport {
    /// The field.
    path: String,
    /// The name of the patch.
    patch: String,
    /// `add`, `replace` or `remove`.
    op: String,
    /// The variables from which the value is.
    variables: Vec<String>,
    /// The file with the patch.
    file: Option<String>,
    /// The line of the value in the patch.
    line: Option<u32>,
}
