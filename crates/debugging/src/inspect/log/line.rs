//! Lines of logs without what terminals and loggers add to a message: colours, times, hosts,
//! programs.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Colours and other controls of a terminal (ECMA-48, 5.4), and titles of windows.
static CONTROL: LazyLock<Regex> = LazyLock::new(|| {
    super::compiled(
        r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-Za-z]|\x1b[=>78]",
    )
});

/// What a logger writes before a message: the time since boot (console, `-o short-monotonic`), a
/// time in brackets (Cluster API's images), the time of syslog and `journalctl`, and that of
/// `-o short-iso`, `-o short-full`, `-o short-unix` and Python's logging.
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    super::compiled(concat!(
        r"^(?:\[ *[0-9]+\.[0-9]+\]",
        r"|\[[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:]{8}(?:[.,][0-9]+)?\]",
        r"|[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?",
        r"|(?:[A-Z][a-z]{2} )?[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:Z| ?[+-][0-9]{2}:?[0-9]{2}| [A-Z]{3,4}\b)?",
        r"|[0-9]{10}\.[0-9]{3,6})(?: -)?(?: |$)",
    ))
});

/// Host and program of a journal, or the program alone.
static PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    super::compiled(
        r"^(?:[A-Za-z0-9][\w.-]* )?([A-Za-z(][\w@:./()-]*)\[[0-9]+\]: ?|^(?:[A-Za-z0-9][\w.-]* )?(kernel): ?",
    )
});

/// A line without what was added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'l> {
    /// The program that wrote it; empty: not said.
    pub(super) program: &'l str,
    /// What it wrote.
    pub(super) message: &'l str,
    /// Whether a time or a program stands before the message.
    pub(super) is_stamped: bool,
    /// Whether blanks stand before the message, as in a traceback.
    pub(super) is_indented: bool,
}

/// A line as a terminal shows it: without controls, and of what a carriage return overwrites only
/// the last text.
pub(super) fn visible(line: &str) -> Cow<'_, str> {
    let line = line
        .rsplit('\r')
        .find(|part| !part.trim().is_empty())
        .unwrap_or_default();
    if line.contains('\x1b') {
        CONTROL.replace_all(line, "")
    } else {
        Cow::Borrowed(line)
    }
}

/// The maximum number of bytes of an entry of a journal in JSON that are read.
const LARGEST_ENTRY: usize = 64 << 10;

/// An entry of `journalctl -o json` as `journalctl` prints it by default, without its time.
pub(super) fn of_json(line: &str) -> Option<String> {
    if !line.starts_with('{') || line.len() > LARGEST_ENTRY || !line.contains("\"MESSAGE\"") {
        return None;
    }
    let entry: serde_json::Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| entry[key].as_str();
    let message = text("MESSAGE")?;
    Some(match text("SYSLOG_IDENTIFIER").or_else(|| text("_COMM")) {
        Some(program) => format!("{program}[{}]: {message}", text("_PID").unwrap_or("0")),
        None => message.to_owned(),
    })
}

/// How many times may stand before a message: that of the journal, of the console, and its own.
const MOST_TIMES: usize = 4;

pub(super) fn read(line: &str) -> Line<'_> {
    let mut read = Line {
        program: "",
        message: line.trim(),
        is_stamped: false,
        is_indented: line.starts_with(char::is_whitespace),
    };
    for _ in 0..MOST_TIMES {
        let rest = if let Some(time) = TIME.find(read.message) {
            &read.message[time.end()..]
        } else if let Some(found) = PROGRAM.captures(read.message) {
            read.program = found
                .get(1)
                .or(found.get(2))
                .map_or("", |program| program.as_str());
            &read.message[found[0].len()..]
        } else {
            break;
        };
        read.is_indented = rest.starts_with(char::is_whitespace);
        read.message = rest.trim_start();
        read.is_stamped = true;
    }
    read.message = read
        .message
        .strip_prefix("[CLOUDINIT]")
        .unwrap_or(read.message)
        .trim_start();
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_behind_times_and_programs() {
        for (line, program, message) in [
            ("[   27.415221] cloud-init[1047]: a b", "cloud-init", "a b"),
            (
                "Jan 12 11:54:13 host-a cloud-init[1413]:         [WARNING X]: y",
                "cloud-init",
                "[WARNING X]: y",
            ),
            (
                "Mar 25 10:18:34 cloud-init[2154]: user_data.py[WARNING]: z",
                "cloud-init",
                "user_data.py[WARNING]: z",
            ),
            (
                "2025-01-24T07:53:00+0000 host kubelet[812]: a",
                "kubelet",
                "a",
            ),
            (
                "2025-01-24T07:53:00.123456+00:00 host systemd[1]: a",
                "systemd",
                "a",
            ),
            (
                "Fri 2025-01-24 07:53:00 UTC host systemd[1]: a",
                "systemd",
                "a",
            ),
            ("[   12.345678] host systemd[1]: a", "systemd", "a"),
            ("1737705180.123456 host kubelet[812]: a", "kubelet", "a"),
            (
                "Jan 12 11:54:13 host kernel: Out of memory",
                "kernel",
                "Out of memory",
            ),
            (
                "2026-03-16 10:00:02,120 - util.py[WARNING]: a",
                "",
                "util.py[WARNING]: a",
            ),
            (
                "[2022-03-01 09:52:23] 2022-03-01 09:52:23,104 - util.py[WARNING]: a",
                "",
                "util.py[WARNING]: a",
            ),
            (
                "Jan 28 10:40:10 ip-1 cloud-init[576]: [CLOUDINIT]2026-01-28 10:40:10,299 - x",
                "cloud-init",
                "2026-01-28 10:40:10,299 - x",
            ),
            ("a b", "", "a b"),
            (
                "[preflight] Running pre-flight checks",
                "",
                "[preflight] Running pre-flight checks",
            ),
        ] {
            let read = read(line);
            assert_eq!((read.program, read.message), (program, message), "{line}");
            assert_eq!(read.is_stamped, message != line, "{line}");
        }
    }

    #[test]
    fn entries_in_json_are_read() {
        let line = r#"{"__REALTIME_TIMESTAMP":"1","SYSLOG_IDENTIFIER":"kubelet","_PID":"812","MESSAGE":"a b"}"#;
        assert_eq!(of_json(line).as_deref(), Some("kubelet[812]: a b"));
        for line in ["{", "a", r#"{"MESSAGE":[1]}"#, r#"{"level":"error"}"#] {
            assert_eq!(of_json(line), None, "{line}");
        }
    }

    #[test]
    fn controls_of_terminals_are_removed() {
        for (line, expected) in [
            (
                "[\x1b[0;1;31mFAILED\x1b[0m] Failed to start a",
                "[FAILED] Failed to start a",
            ),
            ("  0%\r 50%\r100% a\r", "100% a"),
            ("\x1b]0;title\x07a", "a"),
            ("a", "a"),
        ] {
            assert_eq!(visible(line), expected);
        }
    }
}
