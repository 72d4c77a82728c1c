//! `-o html`: one file that holds what the other reports hold, asks for nothing, and shows no
//! secret. How it looks and is read aloud, a browser checks (`tests/e2e`).

use std::path::Path;
use std::process::Output;

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;

use crate::inspect::canaries;
use crate::support::{root, vectors, windlass};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    windlass(folder).args(arguments).output().unwrap()
}

/// The page that a command prints, which ends with this code.
fn page_of(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = run(folder, &[arguments, &["-o", "html"]].concat());
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_slice(&run(folder, &[arguments, &["-o", "json"]].concat()).stdout).unwrap()
}

/// A reader of XML takes the page: each element that begins ends, and nothing foreign is markup.
fn read(page: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}\n{page}"))
}

fn words(node: Node<'_, '_>) -> String {
    node.descendants()
        .filter(Node::is_text)
        .filter_map(|text| text.text().map(str::to_owned))
        .collect()
}

fn elements<'d>(document: &'d Document<'_>, tag: &str) -> Vec<Node<'d, 'd>> {
    document
        .descendants()
        .filter(|node| node.has_tag_name(tag))
        .collect()
}

/// The pages of all four verbs over the examples.
fn examples() -> Vec<(&'static str, String)> {
    let of = |name, arguments: &[&str]| (name, page_of(root(), arguments, 0));
    vec![
        of(
            "inspect",
            &[
                "inspect",
                "examples/user-data.txt",
                "--log",
                "examples/cloud-init-output.log",
            ],
        ),
        of(
            "render",
            &[
                "render",
                "--all",
                "examples/topology/harbour.yaml",
                "examples/worker.yaml",
                "examples/windlass.yaml",
            ],
        ),
        of(
            "size",
            &[
                "size",
                "examples/control-plane.yaml",
                "examples/worker.yaml",
            ],
        ),
        of(
            "diff",
            &[
                "diff",
                "examples/control-plane.yaml",
                "--kubernetes-version",
                "v1.33.4..v1.34.1",
            ],
        ),
    ]
}

/// HTML 5, "4.2 Document metadata"; Content Security Policy 3; WCAG 2.2, 2.4.1, 2.4.2, 3.1.1.
#[test]
fn a_page_is_one_file_that_asks_for_nothing() {
    for (name, page) in examples() {
        let document = read(&page);
        assert!(
            page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"),
            "{name}"
        );
        let policy = elements(&document, "meta").into_iter().find_map(|meta| {
            meta.attribute("content")
                .filter(|content| content.contains("-src"))
        });
        assert!(
            policy
                .unwrap()
                .starts_with("default-src 'none'; style-src 'unsafe-inline'"),
            "{policy:?}"
        );
        for tag in [
            "script",
            "link",
            "img",
            "iframe",
            "object",
            "embed",
            "base",
            "form",
            "input",
            "image",
            "use",
            "foreignObject",
        ] {
            assert!(elements(&document, tag).is_empty(), "{name} has <{tag}>");
        }
        for attribute in document.descendants().flat_map(|node| node.attributes()) {
            let is_own = match attribute.name() {
                "href" => {
                    attribute.value().starts_with('#') || attribute.value().starts_with("https://")
                }
                name => {
                    !["src", "srcset", "style", "action"].contains(&name) && !name.starts_with("on")
                }
            };
            assert!(
                is_own,
                "{name}: {}=\"{}\"",
                attribute.name(),
                attribute.value()
            );
        }
        assert_eq!(
            elements(&document, "title")
                .iter()
                .filter(|title| title.parent().unwrap().has_tag_name("head"))
                .count(),
            1
        );
        assert_eq!(elements(&document, "main").len(), 1, "{name}");
        let skip = elements(&document, "a")[0]
            .attribute("href")
            .unwrap()
            .trim_start_matches('#')
            .to_owned();
        assert_eq!(
            elements(&document, "main")[0].attribute("id"),
            Some(skip.as_str())
        );
    }
}

/// WCAG 2.2, 1.3.1 and 4.1.2: one `h1`, no rank left out, tables with captions and headers, ids
/// that are unique and lead somewhere.
#[test]
fn the_order_of_a_page_is_in_its_markup() {
    for (name, page) in examples() {
        let document = read(&page);
        let rank =
            |node: Node<'_, '_>| node.tag_name().name().strip_prefix('h')?.parse::<u8>().ok();
        let ranks: Vec<u8> = document
            .descendants()
            .filter(Node::is_element)
            .filter_map(rank)
            .collect();
        assert_eq!(ranks.iter().filter(|rank| **rank == 1).count(), 1, "{name}");
        assert!(
            ranks[0] == 1 && ranks.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{name}: {ranks:?}"
        );
        let mut ids: Vec<&str> = document
            .descendants()
            .filter_map(|node| node.attribute("id"))
            .collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "{name}");
        for node in document.descendants() {
            let href = node
                .attribute("href")
                .and_then(|href| href.strip_prefix('#'));
            let named = ["aria-labelledby", "aria-describedby"]
                .into_iter()
                .filter_map(|name| node.attribute(name));
            for id in href
                .into_iter()
                .chain(named.flat_map(str::split_whitespace))
            {
                assert!(ids.contains(&id), "{name}: nothing is #{id}");
            }
        }
        for table in elements(&document, "table") {
            let of = |tag: &str| {
                table
                    .descendants()
                    .filter(|node| node.has_tag_name(tag))
                    .collect::<Vec<_>>()
            };
            assert_eq!(of("caption").len(), 1, "{name}");
            assert!(
                !of("th").is_empty()
                    && of("th")
                        .iter()
                        .all(|header| header.attribute("scope").is_some()),
                "{name}"
            );
            let widths: Vec<usize> = of("tr").iter().map(|row| row.children().count()).collect();
            assert!(
                widths.windows(2).all(|pair| pair[0] == pair[1]),
                "{name}: {widths:?}"
            );
        }
        for picture in elements(&document, "svg")
            .iter()
            .filter(|picture| picture.attribute("aria-hidden").is_none())
        {
            assert_eq!(picture.attribute("role"), Some("img"), "{name}");
            let first = |tag: &str| {
                picture
                    .children()
                    .any(|node| node.has_tag_name(tag) && !words(node).is_empty())
            };
            assert!(first("title") && first("desc"), "{name}");
        }
    }
}

/// The steps of the page are those of the JSON report, with what follows when each fails, and one
/// of them tells success.
#[test]
fn the_timeline_has_every_step_and_the_one_that_tells_success() {
    let arguments = ["inspect", "examples/user-data.txt"];
    let page = page_of(root(), &arguments, 0);
    let document = read(&page);
    let report = json_of(root(), &arguments);
    let steps: Vec<&Value> = report["documents"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|document| document["steps"].as_array().unwrap())
        .collect();
    let items: Vec<_> = elements(&document, "li")
        .into_iter()
        .filter(|item| item.attribute("class").is_some())
        .collect();
    assert!(
        items.len() == steps.len() && steps.len() > 4,
        "{}",
        items.len()
    );
    for (item, step) in items.iter().zip(&steps) {
        let shown = words(*item);
        assert!(
            shown.starts_with(&step["number"].to_string())
                && shown.contains(step["by"].as_str().unwrap()),
            "{shown}"
        );
        // What stands between backticks is an element of code on a page.
        let follows = step["failureWords"].as_str().unwrap().replace('`', "");
        assert!(shown.contains(&follows), "{shown}");
        let tells = shown.contains("writes bootstrap-success.complete");
        assert_eq!(tells, step["by"] == report["sentinel"]["by"], "{shown}");
    }
}

/// Each finding stands on the page with its rule, its place, the line that is meant, and what to
/// do; the run ends as it does with text.
#[test]
fn findings_stand_on_the_page_and_fail_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let config = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: a}\nspec:\n  format: cloudconfig\n";
    std::fs::write(folder.path().join("c.yaml"), config).unwrap();
    for verb in [&["render", "--all", "c.yaml"][..], &["size", "c.yaml"]] {
        let page = page_of(folder.path(), verb, 1);
        let report = json_of(folder.path(), verb);
        let document = read(&page);
        let text = words(document.root_element());
        let findings = report["findings"].as_array().unwrap();
        assert!(!findings.is_empty());
        for finding in findings {
            assert!(text.contains(finding["rule"].as_str().unwrap()), "{text}");
        }
        assert!(
            text.contains("c.yaml:5:11")
                && text.contains("5 |   format: cloudconfig")
                && text.contains("^^^^^^^^^^^"),
            "{text}"
        );
    }
    let page = page_of(
        root(),
        &[
            "inspect",
            "examples/user-data.txt",
            "--log",
            "examples/cloud-init-output.log",
        ],
        0,
    );
    assert!(
        page.contains("look for Secret bootstrap-token-ID in kube-system")
            && page.contains("inspect-log-cause")
    );
    let output = run(
        root(),
        &[
            "inspect",
            "examples/user-data.txt",
            "--deny",
            "warnings",
            "-o",
            "html",
            "--log",
            "examples/cloud-init-output.log",
        ],
    );
    assert!(output.status.code() == Some(1) && output.stdout.starts_with(b"<!DOCTYPE html>"));
}

/// Names that would end a text, an attribute, the style sheet or a line stay names.
#[test]
fn hostile_names_stay_names() {
    let hostile =
        "/etc/</style><script>alert(1)</script>\\\" onload=\\\"x' &amp; <!-- \\u202e\\x1b";
    let shown = "/etc/</style><script>alert(1)</script>\" onload=\"x' &amp; <!-- \u{fffd}␛";
    let folder = tempfile::tempdir().unwrap();
    let data = format!(
        "#cloud-config\nwrite_files:\n- {{path: \"{hostile}\", content: a}}\n- {{path: /b, content: bb}}\nruncmd: [\"{hostile}\"]\n"
    );
    std::fs::write(folder.path().join("d"), data).unwrap();
    let file = format!(
        "spec:\n  files:\n  - {{path: \"{hostile}\", content: \"a\\n</pre></style><script>1</script>\"}}\n  preKubeadmCommands: [\"{hostile}\"]\n"
    );
    let head = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: a}\n";
    std::fs::write(
        folder.path().join("old.yaml"),
        format!("{head}spec: {{format: cloud-config}}\n"),
    )
    .unwrap();
    std::fs::write(folder.path().join("c.yaml"), format!("{head}{file}")).unwrap();
    for arguments in [
        &["inspect", "d"][..],
        &["inspect", "d", "--show-secrets"],
        &["render", "c.yaml"],
        &["size", "c.yaml"],
        &["diff", "old.yaml", "c.yaml"],
    ] {
        let output = run(folder.path(), &[arguments, &["-o", "html"]].concat());
        let page = String::from_utf8(output.stdout).unwrap();
        let document = read(&page);
        assert!(
            elements(&document, "script").is_empty() && elements(&document, "style").len() == 1,
            "{arguments:?}"
        );
        assert!(
            words(document.root_element()).contains(shown),
            "{arguments:?}\n{}",
            words(document.root_element())
        );
        assert!(!page.contains(['\u{202e}', '\u{1b}']), "{arguments:?}");
    }
}

const SECRET: &str =
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: canary-of-secret}\n---\n";
const CONFIG: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: a}\nspec:\n  files:\n\
                      \x20 - {path: /etc/of-secret, contentFrom: {secret: {name: s, key: k}}}\n\
                      \x20 - {path: /etc/key, content: \"-----BEGIN PRIVATE KEY-----\\ncanary-key\\n-----END PRIVATE KEY-----\\n\"}\n\
                      \x20 - {path: /etc/plain, content: \"seen\\npassword: canary-password\\n\"}\n\
                      \x20 - {path: /etc/packed, content: c2Vlbi10b28K, encoding: base64}\n\
                      \x20 preKubeadmCommands: [\"curl -u admin:canary-command https://x\"]\n\
                      \x20 users: [{name: u, passwd: canary-passwd}]\n";

/// What `render` knows not to be secret is on the page, decoded; what it knows or takes to be
/// secret is not, unless it is wished. The data that is asked for is never altered.
#[test]
fn pages_show_contents_and_no_secrets() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.yaml"), format!("{SECRET}{CONFIG}")).unwrap();
    let page = page_of(folder.path(), &["render", "c.yaml"], 0);
    let text = words(read(&page).root_element());
    assert!(
        text.contains("seen\npassword: <redacted>") && text.contains("seen-too\n"),
        "{text}"
    );
    assert!(
        !page.contains("canary") && text.contains("content not shown"),
        "{text}"
    );
    let shown = page_of(folder.path(), &["render", "c.yaml", "--show-secrets"], 0);
    for canary in [
        "canary-of-secret",
        "canary-key",
        "canary-password",
        "canary-command",
    ] {
        assert!(shown.contains(canary), "{canary}");
    }
    let data = String::from_utf8(run(folder.path(), &["render", "c.yaml"]).stdout).unwrap();
    assert!(
        data.contains("canary-of-secret") && data.contains("canary-passwd"),
        "{data}"
    );
    let bare = CONFIG.replace("seen", "other");
    std::fs::write(
        folder.path().join("old.yaml"),
        format!("{SECRET}{bare}").replace("canary", "kanary"),
    )
    .unwrap();
    for verb in [&["size", "c.yaml"][..], &["diff", "old.yaml", "c.yaml"]] {
        let page = page_of(folder.path(), verb, 0);
        assert!(!page.contains("anary"), "{verb:?}: {page}");
    }
    std::fs::write(folder.path().join("data"), data).unwrap();
    assert!(!page_of(folder.path(), &["inspect", "data"], 0).contains("canary"));
    assert!(
        page_of(folder.path(), &["inspect", "data", "--show-secrets"], 0)
            .contains("canary-of-secret")
    );
}

/// No value of a Secret of a vector comes onto the pages of its machine.
#[test]
fn pages_of_vectors_show_no_secret() {
    let folder = vectors("render");
    let mut with_canaries = 0;
    for name in std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
    {
        let input = std::fs::read(name.join("input.yaml")).unwrap();
        let canaries = canaries(&input);
        if canaries.is_empty() || with_canaries == 40 {
            continue;
        }
        with_canaries += 1;
        let config = String::from_utf8_lossy(&input)
            .split("kind: Secret")
            .next()
            .unwrap_or_default()
            .to_owned();
        let page =
            String::from_utf8(run(&name, &["render", "--all", "input.yaml", "-o", "html"]).stdout)
                .unwrap();
        let text = words(read(&page).root_element());
        for canary in canaries
            .iter()
            .filter(|canary| !config.contains(canary.trim()))
        {
            assert!(
                !text.contains(canary.trim()),
                "{}: {canary}",
                name.display()
            );
        }
    }
    assert!(with_canaries > 20, "{with_canaries}");
}

/// A page of somebody's huge data stays one that a browser shows, and says once that it is cut.
#[test]
fn huge_data_is_cut_and_the_cut_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let files: String = (0..4_000)
        .map(|n| format!("- {{path: /etc/{n}, content: {}}}\n", "x".repeat(2_000)))
        .collect();
    let commands: String = (0..9_000).map(|n| format!("- touch /tmp/{n}\n")).collect();
    std::fs::write(
        folder.path().join("d"),
        format!("#cloud-config\nwrite_files:\n{files}runcmd:\n{commands}"),
    )
    .unwrap();
    let output = run(
        folder.path(),
        &["inspect", "d", "--show-secrets", "-o", "html"],
    );
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.len() < 6 << 20, "{}", page.len());
    assert_eq!(page.matches("This page would be too long").count(), 1);
    read(&page);
    std::fs::write(
        folder.path().join("one"),
        format!(
            "#cloud-config\nwrite_files:\n- path: /a\n  content: |\n{}",
            "    y\n".repeat(100_000)
        ),
    )
    .unwrap();
    let page = page_of(folder.path(), &["inspect", "one", "--show-secrets"], 0);
    assert!(
        page.len() < 200_000 && page.contains("67232 lines more, which are not shown"),
        "{}",
        page.len()
    );
}

/// Mistakes of people are answered as they are with text.
#[test]
fn a_page_is_one_for_all_machines() {
    let output = run(
        root(),
        &[
            "render",
            "--all",
            "examples/worker.yaml",
            "--to",
            "x",
            "-o",
            "html",
        ],
    );
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(2)
            && told.contains("one page for all machines")
            && output.stdout.is_empty(),
        "{told}"
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty.yaml"), "").unwrap();
    let page = page_of(folder.path(), &["render", "--all", "empty.yaml"], 1);
    assert!(words(read(&page).root_element()).contains("render-config-missing"));
    let missing = run(folder.path(), &["size", "none.yaml", "-o", "html"]);
    assert!(missing.status.code() != Some(0) && missing.stdout.is_empty());
}

/// The same input gives the same page.
#[test]
fn pages_do_not_change_by_themselves() {
    let arguments = ["size", "examples/control-plane.yaml"];
    assert_eq!(
        page_of(root(), &arguments, 0),
        page_of(root(), &arguments, 0)
    );
}

/// The tables of a caption, in their order: the words of each row's cells.
fn tables_of(document: &Document<'_>, caption: &str) -> Vec<Vec<Vec<String>>> {
    let of_caption = |table: &Node<'_, '_>| {
        table
            .descendants()
            .any(|node| node.has_tag_name("caption") && words(node) == caption)
    };
    let cells = |row: Node<'_, '_>| row.children().filter(Node::is_element).map(words).collect();
    let is_row = |node: &Node<'_, '_>| {
        node.has_tag_name("tr")
            && node
                .parent()
                .is_some_and(|parent| parent.has_tag_name("tbody"))
    };
    let rows = |table: Node<'_, '_>| table.descendants().filter(is_row).map(cells).collect();
    elements(document, "table")
        .into_iter()
        .filter(of_caption)
        .map(rows)
        .collect()
}

/// A number as pages have it: a comma between thousands.
fn grouped(number: &Value) -> String {
    let digits = number.to_string();
    let head = digits.len() % 3;
    let thousands = digits.as_bytes()[head..]
        .chunks(3)
        .map(|three| std::str::from_utf8(three).unwrap());
    (head > 0)
        .then_some(&digits[..head])
        .into_iter()
        .chain(thousands)
        .collect::<Vec<_>>()
        .join(",")
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The page and the JSON of a run say the same of each machine.
#[test]
fn the_page_of_sizes_has_what_the_json_has() {
    let arguments = [
        "size",
        "examples/worker.yaml",
        "examples/control-plane.yaml",
        "examples/windlass.yaml",
    ];
    let (page, report) = (page_of(root(), &arguments, 0), json_of(root(), &arguments));
    let document = read(&page);
    let machines = report["machines"].as_array().unwrap();
    let sizes = |machine: &Value| {
        let numbers = ["raw", "gzip", "base64", "gzipBase64"].map(|field| grouped(&machine[field]));
        [text_of(&machine["name"]), text_of(&machine["role"])]
            .into_iter()
            .chain(numbers)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        tables_of(&document, "Bytes of each machine's data"),
        [machines.iter().map(sizes).collect::<Vec<_>>()]
    );

    let facts: Vec<Vec<String>> = elements(&document, "dl")
        .into_iter()
        .map(|list| elements_of(list, "dd"))
        .collect();
    for (at, (machine, facts)) in machines.iter().zip(&facts).enumerate() {
        let name = text_of(&machine["name"]);
        // A control plane has two machines of its name.
        let nth = machines[..at]
            .iter()
            .filter(|other| other["name"] == machine["name"])
            .count();
        let rows_of = |caption: &str| tables_of(&document, caption)[nth].clone();
        let sent = format!(
            "{}, {} bytes",
            if machine["compressed"] == true {
                "as gzip"
            } else {
                "as it is"
            },
            grouped(&machine["bytes"])
        );
        let filled: Vec<String> = machine["placeholders"]
            .as_array()
            .unwrap()
            .iter()
            .map(text_of)
            .collect();
        assert_eq!(
            *facts,
            [
                text_of(&machine["object"]),
                text_of(&machine["format"]),
                sent,
                filled.join(", ")
            ],
            "{name}"
        );

        let raw = machine["raw"].as_u64().unwrap();
        let part = |(at, part): (usize, &Value)| {
            let share = format!(
                "{} %",
                (part["bytes"].as_u64().unwrap() * 100).div_ceil(raw)
            );
            vec![
                (at + 1).to_string(),
                text_of(&part["name"]),
                text_of(&part["kind"]),
                grouped(&part["bytes"]),
                share,
                text_of(&part["from"]),
            ]
        };
        let parts: Vec<_> = machine["parts"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
            .map(part)
            .collect();
        assert_eq!(rows_of(&format!("Parts of {name}, largest first")), parts);

        let saving = |saving: &Value| {
            vec![
                text_of(&saving["field"]),
                grouped(&saving["bytes"]),
                text_of(&saving["note"]),
            ]
        };
        let savings: Vec<_> = machine["savings"]
            .as_array()
            .unwrap()
            .iter()
            .map(saving)
            .collect();
        assert_eq!(
            rows_of(&format!("What fields would save of {name}")),
            savings
        );

        let fit = |fit: &Value| {
            let gzip = if fit["providerGzips"] == true {
                "gzip, "
            } else {
                ""
            };
            let host = text_of(&fit["source"])
                .trim_start_matches("https://")
                .split('/')
                .next()
                .unwrap_or_default()
                .to_owned();
            let sent_as = format!("{gzip}{}", text_of(&fit["measured"]));
            let (bytes, limit) = (grouped(&fit["bytes"]), grouped(&fit["limit"]));
            vec![
                text_of(&fit["infrastructure"]),
                format!("{} %", fit["percent"]),
                bytes,
                limit,
                sent_as,
                text_of(&fit["moved"]),
                host,
            ]
        };
        let mut fits: Vec<&Value> = machine["limits"].as_array().unwrap().iter().collect();
        fits.sort_by_key(|fit| std::cmp::Reverse(fit["percent"].as_u64().unwrap()));
        assert_eq!(
            rows_of(&format!("Limits of user data for {name}")),
            fits.into_iter().map(fit).collect::<Vec<_>>()
        );
    }
    assert_eq!(facts.len(), machines.len());
}

fn elements_of(node: Node<'_, '_>, tag: &str) -> Vec<String> {
    node.descendants()
        .filter(|inner| inner.has_tag_name(tag))
        .map(words)
        .collect()
}

/// The page and the JSON of a run say the same of each machine, also of one that nothing came of.
#[test]
fn the_page_of_machines_has_what_the_json_has() {
    let folder = tempfile::tempdir().unwrap();
    let worker = std::fs::read_to_string(root().join("examples/worker.yaml")).unwrap();
    let control_plane =
        std::fs::read_to_string(root().join("examples/control-plane.yaml")).unwrap();
    let wrong = worker
        .replace("name: gpu-worker", "name: wrong, namespace: team")
        .replace(
            "\n  name: wrong, namespace: team",
            "\n  name: wrong\n  namespace: team",
        );
    std::fs::write(
        folder.path().join("a.yaml"),
        format!(
            "{control_plane}---\n{worker}---\n{}",
            wrong.replace("files:", "filez:")
        ),
    )
    .unwrap();
    let arguments = ["render", "--all", "a.yaml"];
    let (page, report) = (
        page_of(folder.path(), &arguments, 1),
        json_of(folder.path(), &arguments),
    );
    let document = read(&page);
    let machines = report["machines"].as_array().unwrap();
    assert_eq!(machines.len(), 4, "{report:#}");
    let row = |machine: &Value| {
        let bytes = if machine["bytes"].is_null() {
            "none".to_owned()
        } else {
            grouped(&machine["bytes"])
        };
        [
            &["object", "role", "kubernetesVersion", "format"]
                .map(|field| text_of(&machine[field]))[..],
            &[bytes],
        ]
        .concat()
    };
    assert_eq!(
        tables_of(&document, "Machines of the input"),
        [machines.iter().map(row).collect::<Vec<_>>()]
    );

    for (machine, list) in machines.iter().zip(
        elements(&document, "dl")
            .into_iter()
            .filter(|list| list.attribute("class") == Some("facts")),
    ) {
        let facts: Vec<(String, String)> = elements_of(list, "dt")
            .into_iter()
            .zip(elements_of(list, "dd"))
            .collect();
        let fact = |name: &str| {
            facts
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
        };
        let said = |field: &str| machine[field].as_str().map(str::to_owned);
        assert_eq!(fact("Config"), said("object"));
        assert_eq!(fact("Namespace"), said("namespace"));
        assert_eq!(fact("Kubernetes"), said("kubernetesVersion"));
        assert_eq!(fact("Format"), said("format"));
        assert_eq!(
            fact("Size"),
            (!machine["bytes"].is_null()).then(|| format!("{} bytes", grouped(&machine["bytes"])))
        );
        assert_eq!(
            fact("File"),
            Some(format!("a.yaml, document {}", machine["document"]))
        );
    }
    let filled = |machine: &&Value| {
        machine["placeholders"]
            .as_array()
            .is_some_and(|filled| !filled.is_empty())
    };
    for machine in machines.iter().filter(filled) {
        let placeholder = |placeholder: &Value| {
            ["name", "value", "flag"]
                .map(|field| text_of(&placeholder[field]))
                .to_vec()
        };
        let rows: Vec<_> = machine["placeholders"]
            .as_array()
            .unwrap()
            .iter()
            .map(placeholder)
            .collect();
        let tables = tables_of(
            &document,
            &format!(
                "What nothing in the input says of {}",
                text_of(&machine["object"])
            ),
        );
        assert!(tables.contains(&rows), "{rows:?} are not in {tables:?}");
    }
    assert_eq!(
        page.matches("Nothing was rendered: the findings say why, unless they were left out.")
            .count(),
        1
    );
}

/// A tile of a picture: what it says under the pointer, its rectangle, and its labels by class with
/// their places.
struct Tile {
    title: String,
    rectangle: [f64; 4],
    labels: Vec<(String, [f64; 2], String)>,
}

fn tiles_of(document: &Document<'_>) -> Vec<Tile> {
    let number =
        |node: Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let tile = |group: Node<'_, '_>| {
        let child = |tag: &str| {
            group
                .children()
                .find(|node| node.has_tag_name(tag))
                .unwrap()
        };
        let label = |text: Node<'_, '_>| {
            (
                text.attribute("class").unwrap().to_owned(),
                ["x", "y"].map(|name| number(text, name)),
                words(text),
            )
        };
        Tile {
            title: words(child("title")),
            rectangle: ["x", "y", "width", "height"].map(|name| number(child("rect"), name)),
            labels: group
                .children()
                .filter(|node| node.has_tag_name("text"))
                .map(label)
                .collect(),
        }
    };
    let is_tile = |node: &Node<'_, '_>| {
        node.attribute("class")
            .is_some_and(|class| class.starts_with("tile "))
    };
    elements(document, "g")
        .into_iter()
        .filter(is_tile)
        .map(tile)
        .collect()
}

/// Each part has an area as large as its share, inside of the picture of 720 by 240 and beside the
/// others; the smallest share one.
#[test]
fn areas_of_tiles_are_the_sizes_of_parts() {
    let folder = tempfile::tempdir().unwrap();
    let worker = std::fs::read_to_string(root().join("examples/worker.yaml")).unwrap();
    let mut all = Vec::new();
    for size in [
        |at: usize| 9000 / (1 + at * at / 4),
        |at: usize| 3000 / (at + 1),
        |at: usize| 700 - at,
    ] {
        let file = |at: usize| {
            format!(
                "\n  - {{path: /etc/file-{at}, content: {}}}",
                "x".repeat(size(at))
            )
        };
        let files: String = (0..30).map(file).collect();
        std::fs::write(
            folder.path().join("a.yaml"),
            worker.replacen("\n  files:", &format!("\n  files:{files}"), 1),
        )
        .unwrap();
        all.extend(tiles_are_the_parts(folder.path()));
    }
    for class in ["index", "name", "bytes"] {
        let with = all
            .iter()
            .filter(|tile| tile.labels.iter().any(|(known, ..)| known == class))
            .count();
        assert!(with > 0 && with < all.len(), "{with} tiles have {class}");
    }
}

fn tiles_are_the_parts(folder: &Path) -> Vec<Tile> {
    let (page, report) = (
        page_of(folder, &["size", "a.yaml"], 0),
        json_of(folder, &["size", "a.yaml"]),
    );
    let machine = &report["machines"][0];
    let parts: Vec<(String, u64)> = machine["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| (text_of(&part["name"]), part["bytes"].as_u64().unwrap()))
        .collect();
    let (single, rest) = parts.split_at(23);
    let mut expected = single.to_vec();
    expected.push((
        format!("{} smaller parts", rest.len()),
        rest.iter().map(|(_, bytes)| bytes).sum(),
    ));

    let document = read(&page);
    let tiles = tiles_of(&document);
    let titles: Vec<String> = expected
        .iter()
        .map(|(name, bytes)| format!("{name}: {} bytes", grouped(&(*bytes).into())))
        .collect();
    assert_eq!(
        tiles
            .iter()
            .map(|tile| tile.title.clone())
            .collect::<Vec<_>>(),
        titles
    );
    let raw = machine["raw"].as_u64().unwrap();
    let exact = |bytes: u64| f64::from(u32::try_from(bytes).unwrap());
    for ((name, bytes), tile) in expected.iter().zip(&tiles) {
        let [x, y, width, height] = tile.rectangle;
        // A gap of one on each side is not part of what is seen.
        let (area, wanted) = (
            (width + 2.0) * (height + 2.0),
            exact(*bytes) / exact(raw) * 720.0 * 240.0,
        );
        assert!(
            (area - wanted).abs() < wanted * 0.02 + 2.0,
            "{name}: {area} in place of {wanted}"
        );
        assert!(
            x > 0.9 && y > 0.9 && x + width < 719.1 && y + height < 239.1,
            "{name}: {:?}",
            tile.rectangle
        );
    }
    for (at, one) in tiles.iter().enumerate() {
        for other in &tiles[at + 1..] {
            let apart = |axis: usize| {
                let ends = |tile: &Tile| tile.rectangle[axis] + tile.rectangle[axis + 2] + 1.8;
                ends(one) < other.rectangle[axis] || ends(other) < one.rectangle[axis]
            };
            assert!(apart(0) || apart(1), "{} and {}", one.title, other.title);
        }
    }
    labels_stand_where_there_is_room(&tiles, &expected);
    let description = format!(
        "{} bytes in 24 tiles, the largest: /etc/file-0 ",
        grouped(&raw.into())
    );
    assert!(page.contains(&description), "{description}");
    tiles
}

/// The number of a row, a name and the bytes, each on a line of its own of 18, where the tile has
/// room for the line and what is above it.
fn labels_stand_where_there_is_room(tiles: &[Tile], parts: &[(String, u64)]) {
    for (at, (tile, (name, bytes))) in tiles.iter().zip(parts).enumerate() {
        let [x, y, width, height] = tile.rectangle;
        let label = |class: &str| tile.labels.iter().find(|(known, ..)| known == class);
        for (class, line, least) in [
            ("index", 1.0, 30.0),
            ("name", 2.0, 0.0),
            ("bytes", 3.0, 80.0),
        ] {
            let has_room = height > 18.0 * line + 6.0 && width > least;
            assert_eq!(
                label(class).is_some(),
                has_room,
                "{class} of {name}: {:?}",
                tile.rectangle
            );
            let Some((_, [label_x, label_y], said)) = label(class) else {
                continue;
            };
            assert!(
                (label_x - x - 8.0).abs() < 0.11 && (label_y - y - 3.0 - 18.0 * line).abs() < 0.11,
                "{class} of {name}"
            );
            match class {
                "index" => assert_eq!(*said, (at + 1).to_string()),
                "bytes" => assert_eq!(*said, grouped(&(*bytes).into())),
                _ => {
                    // A character takes 7.3, and a name keeps eight from either side.
                    let room = (width - 16.0) / 7.3;
                    let length = f64::from(u32::try_from(said.chars().count()).unwrap());
                    let end = said.strip_prefix('…').unwrap_or(said);
                    assert!(
                        length <= room + 0.02 && name.ends_with(end),
                        "{said} in {room} of {name}"
                    );
                    assert!(
                        said == name || length > room - 1.02 || room < 4.1,
                        "{said} leaves room of {room} for {name}"
                    );
                }
            }
        }
    }
}

/// The page and the JSON say the same of what a machine got: its steps, files, certificates, and
/// what the log says of them.
#[test]
fn the_page_of_an_inspection_has_what_the_json_has() {
    let folder = tempfile::tempdir().unwrap();
    let control_plane = root().join("examples/control-plane.yaml");
    let data = run(
        root(),
        &["render", control_plane.to_str().unwrap(), "--role", "init"],
    )
    .stdout;
    std::fs::write(folder.path().join("init.txt"), data).unwrap();
    let init = folder.path().join("init.txt");
    let worker = run(root(), &["render", "examples/worker.yaml", "-o", "secret"]).stdout;
    std::fs::write(folder.path().join("secret.yaml"), worker).unwrap();
    let secret = folder.path().join("secret.yaml");
    for arguments in [
        &[
            "inspect",
            "examples/user-data.txt",
            "--log",
            "examples/cloud-init-output.log",
        ][..],
        &["inspect", init.to_str().unwrap()],
        &["inspect", secret.to_str().unwrap()],
    ] {
        let (page, report) = (page_of(root(), arguments, 0), json_of(root(), arguments));
        let document = read(&page);
        inspected_facts(&document, &report);
        inspected_steps(&document, &report);
        inspected_tables(&document, &report);
    }
}

/// What the data holds as a whole, and of each document.
fn inspected_facts(document: &Document<'_>, report: &Value) {
    let is_facts = |list: &Node<'_, '_>| list.attribute("class") == Some("facts");
    let pairs = |list: Node<'_, '_>| {
        elements_of(list, "dt")
            .into_iter()
            .zip(elements_of(list, "dd"))
            .collect::<Vec<_>>()
    };
    let lists: Vec<Vec<(String, String)>> = elements(document, "dl")
        .into_iter()
        .filter(is_facts)
        .map(pairs)
        .collect();
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let (by, sentinel) = (
        text_of(&report["sentinel"]["by"]),
        "bootstrap-success.complete",
    );
    let mut whole = Vec::new();
    for secret in report["secrets"].as_array().unwrap() {
        whole.push(fact("Secret", text_of(&secret["name"])));
        whole.extend(
            secret["format"]
                .as_str()
                .map(|format| fact("Format", format.to_owned())),
        );
        whole.extend(
            secret["created"]
                .as_str()
                .map(|created| fact("Made", created.to_owned())),
        );
    }
    assert_eq!(report["sentinel"]["conditional"], true);
    whole.push(fact(
        "Writes the sentinel file",
        format!("{by} writes {sentinel} only if the previous commands succeed"),
    ));
    whole.extend(
        report["tokens"]
            .as_array()
            .unwrap()
            .iter()
            .map(|token| fact("Bootstrap token", text_of(token))),
    );
    assert_eq!(lists[0], whole);
    let of_document = |document: &Value| {
        let form = format!(
            "{}{}",
            text_of(&document["form"]),
            if document["jinja"] == true {
                " with jinja"
            } else {
                ""
            }
        );
        let packing: Vec<String> = document["packing"]
            .as_array()
            .unwrap()
            .iter()
            .map(text_of)
            .collect();
        let packing = if packing.is_empty() {
            "nothing".to_owned()
        } else {
            packing.join(" > ")
        };
        vec![
            fact("Form", form),
            fact("Bytes", grouped(&document["bytes"])),
            fact("Packed in", packing),
        ]
    };
    assert_eq!(
        lists[1..],
        report["documents"]
            .as_array()
            .unwrap()
            .iter()
            .map(of_document)
            .collect::<Vec<_>>()
    );
}

/// Each step with its number, who does it, what is known of its file, and what follows when it
/// fails. What nobody sees stands out.
fn inspected_steps(document: &Document<'_>, report: &Value) {
    let is_step = |item: &Node<'_, '_>| {
        item.parent()
            .is_some_and(|list| list.attribute("class") == Some("steps"))
    };
    let items: Vec<Node<'_, '_>> = elements(document, "li")
        .into_iter()
        .filter(is_step)
        .collect();
    let documents = report["documents"].as_array().unwrap();
    let steps: Vec<&Value> = documents
        .iter()
        .flat_map(|document| document["steps"].as_array().unwrap())
        .collect();
    assert_eq!(items.len(), steps.len());
    let by = &report["sentinel"]["by"];
    for (item, step) in items.into_iter().zip(steps) {
        let span = |class: &str| {
            item.descendants()
                .find(|node| node.attribute("class") == Some(class))
                .map(words)
        };
        assert_eq!(
            (span("index-of"), span("by")),
            (Some(step["number"].to_string()), Some(text_of(&step["by"])))
        );
        let meta = item
            .descendants()
            .find(|node| node.attribute("class") == Some("meta"))
            .unwrap();
        let mut expected = vec![text_of(&step["by"])];
        if let Some(file) = step["file"].as_object() {
            let bytes = Some(&file["bytes"])
                .filter(|bytes| !bytes.is_null())
                .map(|bytes| format!("{} bytes", grouped(bytes)));
            let optional = |key: &str| file[key].as_str().map(str::to_owned);
            let append = (file["append"] == true).then(|| "appended".to_owned());
            let hidden = (file["content"] == "<redacted>").then(|| "content not shown".to_owned());
            let known = [
                optional("what"),
                bytes,
                optional("mode"),
                optional("owner"),
                append,
                hidden,
            ];
            expected.push(known.into_iter().flatten().collect::<Vec<_>>().join(", "));
        }
        if let Some(line) = step["failedInLine"].as_u64() {
            expected.push(format!("failed: line {line} of the log"));
        }
        let tells = step["by"] == *by || step["file"]["path"] == *by;
        if tells {
            expected.push("writes bootstrap-success.complete".to_owned());
        }
        expected.push(format!("if it fails: {}", text_of(&step["failureWords"])));
        // What is code in a badge has no backticks there.
        let shown: Vec<String> = meta
            .children()
            .filter(Node::is_element)
            .map(|part| words(part).replace('`', ""))
            .collect();
        assert_eq!(
            shown,
            expected
                .iter()
                .map(|part| part.replace('`', ""))
                .collect::<Vec<_>>()
        );
        let tone = match step["failure"].as_str().unwrap() {
            "swallowed" | "never-runs" => "doubtful",
            _ => "plain",
        };
        let class = match (step["failedInLine"].is_u64(), tells) {
            (true, _) => "bad".to_owned(),
            (false, true) => format!("{tone} sentinel"),
            (false, false) => tone.to_owned(),
        };
        assert_eq!(item.attribute("class"), Some(class.as_str()));
    }
}

fn inspected_tables(document: &Document<'_>, report: &Value) {
    let documents = report["documents"].as_array().unwrap();
    let steps = documents
        .iter()
        .flat_map(|document| document["steps"].as_array().unwrap());
    let mut files: Vec<&Value> = steps
        .map(|step| &step["file"])
        .filter(|file| !file.is_null())
        .collect();
    files.sort_by_key(|file| std::cmp::Reverse(file["bytes"].as_u64()));
    let file = |file: &&Value| {
        vec![
            text_of(&file["path"]),
            text_of(&file["what"]),
            grouped(&file["bytes"]),
        ]
    };
    assert_eq!(
        tables_of(document, "Files by their size on the node"),
        [files.iter().map(file).collect::<Vec<_>>()]
    );
    let titles: Vec<String> = tiles_of(document)
        .into_iter()
        .map(|tile| tile.title)
        .collect();
    let title = |file: &&Value| {
        format!(
            "{}: {} bytes",
            text_of(&file["path"]),
            grouped(&file["bytes"])
        )
    };
    assert_eq!(titles, files.iter().map(title).collect::<Vec<_>>());

    let certificate = |certificate: &Value| {
        let state = if certificate["expired"] == true {
            "expired"
        } else {
            "valid"
        };
        let [file, subject, until] =
            ["file", "subject", "notAfter"].map(|field| text_of(&certificate[field]));
        vec![file, subject, until, state.to_owned()]
    };
    let certificates: Vec<_> = report["certificates"]
        .as_array()
        .unwrap()
        .iter()
        .map(certificate)
        .collect();
    let shown = tables_of(document, "Certificates in files of the data");
    assert_eq!(
        shown,
        if certificates.is_empty() {
            vec![]
        } else {
            vec![certificates]
        }
    );

    // A link shows the host.
    let host = |url: &str| url.split('/').nth(2).unwrap_or_default().to_owned();
    for line in report["log"]["found"].as_array().into_iter().flatten() {
        let is_linked = |url: &str| {
            let mut nodes = document.descendants();
            nodes.any(|node| node.attribute("href") == Some(url))
        };
        assert!(line["report"].as_str().is_none_or(is_linked), "{line}");
    }
    let line = |line: &Value| {
        let step = if line["step"].is_null() {
            String::new()
        } else {
            line["step"].to_string()
        };
        // What is code in a cause has no backticks there.
        vec![
            line["line"].to_string(),
            step,
            text_of(&line["text"]),
            text_of(&line["cause"]).replace('`', ""),
            host(&text_of(&line["report"])),
        ]
    };
    let lines = report["log"]["found"]
        .as_array()
        .map(|found| found.iter().map(line).collect::<Vec<_>>());
    let shown = tables_of(
        document,
        "Lines of the log that report an error or a warning",
    );
    assert_eq!(shown, lines.into_iter().collect::<Vec<_>>());
    if let Some(log) = report["log"].as_object() {
        let said = format!(
            "{}: {} lines, and {} more of the same kinds",
            text_of(&log["file"]),
            log["lines"],
            log["omitted"]
        );
        assert!(
            elements(document, "p")
                .into_iter()
                .any(|paragraph| words(paragraph) == said),
            "{said}"
        );
    }
}

/// A text is shown where the config has it, a script and what kubeadm reads wherever they are from,
/// and nothing that could be a key, a certificate or a kubeconfig.
#[test]
fn contents_are_shown_by_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let text = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  files:\n\
                \x20 - {path: /etc/text, content: of the config}\n\
                \x20 - {path: /etc/script, content: \"#!/bin/sh\\necho a\\n\"}\n\
                \x20 - {path: /etc/cert, content: \"-----BEGIN CERTIFICATE-----\\nYWJj\\n-----END CERTIFICATE-----\\n\"}\n\
                \x20 - {path: /etc/kubeconfig, content: \"apiVersion: v1\\nkind: Config\\nclusters: []\\n\"}\n\
                \x20 - {path: /etc/yaml, content: \"a: 1\\n\"}\n";
    std::fs::write(folder.path().join("c.yaml"), text).unwrap();
    let page = page_of(folder.path(), &["render", "c.yaml"], 0);
    let document = read(&page);
    let shown: Vec<String> = elements(&document, "summary")
        .into_iter()
        .map(words)
        .collect();
    assert_eq!(
        shown,
        [
            "/etc/text",
            "/etc/script",
            "/etc/yaml",
            "/run/kubeadm/kubeadm-join-config.yaml"
        ]
    );
    let hidden = [
        "certificate, 59 bytes, content not shown",
        "kubeconfig, 41 bytes, content not shown",
        "bytes, content not shown",
    ];
    assert!(
        hidden.iter().all(|words| page.contains(words))
            && page.matches("content not shown").count() == 3,
        "{page}"
    );
}
