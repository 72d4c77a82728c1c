//! `generate cluster`: the template of a workload cluster with its ClusterClasses, or its
//! variables.

use crate::{self as clusterctl, ClusterOptions, Config, Log, Rejection, World};
use windlass_report::text::visible_lines;

/// Runs the command; returns its standard output.
///
/// # Errors
/// The message of clusterctl.
pub fn run(
    world: World<'_>,
    config: Config<'_>,
    options: &ClusterOptions,
    log: &mut Log,
) -> Result<String, Rejection> {
    let template = clusterctl::generate_cluster(config, options, log)?;
    if options.list_variables {
        Ok(visible_lines(&template.list_variables(options, world.environment)).into_owned())
    } else {
        template.into_yaml()
    }
}
