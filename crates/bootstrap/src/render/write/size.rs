//! How large bootstrap data may be, and what makes it large.

use super::limits::{Limit, is_moved_by_default, of_kind};
use super::rendered::Rendered;
use crate::render::input::outcome::Notes;
use crate::render::input::request::Encoder;
use crate::render::input::target::Target;
use crate::render::plan::content::TOO_LARGE;
use windlass_capi::api::boot::{Compression, Format};
use windlass_source::diag::Diagnostic;
use windlass_source::gzip;

const SECRET_LIMIT: usize = 1_048_576;

/// How many parts of the data are named.
const NAMED: usize = 2;

/// Rejects data above `spec.maxDataBytes`, or above what a Secret holds.
pub(crate) fn check(
    target: &Target<'_>,
    rendered: &Rendered,
    max_data_bytes: Option<i32>,
    notes: &mut Notes,
) -> Option<()> {
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
    let mut message = format!(
        "bootstrap data has {bytes} bytes, {limit}; largest: {}",
        largest(rendered)
    );
    let can_shrink =
        rendered.plan.compression == Compression::None && rendered.encoder == Encoder::Typed;
    if can_shrink && rendered.format == Format::CloudConfig {
        message += &format!(
            "; with compression gzip: {}",
            gzip::compress(rendered.data.expose()).len()
        );
    }
    let finding = Diagnostic::of(&TOO_LARGE, message).at(target.config.place(&path));
    notes.reject(finding.help(
        "set `compression: gzip` in a WindlassConfig, or let the machine fetch large files itself",
    ))
}

/// What is said of data that is larger than the infrastructure takes to which objects of this group
/// and kind belong; `None` when it is not, or when that infrastructure is not known. `maxDataBytes`
/// is a number of the user's, and this one of a release of Windlass: nothing is rejected by it.
pub fn larger_than(rendered: &Rendered, group: &str, kind: &str) -> Option<String> {
    if is_moved_by_default(kind) {
        return None;
    }
    let limits = of_kind(group, kind);
    let data = rendered.data.expose();
    let is_packed = rendered.plan.compression != Compression::None;
    let can_be_too_large =
        |limit: &&&Limit| limit.counted(rendered.format, data.len(), data.len()) > limit.bytes;
    let suspects: Vec<&&Limit> = limits.iter().filter(can_be_too_large).collect();
    let gzip = if is_packed || suspects.is_empty() {
        data.len()
    } else {
        gzip::compress(data).len()
    };
    let said: Vec<String> = suspects
        .into_iter()
        .map(|limit| (limit, limit.counted(rendered.format, data.len(), gzip)))
        .filter(|(limit, counted)| *counted > limit.bytes)
        .map(|(limit, counted)| {
            let moved = if limit.moved.is_empty() {
                String::new()
            } else {
                format!(" (its provider moves {})", limit.moved)
            };
            format!(
                "{} takes {} bytes, and counts {counted}{moved}",
                limit.infrastructure, limit.bytes
            )
        })
        .collect();
    (!said.is_empty()).then(|| {
        format!(
            "bootstrap data has {} bytes: {}; largest: {}",
            data.len(),
            said.join("; "),
            largest(rendered)
        )
    })
}

/// The parts of the data that have most bytes.
fn largest(rendered: &Rendered) -> String {
    let files = rendered.node_files();
    let certificates: usize = rendered
        .plan
        .files
        .iter()
        .filter(|file| file.origin.is_none())
        .map(|file| file.content.expose().len())
        .sum();
    let of_user = files
        .iter()
        .filter_map(|file| Some((file.origin?.to_string(), file.content.len())));
    let mut parts: Vec<(String, usize)> = of_user
        .chain([("certificates".to_owned(), certificates)])
        .collect();
    parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let named: Vec<_> = parts
        .iter()
        .take(NAMED)
        .filter(|(_, bytes)| *bytes > 0)
        .map(|(name, bytes)| format!("{name} {bytes}"))
        .collect();
    named.join(", ")
}
