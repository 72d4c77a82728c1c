//! The rules about metadata.yaml, with their pages.

use windlass_capi::contract::book;
use windlass_source::diag::rules;

rules! {
    /// metadata.yaml has an unknown field
    pub FIELD_UNKNOWN = warning("metadata-field-unknown"), catalogue("M05"), url(book::METADATA_YAML);
    /// metadata.yaml lacks a required field
    pub(super) FIELD_MISSING = error("metadata-field-missing"), catalogue("M05"), url(book::METADATA_YAML);
    /// a value in metadata.yaml has the wrong type or is out of range
    pub VALUE_REJECTED = error("metadata-value-rejected"), catalogue("M05"), url(book::METADATA_YAML);
    /// metadata.yaml has an `apiVersion` that clusterctl does not accept
    pub(super) API_VERSION_WRONG = error("metadata-api-version-wrong"), catalogue("M01"), url(book::METADATA_YAML);
    /// metadata.yaml has a `kind` other than `Metadata`
    pub(super) KIND_WRONG = error("metadata-kind-wrong"), catalogue("M02"), url(book::METADATA_YAML);
    /// metadata.yaml has no `kind`, which clusterctl tolerates
    pub(super) KIND_MISSING = info("metadata-kind-missing"), catalogue("M02"), url(book::METADATA_YAML);
    /// metadata.yaml contains no document
    pub(super) EMPTY = error("metadata-document-missing"), catalogue("M03"), url(book::METADATA_YAML);
    /// metadata.yaml lists no release series
    pub(super) SERIES_EMPTY = error("metadata-series-empty"), catalogue("M03"), url(book::METADATA_YAML);
    /// metadata.yaml does not list the series of the release
    pub SERIES_MISSING = error("metadata-series-missing"), catalogue("M04"), url(book::METADATA_YAML);
    /// metadata.yaml lists a series twice, and clusterctl uses the first entry
    pub(super) SERIES_DUPLICATED = warning("metadata-series-duplicated"), catalogue("M05"), url(book::METADATA_YAML);
    /// the release series of metadata.yaml are not in order, or one is a placeholder
    pub(super) SERIES_UNORDERED = info("metadata-series-unordered"), catalogue("M06"), url(book::METADATA_YAML);
    /// a release series names an unknown contract
    pub(super) CONTRACT_UNKNOWN = error("metadata-contract-unknown"), catalogue("M07"), url(book::METADATA_YAML);
    /// clusterctl rejects metadata.yaml
    pub METADATA_REJECTED = error("metadata-rejected"), url(book::METADATA_YAML);
}
