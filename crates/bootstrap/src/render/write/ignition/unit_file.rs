//! Unit files of systemd, as go-systemd's `unit.Deserialize` reads them: the sections that have
//! options, or its words.

use std::collections::BTreeSet;

/// The ends of the names of units.
pub(crate) const EXTENSIONS: [&str; 12] = [
    "service",
    "socket",
    "device",
    "mount",
    "automount",
    "swap",
    "target",
    "path",
    "timer",
    "snapshot",
    "slice",
    "scope",
];

/// systemd cuts longer lines.
const LONGEST_LINE: usize = 2048;

/// The reader keeps no more than that ahead.
const BUFFER: usize = 4096;

/// The names of the sections that hold an option.
///
/// # Errors
///
/// The text is not a unit file.
pub(crate) fn sections(text: &str) -> Result<BTreeSet<String>, String> {
    let mut reader = Reader { text, at: 0 };
    let mut section: Option<String> = None;
    let mut found = BTreeSet::new();
    loop {
        reader.check_line()?;
        let Some(c) = reader.next() else {
            return Ok(found);
        };
        match (c, &section) {
            ('[', _) => section = Some(reader.section()?),
            ('#' | ';', _) => reader.skip_lines(),
            (_, None) => {}
            (c, Some(_)) if c.is_whitespace() => {}
            (_, Some(name)) => {
                reader.at -= c.len_utf8();
                if reader.option()? {
                    found.insert(name.clone());
                }
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Rejects a line that is too long, as far as Go's reader has it in its buffer.
    fn check_line(&self) -> Result<(), String> {
        // The buffer is filled when it is empty, so it holds what is left of its stretch.
        let buffered = if self.at == 0 {
            0
        } else {
            (BUFFER - self.at % BUFFER).min(self.text.len() - self.at)
        };
        let line = &self.rest().as_bytes()[..LONGEST_LINE.min(self.rest().len())];
        if buffered >= LONGEST_LINE && !line.iter().any(|byte| matches!(byte, b'\r' | b'\n')) {
            return Err(format!("line too long (max {LONGEST_LINE} bytes)"));
        }
        Ok(())
    }

    /// The rest of the line, without its break.
    fn line(&mut self) -> &'a str {
        let (line, length) = match self.rest().find('\n') {
            Some(end) => (&self.rest()[..end], end + 1),
            None => (self.rest(), self.rest().len()),
        };
        self.at += length;
        line
    }

    fn section(&mut self) -> Result<String, String> {
        let end = self
            .rest()
            .find(']')
            .ok_or("unable to find end of section")?;
        let name = self.rest()[..end].to_owned();
        self.at += end + 1;
        let garbage = self.line().trim();
        if garbage.is_empty() {
            return Ok(name);
        }
        let bytes: Vec<_> = garbage.bytes().map(|byte| byte.to_string()).collect();
        Err(format!(
            "found garbage after section name : [{}]",
            bytes.join(" ")
        ))
    }

    /// Skips a comment, with the lines that a backslash adds.
    fn skip_lines(&mut self) {
        loop {
            let line = self.line();
            let continues = line.strip_suffix(' ').unwrap_or(line).ends_with('\\');
            if !continues || self.rest().is_empty() {
                return;
            }
        }
    }

    /// Reads an option with its value; false when the text ends within its name.
    fn option(&mut self) -> Result<bool, String> {
        loop {
            match self.next() {
                None => return Err("EOF".to_owned()),
                Some('\n' | '\r') => {
                    return Err(
                        "unexpected newline encountered while parsing option name".to_owned()
                    );
                }
                Some('=') => break,
                Some(_) => {}
            }
        }
        while !self.rest().is_empty() {
            let line = self.line();
            if line.trim().is_empty() || !line.ends_with('\\') {
                break;
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_with_options_are_named() {
        let check = |text: &str, expected: &[&str]| {
            let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
            assert_eq!(sections(text), Ok(expected), "{text:?}");
        };
        check("", &[]);
        check("# x \\\n[a]\n[Unit]\nA=b\n", &["Unit"]);
        check("[Unit]\nA=b \\\n[x]\n[Install]\nC=d", &["Unit", "Install"]);
        check("garbage\n[Service]\nExecStart=/x", &["Service"]);
        check("[Install]\n", &[]);
    }

    #[test]
    fn broken_files_are_rejected() {
        let check = |text: &str, expected: &str| {
            assert_eq!(sections(text), Err(expected.to_owned()), "{text:?}")
        };
        check("[Unit", "unable to find end of section");
        check("[Unit] x\n", "found garbage after section name : [120]");
        check(
            "[Unit]\nabc\n",
            "unexpected newline encountered while parsing option name",
        );
        check("[Unit]\nabc", "EOF");
    }
}
