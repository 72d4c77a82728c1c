//! How the content of a file is carried by the document.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::scalar::{Block, block};
use crate::render::input::request::Encoder;
use crate::render::plan::node_plan::PlannedFile;
use windlass_capi::api::files::TransferEncoding;
use windlass_source::gzip;

/// A content as it is in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Carried<'a> {
    /// The key `encoding`; empty: not said.
    pub(super) encoding: &'static str,
    /// The lines of the block.
    pub(super) bytes: Cow<'a, [u8]>,
    /// Whether the block needs an indentation indicator.
    pub(super) indicated: bool,
}

/// The content of a file. What asks for an encoding gets it; `typed` encodes what YAML cannot
/// carry.
pub(super) fn carried(file: &PlannedFile, encoder: Encoder) -> Carried<'_> {
    let content = file.content.expose().as_slice();
    let in_base64 = |encoding, bytes: &[u8]| Carried {
        encoding,
        bytes: STANDARD.encode(bytes).into_bytes().into(),
        indicated: false,
    };
    match file.transfer_encoding {
        Some(TransferEncoding::Base64) => return in_base64("base64", content),
        Some(TransferEncoding::GzipBase64) => {
            return in_base64("gzip+base64", &gzip::compress(content));
        }
        None => {}
    }
    let as_it_is = |indicated| Carried {
        encoding: file.encoding,
        bytes: content.into(),
        indicated,
    };
    if encoder == Encoder::Capi {
        return as_it_is(false);
    }
    match (block(content), file.encoding) {
        (Block::Plain, _) => as_it_is(false),
        (Block::Indicated, _) => as_it_is(true),
        (Block::Binary, "gzip") => in_base64("gzip+base64", content),
        (Block::Binary, "") => in_base64("base64", content),
        // Who decodes base64 skips all other characters.
        (Block::Binary, encoding) => {
            let bytes: Vec<u8> = content
                .iter()
                .copied()
                .filter(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte))
                .collect();
            Carried {
                encoding,
                bytes: bytes.into(),
                indicated: false,
            }
        }
    }
}
