//! What bytes are to the scanner.

/// May begin a line break, or is the end: looked at more closely.
pub(super) const BREAK: u8 = 1;
/// A space or a tab.
pub(super) const BLANK: u8 = 2;
/// `:`, which ends a plain word before a blank.
pub(super) const COLON: u8 = 4;
/// What ends a plain word in brackets.
pub(super) const FLOW: u8 = 8;
/// What no plain word starts with.
pub(super) const INDICATOR: u8 = 16;
/// What names of anchors and directives are made of.
pub(super) const WORD: u8 = 32;
/// What, besides those, a tag is made of.
pub(super) const URI: u8 = 64;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    classes = mark(classes, b"\0\r\n\xc2\xe2", BREAK);
    classes = mark(classes, b" \t", BLANK);
    classes = mark(classes, b":", COLON);
    classes = mark(classes, b",?[]{}", FLOW);
    classes = mark(classes, b"-?:,[]{}#&*!|>'\"%@`", INDICATOR);
    classes = mark(
        classes,
        b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-",
        WORD,
    );
    mark(classes, b";/?:@&=+$,.!~*'()[]%", URI)
}

const fn mark(mut classes: [u8; 256], bytes: &[u8], class: u8) -> [u8; 256] {
    let mut at = 0;
    while at < bytes.len() {
        classes[bytes[at] as usize] |= class;
        at += 1;
    }
    classes
}

/// Whether a byte is of one of these classes.
pub(super) fn is(byte: u8, classes: u8) -> bool {
    CLASSES[byte as usize] & classes != 0
}

/// How many bytes the line break has that begins here; 0 when none does.
pub(super) fn break_width(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [0xc2, 0x85, ..] => 2,
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
        _ => 0,
    }
}
