//! `version`: clusterctl's flags, our own version.

use clap::Args;
use serde::Serialize;

use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};

/// What `-V` prints.
pub(super) const LINE: &str = concat!("windlass version: v", env!("CARGO_PKG_VERSION"));

pub(super) const VERB: Verb = Verb {
    words: &["version"],
    operands: "",
    summary: "the version of this program",
    family: None,
    group: Group::Clusterctl,
    manner: Manner::Clusterctl,
    examples: &["version", "version -o json"],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// Output format: yaml, json, short; without it one line
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "",
        hide_default_value = true
    )]
    output: String,
}

/// The names are clusterctl's, as far as they make sense here.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    git_version: &'static str,
    major: &'static str,
    minor: &'static str,
    platform: String,
}

impl Version {
    const GIT_VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

    fn of_this_build() -> Self {
        Version {
            git_version: Self::GIT_VERSION,
            major: env!("CARGO_PKG_VERSION_MAJOR"),
            minor: env!("CARGO_PKG_VERSION_MINOR"),
            platform: platform(),
        }
    }
}

/// Go's name of this platform, `linux/amd64`: release files are named by it.
fn platform() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}/{architecture}")
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let value = serde_json::json!({ "windlass": Version::of_this_build() });
        let text = match self.output.as_str() {
            "" => format!("{LINE}\n"),
            "short" => format!("{}\n", Version::GIT_VERSION),
            "json" => format!("{value:#}\n"),
            "yaml" => windlass_go_yaml::goyaml::to_string(&value)
                .expect("internal error: a version has no control characters"),
            other => {
                return Err(Failure::Clusterctl(format!(
                    "invalid output format: {other}"
                )));
            }
        };
        context.out(&text);
        Ok(Exit::Clean)
    }
}
