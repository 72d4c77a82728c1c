// The program topology-engine makes of each Cluster of a file what Cluster API's topology controller would create for it: the
// controller's own generator of the desired state runs, patches and all. What stands in is storage: a fake client in place of an API
// server, and what is looked up in it is in the file.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/exp/topology/desiredstate"
	"sigs.k8s.io/cluster-api/exp/topology/scope"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: topology-engine FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	input, err := read(content)
	if err != nil {
		return err
	}
	generator, err := newGenerator()
	if err != nil {
		return err
	}
	var alone time.Duration
	for _, cluster := range input.clusters {
		begun := time.Now()
		made, err := generate(generator, input, cluster)
		if err != nil {
			return fmt.Errorf("%s: %w", cluster.Name, err)
		}
		alone += time.Since(begun)
		if err := write(made); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "%d clusters, without reading and writing %s each\n", len(input.clusters), alone/time.Duration(max(1, len(input.clusters))))
	return nil
}

// documents are the objects of a file.
type documents struct {
	clusters []*clusterv1.Cluster
	classes  map[string]*clusterv1.ClusterClass
	// templates by kind and name.
	templates map[string]*unstructured.Unstructured
}

func read(content []byte) (*documents, error) {
	found := &documents{classes: map[string]*clusterv1.ClusterClass{}, templates: map[string]*unstructured.Unstructured{}}
	for _, document := range bytes.Split(content, []byte("\n---\n")) {
		text, err := yaml.YAMLToJSON(document)
		if err != nil {
			return nil, err
		}
		var kind metav1.PartialObjectMetadata
		if err := json.Unmarshal(text, &kind); err != nil {
			return nil, err
		}
		switch kind.Kind {
		case "Cluster":
			cluster := &clusterv1.Cluster{}
			err = json.Unmarshal(text, cluster)
			cluster.Namespace = metav1.NamespaceDefault
			found.clusters = append(found.clusters, cluster)
		case "ClusterClass":
			class := &clusterv1.ClusterClass{}
			err = json.Unmarshal(text, class)
			class.Namespace = metav1.NamespaceDefault
			discover(class)
			found.classes[class.Name] = class
		default:
			template := &unstructured.Unstructured{}
			err = json.Unmarshal(text, template)
			template.SetNamespace(metav1.NamespaceDefault)
			found.templates[kind.Kind+" "+kind.Name] = template
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// discover writes the variables of a class into its status, as the controller of ClusterClasses does.
func discover(class *clusterv1.ClusterClass) {
	for _, variable := range class.Spec.Variables {
		class.Status.Variables = append(class.Status.Variables, clusterv1.ClusterClassStatusVariable{
			Name: variable.Name,
			Definitions: []clusterv1.ClusterClassStatusVariableDefinition{{
				From: clusterv1.VariableDefinitionFromInline, Required: variable.Required, Schema: variable.Schema,
			}},
		})
	}
}

func newGenerator() (desiredstate.Generator, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, corev1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	// The contract of the control plane's version is looked up in its CustomResourceDefinition.
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name:   "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io",
		Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta2"},
	}}
	client := fake.NewClientBuilder().WithScheme(scheme).WithObjects(definition).Build()
	return desiredstate.NewGenerator(client, clustercache.NewFakeEmptyClusterCache(), nil, nil, nil)
}

func generate(generator desiredstate.Generator, input *documents, cluster *clusterv1.Cluster) (*scope.ClusterState, error) {
	class, found := input.classes[cluster.Spec.Topology.ClassRef.Name]
	if !found {
		return nil, fmt.Errorf("no ClusterClass %s", cluster.Spec.Topology.ClassRef.Name)
	}
	state := scope.New(cluster)
	var err error
	if state.Blueprint, err = blueprint(input, cluster, class); err != nil {
		return nil, err
	}
	state.Current.ControlPlane = &scope.ControlPlaneState{}
	return generator.Generate(context.Background(), state)
}

// blueprint is what the controller reads before it generates.
func blueprint(input *documents, cluster *clusterv1.Cluster, class *clusterv1.ClusterClass) (*scope.ClusterBlueprint, error) {
	var missing error
	template := func(reference clusterv1.ClusterClassTemplateReference) *unstructured.Unstructured {
		found, is := input.templates[reference.Kind+" "+reference.Name]
		if !is {
			missing = fmt.Errorf("no %s %s", reference.Kind, reference.Name)
			return nil
		}
		return found
	}
	made := &scope.ClusterBlueprint{
		Topology:                      cluster.Spec.Topology,
		ClusterClass:                  class,
		InfrastructureClusterTemplate: template(class.Spec.Infrastructure.TemplateRef),
		ControlPlane:                  &scope.ControlPlaneBlueprint{Template: template(class.Spec.ControlPlane.TemplateRef)},
		MachineDeployments:            map[string]*scope.MachineDeploymentBlueprint{},
		MachinePools:                  map[string]*scope.MachinePoolBlueprint{},
	}
	if made.HasControlPlaneInfrastructureMachine() {
		made.ControlPlane.InfrastructureMachineTemplate = template(class.Spec.ControlPlane.MachineInfrastructure.TemplateRef)
	}
	for _, worker := range class.Spec.Workers.MachineDeployments {
		made.MachineDeployments[worker.Class] = &scope.MachineDeploymentBlueprint{
			Metadata:                      worker.Metadata,
			BootstrapTemplate:             template(worker.Bootstrap.TemplateRef),
			InfrastructureMachineTemplate: template(worker.Infrastructure.TemplateRef),
			HealthCheck:                   worker.HealthCheck,
		}
	}
	return made, missing
}

func write(made *scope.ClusterState) error {
	objects := []any{made.InfrastructureCluster, made.ControlPlane.InfrastructureMachineTemplate, made.ControlPlane.Object}
	for _, deployment := range made.MachineDeployments {
		objects = append(objects, deployment.BootstrapTemplate, deployment.InfrastructureMachineTemplate, deployment.Object)
	}
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		if _, err := fmt.Printf("---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}
