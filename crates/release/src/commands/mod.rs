//! `init`, `generate` and `release …`: values in, values and a report out. `release_changes`,
//! `release_compare` and `release_provenance` are the options `-v 1`, `--check` and `--provenance`
//! of `release build`.

pub mod generate;
pub mod init;
pub mod release_build;
pub mod release_bump;
pub mod release_changes;
pub mod release_check;
pub mod release_compare;
pub mod release_diff;
pub mod release_image;
pub mod release_provenance;
