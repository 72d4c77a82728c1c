//! `explain RULE`: the page of a rule.

use clap::Args;

use super::context::To;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::rules;
use windlass_report::text::Style;
use windlass_source::nearest::nearest;

pub(super) const VERB: Verb = Verb {
    words: &["explain"],
    operands: "RULE",
    summary: "what a rule finds, why it matters and how to fix it, with examples",
    family: None,
    group: Group::Reference,
    manner: Manner::Ours,
    examples: &["explain metadata-series-missing"],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// The rule, as findings name it; its number in the catalogue of checks will do too
    #[arg(value_name = "RULE")]
    rule: String,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let all = rules::all();
        let is_numbered = |numbers: &str| {
            numbers
                .split(' ')
                .any(|number| number.eq_ignore_ascii_case(&self.rule))
        };
        let found: Vec<_> = all
            .iter()
            .filter(|rule| rule.id == self.rule || rule.catalogue.is_some_and(is_numbered))
            .map(|rule| rules::page(rule))
            .collect();
        if found.is_empty() {
            let help = match nearest(&self.rule, all.iter().map(|rule| rule.id)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`windlass rules` lists all rules".to_owned(),
            };
            return Err(Failure::usage(
                format!("unknown rule `{}`", self.rule),
                help,
            ));
        }
        let pages = found.join("\n");
        let text = if context.stdio.stdout.is_terminal() {
            formatted(&pages, context.style(To::Stdout))
        } else {
            pages
        };
        context.out(&text);
        Ok(Exit::Clean)
    }
}

/// Markdown for a terminal: headings in bold, blocks indented under the name of their file.
fn formatted(page: &str, style: Style) -> String {
    let mut text = String::new();
    let mut in_block = false;
    for line in page.lines() {
        let line = match line.strip_prefix("```") {
            Some(fence) => {
                in_block = !in_block;
                let Some((_, file)) = fence.split_once(' ') else {
                    continue;
                };
                style.bold(&format!("  {file}"))
            }
            None if in_block => format!("    {line}"),
            None if line.starts_with('#') => style.bold(line.trim_start_matches(['#', ' '])),
            None => line.to_owned(),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_formatted_for_terminals() {
        let page = "# a-b\n\nText.\n\n## Bad\n\n```yaml x.yaml\na: 1\n# comment\n```\n";
        let plain = formatted(
            page,
            Style {
                colour: false,
                width: 80,
            },
        );
        assert_eq!(
            plain,
            "a-b\n\nText.\n\nBad\n\n  x.yaml\n    a: 1\n    # comment\n"
        );
        let coloured = formatted(
            page,
            Style {
                colour: true,
                width: 80,
            },
        );
        assert!(coloured.starts_with("\x1b[1ma-b\x1b[0m\n"), "{coloured}");
    }
}
