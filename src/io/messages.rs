//! Messages of the Language Server Protocol on streams.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use lsp_server::Message;
use serde_json::Value;

/// The maximum number of messages that wait to be handled. A client that sends more has to wait.
pub const MOST_WAITING: usize = 64;

/// The largest message and the longest line of a header that are read, in bytes.
const MOST_BYTES: u64 = 64 << 20;
const LONGEST_LINE: u64 = 4 << 10;

/// Reads messages on a thread of their own, until the stream ends or the client sends `exit`. A
/// message that cannot be read is the reason why, and those behind it are read.
pub fn read_messages(stream: Box<dyn Read + Send>) -> Receiver<Result<Message, String>> {
    let (sender, receiver) = mpsc::sync_channel(MOST_WAITING);
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        while let Some(message) = read(&mut stream) {
            let is_exit = matches!(&message, Ok(Message::Notification(it)) if it.method == "exit");
            if sender.send(message).is_err() || is_exit {
                break;
            }
        }
    });
    receiver
}

/// The next message; `None` at the end of the stream. The reason of an error does not quote the
/// message, which may hold any text of a document.
fn read(stream: &mut impl BufRead) -> Option<Result<Message, String>> {
    let Some(length) = read_header(stream)? else {
        return Some(Err("the message has no valid Content-Length".to_owned()));
    };
    if length > MOST_BYTES {
        io::copy(&mut stream.take(length), &mut io::sink()).ok()?;
        return Some(Err(format!(
            "the message is larger than {} MiB",
            MOST_BYTES >> 20
        )));
    }
    // Memory grows with the bytes that arrive, not with the length that the header promises.
    let mut body = Vec::new();
    let read = stream.take(length).read_to_end(&mut body).ok()?;
    if (read as u64) < length {
        return None;
    }
    let message = serde_json::from_slice(&body);
    Some(message.map_err(|_| "the message is not JSON-RPC 2.0".to_owned()))
}

/// Reads a header up to its empty line; returns its length, if it has a valid one. Text before the
/// name of a field is the rest of a message with a wrong length.
fn read_header(stream: &mut impl BufRead) -> Option<Option<u64>> {
    let (mut length, mut is_first) = (None, true);
    loop {
        let mut line = Vec::new();
        let mut limited = stream.take(LONGEST_LINE);
        if limited.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&line).to_ascii_lowercase();
        if line.trim_end().is_empty() && !is_first {
            return Some(length);
        }
        is_first = false;
        if let Some((_, value)) = line.rsplit_once("content-length:") {
            length = value.trim().parse().ok();
        }
    }
}

/// A message as it is sent.
pub fn frame(message: &Value) -> String {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_on_behind_messages_that_cannot_be_read() {
        let good = r#"{"jsonrpc":"2.0","method":"initialized"}"#;
        let framed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let stream = [
            "garbage\r\n\r\n",
            &framed("{"),
            &framed("[]"),
            "Content-Length: x\r\n\r\n",
            "Content-Length: 5\r\n\r\n{\"a\":1}",
            &framed(good),
            &framed(r#"{"jsonrpc":"2.0","method":"exit"}"#),
            &framed(good),
        ]
        .concat();
        let messages = read_messages(Box::new(io::Cursor::new(stream)));
        let read: Vec<Option<String>> = messages
            .iter()
            .map(|message| match message {
                Ok(Message::Notification(it)) => Some(it.method),
                _ => None,
            })
            .collect();
        let methods: Vec<&str> = read.iter().flatten().map(String::as_str).collect();
        assert_eq!(methods, ["initialized", "exit"], "{read:?}");
        assert_eq!(read.len(), 7, "{read:?}");
    }

    #[test]
    fn lengths_that_no_message_has_take_no_memory() {
        for (header, reasons) in [
            (format!("Content-Length: {}", u64::MAX), 1),
            (format!("Content-Length: {MOST_BYTES}"), 0),
            ("Content-Length: 99999999999999999999999".to_owned(), 1),
        ] {
            let stream = format!("{header}\r\n\r\n{{}}");
            let messages = read_messages(Box::new(io::Cursor::new(stream)));
            let read: Vec<_> = messages.iter().collect();
            assert!(read.iter().all(Result::is_err), "{header}: {read:?}");
            assert_eq!(read.len(), reasons, "{header}");
        }
        let endless = io::repeat(b'x').take(1 << 20);
        assert_eq!(read_messages(Box::new(endless)).iter().count(), 0);
    }

    #[test]
    fn lengths_are_those_of_bytes() {
        let message = serde_json::json!({"é": 1});
        assert_eq!(frame(&message), "Content-Length: 8\r\n\r\n{\"é\":1}");
    }
}
