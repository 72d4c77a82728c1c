//! Texts with clusterctl's variables: while YAML is read, a word of the same length stands for
//! each, so that every place stays where it is. Where one stands for a block, a comment does.

use std::collections::BTreeSet;
use std::ops::Range;

use windlass_envsubst as envsubst;
use windlass_objects::opaque_block::{OpaqueBlock, blocks_at, blocks_of};

/// The first of the characters that stand for variables: of a private plane, four bytes long, as
/// the shortest variable is.
const FIRST: u32 = 0xF_0000;
const MOST: usize = 0xFFFD;

/// The maximum number of variables of a text in which blocks are looked for: for each the text is
/// read again.
const MOST_WITH_BLOCKS: usize = 200;

/// A text whose variables are replaced by words that mean nothing.
#[derive(Debug, Clone)]
pub(super) struct Masked<'t> {
    pub(super) text: String,
    variables: Vec<&'t str>,
    blocks: Vec<OpaqueBlock>,
    /// The variables that are in a comment of their own.
    commented: BTreeSet<usize>,
}

/// What begins the comment that stands for a block.
const COMMENT: char = '#';

impl<'t> Masked<'t> {
    /// Replaces each `${…}` that ends in its line. A text that uses these characters itself stays
    /// as it is.
    pub(super) fn of(text: &'t str) -> Self {
        let mut masked = Masked {
            text: String::with_capacity(text.len()),
            variables: Vec::new(),
            blocks: Vec::new(),
            commented: BTreeSet::new(),
        };
        if text.contains(|c: char| u32::from(c) >= FIRST) {
            masked.text.push_str(text);
            return masked;
        }
        if let Ok(template) = envsubst::parse(text)
            && template.uses().len() <= MOST_WITH_BLOCKS
        {
            masked.blocks = blocks_of(text, &template);
        }
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, from) = rest.split_at(start);
            masked.text.push_str(before);
            let variable = &from[..end(from)
                .filter(|_| masked.variables.len() < MOST)
                .unwrap_or("${".len())];
            let is_whole = variable.ends_with('}') && variable.len() >= "${A}".len();
            match u32::try_from(masked.variables.len())
                .ok()
                .and_then(|number| char::from_u32(FIRST + number))
                .filter(|_| is_whole)
            {
                Some(sign) => masked.push(variable, sign),
                None => masked.text.push_str(variable),
            }
            rest = &from[variable.len()..];
        }
        masked.text.push_str(rest);
        masked
    }

    /// Adds a word for a variable, or a comment where it is a block.
    fn push(&mut self, variable: &'t str, sign: char) {
        let place = self.text.len();
        let is_block = self.blocks.iter().any(|block| block.span.start == place);
        if is_block && variable.len() > sign.len_utf8() {
            self.commented.insert(self.variables.len());
            self.text.push(COMMENT);
        }
        self.text.push(sign);
        let rest = variable.len() - (self.text.len() - place);
        self.text.extend(std::iter::repeat_n('x', rest));
        self.variables.push(variable);
    }

    /// A text with the variables as they are written.
    pub(super) fn unmask(&self, text: &str) -> String {
        let mut whole = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((at, sign)) = rest.char_indices().find(|(_, c)| u32::from(*c) >= FIRST) {
            let (before, from) = rest.split_at(at);
            whole.push_str(before);
            let number = usize::try_from(u32::from(sign) - FIRST).unwrap_or(usize::MAX);
            let is_commented = self.commented.contains(&number) && whole.ends_with(COMMENT);
            let length = |variable: &str| variable.len() - usize::from(is_commented);
            match self
                .variables
                .get(number)
                .filter(|variable| from.len() >= length(variable))
            {
                Some(variable) => {
                    if is_commented {
                        whole.pop();
                    }
                    whole.push_str(variable);
                    rest = from.get(length(variable)..).unwrap_or_default();
                }
                None => {
                    whole.push(sign);
                    rest = &from[sign.len_utf8()..];
                }
            }
        }
        whole.push_str(rest);
        whole
    }

    /// The first variable that stands for a block in the document that contains a place.
    pub(super) fn block_in(&self, place: usize) -> Option<Range<usize>> {
        let block = blocks_at(&self.blocks, place).first()?;
        Some(block.span.clone())
    }
}

/// Behind the `}` that ends the variable with which a text begins; `None` when it does not end in
/// its line.
fn end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return None,
            '{' => depth += 1,
            '}' if depth == 1 => return Some(at + 1),
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_and_variables_come_back() {
        for text in [
            "a: ${A}\nb: [${B:=[\"x\", 1]}, ${C:-${D}}]\n",
            "${",
            "${A",
            "$${A}",
            "é: ${ä}\n",
            "${A}${B}",
            "{${}}",
            "\u{f0000} ${A}",
            "a: b\n${ABC} # c\n#${D}\n",
            "a: b\n${A}\n",
        ] {
            let masked = Masked::of(text);
            assert_eq!(masked.text.len(), text.len(), "{text:?}");
            assert_eq!(masked.unmask(&masked.text), text);
        }
        assert!(!Masked::of("[${B}]").text.contains('{'));
    }

    #[test]
    fn blocks_are_comments() {
        let masked = Masked::of("a: b\n---\nc:\n  ${ABC}\n  d: ${E}\n");
        assert_eq!(masked.text.find('#'), Some(14));
        assert_eq!(masked.block_in(9), Some(14..20));
        assert_eq!(masked.block_in(0), None);
    }
}
