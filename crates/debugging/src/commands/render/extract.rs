//! The files of a machine as files, for those who want to look.

use std::collections::BTreeMap;
use std::ops::Bound;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::report::{Disclosure, commands};
use windlass_bootstrap::render::Rendered;
use windlass_bootstrap::render::write::cloud_config::NodeFile;
use windlass_source::budget::Budget;
use windlass_source::gzip;
use windlass_source::tree::Tree;

/// The maximum number of bytes that a compressed file may have on the node; larger ones are
/// extracted as they are carried.
const LARGEST_FILE: usize = 64 << 20;

/// Whether data is what gzip gives.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Data as the node unpacks it.
pub fn unpacked(data: Vec<u8>) -> Vec<u8> {
    if is_gzip(&data) {
        gzip::decompress(&data, LARGEST_FILE).unwrap_or(data)
    } else {
        data
    }
}

/// The files of a machine as they will be on the node, with lists of files and commands in
/// `.windlass`.
pub fn extract(rendered: &Rendered, budget: &Budget) -> Tree {
    // No path is a folder of another one, so that only neighbours in this order can collide.
    let mut contents: BTreeMap<Vec<&str>, Vec<u8>> = BTreeMap::new();
    let files = rendered.node_files();
    for file in &files {
        let path: Vec<_> = file
            .path
            .split(['/', '\\'])
            .filter(|part| !matches!(*part, "" | "." | ".."))
            .collect();
        if path.is_empty() || path[0] == ".windlass" {
            continue;
        }
        let content = content_on_node(file, budget);
        match contents.get_mut(&path) {
            Some(before) if file.append => before.extend(content),
            Some(before) => *before = content,
            None => {
                if !collides(&contents, &path) {
                    contents.insert(path, content);
                }
            }
        }
    }
    let mut tree: Tree = contents
        .into_iter()
        .map(|(path, content)| (path.join("/"), content))
        .collect();
    tree.insert(".windlass/user-data", rendered.data.expose().clone());
    let header = "path\tpermissions\towner\tencoding\tbytes\tfrom\n".to_owned();
    tree.insert(
        ".windlass/files",
        std::iter::once(header)
            .chain(files.iter().map(line_of_file))
            .collect::<String>(),
    );
    let commands = commands(rendered, Disclosure::All)
        .into_iter()
        .enumerate()
        .map(|(index, command)| {
            format!(
                "{}\t{}\t{}\t{:?}\n",
                index + 1,
                command.phase,
                command.from.as_deref().unwrap_or("-"),
                command.command
            )
        });
    tree.insert(".windlass/commands", commands.collect::<String>());
    tree
}

/// Whether a path would be a folder of a known file, or the reverse.
fn collides(contents: &BTreeMap<Vec<&str>, Vec<u8>>, path: &[&str]) -> bool {
    let before = contents
        .range::<[&str], _>((Bound::Unbounded, Bound::Excluded(path)))
        .next_back();
    let after = contents
        .range::<[&str], _>((Bound::Included(path), Bound::Unbounded))
        .next();
    before.is_some_and(|(known, _)| path.starts_with(known))
        || after.is_some_and(|(known, _)| known.starts_with(path))
}

/// What the node gets; cloud-init decodes what is encoded, and a block of text ends with exactly
/// one line break.
fn content_on_node(file: &NodeFile<'_>, budget: &Budget) -> Vec<u8> {
    if file.is_exact {
        return file.content.to_vec();
    }
    let from_base64 = || {
        let compact: Vec<u8> = file
            .content
            .iter()
            .copied()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        STANDARD.decode(compact).ok()
    };
    let decoded = match file.encoding {
        "base64" => from_base64(),
        "gzip+base64" => {
            from_base64().and_then(|bytes| gzip::decompress_within(&bytes, LARGEST_FILE, budget))
        }
        "gzip" => gzip::decompress_within(&file.content, LARGEST_FILE, budget),
        _ => None,
    };
    decoded.unwrap_or_else(|| {
        let end = file
            .content
            .iter()
            .rposition(|byte| *byte != b'\n')
            .map_or(0, |last| last + 1);
        let line_break: &[u8] = if end > 0 { b"\n" } else { b"" };
        [&file.content[..end], line_break].concat()
    })
}

fn line_of_file(file: &NodeFile<'_>) -> String {
    let or_dash = |text: &str| {
        if text.is_empty() {
            "-".to_owned()
        } else {
            text.to_owned()
        }
    };
    let origin = file
        .origin
        .map_or_else(|| "-".to_owned(), ToString::to_string);
    let said = [
        or_dash(&file.permissions),
        or_dash(&file.owner),
        or_dash(file.encoding),
    ]
    .join("\t");
    format!("{}\t{said}\t{}\t{origin}\n", file.path, file.content.len())
}
