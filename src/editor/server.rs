//! The state of the server, and which message gets which answer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use ls_types::notification::{
    Cancel, DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, Exit, Initialized, LogMessage, Notification,
    PublishDiagnostics,
};
use ls_types::request::{Initialize, RegisterCapability, Request, Shutdown};
use ls_types::{
    InitializeParams, InitializeResult, LogMessageParams, MessageType, PublishDiagnosticsParams,
    ServerInfo, Uri,
};
use lsp_server::{ErrorCode, Message, RequestId};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::capabilities;
use super::checks::{self, Checked, Folder};
use super::diagnostics::Writer;
use super::documents::{Document, Documents, Locator, folder_of, name_of};
use super::positions::Encoding;
use windlass_checks::settings::ProjectRoles;
use windlass_checks::settings::SETTINGS_FILE;
use windlass_provider::KUSTOMIZATION_FILES;
use windlass_report::{Sources, without_secrets};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report};

/// The files that the server reads. Files are named by their paths, with `/` between the parts.
pub trait Disk {
    /// The YAML and JSON files of a folder, without those below it; `None` when they are too many
    /// or too large to be checked while someone types.
    fn folder(&self, folder: &str) -> Option<Vec<Source>>;

    /// A file, if it can be read.
    fn file(&self, name: &str) -> Option<Source>;

    /// Whether a folder is the root of a repository.
    fn is_repository(&self, folder: &str) -> bool;

    /// The findings of `release build` about a provider.yaml in addition to `reported`, and the files
    /// that were read.
    ///
    /// # Errors
    /// The message about a file that cannot be read.
    fn build(
        &self,
        provider: &Source,
        roles: &ProjectRoles,
        reported: &Report,
        budget: &Arc<Budget>,
    ) -> Result<(Report, Sources), String>;
}

/// A message of the client, or why it cannot be read.
pub type Incoming = Result<Message, String>;

/// The findings about an open document.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// As they are, with their fixes.
    pub(super) findings: Vec<Diagnostic>,
    /// As they were published, in the same order.
    pub(super) published: Vec<ls_types::Diagnostic>,
    /// As they are shown, without secrets, in the same order.
    pub(super) shown: Vec<Diagnostic>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
}

/// A language server.
pub struct Server<D> {
    pub(super) disk: D,
    pub(super) documents: Documents,
    pub(super) encoding: Encoding,
    phase: Phase,
    /// The folder of the workspace, without a slash at its end; empty when there is none.
    pub(super) root: String,
    watches_files: bool,
    /// The documents whose findings may have changed, by URI.
    pub(super) changed: BTreeSet<String>,
    pub(super) found: BTreeMap<String, Found>,
    /// The messages that were logged.
    logged: BTreeSet<String>,
    /// The request that is being answered.
    current: Option<RequestId>,
    /// Whether the client has ended the session, and whether it was shut down before.
    exit: Option<bool>,
}

/// The error that a request gets in place of a result.
pub(super) struct Rejection(pub(super) ErrorCode, pub(super) String);

impl<D: Disk> Server<D> {
    /// A server that waits for the client's `initialize`.
    pub fn new(disk: D) -> Self {
        Server {
            disk,
            documents: Documents::default(),
            encoding: Encoding::Utf16,
            phase: Phase::New,
            root: String::new(),
            watches_files: false,
            changed: BTreeSet::new(),
            found: BTreeMap::new(),
            logged: BTreeSet::new(),
            current: None,
            exit: None,
        }
    }

    /// Whether the client has ended the session; the value is whether it did so in order.
    pub fn exit(&self) -> Option<bool> {
        self.exit
    }

    /// Whether there is work without a further message.
    pub fn has_work(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Handles the first message of the queue, or checks documents that changed; returns what the
    /// client gets. A document is checked when no further message waits, so that only its newest
    /// version is.
    pub fn next(&mut self, queue: &mut VecDeque<Incoming>) -> Vec<Value> {
        match queue.pop_front() {
            None => self.check_next(),
            Some(Err(reason)) => vec![error(None, ErrorCode::ParseError, &reason)],
            Some(Ok(Message::Request(request))) if is_cancelled(&request.id, queue) => {
                let message = "the client cancelled the request";
                vec![error(
                    Some(&request.id),
                    ErrorCode::RequestCanceled,
                    message,
                )]
            }
            Some(Ok(Message::Request(request))) => self.request(request),
            Some(Ok(Message::Notification(notification))) => {
                self.notification(&notification.method, notification.params)
            }
            Some(Ok(Message::Response(_))) => Vec::new(),
        }
    }

    /// The messages for the client after a panic at a location of this program. The documents are
    /// still as the client has them.
    pub fn panicked(&mut self, location: &str) -> Vec<Value> {
        let message = format!(
            "windlass {} has a bug at {location}; report it with the document that you edited",
            env!("CARGO_PKG_VERSION")
        );
        let log = log(MessageType::ERROR, message.clone());
        let id = self.current.take();
        let answer = id.map(|id| error(Some(&id), ErrorCode::InternalError, &message));
        answer.into_iter().chain([log]).collect()
    }

    fn request(&mut self, request: lsp_server::Request) -> Vec<Value> {
        let lsp_server::Request { id, method, params } = request;
        self.current = Some(id.clone());
        let mut messages = Vec::new();
        let result = match (self.phase, method.as_str()) {
            (Phase::New, Initialize::METHOD) => {
                parsed(params).map(|params| self.initialize(params))
            }
            (Phase::New, _) => Err(Rejection(
                ErrorCode::ServerNotInitialized,
                "the first request must be `initialize`".to_owned(),
            )),
            (Phase::ShutDown, _) => Err(Rejection(
                ErrorCode::InvalidRequest,
                "the server is shut down".to_owned(),
            )),
            (Phase::Running, Initialize::METHOD) => Err(Rejection(
                ErrorCode::InvalidRequest,
                "the server is already initialized".to_owned(),
            )),
            (Phase::Running, Shutdown::METHOD) => {
                self.phase = Phase::ShutDown;
                Ok(Value::Null)
            }
            (Phase::Running, method) => self.answer(method, params, &mut messages),
        };
        self.current = None;
        messages.push(match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(Rejection(code, message)) => error(Some(&id), code, &message),
        });
        messages
    }

    fn initialize(&mut self, params: InitializeParams) -> Value {
        let client = capabilities::Client::of(&params);
        self.phase = Phase::Running;
        self.encoding = client.encoding;
        self.watches_files = client.watches_files;
        self.root = capabilities::root(params)
            .map(|uri| name_of(&uri))
            .map_or_else(String::new, |name| name.trim_end_matches('/').to_owned());
        let result = InitializeResult {
            capabilities: capabilities::of_server(self.encoding),
            server_info: Some(ServerInfo {
                name: "windlass".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            ..InitializeResult::default()
        };
        json(&result)
    }

    fn notification(&mut self, method: &str, params: Value) -> Vec<Value> {
        if method == Exit::METHOD {
            self.exit = Some(self.phase == Phase::ShutDown);
            return Vec::new();
        }
        if self.phase != Phase::Running {
            return Vec::new();
        }
        match method {
            Initialized::METHOD if self.watches_files => {
                return vec![json!({
                    "jsonrpc": "2.0",
                    "id": "watch-files",
                    "method": RegisterCapability::METHOD,
                    "params": capabilities::watched_files(),
                })];
            }
            DidOpenTextDocument::METHOD => self.with(params, Self::opened),
            DidChangeTextDocument::METHOD => self.with(params, Self::edited),
            DidSaveTextDocument::METHOD => self.with(params, Self::saved),
            DidChangeWatchedFiles::METHOD => self.with(params, Self::files_changed),
            DidCloseTextDocument::METHOD => {
                return self.closed(params);
            }
            // Clients may send more than they were offered.
            _ => {}
        }
        Vec::new()
    }

    /// Handles a notification if its parameters are valid. The protocol has no reply to an invalid
    /// notification.
    fn with<P: DeserializeOwned>(&mut self, params: Value, handle: impl FnOnce(&mut Self, P)) {
        if let Ok(params) = serde_json::from_value(params) {
            handle(self, params);
        }
    }

    fn opened(&mut self, params: ls_types::DidOpenTextDocumentParams) {
        let item = params.text_document;
        let uri = item.uri.clone();
        self.documents.insert(Document::new(
            item.uri,
            item.version,
            item.text,
            self.encoding,
        ));
        self.changed(&uri);
    }

    fn edited(&mut self, params: ls_types::DidChangeTextDocumentParams) {
        let ls_types::VersionedTextDocumentIdentifier { uri, version } = params.text_document;
        if let Some(document) = self.documents.get_mut(&uri) {
            document.change(version, params.content_changes);
            self.changed(&uri);
        }
    }

    fn saved(&mut self, params: ls_types::DidSaveTextDocumentParams) {
        self.changed(&params.text_document.uri);
    }

    fn files_changed(&mut self, params: ls_types::DidChangeWatchedFilesParams) {
        let is_of_many = |name: &str| {
            let file = name.rsplit('/').next().unwrap_or_default();
            file == SETTINGS_FILE || KUSTOMIZATION_FILES.contains(&file)
        };
        for change in params.changes {
            // Settings and kustomizations count for the folders below, too.
            if is_of_many(&name_of(&change.uri)) {
                self.changed.extend(
                    self.documents
                        .iter()
                        .map(|document| document.uri.as_str().to_owned()),
                );
            }
            self.changed(&change.uri);
        }
    }

    /// Forgets a document. Its diagnostics go with it.
    fn closed(&mut self, params: Value) -> Vec<Value> {
        let Ok(params) = serde_json::from_value::<ls_types::DidCloseTextDocumentParams>(params)
        else {
            return Vec::new();
        };
        let uri = params.text_document.uri;
        if self.documents.remove(&uri).is_none() {
            return Vec::new();
        }
        self.changed.remove(uri.as_str());
        self.found.remove(uri.as_str());
        self.changed(&uri);
        vec![notification::<PublishDiagnostics>(
            PublishDiagnosticsParams {
                uri,
                diagnostics: Vec::new(),
                version: None,
            },
        )]
    }

    /// Notes that a file changed: the open files of its folder may have other findings. After a
    /// change of the settings all may.
    fn changed(&mut self, uri: &Uri) {
        let name = name_of(uri);
        let folder = folder_of(&name);
        let is_settings = name.rsplit('/').next() == Some(SETTINGS_FILE);
        let affected = self.documents.iter().filter(|document| {
            &document.uri == uri
                || document.is_file && (is_settings || folder_of(document.source.name()) == folder)
        });
        let affected: Vec<String> = affected
            .map(|document| document.uri.as_str().to_owned())
            .collect();
        self.changed.extend(affected);
    }

    /// Checks a changed document, with the others of its folder.
    fn check_next(&mut self) -> Vec<Value> {
        match self.changed.first().cloned() {
            Some(uri) => self.check(&uri),
            None => Vec::new(),
        }
    }

    /// Checks a document, with the others of its folder.
    pub(super) fn check(&mut self, uri: &str) -> Vec<Value> {
        self.changed.remove(uri);
        let Some(document) = self.documents.by_uri(uri) else {
            return Vec::new();
        };
        let open: Vec<&Document> = match document.is_file {
            true => self
                .documents
                .in_folder(folder_of(document.source.name()))
                .collect(),
            false => vec![document],
        };
        let uris: Vec<String> = open
            .iter()
            .map(|document| document.uri.as_str().to_owned())
            .collect();
        let mut notes = Vec::new();
        let folder = self.folder_of_documents(&open, &mut notes);
        // A panic must not make it the next one again.
        uris.iter().for_each(|uri| {
            self.changed.remove(uri);
        });
        let budget = Arc::new(Budget::default());
        let disk = &self.disk;
        let build =
            |provider: &Source, roles: &ProjectRoles, reported: &Report, budget: &Arc<Budget>| {
                disk.build(provider, roles, reported, budget)
            };
        let mut checked = checks::check(&folder, &build, &budget);
        notes.append(&mut checked.notes);
        let mut messages = self.logged(notes);
        messages.extend(self.publish(&uris, checked));
        messages
    }

    /// Logs what was not checked, each thing once.
    fn logged(&mut self, notes: Vec<String>) -> Vec<Value> {
        let new = notes
            .into_iter()
            .filter(|note| self.logged.insert(note.clone()));
        new.map(|note| log(MessageType::WARNING, note)).collect()
    }

    /// Publishes the findings about documents, with an empty list where the last finding is gone.
    fn publish(&mut self, uris: &[String], checked: Checked) -> Vec<Value> {
        let Checked {
            report, sources, ..
        } = checked;
        let shown = without_secrets(&report, &sources);
        let writer = Writer {
            locator: Locator::new(&self.documents, self.encoding),
            sources: &sources,
            root: &self.root,
        };
        let mut messages = Vec::new();
        for uri in uris {
            let Some(document) = self.documents.by_uri(uri) else {
                continue;
            };
            let mut found = Found::default();
            for (finding, shown) in report.findings().iter().zip(shown.findings()) {
                if finding.place.file.as_ref() == Some(document.source.name()) {
                    found.findings.push(finding.clone());
                    found.published.push(writer.diagnostic(shown, document));
                    found.shown.push(shown.clone());
                }
            }
            messages.push(notification::<PublishDiagnostics>(
                PublishDiagnosticsParams {
                    uri: document.uri.clone(),
                    diagnostics: found.published.clone(),
                    version: Some(document.version),
                },
            ));
            self.found.insert(uri.clone(), found);
        }
        messages
    }

    /// The folder of open documents, with what is beside them and above.
    pub(super) fn folder_of_documents(
        &self,
        open: &[&Document],
        notes: &mut Vec<String>,
    ) -> Folder {
        let mut folder = Folder {
            open: open
                .iter()
                .map(|document| document.source.name().clone())
                .collect(),
            ..Folder::default()
        };
        let is_yaml = |document: &&&Document| !document.source.name().ends_with(".toml");
        folder.sources = open
            .iter()
            .filter(is_yaml)
            .map(|document| document.source.clone())
            .collect();
        let Some(first) = open.first().filter(|document| document.is_file) else {
            return folder;
        };
        let own = folder_of(first.source.name());
        let beside = self.disk.folder(own).unwrap_or_else(|| {
            notes.push(format!(
                "{own} has too many or too large files, so its open files are checked alone"
            ));
            Vec::new()
        });
        let unopened = beside
            .into_iter()
            .filter(|source| !folder.open.contains(source.name()));
        folder.sources.extend(unopened);
        folder.sources.sort_by(|a, b| a.name().cmp(b.name()));
        let read = |folder: &str, file: &str| self.file(&format!("{folder}/{file}"));
        let above = self.above(own);
        folder.settings = std::iter::once(own)
            .chain(above.iter().copied())
            .find_map(|folder| read(folder, SETTINGS_FILE));
        let kustomization = |folder| {
            let mut files = KUSTOMIZATION_FILES.iter();
            files.find_map(|file| read(folder, file))
        };
        folder.above = above.into_iter().filter_map(kustomization).collect();
        folder
    }

    /// A file as it is in the editor, or on the disk.
    fn file(&self, name: &str) -> Option<Source> {
        match self.documents.named(name) {
            Some(document) => Some(document.source.clone()),
            None => self.disk.file(name),
        }
    }

    /// The folders above one, nearest first, up to the root of the repository; without a repository
    /// up to the folder of the workspace.
    fn above<'f>(&self, folder: &'f str) -> Vec<&'f str> {
        if self.disk.is_repository(folder) {
            return Vec::new();
        }
        let next = |folder: &&'f str| Some(folder_of(folder)).filter(|above| !above.is_empty());
        let above: Vec<&str> = std::iter::successors(Some(folder), next).skip(1).collect();
        let end = above
            .iter()
            .position(|folder| self.disk.is_repository(folder))
            .or_else(|| above.iter().position(|folder| *folder == self.root));
        above
            .into_iter()
            .take(end.map_or(0, |end| end + 1))
            .collect()
    }
}

/// Whether a message that waits cancels a request.
fn is_cancelled(id: &RequestId, queue: &VecDeque<Incoming>) -> bool {
    let id = json(id);
    queue.iter().any(|message| match message {
        Ok(Message::Notification(notification)) => {
            notification.method == Cancel::METHOD && notification.params["id"] == id
        }
        _ => false,
    })
}

pub(super) fn parsed<P: DeserializeOwned>(params: Value) -> Result<P, Rejection> {
    serde_json::from_value(params).map_err(|error| {
        Rejection(
            ErrorCode::InvalidParams,
            format!("the parameters cannot be read: {error}"),
        )
    })
}

/// A value of the protocol as JSON. Its keys are always strings, so this cannot fail.
pub(super) fn json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("internal error: values of the protocol are JSON")
}

fn error(id: Option<&RequestId>, code: ErrorCode, message: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id.map_or(Value::Null, json),
        "error": {"code": code as i32, "message": message},
    })
}

fn log(level: MessageType, message: String) -> Value {
    notification::<LogMessage>(LogMessageParams {
        typ: level,
        message,
    })
}

fn notification<N: Notification>(params: N::Params) -> Value
where
    N::Params: serde::Serialize,
{
    json!({"jsonrpc": "2.0", "method": N::METHOD, "params": json(&params)})
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Files in memory; the disk fails where there are none.
    #[derive(Default)]
    struct Memory {
        files: BTreeMap<String, String>,
        is_too_large: bool,
        panics: bool,
    }

    impl Disk for Memory {
        fn folder(&self, folder: &str) -> Option<Vec<Source>> {
            assert!(!self.panics, "internal error: as asked");
            let of_folder = self
                .files
                .iter()
                .filter(|(name, _)| folder_of(name) == folder && name.ends_with(".yaml"));
            let sources = of_folder.map(|(name, text)| Source::new(name.as_str(), text.as_str()));
            (!self.is_too_large).then(|| sources.collect())
        }

        fn file(&self, name: &str) -> Option<Source> {
            let text = self.files.get(name)?;
            Some(Source::new(name, text.as_str()))
        }

        fn is_repository(&self, folder: &str) -> bool {
            folder == "/repository"
        }

        fn build(
            &self,
            _: &Source,
            _: &ProjectRoles,
            _: &Report,
            _: &Arc<Budget>,
        ) -> Result<(Report, Sources), String> {
            Err("it cannot be read".to_owned())
        }
    }

    fn message(message: Value) -> Incoming {
        Ok(serde_json::from_value(message).unwrap())
    }

    /// Sends messages; all answers, those of checks included.
    fn send(server: &mut Server<Memory>, messages: Vec<Value>) -> Vec<Value> {
        let mut queue: VecDeque<Incoming> = messages.into_iter().map(message).collect();
        let mut answers = Vec::new();
        while !queue.is_empty() || server.has_work() {
            let next = catch_unwind(AssertUnwindSafe(|| server.next(&mut queue)));
            answers.extend(next.unwrap_or_else(|_| server.panicked("src/x.rs:1:2")));
        }
        answers
    }

    fn server(disk: Memory) -> Server<Memory> {
        let mut server = Server::new(disk);
        let initialize = json!({"id": 1, "method": "initialize", "params": {"capabilities": {}}});
        send(&mut server, vec![initialize]);
        server
    }

    fn open(uri: &str, text: &str) -> Value {
        json!({"method": "textDocument/didOpen", "params": {"textDocument": {
            "uri": uri, "languageId": "yaml", "version": 1, "text": text,
        }}})
    }

    const CONFIG: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\n\
                          metadata: {name: a}\nspec: {fils: []}\n";

    fn codes(answers: &[Value]) -> Vec<&str> {
        let diagnostics = answers
            .iter()
            .filter_map(|answer| answer["params"]["diagnostics"].as_array());
        diagnostics
            .flatten()
            .filter_map(|diagnostic| diagnostic["code"].as_str())
            .collect()
    }

    #[test]
    fn answers_after_a_panic() {
        let mut server = server(Memory {
            panics: true,
            ..Memory::default()
        });
        let hover = json!({"id": 2, "method": "textDocument/hover", "params": {
            "textDocument": {"uri": "file:///a/b.yaml"}, "position": {"line": 0, "character": 2},
        }});
        let answers = send(
            &mut server,
            vec![open("file:///a/b.yaml", CONFIG), hover.clone()],
        );
        assert_eq!(answers[0]["error"]["code"], -32603, "{answers:?}");
        let logged: Vec<_> = answers
            .iter()
            .filter_map(|answer| answer["params"]["message"].as_str())
            .collect();
        assert_eq!(logged.len(), 2, "{answers:?}");
        assert!(
            logged
                .iter()
                .all(|line| line.contains("has a bug at src/x.rs:1:2"))
        );
        assert!(!server.has_work(), "it is not checked for ever");
        server.disk.panics = false;
        let answers = send(&mut server, vec![hover]);
        assert!(
            answers[0]["result"]["contents"]["value"].is_string(),
            "{answers:?}"
        );
    }

    #[test]
    fn reads_files_again_that_changed_or_were_removed() {
        let settings = "/repository/windlass.toml".to_owned();
        let allow = "allow = [\"config-field-unknown\"]\n".to_owned();
        let mut server = server(Memory {
            files: BTreeMap::from([(settings.clone(), allow)]),
            ..Memory::default()
        });
        let opened = open("file:///repository/a/b.yaml", CONFIG);
        assert!(codes(&send(&mut server, vec![opened])).is_empty());
        server.disk.files.remove(&settings);
        let changed = json!({"method": "workspace/didChangeWatchedFiles", "params": {"changes": [
            {"uri": "file:///repository/windlass.toml", "type": 3},
        ]}});
        assert_eq!(
            codes(&send(&mut server, vec![changed])),
            ["config-field-unknown"]
        );
    }

    #[test]
    fn logs_once_that_a_folder_is_too_large() {
        let mut server = server(Memory {
            is_too_large: true,
            ..Memory::default()
        });
        let opened = |uri| open(uri, CONFIG);
        let messages = vec![opened("file:///a/b.yaml"), opened("file:///a/c.yaml")];
        let mut answers = send(&mut server, messages);
        answers.extend(send(&mut server, vec![opened("file:///a/d.yaml")]));
        let logged = answers
            .iter()
            .filter(|answer| answer["method"] == "window/logMessage");
        assert_eq!(logged.count(), 1, "{answers:?}");
        assert_eq!(codes(&answers), ["config-field-unknown"; 5]);
    }

    #[test]
    fn looks_above_up_to_the_repository() {
        let server = server(Memory::default());
        let above = server.above("/repository/a/b");
        assert_eq!(above, ["/repository/a", "/repository"]);
        assert!(server.above("/repository").is_empty());
        assert!(server.above("/other/a").is_empty());
    }
}
