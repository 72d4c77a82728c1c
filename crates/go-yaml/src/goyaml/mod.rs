//! YAML with the bytes that Go writes: `sigs.k8s.io/yaml` v1.6 (`Marshal`, which goes through JSON
//! and the emitter of go-yaml v2), as controller-gen, kubectl, clusterctl and Cluster API do.
//!
//! Mappings in natural key order, lists not indented under their key, folding after column 80,
//! quotes exactly where Go puts them.

mod emitter;
mod order;
mod scalar;

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde_json::Value;

use self::emitter::Emitter;
use windlass_source::diag::FieldPath;

/// How deep a value may be nested.
const DEPTH: usize = 512;

/// Why a value cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmitError {
    /// A text or key holds a character that YAML does not allow (controls from U+007F on, U+FFFE,
    /// U+FFFF). Go fails in the same way.
    Character(char),
    /// A key holds U+0085, or a text a line `---` or `...` after it, on which Go's own reader
    /// trips.
    NextLine,
    /// Lists and mappings lie too deep in one another.
    Depth,
}

impl std::fmt::Display for EmitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EmitError::Character(c) => write!(
                f,
                "the character U+{:04X} is not allowed in YAML",
                u32::from(*c)
            ),
            EmitError::NextLine => f.write_str("the character U+0085 is not allowed here in YAML"),
            EmitError::Depth => write!(f, "values are nested more than {DEPTH} deep"),
        }
    }
}

impl std::error::Error for EmitError {}

/// The bytes of Go's `yaml.Marshal(value)`, with the line break at the end.
///
/// Where Go loses something, this does too: U+0085 in a text is a line break that is folded, and a
/// bare key `<<` is written without quotes. Keys of more than 1024 characters, on which Go fails,
/// are written.
///
/// # Errors
///
/// When a text cannot be written as YAML; see [`EmitError`].
pub fn to_string(value: &Value) -> Result<String, EmitError> {
    let mut text = String::new();
    write_to(&mut text, value)?;
    Ok(text)
}

/// Appends what [`to_string`] returns to a text.
///
/// # Errors
///
/// As [`to_string`]; the text then ends somewhere in the middle of the value.
pub(crate) fn write_to(text: &mut String, value: &Value) -> Result<(), EmitError> {
    Emitter::new(text).document(value)
}

/// Which strings with a clusterctl variable (`${…}`) stand in double quotes, so that what
/// replaces the variable stays text. Go quotes none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableQuoting<'a> {
    /// No string, as Go writes them.
    Never,
    /// All that stand on one line.
    Always,
    /// The strings at these paths, which may have several lines.
    At(&'a BTreeSet<FieldPath>),
}

/// As [`to_string`], but for documents that are a template still.
///
/// # Errors
///
/// As [`to_string`].
pub fn template_to_string(
    value: &Value,
    quoting: VariableQuoting<'_>,
) -> Result<String, EmitError> {
    let mut text = String::new();
    Emitter::new(&mut text).quoting(quoting).document(value)?;
    Ok(text)
}

/// Whether a text can stand as a value on one line without quotes and is read back as this text, by
/// Go and by other readers of YAML 1.1.
pub fn is_plain(text: &str) -> bool {
    let is_control = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    !matches!(text, "=" | "<<")
        && !text.contains(is_control)
        && scalar::analyze(text).style(text, true) == scalar::Style::Plain
}

/// Documents joined by lines `---`, as clusterctl joins them; no line `---` before the first one.
/// Many documents are written on all cores, and each gives back its memory as soon as it is text.
///
/// # Errors
///
/// The first document that cannot be written, as [`to_string`] says.
pub fn documents_to_string(documents: Vec<Value>) -> Result<String, Value> {
    let write = |document: Value| to_string(&document).map_err(|_| document);
    let texts: Vec<String> = if documents.len() < WORTHWHILE {
        documents.into_iter().map(write).collect::<Result<_, _>>()?
    } else {
        documents
            .into_par_iter()
            .with_max_len(1)
            .map(write)
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<_, _>>()?
    };
    Ok(texts.join("---\n"))
}

/// From this many documents on they are written on all cores.
const WORTHWHILE: usize = 16;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks how a text is written as the value of `k`.
    fn check(text: &str, expected: &str) {
        let written = to_string(&json!({ "k": text })).unwrap();
        assert_eq!(written, format!("k: {expected}\n"), "{text:?}");
    }

    /// Checks how a text is written as a key with the value 1.
    fn check_key(text: &str, expected: &str) {
        assert_eq!(
            to_string(&json!({ text: 1 })).unwrap(),
            format!("{expected}\n"),
            "{text:?}"
        );
    }

    fn check_value(value: serde_json::Value, expected: &str) {
        assert_eq!(to_string(&value).unwrap(), expected, "{value}");
    }

    #[test]
    fn words_that_yaml_reads_as_something_else_are_in_double_quotes() {
        for word in [
            "",
            "y",
            "Y",
            "yes",
            "n",
            "No",
            "true",
            "FALSE",
            "on",
            "Off",
            "~",
            "null",
            "NULL",
            "1",
            "-1",
            "+1",
            "0x1f",
            "0b1",
            "0o17",
            "017",
            "0777",
            "08",
            "1_000",
            "1.5",
            "1e3",
            ".5",
            "1.",
            ".43_03",
            ".nan",
            "-.inf",
            "2020-1-2",
            "2020-01-01",
            "2030-01-02T03:04:05Z",
            "1:20",
            "12:30:45",
            "-1:59",
            "1_0:2.5_",
            "0b-1",
            "18446744073709551616",
        ] {
            check(word, &format!("\"{word}\""));
            check_key(word, &format!("\"{word}\": 1"));
        }
    }

    #[test]
    fn words_that_only_look_like_something_else_stay_plain() {
        for word in [
            "NaN",
            "nan",
            "1e400",
            "<<",
            "=",
            "<",
            ".",
            "0.0.0.0/0",
            "::1",
            "a:b",
            "-a",
            "--a",
            "?a",
            ":a",
            "a#b",
            "a,b",
            "a'b",
            "a\"b",
            "a\\b",
            "fd00::/48",
            "a\u{a0}b",
            "é",
            "日本",
            "yES",
            "tRUE",
            "1:60",
            "0x",
            "2020-13-01",
            "2020-01-01T03:04:05",
            "1.2.3",
            "~x",
            "sha256:aa",
            "10.0.0.1:6443",
            "_1",
            "e5",
            "a]",
            "a}",
        ] {
            check(word, word);
        }
    }

    #[test]
    fn words_that_the_syntax_does_not_let_stand_are_in_single_quotes() {
        for word in [
            "-", "- a", "---", "...x", "a: b", "a:", "::", "? a", "?", ":", "a #b", "#a", " a",
            "a ", " ", ",a", "[a", "]", "{a", "}", "&a", "*a", "!a", "|", ">", "\"a", "%a", "@a",
            "`a", "{{ x }}",
        ] {
            check(word, &format!("'{word}'"));
        }
        check("'a", "'''a'");
        check("a: 'b'", "'a: ''b'''");
    }

    #[test]
    fn characters_that_cannot_be_seen_are_escaped() {
        check("a\tb", r#""a\tb""#);
        check("\0\x01\x07\x08\x0b\x0c\x1b", r#""\0\x01\a\b\v\f\e""#);
        check("a\rb", r#""a\rb""#);
        check("\r\n", r#""\r\n""#);
        check("a \nb", r#""a \nb""#);
        check("a\n ", r#""a\n ""#);
        check("😀", r#""\U0001F600""#);
        check("\u{feff}", r#""\uFEFF""#);
        check("\u{feff}a b", r#""\uFEFF\x61\x20\x62""#);
        check("a\u{feff}b", r#""a\uFEFFb""#);
        check("a\t\"\\é", r#""a\t\"\\é""#);
        check("a\u{2028} b", r#""a\L b""#);
        check("a\t\u{a0}", "\"a\\t\u{a0}\"");
    }

    #[test]
    fn texts_of_several_lines_are_blocks() {
        check("a\nb", "|-\n  a\n  b");
        for (text, expected) in [
            ("a\nb\n", "k: |\n  a\n  b\n"),
            ("a\n\nb", "k: |-\n  a\n\n  b\n"),
            ("a\n\n", "k: |+\n  a\n\n"),
            ("\n", "k: |2+\n\n"),
            ("\na", "k: |2-\n\n  a\n"),
            ("  a\nb", "k: |2-\n    a\n  b\n"),
            ("#a\n- b: c\n", "k: |\n  #a\n  - b: c\n"),
            ("a\n  b\n", "k: |\n  a\n    b\n"),
            ("a\u{2028}b\n", "k: |\n  a\u{2028}  b\n"),
        ] {
            assert_eq!(
                to_string(&json!({ "k": text })).unwrap(),
                expected,
                "{text:?}"
            );
        }
        check_value(
            json!({ "a": { "b": ["x\ny\n", "z"] } }),
            "a:\n  b:\n  - |\n    x\n    y\n  - z\n",
        );
        check_value(json!("a\nb"), "|-\n  a\n  b\n");
    }

    #[test]
    fn line_separators_are_line_breaks_of_yaml_1_1() {
        check("a\u{2028}b", "'a\u{2028}  b'");
        check("\u{2029}", "'\u{2029}'");
        check_value(json!({ "x": ["a\u{2028}b"] }), "x:\n- 'a\u{2028}  b'\n");
    }

    #[test]
    fn texts_are_folded_at_the_first_single_space_behind_column_80() {
        let eight = ["aaaaaaaaa"; 8].join(" ");
        // Behind `k: ` and eight words the column is 82.
        check(&format!("{eight} b c"), &format!("{eight}\n  b c"));
        check(&format!("{eight} b: c"), &format!("'{eight}\n  b: c'"));
        check(&format!("\t{eight} b c"), &format!("\"\\t{eight}\n  b c\""));
        let eighty = "a".repeat(77);
        check(&format!("{eighty} b c"), &format!("{eighty} b\n  c"));
        let unbroken = "a".repeat(200);
        check(&unbroken, &unbroken);
        let double = format!("{}  b c", "a".repeat(90));
        check(&double, &format!("{}  b\n  c", "a".repeat(90)));
        check(
            &format!("\t{double}"),
            &format!("\"\\t{}\n  \\ b c\"", "a".repeat(90)),
        );
        let key = format!("{} b", "a".repeat(100));
        check_key(&key, &format!("{key}: 1"));
    }

    #[test]
    fn long_keys_and_keys_of_several_lines_stand_alone() {
        let short = "a".repeat(128);
        check_key(&short, &format!("{short}: 1"));
        let long = "a".repeat(129);
        check_key(&long, &format!("? {long}\n: 1"));
        check_key("a\nb", "? |-\n  a\n  b\n: 1");
        check_key("\u{2028}", "? '\u{2028}'\n: 1");
        check_value(
            json!({ &long: ["a", { "b": 1 }] }),
            &format!("? {long}\n: - a\n  - b: 1\n"),
        );
        check_value(
            json!({ &long: { "a": 1, "b": [2] } }),
            &format!("? {long}\n: a: 1\n  b:\n  - 2\n"),
        );
    }

    #[test]
    fn collections_are_in_block_style() {
        check_value(json!({}), "{}\n");
        check_value(json!([]), "[]\n");
        check_value(
            json!({ "a": {}, "b": [], "c": null }),
            "a: {}\nb: []\nc: null\n",
        );
        check_value(
            json!([["a", ["b"]], { "c": [1] }, {}]),
            "- - a\n  - - b\n- c:\n  - 1\n- {}\n",
        );
        check_value(
            json!({ "v10": 1, "v2": [{ "b": 1, "a": { "x": 2 } }] }),
            "v2:\n- a:\n    x: 2\n  b: 1\nv10: 1\n",
        );
    }

    #[test]
    fn numbers_are_written_as_go_writes_them() {
        for (value, expected) in [
            (json!(i64::MIN), "-9223372036854775808"),
            (json!(u64::MAX), "18446744073709551615"),
            (json!(1.0), "1"),
            (json!(-0.0), "0"),
            (json!(1e15), "1000000000000000"),
            (json!(1e20), "1e+20"),
            (json!(1_234_567.125), "1.234567125e+06"),
            (json!(100_000.5), "100000.5"),
            (json!(1e-7), "1e-07"),
            (json!(-9.223_372_036_854_776e18), "-9.223372036854776e+18"),
        ] {
            check_value(value, &format!("{expected}\n"));
        }
    }

    #[test]
    fn next_line_is_folded_as_on_the_way_through_json() {
        check("a\u{85}b", "a b");
        check("a \u{85} b", "a b");
        check("a\u{85}\u{85}b", "|-\n  a\n  b");
        check("\u{85}", "' '");
        for (value, error) in [
            (json!({ "k": "a\u{85}--- b" }), EmitError::NextLine),
            (json!({ "a\u{85}b": 1 }), EmitError::NextLine),
            (json!("\u{7f}"), EmitError::Character('\u{7f}')),
            (json!({ "\u{fffe}": 1 }), EmitError::Character('\u{fffe}')),
            (json!("\u{80}"), EmitError::Character('\u{80}')),
        ] {
            assert_eq!(to_string(&value), Err(error));
        }
        check("a \u{85} --- b", "a --- b");
    }

    #[test]
    fn depth_is_bounded() {
        let mut value = json!(1);
        for _ in 0..DEPTH {
            value = json!([value]);
        }
        assert!(to_string(&value).is_ok());
        assert_eq!(to_string(&json!([value])), Err(EmitError::Depth));
    }

    #[test]
    fn documents_are_joined_by_markers() {
        assert_eq!(documents_to_string(Vec::new()).unwrap(), "");
        assert_eq!(
            documents_to_string(vec![json!({ "a": 1 }), json!(2)]).unwrap(),
            "a: 1\n---\n2\n"
        );
        let many: Vec<_> = (0..100).map(|n| json!({ "n": n })).collect();
        let one_by_one: Vec<_> = many.iter().map(|value| to_string(value).unwrap()).collect();
        assert_eq!(documents_to_string(many).unwrap(), one_by_one.join("---\n"));
    }

    fn written(quoting: VariableQuoting<'_>) -> String {
        let value = json!({"args": ["--v=${LEVEL:=2}", "plain"], "replicas": "${N:=1}", "script": "a\n${B}\n", "value": "${FLAG:=\"on\"}"});
        template_to_string(&value, quoting).expect("nothing that YAML rejects")
    }

    /// What replaces a variable in double quotes stays text; a bare one may become a number.
    #[test]
    fn variables_are_quoted_as_asked() {
        let bare = "args:\n- --v=${LEVEL:=2}\n- plain\nreplicas: ${N:=1}\nscript: |\n  a\n  ${B}\nvalue: ${FLAG:=\"on\"}\n";
        assert_eq!(written(VariableQuoting::Never), bare);
        let always = bare
            .replace("--v=${LEVEL:=2}", "\"--v=${LEVEL:=2}\"")
            .replace("${N:=1}", "\"${N:=1}\"");
        assert_eq!(
            written(VariableQuoting::Always),
            always.replace("${FLAG:=\"on\"}", "\"${FLAG:=\\\"on\\\"}\"")
        );
        let at = BTreeSet::from([FieldPath::root().field("args").index(0)]);
        assert_eq!(
            written(VariableQuoting::At(&at)),
            bare.replace("--v=${LEVEL:=2}", "\"--v=${LEVEL:=2}\"")
        );
    }
}
