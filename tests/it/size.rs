//! `size`: its numbers agree with the rendered data and with each other. What it prints is in
//! `tests/cases/size`.

use std::process::Output;

use serde_json::Value;

use crate::support::{root, windlass};

fn size(arguments: &[&str]) -> Output {
    windlass(root())
        .arg("size")
        .args(arguments)
        .output()
        .unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = size(&[arguments, &["-o", "json"]].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// A folder with a file.
fn input(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.yaml"), text).unwrap();
    folder
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What `render` prints is what is measured.
#[test]
fn sizes_are_those_of_the_rendered_data() {
    for example in [
        "examples/worker.yaml",
        "examples/flatcar.yaml",
        "examples/windows.yaml",
    ] {
        let data = windlass(root())
            .args(["render", example])
            .output()
            .unwrap()
            .stdout;
        let machine = &json(&[example])["machines"][0];
        assert_eq!(machine["raw"], data.len(), "{example}");
        assert_eq!(machine["base64"], data.len().div_ceil(3) * 4, "{example}");
    }
}

#[test]
fn parts_add_up_and_the_largest_comes_first() {
    let report = json(&[
        "examples/control-plane.yaml",
        "examples/worker.yaml",
        "examples/flatcar.yaml",
        "examples/windows.yaml",
        "examples/topology",
    ]);
    let machines = report["machines"].as_array().unwrap();
    assert!(machines.len() > 5, "{}", machines.len());
    for machine in machines {
        let bytes: Vec<u64> = machine["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["bytes"].as_u64().unwrap())
            .collect();
        assert_eq!(
            bytes.iter().sum::<u64>(),
            machine["raw"].as_u64().unwrap(),
            "{}",
            machine["name"]
        );
        assert!(bytes.is_sorted_by(|a, b| a >= b), "{bytes:?}");
    }
}

/// Keys do not compress: base64 keeps three quarters of its bytes. Dummies of one line repeated
/// would vanish.
#[test]
fn certificates_of_placeholders_are_measured_as_real_ones() {
    let machine = &json(&["examples/control-plane.yaml"])["machines"][0];
    assert!(
        machine["placeholders"]
            .as_array()
            .unwrap()
            .contains(&"certificates".into())
    );
    let (raw, gzip) = (
        machine["raw"].as_u64().unwrap(),
        machine["gzip"].as_u64().unwrap(),
    );
    assert!(gzip > raw / 2 && gzip < raw, "{gzip} of {raw}");
}

/// A worker with these files, each of one line.
fn with_files(files: &[(&str, &str)]) -> tempfile::TempDir {
    let worker = std::fs::read_to_string(root().join("examples/worker.yaml")).unwrap();
    let listed: String = files
        .iter()
        .map(|(path, content)| format!("\n  - {{path: {path}, content: {content}}}"))
        .collect();
    input(&worker.replacen("\n  files:", &format!("\n  files:{listed}"), 1))
}

/// The columns of each line.
fn columns(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|column| !column.is_empty())
                .collect()
        })
        .collect()
}

/// The columns of a part: bar, share, bytes, name, and the field that it comes from.
fn part_columns(part: &Value, raw: u64) -> Vec<String> {
    let bytes = part["bytes"].as_u64().unwrap();
    let share = (bytes * 100).div_ceil(raw);
    let full = usize::try_from((share * 20).div_ceil(100)).unwrap();
    let bar = format!("[{}{}]", "#".repeat(full), "-".repeat(20 - full));
    let from = part["from"].as_str().map(|from| format!("({from})"));
    [
        bar,
        format!("{share} %"),
        bytes.to_string(),
        part["name"].as_str().unwrap().to_owned(),
    ]
    .into_iter()
    .chain(from)
    .collect()
}

/// Ten parts of a machine, and what is left in one line; all with `--all`.
#[test]
fn the_text_lists_the_largest_parts_and_sums_the_others_up() {
    let content = "x".repeat(200);
    let names: Vec<String> = (0..9).map(|at| format!("/etc/{at}")).collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (name.as_str(), &content[at * 10..]))
        .collect();
    let folder = with_files(&files);
    let file = folder.path().join("c.yaml");
    let machine = &json(&[file.to_str().unwrap()])["machines"][0];
    let (raw, parts) = (
        machine["raw"].as_u64().unwrap(),
        machine["parts"].as_array().unwrap(),
    );
    assert!(parts.len() > 11, "{parts:?}");

    for (arguments, listed) in [(vec![], 10), (vec!["--all"], parts.len())] {
        let shown = text(&size(
            &[&[file.to_str().unwrap()], arguments.as_slice()].concat(),
        ));
        assert!(
            shown.contains(&format!("\ngpu-worker worker-join, {raw} bytes\n")),
            "{shown}"
        );
        let rows = columns(&shown);
        let at = rows
            .iter()
            .position(|row| row.first().is_some_and(|cell| cell.starts_with('[')))
            .unwrap();
        for (row, part) in rows[at..].iter().zip(&parts[..listed]) {
            assert_eq!(*row, part_columns(part, raw), "{shown}");
        }
        let rest: u64 = parts[listed..]
            .iter()
            .map(|part| part["bytes"].as_u64().unwrap())
            .sum();
        let more = format!("{} smaller parts", parts.len() - listed);
        let sum = rows
            .iter()
            .find(|row| row.contains(&more.as_str()))
            .map(|row| (row[1].to_owned(), row[2].to_owned()));
        let expected = (listed < parts.len()).then(|| {
            (
                format!("{} %", (rest * 100).div_ceil(raw)),
                rest.to_string(),
            )
        });
        assert_eq!(sum, expected, "{shown}");
        assert_eq!(
            shown.matches("smaller parts").count(),
            usize::from(listed < parts.len()),
            "{shown}"
        );
    }
}

/// What a change would save is what it does save, to the few bytes that the fields themselves take.
#[test]
fn what_would_be_saved_is_what_is_saved() {
    let long = "line of a file that is said again and again ".repeat(40);
    let random = "q7PzK1vX";
    let folder = with_files(&[("/etc/long", &long), ("/etc/short", random)]);
    let file = folder.path().join("c.yaml");
    let machine = json(&[file.to_str().unwrap()])["machines"][0].clone();
    let savings: Vec<(&str, u64)> = machine["savings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["field"].as_str().unwrap(), s["bytes"].as_u64().unwrap()))
        .collect();
    let number = |name: &str| machine[name].as_u64().unwrap();
    let saved = |field: &str| {
        savings
            .iter()
            .find(|(name, _)| *name == field)
            .map(|(_, bytes)| *bytes)
    };
    assert_eq!(
        saved("compression: gzip"),
        Some(number("raw") - number("gzip"))
    );
    let of_long = saved("spec.files[0].transferEncoding: gzip+base64").unwrap();
    let content = u64::try_from(long.trim_end().len()).unwrap();
    assert!(
        of_long > content * 8 / 10 && of_long < content,
        "{of_long} of {content}"
    );
    assert_eq!(
        saved("spec.files[1].transferEncoding: gzip+base64"),
        None,
        "eight bytes only grow"
    );
    assert!(savings.is_sorted_by(|(_, a), (_, b)| a >= b), "{savings:?}");

    let shown = text(&size(&[file.to_str().unwrap()]));
    for saving in machine["savings"].as_array().unwrap() {
        let line = format!(
            "`{}` saves {} bytes: {}\n",
            saving["field"].as_str().unwrap(),
            saving["bytes"],
            saving["note"].as_str().unwrap()
        );
        assert!(shown.contains(&line), "{line}{shown}");
    }
}

/// Data that is sent with gzip saves nothing by gzip again, and counts as what is sent.
#[test]
fn what_is_compressed_already_is_measured_as_it_is_sent() {
    let folder = with_files(&[("/etc/long", &"again and again ".repeat(60))]);
    let file = folder.path().join("c.yaml");
    let plain = json(&[file.to_str().unwrap()])["machines"][0].clone();
    let config = std::fs::read_to_string(&file).unwrap();
    let ours = config
        .replace("kind: KubeadmConfig\n", "kind: WindlassConfig\n")
        .replace(
            "bootstrap.cluster.x-k8s.io/v1beta2",
            "bootstrap.windlass.dev/v1beta2",
        )
        .replacen("\nspec:\n", "\nspec:\n  compression: gzip\n", 1);
    std::fs::write(&file, ours).unwrap();
    let report = json(&[file.to_str().unwrap(), "--infra", "openstack,hetzner"]);
    let machine = &report["machines"][0];
    assert_eq!(machine["compressed"], true, "{report}");
    assert_eq!(
        (&machine["raw"], &machine["bytes"]),
        (&plain["raw"], &machine["gzip"])
    );
    let fields: Vec<&str> = machine["savings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|saving| saving["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["files[].contentFrom"]);
    let counted: Vec<(&str, u64)> = machine["limits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fit| {
            (
                fit["infrastructure"].as_str().unwrap(),
                fit["bytes"].as_u64().unwrap(),
            )
        })
        .collect();
    let gzip = machine["gzip"].as_u64().unwrap();
    assert_eq!(
        counted,
        [("hetzner", gzip), ("openstack", gzip.div_ceil(3) * 4)]
    );
    let shown = text(&size(&[file.to_str().unwrap()]));
    assert!(shown.contains(" bytes, sent with gzip\n"), "{shown}");
}

/// Of two machines the larger is shown where nothing says which infrastructure it is; both where
/// something does, and with `--all`.
#[test]
fn limits_are_told_of_the_largest_machine_or_of_all() {
    let files = ["examples/worker.yaml", "examples/control-plane.yaml"];
    let report = json(&files);
    let machines = report["machines"].as_array().unwrap();
    let row = |machine: &Value, fit: &Value| -> Vec<String> {
        let gzip = if fit["providerGzips"] == true {
            "gzip, "
        } else {
            ""
        };
        let (bytes, limit) = (
            fit["bytes"].as_u64().unwrap(),
            fit["limit"].as_u64().unwrap(),
        );
        assert_eq!(fit["percent"], (bytes * 100).div_ceil(limit), "{fit}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        vec![
            text(&fit["infrastructure"]),
            text(&machine["name"]),
            text(&machine["role"]),
            format!("{gzip}{}", text(&fit["measured"])),
            bytes.to_string(),
            limit.to_string(),
            format!("{} %", fit["percent"]),
            text(&fit["source"]),
        ]
    };
    // Sorted by the name of the infrastructure, then the largest first.
    let mut all: Vec<Vec<String>> = machines
        .iter()
        .flat_map(|machine| {
            machine["limits"]
                .as_array()
                .unwrap()
                .iter()
                .map(move |fit| row(machine, fit))
        })
        .collect();
    all.sort_by_key(|row| {
        (
            row[0].clone(),
            std::cmp::Reverse(row[4].parse::<u64>().unwrap()),
        )
    });
    let mut largest = all.clone();
    largest.dedup_by_key(|row| row[0].clone());
    assert!(
        all.len() == 3 * largest.len()
            && largest.iter().all(|row| row[1] == "example-control-plane"),
        "{all:?}"
    );
    let shown_rows = |arguments: &[&str]| -> Vec<Vec<String>> {
        let shown = text(&size(arguments));
        let rows = columns(&shown);
        let from = rows
            .iter()
            .position(|row| row.first() == Some(&"INFRASTRUCTURE"))
            .unwrap();
        let table = rows[from + 1..].iter().take_while(|row| row.len() > 3);
        table
            .map(|row| {
                row.iter()
                    .filter(|cell| !cell.starts_with('['))
                    .map(|cell| (*cell).to_owned())
                    .collect()
            })
            .collect()
    };
    assert_eq!(shown_rows(&files), largest);
    assert_eq!(shown_rows(&[&files[..], &["--all"]].concat()), all);
    let of_hetzner: Vec<Vec<String>> = all.into_iter().filter(|row| row[0] == "hetzner").collect();
    assert_eq!(
        shown_rows(&[&files[..], &["--infra", "hetzner"]].concat()),
        of_hetzner
    );

    // Where data may be moved to is below the table, once.
    let shown = text(&size(&files));
    let moved = |name: &str| shown.matches(&format!("\n{name} moves data: ")).count();
    assert_eq!(
        (moved("aws"), moved("linode"), moved("azure")),
        (1, 1, 0),
        "{shown}"
    );
}

/// A budget is one of every infrastructure where none is named: each that takes more than its share
/// is told, with where its limit is from and where the provider may move the data.
#[test]
fn a_budget_is_held_against_each_infrastructure() {
    for percent in [1, 3, 5, 100] {
        let report = json(&["examples/worker.yaml", "--fail-over", &percent.to_string()]);
        let machine = &report["machines"][0];
        let largest: Vec<String> = machine["parts"].as_array().unwrap()[..2]
            .iter()
            .map(|part| format!("{} {}", part["name"].as_str().unwrap(), part["bytes"]))
            .collect();
        let over = |fit: &&Value| {
            fit["bytes"].as_u64().unwrap() * 100 > fit["limit"].as_u64().unwrap() * percent
        };
        let expected = machine["limits"].as_array().unwrap().iter().filter(over).map(|fit| {
            let message = format!(
                "gpu-worker worker-join is over {percent} % of what {} takes: {} of {} bytes, {} %; largest: {}",
                fit["infrastructure"].as_str().unwrap(),
                fit["bytes"],
                fit["limit"],
                fit["percent"],
                largest.join(", ")
            );
            let source = format!("see {}", fit["source"].as_str().unwrap());
            let moved = fit["moved"].as_str().map(|moved| format!("the provider moves the data: {moved}"));
            (message, std::iter::once(source).chain(moved).collect::<Vec<_>>())
        });
        let found = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| {
                assert_eq!(
                    (finding["rule"].as_str(), finding["line"].as_u64()),
                    (Some("user-data-over-budget"), Some(7))
                );
                let notes = finding["notes"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|note| note.as_str().unwrap().to_owned());
                (
                    finding["message"].as_str().unwrap().to_owned(),
                    notes.collect::<Vec<_>>(),
                )
            });
        let (found, expected): (Vec<_>, Vec<_>) = (found.collect(), expected.collect());
        assert_eq!(found, expected);
        assert_eq!(expected.is_empty(), percent == 100);
    }
}
