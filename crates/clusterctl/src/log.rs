//! What clusterctl says on standard error while it works.

use windlass_go_text as go;

/// A line of talk and the verbosity (`-v`) from which on it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogLine {
    /// 0 is always shown.
    pub(crate) level: i32,
    /// The line, without its end.
    pub text: String,
}

/// The talk of one run, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log(Vec<LogLine>);

impl Log {
    /// The lines that are shown at a verbosity.
    pub fn at(&self, verbosity: i32) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(move |line| line.level <= verbosity)
            .map(|line| line.text.as_str())
    }

    /// A file of the overrides layer is used in place of the repository's.
    pub(super) fn using_override(&mut self, level: i32, file: &str, label: &str, version: &str) {
        let [file, label, version] = [file, label, version].map(json_text);
        self.0.push(LogLine {
            level,
            text: format!("Using override={file} provider={label} version={version}"),
        });
    }
}

fn json_text(text: &str) -> String {
    let mut shown = String::new();
    go::push_json_string(&mut shown, text);
    shown
}
