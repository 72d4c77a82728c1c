//! The rules for a provider's author: what clusterctl, the API server and the core take, and what
//! breaks or surprises later.
//!
//! A family of rules is a function over a [`Scope`]; its row here is all that it takes to be asked
//! by `lint`, `release check` and `release build`.

use super::{Scope, components, conversion, definitions};
use windlass_source::diag::Report;

/// What a family of rules finds.
type Family = fn(&Scope<'_>) -> Report;

static FAMILIES: &[Family] = &[
    components::certificates::check,
    components::images::check,
    components::labels::check,
    components::managers::check,
    components::placeholders::check,
    components::removed::check,
    components::roles::check,
    components::services::check,
    components::services_missing::check,
    components::webhook_resources::check,
    components::webhooks::check,
    components::workloads::check,
    definitions::contract_labels::check,
    definitions::fields_demanded::check,
    definitions::kinds::check,
    definitions::outdated::check,
    definitions::rights::check,
    definitions::versions::check,
];

pub(crate) fn check(scope: &Scope<'_>) -> Report {
    FAMILIES.iter().flat_map(|family| family(scope)).collect()
}

/// Checks objects of which the rest may be elsewhere: what clusterctl and the API server say of
/// each, and the families.
pub fn check_part(scope: &Scope<'_>) -> Report {
    let mut report: Report = definitions::of(scope.objects)
        .flat_map(|crd| definitions::check_part(crd, scope.budget))
        .collect();
    report.extend(conversion::check(scope.objects));
    report.extend(check(scope));
    report
}
