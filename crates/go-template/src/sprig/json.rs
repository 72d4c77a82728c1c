//! JSON of values: `encoding/json`.

use super::super::MAX_VALUE;
use super::arguments::{Arguments, any, text};
use crate::functions::{CallFault, Called, rejected};
use crate::held::Held;
use windlass_go_text::float::json_float;
use windlass_go_text::value::Value;
use windlass_go_text::{push_json_string, push_plain_json_string};

#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    is_indented: bool,
    escapes_html: bool,
}

impl Style {
    pub(super) const COMPACT: Style = Style {
        is_indented: false,
        escapes_html: true,
    };
    pub(super) const PRETTY: Style = Style {
        is_indented: true,
        escapes_html: true,
    };
    pub(super) const RAW: Style = Style {
        is_indented: false,
        escapes_html: false,
    };
}

/// `mustFromJson`
pub(super) fn read(arguments: &Arguments<'_>) -> Called<Held> {
    match serde_json::from_slice::<serde_json::Value>(arguments.bytes(0)) {
        Ok(value) => any(Value::of_json(&value)),
        Err(error) => rejected(error.to_string()),
    }
}

pub(super) fn written(arguments: &Arguments<'_>, style: Style) -> Called<Held> {
    let mut out = String::new();
    push(&mut out, arguments.value(0), style, 0)?;
    text(out)
}

fn push(out: &mut String, value: &Value, style: Style, depth: usize) -> Called<()> {
    if out.len() > MAX_VALUE {
        return Err(CallFault::TooLarge);
    }
    match value {
        Value::Nil => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Int(int) => out.push_str(&int.to_string()),
        Value::Byte(byte) => out.push_str(&byte.to_string()),
        Value::Float(float) if !float.is_finite() => {
            return rejected(format!(
                "json: unsupported value: {}",
                windlass_go_text::float(*float)
            ));
        }
        Value::Float(float) => out.push_str(&json_float(*float)),
        Value::Complex(..) => return rejected("json: unsupported type: complex128"),
        Value::Text(text) => push_text(out, &String::from_utf8_lossy(text), style),
        Value::Struct(object) => push_text(out, &object.text, style),
        Value::List(items) => {
            push_all(out, ['[', ']'], items.iter(), style, depth, |out, item| {
                push(out, item, style, depth + 1)
            })?
        }
        Value::Map(entries) => push_all(
            out,
            ['{', '}'],
            entries.iter(),
            style,
            depth,
            |out, (key, entry)| {
                push_text(out, key, style);
                out.push_str(if style.is_indented { ": " } else { ":" });
                push(out, entry, style, depth + 1)
            },
        )?,
    }
    Ok(())
}

fn push_text(out: &mut String, text: &str, style: Style) {
    let push = if style.escapes_html {
        push_json_string
    } else {
        push_plain_json_string
    };
    push(out, text);
}

fn push_all<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl ExactSizeIterator<Item = T>,
    style: Style,
    depth: usize,
    mut push_one: impl FnMut(&mut String, T) -> Called<()>,
) -> Called<()> {
    let is_indented = style.is_indented && items.len() > 0;
    let line = |out: &mut String, depth: usize| {
        if is_indented {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        }
    };
    out.push(open);
    for (at, item) in items.enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        line(out, depth + 1);
        push_one(out, item)?;
    }
    line(out, depth);
    out.push(close);
    Ok(())
}
