//! The comparison as a comment on GitHub.

use super::lines::{self, Sign};
use super::text::summary;
use super::{Difference, ObjectChange};
use windlass_report::markdown::{Comment, code, folded_diff};
use windlass_report::text::{plural, visible};

/// The comment: what changes in a table, and below it the fields of each object, folded. What
/// GitHub would not take is left out, which the last line says.
pub fn comment(old: &str, new: &str, difference: &Difference) -> String {
    let mut comment = Comment::default();
    comment.push(&format!(
        "### {} → {}\n\n{}\n",
        code(old),
        code(new),
        summary(difference)
    ));
    if !difference.is_empty() {
        comment.push("\n| | |\n|---|---|\n");
    }
    for object in &difference.objects {
        let count = if object.fields.is_empty() {
            String::new()
        } else {
            format!(", {}", plural(object.fields.len(), "field"))
        };
        comment.push(&format!(
            "| {} | {}{count} |\n",
            object.change.word(),
            code(&object.title())
        ));
    }
    for file in &difference.files {
        comment.push(&format!(
            "| {} | {} (file) |\n",
            file.change.word(),
            code(&file.path)
        ));
    }
    for object in difference
        .objects
        .iter()
        .filter(|object| !object.fields.is_empty())
    {
        comment.push(&details(object));
    }
    comment.finish()
}

fn details(object: &ObjectChange) -> String {
    let mut body = String::new();
    for field in &object.fields {
        body.push_str(&format!("  {}\n", visible(&field.path)));
        for (sign, line) in lines::of(field) {
            let sign = match sign {
                Sign::Old => '-',
                Sign::New => '+',
                Sign::Note => ' ',
            };
            body.push_str(&format!("{sign} {line}\n"));
        }
    }
    folded_diff(&object.title(), &body)
}

#[cfg(test)]
mod tests {
    use super::super::{Change, FieldChange};
    use super::*;
    use windlass_report::markdown::MOST_CHARACTERS;

    fn object(name: &str, old: &str) -> ObjectChange {
        let field = FieldChange {
            path: "a".to_owned(),
            change: Change::Changed,
            old: Some(old.into()),
            new: Some("b".into()),
        };
        ObjectChange {
            change: Change::Changed,
            file: None,
            group: String::new(),
            kind: "K".to_owned(),
            namespace: None,
            name: name.to_owned(),
            fields: vec![field],
        }
    }

    #[test]
    fn foreign_text_is_no_markup() {
        let objects = vec![object(
            "<b>|*_`@x`\n::set-output::",
            "```\n</details>@all\n",
        )];
        let text = comment(
            "a|b",
            "c",
            &Difference {
                objects,
                files: Vec::new(),
                unchanged: 0,
            },
        );
        let row = "| changed | <code>K/&#60;b&#62;&#124;&#42;&#95;&#96;&#64;x&#96;␊∶:set-output::</code>, 1 field |\n";
        assert!(text.contains(row), "{text}");
        assert!(
            text.contains("````diff\n  a\n- ```\n- </details>@all\n+ b\n````\n"),
            "{text}"
        );
        assert!(text.lines().all(|line| !line.starts_with("::")), "{text}");
    }

    #[test]
    fn what_github_does_not_take_is_left_out_and_said() {
        let objects: Vec<ObjectChange> = (0..2_000)
            .map(|at| object(&format!("n{at}"), "x"))
            .collect();
        let text = comment(
            "a",
            "b",
            &Difference {
                objects,
                files: Vec::new(),
                unchanged: 0,
            },
        );
        let characters = text.chars().count();
        assert!(
            (50_000..=MOST_CHARACTERS).contains(&characters),
            "{characters}"
        );
        assert!(
            text.ends_with("left out, because GitHub takes comments up to 65536 characters.\n"),
            "{}",
            &text[text.len() - 200..]
        );
    }
}
