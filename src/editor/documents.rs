//! The documents that are open in the editor, and what files are called.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use ls_types::{Location, Position, TextDocumentContentChangeEvent, Uri};

use super::positions::{Encoding, Lines};
use windlass_source::Source;
use windlass_source::cut::cut;

/// An open document.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) source: Source,
    pub(super) lines: Lines,
    encoding: Encoding,
    /// Whether it is a file, which has others beside it.
    pub(super) is_file: bool,
}

impl Document {
    pub(super) fn new(uri: Uri, version: i32, text: String, encoding: Encoding) -> Self {
        Document {
            version,
            lines: Lines::of(&text),
            source: Source::new(name_of(&uri), text),
            encoding,
            is_file: is_file(&uri),
            uri,
        }
    }

    pub(super) fn text(&self) -> &str {
        self.source.text()
    }

    /// Applies changes, each to the result of the one before it.
    pub(super) fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        for change in changes {
            let text = match change.range {
                None => change.text,
                Some(range) => {
                    let (start, end) = (self.offset(range.start), self.offset(range.end));
                    let before = cut(self.text(), ..start.min(end));
                    let after = cut(self.text(), start.max(end)..);
                    [before, &change.text, after].concat()
                }
            };
            self.lines = Lines::of(&text);
            self.source = Source::new(self.source.name().clone(), text);
        }
        self.version = version;
    }

    pub(super) fn offset(&self, position: Position) -> usize {
        self.lines.offset(self.text(), position, self.encoding)
    }

    pub(super) fn position(&self, offset: usize) -> Position {
        self.lines.position(self.text(), offset, self.encoding)
    }

    pub(super) fn range(&self, bytes: Range<usize>) -> ls_types::Range {
        ls_types::Range::new(self.position(bytes.start), self.position(bytes.end))
    }
}

/// All open documents.
#[derive(Debug, Default)]
pub(super) struct Documents {
    by_uri: BTreeMap<String, Document>,
}

impl Documents {
    pub(super) fn insert(&mut self, document: Document) {
        self.by_uri
            .insert(document.uri.as_str().to_owned(), document);
    }

    pub(super) fn get(&self, uri: &Uri) -> Option<&Document> {
        self.by_uri.get(uri.as_str())
    }

    pub(super) fn by_uri(&self, uri: &str) -> Option<&Document> {
        self.by_uri.get(uri)
    }

    pub(super) fn get_mut(&mut self, uri: &Uri) -> Option<&mut Document> {
        self.by_uri.get_mut(uri.as_str())
    }

    pub(super) fn remove(&mut self, uri: &Uri) -> Option<Document> {
        self.by_uri.remove(uri.as_str())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Document> {
        self.by_uri.values()
    }

    pub(super) fn named(&self, name: &str) -> Option<&Document> {
        self.iter()
            .find(|document| document.source.name().as_ref() == name)
    }

    /// The files of a folder that are open.
    pub(super) fn in_folder<'d>(&'d self, folder: &'d str) -> impl Iterator<Item = &'d Document> {
        self.iter()
            .filter(move |document| document.is_file && folder_of(document.source.name()) == folder)
    }
}

/// Turns bytes of texts into locations of the protocol. The lines of a text are counted once.
pub(super) struct Locator<'d> {
    documents: &'d Documents,
    encoding: Encoding,
    lines: std::cell::RefCell<BTreeMap<Arc<str>, Lines>>,
}

impl<'d> Locator<'d> {
    pub(super) fn new(documents: &'d Documents, encoding: Encoding) -> Self {
        Locator {
            documents,
            encoding,
            lines: std::cell::RefCell::default(),
        }
    }

    /// The location of some bytes of a text; `None` where its file has no URI.
    pub(super) fn location(&self, source: &Source, bytes: Range<usize>) -> Option<Location> {
        if let Some(document) = self.documents.named(source.name()) {
            return Some(Location::new(document.uri.clone(), document.range(bytes)));
        }
        // The path of a relative name would be looked up on the disk.
        let path = Some(Path::new(source.name().as_ref())).filter(|path| path.is_absolute())?;
        let uri = Uri::from_file_path(path)?;
        let mut known = self.lines.borrow_mut();
        let lines = known
            .entry(source.name().clone())
            .or_insert_with(|| Lines::of(source.text()));
        let position = |offset| lines.position(source.text(), offset, self.encoding);
        let range = ls_types::Range::new(position(bytes.start), position(bytes.end));
        Some(Location::new(uri, range))
    }
}

/// The folder of a file; empty where the name has none.
pub(super) fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn is_file(uri: &Uri) -> bool {
    uri.scheme().as_str() == "file"
}

/// The path of a file with `/` between its parts. For a document that is not a file it is the last
/// part of the URI, with `.yaml` added if that has no extension.
pub(super) fn name_of(uri: &Uri) -> String {
    if is_file(uri)
        && let Some(path) = uri.to_file_path()
    {
        return path.to_string_lossy().replace('\\', "/");
    }
    let path = uri.path().decode().to_string_lossy().into_owned();
    let last = path.rsplit('/').next().unwrap_or_default();
    match last.contains('.') {
        true => last.to_owned(),
        false => format!("{last}.yaml"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(uri: &str, text: &str) -> Document {
        Document::new(uri.parse().unwrap(), 1, text.to_owned(), Encoding::Utf16)
    }

    fn change(range: Option<[u32; 4]>, text: &str) -> TextDocumentContentChangeEvent {
        TextDocumentContentChangeEvent {
            range: range.map(|[line, character, end_line, end_character]| {
                ls_types::Range::new(
                    Position::new(line, character),
                    Position::new(end_line, end_character),
                )
            }),
            range_length: None,
            text: text.to_owned(),
        }
    }

    #[test]
    fn applies_changes_one_after_the_other() {
        let mut open = document("file:///a.yaml", "a: 😀\r\nb: 2\r\n");
        open.change(
            2,
            vec![
                change(Some([0, 3, 0, 5]), "x"),
                change(Some([1, 0, 1, 1]), "c"),
                change(Some([9, 0, 9, 0]), "d: 3\r\n"),
            ],
        );
        assert_eq!((open.text(), open.version), ("a: x\r\nc: 2\r\nd: 3\r\n", 2));
        open.change(3, vec![change(None, "all"), change(Some([0, 3, 0, 1]), "")]);
        assert_eq!(
            open.text(),
            "a",
            "an inverted range is that between its ends"
        );
    }

    #[cfg(unix)]
    #[test]
    fn files_are_named_by_their_paths() {
        for (uri, name, is_file) in [
            ("file:///a/b%20c/d.yaml", "/a/b c/d.yaml", true),
            ("untitled:Untitled-1", "Untitled-1.yaml", false),
            ("git:/a/metadata.yaml?ref", "metadata.yaml", false),
        ] {
            let open = document(uri, "");
            assert_eq!(
                (open.source.name().as_ref(), open.is_file),
                (name, is_file),
                "{uri}"
            );
        }
    }
}
