//! Tables of the grammar, from clusterctl's observed behaviour.

use super::*;
use windlass_source::budget::Budget;

/// What every table works with; `E` is set and empty.
fn value(name: &str) -> Option<Vec<u8>> {
    let value: &[u8] = match name {
        "A" => b"aval",
        "E" => b"",
        "U" => b"Hello World",
        "P" => b"foo/bar/baz.tar.gz",
        "N" => b"12345",
        "NEG" => b"-1",
        "UNI" => "héllo".as_bytes(),
        "RAW" => b"a\xffb",
        _ => return None,
    };
    Some(value.to_vec())
}

/// The substituted text, or `!` and the error.
fn substitute(template: impl AsRef<[u8]>) -> String {
    match parse(template.as_ref())
        .and_then(|template| template.substitute(value, &Budget::default()))
    {
        Ok(done) => String::from_utf8_lossy(&done.bytes).into_owned(),
        Err(error) => format!("!{error}"),
    }
}

fn check(rows: &[(&str, &str)]) {
    for (template, expected) in rows {
        assert_eq!(substitute(template), *expected, "{template:?}");
    }
}

/// The variables as `NAME` or `NAME=default`, joined by blanks.
fn variables(template: &str) -> String {
    let found = parse(template).unwrap().variables();
    let shown: Vec<_> = found
        .into_iter()
        .map(|(name, default)| default.map_or(name.clone(), |d| format!("{name}={d}")))
        .collect();
    shown.join(" ")
}

#[test]
fn dollars_in_text() {
    check(&[
        (
            "$A ${A} $$A $${A} $$$A $$${A} $$$$A $$$${A}",
            "$A aval $A ${A} $$A $aval $$A $${A}",
        ),
        ("$(A) $[A] $ {A} a$", "$(A) $[A] $ {A} a$"),
        ("a$$", "a$"),
        ("$$", "$"),
        ("\\${A} \\$$", "\\aval \\$"),
        ("", ""),
        ("a}b{c", "a}b{c"),
    ]);
}

#[test]
fn defaults_apply_to_empty_values() {
    check(&[
        (
            "${M:=def} ${M:-def} ${M=def} ${M:?def} ${M:+def}",
            "def def def def def",
        ),
        ("${A:+alt} ${A:=alt}", "aval aval"),
        ("${E:-d} ${E:=d} ${E=d} [${E}]", "d d d []"),
        ("${M:=''}${M:=\"q d\"}${M:= s }", "''\"q d\" s "),
        ("${M==x} ${M:==x}", "=x =x"),
        ("${M1:=${M2:=inner}}", "inner"),
        ("${M1:=pre-${M2:=in}-post}", "pre-in-post"),
        ("${M1:=a} ${M1:=b} ${M1}", "a b "),
        ("${M:=a$$b} ${M:=a\\/b} ${M:=a}b}", "a$$b a\\/b ab}"),
        ("${M:=$${A}}", "$aval"),
        ("${M:={\"a\":\"b\"}}", "{\"a\":\"b\"}"),
        ("${M:=a\nb}", "a\nb"),
    ]);
}

#[test]
fn case_and_length() {
    check(&[
        (
            "${A^} ${A^^} ${U,} ${U,,} ${#U} ${#UNI}",
            "Aval AVAL hello World hello world 11 6",
        ),
        ("${A^,} ${A,^}", "aval aval"),
        ("${UNI^} ${UNI^^}", "Héllo HÉLLO"),
        ("${RAW^^} ${#RAW}", "A\u{fffd}B 3"),
    ]);
}

#[test]
fn substrings_are_bytes() {
    check(&[
        ("${N:1} ${N:1:2} ${N:0:99} [${N:9}]", "2345 23 12345 []"),
        (
            "${N: -2} ${N:abc} ${N:1:abc} ${N:1:2:3}",
            "12345 12345 12345 12345",
        ),
        ("${N:${NEG}} ${A:0:${N}} [${N:9:-1}]", "5 aval []"),
        ("${UNI:1:2} ${UNI:2:1}", "é \u{fffd}"),
        ("${N:0:-1}", "!negative length in a substring of variable N"),
        ("${E:0:-1}", "!negative length in a substring of variable E"),
        (
            "${A:=${N:0:-1}}",
            "!negative length in a substring of variable N",
        ),
        ("${N:99999999999999999999}", "12345"),
        ("[${N:9223372036854775807}]", "[]"),
    ]);
}

#[test]
fn prefixes_and_suffixes() {
    check(&[
        (
            "${P#*/} ${P##*/} ${P%.*} ${P%%.*}",
            "bar/baz.tar.gz baz.tar.gz foo/bar/baz.tar foo/bar/baz",
        ),
        (
            "${P#foo} ${P%gz} ${P#x}",
            "/bar/baz.tar.gz foo/bar/baz.tar. foo/bar/baz.tar.gz",
        ),
        (
            "${P%*} [${P%%*}] ${P#*} [${P##*}] ${P#?}",
            "foo/bar/baz.tar.g [] oo/bar/baz.tar.gz [] oo/bar/baz.tar.gz",
        ),
        (
            "${P#[e-g]o} ${P#[^a]} ${P##*[/]b} ${P#\\f}",
            "o/bar/baz.tar.gz oo/bar/baz.tar.gz az.tar.gz oo/bar/baz.tar.gz",
        ),
        ("${A#[} ${A#[]a]} ${A#[a-} ${A#a\\}", "aval aval aval aval"),
        ("${UNI#h?} ${UNI##h?} ${UNI#*l}", "\u{fffd}llo llo lo"),
        ("${RAW%b}", "a\u{fffd}"),
        ("[${E#*}] [${E%%*}]", "[] []"),
    ]);
}

#[test]
fn replacements_are_literal() {
    check(&[
        (
            "${P/bar/BAR} ${P//a/A} ${P//a/} ${P/#foo/X} ${P/%gz/Y}",
            "foo/BAR/baz.tar.gz foo/bAr/bAz.tAr.gz foo/br/bz.tr.gz X/bar/baz.tar.gz foo/bar/baz.tar.Y",
        ),
        (
            "${P/#foo/} ${P/%gz/}",
            "foo/bar/baz.tar.gz foo/bar/baz.tar.gz",
        ),
        (
            "${P//\\//-} ${P/bar/a\\/b} ${P/bar/$$}",
            "foo-bar-baz.tar.gz foo/a/b/baz.tar.gz foo/$/baz.tar.gz",
        ),
        ("${A/v/x/y} ${A//*/x}", "ax/yal aval"),
        (
            "${A//${E}/-} ${A/${E}/-} ${A/#${E}/-} ${A/%${E}/-}",
            "-a-v-a-l- -aval -aval aval-",
        ),
        ("${A//a/${U}}", "Hello WorldvHello Worldl"),
    ]);
}

#[test]
fn faults_are_named_as_by_the_reference() {
    let tables = [
        (
            "bad substitution",
            "${P^^^} ${P/a} ${#} ${##} ${A: ${A^x} ${#A:=x} ${P#foo${A}} ${N:${A}${B}} ${P/ba${A}/x} ${A:é}",
        ),
        (
            "missing closing brace",
            "${A ${A.B} ${A-B} ${A!} ${M-def} ${M+def} ${A$B}",
        ),
        ("unable to parse variable name", "${} ${-} ${$A} ${ ${${A}}"),
        (
            "unable to parse substitution within function",
            "${A:=x ${A#} ${N:} ${N:1:} ${N::2} ${P:::} ${M:=a${A} ${A/#/x} ${A/%/x}",
        ),
    ];
    for (error, templates) in tables {
        for template in templates.split(' ') {
            assert_eq!(substitute(template), format!("!{error}"), "{template:?}");
        }
    }
    check(&[
        ("${ A:=x }", "!unable to parse variable name"),
        ("${AB CD}", "!missing closing brace"),
        ("${ A", "!unable to parse variable name"),
    ]);
}

#[test]
fn faults_have_a_place() {
    for (template, start, stopped) in [
        ("ab ${A.B}", 3, 6),
        ("${M:=x${A:=${!}}}", 11, 13),
        ("${ A } ${B!}", 7, 10),
        ("x${A:=y", 1, 7),
    ] {
        let error = parse(template).unwrap_err();
        assert_eq!(
            (error.start, error.stopped),
            (start, stopped),
            "{template:?}: {error}"
        );
    }
    let error = parse("${A} ${Z} ${M}")
        .unwrap()
        .substitute(value, &Budget::default())
        .unwrap_err();
    assert_eq!(error.start, 10, "the first missing variable by name is M");
}

#[test]
fn missing_variables_are_listed_by_name() {
    check(&[
        (
            "${Z1} ${A} ${B1} ${Z1}",
            "!value for variables [B1, Z1] is not set. Please set the value using os environment variables or the clusterctl config file",
        ),
        (
            "${M} ${M:=b}",
            "!value for variables [M] is not set. Please set the value using os environment variables or the clusterctl config file",
        ),
        ("[${E}] ${M:=b} [${M}]", "[] b []"),
        ("${M1:=${M2}}", ""),
    ]);
    assert_eq!(
        parse("[${M}]")
            .unwrap()
            .expand(value, &Budget::default())
            .unwrap()
            .text(),
        Ok("[]")
    );
}

#[test]
fn the_first_use_decides_the_default() {
    for (template, expected) in [
        ("${M:=b} ${M}", "M=b"),
        ("${M} ${M:=b}", "M"),
        ("${M:=} ${X^^} ${#Y}", "M X Y"),
        ("${M:=\"\"}", "M=\"\""),
        ("${M#abc} ${N:0:3} ${P/a/b}", "M=abc N=03 P=ab"),
        ("${M1:=pre-${M2:=in}-post}", "M1=pre-${M2}-post"),
        ("${ B } $${C} ${a:=x$$y}", "B a=x$$y"),
    ] {
        assert_eq!(variables(template), expected, "{template:?}");
    }
}

#[test]
fn uses_know_their_place_and_whether_they_are_nested() {
    let text = "${ A } ${M:=x${A:=d}}${B}";
    let template = parse(text).unwrap();
    let uses: Vec<_> = template
        .uses()
        .into_iter()
        .map(|u| (u.name, &text[u.span], u.default, u.nested))
        .collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        uses,
        [
            ("A", "${ A }", None, false),
            ("M", "${M:=x${A:=d}}", some("x${A}"), false),
            ("A", "${A:=d}", some("d"), true),
            ("B", "${B}", None, false)
        ]
    );
}

#[test]
fn a_nul_byte_ends_the_template() {
    check(&[
        ("a${A}\0${M}", "aaval"),
        ("a$\0b", "a$"),
        ("${A\0}", "!missing closing brace"),
    ]);
}

#[test]
fn bytes_that_are_not_utf8_pass_through() {
    let done = parse(b"\xff${RAW}$$\xc3")
        .unwrap()
        .substitute(value, &Budget::default())
        .unwrap();
    assert_eq!(done.bytes, b"\xffa\xffb$\xc3");
    assert!(done.text().is_err());
}

#[test]
fn depth_is_not_bounded_by_the_stack() {
    let depth = 200_000;
    let text = ["${M:=x".repeat(depth), "}".repeat(depth)].concat();
    let template = parse(&text).unwrap();
    assert_eq!(
        template
            .substitute(value, &Budget::default())
            .unwrap()
            .bytes,
        "x".repeat(depth).into_bytes()
    );
    assert_eq!(template.uses().len(), depth);
    let open = "${A#".repeat(depth);
    assert!(parse(&open).is_err());
}

#[test]
fn output_is_bounded() {
    let big = vec![b'a'; 1 << 20];
    let error = parse(&"${A}".repeat(300))
        .unwrap()
        .substitute(|_| Some(big.clone()), &Budget::default())
        .unwrap_err();
    assert_eq!(error.kind, SubstErrorKind::TooLarge("A".to_owned()));
    let error = parse("${A//a/${A}}")
        .unwrap()
        .substitute(|_| Some(big.clone()), &Budget::default())
        .unwrap_err();
    assert_eq!(error.kind, SubstErrorKind::TooLarge("A".to_owned()));
}

/// The steps that a template takes, with a variable of a long value.
fn steps(template: &str, value: &str) -> u64 {
    let budget = Budget::default();
    parse(template)
        .unwrap()
        .substitute(|_| Some(value), &budget)
        .unwrap();
    budget.used()
}

#[test]
fn work_grows_with_the_input_and_not_with_its_square() {
    for (name, template, value) in [
        ("replaced by nothing", "${A//a/}", "a"),
        ("replaced by more", "${A//ab/xyz}", "ab"),
        ("a literal behind a star, missing", "${A##*ab}", "a"),
        ("a literal behind a star, from behind", "${A%%ab*}", "a"),
        ("stars", "${A##*a*a*a*b}", "a"),
        ("a class", "${A#*[xyz]}", "a"),
    ] {
        let (once, eight) = (
            steps(template, &value.repeat(1000)),
            steps(template, &value.repeat(8000)),
        );
        assert!(once > 1000 && eight < 9 * once, "{name}: {once}, {eight}");
    }
}

#[test]
fn a_pattern_ends_with_the_budget() {
    let value = "a".repeat(100_000);
    for (before, after) in [("${A##*?", "b}"), ("${A%%b", "?*}")] {
        let template = format!("{before}{}{after}", "a".repeat(50_000));
        let done = parse(&template)
            .unwrap()
            .substitute(|_| Some(value.clone()), &Budget::default());
        assert_eq!(
            done.map_err(|error| error.kind).err(),
            Some(SubstErrorKind::TooLong("A".to_owned())),
            "{before}"
        );
    }
    let value = "é".repeat(30_000);
    let error = parse("${A##*ab}")
        .unwrap()
        .substitute(|_| Some(value.clone()), &Budget::default())
        .unwrap_err();
    assert_eq!(error.kind, SubstErrorKind::TooLong("A".to_owned()));
    let budget = Budget::of(1000);
    let error = parse(&"${A//a/}".repeat(100))
        .unwrap()
        .substitute(|_| Some("a".repeat(100)), &budget)
        .unwrap_err();
    assert_eq!(
        (error.kind, error.start),
        (SubstErrorKind::TooLong("A".to_owned()), 72)
    );
}
