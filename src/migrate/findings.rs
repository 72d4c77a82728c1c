//! What is said of a migration.

use crate::diag::rules;

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
    /// a document stays as it is although its kind is known
    pub(super) DOCUMENT_SKIPPED = error("migrate-document-skipped");
}
