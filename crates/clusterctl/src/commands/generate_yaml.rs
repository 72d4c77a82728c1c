//! `generate yaml`: a template with its variables replaced, or the names of its variables.

use crate::{self as clusterctl, Config, Rejection, TemplateSource};

/// Runs the command; returns its standard output.
///
/// # Errors
/// The message of clusterctl.
pub fn run(
    config: &Config<'_>,
    source: &TemplateSource,
    list_variables: bool,
) -> Result<String, Rejection> {
    let template = clusterctl::generate_yaml(config, source, list_variables)?;
    if list_variables {
        Ok(clusterctl::list_names(&template))
    } else {
        template.into_yaml()
    }
}
