// Program of releases from v1.14 on.
package main

import (
	"context"

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
	bootstrapadmission "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/admission"
	controlplaneadmission "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/admission"
	controlplaneconversion "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/conversion"
	"sigs.k8s.io/cluster-api/core/webhooks/admission"
	"sigs.k8s.io/cluster-api/core/webhooks/conversion"
)

type webhook interface {
	SetupWebhookWithManager(ctrl.Manager) error
}

func main() {
	// References of v1beta2 have no version; that of the infrastructure's CRD is looked up.
	getter := func(_ context.Context, kind schema.GroupKind) (string, error) { return kind.Group + "/v1beta2", nil }
	conversion.SetAPIVersionGetter(getter)
	controlplaneconversion.SetAPIVersionGetter(getter)
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
				&admission.Cluster{Client: storage}, &admission.ClusterClass{Client: storage}, &admission.Machine{}, &admission.MachineSet{},
				&admission.MachineDeployment{}, &admission.MachinePool{}, &admission.MachineHealthCheck{},
				&bootstrapadmission.KubeadmConfig{}, &bootstrapadmission.KubeadmConfigTemplate{},
				&controlplaneadmission.KubeadmControlPlane{}, &controlplaneadmission.KubeadmControlPlaneTemplate{},
			} {
				if err := one.SetupWebhookWithManager(mgr); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
