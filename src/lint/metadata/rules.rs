//! The rules about metadata.yaml, with their pages.

use crate::contract::book;
use crate::diag::rules;

rules! {
    /// metadata.yaml has an unknown field
    pub(super) FIELD_UNKNOWN = warning("metadata-field-unknown"), catalogue("M05"), url(book::METADATA_YAML), page(r"
clusterctl passes over a field that it does not know, and so does not do what it says. Most often a name is misspelt, and the field that was meant is
missing.

Correct the name, or remove the field.

## Bad

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2, contracts: [v1beta2]}
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```
");
    /// metadata.yaml lacks a required field
    pub(super) FIELD_MISSING = error("metadata-field-missing"), catalogue("M05"), url(book::METADATA_YAML), page(r"
An entry of `releaseSeries` says which releases it is for and which contract they keep. Without one of the fields clusterctl takes zero, or no
contract, and refuses the release.

Write all three: `major`, `minor`, `contract`.

## Bad

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2}
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```
");
    /// a value in metadata.yaml has the wrong type or is out of range
    pub(super) VALUE_REFUSED = error("metadata-value-refused"), catalogue("M05"), url(book::METADATA_YAML), page(r#"
`major` and `minor` are whole numbers, and `contract` is a text. clusterctl refuses a file that has something else there.

Write the numbers without quotes.

## Bad

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: "2", contract: v1beta2}
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```
"#);
    /// metadata.yaml has an `apiVersion` that clusterctl does not read
    pub(super) API_VERSION_WRONG = error("metadata-api-version-wrong"), catalogue("M01"), url(book::METADATA_YAML), page(r"
The version of the file is `clusterctl.cluster.x-k8s.io/v1alpha3` and has never changed. It has nothing to do with the contract of the provider,
which stands in each series. clusterctl refuses any other.

## Bad

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1beta1
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```
");
    /// metadata.yaml has a `kind` other than `Metadata`
    pub(super) KIND_WRONG = error("metadata-kind-wrong"), catalogue("M02"), url(book::METADATA_YAML), page(r"
clusterctl knows one kind of metadata, `Metadata`, and refuses any other.

## Bad

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: ProviderMetadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```
");
    /// metadata.yaml has no `kind`, which clusterctl tolerates
    pub(super) KIND_MISSING = info("metadata-kind-missing"), catalogue("M02"), url(book::METADATA_YAML), page(r"
The contract demands `kind: Metadata`. clusterctl takes a file without it on purpose, because several providers publish such files; other readers of
release metadata may not.

## Bad

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```
");
    /// metadata.yaml contains no document
    pub(super) EMPTY = error("metadata-document-missing"), catalogue("M03"), url(book::METADATA_YAML), page(r"
A release without metadata cannot be installed: clusterctl does not know which contract it keeps. An empty file is the same as none.

## Bad

```yaml metadata.yaml
# to be written
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```
");
    /// metadata.yaml lists no release series
    pub(super) SERIES_EMPTY = error("metadata-series-empty"), catalogue("M03"), url(book::METADATA_YAML), page(r"
clusterctl looks up the version that it installs in `releaseSeries`. With an empty list it refuses every version.

List each series of releases with its contract. `windlass release bump VERSION` adds one.

## Bad

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries: []
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```
");
    /// metadata.yaml does not list the series of the release
    pub(crate) SERIES_MISSING = error("metadata-series-missing"), catalogue("M04"), url(book::METADATA_YAML), page(r"
The most common fault of published releases: the version is new, and nobody added its series. `clusterctl init` and `clusterctl upgrade` then end with
`the version of the provider does not match any release series`, for every user, until another release is published.

Add the series before the first release of it, pre-releases included. `windlass release bump VERSION` writes the lines, and `windlass release check
VERSION DIR` fails a pipeline without them.

## Bad

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 1, contract: v1beta2}
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 1, contract: v1beta2}
- {major: 0, minor: 2, contract: v1beta2}
```
");
    /// metadata.yaml lists a series twice, and clusterctl reads the first
    pub(super) SERIES_DUPLICATED = warning("metadata-series-duplicated"), catalogue("M05"), url(book::METADATA_YAML), page(r"
clusterctl takes the first entry of a series and does not look at the second, whatever contract it names.

Remove one of the two.

## Bad

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
- {major: 0, minor: 2, contract: v1beta1}
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```
");
    /// the release series of metadata.yaml are not in order, or one is a placeholder
    pub(super) SERIES_UNORDERED = info("metadata-series-unordered"), catalogue("M06"), url(book::METADATA_YAML), page(r"
clusterctl reads the series in any order. People look for the newest one at the end or at the start; an entry in the middle is easily written twice. A
series 0.0, which project templates begin with, is no release that anybody can install.

Keep the series in order, oldest or newest first, and remove placeholders.

## Bad

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
- {major: 0, minor: 1, contract: v1beta2}
- {major: 0, minor: 3, contract: v1beta2}
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 3, contract: v1beta2}
- {major: 0, minor: 2, contract: v1beta2}
- {major: 0, minor: 1, contract: v1beta2}
```
");
    /// a release series names an unknown contract
    pub(super) CONTRACT_UNKNOWN = error("metadata-contract-unknown"), catalogue("M07"), url(book::METADATA_YAML), page(r"
`contract` is the version of the Cluster API contract that the releases of the series keep, such as `v1beta2`. clusterctl installs a provider only beside a core
provider of a contract that it knows.

The contract is not the version of the provider's own API.

## Bad

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v2}
```

## Good

```yaml metadata.yaml
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 2, contract: v1beta2}
```
");
    /// clusterctl refuses metadata.yaml
    pub(super) METADATA_REFUSED = error("metadata-refused"), url(book::METADATA_YAML);
}
