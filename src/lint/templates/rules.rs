//! The rules about names, classes and namespaces of templates, with their pages.

use crate::contract::book;
use crate::diag::rules;

rules! {
    /// a file resembles a template, but clusterctl does not look for its name
    pub(super) NAME_UNKNOWN = warning("template-name-unknown"), catalogue("A04"), url(book::TEMPLATES);
    /// the name of a template file contains a control character
    pub(super) NAME_CONTROL = error("template-name-control");
    /// the variables of a template cannot be substituted
    pub(super) SUBSTITUTION = error("template-substitution-broken"), catalogue("T01"), url(book::VARIABLES), page(r"
clusterctl replaces `${NAME}` with the grammar of drone/envsubst. Text that looks like a variable and is none of that grammar ends every
call with an error: a brace that is missing, an operator of the shell that the grammar does not have, `${A$B}`.

Write `${NAME}` or `${NAME:=default}`, and `$${` where the text should keep `${`.

## Bad

```yaml cluster-template-large.yaml
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooMachineTemplate
metadata:
  name: ${CLUSTER_NAME
```

## Good

```yaml cluster-template-large.yaml
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooMachineTemplate
metadata:
  name: ${CLUSTER_NAME}
```
");
    /// a template contains a Namespace, which clusterctl renames to the target namespace
    pub(super) NAMESPACE_PRESENT = error("template-namespace-present"), catalogue("T11"), url(book::TEMPLATES), page(r#"
clusterctl creates the objects of a template in the namespace that its user names, which exists already. It renames a Namespace in the template to
that one, too, so that two clusters of one namespace fight for it, and whoever deletes the first cluster by its file deletes the namespace.

Remove the Namespace from the template.

## Bad

```yaml cluster-template-small.yaml
apiVersion: v1
kind: Namespace
metadata:
  name: "${NAMESPACE}"
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooCluster
metadata:
  name: "${CLUSTER_NAME}"
  namespace: "${NAMESPACE}"
```

## Good

```yaml cluster-template-small.yaml
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooCluster
metadata:
  name: "${CLUSTER_NAME}"
  namespace: "${NAMESPACE}"
```
"#);
    /// objects in a template have a fixed namespace, which clusterctl replaces
    pub(super) NAMESPACE_FOREIGN = info("template-namespace-foreign"), catalogue("T12"), url(book::TEMPLATES), page(r#"
`clusterctl generate cluster` puts every object into the namespace that its user names, whatever the template says. `clusterctl generate yaml`, and whoever
replaces the variables in another way, keep what is written: the objects then lie in two namespaces.

Write `"${NAMESPACE}"`.

## Bad

```yaml cluster-template-small.yaml
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooCluster
metadata:
  name: "${CLUSTER_NAME}"
  namespace: default
```

## Good

```yaml cluster-template-small.yaml
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooCluster
metadata:
  name: "${CLUSTER_NAME}"
  namespace: "${NAMESPACE}"
```
"#);
    /// a template uses a ClusterClass whose file is not part of the release
    pub(super) CLASS_MISSING = warning("template-class-missing"), catalogue("A03"), url(book::CLUSTER_CLASSES), page(r#"
A template with a topology names a ClusterClass. When the management cluster has none of that name, clusterctl takes `clusterclass-NAME.yaml` from the
same release, and ends with an error when it is not there.

Release the class beside the template.

## Bad

```yaml cluster-template-topology.yaml
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: "${CLUSTER_NAME}"
  namespace: "${NAMESPACE}"
spec:
  topology:
    classRef: {name: foo-quick-start}
    version: "${KUBERNETES_VERSION}"
```

## Good

```yaml cluster-template-topology.yaml
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: "${CLUSTER_NAME}"
  namespace: "${NAMESPACE}"
spec:
  topology:
    classRef: {name: foo-quick-start}
    version: "${KUBERNETES_VERSION}"
```

```yaml clusterclass-foo-quick-start.yaml
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: foo-quick-start
spec:
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: foo}
    machineInfrastructure:
      templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: FooMachineTemplate, name: foo}
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: FooClusterTemplate, name: foo-quick-start}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooClusterTemplate
metadata:
  name: foo-quick-start
spec:
  template:
    spec: {}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata:
  name: foo
spec:
  template:
    spec:
      kubeadmConfigSpec: {format: cloud-config}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooMachineTemplate
metadata:
  name: foo
spec:
  template:
    spec: {}
```
"#);
    /// the name of a ClusterClass differs from that of its file
    pub(super) CLASS_NAME_WRONG = error("clusterclass-name-wrong"), catalogue("A04"), url(book::CLUSTER_CLASSES), page(r"
clusterctl finds the file of a class by the name that a topology gives, and the cluster finds the class by the name in it. When the two differ, the
class is installed, and the Cluster waits for another one for ever.

Call the file `clusterclass-NAME.yaml`, with the name of the class.

## Bad

```yaml clusterclass-foo.yaml
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: bar
spec:
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: foo}
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: FooClusterTemplate, name: foo}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooClusterTemplate
metadata:
  name: foo
spec:
  template:
    spec: {}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata:
  name: foo
spec:
  template:
    spec:
      kubeadmConfigSpec: {format: cloud-config}
```

## Good

```yaml clusterclass-foo.yaml
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: foo
spec:
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: foo}
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: FooClusterTemplate, name: foo}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooClusterTemplate
metadata:
  name: foo
spec:
  template:
    spec: {}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata:
  name: foo
spec:
  template:
    spec:
      kubeadmConfigSpec: {format: cloud-config}
```
");
    /// a ClusterClass file uses a clusterctl variable
    pub(super) CLASS_VARIABLE = warning("clusterclass-variable-present"), catalogue("T14"), url(book::CLUSTER_CLASSES), page(r"
A class serves many clusters. A variable of clusterctl in it takes the value of whoever generates the first cluster, and all others share it.

Declare a variable of the class under `spec.variables`, and patch the templates with it.

## Bad

```yaml clusterclass-foo.yaml
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: foo
spec:
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: foo}
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: FooClusterTemplate, name: foo}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooClusterTemplate
metadata:
  name: foo
spec:
  template:
    spec: {}
  # ${FOO_REGION}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata:
  name: foo
spec:
  template:
    spec:
      kubeadmConfigSpec: {format: cloud-config}
```

## Good

```yaml clusterclass-foo.yaml
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: foo
spec:
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: foo}
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: FooClusterTemplate, name: foo}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooClusterTemplate
metadata:
  name: foo
spec:
  template:
    spec: {}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata:
  name: foo
spec:
  template:
    spec:
      kubeadmConfigSpec: {format: cloud-config}
```
");
    /// an object in a ClusterClass file has a namespace
    pub(super) CLASS_NAMESPACE = warning("clusterclass-namespace-present"), catalogue("T15"), url(book::CLUSTER_CLASSES), page(r"
clusterctl installs a class into the namespace of the cluster that asks for it, and replaces any other. A namespace in the file is never the one that
counts.

Remove it from the class and from its templates.

## Bad

```yaml clusterclass-foo.yaml
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: foo
  namespace: default
spec:
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: foo}
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: FooClusterTemplate, name: foo}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooClusterTemplate
metadata:
  name: foo
spec:
  template:
    spec: {}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata:
  name: foo
spec:
  template:
    spec:
      kubeadmConfigSpec: {format: cloud-config}
```

## Good

```yaml clusterclass-foo.yaml
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: foo
spec:
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: foo}
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: FooClusterTemplate, name: foo}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: FooClusterTemplate
metadata:
  name: foo
spec:
  template:
    spec: {}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata:
  name: foo
spec:
  template:
    spec:
      kubeadmConfigSpec: {format: cloud-config}
```
");
}
