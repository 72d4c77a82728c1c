//! What sprig gives, observed of sprig v3.3.0, and the bounds.

use crate::{Dialect, Fault, render, render_in};
use windlass_go_text::value::Value;
use windlass_source::budget::Budget;

fn rendered(text: &str) -> Result<String, Fault> {
    let data = Value::of_json(
        &serde_json::json!({"n": 3, "s": "First Try", "l": ["b", "a", "b"], "m": {"x": 1, "y": {"z": "deep"}}}),
    );
    render_in(Dialect::SPRIG, "tpl", text, &data, &Budget::default())
        .map(|text| String::from_utf8(text).unwrap())
}

fn check(pairs: &[(&str, &str)]) {
    for (text, expected) in pairs {
        let found =
            rendered(&format!("{{{{ {text} }}}}")).unwrap_or_else(|fault| fault.to_string());
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn texts_are_sprigs() {
    check(&[
        ("abbrev 6 \"long text\"", "lon..."),
        ("abbrevboth 5 10 \"1234 5678 9123\"", "...5678..."),
        ("trunc -3 \"hello\"", "llo"),
        ("\"a b  c\" | nospace", "abc"),
        ("initials .s", "FT"),
        ("snakecase \"FooBar2Baz\"", "foo_bar2_baz"),
        ("snakecase \"HTTPServer\"", "http_server"),
        ("kebabcase \"FirstName\"", "first-name"),
        ("camelcase \"http_server\"", "HttpServer"),
        ("wrap 5 \"hello world\"", "hello\nworld"),
        ("wrapWith 5 \"\\t\" \"HelloWorld\"", "Hello\tWorld"),
        ("quote 1 \"a\\\"\" nil true", "\"1\" \"a\\\"\" \"true\""),
        ("cat \"a\" nil 2", "a 2"),
        ("\"a\\nb\" | nindent 2", "\n  a\n  b"),
        ("(split \"$\" \"foo$bar\")._1", "bar"),
        ("join \"-\" .l", "b-a-b"),
        ("sortAlpha .l", "[a b b]"),
        ("substr 0 3 \"hello\"", "hel"),
        ("swapcase \"aBc\"", "AbC"),
        ("title \"hello my world\"", "Hello My World"),
        ("plural \"one\" \"many\" 2", "many"),
        ("repeat 3 \"ab\"", "ababab"),
    ]);
}

#[test]
fn values_are_sprigs() {
    check(&[
        ("default \"d\" .none", "d"),
        ("default \"d\" 1", "1"),
        ("ternary \"a\" \"b\" (eq .n 3.0)", "a"),
        ("uniq .l", "[b a]"),
        ("without .l \"b\"", "[a]"),
        ("has 3.0 (list .n)", "true"),
        ("chunk 2 (list 1 2 3) | toJson", "[[1,2],[3]]"),
        ("dict \"a\" 1 \"b\" (list) | toJson", "{\"a\":1,\"b\":[]}"),
        ("dig \"y\" \"z\" \"none\" .m", "deep"),
        ("pick .m \"x\" | toJson", "{\"x\":1}"),
        ("keys .m | sortAlpha | join \",\"", "x,y"),
        ("first .l", "b"),
        ("rest .l", "[a b]"),
        ("slice .l 1 2", "[a]"),
        ("kindOf 1.5", "float64"),
        ("typeOf (add 1 2)", "int64"),
        ("typeOf .l", "[]interface {}"),
        ("empty .none", "true"),
        ("coalesce 0 \"\" \"x\"", "x"),
        (
            "toPrettyJson (dict \"a\" (list 1))",
            "{\n  \"a\": [\n    1\n  ]\n}",
        ),
        ("toRawJson \"<\"", "\"<\""),
        ("(fromJson \"{\\\"a\\\": [1]}\").a", "[1]"),
    ]);
}

#[test]
fn numbers_are_sprigs() {
    check(&[
        ("add 1 2.9 \"3\"", "6"),
        ("div 7 2", "3"),
        ("mod 7 2", "1"),
        ("max 1 5 2", "5"),
        ("round 123.5555 3", "123.556"),
        ("addf 0.1 0.2", "0.3"),
        ("divf 1 3", "0.3333333333333333"),
        ("int .n", "3"),
        ("until 3", "[0 1 2]"),
        ("untilStep 3 0 -2", "[3 1]"),
        ("seq 0 2 10", "0 2 4 6 8 10"),
        ("seq 2 -2", "2 1 0 -1 -2"),
        ("toDecimal \"0777\"", "511"),
        ("durationRound \"2h10m\"", "2h"),
    ]);
}

#[test]
fn encodings_and_patterns_are_sprigs() {
    check(&[
        ("b64enc \"Hello\" | b64dec", "Hello"),
        ("b32enc \"hi\"", "NBUQ===="),
        ("b32enc \"hello\" | b32dec", "hello"),
        ("adler32sum \"a\"", "6422626"),
        (
            "sha256sum \"\"",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ),
        (
            "regexReplaceAll \"a(x*)b\" \"-ab-axxb-\" \"${1}W\"",
            "-W-xxW-",
        ),
        ("regexReplaceAll \"a(x*)b\" \"-ab-axxb-\" \"$1W\"", "---"),
        ("regexSplit \"z+\" \"pizza\" -1", "[pi a]"),
        ("regexFindAll \"[24]\" \"123456\" -1", "[2 4]"),
        ("regexQuoteMeta \"1.2\"", "1\\.2"),
        ("(urlParse \"http://u@h:1/p?q=1#f\").hostname", "h"),
        (
            "urlJoin (urlParse \"http://h:1/p?q=1\")",
            "http://h:1/p?q=1",
        ),
        ("base \"/a/b.c\"", "b.c"),
        ("clean \"/a/../b\"", "/b"),
    ]);
}

#[test]
fn versions_are_sprigs() {
    check(&[
        ("semverCompare \"^1.31.0\" \"v1.34.1\"", "true"),
        ("semverCompare \">= 1.35.0-0\" \"v1.34.1\"", "false"),
        ("semverCompare \"<1.33\" \"v1.32.5\"", "true"),
        ("semverCompare \"~1.2.3\" \"1.3.0\"", "false"),
        ("semverCompare \"1.2 - 1.4\" \"1.3.0\"", "true"),
        ("semverCompare \">1.2 <2 || 3.x\" \"3.9.1\"", "true"),
        ("semverCompare \">=1.0\" \"1.1.0-rc.1\"", "false"),
        ("semver \"v1.34.1-rc.1+b\"", "1.34.1-rc.1+b"),
        ("(semver \"v1.34.1\").Minor", "34"),
    ]);
    let fault = rendered("{{ semverCompare \"x!\" \"v1\" }}")
        .unwrap_err()
        .to_string();
    assert!(
        fault.ends_with("error calling semverCompare: improper constraint: x!"),
        "{fault}"
    );
}

#[test]
fn arguments_have_types() {
    check(&[
        (
            "trunc \"a\" \"b\"",
            "template: tpl:1:9: executing \"tpl\" at <\"a\">: expected integer; found \"a\"",
        ),
        (
            "repeat .n \"b\"",
            "template: tpl:1:10: executing \"tpl\" at <.n>: wrong type for value; expected int; got float64",
        ),
        (
            "round 1.0 (add 1 1)",
            "template: tpl:1:20: executing \"tpl\" at <1>: wrong type for value; expected int; got int64",
        ),
        (
            "upper nil",
            "template: tpl:1:9: executing \"tpl\" at <nil>: cannot assign nil to string",
        ),
        (
            "add1",
            "template: tpl:1:3: executing \"tpl\" at <add1>: wrong number of args for add1: want 1 got 0",
        ),
        (
            "div 1 0",
            "template: tpl:1:3: executing \"tpl\" at <div 1 0>: error calling div: runtime error: integer divide by zero",
        ),
    ]);
}

#[test]
fn rejects_by_name_what_is_not_followed() {
    for (text, word) in [
        ("randInt 1 5", "randInt"),
        ("genCA \"a\" 1", "genCA"),
        ("set .m \"a\" 1", "set"),
        ("ago 1", "ago"),
        (
            "derivePassword 1 \"long\" \"p\" \"u\" \"s\"",
            "derivePassword",
        ),
    ] {
        match rendered(&format!("{{{{ {text} }}}}")) {
            Err(Fault::Unsupported(reason)) => {
                assert!(reason.contains(&format!("`{word}`")), "{reason}")
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(
        matches!(rendered("{{ now }}"), Err(Fault::Parse(_))),
        "it is not in the map"
    );
    let plain = render("tpl", "{{ upper \"a\" }}", &Value::Nil, &Budget::default());
    assert!(
        matches!(plain, Err(Fault::Parse(_))),
        "files of render have the standard functions alone"
    );
}

#[test]
fn bombs_are_bounded() {
    let double = "{{ $x := list 1 }}".to_owned() + &"{{ $x = list $x $x }}".repeat(60);
    for text in [
        "{{ until 1000000000 }}".to_owned(),
        "{{ repeat 1000000000 \"ab\" }}".to_owned(),
        "{{ indent 1000000000 \"ab\" }}".to_owned(),
        "{{ join (repeat 1000000 \"x\") (until 100000) }}".to_owned(),
        "{{ seq 1 1000000000 }}".to_owned(),
        format!("{double}{{{{ toJson $x }}}}"),
        format!("{double}{{{{ deepEqual $x $x }}}}"),
        format!("{double}{{{{ $x | toString | len }}}}"),
        "{{ range until 500000 }}{{ range until 500000 }}{{ end }}{{ end }}".to_owned(),
        "{{ $x := list (repeat 8000000 \"ab\") }}{{ range until 100000 }}{{ $y := has \"c\" $x }}{{ end }}".to_owned(),
        "{{ $x := list (list (repeat 8000000 \"ab\")) }}{{ range until 100000 }}{{ $y := uniq $x }}{{ end }}".to_owned(),
        "{{ $x := repeat 8000000 \"ab\" }}{{ $y := repeat 8000000 \"ab\" }}{{ range until 100000 }}{{ $z := eq $x $y }}{{ end }}"
            .to_owned(),
    ] {
        let fault = rendered(&text);
        assert!(matches!(fault, Err(Fault::ValueTooLarge(_) | Fault::TooLong | Fault::TooLarge)), "{text}: {fault:?}");
    }
}
