//! All objects of a run, found by what they are called and by what names them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::references::{CLUSTER_API, references};
use super::{Object, documents};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// the input contains several objects of the same kind, namespace and name
    OBJECT_REPEATED = warning("object-repeated");
}

const MOST_NAMED: usize = 4;

/// Objects in which others are looked up. An object without a namespace is in `default`, as kubectl
/// has it.
#[derive(Debug, Clone, Default)]
pub struct Pool {
    objects: Vec<Object>,
    /// The places of the objects, in order of group, kind, namespace and name; equal ones as in
    /// the input.
    by_name: Vec<usize>,
    /// The places of the objects, in order of group, kind and name; made at the first question.
    by_bare_name: OnceLock<Vec<usize>>,
    /// The sources that could be read and hold none, in order.
    without_objects: Vec<WithoutObjects>,
    /// Which objects name an object, by its kind, namespace and name; made at the first question.
    referrers: OnceLock<BTreeMap<[String; 3], Vec<usize>>>,
    /// The first object of each kind and name; made at the first question.
    by_kind_and_name: OnceLock<BTreeMap<[String; 2], usize>>,
    /// Clusters by what they name; made at the first question.
    clusters: OnceLock<Clusters>,
}

/// The places of Clusters, by their namespace and a name in them.
#[derive(Debug, Clone, Default)]
struct Clusters {
    of_class: BTreeMap<[String; 2], Vec<usize>>,
    /// The first one.
    of_control_plane: BTreeMap<[String; 2], usize>,
}

/// A source in which no object was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutObjects {
    /// The source's name.
    pub name: Arc<str>,
    pub holds: Contents,
}

/// What a text without objects holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Nothing but blanks.
    Nothing,
    /// Comments and marks of documents.
    Comments,
    /// Documents that are not objects.
    Others,
}

impl Contents {
    fn of(source: &Source) -> Self {
        let mut lines = source
            .text()
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .peekable();
        if lines.peek().is_none() {
            return Contents::Nothing;
        }
        let is_bare = |line: &str| line.starts_with(['#', '%']) || line == "---" || line == "...";
        if lines.all(is_bare) {
            Contents::Comments
        } else {
            Contents::Others
        }
    }
}

type Key<'k> = (&'k str, &'k str, &'k str, &'k str);

fn key(object: &Object) -> Key<'_> {
    (
        object.group(),
        object.kind(),
        object.namespace_or_default(),
        object.name(),
    )
}

fn bare_key(object: &Object) -> (&str, &str, &str) {
    (object.group(), object.kind(), object.name())
}

impl Pool {
    /// A pool of objects that were read before, in their order.
    pub fn of(objects: Vec<Object>) -> Self {
        let mut by_name: Vec<usize> = (0..objects.len()).collect();
        by_name.sort_by(|a, b| key(&objects[*a]).cmp(&key(&objects[*b])));
        Pool {
            objects,
            by_name,
            ..Pool::default()
        }
    }

    /// Reads the objects of all documents of all sources, lists taken apart, without their nulls,
    /// which the API server drops. What cannot be read is in the report, and the rest is there.
    pub fn read(sources: &[Source], budget: &Budget) -> (Self, Report) {
        let mut objects = Vec::new();
        let mut report = Report::new();
        let mut without_objects = Vec::new();
        for source in sources {
            let before = objects.len();
            let (read, unreadable) = documents(source, budget);
            let is_readable = !unreadable.has_errors();
            report.extend(unreadable);
            objects.extend(
                read.into_iter()
                    .flat_map(Object::into_items)
                    .filter(|object| !object.kind().is_empty()),
            );
            if objects.len() == before && is_readable {
                without_objects.push(WithoutObjects {
                    name: source.name().clone(),
                    holds: Contents::of(source),
                });
            }
        }
        objects.iter_mut().for_each(Object::drop_nulls);
        let pool = Pool {
            without_objects,
            ..Pool::of(objects)
        };
        report.extend(pool.repeated());
        (pool, report)
    }

    /// The objects that are there more than once, in one finding: a folder of templates has all its
    /// objects so.
    fn repeated(&self) -> Option<Diagnostic> {
        let is_next = |before: &usize, after: &usize| {
            key(&self.objects[*before]) == key(&self.objects[*after])
        };
        let groups = self
            .by_name
            .chunk_by(is_next)
            .filter(|group| group.len() > 1 && !self.objects[group[0]].name().is_empty());
        let mut groups: Vec<&[usize]> = groups.collect();
        groups.sort_unstable_by_key(|group| group[1]);
        let first = groups.first()?;
        let named: Vec<String> = groups
            .iter()
            .take(MOST_NAMED)
            .map(|group| self.objects[group[0]].title())
            .collect();
        let more = match groups.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let is_one = groups.len() == 1 && first.len() == 2;
        let verb = if groups.len() == 1 { "is" } else { "are" };
        let name = FieldPath::of_fields("metadata.name");
        let finding = Diagnostic::of(&OBJECT_REPEATED, format!("{}{more} {verb} there more than once", named.join(", ")))
            .at(self.objects[first[1]].place(&name))
            .related(self.objects[first[0]].place(&name), "the first")
            .note("each is taken by itself; what names one of them means the last, as when they are applied one after the other");
        Some(finding.help(if is_one {
            "remove one of the two, or give one file at a time"
        } else {
            "remove what is too much, or give one file at a time"
        }))
    }

    /// The same objects, some of them in another form, and more behind them.
    pub fn with(
        self,
        changed: impl IntoIterator<Item = (usize, Object)>,
        more: impl IntoIterator<Item = Object>,
    ) -> Self {
        let mut objects = self.objects;
        changed
            .into_iter()
            .for_each(|(at, object)| objects[at] = object);
        objects.extend(more);
        Pool {
            without_objects: self.without_objects,
            ..Pool::of(objects)
        }
    }

    /// The sources that could be read and hold no object, in their order.
    pub fn without_objects(&self) -> &[WithoutObjects] {
        &self.without_objects
    }

    /// All objects, in the order of the input.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// All objects by value, in the order of the input.
    pub fn into_objects(self) -> Vec<Object> {
        self.objects
    }

    /// The object of that group, kind, namespace and name; the version does not matter. Of several
    /// the last one counts, as it does when they are applied one after the other.
    pub fn find(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&Object> {
        let wanted = (group, kind, namespace, name);
        self.range(|object| key(object).cmp(&wanted))
            .last()
            .map(|at| &self.objects[*at])
    }

    /// The object of that group, kind and name, whatever its namespace: clusterctl moves all
    /// components into one. Of several the last counts.
    pub fn named(&self, group: &str, kind: &str, name: &str) -> Option<&Object> {
        let places = self.by_bare_name();
        let after =
            places.partition_point(|at| bare_key(&self.objects[*at]) <= (group, kind, name));
        places[..after]
            .last()
            .map(|at| &self.objects[*at])
            .filter(|found| bare_key(found) == (group, kind, name))
    }

    /// The first object of that kind and name, whatever its group and namespace.
    pub fn elsewhere(&self, kind: &str, name: &str) -> Option<&Object> {
        let index = self.by_kind_and_name.get_or_init(|| {
            let mut index = BTreeMap::new();
            for (at, object) in self.objects.iter().enumerate() {
                let key = [object.kind(), object.name()].map(str::to_owned);
                index.entry(key).or_insert(at);
            }
            index
        });
        index
            .get(&[kind, name].map(str::to_owned))
            .map(|at| &self.objects[*at])
    }

    /// The names of the objects of a group and kind, whatever their namespaces, in their order.
    pub fn names_of<'p>(
        &'p self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = &'p str> + Clone {
        self.everywhere(group, kind).map(Object::name)
    }

    /// The objects of a group and kind, whatever their namespaces, in the order of their names.
    pub fn everywhere<'p>(
        &'p self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = &'p Object> + Clone {
        let places = self.by_bare_name();
        let of = |at: &usize| (self.objects[*at].group(), self.objects[*at].kind());
        let start = places.partition_point(|at| of(at) < (group, kind));
        let end = start + places[start..].partition_point(|at| of(at) == (group, kind));
        places[start..end].iter().map(|at| &self.objects[*at])
    }

    fn by_bare_name(&self) -> &[usize] {
        self.by_bare_name.get_or_init(|| {
            let mut places: Vec<usize> = (0..self.objects.len()).collect();
            places.sort_by(|a, b| bare_key(&self.objects[*a]).cmp(&bare_key(&self.objects[*b])));
            places
        })
    }

    /// The objects of a group and kind in a namespace, in the order of their names.
    pub fn of_kind(
        &self,
        group: &str,
        kind: &str,
        namespace: &str,
    ) -> impl ExactSizeIterator<Item = &Object> {
        let wanted = (group, kind, namespace);
        let found = self.range(|object| {
            (object.group(), object.kind(), object.namespace_or_default()).cmp(&wanted)
        });
        found.iter().map(|at| &self.objects[*at])
    }

    /// The Clusters of a namespace whose topology has a class, in the order of the input.
    pub fn clusters_of_class(&self, namespace: &str, class: &str) -> impl Iterator<Item = &Object> {
        let key = [namespace, class].map(str::to_owned);
        self.clusters()
            .of_class
            .get(&key)
            .into_iter()
            .flatten()
            .map(|at| &self.objects[*at])
    }

    /// The first Cluster of a namespace that names a control plane.
    pub fn cluster_of_control_plane(&self, namespace: &str, name: &str) -> Option<&Object> {
        self.clusters()
            .of_control_plane
            .get(&[namespace, name].map(str::to_owned))
            .map(|at| &self.objects[*at])
    }

    fn clusters(&self) -> &Clusters {
        self.clusters.get_or_init(|| {
            let mut clusters = Clusters::default();
            for (at, object) in self.objects.iter().enumerate() {
                if !object.is(CLUSTER_API, "Cluster") {
                    continue;
                }
                // core v1beta1 has the name of the class in `class`.
                let class = match object.text(&["spec", "topology", "classRef", "name"]) {
                    "" => object.text(&["spec", "topology", "class"]),
                    name => name,
                };
                let control_plane = object.text(&["spec", "controlPlaneRef", "name"]);
                let key = |name: &str| [object.namespace_or_default(), name].map(str::to_owned);
                clusters.of_class.entry(key(class)).or_default().push(at);
                clusters
                    .of_control_plane
                    .entry(key(control_plane))
                    .or_insert(at);
            }
            clusters
        })
    }

    /// The objects of the same namespace that name the object, in the order of the input.
    pub fn referrers(&self, object: &Object) -> impl Iterator<Item = &Object> {
        let referrers = self.referrers.get_or_init(|| self.index_referrers());
        let key = [object.kind(), object.namespace_or_default(), object.name()].map(str::to_owned);
        referrers
            .get(&key)
            .into_iter()
            .flatten()
            .map(|at| &self.objects[*at])
    }

    fn index_referrers(&self) -> BTreeMap<[String; 3], Vec<usize>> {
        let mut index: BTreeMap<[String; 3], Vec<usize>> = BTreeMap::new();
        for (at, object) in self.objects.iter().enumerate() {
            for reference in references(object.value()).0 {
                let key = [
                    reference.kind,
                    object.namespace_or_default(),
                    reference.name,
                ]
                .map(str::to_owned);
                index.entry(key).or_default().push(at);
            }
        }
        index
    }

    fn range(&self, compare: impl Fn(&Object) -> Ordering) -> &[usize] {
        let start = self
            .by_name
            .partition_point(|at| compare(&self.objects[*at]).is_lt());
        let end =
            start + self.by_name[start..].partition_point(|at| compare(&self.objects[*at]).is_eq());
        &self.by_name[start..end]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use windlass_source::diag::FieldPath;

    #[test]
    fn lists_are_taken_apart_and_places_stay() {
        let text = "kind: List\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: a}\n  data: {k: null}\n";
        let (pool, report) = Pool::read(&[Source::new("f.yaml", text)], &Budget::default());
        assert!(report.is_empty());
        let secret = pool.find("", "Secret", "default", "a").unwrap();
        assert_eq!(secret.value()["data"], json!({}));
        let place = secret.place(&FieldPath::of_fields("metadata.name"));
        assert_eq!(place.span.unwrap().start.line, 6);
        assert_eq!(place.path.to_string(), "metadata.name");
    }

    #[test]
    fn objects_that_are_there_again_are_told_once() {
        let object = |kind: &str, name: &str, namespace: &str| {
            format!(
                "apiVersion: a.io/v1\nkind: {kind}\nmetadata: {{name: \"{name}\"{namespace}}}\n---\n"
            )
        };
        let told = |objects: &[(&str, &str, &str)]| {
            let text: String = objects
                .iter()
                .map(|(kind, name, namespace)| object(kind, name, namespace))
                .collect();
            let findings = Pool::read(&[Source::new("f.yaml", text)], &Budget::default())
                .1
                .into_findings();
            findings
                .into_iter()
                .map(|finding| {
                    (
                        finding.message.to_string(),
                        finding.place.span.unwrap().start.line,
                    )
                })
                .collect::<Vec<_>>()
        };
        let n = ", namespace: prod";
        assert_eq!(
            told(&[
                ("K", "a", ""),
                ("K", "a", n),
                ("J", "a", ""),
                ("K", "b", ""),
                ("K", "", ""),
                ("K", "", "")
            ]),
            []
        );
        assert_eq!(
            told(&[
                ("K", "a", ""),
                ("K", "b", ""),
                ("K", "a", ", namespace: default")
            ]),
            [("K/a is there more than once".to_owned(), 11)]
        );
        let many: Vec<_> = ["f", "a", "b", "c", "d", "e"]
            .map(|name| ("K", name, n))
            .into_iter()
            .collect();
        let expected = "K/a, K/f, K/b, K/c and 2 more are there more than once";
        let all = [&many[..], &[many[1]], &many[..], &many[1..3]].concat();
        assert_eq!(
            told(&all),
            [(expected.to_owned(), 27)],
            "in the order in which they come again"
        );
        let helped = |copies: usize| {
            let text = object("K", "a", "").repeat(copies);
            Pool::read(&[Source::new("f.yaml", text)], &Budget::default())
                .1
                .findings()[0]
                .help
                .as_ref()
                .unwrap()
                .to_string()
        };
        assert!(
            helped(2).starts_with("remove one of the two,")
                && helped(3).starts_with("remove what is too much,")
        );
    }

    #[test]
    fn names_of_a_kind_are_those_of_all_namespaces() {
        let object = |group: &str, kind: &str, name: &str, namespace: &str| {
            Object::made(
                json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": {"name": name, "namespace": namespace}}),
            )
        };
        let objects = [
            ("a", "K", "z", "m"),
            ("a", "K", "b", "n"),
            ("a", "J", "c", "n"),
            ("b", "K", "d", "n"),
            ("a", "L", "e", "n"),
        ];
        let pool = Pool::of(
            objects
                .map(|(group, kind, name, namespace)| object(group, kind, name, namespace))
                .into(),
        );
        let names = |group: &str, kind: &str| {
            pool.names_of(group, kind)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (names("a", "K"), names("b", "K")),
            (vec!["b".to_owned(), "z".to_owned()], vec!["d".to_owned()])
        );
        assert_eq!((names("a", "M"), names("c", "K")), (Vec::new(), Vec::new()));
    }

    #[test]
    fn the_last_of_equal_objects_counts_whatever_its_version() {
        let object = |version: &str, name: &str, at: i32| {
            Object::made(
                json!({"apiVersion": format!("a.io/{version}"), "kind": "K", "metadata": {"name": name, "namespace": "n"}, "at": at}),
            )
        };
        let pool = Pool::of(vec![
            object("v1", "b", 0),
            object("v1", "a", 1),
            object("v2", "b", 2),
            object("v1", "c", 3),
        ]);
        let at = |name: &str| {
            pool.find("a.io", "K", "n", name)
                .map(|object| object.value()["at"].clone())
        };
        assert_eq!(
            (at("a"), at("b"), at("c"), at("d")),
            (Some(json!(1)), Some(json!(2)), Some(json!(3)), None)
        );
        let named = |name: &str| {
            pool.named("a.io", "K", name)
                .map(|object| object.value()["at"].clone())
        };
        assert_eq!(
            (named("a"), named("b"), named("c"), named("d")),
            (Some(json!(1)), Some(json!(2)), Some(json!(3)), None)
        );
        let all: Vec<_> = pool
            .of_kind("a.io", "K", "n")
            .map(|object| object.value()["at"].clone())
            .collect();
        assert_eq!(
            all,
            [1, 0, 2, 3].map(|at| json!(at)),
            "in the order of their names, equal ones as in the input"
        );
        assert_eq!(
            (
                pool.of_kind("a.io", "K", "default").count(),
                pool.of_kind("", "K", "n").count()
            ),
            (0, 0)
        );
    }

    #[test]
    fn machines_are_found_by_what_they_refer_to() {
        let machine = |kind: &str, spec: serde_json::Value, namespace: &str| {
            Object::made(
                json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": "m", "namespace": namespace}, "spec": spec}),
            )
        };
        let reference = json!({"bootstrap": {"configRef": {"kind": "KubeadmConfig", "name": "c"}}});
        let config = Object::made(json!({"kind": "KubeadmConfig", "metadata": {"name": "c"}}));
        let pool = Pool::of(vec![
            machine("Machine", reference.clone(), "other"),
            machine(
                "MachineDeployment",
                json!({"template": {"spec": reference}}),
                "default",
            ),
            machine("Machine", reference.clone(), "default"),
            config.clone(),
        ]);
        assert_eq!(
            pool.referrers(&config)
                .map(Object::kind)
                .collect::<Vec<_>>(),
            ["MachineDeployment", "Machine"]
        );
    }
}
