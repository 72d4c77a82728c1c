// Program of releases v1.11 to v1.13.
package main

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"windlass.dev/object-admission"

	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1beta1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta1"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	bootstrapwebhooks "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks"
	controlplanewebhooks "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks"
	"sigs.k8s.io/cluster-api/webhooks"
)

type webhook interface {
	SetupWebhookWithManager(ctrl.Manager) error
}

func main() {
	// References of v1beta2 have no version; that of the infrastructure's CRD is looked up.
	getter := func(kind schema.GroupKind) (string, error) { return kind.Group + "/v1beta2", nil }
	clusterv1beta1.SetAPIVersionGetter(getter)
	controlplanev1beta1.SetAPIVersionGetter(getter)
	objectadmission.Main(objectadmission.Release{
		AddToScheme: func(scheme *runtime.Scheme) {
			for _, add := range []func(*runtime.Scheme) error{
				clusterv1beta1.AddToScheme, clusterv1.AddToScheme, bootstrapv1beta1.AddToScheme, bootstrapv1.AddToScheme,
				controlplanev1beta1.AddToScheme, controlplanev1.AddToScheme,
			} {
				utilruntime.Must(add(scheme))
			}
		},
		SetupWebhooks: func(mgr ctrl.Manager, storage client.Client) error {
			for _, one := range []webhook{
				&webhooks.Cluster{Client: storage}, &webhooks.ClusterClass{Client: storage}, &webhooks.Machine{}, &webhooks.MachineSet{},
				&webhooks.MachineDeployment{}, &webhooks.MachinePool{}, &webhooks.MachineHealthCheck{},
				&bootstrapwebhooks.KubeadmConfig{}, &bootstrapwebhooks.KubeadmConfigTemplate{},
				&controlplanewebhooks.KubeadmControlPlane{}, &controlplanewebhooks.KubeadmControlPlaneTemplate{},
			} {
				if err := one.SetupWebhookWithManager(mgr); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
