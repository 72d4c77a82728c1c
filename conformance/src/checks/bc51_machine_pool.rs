//! BC-51: a MachinePool owns a config as a Machine does.

use super::{Check, Run};
use crate::outcome::{Level, Outcome};
use crate::sample::Role;
use crate::story::Story;

pub(crate) const CHECK: Check = Check {
    rule: "BC-51",
    name: "machine-pool",
    level: Level::Observed,
    contracts: &[],
    does: "Creates a config that a MachinePool controls, from the sample machine-pool.",
    expects: "Data is generated and completion reported.",
    waits: "At most the patience.",
    run: Run::StoryOf(Role::MachinePool, judge),
};

fn judge(story: &Story) -> Outcome {
    match story.is_complete() {
        true => Outcome::pass("data is generated for the MachinePool"),
        false => Outcome::fail(
            "a config of a MachinePool gets no data",
            story.of_config(
                Some(story.completion().field()),
                format!("not complete within {} s", story.waited.as_secs()),
            ),
        ),
    }
}
