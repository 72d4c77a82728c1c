//! What every object of a release gets: the provider label, the namespace, a name with the right
//! prefix; and the references that follow such names (book: clusterctl, "Labels", "Target
//! namespace").

use std::collections::BTreeMap;

use super::names::Names;
use windlass_objects::Object;
use windlass_objects::references::references;
use windlass_objects::scope::is_namespaced;
use windlass_source::diag::{Diagnostic, Report};

/// Names before and after stamping, by kind.
#[derive(Debug, Default)]
pub(crate) struct Renames(BTreeMap<(String, String), String>);

impl Renames {
    /// Adds the name of an object that no file has.
    pub(crate) fn add(&mut self, kind: &str, old: String, new: String) {
        self.0.insert((kind.to_owned(), old), new);
    }

    fn get(&self, kind: &str, name: &str) -> Option<&str> {
        self.0
            .get(&(kind.to_owned(), name.to_owned()))
            .map(String::as_str)
    }
}

/// Sets the namespace and the prefixed name of objects that were read from files. Returns the
/// renames, for updating references. CRDs keep their names, which the contract requires.
pub(crate) fn place_and_name(names: &Names, objects: &mut [Object]) -> (Renames, Report) {
    let mut renames = Renames::default();
    let mut report = Report::new();
    for object in objects {
        let kind = object.kind().to_owned();
        if kind == "CustomResourceDefinition" || kind == "Namespace" {
            continue;
        }
        let placed = if is_namespaced(&kind) {
            object.set_namespace(&names.namespace)
        } else {
            Ok(())
        };
        let old = object.name().to_owned();
        let new = names.stamped(&kind, &old);
        let named = placed.and_then(|()| object.set_name(&new));
        report.extend(object.rejected(named));
        renames.0.insert((kind, old), new);
    }
    (renames, report)
}

/// Lets references between objects follow the new names, and those that name a namespace too, such
/// as subjects of bindings, the namespace.
pub(crate) fn follow(names: &Names, renames: &Renames, object: &mut Object) -> Option<Diagnostic> {
    let mut edits = Vec::new();
    for reference in references(object.value()).0 {
        let new = renames.get(reference.kind, reference.name);
        if reference.with_namespace && (new.is_some() || reference.kind == "ServiceAccount") {
            edits.push((reference.namespace_path(), names.namespace.clone()));
        }
        let text = new.map(|new| reference.text(&names.namespace, new));
        edits.extend(text.map(|text| (reference.path, text)));
    }
    let done = edits
        .into_iter()
        .try_for_each(|(path, text)| object.set(&path, text.into()));
    object.rejected(done)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn object(api_version: &str, kind: &str, name: &str, rest: Value) -> Object {
        let mut value =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
        for (key, part) in rest.as_object().into_iter().flatten() {
            value[key] = part.clone();
        }
        Object::made(value)
    }

    /// What the objects are once they have their names.
    fn stamped(mut objects: Vec<Object>) -> Vec<Object> {
        let names = Names::of_foo();
        let (renames, report) = place_and_name(&names, &mut objects);
        assert!(report.is_empty());
        objects
            .iter_mut()
            .for_each(|object| assert_eq!(follow(&names, &renames, object), None));
        objects
    }

    #[test]
    fn bindings_follow_the_names_of_roles_and_accounts() {
        let rbac = "rbac.authorization.k8s.io/v1";
        let objects = stamped(vec![
            object(rbac, "ClusterRole", "manager-role", json!({})),
            object("v1", "ServiceAccount", "manager", json!({})),
            object(
                rbac,
                "ClusterRoleBinding",
                "manager-rolebinding",
                json!({
                    "roleRef": {"kind": "ClusterRole", "name": "manager-role"},
                    "subjects": [{"kind": "ServiceAccount", "name": "manager", "namespace": "system"}],
                }),
            ),
        ]);
        let binding = objects[2].value();
        assert_eq!(
            binding["metadata"],
            json!({"name": "foo-system-manager-rolebinding"})
        );
        assert_eq!(binding["roleRef"]["name"], "foo-system-manager-role");
        assert_eq!(
            binding["subjects"][0],
            json!({"kind": "ServiceAccount", "name": "foo-manager", "namespace": "foo-system"})
        );
    }

    #[test]
    fn pods_follow_the_names_of_config_maps_and_secrets_of_the_release_only() {
        let pod = json!({"spec": {"template": {"spec": {
            "volumes": [{"name": "a", "configMap": {"name": "settings"}}, {"name": "b", "secret": {"secretName": "from-the-user"}}],
            "containers": [{"name": "c", "envFrom": [{"configMapRef": {"name": "settings"}}]}],
        }}}});
        let objects = stamped(vec![
            object("v1", "ConfigMap", "settings", json!({})),
            object("apps/v1", "Deployment", "d", pod),
        ]);
        let pod = &objects[1].value()["spec"]["template"]["spec"];
        assert_eq!(pod["volumes"][0]["configMap"]["name"], "foo-settings");
        assert_eq!(pod["volumes"][1]["secret"]["secretName"], "from-the-user");
        assert_eq!(
            pod["containers"][0]["envFrom"][0]["configMapRef"]["name"],
            "foo-settings"
        );
        assert_eq!(objects[1].namespace(), "foo-system");
    }
}
