// Program of releases v1.11 to v1.13.
package main

import (
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"windlass.dev/bootstrap-data"

	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/controllers"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
)

func main() {
	bootstrapdata.Main(bootstrapdata.Release{
		AddToScheme: func(scheme *runtime.Scheme) {
			utilruntime.Must(clusterv1.AddToScheme(scheme))
			utilruntime.Must(bootstrapv1beta1.AddToScheme(scheme))
			utilruntime.Must(bootstrapv1.AddToScheme(scheme))
		},
		SetupWebhooks: func(mgr ctrl.Manager) error { return (&webhooks.KubeadmConfig{}).SetupWebhookWithManager(mgr) },
		Reconciler: func(c client.Client, cache clustercache.ClusterCache) bootstrapdata.Reconciler {
			return &controllers.KubeadmConfigReconciler{Client: c, SecretCachingClient: c, ClusterCache: cache, TokenTTL: controllers.DefaultTokenTTL}
		},
	})
}
