//! `-o secret`: the Secret that the provider would write (book: "Bootstrap provider contract:
//! bootstrap data Secret").

use super::{Machine, Rendering};
use windlass_bootstrap::render::input::target::ConfigKind;
use windlass_bootstrap::render::write::secret;
use windlass_bootstrap::render::{Rendered, Request};
use windlass_capi::api::names::Version;
use windlass_go_yaml::goyaml;
use windlass_schema::name;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Remedy, Setting, rules};

rules! {
    /// the API server rejects the name of the Secret
    NAME_REJECTED = error("secret-name-rejected");
}

impl Rendering<'_> {
    /// Writes the Secret of each machine. A name that the API server rejects is a finding, and then
    /// that machine has no data.
    pub fn write_secrets(&mut self, request: &Request) {
        for machine in &mut self.machines {
            let Some(rendered) = &machine.rendered else {
                continue;
            };
            let found = rejected_names(machine, rendered);
            if found.is_empty() {
                machine.secret = Some(written(machine, rendered, request));
            } else {
                machine.rendered = None;
                self.report.extend(found);
            }
        }
    }
}

/// The Secret as YAML. Its names were checked.
fn written(machine: &Machine<'_>, rendered: &Rendered, request: &Request) -> String {
    let config = machine.target.config;
    // What is made of a template or by a control plane has a config that is not here.
    let is_config = !machine.target.is_template() && !machine.target.is_control_plane_object();
    let stored = if matches!(machine.target.kind, ConfigKind::Windlass(_)) {
        Version::V1Beta2
    } else {
        request.profile.storage
    };
    let secret = secret::secret(
        config,
        rendered,
        is_config.then(|| secret::controller_reference(config, stored)),
    );
    goyaml::to_string(&secret)
        .expect("internal error: names that were checked and base64 are plain text")
}

/// What the API server would reject of the names that the Secret takes over.
fn rejected_names(machine: &Machine<'_>, rendered: &Rendered) -> Vec<Diagnostic> {
    let config = machine.target.config;
    let uid = config.text(&["metadata", "uid"]);
    let unwritable = || "must hold only characters that can be written".to_owned();
    let judged = [
        ("name", config.name(), name::subdomain_errors(config.name())),
        (
            "namespace",
            config.namespace_or_default(),
            name::label_errors(config.namespace_or_default()),
        ),
        (
            "uid",
            uid,
            uid.chars()
                .any(|c| !c.is_ascii_graphic())
                .then(unwritable)
                .into_iter()
                .collect(),
        ),
    ];
    let of_config = judged.into_iter().map(|(field, given, errors)| {
        let path = FieldPath::root().field("metadata").field(field);
        (path.to_string(), path, given, errors)
    });
    let errors = name::label_value_errors(&rendered.cluster_name);
    let of_cluster = (
        "the name of the cluster".to_owned(),
        FieldPath::root().field("metadata"),
        rendered.cluster_name.as_str(),
        errors,
    );
    let rejected = of_config
        .chain([of_cluster])
        .filter(|(_, _, _, errors)| !errors.is_empty());
    let finding = |(subject, path, given, errors): (String, FieldPath, &str, Vec<String>)| {
        let finding = Diagnostic::of(
            &NAME_REJECTED,
            format!(
                "{subject} is `{given}`, with which Kubernetes takes no Secret",
                given = Quoted(given)
            ),
        );
        let finding = finding.at(config.place(&path)).upstream(errors.join(", "));
        finding.help(match given.contains("${") {
            true => {
                let remedy = Remedy::new("add ")
                    .setting(Setting::Template)
                    .then(" and ")
                    .set(Setting::Var, "NAME=VALUE");
                remedy.then(", so that variables are replaced")
            }
            false => "use lower case letters, digits and `-` alone".into(),
        })
    };
    rejected.map(finding).collect()
}
