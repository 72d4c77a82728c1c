//! Where clusterctl looks for its configuration and its overrides.

use super::formats::EXTENSIONS;
use crate::World;
use windlass_go_text::path::join;

/// The folder below `$XDG_CONFIG_HOME`.
const XDG_FOLDER: &str = "cluster-api";
/// The folder below `$HOME`, of clusterctl before 1.4.
const HOME_FOLDER: &str = ".cluster-api";

pub(super) fn folders(world: &World<'_>) -> [String; 2] {
    let home = world.variable("HOME").unwrap_or_default();
    let xdg = world
        .variable("XDG_CONFIG_HOME")
        .filter(|path| path.starts_with('/'));
    let xdg = xdg.unwrap_or_else(|| {
        join(&[
            &home,
            if cfg!(target_os = "macos") {
                "Library/Application Support"
            } else {
                ".config"
            },
        ])
    });
    [join(&[&xdg, XDG_FOLDER]), join(&[&home, HOME_FOLDER])]
}

/// The configuration file that is used when none is named; `None` when there is none.
pub(super) fn file(world: &World<'_>) -> Option<String> {
    let candidates = folders(world).into_iter().flat_map(|folder| {
        EXTENSIONS.map(|extension| join(&[&folder, &format!("clusterctl.{extension}")]))
    });
    candidates.into_iter().find(|path| world.files.exists(path))
}

/// The overrides layer, when the configuration does not name another one.
pub(crate) fn overrides_folder(world: &World<'_>) -> String {
    let [first, second] = folders(world).map(|folder| join(&[&folder, "overrides"]));
    if !world.files.exists(&first) && world.files.exists(&second) {
        second
    } else {
        first
    }
}
