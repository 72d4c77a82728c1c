//! The user's documents, as `render` reads them: files and templates, their variables replaced, in
//! one pool.

use super::templates::TemplateFlags;
use super::{Context, Failure};
use crate::io::charts;
use crate::io::input::{self, Limits};
use windlass_bootstrap::render::{Origins, Pool, Request, report_undeclared};
use windlass_checks::charts::take as take_charts;
use windlass_checks::kustomize_files;
use windlass_debugging::commands::render::{self, Rendering};
use windlass_report::Sources;
use windlass_report::text::listed;
use windlass_source::Source;
use windlass_source::diag::Report;

pub(super) struct Documents {
    /// The texts, with their variables replaced.
    texts: Vec<Source>,
    /// Where each replaced variable is in the user's text.
    pub(super) origins: Origins,
    /// What findings show lines of.
    pub(super) sources: Sources,
    /// The objects; taken by those who plan topologies with it.
    pub(super) pool: Pool,
    /// What is wrong with the files, the templates and the text of the documents.
    pub(super) report: Report,
    /// Whether there is something to go on with: not when the input is a template and nobody said
    /// so, or when nothing of it could be read.
    pub(super) is_usable: bool,
}

impl Documents {
    /// Reads files, folders, and standard input.
    ///
    /// # Errors
    /// Flags that contradict each other, and a configuration of clusterctl that cannot be read.
    /// What is wrong with the files is in the report.
    pub(super) fn read(
        files: &[String],
        templates: &TemplateFlags,
        request: &Request,
        context: &mut Context<'_>,
    ) -> Result<Self, Failure> {
        if let (Some(version), Some(given)) = (&request.kubernetes_version, &request.given_version)
            && version != given
        {
            context.talk(&format!(
                "note: the Kubernetes version {given} is read as {version}"
            ));
        }
        let mut inputs = input::read(files, Limits::default(), &mut context.stdio.stdin)?;
        let skipped = kustomize_files::take(&mut inputs.sources, &request.budget);
        if let Some(files) = listed(&skipped) {
            context.talk(&format!("skipped as files of kustomize: {files}"));
        }
        let mut sources: Sources = inputs.sources.iter().cloned().collect();
        if request.show_secrets {
            sources.show_secrets();
        }
        let mut report = inputs.report;
        let folders = charts::folders(&inputs.sources);
        let operands = if context.verb == "why" { " WHAT" } else { "" };
        let command = format!("windlass {}{operands} -", context.verb);
        report.extend(take_charts(
            &mut inputs.sources,
            &folders,
            &command,
            &request.budget,
        ));
        templates.note_unused(&inputs.sources, context);
        let (texts, origins) =
            templates.substituted(context, inputs.sources, request, &mut report, &mut sources)?;
        let (pool, unreadable) = Pool::read(&texts, &request.budget);
        report.extend(unreadable);
        let is_unusable = report.has_errors() && pool.objects().is_empty();
        let is_undeclared = !templates.template && report_undeclared(&texts, &pool, &mut report);
        let is_usable = !is_undeclared && !is_unusable;
        Ok(Documents {
            texts,
            origins,
            sources,
            pool,
            report,
            is_usable,
        })
    }

    /// The findings of a rendering with those before it, at the places of the user's text, in the
    /// order of the input.
    pub(super) fn settle(&self, rendering: &mut Rendering<'_>, report: Report) -> Report {
        self.sorted(render::settle(rendering, report, &self.origins))
    }

    /// The same where machines are validated and not rendered: blocks need no value.
    pub(super) fn settle_judged(&self, rendering: &mut Rendering<'_>, report: Report) -> Report {
        self.sorted(render::settle_judged(rendering, report, &self.origins))
    }

    /// The same where not all of the data is needed: variables have to be given that `outputs`
    /// depend on.
    pub(super) fn settle_for<'o>(
        &self,
        rendering: &mut Rendering<'_>,
        report: Report,
        outputs: impl IntoIterator<Item = &'o [u8]>,
    ) -> Report {
        self.sorted(render::settle_for(
            rendering,
            report,
            &self.origins,
            outputs,
        ))
    }

    fn sorted(&self, mut report: Report) -> Report {
        report.sort(
            &self
                .texts
                .iter()
                .map(|source| source.name().as_ref())
                .collect::<Vec<_>>(),
        );
        report
    }
}
