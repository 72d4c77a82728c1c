//! `repository …`: local repositories of clusterctl.

mod add;
mod doctor;
mod list;

pub(super) use add::ADD;
pub(super) use doctor::{DOCTOR, DoctorReport};
pub(super) use list::{LIST, ListReport};

/// What the overview says of all these verbs.
const FAMILY: &str = "fill, show, explain and pack a local repository, say how to go on with clusterctl";
