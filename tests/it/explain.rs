//! `explain`: the page of each rule.

use crate::support::{root, run};

/// `explain` prints for each rule what `rules` reports, the summary as a sentence, and its page.
#[test]
fn prints_what_rules_reports() {
    let report = run(root(), "rules -o json").json();
    let rules = report["rules"].as_array().unwrap();
    let mut with_code = 0;
    for rule in rules.iter().step_by(7) {
        let text = |field: &str| rule[field].as_str().unwrap_or_default();
        let page = run(root(), &format!("explain {}", text("rule"))).stdout;
        let summary = text("summary");
        let is_word = summary
            .split(' ')
            .next()
            .unwrap()
            .chars()
            .all(char::is_alphabetic);
        let first = &summary[..summary.chars().next().unwrap().len_utf8()];
        let sentence = if is_word {
            format!("{}{}.", first.to_uppercase(), &summary[first.len()..])
        } else {
            format!("{summary}.")
        };
        let line = |name: &str, value: &str| {
            if value.is_empty() {
                String::new()
            } else {
                format!("- {name}: {value}\n")
            }
        };
        let head = [
            format!("# {}\n\n{sentence}\n\n", text("rule")),
            line("severity", text("severity")),
            line("class", text("class")),
            line("catalogue", text("catalogue")),
            line("contract", text("url")),
            "\n## ".to_owned(),
        ];
        assert!(page.starts_with(&head.concat()), "{page}");
        assert!(
            page.contains("## Why\n") && page.contains("## Fix\n"),
            "{page}"
        );
        with_code += usize::from(!is_word);
    }
    assert!(with_code > 0);
    let table = run(root(), "rules").ok().stdout;
    let head: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["RULE", "SEVERITY", "CLASS", "SUMMARY"]);
    assert_eq!(table.lines().count(), rules.len() + 1);
}
