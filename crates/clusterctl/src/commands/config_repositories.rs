//! `config repositories`: the providers that clusterctl knows, and where they are.

use crate::{self as clusterctl, Config, Rejection};
use windlass_go_text as go;
use windlass_report::text::visible_lines;

/// How the list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// A table.
    Text,
    /// A YAML list.
    Yaml,
}

impl Output {
    /// The output of that name.
    ///
    /// # Errors
    /// The message of clusterctl.
    pub fn parse(name: &str) -> Result<Self, Rejection> {
        match name {
            "text" => Ok(Output::Text),
            "yaml" => Ok(Output::Yaml),
            other => Err(Rejection::new(format!(
                "invalid output format {}, valid values: [yaml text]",
                go::quote(other)
            ))),
        }
    }
}

/// Runs the command; returns its standard output.
///
/// # Errors
/// The message of clusterctl.
pub fn run(config: &Config<'_>, output: Output) -> Result<String, Rejection> {
    let providers = config.providers()?;
    match output {
        Output::Text => Ok(visible_lines(&clusterctl::providers_table(&providers)).into_owned()),
        Output::Yaml => clusterctl::providers_yaml(&providers),
    }
}
