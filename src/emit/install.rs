//! `install.yaml` of a release: what `clusterctl generate provider` prints of the components,
//! variables at their defaults, for those who install without clusterctl (kubectl, Argo CD, Flux).

use super::judged::Built;
use crate::clusterctl::{ReadBefore, installed};
use crate::contract::book;
use crate::diag::{Diagnostic, FieldPath, Report, rules};
use crate::lint::{self, provider_of};
use crate::provider::Declared;
use crate::text::budget::Budget;
use crate::text::envsubst;

rules! {
    /// a variable of the components has no default, so that no install.yaml is written
    INSTALL_OPEN = info("components-variable-required"), url(book::VARIABLES);
}

/// The name of the file in a release.
pub(crate) const INSTALL_FILE: &str = "install.yaml";

/// The file for the components of some providers; `None` where one of them cannot be installed
/// without being asked something, which is told, or not at all, which the judge tells. What was
/// `read` for it, if anything, need not be read again.
pub(super) fn install(
    components: &[Built<'_>],
    read: &[lint::Components],
    budget: &Budget,
) -> (Option<String>, Report) {
    let mut report = Report::new();
    let mut texts = Vec::new();
    for (
        index,
        Built {
            declared,
            text,
            version,
            ..
        },
    ) in components.iter().enumerate()
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
            let read = read.get(index).and_then(lint::Components::as_read);
            let before = read.as_ref().map(|(text, pool)| ReadBefore {
                text: text.text(),
                objects: pool.objects(),
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
