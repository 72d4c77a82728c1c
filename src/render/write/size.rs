//! How large bootstrap data may be, and what makes it large.

use super::gzip;
use super::rendered::Rendered;
use crate::api::boot::{Compression, Format};
use crate::diag::Diagnostic;
use crate::render::input::outcome::Notes;
use crate::render::input::request::Encoder;
use crate::render::input::target::Target;
use crate::render::plan::content::TOO_LARGE;

/// The most that a Secret holds.
const SECRET_LIMIT: usize = 1_048_576;

/// How many parts of the data are named.
const NAMED: usize = 2;

/// Refuses data above `spec.maxDataBytes`, or above what a Secret holds.
pub(crate) fn check(target: &Target<'_>, rendered: &Rendered, max_data_bytes: Option<i32>, notes: &mut Notes) -> Option<()> {
    let limit = max_data_bytes.and_then(|limit| usize::try_from(limit).ok());
    let bytes = rendered.data.expose().len();
    if bytes <= limit.unwrap_or(SECRET_LIMIT) {
        return Some(());
    }
    let path = match limit {
        Some(_) => rendered.spec_path.field("maxDataBytes"),
        None => rendered.spec_path.clone(),
    };
    let limit = match limit {
        Some(limit) => format!("{path} is {limit}"),
        None => format!("a Secret holds {SECRET_LIMIT}"),
    };
    let mut message = format!("bootstrap data has {bytes} bytes, {limit}; largest: {}", largest(rendered));
    let can_shrink = rendered.plan.compression == Compression::None && rendered.encoder == Encoder::Typed;
    if can_shrink && rendered.format == Format::CloudConfig {
        message += &format!("; with compression gzip: {}", gzip::compress(rendered.data.expose()).len());
    }
    let finding = Diagnostic::of(&TOO_LARGE, message).at(target.config.place(&path));
    notes.refuse(finding.help("set `compression: gzip` in a WindlassConfig, or let the machine fetch large files itself"))
}

/// The parts of the data that have most bytes.
fn largest(rendered: &Rendered) -> String {
    let files = rendered.node_files();
    let certificates: usize = rendered.plan.files.iter().filter(|file| file.origin.is_none()).map(|file| file.content.expose().len()).sum();
    let of_user = files.iter().filter_map(|file| Some((file.origin?.to_string(), file.content.len())));
    let mut parts: Vec<(String, usize)> = of_user.chain([("certificates".to_owned(), certificates)]).collect();
    parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let named: Vec<_> = parts.iter().take(NAMED).filter(|(_, bytes)| *bytes > 0).map(|(name, bytes)| format!("{name} {bytes}")).collect();
    named.join(", ")
}
