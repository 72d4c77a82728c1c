//! Providers as the command line and the configuration name them.

use super::{Rejection, dns};
use windlass_capi::contract::ProviderType;
use windlass_go_text as go;
use windlass_source::url::UrlText;

/// A provider that clusterctl knows, by itself or by its configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its name, such as `aws`.
    pub name: String,
    /// What it provides.
    pub provider_type: ProviderType,
    /// Where its components are, variables replaced.
    pub url: UrlText,
}

impl Provider {
    /// The label of its objects, and its folder in a local repository: `infrastructure-aws`.
    pub fn label(&self) -> String {
        self.provider_type.label(&self.name)
    }

    /// The URL up to the last `/`, and the components file, as they are printed: clusterctl shows
    /// credentials in the URL, this program never does.
    pub fn url_and_file(&self) -> (String, String) {
        let url = self.url.to_string();
        let (folder, file) = url.split_at(url.rfind('/').map_or(0, |at| at + 1));
        (folder.to_owned(), file.to_owned())
    }
}

/// `name[:version]` of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProviderName {
    /// In lower case.
    pub(super) name: String,
    /// As written; not checked.
    pub(super) version: Option<String>,
}

impl ProviderName {
    pub(super) fn parse(text: &str) -> Result<Self, Rejection> {
        let form = format!(
            "invalid provider name {}. Provider name should be in the form name[:version]",
            go::quote(text)
        );
        let parts: Vec<&str> = text.split(':').collect();
        if parts.len() > 2 {
            return Err(Rejection::new(form));
        }
        if parts[0].is_empty() {
            return Err(Rejection::new(format!("{form} and name cannot be empty")));
        }
        let name = parts[0].to_lowercase();
        dns::check_label(&name).map_err(|rejection| {
            rejection.within(format!("{form} and the name should be valid"))
        })?;
        if parts.get(1).is_some_and(|version| version.is_empty()) {
            return Err(Rejection::new(format!(
                "{form} and version cannot be empty"
            )));
        }
        Ok(ProviderName {
            name,
            version: parts.get(1).map(|version| (*version).to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_a_version() {
        let name = |text: &str| ProviderName::parse(text).map(|found| (found.name, found.version));
        assert_eq!(name("AWS"), Ok(("aws".to_owned(), None)));
        assert_eq!(
            name("foo:v1"),
            Ok(("foo".to_owned(), Some("v1".to_owned())))
        );
        let form = |text: &str| {
            format!(
                "invalid provider name \"{text}\". Provider name should be in the form name[:version]"
            )
        };
        for (text, rest) in [
            ("a:b:c", ""),
            (":v1", " and name cannot be empty"),
            ("foo:", " and version cannot be empty"),
        ] {
            assert_eq!(
                name(text),
                Err(Rejection::new(format!("{}{rest}", form(text)))),
                "{text}"
            );
        }
        assert_eq!(
            name("a.b"),
            Err(Rejection::new(format!(
                "{} and the name should be valid: must not contain dots",
                form("a.b")
            )))
        );
    }
}
