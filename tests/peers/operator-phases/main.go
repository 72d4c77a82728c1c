// The program operator-phases has the Cluster API operator's own code take one of its provider objects as far as its components: it reads the object's
// configuration, chooses a ConfigMap by the object's selector, and processes what it holds. Objects come from a file, and the components go to standard
// output. What stands in is storage: a fake client in place of an API server. Nothing is installed.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/repository"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	operatorv1 "sigs.k8s.io/cluster-api-operator/api/v1alpha2"
	"sigs.k8s.io/cluster-api-operator/controller"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: operator-phases FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string, out io.Writer) error {
	for _, add := range []func(*runtime.Scheme) error{operatorv1.AddToScheme, clusterctlv1.AddToScheme} {
		if err := add(scheme.Scheme); err != nil {
			return err
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	objects, err := read(content)
	if err != nil {
		return err
	}
	var provider operatorv1.GenericProvider
	for _, object := range objects {
		if found, is := object.(operatorv1.GenericProvider); is {
			if provider != nil {
				return errors.New("the file has more than one provider of the operator")
			}
			provider = found
		}
	}
	if provider == nil {
		return errors.New("the file has no provider of the operator")
	}
	reconciler := controller.GenericProviderReconciler{Client: fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).Build()}
	var components []unstructured.Unstructured
	seen := func(objects []unstructured.Unstructured) ([]unstructured.Unstructured, error) {
		components = objects
		return objects, nil
	}
	phases := controller.NewPhaseReconciler(reconciler, provider, nil, controller.WithCustomAlterComponentsFuncs([]repository.ComponentsAlterFn{seen}))
	for _, phase := range []controller.PhaseFn{phases.InitializePhaseReconciler, phases.Load, phases.Fetch} {
		if _, err := phase(context.Background()); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "version %s\n", provider.GetSpec().Version)
	for _, object := range components {
		text, err := json.Marshal(object.Object)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "---\n%s\n", text)
	}
	return nil
}

// The objects of a YAML text: ConfigMaps and providers of the operator.
func read(content []byte) ([]client.Object, error) {
	var objects []client.Object
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(document)) == 0 {
			continue
		}
		decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
		if err != nil {
			return nil, err
		}
		switch object := decoded.(type) {
		case *corev1.ConfigMap:
			objects = append(objects, object)
		case operatorv1.GenericProvider:
			objects = append(objects, object.(client.Object))
		}
	}
}
