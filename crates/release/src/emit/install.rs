//! `install.yaml` of a release: what `clusterctl generate provider` prints of the components,
//! variables at their defaults, for those who install without clusterctl (kubectl, Argo CD, Flux).

use super::judged::Built;
use windlass_capi::contract::book;
use windlass_clusterctl::{ReadBefore, installed};
use windlass_envsubst as envsubst;
use windlass_lint::{self as lint, provider_of};
use windlass_provider::Declared;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// a variable of the components has no default, so install.yaml is not written
    INSTALL_OPEN = info("components-variable-required"), url(book::VARIABLES);
}

/// The name of the file in a release.
pub(crate) const INSTALL_FILE: &str = "install.yaml";

/// The file for the components of some providers, with what was `read` of each; `None` where one of
/// them has variables without a default, which is reported, or where clusterctl rejects one, which
/// the check of the components reports.
pub(super) fn install(
    components: &[Built<'_>],
    read: Vec<lint::Components>,
    budget: &Budget,
) -> (Option<String>, Report) {
    let mut report = Report::new();
    let mut texts = Vec::new();
    for (
        Built {
            declared,
            text,
            version,
            ..
        },
        read,
    ) in components.iter().zip(read)
    {
        let Ok(template) = envsubst::parse(text) else {
            continue;
        };
        let required: Vec<String> = template
            .variables()
            .into_iter()
            .filter(|(_, default)| default.is_none())
            .map(|(name, _)| name)
            .collect();
        if required.is_empty() {
            let (label, provider_type) =
                (declared.provider.label(), declared.provider.provider_type);
            let provider = provider_of(&label, provider_type, &provider_type.components_file());
            let (source, objects) = read.into_read().unzip();
            let before = source
                .as_ref()
                .zip(objects)
                .map(|(source, objects)| ReadBefore {
                    text: source.text(),
                    objects: objects.into(),
                });
            texts.extend(installed(
                provider,
                &format!("v{version}"),
                text.as_bytes(),
                before,
                budget,
            ));
        } else {
            report.push(open(declared, &required));
        }
    }
    let is_whole = !components.is_empty() && texts.len() == components.len();
    (is_whole.then(|| texts.join("---\n")), report)
}

fn open(declared: &Declared, variables: &[String]) -> Diagnostic {
    let file = declared.provider.provider_type.components_file();
    let message = format!(
        "{file} has variables without a default, so that no {INSTALL_FILE} is written: {}",
        variables.join(", ")
    );
    let variable = variables.first().map_or("NAME", String::as_str);
    Diagnostic::of(&INSTALL_OPEN, message)
        .at(declared.place(&FieldPath::root()))
        .help(format!(
            "write `${{{variable}:=default}}`, or leave it: clusterctl asks for a value"
        ))
}
