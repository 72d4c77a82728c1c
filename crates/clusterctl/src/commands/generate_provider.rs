//! `generate provider`: the components of a provider as clusterctl would install them, or what they
//! are.

use crate::{self as clusterctl, ComponentsOptions, Config, Log, Rejection};
use windlass_capi::contract::ProviderType;
use windlass_report::text::visible_lines;

/// The form in which the components are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The objects, variables replaced.
    Yaml,
    /// The objects, variables as they are (`--raw`).
    Raw,
    /// Name, version, variables, images (`--describe`).
    Description,
}

/// Runs the command for `name[:version]`; returns its standard output.
///
/// # Errors
/// The message of clusterctl.
pub fn run(
    config: &Config<'_>,
    (provider_type, name): (ProviderType, &str),
    namespace: &str,
    shown: Shown,
    log: &mut Log,
) -> Result<String, Rejection> {
    let options = ComponentsOptions {
        namespace: namespace.to_owned(),
        raw: shown != Shown::Yaml,
    };
    let components = clusterctl::generate_provider(config, name, provider_type, &options, log)?;
    if shown == Shown::Description {
        Ok(visible_lines(&components.describe()).into_owned())
    } else {
        components.into_yaml()
    }
}

/// The one provider that the flags name; empty flags were not given.
///
/// # Errors
/// When there is none, or more than one.
pub fn wanted(flags: [(ProviderType, &str); 7]) -> Result<(ProviderType, &str), Rejection> {
    let mut given = flags.into_iter().filter(|(_, name)| !name.is_empty());
    let flags = "of --core, --bootstrap, --control-plane, --infrastructure, --ipam, --extension, --addon should be set";
    match (given.next(), given.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(Rejection::new(format!("at least one {flags}"))),
        (Some(_), Some(_)) => Err(Rejection::new(format!("only one {flags}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_provider_is_wanted() {
        let wanted = |names: [&'static str; 7]| {
            let mut flags = ProviderType::ALL.map(|provider| (provider, ""));
            flags
                .iter_mut()
                .zip(names)
                .for_each(|(flag, name)| flag.1 = name);
            wanted(flags)
                .map_err(|rejection| rejection.message().split(" of").next().unwrap().to_owned())
        };
        assert_eq!(
            wanted(["", "", "", "aws", "", "", ""]),
            Ok((ProviderType::InfrastructureProvider, "aws"))
        );
        assert_eq!(wanted([""; 7]), Err("at least one".to_owned()));
        assert_eq!(
            wanted(["a", "", "", "", "", "", "b"]),
            Err("only one".to_owned())
        );
    }
}
