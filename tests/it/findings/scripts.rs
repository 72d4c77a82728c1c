//! Scripts in templates: which variables are the script's own, and which `$$` is the number of a
//! process.

use super::{found, places, text, told};

/// The first line of a script is the sixth.
fn template(script: &str) -> String {
    let lines: String = script.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: \"${{CLUSTER_NAME}}\"}}\ndata:\n  run.sh: |\n{lines}"
    )
}

/// Where variables are replaced that the text of a template sets, and what is to be written there.
fn replaced(template: &str) -> Vec<(String, String)> {
    let found = found(
        &[("cluster-template.yaml", template)],
        &[],
        "template-shell-variable-replaced",
    );
    found
        .iter()
        .map(|finding| (places(finding), text(finding, "help").to_owned()))
        .collect()
}

/// A value ends where the shell ends its word: behind an escaped blank, a substitution or a quoted
/// text more assignments may follow.
#[test]
fn assignments_follow_each_other_behind_whole_words() {
    for script in [
        "local B=$(date) A=2\necho ${A}",
        "local B=$(date +$(cat f)) A=2\necho ${A}",
        "local B=x\\ y A=2\necho ${A}",
        "local B=\"x\\\" y\" A=2\necho ${A}",
        "local B=`date -u` A=2\necho ${A}",
        "local B='x\\' A=2\necho ${A}",
        "local B= A=2\necho ${A}",
        "(A=1)\necho ${A}",
        "A=\"$${A}\"\necho ${A}",
    ] {
        let column = 5 + "echo ".len();
        let expected = (
            format!("7:{column}-{}", column + "${A}".len()),
            "write `$${A}`".to_owned(),
        );
        assert_eq!(replaced(&template(script)), [expected], "{script}");
    }
    for sound in [
        "local B=\"$(x A=1)\"\necho ${A}",
        "local B=$(x  A=1)\necho ${A}",
        "local B=\"x\\\" A=1\"\necho ${A}",
        "local B=x\\ A=1\necho ${A}",
    ] {
        assert_eq!(replaced(&template(sound)), [], "{sound}");
    }
}

/// Each name once, where the script uses it first; before it is set, too: clusterctl knows no
/// order.
#[test]
fn each_variable_of_a_script_is_told_once() {
    let told = told(
        &[(
            "cluster-template.yaml",
            &template("A=1\necho ${B} ${A} ${B}\nB=2\necho ${A}"),
        )],
        "template-shell",
    );
    let line = |place: &str, name: &str| {
        format!(
            "{place}: clusterctl replaces ${{{name}}} in a script that sets {name} itself: write `$${{{name}}}`"
        )
    };
    assert_eq!(told, [line("7:10-14", "B"), line("7:15-19", "A")]);
}

/// A script is a text of several lines, wherever it stands; what another one sets or uses is not
/// its affair.
#[test]
fn each_script_is_judged_by_itself() {
    let head = "apiVersion: v1\nkind: X\nmetadata: {name: \"${CLUSTER_NAME}\"}\n";
    for (body, expected) in [
        ("items:\n- a: x\n- |\n  A=1\n  echo ${A}\n", vec!["8:8-12"]),
        (
            "a: |\n  A=1\n  echo ${A}\nb: |\n  A=1\n  echo ${A}\n",
            vec!["6:8-12", "9:8-12"],
        ),
        ("a: |\n  echo ${A}\nb: |\n  A=1\n", vec![]),
        ("a: |\n  A=1\n  echo x\nb: |\n  echo ${A}\n", vec![]),
        ("a: |\n  A=1\n  echo x\nb: ${A}\n", vec![]),
        ("a: |\n  A=1\n  echo x\n${A}: b\n", vec![]),
        ("a: ${A}\n\n  A=1\n", vec!["4:4-8"]),
        ("a: A=1\n\n  echo ${A}\n", vec!["6:8-12"]),
    ] {
        let found: Vec<String> = replaced(&format!("{head}{body}"))
            .into_iter()
            .map(|(place, _)| place)
            .collect();
        assert_eq!(found, expected, "{body}");
    }
}

/// One finding for a file, with the place of each pair.
#[test]
fn pairs_that_are_numbers_of_processes_are_told_together() {
    let template =
        template("cat > /tmp/x.$$\necho \"$${A}\" '$$'\nrm \"a\" \"$$\" # $$\n# $$\necho $$$$");
    let expected = "6:18-20 & 7:19-21 & 8:13-15 & 8:19-21: clusterctl makes one `$` of `$$`: write `$$$$`, of which `$$` stays";
    assert_eq!(
        told(
            &[("cluster-template.yaml", &template)],
            "template-dollar-halved"
        ),
        [expected]
    );
}
