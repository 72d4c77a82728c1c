//! The capabilities of client and server.

use ls_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    HoverProviderCapability, InitializeParams, OneOf, SaveOptions, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri,
};
use serde_json::{Value, json};

use super::positions::Encoding;

/// The capabilities of a client that the server uses.
pub(super) struct Client {
    pub(super) encoding: Encoding,
    /// Whether the client tells which files change on the disk.
    pub(super) watches_files: bool,
}

impl Client {
    pub(super) fn of(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let encodings = capabilities
            .general
            .as_ref()
            .and_then(|general| general.position_encodings.as_deref());
        let watches = capabilities
            .workspace
            .as_ref()
            .and_then(|workspace| workspace.did_change_watched_files.as_ref())
            .and_then(|files| files.dynamic_registration);
        Client {
            encoding: Encoding::negotiated(encodings.unwrap_or_default()),
            watches_files: watches == Some(true),
        }
    }
}

/// The folder of the workspace; of several the first.
pub(super) fn root(params: InitializeParams) -> Option<Uri> {
    let folder = params
        .workspace_folders
        .and_then(|folders| folders.into_iter().next());
    #[allow(deprecated, reason = "older clients name the folder in this way only")]
    folder.map(|folder| folder.uri).or(params.root_uri)
}

/// The capabilities of the server.
pub(super) fn of_server(encoding: Encoding) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
                    include_text: Some(false),
                })),
                ..TextDocumentSyncOptions::default()
            },
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(["{", "[", " "].map(str::to_owned).into()),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![
                CodeActionKind::QUICKFIX,
                CodeActionKind::REFACTOR_REWRITE,
                fix_all(),
            ]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    }
}

/// The kind of the action that applies all fixes.
pub(super) fn fix_all() -> CodeActionKind {
    CodeActionKind::from("source.fixAll.windlass")
}

/// The registration for changes of files that the editor does not have open.
pub(super) fn watched_files() -> Value {
    json!({"registrations": [{
        "id": "files",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": {"watchers": [{"globPattern": "**/*.{yaml,yml,json,toml}"}]},
    }]})
}
