//! The comparison as people read it on a terminal: first which objects change, then their fields.

use super::lines::{self, Sign};
use super::{Change, Difference, ObjectChange};
use windlass_report::text::{Paint, Style, plural, visible};

/// The whole comparison. It ends without an empty line.
pub fn text(difference: &Difference, style: Style) -> String {
    let mut text = String::new();
    for object in &difference.objects {
        text.push_str(&overview(
            object.change,
            &object.title(),
            object.fields.len(),
            style,
        ));
    }
    for file in &difference.files {
        text.push_str(&overview(
            file.change,
            &format!("{} (file)", file.path),
            0,
            style,
        ));
    }
    for object in difference
        .objects
        .iter()
        .filter(|object| !object.fields.is_empty())
    {
        text.push('\n');
        text.push_str(&fields(object, style));
    }
    text
}

fn overview(change: Change, title: &str, fields: usize, style: Style) -> String {
    let word = match change {
        Change::Added => style.paint(Paint::Added, "added    "),
        Change::Removed => style.paint(Paint::Removed, "removed  "),
        Change::Changed | Change::Reordered => "changed  ".to_owned(),
    };
    let fields = if fields == 0 {
        String::new()
    } else {
        format!(": {}", plural(fields, "field"))
    };
    format!("{word}{}{fields}\n", visible(title))
}

fn fields(object: &ObjectChange, style: Style) -> String {
    let mut text = format!("{}\n", style.paint(Paint::Bold, &visible(&object.title())));
    for field in &object.fields {
        text.push_str(&format!("  {}\n", visible(&field.path)));
        for (sign, line) in lines::of(field) {
            text.push_str(&match sign {
                Sign::Old => format!("    {}\n", style.paint(Paint::Removed, &format!("-{line}"))),
                Sign::New => format!("    {}\n", style.paint(Paint::Added, &format!("+{line}"))),
                Sign::Note => format!("    {line}\n"),
            });
        }
    }
    text
}

/// What changes, in numbers: `1 object added, 2 objects changed, 30 objects unchanged`; or that
/// nothing was there to change.
pub fn summary(difference: &Difference) -> String {
    let mut parts: Vec<String> = [Change::Added, Change::Removed, Change::Changed]
        .into_iter()
        .map(|change| (difference.count(change), change.word()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{} {word}", plural(count, "object")))
        .collect();
    if difference.unchanged > 0 {
        parts.push(format!(
            "{} unchanged",
            plural(difference.unchanged, "object")
        ));
    }
    if parts.is_empty() {
        parts.push("no objects on either side".to_owned());
    }
    if !difference.files.is_empty() {
        let differ = if difference.files.len() == 1 {
            "differs"
        } else {
            "differ"
        };
        parts.push(format!(
            "{} without objects of their own {differ}",
            plural(difference.files.len(), "file")
        ));
    }
    parts.join(", ")
}
