//! The bootstrap contract as a function: what a config's object needs next, from what was observed
//! (book: "Contract rules for BootstrapConfig", "Behavior").
//!
//! [`reconcile`] returns one [`Step`] for a [`World`]: what to read, what to write, or that nothing
//! is left. The controller executes the step, records the result in the world, and calls it again.
//! The world is the only state, so the controller may be killed between two steps: the next one
//! reads the objects and continues.
//!
//! The order in [`walk`] is fixed: owner and Cluster ([`subject`]), then what data
//! needs (the same version as the control plane in [`skew`], the init lock in [`lock`],
//! certificates in [`certificates`], the bootstrap token in [`token`]), then the renderer
//! ([`rendering`]), then the Secret ([`data_secret`]), then the status ([`status`]).

mod certificates;
mod conditions;
mod data_secret;
mod finding;
mod foreign;
mod lock;
mod outcome;
mod pass;
mod references;
mod rendering;
mod skew;
mod status;
mod step;
mod subject;
mod token;
mod walk;
mod world;

use outcome::{Outcome, Pause};
use pass::{Pass, Stop};
use windlass_capi::api::time::Timestamp;

pub use foreign::quoted;
pub use pass::Settings;
pub use step::{Action, Event, KeyRequest, Rest, Step, Write};
pub use token::{TOKEN_ALPHABET, TOKEN_LENGTH};
pub use world::{Key, Observation, Realm, World};

/// The step after the work on the config of a world panicked: its status says so, if it has no data
/// yet.
pub fn after_panic(world: &World, settings: &Settings, now: Timestamp) -> Step {
    let fault = "a fault of the controller ended the work on this object; its log has more";
    let outcome = Outcome {
        pause: Pause::Unknown,
        ..Outcome::default()
    };
    status::conclude(
        &Pass {
            world,
            settings,
            now,
        },
        outcome.with_fault(fault),
    )
}

/// The next step for the config of a world.
pub fn reconcile(world: &World, settings: &Settings, now: Timestamp) -> Step {
    let pass = Pass {
        world,
        settings,
        now,
    };
    let outcome = match pass.walk() {
        Ok(Some(outcome)) => outcome,
        Ok(None) => return Step::Rest(Rest::default()),
        Err(Stop::Read(keys)) => return Step::Read(keys),
        Err(Stop::Confirm(key)) => return Step::Confirm(key),
        Err(Stop::Write(write)) => return Step::Write(write),
        Err(Stop::Rest(rest)) => return Step::Rest(rest),
        Err(Stop::End(outcome)) => *outcome,
    };
    status::conclude(&pass, outcome)
}
