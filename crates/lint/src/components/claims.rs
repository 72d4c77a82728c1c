//! Cluster-wide objects of several components files of a release, of which each installs, labels
//! and deletes them as its own.

use std::collections::BTreeMap;

use super::Components;
use windlass_capi::contract::book;
use windlass_objects::scope::is_namespaced;
use windlass_objects::{Anchor, Object, Substituted};
use windlass_source::diag::{Diagnostic, FieldPath, Place, Report, rules};

rules! {
    /// two components files of a release contain the same cluster-wide object
    OBJECT_SHARED = warning("release-object-shared"), catalogue("C08"), url(book::LABELS);
}

/// The cluster-wide objects of a components file.
pub struct Claims {
    /// Group, kind and name, and where the object stands.
    objects: Vec<([String; 3], Anchor)>,
    substituted: Option<Substituted>,
}

impl Claims {
    /// Collects the objects of a components file whose kinds are not namespaced.
    pub fn of(components: &Components) -> Self {
        let key =
            |object: &Object| [object.group(), object.kind(), object.name()].map(str::to_owned);
        let cluster_wide = components
            .objects()
            .iter()
            .filter(|object| !is_namespaced(object.kind()));
        Claims {
            objects: cluster_wide
                .map(|object| (key(object), object.anchor()))
                .collect(),
            substituted: components.substituted.clone(),
        }
    }

    fn place(&self, anchor: &Anchor) -> Place {
        let finding = Diagnostic::of(&OBJECT_SHARED, "")
            .at(anchor.place(&FieldPath::of_fields("metadata.name")));
        self.substituted.as_ref().map_or_else(
            || finding.place.clone(),
            |substituted| substituted.restored(finding.clone()).place,
        )
    }
}

/// Checks the components files of one release together.
pub fn check(files: &[Claims]) -> Report {
    let mut seen: BTreeMap<&[String; 3], (&Claims, &Anchor)> = BTreeMap::new();
    let mut report = Report::new();
    for claims in files {
        let shared = |key| {
            seen.get(key)
                .copied()
                .filter(|(first, _)| !std::ptr::eq(*first, claims))
        };
        let found: Vec<_> = claims
            .objects
            .iter()
            .filter_map(|(key, anchor)| Some((key, anchor, shared(key)?)))
            .collect();
        report.extend(found.into_iter().map(|(key, anchor, (first, earlier))| {
            let [_, kind, name] = key;
            let first = first.place(earlier);
            let file = first.file.as_deref().unwrap_or_default().to_owned();
            let message = format!(
                "{kind}/{name} is in {file} too, and each of the two providers takes it for its own"
            );
            let finding = Diagnostic::of(&OBJECT_SHARED, message)
                .at(claims.place(anchor))
                .related(first, "the other");
            let help = match kind.as_str() {
                "Namespace" => "give each provider a Namespace of its own",
                _ => "leave it to one of the files, or give the objects different names",
            };
            finding
                .help(help)
                .note("what `clusterctl delete` of one provider removes is missing for the other")
        }));
        for (key, anchor) in &claims.objects {
            seen.entry(key).or_insert((claims, anchor));
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::Source;
    use windlass_source::budget::Budget;

    fn claims(file: &str, namespace: &str) -> Claims {
        let text = format!(
            "# ${{FIRST:=a long default}}\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}}}\n---\n\
             apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: {namespace}}}\n"
        );
        Claims::of(&Components::read(
            Source::new(file, text),
            &Budget::default(),
        ))
    }

    #[test]
    fn cluster_wide_objects_belong_to_one_file() {
        let report = check(&[
            claims("a.yaml", "ns"),
            claims("b.yaml", "ns"),
            claims("c.yaml", "other"),
        ]);
        let [finding] = report.findings() else {
            panic!("{report:?}")
        };
        let place = |place: &Place| {
            (
                place.file.as_deref().map(str::to_owned),
                place.span.unwrap().start.line,
            )
        };
        assert_eq!(place(&finding.place), (Some("b.yaml".to_owned()), 4));
        assert_eq!(
            place(&finding.related[0].place),
            (Some("a.yaml".to_owned()), 4)
        );
        assert!(check(&[claims("a.yaml", "ns")]).is_empty());
    }
}
