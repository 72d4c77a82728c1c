//! The script of CAPI v1.10 that joins and tries again (`useExperimentalRetryJoin`, which later
//! releases drop).
//!
//! Both scripts are Cluster API's own, unchanged (Apache License 2.0, their headers say whose): Go
//! templates whose actions stand in comments of the shell, so that the comments remain.

use crate::render::plan::node_plan::{PlannedFile, RetryJoin};
use windlass_capi::api::secret::Sensitive;
use windlass_go_text::value::Value;
use windlass_source::budget::Budget;

pub(super) const PATH: &str = "/usr/local/bin/kubeadm-bootstrap-script";

pub(super) fn file(script: RetryJoin, control_plane: bool, verbosity: &str) -> PlannedFile {
    let template = match script {
        RetryJoin::BeforeKubernetes131 => include_str!("before-1.31.sh"),
        RetryJoin::FromKubernetes131 => include_str!("from-1.31.sh"),
    };
    let data = Value::map([
        ("ControlPlane".to_owned(), Value::Bool(control_plane)),
        ("KubeadmVerbosity".to_owned(), Value::text(verbosity)),
    ]);
    let text = windlass_go_template::render("JoinScript", template, &data, &Budget::default())
        .expect("internal error: the scripts are templates");
    PlannedFile {
        path: PATH.to_owned(),
        owner: "root".to_owned(),
        permissions: "0755".to_owned(),
        content: Sensitive::new(text),
        ..PlannedFile::default()
    }
}
