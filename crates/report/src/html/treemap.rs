//! A treemap: tiles whose areas are sizes, as square as they can be (Bruls, Huizing, van Wijk:
//! "Squarified Treemaps", 2000). The table beside it says the same to those who do not see it.

use super::{Html, bytes, grouped};
use crate::text::plural;

/// The size of the picture in its own units.
const WIDTH: f64 = 720.0;
/// See [`WIDTH`].
const HEIGHT: f64 = 240.0;
/// The maximum number of tiles; what is smaller becomes one.
const MOST_TILES: usize = 24;
/// How wide a character of a label is about, and how high a line.
const CHARACTER: f64 = 7.3;
/// See [`CHARACTER`].
const LINE: f64 = 18.0;

/// A part of the whole that a treemap shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// The label, shortened to the width of the tile; the tooltip shows all of it.
    pub name: String,
    /// The size in bytes, to which the area is proportional; tiles of 0 bytes are not drawn.
    pub bytes: usize,
    /// Which of the colours it has, from 0; tiles of one kind have the same.
    pub colour: usize,
}

/// How many colours the style sheet has for tiles.
pub(super) const COLOURS: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Rectangle {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// The picture of tiles, largest first. `id` is unique on the page. Nothing when there is nothing
/// to show.
pub fn treemap(html: &mut Html, id: &str, title: &str, tiles: &[Tile]) {
    let tiles = fewer(tiles);
    let whole: usize = tiles.iter().map(|tile| tile.bytes).sum();
    if whole == 0 {
        return;
    }
    let named = tiles
        .iter()
        .take(3)
        .map(|tile| format!("{} {}", tile.name, bytes(tile.bytes)))
        .collect::<Vec<_>>()
        .join(", ");
    let description = format!(
        "{} in {}, the largest: {named}. The table has all of them.",
        bytes(whole),
        plural(tiles.len(), "tile")
    );
    let (title_id, description_id, view) = (
        format!("{id}-title"),
        format!("{id}-desc"),
        format!("0 0 {WIDTH} {HEIGHT}"),
    );
    let labelled = format!("{title_id} {description_id}");
    let attributes = [
        ("class", "treemap"),
        ("viewBox", view.as_str()),
        ("role", "img"),
        ("aria-labelledby", labelled.as_str()),
    ];
    html.element("svg", &attributes, |html| {
        html.element("title", &[("id", &title_id)], |html| html.text(title));
        html.element("desc", &[("id", &description_id)], |html| {
            html.text(&description)
        });
        let sizes: Vec<f64> = tiles.iter().map(|tile| size(tile.bytes)).collect();
        let places = squarified(
            &sizes,
            Rectangle {
                x: 0.0,
                y: 0.0,
                width: WIDTH,
                height: HEIGHT,
            },
        );
        tiles
            .iter()
            .zip(places)
            .enumerate()
            .for_each(|(at, (tile, place))| draw(html, at + 1, tile, place));
    });
}

/// The tiles of which something is to be seen, and the others as one.
fn fewer(tiles: &[Tile]) -> Vec<Tile> {
    let mut shown: Vec<Tile> = tiles
        .iter()
        .filter(|tile| tile.bytes > 0)
        .cloned()
        .collect();
    shown.sort_by_key(|tile| std::cmp::Reverse(tile.bytes));
    if shown.len() > MOST_TILES {
        let rest = shown.split_off(MOST_TILES - 1);
        let bytes = rest.iter().map(|tile| tile.bytes).sum();
        shown.push(Tile {
            name: format!("{} smaller parts", rest.len()),
            bytes,
            colour: COLOURS - 1,
        });
    }
    shown
}

/// A number of bytes as a length. Sizes of data are far from where this would not be exact.
fn size(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX))
}

/// One tile with as much of its name as fits; all of it comes up under the pointer.
fn draw(html: &mut Html, number: usize, tile: &Tile, place: Rectangle) {
    let length = |value: f64| format!("{value:.1}");
    // A gap between neighbours.
    let (width, height) = ((place.width - 2.0).max(0.5), (place.height - 2.0).max(0.5));
    let tone = format!("tile tile-{}", tile.colour.min(COLOURS - 1));
    html.element("g", &[("class", &tone)], |html| {
        html.element("title", &[], |html| {
            html.text(&format!("{}: {}", tile.name, bytes(tile.bytes)))
        });
        let at = [
            ("x", length(place.x + 1.0)),
            ("y", length(place.y + 1.0)),
            ("width", length(width)),
            ("height", length(height)),
            ("rx", "3".to_owned()),
        ];
        let at: Vec<(&str, &str)> = at
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        html.element("rect", &at, |_| ());
        let mut line = |class: &'static str, nth: f64, text: &str| {
            let at = [
                ("class", class),
                ("x", &length(place.x + 9.0)),
                ("y", &length(place.y + 4.0 + LINE * nth)),
            ];
            html.element("text", &at, |html| html.text(text));
        };
        if height > LINE + 6.0 && width > 30.0 {
            line("index", 1.0, &number.to_string());
        }
        if height > LINE * 2.0 + 6.0 {
            line("name", 2.0, &shortened(&tile.name, width - 16.0));
        }
        if height > LINE * 3.0 + 6.0 && width > 80.0 {
            line("bytes", 3.0, &grouped(tile.bytes));
        }
    });
}

/// A name that fits into a width: of a path its end is what tells it from others.
fn shortened(name: &str, width: f64) -> String {
    let fits =
        |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX)) * CHARACTER <= width;
    let count = name.chars().count();
    if fits(count) {
        return name.to_owned();
    }
    let kept = (0..count).rev().find(|kept| fits(kept + 1)).unwrap_or(0);
    if kept < 3 {
        String::new()
    } else {
        format!("…{}", name.chars().skip(count - kept).collect::<String>())
    }
}

/// Where the tiles of these sizes, largest first, are in a rectangle.
fn squarified(sizes: &[f64], within: Rectangle) -> Vec<Rectangle> {
    let whole: f64 = sizes.iter().sum();
    let scale = within.width * within.height / whole;
    let areas: Vec<f64> = sizes.iter().map(|size| size * scale).collect();
    let (mut places, mut free, mut at) = (Vec::with_capacity(areas.len()), within, 0);
    while at < areas.len() {
        let side = free.width.min(free.height);
        let mut end = at + 1;
        while end < areas.len() && worst(&areas[at..=end], side) <= worst(&areas[at..end], side) {
            end += 1;
        }
        free = laid(&areas[at..end], free, &mut places);
        at = end;
    }
    places
}

/// The ratio of the sides of the least square tile of a row along a side.
fn worst(row: &[f64], side: f64) -> f64 {
    let sum: f64 = row.iter().sum();
    let ratio =
        |area: &f64| (side * side * area / (sum * sum)).max(sum * sum / (side * side * area));
    row.iter().map(ratio).fold(0.0, f64::max)
}

/// Lays a row along the shorter side, and gives what is free then.
fn laid(row: &[f64], free: Rectangle, places: &mut Vec<Rectangle>) -> Rectangle {
    let sum: f64 = row.iter().sum();
    let stands = free.width >= free.height;
    let depth = sum / free.width.min(free.height);
    let mut offset = 0.0;
    for area in row {
        let length = area / depth;
        places.push(match stands {
            true => Rectangle {
                x: free.x,
                y: free.y + offset,
                width: depth,
                height: length,
            },
            false => Rectangle {
                x: free.x + offset,
                y: free.y,
                width: length,
                height: depth,
            },
        });
        offset += length;
    }
    match stands {
        true => Rectangle {
            x: free.x + depth,
            width: (free.width - depth).max(f64::EPSILON),
            ..free
        },
        false => Rectangle {
            y: free.y + depth,
            height: (free.height - depth).max(f64::EPSILON),
            ..free
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(name: &str, bytes: usize) -> Tile {
        Tile {
            name: name.to_owned(),
            bytes,
            colour: 0,
        }
    }

    /// The example of the paper, figures 3 and 4: a rectangle of six by four.
    #[test]
    fn tiles_lie_as_in_the_paper() {
        let places = squarified(
            &[6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0],
            Rectangle {
                x: 0.0,
                y: 0.0,
                width: 6.0,
                height: 4.0,
            },
        );
        let rounded: Vec<[f64; 4]> = places
            .iter()
            .map(|place| {
                [place.x, place.y, place.width, place.height]
                    .map(|value| (value * 100.0).round() / 100.0)
            })
            .collect();
        assert_eq!(
            rounded[..5],
            [
                [0.0, 0.0, 3.0, 2.0],
                [0.0, 2.0, 3.0, 2.0],
                [3.0, 0.0, 1.71, 2.33],
                [4.71, 0.0, 1.29, 2.33],
                [3.0, 2.33, 1.2, 1.67]
            ]
        );
    }

    #[test]
    fn areas_are_sizes_and_nothing_overlaps() {
        let within = Rectangle {
            x: 0.0,
            y: 0.0,
            width: WIDTH,
            height: HEIGHT,
        };
        for sizes in [
            vec![1.0],
            vec![5.0; 24],
            vec![1e6, 1.0, 1.0],
            (1..20).rev().map(f64::from).collect(),
        ] {
            let whole: f64 = sizes.iter().sum();
            let places = squarified(&sizes, within);
            assert_eq!(places.len(), sizes.len());
            for (place, size) in places.iter().zip(&sizes) {
                let expected = size / whole * WIDTH * HEIGHT;
                assert!(
                    (place.width * place.height - expected).abs() < expected * 1e-6 + 1e-6,
                    "{place:?} for {size}"
                );
                assert!(
                    place.x >= 0.0
                        && place.x + place.width <= WIDTH + 1e-6
                        && place.y + place.height <= HEIGHT + 1e-6,
                    "{place:?}"
                );
            }
            for (at, one) in places.iter().enumerate() {
                for other in &places[at + 1..] {
                    let apart = one.x + one.width <= other.x + 1e-6
                        || other.x + other.width <= one.x + 1e-6;
                    let below = one.y + one.height <= other.y + 1e-6
                        || other.y + other.height <= one.y + 1e-6;
                    assert!(apart || below, "{one:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn small_tiles_become_one_and_empty_ones_none() {
        let tiles: Vec<Tile> = (0..40)
            .map(|n| tile(&format!("t{n}"), 100 - n))
            .chain([tile("empty", 0)])
            .collect();
        let shown = fewer(&tiles);
        assert_eq!(
            (shown.len(), shown[MOST_TILES - 1].name.as_str()),
            (MOST_TILES, "17 smaller parts")
        );
        assert_eq!(
            shown.iter().map(|tile| tile.bytes).sum::<usize>(),
            tiles.iter().map(|tile| tile.bytes).sum::<usize>()
        );
        let mut html = Html::default();
        treemap(&mut html, "a", "b", &[tile("empty", 0)]);
        assert_eq!(html.markup(), "");
    }

    fn drawn(colour: usize, width: f64, height: f64) -> String {
        let mut html = Html::default();
        let tile = Tile {
            name: "/etc/a".to_owned(),
            bytes: 16_384,
            colour,
        };
        draw(
            &mut html,
            7,
            &tile,
            Rectangle {
                x: 10.0,
                y: 20.0,
                width,
                height,
            },
        );
        html.markup().to_owned()
    }

    /// A gap of two around the tile, the labels line by line in it.
    #[test]
    fn a_large_tile_has_its_number_its_name_and_its_size() {
        let expected = "<g class=\"tile tile-1\"><title>/etc/a: 16,384 bytes</title>\
            <rect x=\"11.0\" y=\"21.0\" width=\"98.0\" height=\"78.0\" rx=\"3\"></rect>\
            <text class=\"index\" x=\"19.0\" y=\"42.0\">7</text><text class=\"name\" x=\"19.0\" y=\"60.0\">/etc/a</text>\
            <text class=\"bytes\" x=\"19.0\" y=\"78.0\">16,384</text></g>";
        assert_eq!(drawn(1, 100.0, 80.0), expected);
        assert!(
            [4, 5, 9]
                .iter()
                .all(|colour| drawn(*colour, 100.0, 80.0).starts_with("<g class=\"tile tile-4\">"))
        );
    }

    /// A line of a label is drawn where its whole height is there, and its width.
    #[test]
    fn labels_are_drawn_where_there_is_room_for_them() {
        for (width, height, expected) in [
            (100.0, 26.0, ""),
            (100.0, 26.1, "index"),
            (100.0, 44.0, "index"),
            (100.0, 44.1, "index name"),
            (100.0, 62.0, "index name"),
            (100.0, 62.1, "index name bytes"),
            (82.0, 62.1, "index name"),
            (82.1, 62.1, "index name bytes"),
            (32.0, 62.1, "name"),
            (32.1, 62.1, "index name"),
        ] {
            let markup = drawn(0, width, height);
            let lines: Vec<&str> = ["index", "name", "bytes"]
                .into_iter()
                .filter(|class| markup.contains(&format!("\"{class}\"")))
                .collect();
            assert_eq!(lines.join(" "), expected, "{width} {height}");
        }
        assert!(drawn(0, 1.0, 2.2).contains("width=\"0.5\" height=\"0.5\""));
    }

    #[test]
    fn of_a_long_name_its_end_is_shown() {
        assert_eq!(shortened("/etc/hosts", 100.0), "/etc/hosts");
        assert_eq!(shortened("/etc/kubernetes/pki/ca.key", 60.0), "…/ca.key");
        assert_eq!(shortened("/etc/kubernetes", 20.0), "");
        // Four characters, of which one is the sign that something is cut off.
        assert_eq!(shortened("abcd", CHARACTER * 4.0), "abcd");
        assert_eq!(shortened("/etc/kubernetes", CHARACTER * 4.0), "…tes");
        assert_eq!(shortened("/etc/kubernetes", CHARACTER * 4.0 - 0.1), "");
    }

    /// Twenty-four are shown as they are; of more the smallest are one, in the last colour.
    #[test]
    fn the_smallest_are_one_where_there_are_too_many() {
        let tiles = |count: usize| {
            (0..count)
                .map(|n| tile(&format!("t{n}"), 100 - n))
                .collect::<Vec<_>>()
        };
        assert_eq!(fewer(&tiles(24)), tiles(24));
        let shown = fewer(&tiles(25));
        assert_eq!(shown[..23], tiles(23));
        assert_eq!(
            shown[23..],
            [Tile {
                name: "2 smaller parts".to_owned(),
                bytes: 77 + 76,
                colour: 4
            }]
        );
    }

    /// Who does not see the picture is told how much it is, and the three largest.
    #[test]
    fn a_picture_has_a_title_and_a_description() {
        let mut html = Html::default();
        treemap(
            &mut html,
            "i",
            "Parts",
            &[
                tile("c", 2000),
                tile("a", 4000),
                tile("d", 1),
                tile("b", 3000),
                tile("none", 0),
            ],
        );
        let text = html.markup();
        let head = "<svg class=\"treemap\" viewBox=\"0 0 720 240\" role=\"img\" aria-labelledby=\"i-title i-desc\"><title id=\"i-title\">Parts</title>\
            <desc id=\"i-desc\">9,001 bytes in 4 tiles, the largest: a 4,000 bytes, b 3,000 bytes, c 2,000 bytes. The table has all of them.</desc>\
            <g class=\"tile tile-0\"><title>a: 4,000 bytes</title>";
        assert!(text.starts_with(head), "{text}");
        let numbers: Vec<&str> = text
            .split("<text class=\"index\"")
            .skip(1)
            .map(|rest| &rest[rest.find('>').unwrap() + 1..][..1])
            .collect();
        assert_eq!(
            numbers,
            ["1", "2", "3"],
            "the fourth has no room for its number"
        );
    }
}
