//! The look of what doctor found out, above its findings.

use super::{Examined, ExaminedFile};
use windlass_capi::contract::METADATA_FILE;
use windlass_report::text::visible;

/// One block for each provider: where it is, what is there, what clusterctl takes.
pub fn text(providers: &[Examined]) -> String {
    providers.iter().map(block).collect()
}

fn block(provider: &Examined) -> String {
    let place = match (&provider.file, provider.line, provider.column) {
        (Some(file), Some(line), Some(column)) => format!(" ({}:{line}:{column})", visible(file)),
        _ => String::new(),
    };
    let mut text = format!(
        "{}   {}{place}\n",
        visible(&provider.provider),
        visible(&provider.url.to_string())
    );
    let mut row =
        |title: &str, what: &str| text.push_str(&format!("  {title:<12} {}\n", visible(what)));
    if !(provider.found.is_empty() && provider.skipped.is_empty()) {
        row("found", &found(provider));
    }
    row("picked", &picked(provider));
    for file in &provider.files {
        row(title(file, provider), &shown(file));
    }
    text
}

fn found(provider: &Examined) -> String {
    let versions = if provider.found.is_empty() {
        "no version".to_owned()
    } else {
        provider.found.join(", ")
    };
    let skipped: Vec<String> = provider
        .skipped
        .iter()
        .map(|entry| format!("{} ({})", entry.name, entry.reason))
        .collect();
    if skipped.is_empty() {
        versions
    } else {
        format!("{versions}; skipped: {}", skipped.join(", "))
    }
}

fn picked(provider: &Examined) -> String {
    match &provider.picked {
        Some(version) => format!("{version}: {}", provider.reason),
        None => format!("nothing: {}", provider.reason),
    }
}

fn title(file: &ExaminedFile, provider: &Examined) -> &'static str {
    if file.name == METADATA_FILE {
        "metadata"
    } else if provider
        .url
        .with_credentials()
        .ends_with(&format!("/{}", file.name))
    {
        "components"
    } else {
        "template"
    }
}

fn shown(file: &ExaminedFile) -> String {
    let remark = match (file.missing, file.from_overrides) {
        (true, _) => " (missing)",
        (false, true) => " (overrides layer)",
        (false, false) => "",
    };
    format!("{}{remark}", file.path)
}
