//! `install.yaml` of a release: the components with the defaults of their variables in place, for those who install without clusterctl
//! (kubectl, Argo CD, Flux).

use crate::contract::book;
use crate::diag::{Diagnostic, FieldPath, Report, rules};
use crate::provider::Declared;
use crate::text::budget::Budget;
use crate::text::envsubst;

rules! {
    /// a variable of the components has no default, so that no install.yaml is written
    INSTALL_OPEN = info("components-variable-required"), url(book::VARIABLES);
}

/// The name of the file in a release.
pub(crate) const INSTALL_FILE: &str = "install.yaml";

/// What clusterctl's substitution makes of components.
enum Substitution {
    /// Every byte stays.
    Same,
    /// The text with the defaults of all variables in place.
    Resolved(String),
    /// These variables have no default, so that only those who install it can say what they are.
    Open(Vec<String>),
    /// The components do not survive it, which the judge tells.
    Broken,
}

/// The file for the components of some providers; `None` where substitution changes nothing, so that the components are that file
/// themselves, and where a variable has no default, which is told.
pub(super) fn install(components: &[(&Declared, String)], budget: &Budget) -> (Option<String>, Report) {
    let mut report = Report::new();
    let (mut resolved, mut is_whole, mut is_changed) = (String::new(), true, false);
    for (declared, text) in components {
        if !resolved.is_empty() {
            resolved.push_str("---\n");
        }
        match substitution(text, budget) {
            Substitution::Same => resolved.push_str(text),
            Substitution::Resolved(text) => {
                is_changed = true;
                resolved.push_str(&text);
            }
            Substitution::Open(variables) => {
                is_whole = false;
                report.push(open(declared, &variables));
            }
            Substitution::Broken => is_whole = false,
        }
    }
    (Some(resolved).filter(|_| is_whole && is_changed), report)
}

fn substitution(text: &str, budget: &Budget) -> Substitution {
    let Ok(template) = envsubst::parse(text) else { return Substitution::Broken };
    let Ok(substituted) = template.expand(|_| None::<String>, budget) else { return Substitution::Broken };
    if substituted.bytes == text.as_bytes() {
        return Substitution::Same;
    }
    let open: Vec<String> = template.variables().into_iter().filter(|(_, default)| default.is_none()).map(|(name, _)| name).collect();
    if open.is_empty() {
        Substitution::Resolved(String::from_utf8_lossy(&substituted.bytes).into_owned())
    } else {
        Substitution::Open(open)
    }
}

fn open(declared: &Declared, variables: &[String]) -> Diagnostic {
    let file = declared.provider.provider_type.components_file();
    let message = format!("{file} has variables without a default, so that no {INSTALL_FILE} is written: {}", variables.join(", "));
    let variable = variables.first().map_or("NAME", String::as_str);
    Diagnostic::of(&INSTALL_OPEN, message)
        .at(declared.place(&FieldPath::root()))
        .help(format!("write `${{{variable}:=default}}`, or leave it: clusterctl asks for a value"))
}
