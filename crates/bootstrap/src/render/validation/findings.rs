//! What may be wrong with a config, whoever finds it: schema, webhook, conversion.

use windlass_schema::document::Wording;
use windlass_source::diag::rules;

rules! {
    /// the config has an API version that the Cluster API release does not serve
    pub VERSION_UNKNOWN = error("config-version-unknown");
    /// a value violates a validation rule of the API
    pub(crate) RULE_BROKEN = error("config-rule-broken");
    /// the validating webhook rejects a value
    pub(crate) ADMISSION_REJECTED = error("config-admission-rejected");
    /// a field has no effect, or not the intended one
    pub(crate) ADMISSION_WARNED = warning("config-field-without-effect");
    /// a validation rule of the API cannot be evaluated here
    pub(crate) RULE_NOT_JUDGED = warning("config-rule-not-checked");
    /// a value cannot be converted to the stored API version
    pub(crate) NOT_CONVERTIBLE = error("config-value-not-convertible");
    /// a field of v1beta1 is dropped when Cluster API converts the config
    pub(crate) FIELD_DROPPED = warning("config-field-dropped");
    /// a bootstrap token is malformed
    pub(crate) TOKEN_MALFORMED = error("config-token-malformed");
    /// the config has an unknown field
    pub FIELD_UNKNOWN = error("config-field-unknown"), hides_value();
    /// the config lacks a required field
    pub(crate) FIELD_MISSING = error("config-field-missing");
    /// the API server rejects a value
    pub VALUE_REJECTED = error("config-value-rejected");
}

/// The rules of the schema.
pub(super) const WORDING: Wording = Wording {
    unknown: &FIELD_UNKNOWN,
    missing: &FIELD_MISSING,
    rejected: &VALUE_REJECTED,
};
