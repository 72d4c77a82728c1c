//! The one release that a folder stands for: its own files, or the only release of a local
//! repository.

use windlass_release::assets::{components_files, versions_below};
use windlass_source::tree::Tree;

/// A release and what its folder is called below the one that was named; empty when it is that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Within {
    /// `bootstrap-windlass/v0.2.0`, or empty.
    pub folder: String,
    /// The files of the release, without folders.
    pub files: Tree,
}

/// The release in a folder. Without components of its own the folder may be a local repository of
/// one release.
///
/// # Errors
/// The folders of its releases, when they are several.
pub fn release_within(tree: &Tree) -> Result<Within, Vec<String>> {
    let mut folders: Vec<String> = versions_below(tree).into_iter().collect();
    folders.retain(|folder| !components_files(&tree.subtree(folder)).is_empty());
    if folders.len() > 1 {
        return Err(folders);
    }
    let folder = folders.pop().unwrap_or_default();
    let files = if folder.is_empty() {
        tree.clone()
    } else {
        tree.subtree(&folder)
    };
    let flat = files
        .iter()
        .filter(|(path, _)| !path.contains('/'))
        .map(|(path, bytes)| (path.clone(), bytes.clone()));
    Ok(Within {
        files: flat.collect(),
        folder,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(paths: &[&str]) -> Result<(String, Vec<String>), Vec<String>> {
        let tree: Tree = paths
            .iter()
            .map(|path| ((*path).to_owned(), Vec::new()))
            .collect();
        release_within(&tree).map(|within| {
            (
                within.folder,
                within.files.paths().map(str::to_owned).collect(),
            )
        })
    }

    #[test]
    fn a_folder_stands_for_its_own_release_or_the_only_one_below() {
        let own = within(&[
            "bootstrap-components.yaml",
            "metadata.yaml",
            "x/v0.1.0/bootstrap-components.yaml",
        ]);
        assert_eq!(
            own,
            Ok((
                String::new(),
                vec![
                    "bootstrap-components.yaml".to_owned(),
                    "metadata.yaml".to_owned()
                ]
            ))
        );
        let repository = [
            "clusterctl.yaml",
            "bootstrap-x/v0.1.0/bootstrap-components.yaml",
            "cert-manager/v1.2.3/cert-manager.yaml",
        ];
        assert_eq!(
            within(&repository),
            Ok((
                "bootstrap-x/v0.1.0".to_owned(),
                vec!["bootstrap-components.yaml".to_owned()]
            ))
        );
        let two = [
            "x/v0.1.0/bootstrap-components.yaml",
            "x/v0.2.0/bootstrap-components.yaml",
        ];
        assert_eq!(
            within(&two),
            Err(vec!["x/v0.1.0".to_owned(), "x/v0.2.0".to_owned()])
        );
        assert_eq!(
            within(&["a.txt"]),
            Ok((String::new(), vec!["a.txt".to_owned()]))
        );
    }
}
