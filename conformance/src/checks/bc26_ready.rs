//! BC-26: completion is reported, contract v1beta1.

use super::{Check, Run, completion};
use crate::outcome::Level;

pub(crate) const CHECK: Check = Check {
    rule: "BC-26",
    name: "ready",
    level: Level::Must,
    contracts: &["v1beta1"],
    does: "Creates a config with all that it needs.",
    expects: "`status.ready` becomes true.",
    waits: "At most the patience: providers wait for certificates and tokens.",
    run: Run::Story(completion::judge),
};
