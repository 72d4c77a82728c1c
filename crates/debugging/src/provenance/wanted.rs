//! What is asked for.

use super::documents::DOCUMENTS;
use super::thing::{Kind, Thing};
use windlass_source::nearest::nearest;

/// What is asked for: a thing of one kind, or of any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The kinds that match: one, all, or `File` and `Directory` for a path.
    pub kinds: Vec<Kind>,
    /// Its name, as it was written.
    pub text: String,
}

/// The reason why a request cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedError {
    /// There is no word at all.
    Nothing,
    /// There is a kind without a name, as in `user:`.
    Nameless(Kind),
}

impl Wanted {
    /// Reads what is asked for: what starts with `/` or as `C:\` is a path, `KIND:NAME` a thing of
    /// that kind, and a bare word a thing of any.
    ///
    /// # Errors
    /// When there is no name.
    pub fn parse(text: &str) -> Result<Self, WantedError> {
        if text.trim().is_empty() {
            return Err(WantedError::Nothing);
        }
        if is_path(text) {
            return Ok(Wanted {
                kinds: vec![Kind::File, Kind::Directory],
                text: text.to_owned(),
            });
        }
        let kind = text.split_once(':').and_then(|(word, name)| {
            Some((
                Kind::ALL.into_iter().find(|kind| kind.as_str() == word)?,
                name,
            ))
        });
        match kind {
            Some((kind, name)) if name.trim().is_empty() => Err(WantedError::Nameless(kind)),
            Some((kind, name)) => Ok(Wanted {
                kinds: vec![kind],
                text: name.to_owned(),
            }),
            None => Ok(Wanted {
                kinds: Kind::ALL.to_vec(),
                text: text.to_owned(),
            }),
        }
    }

    /// The kind, if only one matches; `None` for a path and for a bare name.
    pub fn only(&self) -> Option<Kind> {
        match self.kinds.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Whether a path is asked for, by its first characters.
    pub(crate) fn is_path(&self) -> bool {
        is_path(&self.text)
    }

    /// Whether things of the kind match; names are not compared.
    pub fn may_be(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether kind and name of the thing match.
    pub fn means(&self, thing: &Thing) -> bool {
        self.may_be(thing.kind) && self.fits(thing.kind, &thing.name)
    }

    /// Whether a name of a kind is meant.
    pub fn fits(&self, kind: Kind, name: &str) -> bool {
        let text = self.text.as_str();
        match kind {
            Kind::File | Kind::Directory if self.is_path() => {
                let below = text.trim_end_matches(['/', '\\']);
                name == text
                    || name == below
                    || name
                        .strip_prefix(below)
                        .is_some_and(|rest| rest.starts_with(['/', '\\']))
            }
            Kind::File | Kind::Directory => {
                name == text || name.rsplit(['/', '\\']).next() == Some(text)
            }
            Kind::Command => name.contains(text),
            Kind::User | Kind::Label | Kind::Taint => name == text,
            Kind::Argument => name.trim_start_matches('-') == text.trim_start_matches('-'),
            Kind::Field if self.only() == Some(Kind::Field) => is_field(name, text),
            // A word that may be anything is not a path of fields.
            Kind::Field => without_index(name).rsplit('.').next() == Some(text),
        }
    }

    /// The name among others that was most likely meant.
    pub fn nearest<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        nearest(&self.text, names)
    }
}

fn is_path(text: &str) -> bool {
    let mut chars = text.chars();
    text.starts_with('/')
        || chars.next().is_some_and(|c| c.is_ascii_alphabetic())
            && chars.as_str().starts_with(":\\")
}

/// A path without the index at its end.
fn without_index(path: &str) -> &str {
    path.strip_suffix(']')
        .and_then(|path| path.rsplit_once('['))
        .map_or(path, |(before, _)| before)
}

/// Whether a field of kubeadm's documents is at or below a path that is asked for. Paths begin with
/// a document, in either case, with the spec of a config, or anywhere within.
fn is_field(name: &str, wanted: &str) -> bool {
    let folded = wanted.to_ascii_lowercase();
    let document = DOCUMENTS
        .iter()
        .filter_map(|document| Some((folded.find(&document.to_ascii_lowercase())?, document)))
        .min();
    let wanted = match document {
        Some((at, document)) => format!("{document}{}", &wanted[at + document.len()..]),
        None => wanted.to_owned(),
    };
    let begins = std::iter::once(0).chain(name.match_indices('.').map(|(at, _)| at + 1));
    let fits = |rest: &str| {
        rest.strip_prefix(&wanted)
            .is_some_and(|after| after.is_empty() || after.starts_with(['.', '[']))
    };
    begins.map(|at| &name[at..]).any(fits)
}

#[cfg(test)]
mod tests {
    use super::super::thing::Source;
    use super::*;
    use windlass_bootstrap::render::input::filling::Filling;

    fn means(text: &str, kind: Kind, name: &str) -> bool {
        let thing = Thing::new(kind, name, "", Source::Filled(Filling::Provider("")));
        Wanted::parse(text).unwrap().means(&thing)
    }

    #[test]
    fn paths_are_told_by_their_beginning() {
        assert!(
            means("/etc/a", Kind::File, "/etc/a") && means("/etc/a/", Kind::Directory, "/etc/a")
        );
        assert!(means("/etc", Kind::File, "/etc/a/b") && !means("/etc/a", Kind::File, "/etc/ab"));
        assert!(
            means(r"C:\run", Kind::File, r"C:\run\a")
                && !means("/etc/a", Kind::Command, "cat /etc/a")
        );
    }

    #[test]
    fn a_kind_before_the_name_is_the_only_one_that_is_meant() {
        assert!(
            means("user:ops", Kind::User, "ops")
                && !means("user:ops", Kind::Command, "usermod ops")
        );
        assert!(
            means("command:sysctl -p", Kind::Command, "sudo sysctl -p")
                && !means("label:a", Kind::Label, "a/b")
        );
        assert!(means("argument:--v", Kind::Argument, "v"));
        assert_eq!(
            Wanted::parse("user: "),
            Err(WantedError::Nameless(Kind::User))
        );
        assert_eq!(Wanted::parse(" "), Err(WantedError::Nothing));
    }

    #[test]
    fn a_bare_word_is_looked_up_everywhere() {
        for (kind, name) in [
            (Kind::File, "/etc/ops"),
            (Kind::Command, "useradd ops -m"),
            (Kind::User, "ops"),
            (Kind::Label, "ops"),
            (Kind::Argument, "ops"),
            (Kind::Field, "clusterConfiguration.ops"),
            (Kind::Field, "clusterConfiguration.ops[0]"),
        ] {
            assert!(means("ops", kind, name), "{kind:?} {name}");
        }
        assert!(
            !means("ops", Kind::Field, "clusterConfiguration.ops.a")
                && !means("ops", Kind::File, "/ops/etc")
        );
        assert!(means("echo a:b", Kind::Command, "echo a:b"));
    }

    #[test]
    fn fields_are_found_by_any_part_of_their_path() {
        let name = "clusterConfiguration.apiServer.extraArgs[0].value";
        for wanted in [
            "extraArgs",
            "apiServer.extraArgs[0]",
            "ClusterConfiguration",
            "clusterConfiguration.apiServer",
            "spec.kubeadmConfigSpec.clusterConfiguration.apiServer.extraArgs",
        ] {
            assert!(
                means(&format!("field:{wanted}"), Kind::Field, name),
                "{wanted}"
            );
        }
        for wanted in [
            "extraArg",
            "Server",
            "apiServer.extraArgs[1]",
            "initConfiguration",
        ] {
            assert!(
                !means(&format!("field:{wanted}"), Kind::Field, name),
                "{wanted}"
            );
        }
    }
}
