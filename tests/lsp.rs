//! The language server, by recorded sessions: `tests/lsp/CASE/` holds what an editor and the server
//! say to each other.
//!
//! - `in/`: the folder of the workspace (a copy).
//! - `session`: `# TEXT` says why. `> MESSAGE` is a message of the editor, without `jsonrpc`;
//!   `> open FILE` opens a file of the workspace with its text. The lines `<` below it are what the
//!   server sends until it has answered: an item of a list is on a line of its own.
//!
//! `[CWD]` is the folder of the workspace. `UPDATE=1 cargo test --test lsp` rewrites the answers; a
//! person reads the difference.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests read files and start the program"
)]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The server as a process.
struct Server {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_windlass"))
            .arg("lsp")
            .current_dir(folder)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Server {
            to: process.stdin.take(),
            from: BufReader::new(process.stdout.take().unwrap()),
            process,
        }
    }

    fn write(&mut self, bytes: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(bytes.as_bytes()).unwrap();
        to.flush().unwrap();
    }

    fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        self.write(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }

    /// The next message of the server; `None` at the end of its output.
    fn read(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.from.read_exact(&mut text).unwrap();
        let mut message: Value = serde_json::from_slice(&text).unwrap();
        let version = message.as_object_mut().unwrap().remove("jsonrpc");
        assert_eq!(version, Some("2.0".into()));
        Some(message)
    }

    /// The result or the error of a request; other messages are left out.
    fn request(&mut self, id: i32, method: &str, params: Value) -> Value {
        self.send(&json!({"id": id, "method": method, "params": params}));
        loop {
            let message = self.read().expect("the server answers");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Ends the input and waits for the end; the exit code and standard error.
    fn end(mut self) -> (i32, String) {
        drop(self.to.take());
        let code = self.process.wait().unwrap().code().unwrap();
        let mut stderr = String::new();
        let mut from = self.process.stderr.take().unwrap();
        from.read_to_string(&mut stderr).unwrap();
        (code, stderr)
    }
}

/// A session and the folder in which it takes place.
struct Session {
    folder: PathBuf,
    server: Server,
    /// The URIs of open documents.
    open: BTreeSet<String>,
}

impl Session {
    fn expanded(&self, line: &str) -> Value {
        let folder = self.folder.to_str().unwrap();
        match line.strip_prefix("open ") {
            Some(file) => {
                let text = std::fs::read_to_string(self.folder.join(file)).unwrap();
                json!({"method": "textDocument/didOpen", "params": {"textDocument": {
                    "uri": format!("file://{folder}/{file}"),
                    "languageId": "yaml",
                    "version": 1,
                    "text": text,
                }}})
            }
            None => serde_json::from_str(&line.replace("[CWD]", folder))
                .unwrap_or_else(|error| panic!("{error}: {line}")),
        }
    }

    /// Sends a message; the messages that answer it.
    fn step(&mut self, message: &Value) -> Vec<Value> {
        self.server.send(message);
        let mut answers = Vec::new();
        if message.get("id").is_some() && message.get("method").is_some() {
            while answers
                .last()
                .is_none_or(|answer: &Value| answer["id"] != message["id"])
            {
                answers.push(self.server.read().expect("the server answers"));
            }
            return answers;
        }
        let mut awaited = self.awaited(message);
        while !awaited.is_empty() {
            let answer = self.server.read().expect("the server publishes");
            if let Some(uri) = answer["params"]["uri"].as_str() {
                awaited.remove(uri);
            }
            answers.push(answer);
        }
        if message["method"] == "initialized" {
            answers.extend(self.registration(message));
        }
        answers
    }

    fn registration(&mut self, message: &Value) -> Option<Value> {
        let is_expected = message["params"]["expectsRegistration"] == true;
        is_expected.then(|| self.server.read().expect("the server registers"))
    }

    /// The documents whose diagnostics follow a notification: those of its folder, all after a
    /// change of the settings.
    fn awaited(&mut self, message: &Value) -> BTreeSet<String> {
        let changed = &message["params"]["changes"][0]["uri"];
        let document = &message["params"]["textDocument"]["uri"];
        let Some(uri) = document.as_str().or(changed.as_str()) else {
            return BTreeSet::new();
        };
        let folder = |uri: &str| uri.rsplit_once('/').unwrap().0.to_owned();
        let is_affected =
            |open: &&String| uri.ends_with("windlass.toml") || folder(open) == folder(uri);
        match message["method"].as_str() {
            Some("textDocument/didOpen") => {
                self.open.insert(uri.to_owned());
            }
            Some("textDocument/didClose") => {
                let is_open = self.open.remove(uri);
                let mut awaited: BTreeSet<String> =
                    self.open.iter().filter(is_affected).cloned().collect();
                awaited.extend(is_open.then(|| uri.to_owned()));
                return awaited;
            }
            Some("textDocument/didChange") if !self.open.contains(uri) => return BTreeSet::new(),
            _ => {}
        }
        self.open.iter().filter(is_affected).cloned().collect()
    }

    /// A message of the server as a session has it.
    fn shown(&self, message: &Value) -> String {
        let head = match (message["method"].as_str(), &message["id"]) {
            (Some(method), Value::Null) => method.to_owned(),
            (Some(method), id) => format!("{method} {id}"),
            (None, id) => id.to_string(),
        };
        let mut body = ["params", "result", "error"]
            .into_iter()
            .find_map(|key| message.get(key))
            .cloned()
            .unwrap_or_default();
        let mut items = Vec::new();
        for key in ["diagnostics", "items"] {
            if let Some(Value::Array(list)) = body.as_object_mut().and_then(|it| it.remove(key)) {
                items = list;
            }
        }
        if body.is_array() {
            let list = std::mem::replace(&mut body, "list".into());
            items = list.as_array().cloned().unwrap_or_default();
        }
        let mut text = match message.get("error") {
            Some(_) => format!("< {head} error {body}\n"),
            None => format!("< {head} {body}\n"),
        };
        items
            .iter()
            .for_each(|item| text += &format!("<   {item}\n"));
        text.replace(self.folder.to_str().unwrap(), "[CWD]")
            .replace(env!("CARGO_PKG_VERSION"), "[VERSION]")
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => {
                std::fs::create_dir(&to).unwrap();
                copy(&entry.path(), &to);
            }
            false => {
                std::fs::copy(entry.path(), to).unwrap();
            }
        }
    }
}

/// The session of a case with the answers that the server gives now.
fn replayed(case: &Path) -> String {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    copy(&case.join("in"), &folder);
    let mut session = Session {
        server: Server::start(&folder),
        folder,
        open: BTreeSet::new(),
    };
    let written = std::fs::read_to_string(case.join("session")).unwrap();
    let mut transcript = String::new();
    for line in written.lines().filter(|line| !line.starts_with('<')) {
        transcript += &format!("{line}\n");
        let Some(message) = line.strip_prefix("> ") else {
            continue;
        };
        let message = session.expanded(message);
        for answer in session.step(&message) {
            transcript += &session.shown(&answer);
        }
    }
    let (code, stderr) = session.server.end();
    assert_eq!((code, stderr.as_str()), (0, ""), "{}", case.display());
    transcript
}

#[cfg(unix)]
#[test]
fn answers_as_in_the_recorded_sessions() {
    let mut cases: Vec<PathBuf> = std::fs::read_dir(root().join("tests/lsp"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(cases.len() > 5);
    let is_update = std::env::var("UPDATE").is_ok_and(|value| value == "1");
    let mut different = Vec::new();
    for case in cases {
        let (file, actual) = (case.join("session"), replayed(&case));
        let expected = std::fs::read_to_string(&file).unwrap();
        if actual == expected {
            continue;
        }
        if is_update {
            std::fs::write(&file, actual).unwrap();
            continue;
        }
        let first = actual
            .lines()
            .zip(expected.lines())
            .find(|(actual, expected)| actual != expected);
        different.push(format!("{}: {first:#?}", case.display()));
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

fn initialize(server: &mut Server) -> Value {
    let params = json!({"processId": null, "rootUri": null, "capabilities": {}});
    let answer = server.request(1, "initialize", params);
    server.send(&json!({"method": "initialized", "params": {}}));
    answer
}

#[test]
fn ends_with_the_exit_codes_of_the_protocol() {
    let exit = json!({"method": "exit"});
    let mut server = Server::start(root());
    initialize(&mut server);
    assert_eq!(
        server.request(2, "shutdown", Value::Null)["result"],
        Value::Null
    );
    assert_eq!(
        server.request(3, "shutdown", Value::Null)["error"]["code"],
        -32600
    );
    server.send(&exit);
    assert_eq!(server.end(), (0, String::new()));
    let mut server = Server::start(root());
    initialize(&mut server);
    server.send(&exit);
    assert_eq!(server.end(), (1, String::new()), "exit without shutdown");
    let mut server = Server::start(root());
    initialize(&mut server);
    assert_eq!(server.end(), (0, String::new()), "the editor went away");
}

#[test]
fn goes_on_behind_garbage() {
    let mut server = Server::start(root());
    let hover = json!({
        "textDocument": {"uri": "untitled:a"},
        "position": {"line": 0, "character": 0},
    });
    let code = |answer: Value| answer["error"]["code"].clone();
    assert_eq!(
        code(server.request(7, "textDocument/hover", hover.clone())),
        -32002
    );
    initialize(&mut server);
    assert_eq!(
        code(server.request(8, "initialize", json!({"capabilities": {}}))),
        -32600
    );
    server.write("Content-Length: 5\r\n\r\n{\"a\":");
    let answer = server.read().unwrap();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&Value::Null, &json!(-32700))
    );
    server.write("Content-Length: 2\r\n\r\n[]");
    assert_eq!(server.read().unwrap()["error"]["code"], -32700);
    assert_eq!(
        code(server.request(9, "textDocument/rename", hover.clone())),
        -32601
    );
    assert_eq!(
        code(server.request(10, "textDocument/hover", json!([1]))),
        -32602
    );
    server.send(&json!({"method": "textDocument/didOpen", "params": {"textDocument": 1}}));
    server.send(&json!({"method": "textDocument/didChange", "params": {
        "textDocument": {"uri": "untitled:b", "version": 2}, "contentChanges": [{"text": ""}],
    }}));
    server.send(&json!({"method": "$/unknown"}));
    server.send(&json!({"id": 99, "result": null}));
    let unopened = server.request(11, "textDocument/hover", hover);
    assert_eq!(unopened["result"], Value::Null);
    assert_eq!(server.end(), (0, String::new()));
}

/// All messages are there before the server reads the first: the request is cancelled, and of the
/// document only the newest version is checked.
#[test]
fn answers_for_the_newest_version_only() {
    let mut server = Server::start(root());
    initialize(&mut server);
    let uri = "untitled:Untitled-1";
    let framed = |message: Value| {
        let text = message.to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    };
    let open = json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": uri, "languageId": "yaml", "version": 1, "text": "a: &x [\n",
    }}});
    let change = |version: i32, text: &str| {
        json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}],
        }})
    };
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 5}});
    let hover = json!({"jsonrpc": "2.0", "id": 5, "method": "textDocument/hover", "params": {
        "textDocument": {"uri": uri}, "position": {"line": 0, "character": 0},
    }});
    let kind = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\n";
    let burst: String = [
        open,
        change(2, "b: ["),
        hover,
        cancel,
        change(
            3,
            &format!("{kind}metadata: {{name: a}}\nspec: {{fils: []}}\n"),
        ),
    ]
    .map(framed)
    .concat();
    server.write(&burst);
    let mut seen = Vec::new();
    while seen
        .last()
        .is_none_or(|last: &Value| last["params"]["version"] != 3)
    {
        seen.push(server.read().unwrap());
    }
    let last = seen.last().unwrap();
    assert_eq!(
        last["params"]["diagnostics"][0]["code"], "config-field-unknown",
        "{last}"
    );
    // A loaded machine may read the burst in two parts, but never answers out of order.
    let versions: Vec<i64> = seen
        .iter()
        .filter_map(|message| message["params"]["version"].as_i64())
        .collect();
    assert!(versions.is_sorted(), "{versions:?}");
    assert_eq!(server.end(), (0, String::new()));
}
