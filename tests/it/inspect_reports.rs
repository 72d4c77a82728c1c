//! `inspect`: the text and the page of machines, steps, files, certificates and logs, word by word.

use std::fs;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::diff_reports::sections;
use crate::support::windlass;

const AT: &str = "2026-11-23T10:00:00Z";

/// Standard output and standard error of an inspection of `data`, beside which a log lies.
fn inspect(data: &str, log: &str, arguments: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data"), data).unwrap();
    fs::write(folder.path().join("log"), log).unwrap();
    let time = if arguments.contains(&"--at") {
        &[][..]
    } else {
        &["--at", AT]
    };
    let output = windlass(folder.path())
        .args(["inspect", "data"])
        .args(time)
        .args(arguments)
        .output()
        .unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// The lines of a text without its findings; cells of tables are apart by bars.
fn lines(text: &str) -> Vec<String> {
    let cells = |line: &str| {
        line.split("   ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .collect::<Vec<_>>()
            .join(" | ")
    };
    text.lines().map(cells).collect()
}

fn secret(metadata: &str, data: &[u8], more: &str) -> String {
    format!(
        "- apiVersion: v1\n  kind: Secret\n  metadata: {{{metadata}}}\n  data: {{value: {}{more}}}\n",
        STANDARD.encode(data)
    )
}

/// A command of this many characters.
fn command(length: usize) -> String {
    format!("{}d", &format!("echo{}", " word".repeat(60))[..length - 1])
}

const FIRST: &str = "## template: jinja
#cloud-config
write_files:
- {path: /etc/a, content: \"ab\", owner: \"root:root\", permissions: '0640'}
- {path: /etc/b, content: \"abc\\n\", append: true}
- {path: /etc/c, content: \"\"}
runcmd:
- \"\\n\\necho one\\necho two\\n\"
- \"echo one\\n\\n\"
- kubeadm join --token abcdef.0123456789abcdef && echo success > /run/cluster-api/bootstrap-success.complete
";

/// A list of three Secrets: one that is packed and has all facts, one that writes the sentinel
/// whatever happens, and one that never does.
fn three_machines() -> String {
    let accents = |last: &str| format!("- echo {}{last}\n", "é ".repeat(47));
    let first = format!(
        "{FIRST}- {}\n- {}\n{}{}",
        command(100),
        command(101),
        accents("a"),
        accents("ab")
    );
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(first.as_bytes()).unwrap();
    let format = format!(", format: {}", STANDARD.encode("cloud-config"));
    let made = "creationTimestamp: \"2026-11-22T10:00:00Z\"";
    let second = b"#cloud-config\nruncmd: [kubeadm join ; touch /run/cluster-api/bootstrap-success.complete]\n";
    format!(
        "apiVersion: v1\nkind: List\nitems:\n{}{}{}",
        secret(
            &format!("name: a, namespace: prod, {made}"),
            &packed.finish().unwrap(),
            &format
        ),
        secret("name: b, namespace: prod", second, ""),
        secret(
            &format!("name: c, namespace: prod, {made}"),
            b"#cloud-config\nruncmd: [kubeadm join]\n",
            ""
        )
    )
}

/// A page has a section for each document, by its number; of one alone it is the boot.
#[test]
fn the_page_has_a_section_of_each_document() {
    let titles = |page: &str| {
        sections(page)
            .into_iter()
            .map(|section| section[0].clone())
            .collect::<Vec<_>>()
    };
    let (page, _) = inspect(&three_machines(), "", &["-o", "html"]);
    assert!(
        page.contains("<h1 id=\"title\">Bootstrap data of data</h1><p class=\"lead\">3 documents, 12 steps</p>"),
        "{page}"
    );
    let documents = [1, 2, 3].map(|number| format!("h2: Document {number}: cloud-config"));
    let expected = [
        &["h2: Findings".to_owned(), "h2: What it holds".to_owned()][..],
        &documents,
        &["h2: Files by size".to_owned()],
    ]
    .concat();
    assert_eq!(titles(&page), expected);
    let sound = "#cloud-config\nwrite_files: [{path: /a, content: a}]\nruncmd: [a && touch /run/cluster-api/bootstrap-success.complete]\n";
    let (page, _) = inspect(sound, "", &["-o", "html"]);
    assert_eq!(titles(&page), ["h2: What it holds", "h2: Boot"]);
    let two = sound.replace(
        "[{path: /a, content: a}]",
        "[{path: /a, content: a}, {path: /b, source: {uri: \"https://x/y\"}}]",
    );
    let (page, _) = inspect(&two, "a\n", &["-o", "html", "--log", "log"]);
    assert_eq!(
        titles(&page),
        [
            "h2: What it holds",
            "h2: Boot",
            "h2: Files by size",
            "h2: Log"
        ]
    );
    let sizes = &sections(&page)[2];
    let rows = sizes
        .iter()
        .skip_while(|line| **line != "caption: Files by their size on the node")
        .skip(4)
        .collect::<Vec<_>>();
    assert_eq!(
        rows,
        [
            "code: /a",
            "td: text",
            "td.number: 1",
            "code: /b",
            "td: not in the data",
            "td.number: unknown"
        ]
    );
    // Data in which nothing can be read has no document to tell of.
    let (page, _) = inspect("", "", &["-o", "html"]);
    assert!(
        !titles(&page)
            .iter()
            .any(|title| title == "h2: Files by size"),
        "{page}"
    );
}

/// Data with commands of each length, and a file of which all is said.
fn boot() -> String {
    format!(
        "#cloud-config\nwrite_files: [{{path: /x, content: ab, permissions: '0640', owner: 'a:b', append: true}}]\nruncmd:\n- {}\n- {}\n\
         - \"echo a\\necho b\"\n- \"echo a\\n\"\n- \"\\n\\necho a\\necho c\\n\"\n- a || true\n\
         - a && touch /run/cluster-api/bootstrap-success.complete\n",
        command(240),
        command(241)
    )
}

/// Each step of a page with what is known of it: a stage each, commands of up to 240 characters in
/// a line, and who tells success.
#[test]
fn the_page_has_each_step_with_what_follows() {
    let (page, _) = inspect(&boot(), "", &["-o", "html"]);
    let boot = sections(&page)
        .into_iter()
        .find(|section| section[0] == "h2: Boot")
        .unwrap();
    let from = boot
        .iter()
        .position(|line| line == "h3: Stage network")
        .unwrap();
    let next = "span: if it fails: the next step runs";
    let expected = [
        "h3: Stage network",
        "span.index-of: 1",
        "code: /x",
        "span.by: write_files[0]",
        "span: text, 2 bytes, 0640, a:b, appended, content not shown",
        "span: if it fails: the rest of write_files is skipped",
        "h3: Stage final",
        "span.index-of: 2",
        &format!("code.command: {}", command(240)),
        "span.by: runcmd[0]",
        next,
        "span.index-of: 3",
        &format!("code: {} …", &command(241)[..120]),
        &format!("code: {}", command(241)),
        "span.by: runcmd[1]",
        next,
        "span.index-of: 4",
        "code: echo a …",
        "code: echo a\necho b",
        "span.by: runcmd[2]",
        next,
        "span.index-of: 5",
        "code.command: echo a",
        "span.by: runcmd[3]",
        next,
        "span.index-of: 6",
        "code: echo a …",
        "code: \n\necho a\necho c",
        "span.by: runcmd[4]",
        next,
        "span.index-of: 7",
        "code.command: a || true",
        "span.by: runcmd[5]",
        "code: ||",
        "span.index-of: 8",
        "code.command: a && touch /run/cluster-api/bootstrap-success.complete",
        "span.by: runcmd[6]",
        "span.badge.good: writes bootstrap-success.complete",
        "span: if it fails: cloud-init reports it",
    ];
    assert_eq!(boot[from..], expected);
}

/// What is folded says how many lines it has, what nobody sees stands out, and contents come where
/// secrets are shown.
#[test]
fn the_page_folds_what_is_long_and_marks_what_is_swallowed() {
    let (page, _) = inspect(&boot(), "", &["-o", "html"]);
    for lines in [
        "</code> (1 line)</summary>",
        "</code> (2 lines)</summary>",
        "</code> (4 lines)</summary>",
    ] {
        assert_eq!(page.matches(lines).count(), 1, "{lines}");
    }
    let swallowed = "<span class=\"badge doubtful\">if it fails: it is ignored: it is followed by <code>||</code></span>";
    assert!(
        page.contains(swallowed) && page.matches("<li class=\"doubtful\">").count() == 1,
        "{page}"
    );
    let (page, _) = inspect(&boot(), "", &["-o", "html", "--show-secrets"]);
    assert!(
        page.contains("<span>text, 2 bytes, 0640, a:b, appended</span>")
            && page.contains("aria-label=\"Content of /x\""),
        "{page}"
    );
}

/// The failed step is marked, also where it is the one that tells success; errors come before the
/// rest, and reports are links.
#[test]
fn the_page_marks_the_failed_step() {
    let data = "#cloud-config\nwrite_files: [{path: /a, owner: '0:0'}]\nruncmd:\n- a || true\n- kubeadm join && touch /run/cluster-api/bootstrap-success.complete\n";
    let log = "[   12.3] cloud-init[1234]: \t[ERROR Swap]: running with swap on is not supported\n";
    let (page, _) = inspect(data, log, &["-o", "html", "--log", "log"]);
    let step = "<li class=\"bad\"><span class=\"index-of\">3</span>";
    assert!(page.contains(step), "{page}");
    for badge in [
        "<span class=\"badge bad\">failed: line 1 of the log</span>",
        "<span class=\"badge plain\">writes bootstrap-success.complete</span>",
        "<span class=\"badge bad\">line 1 reports the first error</span>",
    ] {
        assert_eq!(page.matches(badge).count(), 1, "{badge}");
    }
    assert_eq!(page.matches(" sentinel\"").count(), 0);
    let severities: Vec<&str> = page
        .split("<div class=\"finding ")
        .skip(1)
        .map(|finding| finding.split('"').next().unwrap())
        .collect();
    assert_eq!(severities, ["bad", "doubtful", "plain"]);
    let link = "<a href=\"https://github.com/kubernetes-sigs/cluster-api-provider-openstack/issues/292\" rel=\"noreferrer\">";
    assert_eq!(page.matches(link).count(), 2);
    assert!(page.contains("default-src &#39;none&#39;"));
}

/// The file with the command that tells success, and of several documents only that which has it.
#[test]
fn the_step_that_tells_success_is_of_its_document() {
    let unit = r#"{"ignition":{"version":"3.4.0"},"systemd":{"units":[{"name":"k.service","enabled":true,"contents":"[Service]\nExecStart=/k.sh\n[Install]\nWantedBy=multi-user.target\n"}]},"storage":{"files":[{"path":"/k.sh","mode":448,"contents":{"source":"data:,%23!/bin/sh%0Akubeadm%20join%20%26%26%20touch%20/run/cluster-api/bootstrap-success.complete%0A"}},{"path":"/other","contents":{"source":"data:,a"}}]}}"#;
    let (page, _) = inspect(unit, "", &["-o", "html"]);
    let steps = "<li class=\"plain sentinel\"><span class=\"index-of\">1</span><code>/k.sh</code>";
    assert!(
        page.contains(steps) && page.matches("sentinel\"").count() == 1,
        "{page}"
    );
    assert_eq!(
        page.matches(
            "<span class=\"badge good\">its command writes bootstrap-success.complete</span>"
        )
        .count(),
        1
    );
    let script = |text: &str| format!("- \"#!/bin/sh\\n{text}\"\n");
    let tells = "kubeadm join && touch /run/cluster-api/bootstrap-success.complete";
    let archive = format!(
        "#cloud-config-archive\n{}{}",
        script("echo a"),
        script(tells)
    );
    let (page, _) = inspect(&archive, "", &["-o", "html"]);
    assert!(
        page.matches(" sentinel\"").count() == 1
            && page.contains("<li class=\"plain sentinel\"><span class=\"index-of\">2</span>"),
        "{page}"
    );
}

/// Each machine of a list has its own, or none.
#[test]
fn who_tells_success_is_said_of_each_machine() {
    let (page, _) = inspect(&three_machines(), "", &["-o", "html"]);
    for fact in [
        "prod/a: runcmd[2] writes bootstrap-success.complete only if the previous commands succeed",
        "prod/b: runcmd[0] writes bootstrap-success.complete, even after a failure",
        "prod/c: nothing writes bootstrap-success.complete",
    ] {
        assert_eq!(page.matches(fact).count(), 1, "{fact}\n{page}");
    }
    let marked = page
        .match_indices(" sentinel\"><span class=\"index-of\">")
        .map(|(at, found)| page[at + found.len()..].split('<').next().unwrap());
    assert_eq!(marked.collect::<Vec<_>>(), ["6", "11"]);
    // Two of one name, in two namespaces.
    let tells = "kubeadm join && touch /run/cluster-api/bootstrap-success.complete";
    let data = |commands: &str| format!("#cloud-config\nruncmd: [{commands}]\n");
    let [first, second] = [data(tells), data(&format!("echo a, {tells}"))];
    let namesakes = [
        secret("name: a, namespace: dev", first.as_bytes(), ""),
        secret("name: a, namespace: prod", second.as_bytes(), ""),
    ];
    let (page, _) = inspect(
        &format!("apiVersion: v1\nkind: List\nitems:\n{}", namesakes.concat()),
        "",
        &["-o", "html"],
    );
    let mark = |step: u32| page.contains(&format!(" sentinel\"><span class=\"index-of\">{step}<"));
    assert_eq!([1, 2, 3].map(mark), [true, false, true], "{page}");
}

/// Who tells success, and on what condition, as far as anybody does.
#[test]
fn who_tells_success_is_a_fact_of_the_page() {
    let sentinel = "/run/cluster-api/bootstrap-success.complete";
    for (command, fact) in [
        (
            format!("a && touch {sentinel}"),
            "runcmd[0] writes bootstrap-success.complete only if the previous commands succeed",
        ),
        (
            format!("a ; touch {sentinel}"),
            "runcmd[0] writes bootstrap-success.complete, even after a failure",
        ),
        ("a".to_owned(), "nothing writes bootstrap-success.complete"),
    ] {
        let (page, _) = inspect(
            &format!("#cloud-config\nruncmd: [{command}]\n"),
            "",
            &["-o", "html"],
        );
        assert!(
            page.contains(&format!("<dt>Writes the sentinel file</dt><dd>{fact}</dd>")),
            "{page}"
        );
    }
}

const JWS: &str = "could not find a JWS signature in the cluster-info ConfigMap\n";
const ABSENT: &str = "/var/lib/cloud/instance/scripts/runcmd: 3: kubeadm: not found\n";

/// A log with what is known of its lines: their numbers, the steps that they speak of, and how many
/// are not told.
#[test]
fn a_log_is_told_by_its_known_lines() {
    let data = "#cloud-config\nruncmd:\n- 'true'\n- kubeadm join && echo success > /run/cluster-api/bootstrap-success.complete\n";
    let first = JWS.trim_end();
    let last = ABSENT.trim_end();
    let cause = "the workload cluster does not know the bootstrap token: it expired before the machine joined, or was deleted";
    let absent = "the image has no kubeadm";
    for (log, count, omitted, rows) in [
        ("\n".to_owned(), "1 line", None, vec![]),
        (
            JWS.to_owned(),
            "1 line",
            None,
            vec![("1", "2", first, cause)],
        ),
        (
            JWS.repeat(2),
            "2 lines",
            Some(1),
            vec![("1", "2", first, cause)],
        ),
        (
            format!("a\n{}{ABSENT}", JWS.repeat(3)),
            "5 lines",
            Some(2),
            vec![("2", "2", first, cause), ("5", "2", last, absent)],
        ),
    ] {
        let (text, _) = inspect(data, &log, &["--log", "log"]);
        let told = text.split_once("\nlog: ").unwrap().1;
        let more = |and: &str| {
            omitted
                .map(|omitted| format!(", {and}{omitted} more of the same kinds"))
                .unwrap_or_default()
        };
        let row = |(line, step, text, _): &(&str, &str, &str, &str)| match log.matches(text).count()
        {
            1 => format!("{line} | step {step} | {text}"),
            count => format!("{line} | step {step} | {text} ({} more)", count - 1),
        };
        let expected: Vec<String> = std::iter::once(format!("{count}{}", more("")))
            .chain(rows.iter().map(row))
            .collect();
        assert_eq!(lines(told)[..expected.len()], expected, "{text}");
        let (page, _) = inspect(data, &log, &["--log", "log", "-o", "html"]);
        let section = sections(&page).pop().unwrap();
        assert_eq!(
            section[..2],
            [
                "h2: Log".to_owned(),
                format!("p.muted: log: {count}{}", more("and "))
            ]
        );
        let cells = rows.iter().flat_map(|(line, step, text, cause)| {
            [
                format!("td.number: {line}"),
                format!("td.number: {step}"),
                format!("code: {text}"),
                format!("td: {cause}"),
            ]
        });
        assert_eq!(
            section
                .iter()
                .skip(2)
                .filter(|line| line.starts_with("td") || line.starts_with("code"))
                .cloned()
                .collect::<Vec<_>>(),
            cells.collect::<Vec<_>>()
        );
    }
    let (_, said) = inspect(data, &JWS.repeat(2), &["--log", "log", "-o", "json"]);
    assert!(said.is_empty() || said.starts_with("1 document"), "{said}");
    let (report, _) = inspect(data, &format!("a\n{JWS}"), &["--log", "log", "-o", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let finding = &report["findings"][0];
    assert_eq!(
        (
            &finding["file"],
            &finding["line"],
            &finding["column"],
            &finding["message"]
        ),
        (&json!("log"), &json!(2), &json!(1), &json!(cause))
    );
    assert_eq!(
        finding["notes"],
        json!([
            "the line is about step 2, runcmd[1]",
            "reported in https://github.com/kubernetes/kubeadm/issues/668"
        ])
    );
}

/// A certificate with its end, and that it is over.
#[test]
fn certificates_are_told_with_their_ends() {
    let mut parameters = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters
        .distinguished_name
        .push(rcgen::DnType::CommonName, "kubernetes");
    parameters.not_after = rcgen::date_time_ymd(2026, 12, 1);
    let pem = parameters
        .self_signed(&rcgen::KeyPair::generate().unwrap())
        .unwrap()
        .pem();
    let content = pem
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect::<String>();
    let data = format!("#cloud-config\nwrite_files:\n- path: /ca.crt\n  content: |\n{content}");
    for (at, expired, cell) in [
        ("2026-11-23T00:00:00Z", "", "span.badge.good: valid"),
        (
            "2026-12-02T00:00:00Z",
            ", expired",
            "span.badge.bad: expired",
        ),
    ] {
        let (text, _) = inspect(&data, "", &["--at", at]);
        let line = format!(
            "\ncertificate CN=kubernetes in /ca.crt, until 2026-12-01T00:00:00Z{expired}\n"
        );
        assert!(text.contains(&line), "{text}");
        let (page, _) = inspect(&data, "", &["--at", at, "-o", "html"]);
        let section = sections(&page).pop().unwrap();
        assert_eq!(
            section[section.len() - 4..],
            [
                "code: /ca.crt",
                "td: CN=kubernetes",
                "td: 2026-12-01T00:00:00Z",
                cell
            ]
        );
    }
}
