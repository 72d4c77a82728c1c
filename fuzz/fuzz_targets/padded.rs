//! Documents with a secret of foreign bytes, padded to any size: nothing panics, and no report has
//! the secret.
#![no_main]

#[path = "../../tests/it/padded/documents.rs"]
mod documents;

use documents::{CANARY, FIELDS, Padding, document, reports};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, u16, u16, &str, &str)| {
    let (field, padding, before, within, left, right) = input;
    let field = FIELDS[usize::from(field) % FIELDS.len()];
    let padding = Padding::ALL[usize::from(padding) % Padding::ALL.len()];
    // The rest of a line is the secret: a comment or a line of its own is not.
    let part = |text: &str| -> String {
        text.chars()
            .filter(|c| !c.is_control() && !"#@:,&*\u{85}\u{2028}\u{2029}".contains(*c))
            .collect()
    };
    let secret = format!("{}{CANARY}{}", part(left), part(right));
    let document = document(field, &secret, padding, before.into(), within.into());
    for report in reports(&document) {
        let line = report.lines().find(|line| line.contains(CANARY));
        assert!(line.is_none(), "{}", line.unwrap_or_default());
    }
});
