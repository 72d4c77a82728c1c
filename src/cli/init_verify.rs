//! `init --verify`: what provider.yaml builds beside what kustomize builds.

use std::sync::Arc;

use super::context::To;
use super::init::kustomized;
use super::provider_file;
use super::{Context, Exit, Failure};
use windlass_provider::Matched;
use windlass_release::commands::init::verify::{self, Verified};
use windlass_release::commands::release_build::{self, Order};
use windlass_release::commands::release_diff::text;
use windlass_report::Sources;
use windlass_report::text::plural;
use windlass_source::diag::{Report, Severity};

/// Builds the provider.yaml `target` in memory and compares.
pub(super) fn run(context: &mut Context<'_>, target: &str, file: &str) -> Result<Exit, Failure> {
    let source = kustomized(context, file)?;
    let mut nothing = std::io::empty();
    let budget = Arc::clone(&context.budget);
    let mut loaded = provider_file::from_file(target, false, &mut nothing, &budget)?;
    loaded.inputs.keep_originals();
    for declared in &loaded.providers {
        // What is compared is also what a short provider.yaml takes.
        if let Some(pattern) = &declared.provider.components {
            let matched = Matched {
                files: vec![source.clone()],
                ..Matched::default()
            };
            loaded.inputs.insert(pattern.clone(), matched);
        }
    }
    let version = loaded
        .providers
        .first()
        .and_then(|declared| verify::version(declared, &loaded.inputs))
        .unwrap_or(semver::Version::new(0, 1, 0));
    let release = release_build::run(
        &loaded.providers,
        loaded.report,
        &loaded.inputs,
        Order::of(&version),
    );
    let mut sources: Sources = loaded.sources;
    sources.add(source.clone());
    let verified = verify::run(&source, &loaded.providers, &release, &budget);
    if release.is_incomplete {
        let errors: Report = release
            .report
            .into_iter()
            .filter(|finding| finding.rule.severity == Severity::Error)
            .collect();
        context.findings(&errors, &sources, To::Stderr);
    }
    Ok(tell(context, &verified, &sources, (target, file)))
}

fn tell(
    context: &mut Context<'_>,
    verified: &Verified,
    sources: &Sources,
    (target, file): (&str, &str),
) -> Exit {
    for (field, titles) in &verified.required {
        let whose = match titles.as_slice() {
            [one] => one.clone(),
            several => plural(several.len(), "object"),
        };
        context.tell(&format!("required  {field} in {whose}\n"));
    }
    let style = context.style(To::Stdout);
    let text = text::text(&verified.difference, style);
    context.out(&text);
    context.findings(&verified.report, sources, To::Stderr);
    let all = plural(verified.kustomized, "object");
    let differing = verified.difference.objects.len();
    if differing == 0 {
        context.talk(&format!(
            "{target} builds all {all} of {file} as kustomize does, except for what is required"
        ));
    } else {
        context.talk(&format!(
            "{target} builds {} of {all} of {file} as kustomize does; {differing} differ",
            verified.difference.unchanged
        ));
    }
    Exit::failing(differing > 0 || verified.report.has_errors())
}
