//! Texts in every way of writing, and what of them is secret.

use super::*;

/// The text with each secret as `<…>`.
fn check(text: &str, expected: &str) {
    assert_eq!(masked(text).replace(REDACTED, "<>"), expected, "{text}");
}

#[test]
fn values_of_secrets_are_secret_and_nothing_beside_them() {
    check(
        "kind: Secret\nmetadata: {name: s}\ndata:\n  a: x\n  b: |\n    y\n    c: z\ntype: Opaque\n",
        "kind: Secret\nmetadata: {name: s}\ndata:\n  a: <>\n  b: <>\n    <>\n    <>\ntype: Opaque\n",
    );
    check(
        "{\"kind\":\"Secret\",\"stringData\":{\"a\":\"x\"},\"type\":\"y\"}",
        "{\"kind\":\"Secret\",\"stringData\":<>,\"type\":\"y\"}",
    );
    check(
        "kind: Secret\nstringDat: x\n---\nkind: ConfigMap\ndata: {a: x}\n",
        "kind: Secret\nstringDat: <>\n---\nkind: ConfigMap\ndata: {a: x}\n",
    );
    check(
        "data: {a: x}\nkind: SecretStore\n",
        "data: {a: x}\nkind: SecretStore\n",
    );
    check(
        "kind: List\nitems:\n- kind: Secret\n  data: {a: x}\n",
        "kind: List\nitems:\n- kind: Secret\n  data: <>\n",
    );
}

#[test]
fn fields_with_secrets_are_known_wherever_they_stand() {
    check(
        "- passwd: x y # z\n  name: u\n",
        "- passwd: <>\n  name: u\n",
    );
    check(
        "[{name: u, passwd: x}, {token: \"a, b\", c: d}]",
        "[{name: u, passwd: <>}, {token: <>, c: d}]",
    );
    check(
        "[{token: \"a:\", c: d}, {token: x}]",
        "[{token: <>, c: d}, {token: <>}]",
    );
    check(
        "data: {a: \"x:\", b: y}\nkind: Secret\n",
        "data: <>\nkind: Secret\n",
    );
    check("token:\n  x\nb: 1\n", "token:\n  <>\nb: 1\n");
    check("token:\n- x\n- y\nb: 1\n", "token:\n<>\nb: 1\n");
    check(
        "passwdFrom: {secret: {name: s, key: k}}\n",
        "passwdFrom: {secret: {name: s, key: k}}\n",
    );
    check(
        "passwdFrom: {secret: x}\nb: 1\n",
        "passwdFrom: {secret: <>}\nb: 1\n",
    );
    check(
        "passwdFrom: {wrong: x}\nb: 1\n",
        "passwdFrom: {wrong: <>}\nb: 1\n",
    );
    check("bootstrapToken: x.y\nb: 1\n", "bootstrapToken: <>\nb: 1\n");
    check(
        "exec: {command: c, env: [{name: n, value: x}]}\n",
        "exec: {command: c, env: [{name: n, value: <>}]}\n",
    );
    check(
        "secretGenerator:\n- name: a\n  literals: [b=x]\nresources: [c]\n",
        "secretGenerator:\n<>\nresources: [c]\n",
    );
    check(
        "- {op: add, path: /data/a, value: x}\n",
        "- {op: add, path: /data/a, value: <>}\n",
    );
    check(
        "- op: add\n  path: \"/stringData/a\"\n  value: x\n",
        "- op: add\n  path: \"/stringData/a\"\n  value: <>\n",
    );
    check(
        "- op: add\n  path: /spec/data\n  value: x\n",
        "- op: add\n  path: /spec/data\n  value: x\n",
    );
    check(
        "A_TOKEN: x\nMY_TOKENS_URL: y\nREPLICAS: 1\n",
        "A_TOKEN: <>\nMY_TOKENS_URL: <>\nREPLICAS: 1\n",
    );
    check(
        "-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----\n",
        "<>-----END RSA PRIVATE KEY-----\n",
    );
    check(
        "kind: x\nkind: CustomResourceDefinition\ntoken: {type: string}\n",
        "kind: x\nkind: CustomResourceDefinition\ntoken: {type: string}\n",
    );
}

#[test]
fn blocks_end_neither_at_comments_nor_within_quotes() {
    check(
        "kind: Secret\ndata:\n  a: x\n# c\n  b: y\ntype: t\n",
        "kind: Secret\ndata:\n  a: <>\n<>\n  b: <>\ntype: t\n",
    );
    check(
        "kind: Secret\ndata:\n# c\n  b: y\n",
        "kind: Secret\ndata:\n<>\n  <>\n",
    );
    check(
        "kind: Secret\ndata:\n  a: '\n\nx y:\n\n'\n  b: z\ntype: t\n",
        "kind: Secret\ndata:\n  a: <>\n\n<>\n\n<>\n  b: <>\ntype: t\n",
    );
}

#[test]
fn secrets_are_known_in_all_the_ways_in_which_yaml_writes_them() {
    for kind in [
        "kind: &k Secret",
        "kind: !!str Secret",
        "kind: ${K:=Secret}",
        "kind:\n  Secret",
        "kind: >-\n  Secret",
        "\"kind\" : 'Secret'",
    ] {
        check(
            &format!("{kind}\ndata:\n  a: x\n"),
            &format!("{kind}\ndata:\n  a: <>\n"),
        );
    }
    for text in [
        "\"k\\x69nd\": \"S\\x65cret\"\ndata:\n  a: x\n",
        "kind: \"\\x53ecret\"\ndata:\n  a: x\n",
        "\"k\\x69nd\": Secret\ndata:\n  a: x\n",
        "? kind\n: Secret\ndata:\n  a: x\n",
        "kind: Secret\n\"d\\x61ta\":\n  a: x\n",
        "kind: Secret\n? data\n: a: x\n",
    ] {
        check(text, "<>\n");
    }
    check("? [a, b]\n: c\n", "? [a, b]\n: c\n");
    // What Go's JSON writes for `<` is in values.
    check(
        "{\n  \"a\": \"b \\u003c c\",\n  \"d \\u003c e\",\n}\n",
        "{\n  \"a\": \"b \\u003c c\",\n  \"d \\u003c e\",\n}\n",
    );
    check(
        "kind: Secret\ndata: {}\n---b: x\n",
        "kind: Secret\ndata: <>\n---b: <>\n",
    );
}

#[test]
fn nested_references_are_read_once() {
    let text = format!("data:\n{}", "secret: {".repeat(50_000));
    assert_eq!(spans(&text).len(), 0);
}

#[test]
fn in_a_broken_text_more_is_taken_rather_than_less() {
    check("a: 1\npasswd: \"x\nb: 2\n", "a: 1\npasswd: <>\n");
    check("a: 1\ntoken: [x, {y\nb: 2\n", "a: 1\ntoken: <>\n");
    check("token: &a [x, y", "token: <>");
    check("passwd: 'x' y\nb: 1\n", "passwd: <>\nb: 1\n");
    check("passwd: 'x', y\nb: 1\n", "passwd: <>\nb: 1\n");
}

#[test]
fn words_are_found_alone_and_as_they_are_meant() {
    let clean = |secret: &str, text: &str| {
        let mut text = text.to_owned();
        Words::new([secret].into_iter(), 1).remove_from(&mut text);
        text.replace(REDACTED, "<>")
    };
    assert_eq!(
        clean("hunter2", "`hunter2` and hunter22"),
        "`<>` and hunter22"
    );
    assert_eq!(clean("\"a\\tb\"", "it is a\tb"), "it is <>");
    assert_eq!(clean("aHVudGVyMg==", "hunter2"), "<>");
    assert_eq!(
        clean(
            "hunter2-x",
            "HUNTER2-X hunter2-x aHVudGVyMi14 aHVudGVyMi14Cg=="
        ),
        "<> <> <> aHVudGVyMi14Cg=="
    );
    assert_eq!(
        clean("RollingUpdate", "spec.rollingUpdate ROLLINGUPDATE"),
        "spec.rollingUpdate <>"
    );
    assert_eq!(
        clean("kind: ClusterRole", "ClusterRole/a and kind: ClusterRole"),
        "ClusterRole/a and kind: ClusterRole"
    );
    assert_eq!(clean("apiVersion: apps/v1", "apps/v1"), "apps/v1");
    assert_eq!(clean("apiVersion: hunter2", "hunter2"), "<>");
    // What stands behind base64 and escapes, and what lines of it assign.
    for secret in [
        "WmVicmFTM2NyZXQK",
        "\"ZebraS3cret\\n\"",
        "\"ZebraS3cret \\r\\n\"",
        "\"a: b\\nuser:ZebraS3cret\"",
        "\"labels:\\n  app: ZebraS3cret\\n\"",
    ] {
        assert_eq!(clean(secret, "is ZebraS3cret"), "is <>", "{secret}");
    }
    for secret in [
        "\"ZebraS3cret \"",
        "\"- ZebraS3cret\"",
        "$ZebraS3cret;",
        "\"# ZebraS3cret\\n\"",
        "'.ZebraS3cret.'",
    ] {
        assert!(
            !clean(secret, "is ZebraS3cret").contains("Zebra"),
            "{secret}"
        );
    }
    for secret in [
        "aws_secret_access_key = ZebraS3cret",
        "user:ZebraS3cret",
        "KEY='ZebraS3cret'",
        "S0VZPVplYnJhUzNjcmV0Cg==",
    ] {
        assert_eq!(clean(secret, "is ZebraS3cret"), "is <>", "{secret}");
    }
    assert_eq!(
        clean("kind: ClusterRole\nname: x7", "ClusterRole/x7"),
        "ClusterRole/<>"
    );
    for (secret, text) in [
        ("kind: Role 7", "Role 7"),
        ("kind: hunter2", "hunter2"),
        ("mankind: Role", "Role"),
        ("apiVersion: a/b", "a/b"),
        ("label:", "label:"),
    ] {
        assert_eq!(clean(secret, text), "<>", "{secret}");
    }
    for (version, is_shown) in [
        ("v2.11.0", true),
        ("v1.30", true),
        ("v1.0.0-rc.1", true),
        ("v1.0.0-hunter2", false),
        ("2.11.0", false),
    ] {
        let shown = clean(
            &format!("image: registry.k8s.io/livenessprobe:{version}"),
            &format!("of {version} is told"),
        );
        assert_eq!(shown.contains(version), is_shown, "{shown}");
    }
    assert_eq!(clean("- labels:", "`labels: {}`"), "`labels: {}`");
    let long_one = "hunter2-hunter2-hunter2";
    let encoded = "aHVudGVyMi1odW50ZXIyLWh1bnRlcjIK";
    assert!(
        !clean(long_one, encoded).contains("aHVudGVy"),
        "with a line end behind it"
    );
    assert_eq!(clean("- [x1, {k: x2}]", "x1 x2 k"), "<> <> k");
    let tail = format!("{}a", "x".repeat(64));
    assert_eq!(clean(&tail, &format!("a word {tail}")), "a word <><>");
    let long = "é".repeat(200);
    assert_eq!(
        clean(&long, &format!("a {long} b")).replace("<>", ""),
        "a  b"
    );
}

#[test]
fn options_of_mounts_and_credentials_of_urls_are_hidden() {
    for (text, expected) in [
        (
            "mounts:\n- - //s/x\n  - username=u,password=hunter2\n",
            "mounts:\n- - //s/x\n  - username=u,password=<redacted>\n",
        ),
        (
            "proxy: http://u:hunter2@p:80\nmail: a@b\n",
            "proxy: http://<redacted>@p:80\nmail: a@b\n",
        ),
        (
            "users: hunter2\nfiles: [a]\n",
            "users: <redacted>\nfiles: [a]\n",
        ),
    ] {
        assert_eq!(masked_with_contents(text), expected);
    }
    let flow = "mounts: [[\"//s/x\", /mnt, cifs, \"username=u,password=hunter2\"]]\n";
    assert!(!masked_with_contents(flow).contains("hunter2"));
}
