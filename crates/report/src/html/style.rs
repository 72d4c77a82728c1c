//! How a page looks: one style sheet, whose colours a test measures.

/// The style sheet. It names no file, no font and no address.
pub(super) const SHEET: &str = include_str!("style.css");

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::treemap::COLOURS;
    use super::*;

    /// The colours of a block: those behind `marker`, up to its brace.
    fn palette(marker: &str) -> BTreeMap<&'static str, [u8; 3]> {
        let block = SHEET
            .split_once(marker)
            .unwrap_or_else(|| panic!("{marker}"))
            .1;
        let block = &block[..block.find('}').unwrap()];
        let colour = |line: &'static str| {
            let (name, value) = line.trim().trim_end_matches(';').split_once(": #")?;
            let channel = |at: usize| u8::from_str_radix(&value[at..at + 2], 16).unwrap();
            Some((
                name.trim_start_matches('-'),
                [channel(0), channel(2), channel(4)],
            ))
        };
        block.lines().filter_map(colour).collect()
    }

    /// WCAG 2.2, "relative luminance".
    fn luminance(colour: [u8; 3]) -> f64 {
        let linear = colour.map(|channel| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.04045 {
                share / 12.92
            } else {
                ((share + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    /// WCAG 2.2, "contrast ratio".
    fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn contrast_is_measured_as_wcag_does() {
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
        assert!((contrast([0x77; 3], [255; 3]) - 4.48).abs() < 0.01);
    }

    /// WCAG 2.2, success criteria 1.4.3 (text, 4.5:1) and 1.4.11 (signs and focus, 3:1), in both
    /// palettes.
    #[test]
    fn every_text_stands_out_from_what_is_behind_it() {
        for marker in ["/* light */", "/* dark */", "/* paper */"] {
            let palette = palette(marker);
            let check = |front: &str, behind: &str, least: f64| {
                let colour = |name: &str| {
                    *palette
                        .get(name)
                        .unwrap_or_else(|| panic!("{marker} has no {name}"))
                };
                let measured = contrast(colour(front), colour(behind));
                assert!(
                    measured >= least,
                    "{marker} {front} on {behind}: {measured:.2}"
                );
            };
            for behind in ["ground", "raised"] {
                for front in ["text", "muted", "link", "bad", "doubtful", "good"] {
                    check(front, behind, 4.5);
                }
                check("focus", behind, 3.0);
                check("mark", behind, 3.0);
            }
            for tone in ["bad", "doubtful", "good", "plain"] {
                check(
                    if tone == "plain" { "muted" } else { tone },
                    &format!("{tone}-behind"),
                    4.5,
                );
            }
            check("good", "added-behind", 4.5);
            check("bad", "removed-behind", 4.5);
            (0..COLOURS).for_each(|at| check("tile-text", &format!("tile-{at}"), 4.5));
        }
    }

    #[test]
    fn the_palettes_name_the_same_colours() {
        let names = |marker: &str| palette(marker).into_keys().collect::<Vec<_>>();
        assert!(names("/* light */").len() > 15);
        assert_eq!(names("/* light */"), names("/* dark */"));
        assert_eq!(names("/* light */"), names("/* paper */"));
        assert_ne!(palette("/* light */"), palette("/* dark */"));
    }

    #[test]
    fn the_sheet_asks_for_nothing_and_ends_no_element() {
        for asking in ["url(", "@import", "http", "</", "@font-face", "expression"] {
            assert!(!SHEET.contains(asking), "{asking}");
        }
    }
}
