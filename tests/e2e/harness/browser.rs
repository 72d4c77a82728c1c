//! A headless Chromium, driven through chromedriver on loopback (W3C WebDriver, and Chromium's own
//! commands for what WebDriver lacks).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::process::{Process, Start};
use super::{ports, wait};

const SOON: Duration = Duration::from_secs(30);

/// The programs, which the distribution brings.
pub(crate) const PROGRAMS: [&str; 2] = ["chromium", "chromedriver"];

/// Where a program of the search path is.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// A browser with one page. Dropping it ends it.
pub(crate) struct Browser {
    port: u16,
    session: String,
    _driver: Process,
}

impl Browser {
    /// A new browser whose files are in a folder.
    pub(crate) fn start(folder: &Path) -> Browser {
        let [chromium, chromedriver] =
            PROGRAMS.map(|name| on_path(name).expect("the suite looked for it"));
        let port = ports::free();
        let arguments = vec![format!("--port={port}")];
        let driver = Start {
            name: "chromedriver",
            program: &chromedriver,
            arguments,
            environment: Vec::new(),
            folder,
        }
        .spawn();
        let profile = format!("--user-data-dir={}", folder.join("profile").display());
        // Chromium's own sandbox is not to be had in every container; the pages are ours.
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            &profile,
        ];
        let options = json!({"binary": chromium, "args": arguments});
        let logs = json!({"performance": "ALL", "browser": "ALL"});
        let wanted = json!({"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": logs});
        let session = wait::until("chromedriver to start a browser", SOON, || {
            call(
                port,
                "POST",
                "/session",
                &json!({"capabilities": {"alwaysMatch": wanted}}),
            )
        });
        let session = session["sessionId"]
            .as_str()
            .expect("a session has an id")
            .to_owned();
        Browser {
            port,
            session,
            _driver: driver,
        }
    }

    /// Shows a file.
    pub(crate) fn open(&self, file: &Path) {
        self.ask("url", &json!({"url": address(file)}));
    }

    /// What a function of JavaScript gives in the page; the page's own policy does not bind it.
    pub(crate) fn evaluate(&self, body: &str) -> Value {
        self.ask("execute/sync", &json!({"script": body, "args": []}))
    }

    /// A command of Chromium's DevTools protocol.
    pub(crate) fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.ask(
            "goog/cdp/execute",
            &json!({"cmd": command, "params": parameters}),
        )
    }

    /// Presses a key of WebDriver's table of keys.
    pub(crate) fn press(&self, key: &str) {
        let actions = ["keyDown", "keyUp"].map(|action| json!({"type": action, "value": key}));
        self.ask(
            "actions",
            &json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}),
        );
    }

    /// The lines of a log since it was asked for the last time: `browser` is the console,
    /// `performance` what the DevTools protocol tells.
    pub(crate) fn log(&self, kind: &str) -> Vec<Value> {
        self.ask("se/log", &json!({"type": kind}))
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    /// The whole page as a picture, in a file.
    pub(crate) fn picture(&self, file: &Path) {
        let picture = self.devtools(
            "Page.captureScreenshot",
            &json!({"captureBeyondViewport": true}),
        );
        let bytes = STANDARD
            .decode(picture["data"].as_str().expect("a picture has data"))
            .expect("it is base64");
        std::fs::write(file, bytes).expect("the folder can be written");
    }

    fn ask(&self, command: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{command}", self.session);
        call(self.port, "POST", &path, body).unwrap_or_else(|error| panic!("{command}: {error}"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends the browser's processes. Without an answer there is none to end.
        let _ = call(
            self.port,
            "DELETE",
            &format!("/session/{}", self.session),
            &json!({}),
        );
    }
}

/// The address of a file.
pub(crate) fn address(file: &Path) -> String {
    format!("file://{}", file.display())
}

/// One request of WebDriver, and the value of its answer.
fn call(port: u16, method: &str, path: &str, body: &Value) -> Result<Value, String> {
    let answer =
        exchange(port, method, path, &body.to_string()).map_err(|error| error.to_string())?;
    let answer: Value = serde_json::from_slice(&answer)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&answer)))?;
    let value = answer["value"].clone();
    match value.get("error") {
        Some(error) => Err(format!("{error}: {}", value["message"])),
        None => Ok(value),
    }
}

/// The body of the answer to a request. The driver keeps its side open, so that the length is what
/// counts.
fn exchange(port: u16, method: &str, path: &str, body: &str) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(SOON))?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes())?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap_or(0)
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut answer = vec![0; length];
    reader.read_exact(&mut answer)?;
    Ok(answer)
}
