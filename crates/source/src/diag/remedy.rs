//! What to do about a finding: words, and which settings of the request would correct it.
//!
//! The crates do not know how a request is made. On the command line a setting is a flag, which
//! `src/cli` writes.

use std::fmt;

use super::Text;

macro_rules! settings {
    ($($(#[doc = $what:literal])+ $variant:ident = $name:literal,)+) => {
        /// A setting of a request that a remedy can name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Setting {
            $($(#[doc = $what])+ $variant,)+
        }

        impl Setting {
            /// All settings.
            pub const ALL: &[Setting] = &[$(Setting::$variant),+];

            /// The name, kebab-case. The flag of the command line has the same.
            pub fn name(self) -> &'static str {
                match self {
                    $(Setting::$variant => $name,)+
                }
            }
        }
    };
}

settings! {
    /// The role of a machine.
    Role = "role",
    /// The Kubernetes version.
    KubernetesVersion = "kubernetes-version",
    /// The name of the cluster.
    ClusterName = "cluster-name",
    /// The endpoint of the API server.
    Endpoint = "endpoint",
    /// The bootstrap token.
    Token = "token",
    /// The hash of the key of the cluster's CA.
    CaCertHash = "ca-cert-hash",
    /// The folder with the cluster's certificates.
    CertsDir = "certs-dir",
    /// The Cluster API release to match.
    CapiVersion = "capi-version",
    /// Feature gates of the bootstrap provider.
    FeatureGates = "feature-gates",
    /// How texts are written.
    Encoder = "encoder",
    /// The version of Ignition.
    Ignition = "ignition",
    /// Nothing stands in for what is missing.
    NoPlaceholders = "no-placeholders",
    /// The files are clusterctl templates.
    Template = "template",
    /// The value of a template's variable.
    Var = "var",
    /// All machines.
    All = "all",
    /// One machine.
    Select = "select",
    /// The image of the manager.
    Image = "image",
    /// The version of the release that is laid in.
    Release = "release",
    /// The contract of a release series.
    Contract = "contract",
    /// What is there with other content is changed.
    Force = "force",
    /// The folder that is written.
    To = "to",
    /// The file that is written.
    WriteTo = "write-to",
    /// Leave to read files outside of the folder of provider.yaml.
    AllowOutside = "allow-outside",
    /// Leave to use the network.
    AllowNetwork = "allow-network",
    /// A host of GitLab that gets the token of the environment.
    GitlabHost = "gitlab-host",
    /// Leave to take the configuration of a bundle as it is.
    TrustConfiguration = "trust-configuration",
    /// A public key whose holder signs.
    Key = "key",
    /// The identity of who signs.
    CertificateIdentity = "certificate-identity",
    /// Who confirms the identity of who signs.
    CertificateOidcIssuer = "certificate-oidc-issuer",
    /// The authorities and logs that are trusted for signatures.
    TrustedRoot = "trusted-root",
    /// Who builds a release.
    BuilderId = "builder-id",
    /// The sources of a release.
    Source = "source",
    /// The commit of the sources of a release.
    SourceCommit = "source-commit",
    /// A registry that has copies of all images.
    Mirror = "mirror",
    /// Where a cluster template comes from.
    From = "from",
    /// The management cluster.
    Kubeconfig = "kubeconfig",
    /// The namespace of a generated cluster.
    TargetNamespace = "target-namespace",
    /// The infrastructure provider.
    Infrastructure = "infrastructure",
    /// The name of a provider.
    ProviderName = "name",
    /// What a provider provides.
    ProviderType = "type",
    /// A rule whose findings are left out.
    Allow = "allow",
}

/// A piece of a [`Remedy`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Words as they are.
    Words(Text),
    /// A setting to give, and its value; without one the words beside it say more.
    Setting(Setting, Option<String>),
    /// Another request of ours: the verb with what it is about, a setting and its value.
    Request(String, Setting, String),
    /// A line of the user's file in single quotes of YAML, or a part of one. It is not shown where
    /// its file or its secrets may not be.
    Quoted(String),
}

/// What to do: something to type or to paste.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remedy(Vec<Part>);

impl Remedy {
    /// A remedy that begins with words.
    pub fn new(words: impl Into<Text>) -> Self {
        Remedy(vec![Part::Words(words.into())])
    }

    /// A remedy that is or begins with a setting.
    pub fn of(setting: Setting) -> Self {
        Remedy::default().setting(setting)
    }

    /// Goes on with words.
    #[must_use]
    pub fn then(mut self, words: impl Into<Text>) -> Self {
        self.0.push(Part::Words(words.into()));
        self
    }

    /// Goes on with a setting.
    #[must_use]
    pub fn setting(mut self, setting: Setting) -> Self {
        self.0.push(Part::Setting(setting, None));
        self
    }

    /// Goes on with a setting and its value.
    #[must_use]
    pub fn set(mut self, setting: Setting, value: impl Into<String>) -> Self {
        self.0.push(Part::Setting(setting, Some(value.into())));
        self
    }

    /// Goes on with another request of ours: a verb with what it is about, and one setting.
    #[must_use]
    pub fn request(
        mut self,
        verb: impl Into<String>,
        setting: Setting,
        value: impl Into<String>,
    ) -> Self {
        self.0
            .push(Part::Request(verb.into(), setting, value.into()));
        self
    }

    /// Goes on with text of the user's file, in the quotes that YAML wants around it.
    #[must_use]
    pub fn quoted(mut self, text: impl Into<String>) -> Self {
        self.0.push(Part::Quoted(text.into()));
        self
    }

    /// What is quoted from the user's file, to be changed.
    pub fn quotes_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.0.iter_mut().filter_map(|part| {
            if let Part::Quoted(text) = part {
                Some(text)
            } else {
                None
            }
        })
    }

    /// The texts as they are, to be changed; settings, requests and quotes are left out.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut Text> {
        self.0.iter_mut().filter_map(|part| {
            if let Part::Words(text) = part {
                Some(text)
            } else {
                None
            }
        })
    }

    /// The pieces, in their order.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }
}

impl<T: Into<Text>> From<T> for Remedy {
    fn from(words: T) -> Self {
        Remedy::new(words)
    }
}

/// As somebody who has no command line reads it.
impl fmt::Display for Remedy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.0 {
            match part {
                Part::Words(words) => formatter.write_str(words)?,
                Part::Setting(setting, None) => write!(formatter, "`{}`", setting.name())?,
                Part::Setting(setting, Some(value)) => {
                    write!(formatter, "`{}: {value}`", setting.name())?
                }
                Part::Request(verb, setting, value) => {
                    write!(formatter, "`{verb}` with `{}: {value}`", setting.name())?
                }
                Part::Quoted(text) => write!(formatter, "`{text}`")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_command_line_settings_are_named() {
        let remedy = Remedy::new("add ")
            .setting(Setting::All)
            .then(", or ")
            .set(Setting::Select, "a:init")
            .then("; or run ");
        let remedy = remedy.request("repository add DIR", Setting::To, "x");
        let remedy = remedy.then("; or write ").quoted("'a: b'");
        let expected = "add `all`, or `select: a:init`; or run `repository add DIR` with `to: x`; or write `'a: b'`";
        assert_eq!(remedy.to_string(), expected);
    }
}
