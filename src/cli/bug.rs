//! A panic is our bug: exit code 101, and a sentence where to report it.

use std::io::Write;
use std::panic::PanicHookInfo;

/// Where bugs are reported.
const ISSUES: &str = "https://github.com/windlass-dev/windlass/issues";

/// From now on a panic prints what is needed for a report and ends the process with 101, also where panics abort.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        let text = text(&message(info), &info.location().map(ToString::to_string).unwrap_or_default());
        #[allow(clippy::disallowed_methods, reason = "the process is ending, and no stream of ours can be reached from here")]
        {
            let _ = std::io::stderr().write_all(text.as_bytes());
            std::process::exit(101);
        }
    }));
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").trim_start_matches("internal error: ").to_owned()
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
        assert!(text.contains("the path comes from this tree (src/shell/files.rs:1:2)") && text.contains(ISSUES), "{text}");
    }
}
