//! `generate crds|rbac|components|metadata|template|clusterclass`: one artifact of a provider.

use semver::Version;

use crate::emit::components::{Components, components};
use crate::emit::judged::Built;
use crate::emit::release::{self, ImageOverride, Plan, image_of};
use windlass_capi::contract::{
    CLUSTER_CLASS_PREFIX, CLUSTER_TEMPLATE_PREFIX, cluster_class_name, template_flavor,
};
use windlass_lint::{Audience, Extent, Wishes, metadata, templates};
use windlass_objects::Object;
use windlass_provider::{Declared, Inputs, missing_files};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Report, rules};

rules! {
    /// the provider has no template or ClusterClass of the requested name
    ARTIFACT_MISSING = error("provider-artifact-missing");
}

/// Kinds that `generate crds` prints.
const CRD_KINDS: &[&str] = &["CustomResourceDefinition"];
/// Kinds that `generate rbac` prints.
const RBAC_KINDS: &[&str] = &[
    "ServiceAccount",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
];

/// What is to be printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Artifact {
    /// The CRDs with their labels.
    Crds,
    /// ServiceAccount, roles and bindings.
    Rbac,
    /// The components YAML.
    Components,
    /// metadata.yaml.
    Metadata,
    /// The cluster template of a flavor; empty for the default one.
    Template(String),
    /// A ClusterClass.
    ClusterClass(String),
}

/// An artifact, and what is wrong with it.
#[derive(Debug, Clone, Default)]
pub struct Generated {
    /// The artifact; `None` when an error keeps something out of it.
    pub text: Option<String>,
    /// What keeps something out of it.
    pub report: Report,
    /// What the check says of it.
    pub judged: Report,
}

/// Prints one artifact of the providers that a file describes; several components follow each other
/// as documents of one stream. `version` is the release whose tag images get; without one it is the
/// first of the newest series.
pub fn run(
    artifact: &Artifact,
    providers: &[Declared],
    parsed: Report,
    inputs: &Inputs,
    version: Option<&Version>,
    images: &[ImageOverride],
) -> Generated {
    let mut generated = Generated {
        report: parsed,
        ..Generated::default()
    };
    for declared in providers {
        generated.report.extend(missing_files(declared, inputs));
    }
    let newest = version
        .cloned()
        .unwrap_or_else(|| newest_version(providers, inputs));
    let text = match artifact {
        Artifact::Metadata => metadata_text(providers, inputs, &mut generated.report),
        Artifact::Template(flavor) => {
            template_text(providers, inputs, &template_file(flavor), &mut generated)
        }
        Artifact::ClusterClass(name) => template_text(
            providers,
            inputs,
            &format!("{CLUSTER_CLASS_PREFIX}{name}.yaml"),
            &mut generated,
        ),
        Artifact::Crds | Artifact::Rbac | Artifact::Components => {
            let plan = Plan {
                providers,
                inputs,
                version: &newest,
                images,
                parts: &[],
                epoch: super::release_build::FIXED_EPOCH,
            };
            objects_text(artifact, &plan, &mut generated)
        }
    };
    inputs.budget().tell(&mut generated.report);
    let is_whole = !generated.report.has_errors();
    Generated {
        text: text.filter(|_| is_whole),
        ..generated
    }
}

fn template_file(flavor: &str) -> String {
    match flavor {
        "" => format!("{CLUSTER_TEMPLATE_PREFIX}.yaml"),
        flavor => format!("{CLUSTER_TEMPLATE_PREFIX}-{flavor}.yaml"),
    }
}

/// The first release of the newest series that metadata.yaml lists.
pub fn newest_version(providers: &[Declared], inputs: &Inputs) -> Version {
    let source = providers
        .first()
        .and_then(|declared| inputs.files(declared.provider.metadata_file()).first());
    let file = source.and_then(|source| metadata::parse(source, inputs.budget()).0);
    let number = |n: i32| u64::try_from(n).unwrap_or_default();
    let series = file.as_ref().and_then(|file| {
        file.metadata
            .release_series
            .iter()
            .max_by_key(|series| (series.major, series.minor))
    });
    series.map_or(Version::new(0, 0, 0), |series| {
        Version::new(number(series.major), number(series.minor), 0)
    })
}

fn metadata_text(providers: &[Declared], inputs: &Inputs, report: &mut Report) -> Option<String> {
    let source = inputs
        .files(providers.first()?.provider.metadata_file())
        .first()?;
    report.extend(metadata::parse(source, inputs.budget()).1);
    Some(source.text().to_owned())
}

fn template_text(
    providers: &[Declared],
    inputs: &Inputs,
    wanted: &str,
    generated: &mut Generated,
) -> Option<String> {
    let sources = providers
        .iter()
        .flat_map(|declared| &declared.provider.templates)
        .flat_map(|folder| inputs.files(folder));
    let (found, faults) = templates::select(sources);
    let judged: Vec<Source> = found.iter().map(|(_, source)| (*source).clone()).collect();
    let text = found
        .iter()
        .find(|(file, _)| *file == wanted)
        .map(|(_, source)| source.text().to_owned());
    if text.is_some() {
        generated.report.extend(faults);
        let asked = templates::Asked {
            extent: Extent::Whole,
            audience: Audience::Author(Wishes::NONE),
            known: &[],
        };
        generated
            .judged
            .extend(templates::check(&judged, &asked, inputs.budget()));
        return text;
    }
    let is_class = cluster_class_name(wanted).is_some();
    let known: Vec<&str> = found
        .iter()
        .filter_map(|(file, _)| {
            if is_class {
                cluster_class_name(file)
            } else {
                template_flavor(file)
            }
        })
        .filter(|name| !name.is_empty())
        .collect();
    let what = if is_class { "classes" } else { "flavors" };
    let help = if known.is_empty() {
        format!("the provider has no {what}")
    } else {
        format!("its {what} are {}", known.join(", "))
    };
    generated.report.push(
        Diagnostic::of(&ARTIFACT_MISSING, format!("the provider has no {wanted}")).help(help),
    );
    None
}

fn objects_text(artifact: &Artifact, plan: &Plan<'_>, generated: &mut Generated) -> Option<String> {
    let mut chosen = Vec::new();
    for declared in plan.providers {
        let image = image_of(plan, declared);
        let Components {
            objects,
            report: found,
            ..
        } = components(declared, plan.inputs, &image);
        match release::write(&objects) {
            Ok(text) => {
                let objects = objects.iter().map(Object::anchor).collect();
                let built = Built {
                    declared,
                    objects,
                    text,
                    report: found,
                    version: plan.version,
                };
                let budget = plan.inputs.budget();
                generated
                    .judged
                    .extend(built.check(built.read(budget), None, plan.inputs, budget));
                generated.report.extend(built.report);
            }
            Err((object, error)) => {
                generated.report.extend(found);
                generated.report.push(release::not_writable(object, &error));
            }
        }
        chosen.extend(
            objects
                .into_iter()
                .filter(|object| is_part(artifact, object)),
        );
    }
    release::write(&chosen).ok()
}

fn is_part(artifact: &Artifact, object: &Object) -> bool {
    match artifact {
        Artifact::Crds => CRD_KINDS.contains(&object.kind()),
        Artifact::Rbac => RBAC_KINDS.contains(&object.kind()),
        _ => true,
    }
}
