//! What verbs print with `-o json` is what their JSON Schemas say. The keywords that our schemas
//! use are checked here; any other fails.

use serde_json::Value;
use windlass::cli::schema::schemas;
use windlass::cli::verbs::{Manner, VERBS, Verb};

use crate::support::{copy, root, windlass};

/// The kinds of reports, with a command that prints one without findings and one with.
const REPORTS: &[(&str, &[&str])] = &[
    (
        "release-build",
        &[
            "release build v0.1.0 --to out -o json",
            "release build v0.1.0 --provider broken.yaml --to out -o json",
        ],
    ),
    (
        "release-image",
        &[
            "release image v0.1.0 --binary linux/amd64=manager --to image -o json",
            "release image v0.1.0 --binary linux/amd64=a.yaml --to image -o json",
        ],
    ),
    (
        "inspect",
        &[
            "inspect examples/user-data.txt --log examples/cloud-init-output.log -o json",
            "inspect examples/flatcar.yaml -o json",
            "inspect a.yaml -o json",
        ],
    ),
    (
        "lint",
        &["lint releases -o json", "lint a.yaml b.yaml -o json"],
    ),
    (
        "release-check",
        &[
            "release check v0.2.0 releases/bootstrap-windlass/v0.2.0 -o json",
            "release check v9.0.0 releases/bootstrap-windlass/v0.2.0 -o json",
        ],
    ),
    (
        "release-diff",
        &[
            "release diff out out -o json",
            "release diff a.yaml b.yaml -o json",
        ],
    ),
    (
        "render",
        &[
            "render examples/worker.yaml -o json",
            "render --all examples -o json",
            "render a.yaml -o json",
        ],
    ),
    ("repository-list", &["repository list releases -o json"]),
    (
        "repository-config-map",
        &["repository configmap releases/bootstrap-windlass/v0.2.0 -o json"],
    ),
    ("repository-images", &["repository images releases -o json"]),
    (
        "repository-doctor",
        &[
            "repository doctor releases -o json",
            "repository doctor broken -o json",
        ],
    ),
    (
        "images",
        &[
            "images examples/control-plane.yaml -o json",
            "images examples/worker.yaml -o json",
            "images a.yaml -o json",
        ],
    ),
    ("rules", &["rules -o json"]),
    (
        "size",
        &[
            "size examples/control-plane.yaml -o json",
            "size examples/flatcar.yaml --infra aws --fail-over 1% -o json",
            "size a.yaml -o json",
        ],
    ),
    (
        "topology-plan",
        &[
            "topology plan examples/topology/harbour.yaml -o json",
            "topology plan a.yaml -o json",
        ],
    ),
    (
        "topology-variables",
        &[
            "topology variables examples/topology/harbour.yaml -o json",
            "topology variables a.yaml -o json",
        ],
    ),
    (
        "diff",
        &[
            "diff examples/worker.yaml --kubernetes-version v1.33.1..v1.34.1 -o json",
            "diff a.yaml examples/worker.yaml -o json",
        ],
    ),
    (
        "migrate",
        &[
            "migrate --to-version v1beta1 --check examples/worker.yaml -o json",
            "migrate --to-version v1beta2 --check a.yaml -o json",
        ],
    ),
    (
        "outlook",
        &["outlook examples -o json", "outlook a.yaml -o json"],
    ),
    (
        "validate",
        &[
            "validate examples/worker.yaml -o json",
            "validate a.yaml -o json",
        ],
    ),
    (
        "why",
        &[
            "why /etc/sysctl.d/90-huge-pages.conf examples/topology/harbour.yaml -o json",
            "why user:nobody examples/control-plane.yaml -o json",
            "why /a a.yaml -o json",
        ],
    ),
    ("vars", &["vars templates -o json", "vars t.yaml -o json"]),
];

/// Schemas of what no verb prints as a report.
const OTHERS: [&str; 2] = ["finding", "provider"];

struct Judge<'s> {
    root: &'s Value,
    faults: Vec<String>,
}

impl Judge<'_> {
    fn judge(&mut self, schema: &Value, value: &Value, at: &str) {
        let Some(keywords) = schema.as_object() else {
            assert_eq!(schema, &Value::Bool(true), "{at}: a schema is a map");
            return;
        };
        for (keyword, wanted) in keywords {
            match keyword.as_str() {
                "$schema" | "$defs" | "definitions" | "id" | "title" | "description"
                | "default" => {}
                "$ref" => {
                    let target = self
                        .root
                        .pointer(wanted.as_str().unwrap().strip_prefix('#').unwrap())
                        .unwrap()
                        .clone();
                    self.judge(&target, value, at);
                }
                "type" => {
                    let is = |name: &Value| is_of_type(value, name.as_str().unwrap());
                    let fits = wanted
                        .as_array()
                        .map_or_else(|| is(wanted), |names| names.iter().any(is));
                    self.expect(fits, at, &format!("is no {wanted}"));
                }
                "const" => self.expect(value == wanted, at, &format!("is not {wanted}")),
                "enum" => self.expect(
                    wanted.as_array().unwrap().contains(value),
                    at,
                    &format!("is none of {wanted}"),
                ),
                "minimum" => self.expect(
                    value
                        .as_f64()
                        .is_none_or(|number| number >= wanted.as_f64().unwrap()),
                    at,
                    "is too small",
                ),
                "anyOf" | "oneOf" => {
                    let fits = |schema: &&Value| {
                        let mut judge = Judge {
                            root: self.root,
                            faults: Vec::new(),
                        };
                        judge.judge(schema, value, at);
                        judge.faults.is_empty()
                    };
                    let count = wanted.as_array().unwrap().iter().filter(fits).count();
                    self.expect(
                        count == 1 || keyword == "anyOf" && count > 0,
                        at,
                        &format!("fits {count} of {keyword}"),
                    );
                }
                "maximum" => self.expect(
                    value
                        .as_f64()
                        .is_none_or(|number| number <= wanted.as_f64().unwrap()),
                    at,
                    "is too large",
                ),
                "minItems" => {
                    let least = wanted.as_u64().unwrap() as usize;
                    self.expect(
                        value.as_array().is_none_or(|items| items.len() >= least),
                        at,
                        "has too few items",
                    );
                }
                "uniqueItems" => {
                    let is_unique = |items: &Vec<Value>| {
                        (1..items.len()).all(|at| !items[..at].contains(&items[at]))
                    };
                    self.expect(
                        value.as_array().is_none_or(is_unique),
                        at,
                        "repeats an item",
                    );
                }
                "pattern" => {
                    let pattern = regex::Regex::new(wanted.as_str().unwrap()).unwrap();
                    self.expect(
                        value.as_str().is_none_or(|text| pattern.is_match(text)),
                        at,
                        "is not of the pattern",
                    );
                }
                "format" => {
                    let fits = value
                        .as_str()
                        .is_none_or(|text| has_format(text, wanted.as_str().unwrap()));
                    self.expect(fits, at, &format!("is no {wanted}"));
                }
                "required" => {
                    for name in wanted.as_array().unwrap() {
                        let has = value
                            .as_object()
                            .is_none_or(|fields| fields.contains_key(name.as_str().unwrap()));
                        self.expect(has, at, &format!("lacks {name}"));
                    }
                }
                "items" => {
                    value
                        .as_array()
                        .into_iter()
                        .flatten()
                        .enumerate()
                        .for_each(|(index, item)| {
                            self.judge(wanted, item, &format!("{at}[{index}]"));
                        })
                }
                "properties" => self.properties(
                    Some(wanted),
                    keywords.get("additionalProperties"),
                    value,
                    at,
                ),
                "additionalProperties" if keywords.contains_key("properties") => {}
                "additionalProperties" => self.properties(None, Some(wanted), value, at),
                other => panic!("{at}: the keyword {other} is not checked here"),
            }
        }
    }

    fn properties(
        &mut self,
        properties: Option<&Value>,
        others: Option<&Value>,
        value: &Value,
        at: &str,
    ) {
        let Some(fields) = value.as_object() else {
            return;
        };
        for (name, field) in fields {
            match properties
                .and_then(|properties| properties.get(name))
                .or(others)
            {
                // A report has no key that its schema does not describe.
                None | Some(Value::Bool(false)) => {
                    self.expect(false, at, &format!("has the unknown key {name}"))
                }
                Some(schema) => self.judge(schema, field, &format!("{at}.{name}")),
            }
        }
    }

    fn expect(&mut self, holds: bool, at: &str, fault: &str) {
        if !holds {
            self.faults.push(format!("{at} {fault}"));
        }
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other} is none of JSON"),
    }
}

/// Whether a text has a format of which a schema speaks. Widths of numbers are what `minimum` and
/// `maximum` say.
fn has_format(text: &str, name: &str) -> bool {
    match name {
        "uint" | "uint32" => false,
        "uri" => text.contains(':') && has_format(text, "uri-reference"),
        "uri-reference" => text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c)),
        other => panic!("the format {other} is not checked here"),
    }
}

/// What is wrong with a document by its JSON Schema.
pub(crate) fn faults(schema: &Value, report: &Value) -> Vec<String> {
    let mut judge = Judge {
        root: schema,
        faults: Vec::new(),
    };
    judge.judge(schema, report, "report");
    judge.faults
}

#[test]
fn reports_are_what_their_schemas_say() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for name in ["templates", "releases", "examples"] {
        copy(&root().join(name), &folder.path().join(name));
    }
    for name in ["provider.yaml", "metadata.yaml"] {
        std::fs::copy(root().join(name), folder.path().join(name)).unwrap();
    }
    write(
        "broken.yaml",
        "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: x\nunknown: 1\n",
    );
    write(
        "a.yaml",
        "kind: KubeadmConfig\napiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nmetadata: {name: w}\nspec: {unknown: 1, verbosity: 1}\n",
    );
    write(
        "b.yaml",
        "kind: KubeadmConfig\napiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nmetadata: {name: w}\nspec: {verbosity: 2}\n",
    );
    write("t.yaml", "a: ${A:=1}\nb: ${\n");
    write(
        "broken/bootstrap-x/v0.1.0/metadata.yaml",
        "kind: Metadata\n",
    );
    std::fs::write(
        folder.path().join("manager"),
        crate::image::program(crate::image::AMD64),
    )
    .unwrap();
    let mut seen = Vec::new();
    let schemas: Vec<(&str, Value)> = schemas().collect();
    for (kind, schema) in &schemas {
        let Some((_, commands)) = REPORTS.iter().find(|(name, _)| name == kind) else {
            assert!(
                OTHERS.contains(kind),
                "no report is held against the schema `{kind}`"
            );
            continue;
        };
        for command in *commands {
            let output = windlass(folder.path())
                .args(command.split(' '))
                .output()
                .unwrap();
            let report: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|error| panic!("{command}: {error}"));
            assert_eq!(faults(schema, &report), Vec::<String>::new(), "{command}");
            seen.extend(report["findings"].as_array().unwrap().iter().cloned());
            // The check sees faults: each key that is required is missed, and a foreign one is
            // told.
            for key in schema["required"].as_array().unwrap() {
                let mut without = report.clone();
                without
                    .as_object_mut()
                    .unwrap()
                    .remove(key.as_str().unwrap());
                assert_eq!(faults(schema, &without).len(), 1, "{command} without {key}");
            }
            let mut more = report.clone();
            more["foreign"] = 1.into();
            assert_eq!(faults(schema, &more).len(), 1);
        }
    }
    let (_, finding) = schemas.iter().find(|(kind, _)| *kind == "finding").unwrap();
    assert!(seen.len() >= 5, "{} findings", seen.len());
    seen.iter()
        .for_each(|one| assert_eq!(faults(finding, one), Vec::<String>::new()));
    let help = |verb: &Verb| {
        String::from_utf8(
            windlass(folder.path())
                .args(verb.words)
                .arg("-h")
                .output()
                .unwrap()
                .stdout,
        )
        .unwrap()
    };
    let has_report = |verb: &&Verb| {
        verb.manner == Manner::Ours
            && help(verb)
                .lines()
                .any(|line| line.contains("--output FORMAT") && line.contains("json"))
    };
    assert_eq!(
        VERBS.iter().filter(has_report).count(),
        REPORTS.len(),
        "a verb with `-o json` has no schema"
    );
}
