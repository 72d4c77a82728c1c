//! The judge of releases: what the core, the API server or clusterctl would refuse or change. Verbs that build, lay in or examine a release
//! call the same rules, so that they cannot disagree.

pub(crate) mod definitions;
