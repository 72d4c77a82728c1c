//! Cluster templates and ClusterClasses of a release: finds them, and reports what fails in
//! clusterctl or for its users (book: clusterctl, "Workload cluster templates", "ClusterClass
//! definitions").

pub(crate) mod fields;
pub(crate) mod flags;
pub(crate) mod kinds;
mod known;
pub(crate) mod references;
pub(crate) mod rules;
pub(crate) mod scripts;
pub(crate) mod variables;

use std::collections::BTreeSet;

use super::definitions::outdated::object_outdated;
use super::{Audience, Extent, Wishes, template_text};
use windlass_capi::contract::{
    CLUSTER_CLASS_PREFIX, CORE_GROUP, cluster_class_name, template_flavor,
};
use windlass_envsubst::{self as envsubst, SubstError};
use windlass_go_text as go;
use windlass_go_yaml::yaml;
use windlass_objects::opaque_block::{OpaqueBlock, blocks_at, opaque_blocks};
use windlass_objects::{self as objects, Object, Pool, Substituted};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Report};

pub use known::{Known, Wanted};
use rules::{
    CLASS_MISSING, CLASS_NAME_WRONG, CLASS_NAMESPACE, CLASS_VARIABLE, NAME_CONTROL, NAME_UNKNOWN,
    NAMESPACE_FOREIGN, NAMESPACE_PRESENT, SUBSTITUTION,
};

/// The templates among some files by their file name, and those whose name looks as if clusterctl
/// should find it.
pub fn select<'a>(
    sources: impl IntoIterator<Item = &'a Source>,
) -> (Vec<(&'a str, &'a Source)>, Report) {
    let mut report = Report::new();
    let mut taken = Vec::new();
    for source in sources {
        let file = source.file_name();
        if file.chars().any(char::is_control) {
            let finding = Diagnostic::of(
                &NAME_CONTROL,
                format!("the name {} has a control character", go::quote(file)),
            )
            .at(source.place());
            report.push(finding.help("rename the file: such a name ends lines in logs, and gives commands to terminals and CI systems"));
        }
        if is_template(file) {
            taken.push((file, source));
        } else {
            report.extend(unknown_name(source, file));
        }
    }
    (taken, report)
}

/// Whether clusterctl finds a template or a ClusterClass under a name.
pub fn is_template(file: &str) -> bool {
    template_flavor(file).is_some() || cluster_class_name(file).is_some()
}

/// What is known of templates beside their text.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Whether they are what clusterctl takes, or parts of which that is made: what a part lacks
    /// may come from elsewhere.
    pub extent: Extent,
    /// The reader of the findings: the author of the templates, or a user of them.
    pub audience: Audience<'a>,
    /// The kinds of the CRDs of the release, and others in which to look after them.
    pub known: &'a [&'a Known],
}

/// Checks templates that lie beside each other.
pub fn check(sources: &[Source], asked: &Asked<'_>, budget: &Budget) -> Report {
    let classes: BTreeSet<&str> = sources
        .iter()
        .filter_map(|source| cluster_class_name(source.file_name()))
        .collect();
    sources
        .iter()
        .flat_map(|source| {
            Judge {
                source,
                classes: &classes,
                asked,
            }
            .report(budget)
        })
        .collect()
}

/// The objects of templates, with samples in place of variables.
pub fn objects(sources: &[Source], budget: &Budget) -> Vec<Object> {
    let sampled = budget.each(sources, Sampled::new);
    let objects = sampled
        .into_iter()
        .flatten()
        .map(|sampled| sampled.pool.objects().to_vec());
    objects.flatten().collect()
}

/// A file, and what is known of what surrounds it.
struct Judge<'a> {
    source: &'a Source,
    /// The classes whose files lie beside it.
    classes: &'a BTreeSet<&'a str>,
    asked: &'a Asked<'a>,
}

impl Judge<'_> {
    fn report(&self, budget: &Budget) -> Report {
        let sampled = match Sampled::new(self.source, budget) {
            Ok(sampled) => sampled,
            Err(finding) => return [*finding].into_iter().collect(),
        };
        let mut report = sampled.report.clone();
        report.extend(match cluster_class_name(self.source.file_name()) {
            Some(class) => check_class(&sampled, self.source, class),
            None => self.template(&sampled),
        });
        report.extend(template_text::check(self.source, budget));
        if let Audience::Author(wishes) = self.asked.audience {
            report.extend(sampled.substituted.restore(self.advice(&sampled, budget)));
            report.extend(outdated(&sampled, wishes));
            report.extend(check_text(self.source, budget));
        }
        report
    }

    /// What is due of templates.
    fn template(&self, sampled: &Sampled) -> Report {
        let mut report: Report = sampled.objects().iter().filter_map(namespace).collect();
        report.extend(fixed_namespaces(sampled));
        if self.asked.extent == Extent::Whole {
            report.extend(
                sampled
                    .objects()
                    .iter()
                    .filter_map(|object| class_of_topology(sampled, object, self.classes)),
            );
        }
        sampled.substituted.restore(report)
    }

    /// What who makes a template or a class should know of its objects.
    fn advice(&self, sampled: &Sampled, budget: &Budget) -> Report {
        let mut report = kinds::check(sampled, self.asked.known);
        report.extend(fields::check(
            sampled,
            self.asked.known,
            self.asked.extent,
            budget,
        ));
        if self.asked.extent == Extent::Whole {
            report.extend(references::check(sampled));
            let is_class = cluster_class_name(self.source.file_name()).is_some();
            let template = envsubst::parse(self.source.text())
                .ok()
                .filter(|_| !is_class);
            report.extend(
                template
                    .iter()
                    .flat_map(|template| flags::check(sampled, template)),
            );
        }
        report
    }
}

/// Objects in an older version of Cluster API's types than the author wants.
fn outdated(sampled: &Sampled, wishes: Wishes<'_>) -> Report {
    let Some(wanted) = wishes.contract else {
        return Report::new();
    };
    sampled.judge(|object| object_outdated(object, wanted, |object| sampled.title(object)))
}

/// Checks the text as it is written. Variables can break the YAML of a file that is sound once they
/// are replaced: then its scripts are not checked.
fn check_text(source: &Source, budget: &Budget) -> Report {
    let Ok(template) = envsubst::parse(source.text()) else {
        return Report::new();
    };
    let mut report = variables::check(source, &template);
    report.extend(scripts::check(
        source,
        &template,
        &yaml::parse(source, budget).documents,
    ));
    report
}

/// A file that looks like a template, under a name that clusterctl does not look for.
pub fn unknown_name(source: &Source, file: &str) -> Option<Diagnostic> {
    let looks_like = [
        "cluster-class",
        "cluster_template",
        "clustertemplate",
        "cluster-template",
        "clusterclass",
    ];
    let stem = file
        .strip_suffix(".yaml")
        .or_else(|| file.strip_suffix(".yml"))?;
    looks_like.iter().any(|prefix| stem.starts_with(prefix)).then(|| {
        Diagnostic::of(&NAME_UNKNOWN, format!("{file} is not a name that clusterctl looks for, so it is not released"))
            .at(source.place())
            .help("call it cluster-template.yaml, cluster-template-FLAVOR.yaml or clusterclass-NAME.yaml")
    })
}

/// A template whose variables were replaced by their defaults or by samples.
struct Sampled {
    substituted: Substituted,
    pool: Pool,
    report: Report,
    /// Variables that are blocks of unknown content.
    blocks: Vec<OpaqueBlock>,
}

impl Sampled {
    fn new(source: &Source, budget: &Budget) -> Result<Self, Box<Diagnostic>> {
        let substituted = Substituted::sampled(source, budget)
            .map_err(|error| Box::new(substitution_finding(source, &error)))?;
        let (objects, report) = objects::documents(substituted.text(), budget);
        Ok(Sampled {
            pool: Pool::of(objects),
            report: substituted.restore(report),
            blocks: opaque_blocks(source),
            substituted,
        })
    }

    fn objects(&self) -> &[Object] {
        self.pool.objects()
    }

    /// Whether the file may contain objects that were not read: a document cannot be parsed, or is
    /// one variable.
    fn lacks_objects(&self) -> bool {
        self.report.has_errors() || self.blocks.iter().any(|block| block.is_document)
    }

    /// Whether a part of an object's document is a variable.
    fn is_open(&self, object: &Object) -> bool {
        let Some(span) = self
            .substituted
            .restored_place(&object.place(&FieldPath::root()))
            .span
        else {
            return false;
        };
        !blocks_at(&self.blocks, span.start.offset).is_empty()
    }

    /// What is wrong with one of the objects, at its place in the template.
    fn judge<F: IntoIterator<Item = Diagnostic>>(&self, judge: impl Fn(&Object) -> F) -> Report {
        self.substituted
            .restore(self.objects().iter().flat_map(judge).collect())
    }

    /// `Kind/name`, with the variables that are in the name.
    fn title(&self, object: &Object) -> String {
        let name = self
            .written(object, &FieldPath::of_fields("metadata.name"))
            .trim_matches(['"', '\'']);
        if name.contains("${") {
            format!("{}/{name}", object.kind())
        } else {
            object.title()
        }
    }

    fn written(&self, object: &Object, path: &FieldPath) -> &str {
        self.substituted.written(&object.place(path))
    }
}

/// The finding about a template whose variables cannot be read or replaced.
pub fn substitution_finding(source: &Source, error: &SubstError) -> Diagnostic {
    Diagnostic::of(
        &SUBSTITUTION,
        format!(
            "clusterctl cannot substitute the variables of {}",
            source.file_name()
        ),
    )
    .at(source.place_at(error.start..error.stopped.max(error.start)))
    .help("write `${NAME}` or `${NAME:=default}`; for a literal `${` write `$${`")
    .note(format!("clusterctl says: {error}", error = Quoted(&error)))
    .upstream(error.to_string())
}

/// Reports a Namespace in a template, which clusterctl renames to the target namespace.
fn namespace(object: &Object) -> Option<Diagnostic> {
    (object.kind() == "Namespace").then(|| {
        Diagnostic::of(
            &NAMESPACE_PRESENT,
            "the template holds a Namespace, which clusterctl renames to the target namespace",
        )
        .at(object.place(&FieldPath::of_fields("kind")))
        .help("remove it: the namespace of a cluster exists already")
    })
}

/// No namespace but that of the caller: clusterctl writes the target namespace in place of any
/// other, which is reported once.
fn fixed_namespaces(sampled: &Sampled) -> Option<Diagnostic> {
    let path = FieldPath::of_fields("metadata.namespace");
    let is_fixed = |object: &&Object| {
        object.at(&path).is_some() && !sampled.written(object, &path).contains("${")
    };
    let fixed: Vec<&Object> = sampled
        .objects()
        .iter()
        .filter(|object| object.kind() != "Namespace")
        .filter(is_fixed)
        .collect();
    let (first, others) = fixed.split_first()?;
    let titles: Vec<String> = fixed.iter().map(|object| sampled.title(object)).collect();
    let message = format!(
        "`clusterctl generate cluster` replaces the namespace of {}",
        titles.join(", ")
    );
    let finding = Diagnostic::of(&NAMESPACE_FOREIGN, message)
        .at(first.place(&path))
        .help("write `namespace: \"${NAMESPACE}\"`, which `clusterctl generate yaml` replaces too");
    Some(others.iter().fold(finding, |finding, object| {
        finding.related(object.place(&path), "")
    }))
}

/// A template with a topology needs the file of its class beside it.
fn class_of_topology(
    sampled: &Sampled,
    object: &Object,
    classes: &BTreeSet<&str>,
) -> Option<Diagnostic> {
    if !object.is(CORE_GROUP, "Cluster") {
        return None;
    }
    let paths = [
        FieldPath::of_fields("spec.topology.classRef.name"),
        FieldPath::of_fields("spec.topology.class"),
    ];
    let path = paths.into_iter().find(|path| object.at(path).is_some())?;
    let class = object.at(&path)?.as_str()?;
    if sampled.written(object, &path).contains("${") || classes.contains(class) {
        return None;
    }
    let file = format!("{CLUSTER_CLASS_PREFIX}{class}.yaml");
    Some(
        Diagnostic::of(&CLASS_MISSING, format!("{path} is `{class}`, but the release has no {file}"))
            .at(object.place(&path))
            .help(format!("add {file} to a folder of `templates`"))
            .note("clusterctl takes the class from the release when the management cluster has none of that name"),
    )
}

/// The class is called as its file says, holds no clusterctl variables, and names no namespace.
fn check_class(sampled: &Sampled, source: &Source, class: &str) -> Report {
    let mut report: Report = class_variable(source).into_iter().collect();
    let file = source.file_name();
    let judge = |object: &Object| {
        class_name(sampled, file, object, class)
            .into_iter()
            .chain(namespace_of_class(sampled, object))
            .collect::<Vec<_>>()
    };
    report.extend(sampled.judge(judge));
    report
}

fn class_variable(source: &Source) -> Option<Diagnostic> {
    let template = envsubst::parse(source.text()).ok()?;
    let uses = template.uses();
    let first = uses.first()?;
    let message = format!("{} uses the variable {}", source.file_name(), first.name);
    Some(
        Diagnostic::of(&CLASS_VARIABLE, message)
            .at(source.place_at(first.span.clone()))
            .help("declare a variable of the class under `spec.variables` and patch the templates with it")
            .note("one class serves many clusters, so it must not depend on the environment of one call"),
    )
}

fn class_name(sampled: &Sampled, file: &str, object: &Object, class: &str) -> Option<Diagnostic> {
    if object.kind() != "ClusterClass" {
        return None;
    }
    let path = FieldPath::of_fields("metadata.name");
    // A variable without a default may hold the right name; that there is one is told of the file.
    let written = object
        .at(&path)
        .and_then(|_| envsubst::parse(sampled.written(object, &path)).ok());
    let is_open = written.is_some_and(|name| name.variables().values().any(Option::is_none));
    let found = object.name();
    (found != class && !is_open).then(|| {
        Diagnostic::of(
            &CLASS_NAME_WRONG,
            format!("the ClusterClass of {file} is called `{found}`"),
        )
        .at(object.place(&path))
        .help(match found.is_empty() {
            true => format!("call the class `{class}`"),
            false => format!(
                "rename the class to `{class}`, or the file to {CLUSTER_CLASS_PREFIX}{found}.yaml"
            ),
        })
        .note("clusterctl finds the file by the name that a topology gives")
    })
}

fn namespace_of_class(sampled: &Sampled, object: &Object) -> Option<Diagnostic> {
    let path = FieldPath::of_fields("metadata.namespace");
    object.at(&path)?;
    let finding = Diagnostic::of(
        &CLASS_NAMESPACE,
        format!("{} names a namespace", sampled.title(object)),
    );
    Some(
        finding
            .at(object.place(&path))
            .help("remove the line: clusterctl sets the namespace of a class and its templates"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_capi::contract::ContractVersion;

    const ALL: Asked<'_> = Asked {
        extent: Extent::Whole,
        audience: Audience::Author(Wishes::NONE),
        known: &[],
    };

    fn rules(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(name, text)| Source::new(*name, *text))
            .collect();
        let mut report = select(&sources).1;
        let taken: Vec<Source> = select(&sources)
            .0
            .into_iter()
            .map(|(_, source)| source.clone())
            .collect();
        report.extend(check(&taken, &ALL, &Budget::default()));
        let line = |f: &Diagnostic| f.place.span.map_or(0, |span| span.start.line);
        report
            .findings()
            .iter()
            .map(|f| format!("{}:{}", f.rule.id, line(f)))
            .collect()
    }

    const CLUSTER: &str = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata:\n  name: ${CLUSTER_NAME}\n  namespace: ${NAMESPACE}\n";

    #[test]
    fn sound_templates_pass() {
        let topology = format!(
            "{CLUSTER}spec: {{topology: {{classRef: {{name: foo}}, version: \"${{KUBERNETES_VERSION}}\"}}}}\n"
        );
        let class =
            "apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: {name: foo}\n";
        assert!(
            rules(&[
                ("t/cluster-template.yaml", &topology),
                ("t/clusterclass-foo.yaml", class)
            ])
            .is_empty()
        );
    }

    #[test]
    fn topology_needs_the_file_of_its_class() {
        let old = format!("{CLUSTER}spec:\n  topology:\n    class: foo\n");
        assert_eq!(
            rules(&[("cluster-template-topology.yaml", &old)]),
            ["template-class-missing:8"]
        );
        let other = old.replace("cluster.x-k8s.io/v1beta2", "cluster.example.com/v1");
        assert_eq!(
            rules(&[("cluster-template-topology.yaml", &other)]),
            [""; 0],
            "a Cluster of another group"
        );
    }

    #[test]
    fn older_versions_of_types_are_told_to_who_wants_newer_ones() {
        let text = "a: ${FIRST:=a much longer value than the variable}\n---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: \"${CLUSTER_NAME}\"}\n";
        let told = |contract| {
            let wishes = Wishes {
                contract,
                ..Wishes::NONE
            };
            let asked = Asked {
                audience: Audience::Author(wishes),
                ..ALL
            };
            let report = check(
                &[Source::new("cluster-template.yaml", text)],
                &asked,
                &Budget::default(),
            );
            let found = report
                .findings()
                .iter()
                .filter(|finding| finding.rule.id == "object-api-version-outdated");
            found
                .map(|finding| {
                    (
                        finding.message.to_string(),
                        finding.place.span.map_or(0, |span| span.start.line),
                    )
                })
                .collect::<Vec<_>>()
        };
        let message = "Cluster/${CLUSTER_NAME} is written in cluster.x-k8s.io/v1beta1".to_owned();
        assert_eq!(told(Some(ContractVersion::V1Beta2)), [(message, 3)]);
        assert_eq!(told(Some(ContractVersion::V1Beta1)), []);
        assert_eq!(told(None), []);
    }

    #[test]
    fn faults_stand_at_their_place_in_the_template() {
        let long = "${FIRST:=a much longer value than the variable}";
        for (text, expected) in [
            (
                format!("a: {long}\nkind: Namespace\n"),
                vec!["template-namespace-present:2"],
            ),
            (
                "kind: Namespace\nmetadata:\n  namespace: x\n".to_owned(),
                vec!["template-namespace-present:1"],
            ),
            (
                format!("a: {long}\nkind: X\nmetadata:\n  namespace: kube-system\n"),
                vec!["template-namespace-foreign:4"],
            ),
            (
                "a: ok\nb: ${BROKEN\n".to_owned(),
                vec!["template-substitution-broken:2"],
            ),
        ] {
            assert_eq!(
                rules(&[("cluster-template.yaml", &text)]),
                expected,
                "{text}"
            );
        }
    }

    /// The sample that stands for a variable is not a name that anybody knows.
    #[test]
    fn objects_are_called_as_the_template_calls_them() {
        let text = format!(
            "{CLUSTER}---\nkind: Secret\nmetadata: {{name: \"${{CLUSTER_NAME}}-s\", namespace: n}}\n---\nkind: Secret\nmetadata: {{name: \"${{NAME:=}}\", namespace: n}}\n"
        );
        let report = check(
            &[Source::new("cluster-template.yaml", text)],
            &ALL,
            &Budget::default(),
        );
        let messages: Vec<_> = report
            .findings()
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        let expected = "`clusterctl generate cluster` replaces the namespace of Secret/${CLUSTER_NAME}-s, Secret/${NAME:=}";
        assert_eq!(messages, [expected]);
    }

    /// Nutanix' `cluster-template-csi3.yaml` has fifteen such objects: clusterctl rewrites them
    /// all.
    #[test]
    fn fixed_namespaces_are_told_once() {
        let object = |name: &str, namespace: &str| {
            format!("kind: X\nmetadata:\n  name: {name}\n  namespace: {namespace}\n")
        };
        let text = ["default", "${NAMESPACE}", "kube-system"]
            .map(|namespace| object("x", namespace))
            .join("---\n");
        let report = check(
            &[Source::new("cluster-template.yaml", text)],
            &ALL,
            &Budget::default(),
        );
        let [finding] = report.findings() else {
            panic!("{report:?}")
        };
        let line =
            |place: &windlass_source::diag::Place| place.span.map_or(0, |span| span.start.line);
        assert_eq!(
            (
                line(&finding.place),
                finding
                    .related
                    .iter()
                    .map(|related| line(&related.place))
                    .collect()
            ),
            (4, vec![14])
        );
    }

    #[test]
    fn class_files_are_judged() {
        let class =
            "kind: ClusterClass\nmetadata:\n  name: bar\n  namespace: x\nspec: {a: \"${VAR}\"}\n";
        let expected = [
            "clusterclass-variable-present:5",
            "clusterclass-name-wrong:3",
            "clusterclass-namespace-present:4",
        ];
        assert_eq!(rules(&[("clusterclass-foo.yaml", class)]), expected);
        assert_eq!(
            rules(&[("cluster-class-foo.yaml", class)]),
            ["template-name-unknown:0"]
        );
        let named = |name: &str| {
            rules(&[(
                "clusterclass-template-foo.yaml",
                &format!("kind: ClusterClass\nmetadata:\n  name: {name}\n"),
            )])
        };
        assert_eq!(named("template-foo"), Vec::<String>::new());
        assert_eq!(named("foo"), ["clusterclass-name-wrong:3"]);
        // As CAPV and CAPRKE2 have it: the name is right when the variable is.
        assert_eq!(
            named("'${CLUSTER_CLASS_NAME}'"),
            ["clusterclass-variable-present:3"]
        );
        assert_eq!(
            named("${CLASS_NAME:=template-foo}"),
            ["clusterclass-variable-present:3"]
        );
        assert_eq!(
            named("${CLASS_NAME:=foo}"),
            [
                "clusterclass-variable-present:3",
                "clusterclass-name-wrong:3"
            ]
        );
        assert_eq!(
            rules(&[(
                "clusterclass-foo.yaml",
                "kind: ClusterClass\nmetadata: {}\n"
            )]),
            ["clusterclass-name-wrong:2"]
        );
    }
}
