// Program of releases from v1.14 on.
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
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/reconcilers/kubeadmconfig"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/admission"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
)

func main() {
	bootstrapdata.Main(bootstrapdata.Release{
		AddToScheme: func(scheme *runtime.Scheme) {
			utilruntime.Must(clusterv1.AddToScheme(scheme))
			utilruntime.Must(bootstrapv1beta1.AddToScheme(scheme))
			utilruntime.Must(bootstrapv1.AddToScheme(scheme))
		},
		SetupWebhooks: func(mgr ctrl.Manager) error { return (&admission.KubeadmConfig{}).SetupWebhookWithManager(mgr) },
		Reconciler: func(c client.Client, cache clustercache.ClusterCache) bootstrapdata.Reconciler {
			return &kubeadmconfig.Reconciler{
				Client: c, SecretCachingClient: c, APIReader: c, ClusterCache: cache, TokenTTL: kubeadmconfig.DefaultTokenTTL,
			}
		},
	})
}
