//! What can be reported from a kubeconfig without the cluster: whether there is one, and which
//! namespace it names.

use std::collections::BTreeMap;

use serde_json::Value;

use super::files::FileFault;
use super::{Rejection, World, documents};
use windlass_go_text as go;
use windlass_go_text::path::join;
use windlass_objects::fields;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kubeconfig {
    /// From `--kubeconfig`.
    explicit: Option<String>,
    /// Where it is looked for otherwise.
    precedence: Vec<String>,
    /// `--kubeconfig-context`, or the current one.
    context: String,
    /// The namespace of each context.
    contexts: BTreeMap<String, String>,
    is_empty: bool,
}

impl Kubeconfig {
    /// Reads the file of the flag, or those of `KUBECONFIG`, or `~/.kube/config`; what is set first
    /// counts.
    pub(super) fn load(world: World<'_>, path: &str, context: &str) -> Result<Self, Rejection> {
        let step = |rejection: Rejection| rejection.within("failed to load Kubeconfig");
        let precedence = match world.variable("KUBECONFIG").filter(|list| !list.is_empty()) {
            Some(list) => list
                .split(':')
                .filter(|path| !path.is_empty())
                .map(str::to_owned)
                .collect(),
            None => vec![join(&[
                &world.variable("HOME").unwrap_or_default(),
                ".kube",
                "config",
            ])],
        };
        let explicit = Some(path.to_owned()).filter(|path| !path.is_empty());
        let mut config = Kubeconfig {
            explicit,
            precedence,
            context: context.to_owned(),
            contexts: BTreeMap::new(),
            is_empty: true,
        };
        let files = config
            .explicit
            .clone()
            .map_or_else(|| config.precedence.clone(), |path| vec![path]);
        let mut current = String::new();
        for file in files {
            let bytes = match world.files.read(&file) {
                Ok(bytes) => bytes,
                Err(FileFault::Missing) if config.explicit.is_none() => continue,
                Err(fault) => {
                    return Err(step(Rejection::new(format!(
                        "stat {file}: {}",
                        fault.reason()
                    ))));
                }
            };
            let shown = go::quote(&file);
            let root = documents::first(&bytes, world.budget).map_err(|fault| {
                step(fault.within(format!("error loading config file {shown}")))
            })?;
            config.add(&root, &mut current);
        }
        if config.context.is_empty() {
            config.context = current;
        }
        Ok(config)
    }

    fn add(&mut self, root: &Value, current: &mut String) {
        let named = |list: &str| {
            fields::field(root, &[list])
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        for context in named("contexts") {
            let namespace = fields::text(context, &["context", "namespace"]).to_owned();
            self.contexts
                .entry(fields::text(context, &["name"]).to_owned())
                .or_insert(namespace);
        }
        if current.is_empty() {
            fields::text(root, &["current-context"]).clone_into(current);
        }
        let holds_something = ["clusters", "users", "contexts"]
            .iter()
            .any(|list| named(list).next().is_some());
        self.is_empty = self.is_empty && !holds_something && current.is_empty();
    }

    /// Whether clusterctl would have a cluster to talk to; it need not be reachable.
    pub(super) fn check_available(&self) -> Result<(), Rejection> {
        let fault = if self.is_empty {
            "no configuration has been provided, try setting KUBERNETES_MASTER environment variable"
                .to_owned()
        } else if !self.contexts.contains_key(&self.context) {
            if self.context.is_empty() {
                "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable".to_owned()
            } else {
                format!("context {} does not exist", go::quote(&self.context))
            }
        } else {
            return Ok(());
        };
        Err(Rejection::new(format!(
            "clusterctl requires either a valid kubeconfig or in cluster config to connect to the management cluster: [{fault}, unable to load \
             in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined]"
        )))
    }

    /// The namespace of the context; `default` when it names none.
    pub(super) fn namespace(&self) -> Result<String, Rejection> {
        match self.contexts.get(&self.context) {
            Some(namespace) if namespace.is_empty() => Ok("default".to_owned()),
            Some(namespace) => Ok(namespace.clone()),
            None => {
                let from = match &self.explicit {
                    Some(path) => go::quote(path),
                    None => {
                        let paths: Vec<String> =
                            self.precedence.iter().map(|path| go::quote(path)).collect();
                        format!("[{}]", paths.join(" "))
                    }
                };
                Err(Rejection::new(format!(
                    "failed to get context {} from {from}",
                    go::quote(&self.context)
                )))
            }
        }
    }
}
