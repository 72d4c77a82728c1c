//! The rules about names, classes and namespaces of templates, with their pages.

use windlass_capi::contract::book;
use windlass_source::diag::rules;

rules! {
    /// a file resembles a template, but clusterctl does not look for its name
    pub(super) NAME_UNKNOWN = warning("template-name-unknown"), catalogue("A04"), url(book::TEMPLATES);
    /// the name of a template file contains a control character
    pub(super) NAME_CONTROL = error("template-name-control");
    /// clusterctl cannot substitute the variables of a template
    pub(super) SUBSTITUTION = error("template-substitution-broken"), catalogue("T01"), url(book::VARIABLES);
    /// a template contains a Namespace, which clusterctl renames to the target namespace
    pub(super) NAMESPACE_PRESENT = error("template-namespace-present"), catalogue("T11"), url(book::TEMPLATES);
    /// objects in a template have a fixed namespace, which clusterctl replaces
    pub(super) NAMESPACE_FOREIGN = info("template-namespace-foreign"), catalogue("T12"), url(book::TEMPLATES);
    /// a template uses a ClusterClass whose file is not part of the release
    pub(super) CLASS_MISSING = warning("template-class-missing"), catalogue("A03"), url(book::CLUSTER_CLASSES);
    /// the name of a ClusterClass differs from the name in its file name
    pub(super) CLASS_NAME_WRONG = error("clusterclass-name-wrong"), catalogue("A04"), url(book::CLUSTER_CLASSES);
    /// a ClusterClass file uses a clusterctl variable
    pub(super) CLASS_VARIABLE = warning("clusterclass-variable-present"), catalogue("T14"), url(book::CLUSTER_CLASSES);
    /// an object in a ClusterClass file has a namespace
    pub(super) CLASS_NAMESPACE = warning("clusterclass-namespace-present"), catalogue("T15"), url(book::CLUSTER_CLASSES);
}
