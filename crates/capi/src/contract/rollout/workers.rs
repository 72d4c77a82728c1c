//! What is compared of a MachineDeployment (`mdutil.MachineTemplateUpToDate`), and the rollout that
//! users request with a time (`spec.rollout.after`).

use serde_json::Value;

use super::fields::at;

/// Whether two references differ in these fields. `group` is that of `apiGroup` or `apiVersion`: the
/// version of an API does not count.
pub fn names_another(fields: &[&str], old: Option<&Value>, new: Option<&Value>) -> bool {
    fields
        .iter()
        .any(|field| read(old, field) != read(new, field))
}

fn read<'v>(reference: Option<&'v Value>, field: &str) -> &'v str {
    let text = |name: &str| {
        reference
            .and_then(|reference| reference.get(name)?.as_str())
            .unwrap_or_default()
    };
    match field {
        "group" if reference.is_some_and(|reference| reference.get("apiGroup").is_some()) => {
            text("apiGroup")
        }
        "group" => text("apiVersion")
            .rsplit_once('/')
            .map_or("", |(group, _)| group),
        name => text(name),
    }
}

/// The time of a requested rollout in the spec of a KubeadmControlPlane or MachineDeployment of
/// either API version: machines created before it are replaced.
pub fn rollout_after(spec: &Value) -> Option<&str> {
    at(spec, &["rollout", "after"])
        .as_str()
        .or_else(|| at(spec, &["rolloutAfter"]).as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn compares_the_fields_of_the_release() {
        let v1beta1 = json!({"apiVersion": "a.io/v1", "kind": "K", "name": "n"});
        let other_version = json!({"apiVersion": "a.io/v2", "kind": "K", "name": "n"});
        let v1beta2 = json!({"apiGroup": "a.io", "kind": "K", "name": "n"});
        let revised =
            json!({"apiVersion": "a.io/v1", "kind": "K", "name": "n", "resourceVersion": "7"});
        let newer = ["group", "kind", "name"];
        let older = ["group", "kind", "name", "resourceVersion"];
        let differs =
            |fields: &[&str], new: &Value| names_another(fields, Some(&v1beta1), Some(new));
        assert!(!differs(&newer, &other_version));
        assert!(!differs(&newer, &v1beta2));
        assert!(!differs(&newer, &revised));
        assert!(differs(&older, &revised));
        assert!(differs(
            &newer,
            &json!({"apiGroup": "b.io", "kind": "K", "name": "n"})
        ));
        assert!(names_another(&newer, Some(&v1beta1), None));
    }

    #[test]
    fn reads_the_time_of_either_api_version() {
        let time = "2026-01-01T00:00:00Z";
        assert_eq!(
            rollout_after(&json!({"rollout": {"after": time}})),
            Some(time)
        );
        assert_eq!(rollout_after(&json!({"rolloutAfter": time})), Some(time));
        assert_eq!(rollout_after(&json!({"rollout": {}})), None);
    }
}
