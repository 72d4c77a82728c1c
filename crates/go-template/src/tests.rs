//! Tables of the grammar, and the bounds.

use super::*;

fn data() -> Value {
    Value::of_json(
        &serde_json::json!({"controlPlane": {"version": "v1.33.4"}, "l": [1, "b"], "z": null}),
    )
}

fn rendered(text: &str) -> Result<String, Fault> {
    render("/t", text, &data(), &Budget::default()).map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn actions_are_replaced() {
    let check =
        |text: &str, expected: &str| assert_eq!(rendered(text).as_deref(), Ok(expected), "{text}");
    check("a {{ .controlPlane.version }} b", "a v1.33.4 b");
    check("{{- /* note */ -}} x {{- \" y\" }}", "x y");
    check(
        "{{ if .none }}a{{ else if eq 1 1 }}b{{ else }}c{{ end }}",
        "b",
    );
    check(
        "{{ with .controlPlane }}{{ .version }}{{ end }}{{ with .none }}x{{ else }}-{{ end }}",
        "v1.33.4-",
    );
    check(
        "{{ $v := .controlPlane.version }}{{ $v }}{{ $.controlPlane.version | len }}",
        "v1.33.47",
    );
    check(
        "{{ .none }} {{ .controlPlane }}",
        "<no value> map[version:v1.33.4]",
    );
    check(
        "{{ (slice .controlPlane.version 1) | printf \"%q\" }}",
        "\"1.33.4\"",
    );
    check("{{ `raw {{` }}", "raw {{");
    check(
        "{{ range $i, $e := .l }}{{ $i }}={{ . }},{{ end }}{{ range 3 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ . }}{{ end }}",
        "0=1,1=b,02",
    );
    check(
        "{{ define \"a\" }}[{{ . }}]{{ end }}{{ template \"a\" 1 }}{{ block \"b\" . }}{{ .z }}{{ end }}",
        "[1]<no value>",
    );
    check(
        "{{ print nil .z .none }} {{ println 1 }}",
        "<nil> <nil> <nil> 1\n",
    );
}

#[test]
fn numbers_are_gos() {
    let check = |text: &str, expected: &str| {
        assert_eq!(
            rendered(&format!("{{{{ {text} }}}}")).as_deref(),
            Ok(expected),
            "{text}"
        )
    };
    check("-9223372036854775808", "-9223372036854775808");
    check("0x1p4", "16");
    check("1i", "(0+1i)");
    check("1+2i", "(1+2i)");
    check("\"\\x41\"", "A");
    check("'a'", "97");
    check("1e3", "1000");
    check("+017", "15");
    let rejected = |text: &str, message: &str| {
        let fault = rendered(&format!("{{{{ {text} }}}}")).unwrap_err();
        assert_eq!(
            fault.to_string(),
            format!("template: /t:1{message}"),
            "{text}"
        );
    };
    rejected(
        "--9223372036854775808",
        ": bad number syntax: \"--9223372036854775808\"",
    );
    rejected("0-5", ": bad number syntax: \"0-5\"");
    rejected("1e400", ": illegal number syntax: \"1e400\"");
    rejected(
        "9223372036854775808",
        ":3: executing \"/t\" at <9223372036854775808>: 9223372036854775808 overflows int",
    );
    rejected(
        "99999999999999999999",
        ": integer overflow: \"99999999999999999999\"",
    );
    rejected("nil", ":3: executing \"/t\" at <nil>: nil is not a command");
    rejected("/* c */", ": unexpected \"/\" in command");
}

#[test]
fn faults_have_their_line() {
    for (text, line) in [
        ("{{ if .a }}", 1),
        ("\n{{ nosuch 1 }}", 2),
        ("\n\n{{ index \"a\" 5 }}", 3),
    ] {
        let (Fault::Parse(rejection) | Fault::Execution(rejection)) = rendered(text).unwrap_err()
        else {
            panic!("{text}")
        };
        assert_eq!(rejection.line, line, "{text}");
    }
}

#[test]
fn nesting_is_bounded() {
    for text in [
        format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000)),
        "{{ if 1 }}".repeat(5000) + &"{{ end }}".repeat(5000),
        "{{ if 1 }}{{ else ".repeat(5000),
        "{{ define \"a\" }}{{ template \"a\" }}{{ end }}{{ template \"a\" }}".to_owned(),
    ] {
        assert!(
            matches!(
                rendered(&text),
                Err(Fault::Unsupported(_) | Fault::Parse(_))
            ),
            "{text:.40}"
        );
    }
    let deepest = "{{ with (print 1) }}".repeat(90) + &"{{ end }}".repeat(90);
    let calls = format!(
        "{{{{ define \"a\" }}}}{deepest}{{{{ if ge . 2.0 }}}}{{{{ template \"a\" . }}}}{{{{ end }}}}{{{{ end }}}}{{{{ template \"a\" 2.0 }}}}"
    );
    assert!(matches!(rendered(&calls), Err(Fault::Unsupported(_))));
}

#[test]
fn values_and_results_are_bounded() {
    let doubling = "{{ $a := \"x\" }}".to_owned() + &"{{ $a = print $a $a }}".repeat(60);
    assert_eq!(rendered(&doubling), Err(Fault::ValueTooLarge(1)));
    assert_eq!(
        rendered(&doubling.replace("}}{{", "}}\n{{")),
        Err(Fault::ValueTooLarge(26)),
        "2^24 bytes are held, 2^25 are not"
    );
    assert_eq!(
        rendered("{{ range 100000 }}0123456789abcdef{{ end }}"),
        Err(Fault::TooLarge)
    );
    let wide = format!(
        "{{{{ printf `{}` {}}}}}",
        "%1000000d".repeat(20),
        "1 ".repeat(20)
    );
    assert_eq!(rendered(&wide), Err(Fault::ValueTooLarge(1)));
    for (name, text) in [
        ("a loop", "{{ range 1000000000000 }}{{ end }}"),
        (
            "texts",
            "{{ range 10000 }}{{ $a := print `0123456789` }}{{ end }}",
        ),
    ] {
        assert_eq!(
            render("/t", text, &data(), &Budget::of(100_000)),
            Err(Fault::TooLong),
            "{name}"
        );
    }
}

fn steps(text: &str) -> u64 {
    let budget = Budget::default();
    render("/t", text, &data(), &budget).unwrap();
    budget.used()
}

#[test]
fn work_grows_with_the_template_and_not_with_its_square() {
    let variables = |count: usize| {
        let declared: String = (0..count)
            .map(|at| format!("{{{{ $a{at} := 1 }}}}"))
            .collect();
        declared + &"{{ $a0 }}".repeat(count)
    };
    for (name, template) in [
        ("variables", &variables as &dyn Fn(usize) -> String),
        ("texts", &|count| "a{{ 1 }}b".repeat(count)),
        ("else if", &|count| {
            "{{ if 0 }}{{ else }}x{{ end }}".repeat(count)
        }),
    ] {
        let (once, eight) = (steps(&template(100)), steps(&template(800)));
        assert!(eight < 9 * once, "{name}: {once}, {eight}");
    }
}
