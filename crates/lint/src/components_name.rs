//! The names under which clusterctl looks for components files.

use windlass_capi::contract::{ProviderType, book};
use windlass_source::diag::{Diagnostic, Place, rules};
use windlass_source::nearest::misspelt;

rules! {
    /// the name of a components file is not one that clusterctl looks for
    pub(crate) COMPONENTS_MISNAMED = error("release-components-misnamed"), url(book::COMPONENTS_YAML);
}

/// The name of a components file that the author meant, if the release has no file of that name.
pub fn meant_components(file: &str, is_there: impl Fn(&str) -> bool) -> Option<String> {
    let names: Vec<String> = ProviderType::ALL
        .into_iter()
        .map(ProviderType::components_file)
        .collect();
    let development = |name: &String| *name == file.replace("-development", "");
    if names.iter().any(|name| name == file || development(name)) {
        return None;
    }
    let near = misspelt(file, names.iter().map(String::as_str))?;
    (!is_there(near)).then(|| near.to_owned())
}

/// The finding that clusterctl does not look for a components file under its name.
pub fn misnamed_components(place: Place, file: &str, meant: &str) -> Diagnostic {
    Diagnostic::of(
        &COMPONENTS_MISNAMED,
        format!("clusterctl looks for {meant}, and not for {file}"),
    )
    .at(place)
    .help(format!("rename it: `mv {file} {meant}`"))
}
