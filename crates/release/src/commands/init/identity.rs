//! Who a project's provider is: type, name, groups, namespace.

use super::project::Project;
use super::{Given, Made, UNKNOWN};
use windlass_capi::contract::{CORE_GROUP, CORE_PROVIDER, ProviderType, labels};
use windlass_objects::fields;
use windlass_source::diag::{Diagnostic, Remedy, Setting};

pub(super) struct Identity {
    pub(super) name: String,
    pub(super) provider_type: ProviderType,
    /// The API groups of its kinds; that of the type first.
    pub(super) groups: Vec<String>,
    pub(super) namespace: String,
    /// What kustomize puts before names.
    pub(super) prefix: Option<String>,
    pub(super) suffix: Option<String>,
}

impl Identity {
    /// What names begin with when nothing else is said.
    pub(super) fn prefix_of_namespace(&self) -> String {
        format!(
            "{}-",
            self.namespace
                .strip_suffix("-system")
                .unwrap_or(&self.namespace)
        )
    }
}

/// How the groups of providers of a type begin, as Cluster API's own do.
const GROUPS: [(&str, ProviderType); 6] = [
    ("infrastructure.", ProviderType::InfrastructureProvider),
    ("bootstrap.", ProviderType::BootstrapProvider),
    ("controlplane.", ProviderType::ControlPlaneProvider),
    ("addons.", ProviderType::AddonProvider),
    ("ipam.", ProviderType::IPAMProvider),
    ("runtime.", ProviderType::RuntimeExtensionProvider),
];

/// Finds out who the provider is. `None` when that cannot be, which the report says.
pub(super) fn of(project: &Project<'_>, given: &Given, made: &mut Made) -> Option<Identity> {
    let label = project
        .labels()
        .into_iter()
        .find(|(key, _, _)| key == labels::PROVIDER);
    let provider_type = given
        .provider_type
        .or_else(|| found_type(project, label.as_ref(), made));
    let Some(provider_type) = provider_type else {
        let finding = Diagnostic::of(
            &UNKNOWN,
            "neither a label nor a group of the CRDs says what the project provides",
        );
        made.report
            .push(finding.help(Remedy::new("say it with ").setting(Setting::ProviderType)));
        return None;
    };
    let name = given
        .name
        .clone()
        .or_else(|| found_name(project, provider_type, label.as_ref(), made));
    let Some(name) = name else {
        let finding = Diagnostic::of(
            &UNKNOWN,
            "neither a label nor PROJECT says how the provider is called",
        );
        made.report
            .push(finding.help(Remedy::new("say it with ").setting(Setting::ProviderName)));
        return None;
    };
    let namespace = match project.said("namespace").into_iter().next() {
        Some((namespace, file)) => {
            made.assumed
                .push(format!("namespace: {namespace}, as {file} has it"));
            namespace
        }
        None => {
            made.assumed.push(format!("namespace: {name}-system"));
            format!("{name}-system")
        }
    };
    // Each kustomization puts its own around what those that it wraps have made.
    let prefix: String = project
        .said("namePrefix")
        .into_iter()
        .map(|(text, _)| text)
        .collect();
    let suffix: String = project
        .said("nameSuffix")
        .into_iter()
        .rev()
        .map(|(text, _)| text)
        .collect();
    let [prefix, suffix] = [prefix, suffix].map(|text| Some(text).filter(|text| !text.is_empty()));
    Some(Identity {
        groups: groups(project, provider_type),
        name,
        provider_type,
        namespace,
        prefix,
        suffix,
    })
}

type Label = (String, String, String);

fn found_type(
    project: &Project<'_>,
    label: Option<&Label>,
    made: &mut Made,
) -> Option<ProviderType> {
    let core = |value: &str| (value == CORE_PROVIDER).then_some(ProviderType::CoreProvider);
    let of_label = label.and_then(|(_, value, file)| {
        Some((ProviderType::of_label(value).or_else(|| core(value))?, file))
    });
    if let Some((provider_type, file)) = of_label {
        made.assumed.push(format!(
            "type: {}, from the label in {file}",
            provider_type.as_str()
        ));
        return Some(provider_type);
    }
    let groups: Vec<&str> = project
        .crds
        .iter()
        .map(|(_, crd)| crd.text(&["spec", "group"]))
        .collect();
    // The core has groups of other types beside its own.
    if groups.contains(&CORE_GROUP) {
        made.assumed.push(format!(
            "type: {}, from the group {CORE_GROUP} of the CRDs",
            ProviderType::CoreProvider.as_str()
        ));
        return Some(ProviderType::CoreProvider);
    }
    let (prefix, found) = GROUPS
        .into_iter()
        .find(|(prefix, _)| groups.iter().any(|group| group.starts_with(prefix)))?;
    made.assumed.push(format!(
        "type: {}, from the group {prefix}… of the CRDs",
        found.as_str()
    ));
    Some(found)
}

fn found_name(
    project: &Project<'_>,
    provider_type: ProviderType,
    label: Option<&Label>,
    made: &mut Made,
) -> Option<String> {
    if let Some((_, value, file)) = label {
        let name = value
            .strip_prefix(&provider_type.label(""))
            .unwrap_or(value);
        made.assumed
            .push(format!("name: {name}, from the label in {file}"));
        return Some(name.to_owned());
    }
    if provider_type == ProviderType::CoreProvider {
        made.assumed.push(format!(
            "name: {CORE_PROVIDER}, the only one that the core can have"
        ));
        return Some(CORE_PROVIDER.to_owned());
    }
    let project_name = fields::text(project.value("PROJECT"), &["projectName"]);
    let word = format!("-{}-", provider_type.word());
    let name = project_name
        .strip_prefix("cluster-api-")
        .unwrap_or(project_name);
    let name = name
        .strip_prefix(word.trim_start_matches('-'))
        .unwrap_or(name);
    let name = name.strip_prefix("provider-").unwrap_or(name);
    if name.is_empty() {
        return None;
    }
    made.assumed
        .push(format!("name: {name}, from projectName in PROJECT"));
    Some(name.to_owned())
}

/// The groups of the CRDs; the one that its type is called by first.
fn groups(project: &Project<'_>, provider_type: ProviderType) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    for (_, crd) in &project.crds {
        let group = crd.text(&["spec", "group"]).to_owned();
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let prefix = GROUPS
        .iter()
        .find(|(_, of)| *of == provider_type)
        .map_or(CORE_GROUP, |(prefix, _)| prefix);
    groups.sort_by_key(|group| (!group.starts_with(prefix), group.clone()));
    groups
}
