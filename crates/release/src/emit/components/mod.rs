//! The components YAML of one provider: everything that installs it, in one stream (book:
//! clusterctl, "Components YAML").

pub(crate) mod image;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use self::image::ManagerImage;
use super::definitions;
use super::names::Names;
use super::patches::Patches;
use super::rbac::{self, Kind};
use super::{account, crd_metadata, crds, kustomization, manager, manager_patch, stamp, webhooks};
use windlass_capi::contract::rights::{RIGHTS, RIGHTS_AT_HOME};
use windlass_capi::contract::{ProviderType, labels};
use windlass_lint::definitions::{CRD_GROUP, CRD_KIND};
use windlass_objects::references::references;
use windlass_objects::{self as objects, Object, fields};
use windlass_provider::{BuiltinWord, Declared, Inputs, Manager, PolicyRule};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// provider.yaml names a kind for webhooks that no CRD defines
    WEBHOOK_KIND_UNKNOWN = error("provider-webhook-kind-unknown");
    /// `manager.webhooks` in provider.yaml matches an object that is not a webhook configuration
    WEBHOOK_OTHER_KIND = error("provider-webhook-other-kind");
    /// role files contain unbound user roles as kubebuilder names them, so they are not bound to
    /// the manager
    ROLES_FOR_PEOPLE = info("provider-roles-for-people");
    /// provider.yaml has rules for generated roles, but the manager's roles are in files
    RULES_UNUSED = error("provider-rbac-rules-unused");
}

/// The order of kinds in components, which is kustomize's; kinds that are not in it stand before
/// the webhook configurations.
const ORDER: &[&str] = &[
    "Namespace",
    CRD_KIND,
    "ServiceAccount",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Service",
    "Deployment",
    "DaemonSet",
    "StatefulSet",
    "Certificate",
    "Issuer",
];

/// The objects of one provider, in the order in which they are written.
#[derive(Debug, Clone, Default)]
pub struct Components {
    /// The finished objects, with the provider label.
    pub objects: Vec<Object>,
    /// The objects of the files as they were read, if the inputs ask for them.
    pub(crate) originals: Vec<Object>,
    /// Findings about the input files, and about patches and objects that do not fit together.
    pub report: Report,
}

/// Builds the components of a provider: from a finished components file if `provider.yaml` names
/// one, otherwise from its CRDs, roles, webhooks and manager.
pub fn components(declared: &Declared, inputs: &Inputs, image: &ManagerImage) -> Components {
    let (patches, report) = Patches::read(declared, inputs);
    let mut assembly = Assembly {
        declared,
        inputs,
        names: Names::of(&declared.provider),
        patches,
        originals: Vec::new(),
        report,
    };
    let mut objects = match &declared.provider.components {
        Some(pattern) => assembly.built(pattern, image),
        None => assembly.made(image),
    };
    assembly.report.extend(assembly.patches.unmatched());
    assembly
        .report
        .extend(crd_metadata::add(declared, &mut objects));
    for object in &mut objects {
        assembly.report.extend(misfits(declared, object));
        let labelled = object.set_label(labels::PROVIDER, &declared.provider.label());
        assembly.report.extend(object.rejected(labelled));
    }
    assembly.report.extend(kustomization::not_applied(
        declared,
        inputs,
        &assembly.names,
        &objects,
    ));
    if declared.provider.components.is_none() {
        objects.sort_by_key(|object| rank(object.kind()));
    }
    Components {
        objects,
        originals: assembly.originals,
        report: assembly.report,
    }
}

/// Fields on the way to a reference that have the wrong type. Those of the Deployment that we make
/// come from provider.yaml.
fn misfits(declared: &Declared, object: &Object) -> Vec<Diagnostic> {
    let finding = |misfit| match object.misfit(&misfit) {
        finding if object.source().is_none() => {
            finding.at(declared.place(&FieldPath::root().field("manager")))
        }
        finding => finding,
    };
    references(object.value())
        .1
        .into_iter()
        .map(finding)
        .collect()
}

fn rank(kind: &str) -> usize {
    let webhook = webhooks::CONFIGURATION_KINDS
        .iter()
        .position(|known| *known == kind);
    match webhook {
        Some(at) => ORDER.len() + 1 + at,
        None => ORDER
            .iter()
            .position(|known| *known == kind)
            .unwrap_or(ORDER.len()),
    }
}

struct Assembly<'a> {
    declared: &'a Declared,
    inputs: &'a Inputs,
    names: Names,
    patches: Patches,
    originals: Vec<Object>,
    report: Report,
}

impl Assembly<'_> {
    /// The objects that a tool already built; the CRDs get their contract labels.
    fn built(&mut self, pattern: &str, image: &ManagerImage) -> Vec<Object> {
        let mut objects = self.read(std::slice::from_ref(&pattern.to_owned()));
        self.report.extend(image.stamp(&mut objects));
        let crds = objects
            .iter()
            .filter(|object| object.is(CRD_GROUP, CRD_KIND));
        self.report
            .extend(definitions::corrected(&self.declared.provider, crds));
        for object in &mut objects {
            if object.is(CRD_GROUP, CRD_KIND) {
                self.report
                    .extend(definitions::check_built(&self.declared.provider, object));
                if definitions::takes_labels(&self.declared.provider, self.inputs.roles(), object) {
                    definitions::label_contracts(&self.declared.provider, object);
                }
            }
        }
        objects
    }

    /// The objects that `crds`, `rbac`, `manager` and `objects` stand for.
    fn made(&mut self, image: &ManagerImage) -> Vec<Object> {
        let provider = &self.declared.provider;
        let mut definitions = self.crds();
        let kinds: Vec<Kind> = definitions
            .iter()
            .map(|crd| definitions::kind_of(crd.value()))
            .collect();
        let mut from_files = self.roles();
        let (own_crds, own): (Vec<_>, Vec<_>) = self
            .read(&provider.objects)
            .into_iter()
            .partition(|object| object.is(CRD_GROUP, CRD_KIND));
        definitions.extend(own_crds.into_iter().map(|crd| self.own_crd(crd)));
        let (account, finding) = account::of_manager(self.declared, &self.names, &from_files, &own);
        self.report.extend(finding);
        from_files.extend(own);
        let (mut renames, report) = stamp::place_and_name(&self.names, &mut from_files);
        self.report.extend(report);
        if let Some(account) = account {
            self.names.service_account = self.names.account(&account);
            // provider.yaml and the role files may name it with the prefix, or without.
            for old in self.names.unstamped(&self.names.service_account) {
                renames.add(
                    "ServiceAccount",
                    old.to_owned(),
                    self.names.service_account.clone(),
                );
            }
        }
        for object in definitions.iter_mut().chain(&mut from_files) {
            self.report
                .extend(stamp::follow(&self.names, &renames, object));
        }
        let configurations = self.webhook_configurations(&kinds, &definitions);
        let with_webhooks = !configurations.is_empty()
            || provider
                .manager
                .as_ref()
                .is_some_and(Manager::has_conversion);
        let namespace = Object::made(manager::namespace(
            &self.names,
            provider.namespace_metadata.as_ref(),
        ));
        let mut objects = self.finished(&renames, vec![namespace]);
        objects.extend(self.connected(definitions));
        let roles = self.made_roles(&kinds, &from_files);
        objects.extend(self.finished(&renames, roles));
        objects.extend(from_files);
        if let Some(face) = &provider.manager {
            self.report.extend(image.check(self.declared, face));
            let image = image.of(face);
            let mut deployment =
                manager::deployment(&self.names, &provider.label(), face, &image, with_webhooks);
            self.report
                .extend(manager_patch::patch(self.declared, face, &mut deployment));
            objects.extend(self.finished(&renames, vec![Object::made(deployment)]));
        }
        if with_webhooks {
            let label = provider.label();
            let parts = [
                webhooks::service(&self.names, &label),
                webhooks::certificate(&self.names),
                webhooks::issuer(&self.names),
            ];
            objects.extend(self.finished(&renames, parts.map(Object::made).into()));
        }
        objects.extend(configurations);
        objects
    }

    /// Objects that were made, with what patches say of them; names in those are as the files have
    /// them.
    fn finished(&mut self, renames: &stamp::Renames, made: Vec<Object>) -> Vec<Object> {
        let mut made = self.patched(made);
        for object in &mut made {
            self.report
                .extend(stamp::follow(&self.names, renames, object));
        }
        made
    }

    fn patched(&mut self, objects: Vec<Object>) -> Vec<Object> {
        self.patches
            .apply(&self.names, self.inputs, objects, &mut self.report)
    }

    fn read(&mut self, patterns: &[String]) -> Vec<Object> {
        let inputs = self.inputs;
        inputs
            .of_list(patterns)
            .into_iter()
            .flat_map(|(_, source)| self.read_file(source))
            .collect()
    }

    fn read_file(&mut self, source: &Source) -> Vec<Object> {
        let (objects, report) = objects::read(source, self.inputs.budget());
        self.report.extend(report);
        if self.inputs.keeps_originals() {
            self.originals.extend(objects.iter().cloned());
        }
        self.patched(objects)
    }

    /// The CRDs, checked and labelled.
    fn crds(&mut self) -> Vec<Object> {
        let provider = &self.declared.provider;
        if provider.has_builtin_crds() {
            return self.patched(crds::crds().map(Object::made).into());
        }
        let mut taken = Vec::new();
        let inputs = self.inputs;
        for (i, source) in inputs.of_list(provider.crd_files()) {
            let place = self
                .declared
                .place(&FieldPath::root().field("crds").index(i));
            for mut crd in self.read_file(source) {
                let report = definitions::check(provider, &crd, &place);
                let usable = !report.has_errors();
                self.report.extend(report);
                if usable {
                    definitions::label_contracts(provider, &mut crd);
                    self.complete(&mut crd);
                    taken.push(crd);
                }
            }
        }
        taken
    }

    /// Completes a CRD from `objects`. CRDs of the provider's own groups are also checked and
    /// labelled, as those under `crds` are.
    fn own_crd(&mut self, mut crd: Object) -> Object {
        if definitions::is_of_provider(&self.declared.provider, &crd) {
            self.report
                .extend(definitions::check_built(&self.declared.provider, &crd));
            definitions::label_contracts(&self.declared.provider, &mut crd);
        }
        self.complete(&mut crd);
        crd
    }

    /// What every CRD gets: its names in full, and texts that survive substitution.
    fn complete(&mut self, crd: &mut Object) {
        let completed = definitions::complete_names(crd);
        self.report.extend(crd.rejected(completed));
        definitions::escape_for_substitution(crd);
    }

    /// CRDs that convert through the manager, if they do.
    fn connected(&mut self, mut crds: Vec<Object>) -> Vec<Object> {
        let provider = &self.declared.provider;
        let Some(manager) = &provider.manager else {
            return crds;
        };
        let kinds: Vec<Kind> = crds
            .iter()
            .map(|crd| definitions::kind_of(crd.value()))
            .collect();
        let unknown = manager
            .converts
            .iter()
            .enumerate()
            .filter(|(_, name)| kinds.iter().all(|kind| kind.kind != **name));
        let unknown: Vec<Diagnostic> = unknown
            .map(|(at, name)| self.unknown_kind("converts", at, name, &kinds))
            .collect();
        self.report.extend(unknown);
        let has_several = |crd: &Object| {
            definitions::is_of_provider(provider, crd) && crd.items(&["spec", "versions"]).len() > 1
        };
        let converts = |crd: &Object| manager.converts(crd.text(&["spec", "names", "kind"]));
        for crd in crds
            .iter_mut()
            .filter(|crd| converts(crd) && has_several(crd))
        {
            let connected = webhooks::convert_by_webhook(&self.names, crd);
            self.report.extend(crd.rejected(connected));
        }
        crds
    }

    fn roles(&mut self) -> Vec<Object> {
        let patterns = self
            .declared
            .provider
            .rbac
            .as_ref()
            .map_or(Vec::new(), |rbac| rbac.roles.clone());
        self.read(&patterns)
    }

    /// What the files leave out: the ServiceAccount, the roles when there are no role files, the
    /// aggregated role, and the bindings.
    fn made_roles(&mut self, kinds: &[Kind], from_files: &[Object]) -> Vec<Object> {
        let provider = &self.declared.provider;
        if provider.manager.is_none() && provider.rbac.is_none() {
            return self
                .aggregated_role(kinds)
                .map(Object::made)
                .into_iter()
                .collect();
        }
        let has = |kind: &str, name: &str| {
            from_files
                .iter()
                .any(|object| object.kind() == kind && object.name() == name)
        };
        let mut made = Vec::new();
        if !has("ServiceAccount", &self.names.service_account) {
            made.extend(rbac::service_account(&self.names));
        }
        if self.has_rights_of_manager(from_files) {
            self.report.extend(self.unused_rules());
        } else {
            made.extend(self.roles_of_manager(kinds));
        }
        let feeds_core = from_files
            .iter()
            .any(|object| rbac::is_aggregated_to_core(object.value()));
        if !feeds_core && provider.provider_type != ProviderType::CoreProvider {
            made.extend(self.aggregated_role(kinds));
        }
        let bound = bound_roles(from_files);
        let bindings: Vec<Value> = made
            .iter()
            .chain(from_files.iter().map(Object::value))
            .filter(|role| !is_bound(role, &bound) && !rbac::is_for_people(&self.names, role))
            .filter_map(|role| rbac::binding(&self.names, role))
            .collect();
        self.report
            .extend(left_to_people(&self.names, from_files, &bound));
        made.into_iter().chain(bindings).map(Object::made).collect()
    }

    /// What `rbac` says of roles that are not made.
    fn unused_rules(&self) -> Report {
        let given = self.declared.provider.rbac.iter().flat_map(|rbac| {
            let rules = (!rbac.rules.is_empty()).then_some((
                "rules",
                "write the rules into the file of the manager's role",
            ));
            [
                rules,
                rbac.manager
                    .map(|_| ("manager", "remove it, or the role files")),
            ]
        });
        let finding = |(field, help): (&str, &str)| {
            let path = FieldPath::root().field("rbac").field(field);
            let message = format!("{path} is not used: the roles of the manager are in files");
            Diagnostic::of(&RULES_UNUSED, message)
                .at(self.declared.place(&path))
                .help(help)
        };
        given.flatten().map(finding).collect()
    }

    /// The roles of the manager: for leader election in its namespace, and everywhere.
    fn roles_of_manager(&self, kinds: &[Kind]) -> [Value; 2] {
        let provider = &self.declared.provider;
        let (at_home, mut everywhere) = match provider.rbac.as_ref().and_then(|rbac| rbac.manager) {
            Some(BuiltinWord::Builtin) => (rbac::rules_of(RIGHTS_AT_HOME), rbac::rules_of(RIGHTS)),
            None => (rbac::leader_election_rules(), self.rights_by_type(kinds)),
        };
        everywhere.extend(provider.rbac.iter().flat_map(|rbac| rbac.rules.clone()));
        [
            rbac::leader_election_role(&self.names, &at_home),
            rbac::manager_role(&self.names, &everywhere),
        ]
    }

    fn rights_by_type(&self, kinds: &[Kind]) -> Vec<PolicyRule> {
        let provider = &self.declared.provider;
        let ports = provider.manager.as_ref().and_then(|manager| manager.ports);
        rbac::manager_rules(
            provider.provider_type,
            kinds,
            ports.and_then(|ports| ports.metrics) != Some(0),
        )
    }

    /// Whether the rights of the manager are in the files: in role files, or in other roles that
    /// are bound to it, or to nobody yet. Those of a second manager are its own.
    fn has_rights_of_manager(&self, from_files: &[Object]) -> bool {
        let has_role_files = self
            .declared
            .provider
            .rbac
            .as_ref()
            .is_some_and(|rbac| !rbac.roles.is_empty());
        let mut binds_manager: BTreeMap<(&str, &str), bool> = BTreeMap::new();
        for binding in from_files
            .iter()
            .filter(|object| ["ClusterRoleBinding", "RoleBinding"].contains(&object.kind()))
        {
            let mut subjects = fields::items(binding.value(), &["subjects"]).iter();
            let is_bound = subjects
                .any(|subject| fields::text(subject, &["name"]) == self.names.service_account);
            *binds_manager
                .entry((
                    binding.text(&["roleRef", "kind"]),
                    binding.text(&["roleRef", "name"]),
                ))
                .or_default() |= is_bound;
        }
        let is_of_manager = |role: &Object| {
            let only_others = binds_manager.get(&(role.kind(), role.name())) == Some(&false);
            !only_others
                && !rbac::is_for_people(&self.names, role.value())
                && !rbac::is_aggregated(role.value())
        };
        let mut roles = from_files
            .iter()
            .filter(|object| ["ClusterRole", "Role"].contains(&object.kind()));
        roles.any(|role| has_role_files || is_of_manager(role))
    }

    /// The role by which other managers may use the kinds.
    fn aggregated_role(&self, kinds: &[Kind]) -> Option<Value> {
        let provider = &self.declared.provider;
        let further = provider
            .rbac
            .as_ref()
            .map_or(&[][..], |rbac| &rbac.aggregate_to);
        rbac::aggregated_role(&self.names, provider.provider_type, further, kinds)
    }

    /// The webhook configurations, from files and for the kinds that are named.
    fn webhook_configurations(&mut self, kinds: &[Kind], crds: &[Object]) -> Vec<Object> {
        let Some(face) = &self.declared.provider.manager else {
            return Vec::new();
        };
        let mut configurations = self.configurations_from_files(&face.webhooks);
        for (kind, field, named) in [
            ("MutatingWebhookConfiguration", "defaults", &face.defaults),
            (
                "ValidatingWebhookConfiguration",
                "validates",
                &face.validates,
            ),
        ] {
            let known = named
                .iter()
                .filter_map(|name| kinds.iter().find(|kind| kind.kind == *name));
            let known: Vec<(&Kind, String)> = known
                .filter_map(|kind| Some((kind, storage_version(crds, kind)?)))
                .collect();
            for (i, name) in named
                .iter()
                .enumerate()
                .filter(|(_, name)| kinds.iter().all(|kind| kind.kind != **name))
            {
                self.report.push(self.unknown_kind(field, i, name, kinds));
            }
            if !known.is_empty() {
                let made = Object::made(webhooks::configuration(&self.names, kind, &known));
                configurations.extend(self.patched(vec![made]));
            }
        }
        configurations
    }

    fn configurations_from_files(&mut self, patterns: &[String]) -> Vec<Object> {
        let mut read = self.read(patterns);
        for object in &read {
            if !webhooks::CONFIGURATION_KINDS.contains(&object.kind()) {
                let finding = Diagnostic::of(
                    &WEBHOOK_OTHER_KIND,
                    format!("`manager.webhooks` also takes {}", object.title()),
                );
                self.report.push(
                    finding
                        .at(object.place(&FieldPath::root().field("kind")))
                        .help("name its file under `objects`"),
                );
            }
        }
        read.retain(|object| webhooks::CONFIGURATION_KINDS.contains(&object.kind()));
        for object in &mut read {
            self.report
                .extend(webhooks::connect_configuration(&self.names, object));
        }
        self.report
            .extend(stamp::place_and_name(&self.names, &mut read).1);
        read
    }

    fn unknown_kind(&self, field: &str, index: usize, name: &str, kinds: &[Kind]) -> Diagnostic {
        let known: Vec<&str> = kinds.iter().map(|kind| kind.kind.as_str()).collect();
        Diagnostic::of(
            &WEBHOOK_KIND_UNKNOWN,
            format!("manager.{field}[{index}] is `{name}`, which no CRD of the provider defines"),
        )
        .at(self
            .declared
            .place(&FieldPath::root().field("manager").field(field).index(index)))
        .help(format!("name one of {}", known.join(", ")))
    }
}

fn storage_version(crds: &[Object], kind: &Kind) -> Option<String> {
    let crd = crds
        .iter()
        .find(|crd| crd.text(&["spec", "names", "kind"]) == kind.kind)?;
    crd.items(&["spec", "versions"])
        .iter()
        .find(|version| version["storage"] == true)?["name"]
        .as_str()
        .map(str::to_owned)
}

/// Roles for people that no file binds stay unbound, which is reported once.
fn left_to_people(
    names: &Names,
    from_files: &[Object],
    bound: &BTreeSet<(&str, &str)>,
) -> Option<Diagnostic> {
    let is_left =
        |role: &&Object| rbac::is_for_people(names, role.value()) && !is_bound(role.value(), bound);
    let left: Vec<&Object> = from_files.iter().filter(is_left).collect();
    let (first, others) = left.split_first()?;
    let titles: Vec<String> = left.iter().map(|role| role.title()).collect();
    let name = FieldPath::of_fields("metadata.name");
    let finding = Diagnostic::of(
        &ROLES_FOR_PEOPLE,
        format!("by their names, these are roles for people and stay unbound: {}", titles.join(", ")),
    )
    .at(first.place(&name))
    .help("add a RoleBinding or ClusterRoleBinding to the role files if the manager needs one of them");
    Some(others.iter().fold(finding, |finding, role| {
        finding.related(role.place(&name), "")
    }))
}

/// Kind and name of the roles to which the bindings among some objects refer.
fn bound_roles(objects: &[Object]) -> BTreeSet<(&str, &str)> {
    objects
        .iter()
        .map(|object| {
            (
                object.text(&["roleRef", "kind"]),
                object.text(&["roleRef", "name"]),
            )
        })
        .collect()
}

fn is_bound(role: &Value, bound: &BTreeSet<(&str, &str)>) -> bool {
    bound.contains(&(fields::kind(role), fields::name(role)))
}
