//! Templates of clusterctl as input: variables are replaced first, and findings stand where the
//! template has the text.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use serde_json::Value;

use super::placeholder::{self, Placeholder};
use super::variables::{TEMPLATE_REJECTED, TEMPLATE_UNDECLARED, Unset, Variables};
use windlass_envsubst as envsubst;
use windlass_go_yaml::yaml::SYNTAX;
use windlass_objects::opaque_block::{OpaqueBlock, opaque_blocks};
use windlass_objects::{Object, Pool, Substituted};
use windlass_source::Source;
use windlass_source::budget::{Budget, Resource};
use windlass_source::diag::{Diagnostic, FieldPath, Place, Quoted, Remedy, Report, Setting};

/// The templates that texts came from, by the name of the file, and the variables that had no
/// value.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    templates: BTreeMap<String, Substituted>,
    unset: Vec<Unset>,
    placeholders: BTreeSet<Placeholder>,
}

impl Origins {
    /// Replaces the variables of all sources. A source that cannot be is in the report, and missing
    /// in the result. A variable without a value is replaced by a marker; [`Origins::settle`]
    /// says whether it was needed.
    pub fn substitute(
        sources: Vec<Source>,
        variables: Variables<'_>,
        budget: &Budget,
    ) -> (Vec<Source>, Self, Report) {
        let mut origins = Origins::default();
        let mut report = Report::new();
        let mut texts = Vec::new();
        for source in sources {
            // The file that took the last steps is reported; those after it are not to blame.
            if budget.is_spent(Resource::Steps) {
                break;
            }
            match origins.substituted(&source, variables, budget) {
                Ok(substituted) => {
                    texts.push(substituted.text().clone());
                    origins
                        .templates
                        .insert(source.name().to_string(), substituted);
                }
                Err(findings) => report.extend(findings),
            }
        }
        (texts, origins, report)
    }

    /// Whether no text was a template.
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty()
    }

    /// Whether what a setting would say is filled in: nobody gave the variable of clusterctl's own
    /// that says it.
    pub fn stands_in(&self, setting: Setting) -> bool {
        self.placeholders
            .iter()
            .any(|placeholder| placeholder.setting == Some(setting))
    }

    /// Whether a text contains the marker of a variable without a value.
    pub fn is_unset(&self, text: &str) -> bool {
        self.unset
            .iter()
            .any(|unset| unset.within(text.as_bytes()).next().is_some())
    }

    /// The report with its places in the templates, and without what is wrong with markers: a
    /// variable behind a finding, in a document that could not be rendered for one, whose marker is
    /// in an output, or that is a block of a config, has to be given. Those that nothing needs are
    /// placeholders, and so are the values of clusterctl's own variables that nobody gave.
    pub fn settle<'o>(
        &self,
        report: Report,
        outputs: impl IntoIterator<Item = &'o [u8]>,
        configs: impl IntoIterator<Item = Place>,
        rejected: impl IntoIterator<Item = Place>,
    ) -> (Report, Vec<Placeholder>) {
        self.settle_restored(self.restore(report), outputs, configs, rejected)
    }

    /// The same of a report whose places are those of the templates.
    fn settle_restored<'o>(
        &self,
        report: Report,
        outputs: impl IntoIterator<Item = &'o [u8]>,
        configs: impl IntoIterator<Item = Place>,
        rejected: impl IntoIterator<Item = Place>,
    ) -> (Report, Vec<Placeholder>) {
        let mut needed = BTreeSet::new();
        let mut settled = Report::new();
        for finding in report.into_findings() {
            match self.unset.iter().find_map(|unset| unset.behind(&finding)) {
                Some(name) => drop(needed.insert(name.to_owned())),
                None => settled.push(finding),
            }
        }
        for output in outputs {
            needed.extend(
                self.unset
                    .iter()
                    .flat_map(|unset| unset.within(output))
                    .map(str::to_owned),
            );
        }
        for place in configs {
            let place = self.in_template(place);
            let blocks = self.unset.iter().flat_map(|unset| unset.blocks_in(&place));
            needed.extend(blocks.map(str::to_owned));
        }
        if !needed.is_empty() {
            for place in rejected {
                let place = self.in_template(place);
                needed.extend(
                    self.unset
                        .iter()
                        .flat_map(|unset| unset.used_in(&place))
                        .map(str::to_owned),
                );
            }
        }
        settled.extend(self.unset.iter().flat_map(|unset| unset.findings(&needed)));
        let names: BTreeSet<&str> = self
            .unset
            .iter()
            .flat_map(Unset::names)
            .filter(|name| !needed.contains(*name))
            .collect();
        let unneeded = (!names.is_empty())
            .then(|| placeholder::variables(&names.into_iter().collect::<Vec<_>>().join(", ")));
        (
            settled,
            self.placeholders.iter().cloned().chain(unneeded).collect(),
        )
    }

    /// The same for machines that are validated and not rendered: a block without a value is reported
    /// as unchecked, and findings about fields that it may supply are dropped.
    pub fn settle_judged<'o>(
        &self,
        report: Report,
        outputs: impl IntoIterator<Item = &'o [u8]>,
        rejected: impl IntoIterator<Item = Place>,
        is_supplied_by_blocks: impl Fn(&Diagnostic, &str, &[OpaqueBlock]) -> bool,
    ) -> (Report, Vec<Placeholder>) {
        let is_block = |finding: &Diagnostic| {
            let behind = self
                .unset
                .iter()
                .find_map(|unset| unset.behind(finding).filter(|name| unset.is_block(name)));
            behind.is_some()
        };
        let may_be_in_block = |finding: &Diagnostic| {
            self.unset.iter().any(|unset| {
                unset
                    .blocks_of(&finding.place)
                    .is_some_and(|(text, blocks)| is_supplied_by_blocks(finding, text, blocks))
            })
        };
        let restored = self.restore(report).into_findings().into_iter();
        let known = restored
            .filter(|finding| !is_block(finding) && !may_be_in_block(finding))
            .collect();
        let (mut settled, placeholders) = self.settle_restored(known, outputs, [], rejected);
        settled.extend(self.unset.iter().flat_map(Unset::open_blocks));
        (settled, placeholders)
    }

    /// The location in the template of a location in its text after substitution.
    pub fn in_template(&self, place: Place) -> Place {
        self.restored(Diagnostic::of(&TEMPLATE_REJECTED, "").at(place))
            .place
    }

    /// The report with each place in its template.
    fn restore(&self, report: Report) -> Report {
        report
            .into_findings()
            .into_iter()
            .map(|finding| self.restored(finding))
            .collect()
    }

    fn restored(&self, finding: Diagnostic) -> Diagnostic {
        let places = std::iter::once(&finding.place)
            .chain(finding.related.iter().map(|related| &related.place));
        let files: BTreeSet<String> = places
            .filter_map(|place| place.file.as_deref())
            .map(str::to_owned)
            .collect();
        files
            .iter()
            .filter_map(|file| self.templates.get(file))
            .fold(finding, |finding, substituted| {
                substituted.restored(finding)
            })
    }

    /// The text of a template with its variables replaced.
    fn substituted(
        &mut self,
        source: &Source,
        variables: Variables<'_>,
        budget: &Budget,
    ) -> Result<Substituted, Report> {
        let rejected = |message: String, range: std::ops::Range<usize>| {
            Diagnostic::of(&TEMPLATE_REJECTED, message).at(source.place_at(range))
        };
        let one = |finding: Diagnostic| [finding].into_iter().collect::<Report>();
        let template = envsubst::parse(source.text()).map_err(|error| {
            one(rejected(
                format!(
                    "the template cannot be read: {error}",
                    error = Quoted(&error)
                ),
                error.start..error.stopped,
            )
            .help("write `$$` for a `$`"))
        })?;
        let unset = Unset::of(source, &template, &variables);
        let needed = if variables.request.placeholders {
            unset.without_marker()
        } else {
            unset.names().map(str::to_owned).collect()
        };
        if !needed.is_empty() {
            return Err(unset.findings(&needed).collect());
        }
        let result = template.substitute(
            |name| variables.value(name).or_else(|| unset.marker(name)),
            budget,
        );
        let substituted = result.map_err(|error| {
            one(rejected(
                format!(
                    "the template cannot be substituted: {error}",
                    error = Quoted(&error)
                ),
                error.start..error.stopped,
            ))
        })?;
        let Ok(text) = substituted.text() else {
            return Err(one(rejected(
                "the substituted template is not UTF-8".to_owned(),
                0..0,
            )
            .help("give values in UTF-8")));
        };
        self.placeholders.extend(
            template
                .variables()
                .into_keys()
                .filter_map(|name| variables.placeholder_for(&name)),
        );
        self.unset.push(unset);
        Ok(Substituted::new(
            source.clone(),
            text,
            substituted.map.clone(),
        ))
    }
}

/// Reports input that is a template although `--template` is not set, and returns whether it is. A
/// syntax error at a block is dropped then: it follows from the variable.
pub fn report_undeclared(sources: &[Source], pool: &Pool, report: &mut Report) -> bool {
    let Some(finding) = undeclared(sources, pool, report.has_errors()) else {
        return false;
    };
    let blocks: Vec<Place> = sources
        .iter()
        .flat_map(|source| {
            let place = |block: OpaqueBlock| source.place_at(block.span);
            opaque_blocks(source).into_iter().map(place)
        })
        .collect();
    let is_of_block = |finding: &Diagnostic| {
        let same = |place: &Place| place.start() == finding.place.start();
        finding.rule == &SYNTAX && blocks.iter().any(same)
    };
    let found = std::mem::take(report).into_findings().into_iter();
    *report = found.filter(|finding| !is_of_block(finding)).collect();
    report.push(finding);
    true
}

/// A name in Kubernetes cannot contain `$`, so a name with a variable of clusterctl's own shows a
/// template. If the text is not valid YAML, the variable alone shows it.
fn undeclared(sources: &[Source], pool: &Pool, is_broken: bool) -> Option<Diagnostic> {
    const OWN: [&str; 5] = [
        "${CLUSTER_NAME",
        "${NAMESPACE",
        "${KUBERNETES_VERSION",
        "${CONTROL_PLANE_MACHINE_COUNT",
        "${WORKER_MACHINE_COUNT",
    ];
    let of_object = |object: &Object| {
        let fields = ["metadata.name", "metadata.namespace"].map(FieldPath::of_fields);
        let field = fields.into_iter().find(|path| {
            object
                .at(path)
                .and_then(Value::as_str)
                .is_some_and(|text| OWN.iter().any(|own| text.contains(own)))
        })?;
        Some(object.place(&field))
    };
    let of_text = |source: &Source| {
        let start = OWN
            .iter()
            .filter_map(|own| memmem::find(source.text().as_bytes(), own.as_bytes()))
            .min()?;
        Some(source.place_at(start..start + 2))
    };
    let place = pool
        .objects()
        .iter()
        .find_map(of_object)
        .or_else(|| sources.iter().filter(|_| is_broken).find_map(of_text))?;
    let finding = Diagnostic::of(
        &TEMPLATE_UNDECLARED,
        "this is a template of clusterctl, whose variables are not replaced",
    )
    .at(place);
    Some(finding.help(Remedy::new("add ").setting(Setting::Template)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::input::request::Request;

    fn substitute(
        template: Source,
        given: &dyn Fn(&str) -> Option<String>,
        placeholders: bool,
    ) -> (Vec<Source>, Origins, Report) {
        let request = Request {
            placeholders,
            ..Request::new()
        };
        Origins::substitute(
            vec![template],
            Variables {
                given,
                request: &request,
            },
            &Budget::default(),
        )
    }

    #[test]
    fn places_are_those_of_the_template() {
        let template = Source::new(
            "t.yaml",
            "kind: Secret\nmetadata: {name: \"${NAME}\", namespace: 5 5}\nx: [\n",
        );
        let (texts, origins, report) =
            substitute(template, &|_| Some("a-very-long-name".to_owned()), true);
        assert!(report.is_empty());
        assert!(texts[0].text().contains("a-very-long-name"));
        let at = texts[0].text().find("x:").unwrap();
        let finding = Diagnostic::of(&TEMPLATE_REJECTED, "x").at(texts[0].place_at(at..at + 1));
        let restored = origins.restore([finding].into_iter().collect());
        assert_eq!(restored.findings()[0].place.span.unwrap().start.line, 3);
    }

    #[test]
    fn variables_without_a_value_are_all_named() {
        let template = Source::new("t.yaml", "a: ${A}\nb: ${B:=1}\nc: ${C}\nd: ${D:-}\n");
        let (_, _, report) = substitute(template, &|_| None, false);
        let messages: Vec<_> = report
            .findings()
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(
            messages,
            [
                "variable A has no value and no default",
                "variable C has no value and no default",
                "variable D has no value: clusterctl treats its empty default as no default"
            ]
        );
    }
}
