//! The ServiceAccount of the manager: the one that provider.yaml names, else the one that the
//! bindings of the role files bind.

use std::collections::BTreeSet;

use super::names::Names;
use windlass_lint::components::roles::LINK_MISSING;
use windlass_objects::references::references;
use windlass_objects::{Object, pods};
use windlass_provider::Declared;
use windlass_source::diag::{Diagnostic, FieldPath, Report, Segment, rules};

rules! {
    /// the role files bind several ServiceAccounts, and provider.yaml does not name the manager's
    ACCOUNT_AMBIGUOUS = error("provider-service-account-ambiguous");
    /// the role files bind other ServiceAccounts than the one that provider.yaml names
    ACCOUNT_UNBOUND = warning("provider-service-account-unbound");
}

const ACCOUNT: &str = "ServiceAccount";

/// Whether what was said of the manager's account explains a finding: the bindings name accounts
/// that nobody runs as.
pub(super) fn explains(told: &Report, finding: &Diagnostic) -> bool {
    let is_of_account = finding.rule == &LINK_MISSING
        && finding.place.path.segments().first() == Some(&Segment::Field("subjects".to_owned()));
    is_of_account
        && told
            .findings()
            .iter()
            .any(|told| [&ACCOUNT_AMBIGUOUS, &ACCOUNT_UNBOUND].contains(&told.rule))
}

/// A ServiceAccount that a binding names.
struct Bound<'o> {
    name: &'o str,
    binding: &'o Object,
    path: FieldPath,
}

/// The name of the manager's ServiceAccount as provider.yaml or the role files have it; `None` when
/// neither names one. `others` are the objects that do not come from role files: their pods may run
/// as ServiceAccounts that the role files bind too.
pub(super) fn of_manager(
    declared: &Declared,
    names: &Names,
    role_files: &[Object],
    others: &[Object],
) -> (Option<String>, Option<Diagnostic>) {
    if declared.provider.manager.is_none() {
        return (None, None);
    }
    let mut bound = bound(role_files);
    let is = |bound: &Bound<'_>, name: &str| names.account(bound.name) == names.account(name);
    if let Some(given) = declared
        .provider
        .rbac
        .as_ref()
        .and_then(|rbac| rbac.service_account.as_deref())
    {
        let finding = bound
            .first()
            .filter(|_| !bound.iter().any(|bound| is(bound, given)))
            .map(|first| unbound(declared, given, first));
        return (Some(given.to_owned()), finding);
    }
    if bound.len() > 1 {
        let taken: BTreeSet<&str> = role_files.iter().chain(others).flat_map(runs_as).collect();
        bound.retain(|bound| !taken.contains(bound.name));
    }
    match bound.as_slice() {
        [] => (None, None),
        [only] => (Some(only.name.to_owned()), None),
        several => match several
            .iter()
            .find(|bound| names.account(bound.name) == names.service_account)
        {
            Some(usual) => (Some(usual.name.to_owned()), None),
            None => (None, Some(ambiguous(several))),
        },
    }
}

/// The ServiceAccounts that the bindings among some objects name, each once.
fn bound(objects: &[Object]) -> Vec<Bound<'_>> {
    let mut found: Vec<Bound<'_>> = Vec::new();
    let mut known = BTreeSet::new();
    for binding in objects
        .iter()
        .filter(|object| matches!(object.kind(), "RoleBinding" | "ClusterRoleBinding"))
    {
        for reference in references(binding.value())
            .0
            .into_iter()
            .filter(|reference| reference.kind == ACCOUNT)
        {
            if known.insert(reference.name.to_owned()) {
                found.push(Bound {
                    name: reference.name,
                    binding,
                    path: reference.path,
                });
            }
        }
    }
    found
}

/// The ServiceAccounts as which the pods of an object run.
fn runs_as(object: &Object) -> Vec<&str> {
    let is_pod = pods::pod_path(object.kind()).is_some();
    let accounts = references(object.value())
        .0
        .into_iter()
        .filter(|reference| is_pod && reference.kind == ACCOUNT);
    accounts.map(|reference| reference.name).collect()
}

fn unbound(declared: &Declared, given: &str, first: &Bound<'_>) -> Diagnostic {
    let message = format!(
        "`rbac.serviceAccount` is {given}, but the role files bind {}: the manager has none of those rights",
        first.name
    );
    Diagnostic::of(&ACCOUNT_UNBOUND, message)
        .at(declared.place(&FieldPath::of_fields("rbac.serviceAccount")))
        .related(first.binding.place(&first.path), "")
        .help(format!(
            "write `serviceAccount: {}`, or leave the line out",
            first.name
        ))
}

fn ambiguous(several: &[Bound<'_>]) -> Diagnostic {
    let names: Vec<&str> = several.iter().map(|bound| bound.name).collect();
    let (first, others) = (&several[0], &several[1..]);
    let finding = Diagnostic::of(
        &ACCOUNT_AMBIGUOUS,
        format!(
            "the role files bind several ServiceAccounts: {}",
            names.join(", ")
        ),
    )
    .at(first.binding.place(&first.path))
    .help(format!(
        "say which is the manager's, under `rbac` of provider.yaml: `serviceAccount: {}`",
        first.name
    ));
    others.iter().fold(finding, |finding, bound| {
        finding.related(bound.binding.place(&bound.path), "")
    })
}
