// Program of release v1.10, which works on v1beta1.
package main

import (
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"windlass.dev/bootstrap-data"

	clusterv1 "sigs.k8s.io/cluster-api/api/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/bootstrap/kubeadm/api/v1beta1"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/controllers"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	expv1 "sigs.k8s.io/cluster-api/exp/api/v1beta1"
)

func main() {
	bootstrapdata.Main(bootstrapdata.Release{
		AddToScheme: func(scheme *runtime.Scheme) {
			utilruntime.Must(clusterv1.AddToScheme(scheme))
			utilruntime.Must(expv1.AddToScheme(scheme))
			utilruntime.Must(bootstrapv1.AddToScheme(scheme))
		},
		SetupWebhooks: func(mgr ctrl.Manager) error { return (&webhooks.KubeadmConfig{}).SetupWebhookWithManager(mgr) },
		Reconciler: func(c client.Client, cache clustercache.ClusterCache) bootstrapdata.Reconciler {
			return &controllers.KubeadmConfigReconciler{Client: c, SecretCachingClient: c, ClusterCache: cache, TokenTTL: controllers.DefaultTokenTTL}
		},
	})
}
