//! Input that is a template of clusterctl: `--template` and `--var`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use clap::Args;

use super::{Context, Failure, clusterctl};
use crate::io::clusterctl_files::Disk;
use windlass_bootstrap::render::{Origins, Request, Variables};
use windlass_clusterctl::{Config, World};
use windlass_envsubst as envsubst;
use windlass_objects::secrets::is_secret_variable;
use windlass_report::Sources;
use windlass_source::Source;
use windlass_source::diag::Report;
use windlass_source::nearest::nearest;

/// Whether the input is a template, and the values of its variables.
#[derive(Args)]
pub(super) struct TemplateFlags {
    /// Replace clusterctl's variables first
    ///
    /// Values are those of --var, of the environment, of the file of --config, and clusterctl's
    /// own defaults. Variables that nothing rendered needs may be left out. Findings stand
    /// where the template has the text. Without this flag ${NAME} is data.
    #[arg(long)]
    pub(super) template: bool,
    /// The value of a variable, before those of the environment and of the file of --config
    #[arg(long, value_name = "NAME=VALUE", requires = "template")]
    var: Vec<String>,
}

impl TemplateFlags {
    /// The texts with their variables replaced, when the input is a template. What `shown` hides
    /// has the values of variables that hold secrets then.
    ///
    /// # Errors
    /// Flags that contradict each other, or a configuration that cannot be read.
    pub(super) fn substituted(
        &self,
        context: &Context<'_>,
        sources: Vec<Source>,
        request: &Request,
        report: &mut Report,
        shown: &mut Sources,
    ) -> Result<(Vec<Source>, Origins), Failure> {
        if !self.template {
            if context.global.config.is_some() {
                let message = "`--config` has values of variables, and none is replaced";
                return Err(Failure::usage(
                    message,
                    "pass `--template` too, or leave `--config` out",
                ));
            }
            return Ok((sources, Origins::default()));
        }
        let mut flags = BTreeMap::new();
        for variable in &self.var {
            let Some((name, value)) = variable.split_once('=') else {
                return Err(Failure::usage(
                    format!("`--var {variable}` has no value"),
                    format!("write `--var {variable}=VALUE`"),
                ));
            };
            if name.is_empty() {
                return Err(Failure::usage(
                    format!("`--var {variable}` names no variable"),
                    format!("write `--var NAME{variable}`"),
                ));
            }
            flags.insert(name, value);
        }
        let lookup = clusterctl::environment_of(context.environment);
        let world = World {
            files: &Disk,
            environment: &lookup,
            network: None,
            budget: &request.budget,
        };
        let config = context.global.config.as_deref().map_or_else(
            || Ok(Config::empty(world)),
            |file| Config::load(world, file),
        );
        let config = config.map_err(|rejection| {
            Failure::usage(
                rejection.message(),
                "`--config` names a configuration of clusterctl",
            )
        })?;
        // clusterctl's order: its flags, the environment, the file.
        let given = |name: &str| {
            flags
                .get(name)
                .map(|value| (*value).to_owned())
                .or_else(|| config.variable(name))
        };
        let secrets = RefCell::new(BTreeSet::new());
        let noted = |name: &str| {
            let value = given(name)?;
            if is_secret_variable(name) {
                secrets.borrow_mut().insert(value.clone());
            }
            Some(value)
        };
        let (texts, origins, found) = Origins::substitute(
            sources,
            Variables {
                given: &noted,
                request,
            },
            &request.budget,
        );
        report.extend(found);
        texts
            .iter()
            .cloned()
            .for_each(|text| shown.add_unseen(text));
        shown.add_secrets(secrets.into_inner());
        Ok((texts, origins))
    }

    /// Says which of the given variables no template has.
    pub(super) fn note_unused(&self, sources: &[Source], context: &mut Context<'_>) {
        if self.var.is_empty() {
            return;
        }
        let parsed: Result<Vec<_>, _> = sources
            .iter()
            .map(|source| envsubst::parse(source.text()))
            .collect();
        // The variables of a template that is rejected are unknown.
        let Ok(parsed) = parsed else {
            return;
        };
        let known: BTreeSet<String> = parsed
            .iter()
            .flat_map(|template| template.variables().into_keys())
            .collect();
        let names = self.var.iter().filter_map(|given| given.split_once('='));
        let is_unused = |(name, _): &(&str, &str)| !name.is_empty() && !known.contains(*name);
        for (name, _) in names.filter(is_unused) {
            let near = nearest(name, known.iter().map(String::as_str))
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            context.talk(&format!("note: no template has the variable {name}{near}"));
        }
    }
}
