//! What kustomize should have replaced and did not: variables of kubebuilder's old scaffold,
//! `$(SERVICE_NAME)`, and words of the new one, `SERVICE_NAME`.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::Scope;
use windlass_capi::contract::book;
use windlass_objects::{Object, fields, pods};
use windlass_source::diag::{Diagnostic, FieldPath, Report, Segment, rules};

rules! {
    /// a placeholder of kustomize or kubebuilder was not replaced
    PLACEHOLDER_LEFT = error("components-placeholder-left"), catalogue("C09"), url(book::COMPONENTS_YAML);
}

/// The words that kubebuilder's scaffold has in place of names (kubebuilder v4,
/// `config/default/kustomization.yaml`).
const WORDS: &str =
    "CERTIFICATE_NAMESPACE|CERTIFICATE_NAME|SERVICE_NAMESPACE|SERVICE_NAME|ISSUER_NAME";

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    let expression = format!(r"\$?\$\([A-Z][A-Z0-9_]*\)|(?:^|[./])({WORDS})[./]|[./]({WORDS})$");
    Regex::new(&expression).expect("internal error: the expression is valid")
});

/// Kinds whose texts are somebody else's: files, scripts.
const TEXTS: [&str; 2] = ["ConfigMap", "Secret"];

/// Whether a text has a placeholder: what else is wrong with it follows from that.
pub(super) fn is_in(text: &str) -> bool {
    find(text).is_some()
}

fn find(text: &str) -> Option<&str> {
    // `$$(NAME)` is the escape of Kubernetes' own expansion.
    let found = PLACEHOLDER
        .captures_iter(text)
        .find(|found| !found[0].starts_with("$$"))?;
    Some(
        found
            .get(1)
            .or_else(|| found.get(2))
            .or_else(|| found.get(0))?
            .as_str(),
    )
}

/// Checks all texts of the objects, schemas and data apart.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    let mut report = Report::new();
    for object in scope.objects.iter().filter(|_| scope.is_whole()) {
        let mut walk = Walk {
            object,
            path: FieldPath::root(),
            report: &mut report,
        };
        walk.visit(object.value());
    }
    report
}

struct Walk<'o> {
    object: &'o Object,
    path: FieldPath,
    report: &'o mut Report,
}

impl Walk<'_> {
    /// The depth is that of the reader's limits.
    fn visit(&mut self, value: &Value) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries {
                    if self.is_foreign(key) {
                        continue;
                    }
                    self.path.push(if key.contains(['.', '/']) {
                        Segment::Key(key.clone())
                    } else {
                        Segment::Field(key.clone())
                    });
                    self.visit(value);
                    self.path.pop();
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.path.push(Segment::Index(at));
                    self.visit(item);
                    self.path.pop();
                }
            }
            Value::String(text) => {
                let found = find(text).filter(|found| !self.is_expanded(found));
                self.report.extend(found.map(|found| self.finding(found)));
            }
            _ => {}
        }
    }

    /// Whether a field holds texts in which such words mean something else: schemas of CRDs, files,
    /// and what kubectl keeps.
    fn is_foreign(&self, key: &str) -> bool {
        let is_schema = self.object.kind() == "CustomResourceDefinition"
            && matches!(key, "schema" | "validation");
        let is_file = TEXTS.contains(&self.object.kind())
            && matches!(key, "data" | "stringData" | "binaryData");
        is_schema || is_file || key == "kubectl.kubernetes.io/last-applied-configuration"
    }

    /// Whether a variable of the container's environment replaces it, which Kubernetes does in
    /// `args`, `command` and `env`. A shell has its own `$(COMMAND)`, and words without a sign
    /// are names of variables there.
    fn is_expanded(&self, found: &str) -> bool {
        let Some(name) = found
            .strip_prefix("$(")
            .and_then(|found| found.strip_suffix(')'))
        else {
            return pods::pod_path(self.object.kind()).is_some();
        };
        let Some(container) = self.container() else {
            return false;
        };
        let items = |field: &str| fields::items(container, &[field]).iter();
        // What `envFrom` brings is not known.
        let is_open = items("envFrom").next().is_some()
            || items("command")
                .chain(items("args"))
                .any(|word| word == "-c");
        is_open || items("env").any(|variable| variable["name"] == name)
    }

    /// The container in whose expanded fields the path is.
    fn container(&self) -> Option<&Value> {
        let pod = FieldPath::of_fields(pods::pod_path(self.object.kind())?);
        let [
            Segment::Field(list),
            at @ Segment::Index(_),
            Segment::Field(field),
            ..,
        ] = self.path.segments().strip_prefix(pod.segments())?
        else {
            return None;
        };
        let is_expanded = pods::CONTAINER_LISTS.contains(&list.as_str())
            && matches!(field.as_str(), "args" | "command" | "env");
        self.object
            .at(&pod.field(list.as_str()).with(at.clone()))
            .filter(|_| is_expanded)
    }

    fn finding(&self, found: &str) -> Diagnostic {
        let name = found.trim_start_matches("$(").trim_end_matches(')');
        let finding = Diagnostic::of(
            &PLACEHOLDER_LEFT,
            format!(
                "{} of {} still has `{found}`",
                self.path,
                self.object.title()
            ),
        );
        let finding = finding.at(self.object.place(&self.path));
        match self.container() {
            Some(_) => finding.help(format!("add `- name: {name}` to the `env` of the container, or let kustomize replace it")),
            None => finding
                .help(format!("build the file from the kustomization whose `replacements` put a value in place of `{name}`"))
                .note("nothing replaces it later, so that the object refers to nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::components::tests::{of, paths};

    #[test]
    fn placeholders_are_found_wherever_a_name_stands() {
        let certificate = |name: &str| {
            of(
                "cert-manager.io/v1",
                "Certificate",
                "c",
                json!({"spec": {"dnsNames": [name]}}),
            )
        };
        for name in [
            "$(SERVICE_NAME).$(SERVICE_NAMESPACE).svc",
            "SERVICE_NAME.SERVICE_NAMESPACE.svc",
            "x.$(NS).svc",
        ] {
            assert_eq!(
                paths(&[certificate(name)], check),
                ["spec.dnsNames[0]"],
                "{name}"
            );
        }
        for name in [
            "my-service.ns.svc",
            "SERVICE_NAME",
            "MY_SERVICE_NAME.x",
            "$SERVICE",
            "$(lower)",
            "a$$(ESCAPED)",
        ] {
            assert_eq!(paths(&[certificate(name)], check), [""; 0], "{name}");
        }
        let annotation = json!({"metadata": {"name": "w", "annotations": {"cert-manager.io/inject-ca-from": "CERTIFICATE_NAMESPACE/CERTIFICATE_NAME"}}});
        let crd = of(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "w",
            annotation,
        );
        assert_eq!(
            paths(&[crd], check),
            ["metadata.annotations[cert-manager.io/inject-ca-from]"]
        );
    }

    /// Kubernetes, "Define Dependent Environment Variables": `$(NAME)` in args, command and env is
    /// that of the container; unknown ones stay.
    #[test]
    fn references_to_the_environment_are_kubernetes_own() {
        let deployment = |container: Value| {
            of(
                "apps/v1",
                "Deployment",
                "d",
                json!({"spec": {"template": {"spec": {"containers": [container]}}}}),
            )
        };
        let args = |more: Value| {
            let mut container = json!({"name": "manager", "args": ["--node=$(NODE_NAME)"]});
            container
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            deployment(container)
        };
        let place = "spec.template.spec.containers[0].args[0]";
        assert_eq!(
            paths(
                &[args(json!({"env": [{"name": "NODE_NAME", "value": "x"}]}))],
                check
            ),
            [""; 0]
        );
        assert_eq!(
            paths(
                &[args(json!({"env": [{"name": "OTHER", "value": "x"}]}))],
                check
            ),
            [place]
        );
        assert_eq!(
            paths(
                &[args(json!({"envFrom": [{"configMapRef": {"name": "c"}}]}))],
                check
            ),
            [""; 0]
        );
        assert_eq!(
            paths(&[args(json!({"command": ["sh", "-c"]}))], check),
            [""; 0]
        );
        let image =
            deployment(json!({"name": "manager", "image": "$(IMAGE)", "env": [{"name": "IMAGE"}]}));
        assert_eq!(
            paths(&[image], check),
            ["spec.template.spec.containers[0].image"],
            "only some fields are expanded"
        );
    }

    #[test]
    fn schemas_and_files_are_left_alone() {
        let text = json!("variable references $(VAR_NAME) are expanded");
        let crd =
            json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": {"description": text}}}]}});
        assert_eq!(
            paths(
                &[of(
                    "apiextensions.k8s.io/v1",
                    "CustomResourceDefinition",
                    "c",
                    crd
                )],
                check
            ),
            [""; 0]
        );
        assert_eq!(
            paths(
                &[of(
                    "v1",
                    "ConfigMap",
                    "c",
                    json!({"data": {"run.sh": text}})
                )],
                check
            ),
            [""; 0]
        );
    }
}
