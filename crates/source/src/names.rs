//! Names of files that other file systems do not tell apart: macOS and Windows ignore case, macOS
//! also the Unicode form.
//!
//! Names are equal there if they are equal after decomposition (NFD), case folding and
//! decomposition again. Folding each character to upper and then to lower case gives the classes of
//! Unicode's full case folding except for a few letters of Turkic languages and Cherokee.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

/// The first two paths, or folders of paths, that differ and are one on macOS or Windows. The
/// paths in `existing` are compared with those in `new` only.
pub fn collision<'p>(
    existing: impl IntoIterator<Item = &'p str>,
    new: impl IntoIterator<Item = &'p str>,
) -> Option<(&'p str, &'p str)> {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for folder in existing.into_iter().flat_map(folders) {
        known.entry(folded(folder)).or_insert(folder);
    }
    new.into_iter().flat_map(folders).find_map(|folder| {
        let first = *known.entry(folded(folder)).or_insert(folder);
        (first != folder).then_some((first, folder))
    })
}

/// The folders of a path, from the outermost, and the path itself.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at);
    ends.chain([path.len()]).map(|end| &path[..end])
}

fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let cased = path
        .nfd()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase);
    cased.nfd().collect()
}

/// Whether Windows has no file of this name: a device (`CON`, `nul.yaml`), or a name that ends in
/// a dot or a blank, which it drops.
pub fn is_reserved_on_windows(name: &str) -> bool {
    const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.trim_end_matches(' ').to_lowercase();
    let is_numbered = |stem: &str| {
        let number = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
        let mut digits = number.unwrap_or_default().chars();
        let digit = digits.next();
        digit.is_some_and(|digit| digit.is_ascii_digit() || "¹²³".contains(digit))
            && digits.next().is_none()
    };
    name.ends_with(['.', ' ']) || DEVICES.contains(&stem.as_str()) || is_numbered(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_case_or_form_collide() {
        for (first, second) in [
            ("a.yaml", "A.yaml"),
            ("ä", "Ä"),
            ("\u{e4}", "a\u{308}"),
            ("\u{212b}", "a\u{30a}"),
            ("straße", "STRASSE"),
            ("σς", "ΣΣ"),
            ("\u{212a}", "k"),
            ("x/a/b", "x/a/B"),
            ("\u{1e9b}\u{323}", "\u{1e69}"),
        ] {
            assert_eq!(collision([], [first, second]), Some((first, second)));
            assert_eq!(collision([first], [second]), Some((first, second)));
            assert_eq!(collision([first, second], []), None);
        }
        assert_eq!(collision([], ["a/x", "A/y"]), Some(("a", "A")));
        assert_eq!(collision([], ["a/x", "a/y", "b", "é", "e", "a/x"]), None);
    }

    #[test]
    fn devices_of_windows_are_known() {
        for name in [
            "CON",
            "nul.yaml",
            "Com1.tar.gz",
            "LPT0",
            "a.",
            "a ",
            "aux .x",
            "com²",
        ] {
            assert!(is_reserved_on_windows(name), "{name}");
        }
        for name in ["", "console", "com", "com10", "a.con", "null.yaml", "lpt"] {
            assert!(!is_reserved_on_windows(name), "{name}");
        }
    }
}
