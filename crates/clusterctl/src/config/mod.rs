//! clusterctl's configuration: the file, the environment, what is set on the command line, and
//! which of them wins.

mod discovery;
mod dotenv;
mod formats;
mod images;
mod providers;
mod setting;
mod yaml;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::network::{NetworkFault, Request};
use super::{Rejection, World};
use windlass_go_text as go;
use windlass_source::diag::{self, Remedy};
use windlass_source::url::without_credentials;

pub(super) use discovery::overrides_folder;
pub(super) use images::ImageOverrides;
pub(super) use setting::Setting;

/// The configuration of one run.
#[derive(Debug, Clone)]
pub struct Config<'w> {
    world: World<'w>,
    /// What the command line sets; wins over all else.
    explicit: BTreeMap<String, String>,
    /// Shared by the copies that checks make for each release.
    file: Arc<Setting>,
}

impl<'w> Config<'w> {
    /// Reads the configuration: the file named by `--config`, or the one that clusterctl finds; no
    /// file at all is not a fault.
    ///
    /// # Errors
    /// When the named file is not there, or a file cannot be read as its ending says; and for a
    /// configuration on the network.
    pub fn load(world: World<'w>, flag: &str) -> Result<Self, Rejection> {
        let step = "failed to initialize the configuration reader";
        let file = if flag.is_empty() {
            discovery::file(&world)
        } else {
            Some(flag.to_owned())
        };
        let Some(file) = file else {
            return Ok(Config::empty(world));
        };
        if flag.starts_with("https://") || flag.starts_with("http://") {
            let bytes = download(world, flag).map_err(|rejection| rejection.within(step))?;
            // clusterctl stores it as clusterctl-download.yaml, whatever it is called.
            let file = formats::parse("clusterctl-download.yaml", &bytes, world.environment)
                .map_err(|rejection| rejection.within(step))?;
            return Ok(Config {
                world,
                explicit: BTreeMap::new(),
                file: Arc::new(file),
            });
        }
        let bytes = world.files.read(&file).map_err(|fault| {
            let missing = format!("stat {}: {}", without_credentials(&file), fault.reason());
            Rejection::new(missing)
                .within("failed to check if clusterctl config file exists")
                .within(step)
        })?;
        let file = formats::parse(&file, &bytes, world.environment)
            .map_err(|rejection| rejection.within(step))?;
        Ok(Config {
            world,
            explicit: BTreeMap::new(),
            file: Arc::new(file),
        })
    }

    /// A configuration without a file.
    pub fn empty(world: World<'w>) -> Self {
        Config {
            world,
            explicit: BTreeMap::new(),
            file: Arc::new(Setting::from_iter([])),
        }
    }

    /// Returns the files, environment, network and budget of the run.
    pub fn world(&self) -> World<'w> {
        self.world
    }

    /// The value of a variable of the environment, of which alone urls are made.
    pub fn environment(&self, name: &str) -> Option<String> {
        self.world.variable(name)
    }

    /// Sets a variable; wins over the environment and the file.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.explicit.insert(name.to_lowercase(), value.into());
    }

    /// The value of a variable: set explicitly, or from the environment (name in upper case, `_`
    /// for `-`; set to nothing counts as set), or from the file (case does not matter, `.`
    /// leads into mappings).
    pub fn variable(&self, name: &str) -> Option<String> {
        self.setting(name).and_then(|setting| setting.to_variable())
    }

    /// Whether the value of a variable is the file's, not the environment's.
    pub(super) fn is_of_file(&self, name: &str) -> bool {
        let is_set = self.explicit.contains_key(&name.to_lowercase())
            || self
                .world
                .variable(&name.to_uppercase().replace('-', "_"))
                .is_some();
        !is_set && self.file.get(name).is_some()
    }

    /// How much to tell: the number of `-v`, or when that is 0 the variable `CLUSTERCTL_LOG_LEVEL`.
    ///
    /// # Errors
    /// clusterctl's whole line, when the variable is not a number.
    pub fn verbosity(&self, flag: i32) -> Result<i32, String> {
        let variable = self
            .variable("CLUSTERCTL_LOG_LEVEL")
            .filter(|text| flag == 0 && !text.is_empty());
        let Some(text) = variable else {
            return Ok(flag);
        };
        go::number::atoi(&text).map(|level| i32::try_from(level).unwrap_or(i32::MAX)).map_err(|fault| {
            let shown = go::quote(&text);
            format!("Failed to convert CLUSTERCTL_LOG_LEVEL string to an int. err=strconv.Atoi: parsing {shown}: {fault}")
        })
    }

    pub(super) fn setting(&self, name: &str) -> Option<Setting> {
        if let Some(value) = self.explicit.get(&name.to_lowercase()) {
            return Some(Setting::Text(value.clone()));
        }
        if let Some(value) = self.world.variable(&name.to_uppercase().replace('-', "_")) {
            return Some(Setting::Text(value));
        }
        self.file.get(name).cloned()
    }
}

fn download(world: World<'_>, url: &str) -> Result<Vec<u8>, Rejection> {
    let step = format!(
        "failed to download the clusterctl config file from {}",
        without_credentials(url)
    );
    let network = world.network.ok_or_else(|| {
        let rejection = Rejection::new(format!(
            "{step}: this program uses the network only when it is allowed to"
        ));
        rejection.note(
            Remedy::new("pass ")
                .setting(diag::Setting::AllowNetwork)
                .then(", or download the file and pass its path"),
        )
    })?;
    network.get(&Request::new(url)).map_err(|fault| {
        fault.noted(match &fault {
            NetworkFault::Status(status) => Rejection::new(format!("{step} got {status}")),
            fault => Rejection::new(fault.to_string()).within(step),
        })
    })
}
