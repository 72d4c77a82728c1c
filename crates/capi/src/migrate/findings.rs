//! What is said of a migration.

use windlass_source::diag::{Diagnostic, rules};

rules! {
    /// the target version or kind lacks a field
    pub(super) FIELD_LOST = error("migrate-field-lost");
    /// a value cannot be converted, so the document is not migrated
    pub(super) NOT_CONVERTED = error("migrate-not-converted");
    /// the migrated text does not match the converted object, so the document is not migrated
    pub(super) TEXT_DIFFERS = error("migrate-text-differs");
    /// a field that Cluster API does not use is removed
    pub(super) FIELD_UNUSED = warning("migrate-field-unused");
    /// the order of arguments, or one of two with the same name, is lost
    pub(super) ORDER_LOST = warning("migrate-order-lost");
    /// the target version needs an explicit value for a default of the document
    pub(super) FIELD_ADDED = warning("migrate-field-added");
    /// a comment has no position in the migrated document
    pub(super) COMMENT_DROPPED = warning("migrate-comment-dropped");
    /// an empty value is removed because its absence means the same
    pub(super) EMPTY_DROPPED = info("migrate-empty-dropped");
    /// a field without effect is added because the target version requires it
    pub(super) EMPTY_ADDED = info("migrate-empty-added");
    /// the migrated document would be rejected, so the document is not migrated
    RESULT_REJECTED = error("migrate-result-rejected");
    /// a document has `apiVersion` v1beta2 but the fields of v1beta1
    pub(super) VERSION_MISNAMED = info("migrate-version-misnamed");
    /// a document of a known kind is not migrated
    pub(super) DOCUMENT_SKIPPED = error("migrate-document-skipped");
}

/// The finding about a document that would be rejected in its new form, at its place there.
pub fn rejection(finding: &Diagnostic, target: &str) -> Diagnostic {
    let mut rejection = finding.clone();
    rejection.rule = &RESULT_REJECTED;
    rejection.fix = None;
    rejection.related.clear();
    rejection.note(format!(
        "the document stays as it is: in {target} it would have {}",
        finding.rule.id
    ))
}
