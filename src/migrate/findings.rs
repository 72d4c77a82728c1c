//! What is said of a migration.

use crate::diag::{Diagnostic, rules};

rules! {
    /// the version or kind that is wanted has no such field
    pub(super) FIELD_LOST = error("migrate-field-lost");
    /// a value cannot be converted, and its document stays as it is
    pub(super) NOT_CONVERTED = error("migrate-not-converted");
    /// the text that was written anew does not say what it should, and its document stays as it is
    pub(super) TEXT_DIFFERS = error("migrate-text-differs");
    /// a field is left out that Cluster API does not use, or takes from elsewhere
    pub(super) FIELD_UNUSED = warning("migrate-field-unused");
    /// the order of arguments, or one of two with the same name, is lost
    pub(super) ORDER_LOST = warning("migrate-order-lost");
    /// the other version says something that the document leaves open
    pub(super) FIELD_ADDED = warning("migrate-field-added");
    /// a comment has no place in the text that was written anew
    pub(super) COMMENT_DROPPED = warning("migrate-comment-dropped");
    /// something is left out that means the same when it is not there
    pub(super) EMPTY_DROPPED = info("migrate-empty-dropped");
    /// something is added that says nothing, and that the other version wants
    pub(super) EMPTY_ADDED = info("migrate-empty-added");
    /// a document would be rejected in its new form, so it stays as it is
    RESULT_REJECTED = error("migrate-result-rejected");
    /// the fields of a document are those of v1beta1, although its `apiVersion` is v1beta2
    pub(super) VERSION_MISNAMED = info("migrate-version-misnamed");
    /// a document stays as it is although its kind is known
    pub(super) DOCUMENT_SKIPPED = error("migrate-document-skipped");
}

/// The finding about a document that would be rejected in its new form, at its place there.
pub(crate) fn rejection(finding: &Diagnostic, target: &str) -> Diagnostic {
    let mut rejection = finding.clone();
    rejection.rule = &RESULT_REJECTED;
    rejection.fix = None;
    rejection.related.clear();
    rejection.note(format!(
        "the document stays as it is: in {target} it would have {}",
        finding.rule.id
    ))
}
