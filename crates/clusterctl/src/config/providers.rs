//! The list of providers: clusterctl's own, and those of the configuration.

use super::Config;
use super::setting::Setting;
use crate::provider::Provider;
use crate::{Rejection, dns};
use windlass_capi::contract::{CORE_PROVIDER, ProviderType};
use windlass_envsubst as envsubst;
use windlass_go_text as go;
use windlass_go_text::url::Url;
use windlass_source::url::without_credentials;

/// The fields of an entry, before they are checked.
struct Entry {
    name: String,
    url: String,
    provider_type: String,
}

impl Config<'_> {
    /// All providers, in the order in which clusterctl lists them: by type, then by name.
    ///
    /// # Errors
    /// For the first entry of the configuration that is not valid; then no provider can be used.
    pub fn providers(&self) -> Result<Vec<Provider>, Rejection> {
        let mut providers = builtin();
        for entry in self.entries()? {
            let provider = self.provider(&entry)?;
            let same = |known: &Provider| {
                known.name == provider.name && known.provider_type == provider.provider_type
            };
            match providers.iter_mut().find(|known| same(known)) {
                Some(known) => *known = provider,
                None => providers.push(provider),
            }
        }
        providers.sort_by(|a, b| (a.provider_type, &a.name).cmp(&(b.provider_type, &b.name)));
        Ok(providers)
    }

    /// The entries of the configuration alone, in its order, each for itself: clusterctl stops at
    /// the first that is not valid.
    ///
    /// # Errors
    /// When `providers` is not a list of entries.
    pub fn configured(&self) -> Result<Vec<Result<Provider, Rejection>>, Rejection> {
        Ok(self
            .entries()?
            .iter()
            .map(|entry| self.provider(entry))
            .collect())
    }

    /// One provider.
    ///
    /// # Errors
    /// When it is not in the list, or the list is faulty.
    pub fn provider_of(
        &self,
        name: &str,
        provider_type: ProviderType,
    ) -> Result<Provider, Rejection> {
        let found = self
            .providers()?
            .into_iter()
            .find(|known| known.name == name && known.provider_type == provider_type);
        found.ok_or_else(|| {
            Rejection::new(format!(
                "failed to get configuration for the {} with name {name}. Please check the provider name and/or add configuration for new \
                 providers using the .clusterctl config file",
                provider_type.as_str()
            ))
        })
    }

    fn entries(&self) -> Result<Vec<Entry>, Rejection> {
        let items = match self.setting("providers") {
            None | Some(Setting::Null) => Vec::new(),
            Some(Setting::List(items)) => items,
            Some(Setting::Text(text)) if text.is_empty() => Vec::new(),
            // A text is taken for a list with commas, as everywhere in viper.
            Some(Setting::Text(text)) => text
                .split(',')
                .map(|item| Setting::Text(item.to_owned()))
                .collect(),
            Some(Setting::Map(entries)) if entries.is_empty() => Vec::new(),
            Some(other) => vec![other],
        };
        let mut faults = Vec::new();
        let mut entries = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match entry(at, item) {
                Ok(entry) => entries.push(entry),
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() {
            return Ok(entries);
        }
        Err(Rejection::new(format!(
            "decoding failed due to the following error(s):\n\n{}",
            faults.join("\n")
        ))
        .within("failed to unmarshal providers from the clusterctl configuration file"))
    }

    fn provider(&self, entry: &Entry) -> Result<Provider, Rejection> {
        let url = self.world().expand(&entry.url).map_err(|error| {
            Rejection::new(error.to_string()).within(format!(
                "unable to evaluate url: {}",
                go::quote(&without_credentials(&entry.url))
            ))
        })?;
        check(entry, &url).map_err(|rejection| {
            rejection.within(format!(
                "error validating configuration for the {} with name {}. Please fix the providers value in clusterctl configuration file",
                entry.provider_type, entry.name
            ))
        })
    }
}

fn entry(at: usize, item: &Setting) -> Result<Entry, String> {
    let fields = match item {
        Setting::Map(fields) => fields,
        Setting::Null => {
            return Ok(Entry {
                name: String::new(),
                url: String::new(),
                provider_type: String::new(),
            });
        }
        other => {
            return Err(format!(
                "'[{at}]' expected a map or struct, got \"{}\"",
                go_kind(other)
            ));
        }
    };
    let field = |name: &str, shown: &str| match fields.get(name) {
        None => Ok(String::new()),
        Some(value) => value.to_field().ok_or_else(|| {
            format!(
                "'[{at}].{shown}' expected type 'string', got unconvertible type '{}'",
                value.go_type()
            )
        }),
    };
    Ok(Entry {
        name: field("name", "Name")?,
        url: field("url", "URL")?,
        provider_type: field("type", "Type")?,
    })
}

fn go_kind(setting: &Setting) -> &'static str {
    match setting {
        Setting::List(_) => "slice",
        other => other.go_type(),
    }
}

fn check(entry: &Entry, url: &str) -> Result<Provider, Rejection> {
    let Entry {
        name,
        provider_type,
        ..
    } = entry;
    if name.is_empty() {
        return Err(Rejection::new("name value cannot be empty"));
    }
    if name.to_lowercase() != *name {
        return Err(Rejection::new(format!(
            "provider name {name} must be in lower case"
        )));
    }
    if (name == CORE_PROVIDER) != (provider_type == ProviderType::CoreProvider.as_str()) {
        return Err(Rejection::new(format!(
            "name {CORE_PROVIDER} must be used with the CoreProvider type (name: {name}, type: {provider_type})"
        )));
    }
    dns::check_subdomain(name).map_err(|rejection| rejection.within("invalid provider name"))?;
    if url.is_empty() {
        return Err(Rejection::new("provider URL value cannot be empty"));
    }
    Url::parse(url).map_err(|fault| Rejection::new(fault).within("error parsing provider URL"))?;
    let known = ProviderType::ALL.into_iter().find(|known| known.as_str() == provider_type).ok_or_else(|| {
        Rejection::new(
            "invalid provider type. Allowed values are [CoreProvider, BootstrapProvider, InfrastructureProvider, ControlPlaneProvider, \
             IPAMProvider, RuntimeExtensionProvider, AddonProvider]",
        )
    })?;
    Ok(Provider {
        name: name.clone(),
        provider_type: known,
        url: url.into(),
    })
}

fn builtin() -> Vec<Provider> {
    let lines = include_str!("builtin_providers.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let mut cells = line.split('\t');
            let (provider_type, name, url) = (cells.next()?, cells.next()?, cells.next()?);
            let provider_type = ProviderType::ALL
                .into_iter()
                .find(|known| known.as_str() == provider_type)?;
            Some(Provider {
                name: name.to_owned(),
                provider_type,
                url: url.into(),
            })
        })
        .collect()
}

impl crate::World<'_> {
    /// Replaces variables by those of the environment alone; one that is not set is empty.
    pub(crate) fn expand(&self, text: &str) -> Result<String, envsubst::SubstError> {
        let done = envsubst::parse_exact(text)?.expand(|name| self.variable(name), self.budget)?;
        Ok(String::from_utf8_lossy(&done.bytes).into_owned())
    }
}
