//! The words of a command: its program, and what that is known for.

use std::borrow::Cow;

use super::Command;

/// Programs that ask others, which may not answer.
const ASKING: [&str; 16] = [
    "aws", "az", "crictl", "ctr", "curl", "docker", "gcloud", "gsutil", "kubectl", "nerdctl",
    "oras", "scp", "skopeo", "ssh", "vault", "wget",
];

impl<'t> Command<'t> {
    /// The name of the program that the command runs, without its folder.
    pub fn program(&self) -> Option<&'t str> {
        let is_before =
            |word: &&&str| matches!(**word, "sudo" | "exec" | "-E") || is_assignment(word);
        let word = self.words.iter().find(|word| !is_before(word))?;
        word.rsplit('/').next()
    }

    /// The program, if it asks others.
    pub fn asking(&self) -> Option<&'t str> {
        self.program().filter(|name| ASKING.contains(name))
    }

    /// Whether the command only asks a question.
    pub fn is_test(&self) -> bool {
        matches!(
            self.program(),
            Some("[" | "[[" | "test" | "command" | "grep" | "which" | "type")
        )
    }

    /// Whether the command succeeds whatever happened before it.
    pub fn always_succeeds(&self) -> bool {
        matches!(
            self.words.as_slice(),
            ["true" | ":" | "/bin/true" | "/usr/bin/true"] | ["exit", "0"]
        )
    }

    /// Whether the command is a shell that reads its script from its input.
    pub fn is_shell(&self) -> bool {
        matches!(self.program(), Some("sh" | "bash" | "dash"))
    }

    /// Whether the command gives variables what another one prints, and succeeds when that one
    /// fails (2.14, "export"; shellcheck's SC2155).
    pub fn assigns_what_runs(&self) -> bool {
        matches!(
            self.program(),
            Some("export" | "readonly" | "local" | "declare" | "typeset")
        ) && self.words.iter().any(|word| runs(word))
    }

    /// The script behind `-c`, when the command is a shell that runs one, without its quotes.
    pub fn inner_script(&self) -> Option<String> {
        let mut words = self.words.iter().map(|word| unquoted(word));
        words.find(|word| matches!(word.rsplit('/').next(), Some("sh" | "bash" | "dash")))?;
        words
            .find(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
        words.next()
    }
}

/// Whether a word holds a command whose output the shell fills in (2.6.3).
fn runs(word: &str) -> bool {
    let mut is_single = false;
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => is_single = !is_single,
            '\\' if !is_single => drop(letters.next()),
            '`' if !is_single => return true,
            '$' if !is_single
                && letters.next_if_eq(&'(').is_some()
                && letters.peek() != Some(&'(') =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// A word as a shell reads it back: in quotes where it needs them (2.2.2, "Single-Quotes"; 2.2.4,
/// "Dollar-Single-Quotes", for what a terminal or a CI system would not print as it is: control
/// characters, signs of direction, and `##`).
pub fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    let is_escaped = |c: char| c.is_control() || !c.is_ascii() && !c.is_alphanumeric();
    if !word.is_empty() && word.bytes().all(is_plain) {
        return Cow::Borrowed(word);
    }
    if !word.contains(is_escaped) && !word.contains("##") {
        return Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")));
    }
    let mut quoted = "$'".to_owned();
    for c in word.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            '#' => quoted.push_str("\\043"),
            c if is_escaped(c) => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    quoted.push_str(&format!("\\{byte:03o}"));
                }
            }
            c => quoted.push(c),
        }
    }
    Cow::Owned(quoted + "'")
}

fn is_assignment(word: &str) -> bool {
    assignment(word).is_some()
}

/// The name and the value of an assignment (2.9.1, "Simple Commands").
pub fn assignment(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// A word without its quotes (2.2, "Quoting"); what a shell would fill in stays as it is.
pub fn unquoted(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut quote = None;
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if letter == open => quote = None,
            (Some('"'), '\\') if !letters.peek().is_some_and(|next| "$`\"\\".contains(*next)) => {
                out.push('\\')
            }
            (None | Some('"'), '\\') => out.extend(letters.next()),
            (_, letter) => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::read;

    #[test]
    fn the_program_is_found_behind_what_goes_before_it() {
        for (text, expected) in [
            ("sudo -E curl x", Some("curl")),
            ("A=b /usr/bin/wget x", Some("wget")),
            ("exec ssh x", Some("ssh")),
            ("modprobe a", None),
        ] {
            assert_eq!(read(text).commands[0].asking(), expected, "{text}");
        }
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        for (word, expected) in [
            ("out/v0.1.0", "out/v0.1.0"),
            ("a b", "'a b'"),
            ("a'b;id", r"'a'\''b;id'"),
            ("", "''"),
            ("$(x)", "'$(x)'"),
            ("a\x1b[2J'\\", r"$'a\033[2J\'\\'"),
            ("ü\u{202e}x", r"$'ü\342\200\256x'"),
            ("a b##[x]", r"$'a b\043\043[x]'"),
            ("üä漢", "'üä漢'"),
        ] {
            assert_eq!(super::quoted(word), expected);
        }
    }

    #[test]
    fn the_script_of_a_shell_is_read_without_its_quotes() {
        for (text, expected) in [
            ("'sh' '-c' 'echo '\\''a'\\'' && b'", Some("echo 'a' && b")),
            ("/bin/bash -ec \"a \\\"b\\\" \\n\"", Some("a \"b\" \\n")),
            ("bash --rcfile c", None),
            ("echo -c a", None),
        ] {
            assert_eq!(
                read(text).commands[0].inner_script().as_deref(),
                expected,
                "{text}"
            );
        }
    }
}
