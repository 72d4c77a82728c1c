//! `why`: bounds of its answers, and locations in templates. What it prints is in `tests/cases/why`.

use serde_json::Value;

use crate::support::{run, windlass};

/// Asks about a document; `flags` are whole arguments.
fn ask(what: &str, text: &str, flags: &[&str]) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.yaml"), text).unwrap();
    let output = windlass(folder.path())
        .args(["why", what, "c.yaml", "-o", "json"])
        .args(flags)
        .output()
        .unwrap();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code(), report)
}

const HEAD: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n";

fn config(spec: &str) -> String {
    format!("{HEAD}{spec}")
}

/// A value with a line end does not move the locations, which are those of the template.
#[test]
fn locations_are_those_of_the_template() {
    let text = config(
        "  files:\n  - {path: \"${A_VERY_LONG_NAME}\", content: \"${B}\"}\n  - {path: /b, content: x}\n",
    );
    let (_, report) = ask(
        "/b",
        &text,
        &[
            "--template",
            "--var",
            "A_VERY_LONG_NAME=/a\n",
            "--var",
            "B=b",
        ],
    );
    let step = &report["machines"][0]["things"][0]["steps"][0];
    assert_eq!(
        (&step["line"], &step["text"]),
        (&7.into(), &"spec.files[1] of KubeadmConfig/w".into())
    );
}

/// Whatever a document has in its names, the terminal gets none of its control characters.
#[test]
fn hostile_documents_neither_reach_the_terminal_nor_take_long() {
    let text = config(
        "  files:\n  - {path: \"/a\\e[2J\\u202e\", content: x}\n  preKubeadmCommands: [\"a\\e]0;x\\a\"]\n",
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.yaml"), text).unwrap();
    for what in ["/", "command:a", "a"] {
        let answer = run(folder.path(), &format!("why {what} c.yaml")).ok();
        assert!(
            !answer.stdout.contains('\u{1b}') && !answer.stderr.contains('\u{1b}'),
            "{answer:?}"
        );
    }
    let many: String = (0..150)
        .map(|at| format!("  - {{path: /f/{at}, content: x}}\n"))
        .collect();
    let begin = std::time::Instant::now();
    let (code, report) = ask("/f", &config(&format!("  files:\n{many}")), &[]);
    assert_eq!(
        (
            code,
            report["machines"][0]["things"].as_array().unwrap().len()
        ),
        (Some(0), 100)
    );
    assert!(report.to_string().contains("why-cut") && begin.elapsed().as_secs() < 60);
}

/// A hundred are told; of more the finding says that they are cut.
#[test]
fn of_more_than_a_hundred_things_the_rest_is_cut_and_told() {
    for (count, is_cut) in [(100, false), (101, true), (150, true)] {
        let commands: String = (0..count).map(|at| format!("  - say {at}\n")).collect();
        let (code, report) = ask(
            "command:say",
            &config(&format!("  preKubeadmCommands:\n{commands}")),
            &[],
        );
        assert_eq!(code, Some(0), "{report:#}");
        assert_eq!(
            report["machines"][0]["things"].as_array().unwrap().len(),
            100
        );
        let messages: Vec<&str> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["message"].as_str().unwrap())
            .collect();
        let expected: &[&str] = if is_cut {
            &["w worker-join has more than 100 things that `command:say` means"]
        } else {
            &[]
        };
        assert_eq!(messages, expected);
    }
}
