//! Texts with clusterctl's variables: while YAML is read, a word of the same length stands for
//! each, so that every place stays where it is.

/// The first of the characters that stand for variables: of a private plane, four bytes long, as
/// the shortest variable is.
const FIRST: u32 = 0xF_0000;
const MOST: usize = 0xFFFD;

/// A text whose variables are replaced by words that mean nothing.
#[derive(Debug, Clone)]
pub(super) struct Masked<'t> {
    pub(super) text: String,
    variables: Vec<&'t str>,
}

impl<'t> Masked<'t> {
    /// Replaces each `${…}` that ends in its line. A text that uses these characters itself stays
    /// as it is.
    pub(super) fn of(text: &'t str) -> Self {
        let mut masked = Masked {
            text: String::with_capacity(text.len()),
            variables: Vec::new(),
        };
        if text.contains(|c: char| u32::from(c) >= FIRST) {
            masked.text.push_str(text);
            return masked;
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
                Some(sign) => {
                    masked.text.push(sign);
                    masked
                        .text
                        .extend(std::iter::repeat_n('x', variable.len() - sign.len_utf8()));
                    masked.variables.push(variable);
                }
                None => masked.text.push_str(variable),
            }
            rest = &from[variable.len()..];
        }
        masked.text.push_str(rest);
        masked
    }

    /// A text with the variables as they are written.
    pub(super) fn unmask(&self, text: &str) -> String {
        let mut whole = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((at, sign)) = rest.char_indices().find(|(_, c)| u32::from(*c) >= FIRST) {
            let (before, from) = rest.split_at(at);
            whole.push_str(before);
            let number = usize::try_from(u32::from(sign) - FIRST).unwrap_or(usize::MAX);
            match self
                .variables
                .get(number)
                .filter(|variable| from.len() >= variable.len())
            {
                Some(variable) => {
                    whole.push_str(variable);
                    rest = from.get(variable.len()..).unwrap_or_default();
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
        ] {
            let masked = Masked::of(text);
            assert_eq!(masked.text.len(), text.len(), "{text:?}");
            assert_eq!(masked.unmask(&masked.text), text);
        }
        assert!(!Masked::of("[${B}]").text.contains('{'));
    }
}
