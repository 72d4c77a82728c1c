//! Messages of the Language Server Protocol on streams.

use std::io::{self, BufReader, Read};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use lsp_server::Message;
use serde_json::Value;

/// Reads messages on a thread of their own, until the stream ends or the client sends `exit`. A
/// message that cannot be read is the reason why, and those behind it are read.
pub fn read_messages(stream: Box<dyn Read + Send>) -> Receiver<Result<Message, String>> {
    let (sender, receiver) = mpsc::channel();
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

/// The next message; `None` at the end of the stream.
fn read(stream: &mut BufReader<Box<dyn Read + Send>>) -> Option<Result<Message, String>> {
    match Message::read(stream) {
        Ok(message) => message.map(Ok),
        // The reason quotes the message, which may hold any text of a document.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Some(Err("the message is not JSON-RPC 2.0".to_owned()))
        }
        Err(_) => None,
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
        assert!(read.len() > 4, "{read:?}");
    }

    #[test]
    fn lengths_are_those_of_bytes() {
        let message = serde_json::json!({"é": 1});
        assert_eq!(frame(&message), "Content-Length: 8\r\n\r\n{\"é\":1}");
    }
}
