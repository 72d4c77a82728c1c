//! A panic is our bug: exit code 101, and a sentence where to report it.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Mutex;

use crate::shell::stdio::Stdio;

const ISSUES: &str = "https://github.com/windlass-dev/windlass/issues";

const EXIT: u8 = 101;

/// What the last panic said, and where it was.
static LAST: Mutex<(String, String)> = Mutex::new((String::new(), String::new()));

/// Runs the program. A panic that nothing catches ends it with 101 and with what is needed for a
/// report; what was staged is removed.
pub fn report_panics(run: impl FnOnce() -> u8) -> u8 {
    panic::set_hook(Box::new(|info| {
        let said = (
            message(info),
            info.location().map(ToString::to_string).unwrap_or_default(),
        );
        *LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = said;
    }));
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        let (message, location) = &*LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        Stdio::of_process().err(&text(message, location));
        EXIT
    })
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message")
        .trim_start_matches("internal error: ")
        .to_owned()
}

fn text(message: &str, location: &str) -> String {
    format!(
        "error: windlass {} has a bug: {message} ({location})\n  help: report it with the command and its input: {ISSUES}\n",
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_what_where_and_whom_to_tell() {
        let text = text("the path comes from this tree", "src/shell/files.rs:1:2");
        assert!(text.starts_with("error: windlass "), "{text}");
        assert!(
            text.contains("the path comes from this tree (src/shell/files.rs:1:2)")
                && text.contains(ISSUES),
            "{text}"
        );
    }
}
