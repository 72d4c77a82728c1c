//! BC-24: completion is reported, contract v1beta2.

use super::{Check, Run, completion};
use crate::outcome::Level;

pub(crate) const CHECK: Check = Check {
    rule: "BC-24",
    name: "data-secret-created",
    level: Level::Must,
    contracts: &["v1beta2"],
    does: "Creates a config with all that it needs.",
    expects: "`status.initialization.dataSecretCreated` becomes true.",
    waits: "At most the patience: providers wait for certificates and tokens.",
    run: Run::Story(completion::judge),
};
