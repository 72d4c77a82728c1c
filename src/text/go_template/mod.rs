//! The part of Go's `text/template` that contents of files need: text, comments, trimming, fields, pipelines, `if`, `with`, variables,
//! Go's own functions. What is left out (`range`, `define`, `template`, `block`, `call`) is told apart from what is wrong.
//!
//! Source: the documentation of Go's packages `text/template` and `fmt`.

mod evaluate;
mod format;
mod functions;
mod lexer;
mod parser;
mod value;

pub use value::Value;

/// How much a template may produce.
pub const MAX_OUTPUT: usize = 1 << 20;

/// Why a template has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The template is wrong; the line is known, Go's words are not.
    Syntax {
        /// From 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// An action fails; Go's words after `template: `.
    Execution(String),
    /// The template uses what this reader does not know.
    Unsupported(String),
    /// The result is larger than [`MAX_OUTPUT`].
    TooLarge,
}

/// The text of a template called `name` with `data` as its dot.
///
/// # Errors
///
/// See [`Fault`].
pub fn render(name: &str, text: &str, data: &Value) -> Result<String, Fault> {
    let nodes = parser::parse(text)?;
    evaluate::Run::new(name, text, data).all(&nodes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn data() -> Value {
        let inner = BTreeMap::from([("version".to_owned(), Value::Text("v1.33.4".to_owned()))]);
        Value::Map(BTreeMap::from([("controlPlane".to_owned(), Value::Map(inner))]))
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(render("/t", text, &data()).as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn actions_are_replaced() {
        check("a {{ .controlPlane.version }} b", "a v1.33.4 b");
        check("{{- /* note */ -}} x {{- \" y\" }}", "x y");
        check("{{ if .controlPlane }}yes{{ else }}no{{ end }}", "yes");
        check("{{ if .none }}a{{ else if eq 1 1 }}b{{ else }}c{{ end }}", "b");
        check("{{ with .controlPlane }}{{ .version }}{{ end }}{{ with .none }}x{{ else }}-{{ end }}", "v1.33.4-");
        check("{{ $v := .controlPlane.version }}{{ $v }}{{ $.controlPlane.version | len }}", "v1.33.47");
        check("{{ .none }} {{ . }}", "<no value> map[controlPlane:map[version:v1.33.4]]");
        check("{{ (slice .controlPlane.version 1) | printf \"%q\" }}", "\"1.33.4\"");
        check("{{ `raw {{` }}", "raw {{");
    }

    #[test]
    fn faults_are_told_apart() {
        let fault = |text| render("/t", text, &data()).unwrap_err();
        assert!(matches!(fault("{{ if .a }}"), Fault::Syntax { line: 1, .. }));
        assert!(matches!(fault("\n{{ nosuch 1 }}"), Fault::Syntax { line: 2, .. }));
        assert!(matches!(fault("{{ range . }}{{ end }}"), Fault::Unsupported(_)));
        let expected = "/t:2:3: executing \"/t\" at <index \"a\" 5>: error calling index: index out of range: 5";
        assert_eq!(fault("\n{{ index \"a\" 5 }}"), Fault::Execution(expected.to_owned()));
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000));
        assert!(render("/t", &deep, &data()).is_err());
        let deep = "{{ if 1 }}".repeat(5000) + &"{{ end }}".repeat(5000);
        assert!(render("/t", &deep, &data()).is_err());
    }
}
