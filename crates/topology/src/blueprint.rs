//! The templates that a class refers to: `getBlueprint` of Cluster API's topology controller.

use super::class::{Class, Reference, WorkerClass};
use super::spelling::Spelling;
use super::{TEMPLATE_MISSING, cluster::Cluster};
use windlass_capi::contract::crd_name;
use windlass_go_text::quote;
use windlass_objects::{Object, Pool};
use windlass_source::diag::Diagnostic;

/// All templates of a class, those of unused classes too.
#[derive(Debug)]
pub(super) struct Blueprint<'o> {
    pub(super) infrastructure: &'o Object,
    pub(super) control_plane: &'o Object,
    /// How the API of the control plane spells its fields.
    pub(super) spelling: Spelling,
    is_assumed: bool,
    pub(super) machine: Option<&'o Object>,
    /// In the order of the class: the templates of bootstrap configs and of machines.
    pub(super) deployments: Vec<(&'o Object, &'o Object)>,
    pub(super) pools: Vec<(&'o Object, &'o Object)>,
}

impl Blueprint<'_> {
    /// What is assumed of the control plane.
    pub(super) fn assumption(&self) -> Option<Diagnostic> {
        self.is_assumed
            .then(|| self.spelling.assumed(self.control_plane))
    }
}

/// Looks them up, in the namespace of the class and at exactly the version of the reference.
///
/// # Errors
/// A finding for each that is missing. Cluster API stops at the first.
pub(super) fn blueprint<'o>(
    pool: &'o Pool,
    cluster: &Cluster<'_>,
    class: &Class<'o>,
) -> Result<Blueprint<'o>, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let mut get = |reference: &Reference<'_>, what: &str, of: String| {
        let found = lookup(pool, class, reference);
        if found.is_none() {
            faults.push(missing(
                pool,
                cluster,
                class,
                reference,
                &format!("failed to get {what} for ClusterClass {}{of}", class.key()),
            ));
        }
        found
    };
    let infrastructure = get(
        &class.infrastructure.template,
        "infrastructure cluster template",
        String::new(),
    );
    let control_plane = get(
        &class.control_plane.template,
        "control plane template",
        String::new(),
    );
    let machine = class
        .machine
        .as_ref()
        .map(|machine| get(machine, "control plane's machine template", String::new()));
    let mut workers = |classes: &[WorkerClass<'_>], kind: &str, [bootstrap, machine]: [&str; 2]| {
        let pairs: Vec<_> = classes
            .iter()
            .map(|worker| {
                let of = || format!(", {kind} class {}", quote(worker.class));
                let machine = get(&worker.infrastructure, machine, of());
                get(&worker.bootstrap, bootstrap, of()).zip(machine)
            })
            .collect();
        pairs.into_iter().collect::<Option<Vec<_>>>()
    };
    let deployments = workers(
        &class.deployments,
        "MachineDeployment",
        [
            "bootstrap config template",
            "infrastructure machine template",
        ],
    );
    let pools = workers(
        &class.pools,
        "MachinePool",
        ["bootstrap config", "InfrastructureMachinePoolTemplate"],
    );
    match (infrastructure, control_plane, machine, deployments, pools) {
        (
            Some(infrastructure),
            Some(control_plane),
            None | Some(Some(_)),
            Some(deployments),
            Some(pools),
        ) => {
            let (spelling, is_assumed) = Spelling::of_control_plane(pool, control_plane);
            Ok(Blueprint {
                infrastructure,
                control_plane,
                spelling,
                is_assumed,
                machine: machine.flatten(),
                deployments,
                pools,
            })
        }
        _ => Err(faults),
    }
}

fn lookup<'o>(pool: &'o Pool, class: &Class<'_>, reference: &Reference<'_>) -> Option<&'o Object> {
    let found = pool.find(
        reference.group(),
        reference.kind(),
        class.object.namespace_or_default(),
        reference.name(),
    )?;
    (found.api_version() == reference.api_version()).then_some(found)
}

fn missing(
    pool: &Pool,
    cluster: &Cluster<'_>,
    class: &Class<'_>,
    reference: &Reference<'_>,
    step: &str,
) -> Diagnostic {
    let (kind, name, namespace) = (
        reference.kind(),
        reference.name(),
        class.object.namespace_or_default(),
    );
    let retrieve = format!("failed to retrieve {kind} {namespace}/{name}");
    let upstream = format!(
        "error reading the ClusterClass: {step}: {retrieve}: {retrieve}: {} {} not found",
        crd_name(reference.group(), kind),
        quote(name)
    );
    let message = format!(
        "ClusterClass/{} refers to {kind}/{name}, which the input does not hold",
        class.object.name()
    );
    let finding = Diagnostic::of(&TEMPLATE_MISSING, message)
        .at(reference.part.place())
        .upstream(upstream);
    let elsewhere = pool.elsewhere(kind, name);
    match elsewhere {
        Some(other) if other.api_version() != reference.api_version() => finding
            .related(
                other.place(&windlass_source::diag::FieldPath::of_fields("apiVersion")),
                "of another version",
            )
            .help(format!(
                "write `apiVersion: {}` into the reference, or the other way round",
                other.api_version()
            )),
        Some(other) => finding
            .related(
                other.place(&windlass_source::diag::FieldPath::of_fields("metadata")),
                "in another namespace",
            )
            .help(format!(
                "put the template into namespace `{namespace}`, where the class is"
            )),
        None => finding.help(format!(
            "also name the file with {kind}/{name}, which Cluster/{} requires",
            cluster.name()
        )),
    }
}
