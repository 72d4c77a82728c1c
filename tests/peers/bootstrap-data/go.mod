module windlass.dev/bootstrap-data

go 1.23.0

require (
	github.com/go-logr/logr v1.4.2
	github.com/evanphx/json-patch/v5 v5.9.0
	k8s.io/api v0.32.3
	k8s.io/apiextensions-apiserver v0.32.3
	k8s.io/apimachinery v0.32.3
	k8s.io/apiserver v0.32.3
	k8s.io/client-go v0.32.3
	sigs.k8s.io/cluster-api v1.10.10
	sigs.k8s.io/controller-runtime v0.20.4
	sigs.k8s.io/yaml v1.4.0
)
