//! A panic is our bug: exit code 101, and a sentence where to report it. A panic's message may hold
//! a part of the user's document, so that only its location in our code is printed.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;

use crate::io::stdio::Stdio;

const ISSUES: &str = "https://github.com/windlass-dev/windlass/issues";

const EXIT: u8 = 101;

/// The location of the last panic.
static LAST: Mutex<String> = Mutex::new(String::new());

/// Runs the program. A panic that nothing catches ends it with 101 and with what is needed for a
/// report; what was staged is removed.
pub fn report_panics(run: impl FnOnce() -> u8) -> u8 {
    panic::set_hook(Box::new(|info| {
        let location = info.location().map(ToString::to_string).unwrap_or_default();
        *LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = location;
    }));
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        Stdio::of_process().err(&text(&location()));
        EXIT
    })
}

/// The location of the last panic.
pub(super) fn location() -> String {
    LAST.lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .clone()
}

fn text(location: &str) -> String {
    format!(
        "error: windlass {} has a bug at {location}\n  help: report it with the command that you ran: {ISSUES}\n",
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_where_and_whom_to_tell() {
        let text = text("src/io/files.rs:1:2");
        assert!(
            text.starts_with("error: windlass ")
                && text.contains("has a bug at src/io/files.rs:1:2\n")
                && text.contains(ISSUES),
            "{text}"
        );
    }
}
