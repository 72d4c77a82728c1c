module windlass.dev/operator-phases

go 1.26.0

require (
	k8s.io/api v0.34.9
	k8s.io/apimachinery v0.34.9
	k8s.io/client-go v0.34.9
	sigs.k8s.io/cluster-api v1.12.10
	sigs.k8s.io/cluster-api-operator v0.28.0
	sigs.k8s.io/controller-runtime v0.22.5
)
