//! BC-76: the taint of nodes that Cluster API has not seen yet.

use super::{Check, NO_SECRET, Run};
use crate::data;
use crate::outcome::{Level, Outcome};
use crate::story::Story;

const TAINT: &str = "node.cluster.x-k8s.io/uninitialized";

pub(crate) const CHECK: Check = Check {
    rule: "BC-76",
    name: "uninitialized-taint",
    level: Level::May,
    contracts: &[],
    does: "Reads the data of workers and of control plane machines.",
    expects: "Where the taint `node.cluster.x-k8s.io/uninitialized` is set, only workers have it.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let (Some(secret), Some(value)) = (story.secret(), story.data()) else {
        return Outcome::not_covered(NO_SECRET);
    };
    match (data::contains(&value, TAINT), story.role.is_control_plane()) {
        (false, _) => Outcome::not_applicable("the taint is optional and not set"),
        (true, false) => Outcome::pass("workers register with the taint"),
        (true, true) => Outcome::fail(
            "a control plane machine registers with the taint for workers",
            story.of_secret(secret, Some("data.value"), format!("it contains {TAINT}")),
        ),
    }
}
