//! CRDs whose objects are in users' clusters already.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::diag::{Diagnostic, FieldPath, Report, rules};
use crate::lint::definitions::{CRD_GROUP, CRD_KIND};
use crate::objects::Object;

rules! {
    /// a CRD no longer contains the version in which the release before stored its objects
    STORED_REMOVED = error("upgrade-stored-version-removed"), page(r"
The API server refuses a CRD without a version that `status.storedVersions` names, because objects may be stored in it. `clusterctl upgrade apply`
has deleted the manager and everything else of the provider by then: it tries ten times, ends with an error, and leaves the management cluster without the
provider.

Keep the version in `spec.versions` (`served: false` will do) for as long as users upgrade from a release that stored it.

## Bad

```yaml previous/infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
  labels:
    cluster.x-k8s.io/provider: infrastructure-foo
  annotations:
    clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check: ''
spec:
  group: policy.example.com
  names: {kind: FooPolicy, listKind: FooPolicyList, plural: foopolicies, singular: foopolicy}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, storage: true, deprecated: true, schema: {openAPIV3Schema: {type: object}}}
```

```yaml infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
spec:
  versions:
  - {name: v1alpha2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
```

## Good

```yaml infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
spec:
  versions:
  - {name: v1alpha2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1alpha1, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
```
");
    /// a CRD no longer serves a version that the release before served without calling it deprecated
    SERVED_REMOVED = warning("upgrade-served-version-removed"), page(r"
Manifests in Git, cluster templates of users, and other controllers name a version. When it is not served any more, they are refused from one
release to the next.

Set `deprecated: true` on the version for at least one release, and say in the release notes when it ends. The API server then warns everybody
who still uses it.

## Bad

```yaml previous/infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
  labels:
    cluster.x-k8s.io/provider: infrastructure-foo
  annotations:
    clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check: ''
spec:
  group: policy.example.com
  names: {kind: FooPolicy, listKind: FooPolicyList, plural: foopolicies, singular: foopolicy}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1alpha2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
```

```yaml infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
spec:
  versions:
  - {name: v1alpha2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
```

## Good

```yaml previous/infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
  labels:
    cluster.x-k8s.io/provider: infrastructure-foo
  annotations:
    clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check: ''
spec:
  group: policy.example.com
  names: {kind: FooPolicy, listKind: FooPolicyList, plural: foopolicies, singular: foopolicy}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, storage: false, deprecated: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1alpha2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
```

```yaml infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
spec:
  versions:
  - {name: v1alpha2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
```
");
    /// a field of a CRD changes that the API server never lets change
    IMMUTABLE = error("upgrade-crd-immutable"), page(r"
The scope and the kind of a CRD decide where and as what its objects are stored. The API server refuses to change them, so every cluster that has
the release before refuses the new one. `clusterctl upgrade` does not delete CRDs, and so ends with the same error.

Give the new kind a name of its own, or take the change back.

## Bad

```yaml previous/infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
  labels:
    cluster.x-k8s.io/provider: infrastructure-foo
  annotations:
    clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check: ''
spec:
  group: policy.example.com
  names: {kind: FooPolicy, listKind: FooPolicyList, plural: foopolicies, singular: foopolicy}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
```

```yaml infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
spec:
  scope: Cluster
```

## Good

```yaml infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
spec:
  scope: Namespaced
```
");
    /// a CRD of the release before is not in the release
    REMOVED = warning("upgrade-crd-removed"), page(r"
`clusterctl upgrade` does not delete CRDs: the CRD and its objects stay, and no controller looks after them. If it has a conversion webhook, nothing
answers it any more, and every request for the objects fails; even the deletion of their namespace then hangs.

Keep the CRD in the release, or tell users how to delete the objects and the CRD before they upgrade.

## Bad

```yaml previous/infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
  labels:
    cluster.x-k8s.io/provider: infrastructure-foo
  annotations:
    clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check: ''
spec:
  group: policy.example.com
  names: {kind: FooPolicy, listKind: FooPolicyList, plural: foopolicies, singular: foopolicy}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
```

```yaml infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
$patch: delete
```

## Good

```yaml infrastructure-components.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foopolicies.policy.example.com
spec:
  versions:
  - {name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
```
");
}

fn is_crd(object: &Object) -> bool {
    object.is(CRD_GROUP, CRD_KIND)
}

/// Judges a CRD that both releases have.
pub(super) fn check(old: &Object, new: &Object) -> Report {
    if !is_crd(old) {
        return Report::new();
    }
    let versions = by_name(new);
    let mut report: Report = stored(old, new, &versions).into_iter().collect();
    report.extend(served(old, new, &versions));
    report.extend(immutable(old, new));
    report
}

/// Judges an object that only the old release has.
pub(super) fn removed(old: &Object) -> Option<Diagnostic> {
    is_crd(old).then(|| {
        Diagnostic::of(
            &REMOVED,
            format!("{} is not in the new release", old.title()),
        )
        .at(old.place(&FieldPath::of_fields("metadata.name")))
        .help("keep the CRD, or tell users how to delete its objects before they upgrade")
        .note("`clusterctl upgrade` deletes no CRD: it stays without a controller")
    })
}

fn versions(crd: &Object) -> &[Value] {
    crd.items(&["spec", "versions"])
}

fn by_name(crd: &Object) -> BTreeMap<&str, &Value> {
    versions(crd)
        .iter()
        .filter_map(|version| Some((version["name"].as_str()?, version)))
        .collect()
}

/// The version in which objects are stored may not go; those that the CRD stored in before are not
/// in its file.
fn stored(old: &Object, new: &Object, of_new: &BTreeMap<&str, &Value>) -> Option<Diagnostic> {
    let stored = versions(old)
        .iter()
        .position(|version| version["storage"] == true)?;
    let name = versions(old)[stored]["name"].as_str()?;
    if of_new.contains_key(name) {
        return None;
    }
    let upstream = format!(
        "status.storedVersions[0]: Invalid value: \"{name}\": missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
    );
    Some(
        Diagnostic::of(
            &STORED_REMOVED,
            format!(
                "{} has no version {name} any more, in which the release before stores",
                new.title()
            ),
        )
        .at(new.place(&FieldPath::of_fields("spec.versions")))
        .related(
            old.place(&FieldPath::of_fields("spec.versions").index(stored)),
            "stored in this version",
        )
        .help(format!(
            "keep {name} in spec.versions, with `served: false` if nobody should use it"
        ))
        .note(format!("the API server says: {upstream}"))
        .upstream(upstream),
    )
}

fn served(old: &Object, new: &Object, of_new: &BTreeMap<&str, &Value>) -> Vec<Diagnostic> {
    let is_announced = |version: &Value| version["deprecated"] == true;
    let was_served = versions(old)
        .iter()
        .enumerate()
        .filter(|(_, version)| version["served"] == true && !is_announced(version));
    let finding = |(at, old_version): (usize, &Value)| {
        let name = old_version["name"].as_str()?;
        // A version that is gone although it is stored has a finding of its own.
        let is_gone = match of_new.get(name) {
            Some(version) => version["served"] != true,
            None => old_version["storage"] != true,
        };
        is_gone.then(|| {
            Diagnostic::of(
                &SERVED_REMOVED,
                format!("{} does not serve {name} any more", new.title()),
            )
            .at(new.place(&FieldPath::of_fields("spec.versions")))
            .related(
                old.place(&FieldPath::of_fields("spec.versions").index(at)),
                "served here, and not deprecated",
            )
            .help(format!(
                "serve {name} with `deprecated: true` for a release before it ends"
            ))
        })
    };
    was_served.filter_map(finding).collect()
}

fn immutable(old: &Object, new: &Object) -> Vec<Diagnostic> {
    let changed = |path: &&str| {
        let path = FieldPath::of_fields(path);
        old.at(&path) != new.at(&path)
    };
    let finding = |path: &str| {
        let path = FieldPath::of_fields(path);
        let value = |crd: &Object| {
            crd.at(&path)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let upstream = format!(
            "{path}: Invalid value: \"{}\": field is immutable",
            value(new)
        );
        Diagnostic::of(
            &IMMUTABLE,
            format!(
                "{path} of {} changes from {} to {}",
                new.title(),
                value(old),
                value(new)
            ),
        )
        .at(new.place(&path))
        .related(old.place(&path), "")
        .help(format!(
            "write `{}`, or give the new kind another name",
            value(old)
        ))
        .note(format!("the API server says: {upstream}"))
        .upstream(upstream)
    };
    ["spec.scope", "spec.names.kind"]
        .into_iter()
        .filter(changed)
        .map(finding)
        .collect()
}
