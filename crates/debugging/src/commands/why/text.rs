//! The answer as people read it.

use super::{Answer, MachineAnswer, StepAnswer, ThingAnswer};
use windlass_report::text::table;

/// The longest command, in characters, that is shown in one line.
const LONGEST: usize = 160;

/// The answer, machine by machine; of those that have nothing and of which nothing is known, one
/// line.
pub fn text(answer: &Answer) -> String {
    let machines: Vec<String> = answer
        .machines
        .iter()
        .filter(|machine| machine.rendered)
        .map(of_machine)
        .collect();
    machines.join("\n")
}

fn of_machine(machine: &MachineAnswer) -> String {
    let head = format!("{} {}", machine.name, machine.role);
    match (machine.things.is_empty(), machine.absent.is_empty()) {
        (true, true) => format!("{head}: not there\n"),
        (true, false) => format!("{head}: not there\n{}", of_steps(&machine.absent)),
        (false, _) => machine
            .things
            .iter()
            .map(|thing| of_thing(&head, thing))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

fn of_thing(head: &str, thing: &ThingAnswer) -> String {
    let name = one_line(&thing.name);
    let title = match (thing.kind, thing.value.is_empty()) {
        (_, true) => format!("{head}: {} {name}", thing.kind),
        ("command", _) => format!("{head}: {} command `{name}`", thing.value),
        ("file" | "directory" | "user", _) => {
            format!("{head}: {} {name} ({})", thing.kind, one_line(&thing.value))
        }
        _ => format!("{head}: {} {name} = {}", thing.kind, one_line(&thing.value)),
    };
    format!("{title}\n{}", of_steps(&thing.steps))
}

/// The steps with their places in a column.
fn of_steps(steps: &[StepAnswer]) -> String {
    let row = |step: &StepAnswer| {
        let text = match &step.value {
            Some(value) => format!("{} ({})", step.text, one_line(value)),
            None => step.text.clone(),
        };
        [format!("  {}", step.kind), place(step), text]
    };
    table(&steps.iter().map(row).collect::<Vec<_>>())
}

fn place(step: &StepAnswer) -> String {
    match (&step.file, step.line, step.column) {
        (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        (Some(file), ..) => file.clone(),
        _ => "-".to_owned(),
    }
}

/// The first line, which is cut where it is long.
fn one_line(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let is_more = lines.next().is_some();
    match first.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &first[..at]),
        None if is_more => format!("{first}…"),
        None => first.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_to_a_line() {
        assert_eq!(
            (one_line("a"), one_line("a\nb"), one_line("")),
            ("a".to_owned(), "a…".to_owned(), String::new())
        );
        assert_eq!(
            one_line(&"ä".repeat(LONGEST + 1)).chars().count(),
            LONGEST + 1
        );
    }
}
