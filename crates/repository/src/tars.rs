//! Any tar as files in memory. Nothing in it is trusted: neither sizes, nor paths, nor links.

use std::io::{Cursor, Read};

use tar::{Archive, EntryType};

use windlass_release::assets::not_text;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Place, Report, rules};
use windlass_source::names::{collision, is_reserved_on_windows};
use windlass_source::tree::Tree;

rules! {
    /// a bundle is not a tar archive, is truncated, or exceeds a size limit
    UNREADABLE = error("bundle-unreadable");
    /// a bundle contains a link, a device, or a path that cannot be unpacked safely
    ENTRY_REJECTED = error("bundle-entry-rejected");
    /// a tar archive contains links, which are not followed
    LINK_SKIPPED = info("bundle-link-skipped");
}

/// How many bytes the files of a tar may have together.
pub const MOST_BYTES: u64 = 512 << 20;

#[derive(Clone, Copy)]
struct Bounds {
    entries: usize,
    /// Bytes of all files together.
    bytes: u64,
    /// Bytes of one file.
    file_bytes: u64,
}

const BOUNDS: Bounds = Bounds {
    entries: 10_000,
    bytes: MOST_BYTES,
    file_bytes: 64 << 20,
};
/// Bytes of a path.
const LONGEST_PATH: usize = 512;

/// Whether bytes begin like a tar. One without files is nothing but its end: two blocks of zeros or
/// more (POSIX, pax).
pub fn is_tar(bytes: &[u8]) -> bool {
    let is_empty = bytes.len() >= 1024
        && bytes.len().is_multiple_of(512)
        && bytes.iter().all(|byte| *byte == 0);
    is_empty || bytes.get(257..262) == Some(b"ustar")
}

/// The texts of any tar: files whose names end as those that a folder gives, without links.
pub fn texts_of_tar(bytes: &[u8], shown: &str, endings: &[&str]) -> (Vec<Source>, Report) {
    let Taken {
        files,
        links,
        mut report,
    } = read(bytes, shown, Entries::OfAnybody);
    let is_asked = |path: &str| endings.iter().any(|ending| path.ends_with(ending));
    report.extend(skipped(
        links
            .iter()
            .map(String::as_str)
            .filter(|path| is_asked(path)),
        shown,
    ));
    let mut sources = Vec::new();
    for (path, bytes) in files.iter().filter(|(path, _)| is_asked(path)) {
        let name = format!("{shown}/{path}");
        match std::str::from_utf8(bytes) {
            Ok(text) => sources.push(Source::new(name, text)),
            Err(_) => report.push(not_text(&name)),
        }
    }
    (sources, report)
}

/// That some of the files of a tar are links, of which the first is named.
fn skipped<'a>(mut links: impl Iterator<Item = &'a str>, shown: &str) -> Option<Diagnostic> {
    let first = links.next()?.escape_debug();
    let message = match links.count() {
        0 => format!("{first} in {shown} is a link, and is not read"),
        more => format!("{first} and {more} more in {shown} are links, and are not read"),
    };
    let finding = Diagnostic::of(&LINK_SKIPPED, message).at(Place::file(shown));
    Some(finding.help("pack the files that they lead to, or unpack the tar and name the folder"))
}

/// What was read of a tar.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) files: Tree,
    /// The paths of links that were passed over.
    links: Vec<String>,
    pub(super) report: Report,
}

/// Whose tar it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    /// One of ours, in which nothing strange has any business.
    OfBundle,
    /// Somebody's: paths may begin with `./`, and links are passed over.
    OfAnybody,
}

/// Reads a tar up to its end, or to the first bound that it exceeds.
pub(super) fn read(bytes: &[u8], shown: &str, whose: Entries) -> Taken {
    read_within(bytes, shown, BOUNDS, whose)
}

fn read_within(bytes: &[u8], shown: &str, bounds: Bounds, whose: Entries) -> Taken {
    let Taken {
        mut files,
        mut links,
        mut report,
    } = Taken::default();
    let unreadable = |what: String| {
        let finding = Diagnostic::of(&UNREADABLE, format!("{shown} cannot be read: {what}"))
            .at(Place::file(shown));
        finding.help("fetch the bundle again, or pack it with `windlass repository bundle`")
    };
    let mut archive = Archive::new(Cursor::new(bytes));
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(error) => {
            return Taken {
                report: Report::from_iter([unreadable(error.to_string())]),
                ..Taken::default()
            };
        }
    };
    let mut total = 0;
    for (count, entry) in entries.enumerate() {
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                report.push(unreadable(error.to_string()));
                break;
            }
        };
        total = u64::saturating_add(total, entry.size());
        if count == bounds.entries || total > bounds.bytes || entry.size() > bounds.file_bytes {
            let Bounds {
                entries,
                bytes,
                file_bytes,
            } = bounds;
            let bound = format!(
                "more than {entries} entries, {} MiB, or {} MiB in one file",
                bytes >> 20,
                file_bytes >> 20
            );
            report.push(unreadable(bound));
            break;
        }
        let kind = entry.header().entry_type();
        let mut path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if whose == Entries::OfAnybody {
            path = path.trim_start_matches("./").to_owned();
            if kind.is_symlink() || kind.is_hard_link() {
                links.push(path);
                continue;
            }
            if kind.is_dir() {
                continue;
            }
        }
        if kind.is_dir() && is_plain_path(path.trim_end_matches('/')) {
            continue;
        }
        if let Some(why) = rejection(&path, kind, whose, &files) {
            let finding = Diagnostic::of(
                &ENTRY_REJECTED,
                format!("{shown} holds {}, which {why}", path.escape_debug()),
            );
            report.push(
                finding
                    .at(Place::file(shown))
                    .help("do not use this bundle; pack one with `windlass repository bundle`"),
            );
            continue;
        }
        let mut content = Vec::new();
        match entry.read_to_end(&mut content) {
            Ok(read) if read as u64 == entry.size() => {
                files.insert(path, content);
            }
            Ok(_) => report.push(unreadable(format!("{path} is cut off"))),
            Err(error) => report.push(unreadable(error.to_string())),
        }
    }
    if whose == Entries::OfBundle {
        report.extend(colliding(&files, shown));
    }
    Taken {
        files,
        links,
        report,
    }
}

/// Two files of a bundle that are one where case and Unicode form do not count.
fn colliding(files: &Tree, shown: &str) -> Option<Diagnostic> {
    let (first, second) = collision([], files.paths())?;
    let (first, second) = (first.escape_debug(), second.escape_debug());
    let finding = Diagnostic::of(
        &ENTRY_REJECTED,
        format!(
            "{first} and {second} of {shown} are one file on macOS or Windows: they differ only in case or Unicode form"
        ),
    );
    Some(
        finding
            .at(Place::file(shown))
            .help("rename one of the two, and pack the bundle again"),
    )
}

fn rejection(path: &str, kind: EntryType, whose: Entries, files: &Tree) -> Option<&'static str> {
    match kind {
        EntryType::Regular => {}
        EntryType::Symlink | EntryType::Link => return Some("is a link"),
        _ => return Some("is neither a file nor a folder"),
    }
    if !is_plain_path(path) {
        return Some("has another name than files of releases have");
    }
    // Nobody looks at hidden files, and some of them mean something to whoever writes folders.
    if whose == Entries::OfBundle && is_hidden(path) {
        return Some("is hidden");
    }
    files.get(path).is_some().then_some("is there twice")
}

/// Whether a path is made of plain names, so that it stays below wherever it is laid, on any
/// system.
fn is_plain_path(path: &str) -> bool {
    let is_plain = |name: &str| {
        !matches!(name, "" | "." | "..")
            && !is_reserved_on_windows(name)
            && !name
                .chars()
                .any(|c| c.is_control() || c == '\\' || c == ':')
    };
    path.len() <= LONGEST_PATH && path.split('/').all(is_plain)
}

/// Whether a file or a folder above it is hidden.
fn is_hidden(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with('.'))
}

/// What keeps files from being taken at the other site, if they were packed: nobody there could
/// tell why.
pub(super) fn untakable(files: &Tree, shown: &str) -> Report {
    let of_name = |path: &str| {
        let finding = Diagnostic::of(
            &ENTRY_REJECTED,
            format!(
                "{} cannot go into a bundle: no site takes a file of that name",
                path.escape_debug()
            ),
        );
        finding
            .at(Place::file(format!("{shown}/{path}")))
            .help("rename the file, or leave it out")
    };
    let mut report: Report = files
        .paths()
        .filter(|path| !is_plain_path(path) || is_hidden(path))
        .map(of_name)
        .collect();
    report.extend(colliding(files, shown));
    let Bounds {
        entries,
        bytes,
        file_bytes,
    } = BOUNDS;
    let sizes = || files.iter().map(|(_, content)| content.len() as u64);
    if files.len() > entries
        || sizes().sum::<u64>() > bytes
        || sizes().any(|size| size > file_bytes)
    {
        let bound = format!(
            "more than {entries} files, {} MiB, or {} MiB in one file",
            bytes >> 20,
            file_bytes >> 20
        );
        let finding = Diagnostic::of(
            &UNREADABLE,
            format!("a bundle of {shown} would have {bound}, and no site takes it"),
        );
        report.push(
            finding
                .at(Place::file(shown))
                .help("pack fewer providers or versions at once"),
        );
    }
    report
}

#[cfg(test)]
mod tests {
    use tar::Header;

    use super::*;

    /// A tar of one entry with any path and type.
    fn hostile(path: &str, kind: EntryType, size: u64) -> Vec<u8> {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(0o644);
        header.set_cksum();
        let mut bytes = header.as_bytes().to_vec();
        bytes.resize(bytes.len() + 1024, 0);
        bytes
    }

    fn check_rejected(bytes: &[u8], rule: &str) {
        let Taken { files, report, .. } = read(bytes, "b.tar", Entries::OfBundle);
        assert_eq!(
            report.findings().first().map(|finding| finding.rule.id),
            Some(rule),
            "{report:?}"
        );
        assert!(files.get("a").is_none_or(<[u8]>::is_empty));
    }

    #[test]
    fn hostile_entries_are_rejected() {
        for path in [
            "../a",
            "/etc/passwd",
            "a/../../b",
            "a//b",
            "./a",
            "a\\b",
            "C:x",
            "a/",
            "x/nul.yaml",
            "x/a.",
            "x/a ",
        ] {
            check_rejected(
                &hostile(path, EntryType::Regular, 0),
                "bundle-entry-rejected",
            );
        }
        // A run that was killed leaves such folders, and the next one finishes what it finds in
        // them.
        for path in [
            ".a",
            "x/v0.1.0/.windlass-1-0.commit/metadata.yaml",
            "x/.hidden/a",
        ] {
            check_rejected(
                &hostile(path, EntryType::Regular, 0),
                "bundle-entry-rejected",
            );
        }
        assert_eq!(
            read(
                &hostile(".github/a.yaml", EntryType::Regular, 0),
                "t.tar",
                Entries::OfAnybody
            )
            .files
            .len(),
            1
        );
        for kind in [
            EntryType::Symlink,
            EntryType::Link,
            EntryType::Char,
            EntryType::Fifo,
        ] {
            check_rejected(&hostile("a", kind, 0), "bundle-entry-rejected");
        }
        check_rejected(
            &hostile("a", EntryType::Regular, 65 << 20),
            "bundle-unreadable",
        );
        check_rejected(&hostile("a", EntryType::Regular, 4096), "bundle-unreadable");
        check_rejected(&hostile("a", EntryType::GNUSparse, 0), "bundle-unreadable");
        let twice = [
            &hostile("a", EntryType::Regular, 0)[..512],
            &hostile("a", EntryType::Regular, 0),
        ]
        .concat();
        check_rejected(&twice, "bundle-entry-rejected");
        let alike = [
            &hostile("A", EntryType::Regular, 0)[..512],
            &hostile("a", EntryType::Regular, 0),
        ]
        .concat();
        check_rejected(&alike, "bundle-entry-rejected");
        assert!(
            !read(&alike, "t.tar", Entries::OfAnybody)
                .report
                .has_errors()
        );
    }

    /// POSIX, pax: the magic of a header, or two blocks of zeros and whole blocks behind them.
    #[test]
    fn a_tar_is_told_by_its_magic_or_by_its_end() {
        let with = |length: usize, at: usize, text: &[u8]| {
            let mut bytes = vec![0; length];
            bytes[at..at + text.len()].copy_from_slice(text);
            bytes
        };
        for (bytes, expected) in [
            (vec![], false),
            (vec![0; 512], false),
            (vec![0; 1023], false),
            (vec![0; 1024], true),
            (vec![0; 1025], false),
            (vec![0; 1536], true),
            (with(1024, 1000, b"x"), false),
            (with(262, 257, b"ustar"), true),
            (with(1024, 257, b"ustar"), true),
            (with(1024, 256, b"ustar"), false),
        ] {
            assert_eq!(is_tar(&bytes), expected, "{}", bytes.len());
        }
    }

    /// Each reason has its words, and each is said of the entry by its path.
    #[test]
    fn what_is_rejected_says_why() {
        let told = |bytes: &[u8], whose: Entries| {
            let Taken { files, report, .. } = read(bytes, "b.tar", whose);
            assert!(files.is_empty());
            report
                .findings()
                .iter()
                .map(|finding| finding.message.to_string())
                .collect::<Vec<_>>()
        };
        for (path, kind, expected) in [
            ("a", EntryType::Symlink, "b.tar holds a, which is a link"),
            ("a", EntryType::Link, "b.tar holds a, which is a link"),
            (
                "a",
                EntryType::Fifo,
                "b.tar holds a, which is neither a file nor a folder",
            ),
            (
                "a\u{7f}b",
                EntryType::Regular,
                "b.tar holds a\\u{7f}b, which has another name than files of releases have",
            ),
            (
                "a:b",
                EntryType::Regular,
                "b.tar holds a:b, which has another name than files of releases have",
            ),
            (
                "../a",
                EntryType::Directory,
                "b.tar holds ../a, which is neither a file nor a folder",
            ),
            (
                ".a/b",
                EntryType::Regular,
                "b.tar holds .a/b, which is hidden",
            ),
        ] {
            assert_eq!(
                told(&hostile(path, kind, 0), Entries::OfBundle),
                [expected],
                "{path}"
            );
        }
        assert_eq!(
            told(&hostile("a/", EntryType::Directory, 0), Entries::OfBundle),
            [] as [&str; 0]
        );
        assert_eq!(
            told(
                &hostile("../a/", EntryType::Directory, 0),
                Entries::OfAnybody
            ),
            [] as [&str; 0]
        );
        let expected =
            "b.tar cannot be read: more than 10000 entries, 512 MiB, or 64 MiB in one file";
        assert_eq!(
            told(
                &hostile("a", EntryType::Regular, (64 << 20) + 1),
                Entries::OfBundle
            ),
            [expected]
        );
    }

    /// GNU's sparse files say themselves how large they are, whatever the tar holds of them.
    #[test]
    fn sizes_that_no_number_holds_are_too_many_bytes() {
        let mut sparse = tar::Header::new_gnu();
        sparse.set_path("b.yaml").unwrap();
        sparse.set_entry_type(EntryType::GNUSparse);
        sparse.set_size(0);
        let largest = |field: &mut [u8; 12]| {
            field.fill(0);
            field[0] = 0x80;
            field[4..].fill(0xff);
        };
        let gnu = sparse.as_gnu_mut().unwrap();
        largest(&mut gnu.realsize);
        largest(&mut gnu.sparse[0].offset);
        gnu.sparse[0].numbytes.copy_from_slice(b"00000000000\0");
        sparse.set_cksum();
        let one = [
            &hostile("a.yaml", EntryType::Regular, 1)[..512],
            b"x",
            &[0; 511],
        ]
        .concat();
        let bytes = [&one[..], sparse.as_bytes(), &[0; 1024]].concat();
        for whose in [Entries::OfBundle, Entries::OfAnybody] {
            let report = read(&bytes, "b.tar", whose).report;
            assert!(
                report.findings()[0]
                    .message
                    .contains("more than 10000 entries"),
                "{report:?}"
            );
        }
    }

    #[test]
    fn what_no_site_takes_is_not_packed() {
        let of = |paths: &[&str]| -> Tree {
            paths
                .iter()
                .map(|path| ((*path).to_owned(), b"x".to_vec()))
                .collect()
        };
        assert_eq!(
            untakable(&of(&["a/v0.1.0/b.yaml", "c d.yaml", "ü"]), "r"),
            Report::new()
        );
        for path in [
            "a/x:y",
            "a/b\\c",
            "a/.hidden",
            &"n".repeat(513),
            "FINE",
            "con",
        ] {
            let report = untakable(&of(&["fine", path]), "r");
            assert_eq!(
                report
                    .findings()
                    .iter()
                    .map(|finding| finding.rule.id)
                    .collect::<Vec<_>>(),
                ["bundle-entry-rejected"],
                "{path}"
            );
        }
        let told = |files: &Tree| {
            untakable(files, "r")
                .findings()
                .iter()
                .map(|finding| finding.message.to_string())
                .collect::<Vec<_>>()
        };
        let expected = "a bundle of r would have more than 10000 files, 512 MiB, or 64 MiB in one file, and no site takes it";
        let many = |count: usize| {
            (0..count)
                .map(|n| (n.to_string(), Vec::new()))
                .collect::<Tree>()
        };
        assert_eq!(
            (told(&many(10_000)), told(&many(10_001))),
            (vec![], vec![expected.to_owned()])
        );
        let large = |bytes: usize| {
            [("a".to_owned(), vec![0; bytes])]
                .into_iter()
                .collect::<Tree>()
        };
        assert_eq!(
            (told(&large(64 << 20)), told(&large((64 << 20) + 1))),
            (vec![], vec![expected.to_owned()])
        );
    }

    #[test]
    fn entries_and_bytes_are_bounded_together() {
        let mut packed = tar::Builder::new(Vec::new());
        for name in ["a", "b", "c"] {
            let mut header = Header::new_ustar();
            header.set_size(10);
            packed
                .append_data(&mut header, name, &b"0123456789"[..])
                .unwrap();
        }
        let packed = packed.into_inner().unwrap();
        let bounds = Bounds {
            entries: 3,
            bytes: 30,
            file_bytes: 10,
        };
        let is_read = |bounds: Bounds| {
            !read_within(&packed, "b.tar", bounds, Entries::OfBundle)
                .report
                .has_errors()
        };
        assert!(is_read(bounds));
        for less in [
            Bounds {
                entries: 2,
                ..bounds
            },
            Bounds {
                bytes: 29,
                ..bounds
            },
            Bounds {
                file_bytes: 9,
                ..bounds
            },
        ] {
            assert!(!is_read(less));
        }
    }

    #[test]
    fn texts_of_any_tar_are_read() {
        let file = |name: &str| hostile(name, EntryType::Regular, 0)[..512].to_vec();
        let link = |name: &str, kind| hostile(name, kind, 0)[..512].to_vec();
        let told = |links: &[Vec<u8>]| {
            let bytes = [
                file("./x/a.yaml"),
                links.concat(),
                file("b.txt"),
                file("c.json"),
                vec![0; 1024],
            ]
            .concat();
            let (sources, report) = texts_of_tar(&bytes, "t.tar", &[".yaml", ".json"]);
            assert_eq!(
                sources
                    .iter()
                    .map(|source| source.name().as_ref())
                    .collect::<Vec<_>>(),
                ["t.tar/c.json", "t.tar/x/a.yaml"]
            );
            report
                .findings()
                .iter()
                .map(|finding| format!("{}: {}", finding.rule.id, finding.message))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            told(&[link("link.txt", EntryType::Symlink)]),
            [] as [&str; 0],
            "nobody would have read it"
        );
        let (one, other) = (
            link("./link.yaml", EntryType::Symlink),
            link("y/hard.json", EntryType::Link),
        );
        assert_eq!(
            told(std::slice::from_ref(&one)),
            ["bundle-link-skipped: link.yaml in t.tar is a link, and is not read"]
        );
        assert_eq!(
            told(&[one, other]),
            ["bundle-link-skipped: link.yaml and 1 more in t.tar are links, and are not read"]
        );
        let (_, report) = texts_of_tar(
            &hostile("../a.yaml", EntryType::Regular, 0),
            "t.tar",
            &[".yaml"],
        );
        assert_eq!(report.findings()[0].rule.id, "bundle-entry-rejected");
    }
}
