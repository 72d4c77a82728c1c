//! The patterns for secrets in commands, with names for the parts that they share.

use regex::Regex;

/// The shared parts of patterns: `<name>` in a pattern is replaced.
const PARTS: [(&str, &str); 8] = [
    // A word of a shell: quoted and bare parts; a quote that nothing closes counts as a letter.
    (
        "<value>",
        r#"(?:'\\''[^']*'\\''|\\"(?:[^"\\]|\\[^"])*\\"|"(?:[^"\\]|\\(?s:.))*"|'[^']*'|\\(?s:.)|\$\([^)\n]*\)|`[^`\n]*`|[^\s;&|])+"#,
    ),
    // What is left of a command.
    (
        "<rest>",
        r#"(?:"(?:[^"\\]|\\(?s:.))*"|'[^']*'|\\(?s:.)|[^\n;&|])+"#,
    ),
    // Words of the same command.
    ("<words>", r"(?:[^\n;&|\\]|\\(?s:.))*?"),
    ("<blank>", r"(?:\s|\\\r?\n)"),
    (
        "<placeholder>",
        r"(?:PASSWORD|PASSWD|PASSPHRASE|TOKEN|SECRET|CREDENTIAL|(?:API|ACCESS|PRIVATE|AUTH|ENCRYPTION|MASTER|SHARED)_?KEY)",
    ),
    ("<quote>", r#"['"\\]{0,4}"#),
    ("<name>", r"[0-9A-Za-z_.-]"),
    (
        "<secret>",
        r"(?:password|passwd|passphrase|passcode|token|secret|credential|(?:api|access|private|certificate|auth|activation|client|registration|license|encryption|master|account|shared|setup|join|provisioning|linking|deploy)[_-]?keys?)",
    ),
];

/// Compiles a pattern after its parts are replaced.
pub(super) fn pattern(text: &str) -> Regex {
    let insert = |whole: String, (part, stands_for): &(&str, &str)| whole.replace(part, stands_for);
    let whole = PARTS.iter().fold(text.to_owned(), insert);
    Regex::new(&whole).expect("internal error: the pattern is one of ours")
}
