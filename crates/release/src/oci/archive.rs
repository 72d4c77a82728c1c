//! Tars that are the same bytes wherever and whenever they are packed: ustar, without names of
//! owners.

use tar::{Builder, EntryType, Header};

/// A file of a tar.
pub struct Entry<'a> {
    /// Its path, relative.
    pub path: &'a str,
    /// Permission bits.
    pub mode: u32,
    /// The content of the file.
    pub bytes: &'a [u8],
}

/// The tar of files, in the order in which they are given, all of them of user and group 0 and
/// changed at `mtime`, in seconds since 1970.
pub fn tar<'a>(entries: impl IntoIterator<Item = Entry<'a>>, mtime: u64) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for Entry { path, mode, bytes } in entries {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_size(bytes.len() as u64);
        header.set_mode(mode);
        header.set_mtime(mtime);
        header.set_uid(0);
        header.set_gid(0);
        builder
            .append_data(&mut header, path, bytes)
            .expect("internal error: memory can be written, and paths are those of files");
    }
    builder
        .into_inner()
        .expect("internal error: memory can be written")
}
