//! The answers to requests about documents.

use std::sync::Arc;

use ls_types::request::{
    CodeActionRequest, Completion, DocumentSymbolRequest, GotoDefinition, HoverRequest, References,
    Request,
};
use ls_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Hover, HoverContents, Location, MarkupContent,
    MarkupKind, SymbolKind, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use lsp_server::ErrorCode;
use serde_json::{Value, json};

use super::actions::{self, Action, Kind};
use super::capabilities::fix_all;
use super::checks::{self, Folder};
use super::completion;
use super::documents::{Document, Locator, folder_of};
use super::hover;
use super::navigation::{self, Target};
use super::server::{Disk, Found, Rejection, Server, json as to_json, parsed};
use windlass_checks::settings::ProjectRoles;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;

impl<D: Disk> Server<D> {
    /// The result of a request. `messages` are sent before it.
    pub(super) fn answer(
        &mut self,
        method: &str,
        params: Value,
        messages: &mut Vec<Value>,
    ) -> Result<Value, Rejection> {
        match method {
            HoverRequest::METHOD => {
                let params: ls_types::HoverParams = parsed(params)?;
                Ok(self.hover(&params.text_document_position_params))
            }
            Completion::METHOD => {
                let params: ls_types::CompletionParams = parsed(params)?;
                Ok(self.completion(&params.text_document_position))
            }
            GotoDefinition::METHOD => {
                let params: ls_types::GotoDefinitionParams = parsed(params)?;
                let at = &params.text_document_position_params;
                Ok(self.targets(at, |subject, offset| subject.definition(offset)))
            }
            References::METHOD => {
                let params: ls_types::ReferenceParams = parsed(params)?;
                let with_definition = params.context.include_declaration;
                Ok(
                    self.targets(&params.text_document_position, |subject, offset| {
                        subject.references(offset, with_definition)
                    }),
                )
            }
            DocumentSymbolRequest::METHOD => {
                let params: ls_types::DocumentSymbolParams = parsed(params)?;
                Ok(self.symbols(&params.text_document.uri))
            }
            CodeActionRequest::METHOD => {
                let params: ls_types::CodeActionParams = parsed(params)?;
                let uri = params.text_document.uri.as_str();
                // Fixes are those of the newest version.
                if self.changed.contains(uri) {
                    messages.extend(self.check(uri));
                }
                Ok(self.actions(&params))
            }
            _ => Err(Rejection(
                ErrorCode::MethodNotFound,
                format!("`{method}` is not supported"),
            )),
        }
    }

    /// A document and a byte of it.
    fn at(&self, params: &TextDocumentPositionParams) -> Option<(&Document, usize)> {
        let document = self.documents.get(&params.text_document.uri)?;
        Some((document, document.offset(params.position)))
    }

    /// The folder of a document, in which it is the only one that is checked.
    fn folder(&self, document: &Document) -> Folder {
        let mut open = vec![document];
        if document.is_file {
            let others = self
                .documents
                .in_folder(folder_of(document.source.name()))
                .filter(|other| other.uri != document.uri);
            open.extend(others);
        }
        Folder {
            open: [document.source.name().clone()].into(),
            ..self.folder_of_documents(&open, &mut Vec::new())
        }
    }

    fn hover(&self, params: &TextDocumentPositionParams) -> Value {
        let Some((document, offset)) = self.at(params) else {
            return Value::Null;
        };
        let (mut parts, mut range) = (Vec::new(), None);
        let key = document.uri.as_str();
        if let Some(found) = self.found.get(key).filter(|_| !self.changed.contains(key)) {
            let is_here = |range: &ls_types::Range| {
                range.start <= params.position && params.position <= range.end
            };
            let here = found
                .published
                .iter()
                .zip(&found.shown)
                .filter(|(published, _)| is_here(&published.range));
            parts.extend(hover::of_findings(here.map(|(_, shown)| shown)));
        }
        let sources = self.folder(document).sources;
        let budget = Budget::default();
        let subject = hover::Subject {
            source: &document.source,
            sources: &sources,
            budget: &budget,
        };
        if let Some(shown) = subject.at(offset) {
            parts.push(shown.markdown);
            range = Some(document.range(shown.range));
        }
        if parts.is_empty() {
            return Value::Null;
        }
        to_json(&Hover {
            contents: HoverContents::Markup(MarkupContent {
                kind: MarkupKind::Markdown,
                value: parts.join("\n\n---\n\n"),
            }),
            range,
        })
    }

    fn completion(&self, params: &TextDocumentPositionParams) -> Value {
        let Some((document, offset)) = self.at(params) else {
            return Value::Null;
        };
        let sources = self.folder(document).sources;
        let items = completion::complete(document, offset, &sources, &Budget::default());
        json!({"isIncomplete": false, "items": items})
    }

    fn targets(
        &self,
        params: &TextDocumentPositionParams,
        find: impl FnOnce(&navigation::Subject<'_>, usize) -> Vec<Target>,
    ) -> Value {
        let Some((document, offset)) = self.at(params) else {
            return Value::Null;
        };
        let sources = self.folder(document).sources;
        let budget = Budget::default();
        let subject = navigation::Subject {
            source: &document.source,
            sources: &sources,
            budget: &budget,
        };
        let locator = Locator::new(&self.documents, self.encoding);
        let mut locations: Vec<Location> = find(&subject, offset)
            .into_iter()
            .filter_map(|(source, range)| locator.location(&source, range))
            .collect();
        locations.dedup();
        to_json(&locations)
    }

    fn symbols(&self, uri: &Uri) -> Value {
        let Some(document) = self.documents.get(uri) else {
            return Value::Null;
        };
        let symbol = |symbol: navigation::Symbol| {
            let kind = match symbol.is_class {
                true => SymbolKind::CLASS,
                false => SymbolKind::OBJECT,
            };
            json!({
                "name": symbol.name,
                "detail": symbol.api_version,
                "kind": kind,
                "range": document.range(symbol.range),
                "selectionRange": document.range(symbol.selection),
            })
        };
        let symbols = navigation::symbols(&document.source, &Budget::default());
        symbols.into_iter().map(symbol).collect()
    }

    fn actions(&self, params: &ls_types::CodeActionParams) -> Value {
        let uri = &params.text_document.uri;
        let Some(document) = self.documents.get(uri) else {
            return Value::Null;
        };
        let nothing = Found::default();
        let found = self.found.get(uri.as_str()).unwrap_or(&nothing);
        let budget = Arc::new(Budget::default());
        let folder = self.folder(document);
        let disk = &self.disk;
        let build =
            |provider: &Source, roles: &ProjectRoles, reported: &Report, budget: &Arc<Budget>| {
                disk.build(provider, roles, reported, budget)
            };
        let check = |source: &Source| {
            let mut folder = folder.clone();
            let own = folder.sources.iter_mut();
            own.filter(|own| own.name() == source.name())
                .for_each(|own| *own = source.clone());
            checks::check(&folder, &build, &Arc::new(Budget::default())).report
        };
        let subject = actions::Subject {
            source: &document.source,
            findings: &found.findings,
            shown: &found.shown,
            check: &check,
            budget: &budget,
        };
        let touches = |range: &ls_types::Range| {
            range.start <= params.range.end && params.range.start <= range.end
        };
        let numbers: Vec<usize> = (0..found.published.len())
            .filter(|number| touches(&found.published[*number].range))
            .collect();
        let mut actions = Vec::new();
        if wants(params, &CodeActionKind::QUICKFIX) {
            actions.extend(subject.of_findings(&numbers));
        }
        if wants(params, &CodeActionKind::REFACTOR_REWRITE) {
            actions.extend(subject.migration(document.offset(params.range.start)));
        }
        let names_fix_all = params.context.only.is_some() && wants(params, &fix_all());
        if names_fix_all {
            actions.extend(subject.fix_all());
        }
        let write = |action| CodeActionOrCommand::CodeAction(write(action, document, found));
        let actions: Vec<CodeActionOrCommand> = actions.into_iter().map(write).collect();
        to_json(&actions)
    }
}

/// Whether a client asks for actions of a kind.
fn wants(params: &ls_types::CodeActionParams, kind: &CodeActionKind) -> bool {
    let is_of = |wanted: &CodeActionKind| {
        let wanted = wanted.as_str();
        let rest = kind.as_str().strip_prefix(wanted);
        wanted.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let only = params.context.only.as_ref();
    only.is_none_or(|kinds| kinds.iter().any(is_of))
}

/// An action with its edits.
fn write(action: Action, document: &Document, found: &Found) -> CodeAction {
    let edits: Vec<TextEdit> = action
        .changes
        .into_iter()
        .map(|change| TextEdit {
            range: document.range(change.range),
            new_text: change.with,
        })
        .collect();
    let diagnostics: Vec<ls_types::Diagnostic> = action
        .findings
        .iter()
        .map(|number| found.published[*number].clone())
        .collect();
    let changes = [(document.uri.clone(), edits)].into_iter().collect();
    CodeAction {
        title: action.title,
        kind: Some(match action.kind {
            Kind::Fix | Kind::Step => CodeActionKind::QUICKFIX,
            Kind::FixAll => fix_all(),
            Kind::Rewrite => CodeActionKind::REFACTOR_REWRITE,
        }),
        diagnostics: Some(diagnostics).filter(|diagnostics| !diagnostics.is_empty()),
        edit: Some(WorkspaceEdit {
            changes: Some(changes),
            ..WorkspaceEdit::default()
        }),
        is_preferred: Some(action.kind == Kind::Fix).filter(|is_preferred| *is_preferred),
        ..CodeAction::default()
    }
}
