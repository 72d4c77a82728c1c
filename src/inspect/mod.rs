//! Bootstrap data read back, whoever wrote it: what it is packed in, what it has the machine do in which order, and what can go wrong unseen.
//!
//! 1. `layers` takes off what the data is packed in: a Secret's manifest, base64, gzip, MIME. What is left are documents.
//! 2. `cloud_config` and `ignition` make steps of a document, in the order in which the machine takes them.
//! 3. `sentinel`, `certificates` and `redaction` look at the steps; `log` lays a machine's log beside them.

pub(crate) mod sections;
