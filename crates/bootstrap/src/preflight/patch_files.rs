//! Files in the folder of kubeadm's patches: their names say what is patched and how
//! (`cmd/kubeadm/app/util/patches` of v1.34). kubeadm ends at a name with an unknown kind of patch,
//! and leaves out every other file that it does not know, with a line in a log that nobody reads.

use serde_json::Value;

use super::Subject;
use windlass_objects::fields;
use windlass_source::diag::{Diagnostic, rules};

rules! {
    /// kubeadm ignores a file in its patch folder
    pub(crate) PATCH_IGNORED = warning("kubeadm-patch-ignored");
    /// kubeadm rejects the name of a file in its patch folder
    pub(crate) PATCH_REJECTED = error("kubeadm-patch-rejected");
}

/// `knownTargets`.
const TARGETS: [&str; 6] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubeletconfiguration",
    "corednsdeployment",
];

/// `patchTypeList`.
const TYPES: [&str; 3] = ["json", "merge", "strategic"];

/// `knownExtensions`.
const EXTENSIONS: [&str; 2] = [".json", ".yaml"];

/// What kubeadm makes of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Read,
    /// It has no such extension, or names nothing that is patched.
    Ignored(&'static str),
    Rejected,
}

pub(super) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let folder_of = |side: &str| {
        fields::text(subject.spec, &[side, "patches", "directory"]).trim_end_matches('/')
    };
    let folders: Vec<&str> = ["initConfiguration", "joinConfiguration"]
        .map(folder_of)
        .into_iter()
        .filter(|folder| !folder.is_empty())
        .collect();
    let is_patch = |path: &str| {
        folders.iter().any(|folder| {
            path.strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let files = fields::items(subject.spec, &["files"]).iter().enumerate();
    let paths =
        files.filter_map(|(index, file)| Some((index, file.get("path").and_then(Value::as_str)?)));
    let finding = |(index, path): (usize, &str)| {
        let (file, place) = (
            path.rsplit('/').next().unwrap_or(path),
            subject.place(&subject.spec_path.field("files").index(index).field("path")),
        );
        let finding = match name(file) {
            Name::Read => return None,
            Name::Ignored(why) => Diagnostic::of(
                &PATCH_IGNORED,
                format!("kubeadm leaves the patch `{file}` out: {why}"),
            ),
            Name::Rejected => Diagnostic::of(
                &PATCH_REJECTED,
                format!(
                    "kubeadm ends at the patch `{file}`: no kind of patch follows the `+` of its name"
                ),
            ),
        };
        let help = format!(
            "name it `TARGET[SUFFIX][+{}].yaml`, TARGET one of {}",
            TYPES.join("|"),
            TARGETS.join(", ")
        );
        Some(finding.at(place).help(help))
    };
    paths
        .filter(|(_, path)| is_patch(path))
        .filter_map(finding)
        .collect()
}

/// `parseFilename`: the target, a suffix, and perhaps a `+` and the kind of the patch; what follows
/// is not looked at.
fn name(file: &str) -> Name {
    if !EXTENSIONS.iter().any(|extension| {
        file.strip_suffix(extension)
            .is_some_and(|stem| !stem.is_empty())
    }) {
        return Name::Ignored("its extension is neither `.json` nor `.yaml`");
    }
    let Some(rest) = TARGETS.iter().find_map(|target| file.strip_prefix(target)) else {
        return Name::Ignored("its name begins with nothing that kubeadm patches");
    };
    match rest
        .trim_start_matches(|letter| !['.', '+', '\n'].contains(&letter))
        .strip_prefix('+')
    {
        Some(kind) if !TYPES.iter().any(|known| kind.starts_with(known)) => Name::Rejected,
        _ => Name::Read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of kubeadm's own `TestParseFilename` (v1.34.4), and names at its edges.
    #[test]
    fn names_are_read_as_kubeadm_does() {
        for (file, expected) in [
            ("etcd.yaml", Name::Read),
            ("etcd+merge.json", Name::Read),
            ("etcd0+merge.json", Name::Read),
            ("kubeletconfiguration0+merged.yaml", Name::Read),
            ("kube-apiserver1.yaml", Name::Read),
            ("etcd.patch.yaml", Name::Read),
            ("etcd0+.json", Name::Rejected),
            ("etcd+bar.json", Name::Rejected),
            ("etcd+Merge.yaml", Name::Rejected),
        ] {
            assert_eq!(name(file), expected, "{file}");
        }
        for file in [
            "foo.yaml",
            "kubelet.yaml",
            "etcd",
            "etcd+merge",
            "etcd.yml",
            ".yaml",
            ".json",
            "Etcd.yaml",
            "0etcd.yaml",
        ] {
            assert!(matches!(name(file), Name::Ignored(_)), "{file}");
        }
    }
}
