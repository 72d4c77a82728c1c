// Package objectadmission reports for each object whether a release of Cluster API accepts it when it is created: the API server's own
// validation runs, and the release's own defaulting, conversion and validating webhooks behind their handlers. Only storage is
// simulated: a fake client in place of an API server.
//
// The programs are the packages in release; tests/peers/build builds each from the modules of one release.
package objectadmission

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/feature"
)

// Release is what has another path or name from release to release.
type Release struct {
	// AddToScheme adds the types of all kinds in all served versions.
	AddToScheme func(*runtime.Scheme)
	// SetupWebhooks registers the webhooks of all kinds; the client reads ClusterClasses.
	SetupWebhooks func(ctrl.Manager, client.Client) error
}

// Case is an object that is created.
type Case struct {
	Name   string          `json:"name"`
	Object json.RawMessage `json:"object"`
}

// Result is the answer of the release.
type Result struct {
	Name string `json:"name"`
	// RejectedBy is decoding, conversion, schema, rules, mutation or webhook; empty if the object is accepted.
	RejectedBy string `json:"rejectedBy,omitempty"`
	// Message is what a user would read.
	Message string `json:"message,omitempty"`
	// Causes are the parts of the message, one for each field.
	Causes []Cause `json:"causes,omitempty"`
}

// Cause is one reason of a rejection.
type Cause struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

// gates are the feature gates of the comparison: every kind and field may be used.
var gates = map[string]bool{
	"ClusterTopology": true, "KubeadmBootstrapFormatIgnition": true, "MachinePool": true, "MachineTaintPropagation": true, "RuntimeSDK": true,
}

// Main runs the program of a release.
func Main(release Release) {
	if err := run(release); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(release Release) error {
	debug.SetGCPercent(800)
	if len(os.Args) < 4 {
		return errors.New("usage: object-admission CASES.jsonl CLASSES.jsonl CRD.yaml…")
	}
	ctrl.SetLogger(logr.Discard())
	if err := feature.MutableGates.SetFromMap(gates); err != nil {
		return err
	}
	server, err := newAPIServer(release, os.Args[2], os.Args[3:])
	if err != nil {
		return err
	}
	results := json.NewEncoder(os.Stdout)
	return eachLine(os.Args[1], func(decoder *json.Decoder) error {
		var one Case
		if err := decoder.Decode(&one); err != nil {
			return err
		}
		result, err := server.create(one.Object)
		if err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
		result.Name = one.Name
		return results.Encode(result)
	})
}

func eachLine(path string, decode func(*json.Decoder) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	decoder := json.NewDecoder(bufio.NewReader(file))
	for decoder.More() {
		if err := decode(decoder); err != nil {
			return err
		}
	}
	return nil
}

// newAPIServer sets up the release's manager, which is never started: its handlers are called from here.
func newAPIServer(release Release, classes string, definitions []string) (*apiServer, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	release.AddToScheme(scheme)
	mgr, err := manager.New(&rest.Config{Host: "http://127.0.0.1:1"}, manager.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return nil, err
	}
	storage := fake.NewClientBuilder().WithScheme(scheme)
	err = eachLine(classes, func(decoder *json.Decoder) error {
		class := &clusterv1.ClusterClass{}
		if err := decoder.Decode(class); err != nil {
			return err
		}
		reconciled(class)
		storage = storage.WithObjects(class)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := release.SetupWebhooks(mgr, storage.Build()); err != nil {
		return nil, err
	}
	server := &apiServer{kinds: map[string]*kind{}, webhooks: mgr.GetWebhookServer().WebhookMux()}
	for _, path := range definitions {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, definition); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if server.kinds[definition.Spec.Names.Kind], err = newKind(definition); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return server, nil
}

// reconciled writes into the status of a class what the controller of ClusterClasses does.
func reconciled(class *clusterv1.ClusterClass) {
	for _, variable := range class.Spec.Variables {
		class.Status.Variables = append(class.Status.Variables, clusterv1.ClusterClassStatusVariable{
			Name: variable.Name,
			Definitions: []clusterv1.ClusterClassStatusVariableDefinition{{
				From: clusterv1.VariableDefinitionFromInline, Required: variable.Required, Schema: variable.Schema,
			}},
		})
	}
	class.Status.ObservedGeneration = class.Generation
	class.Status.Conditions = []metav1.Condition{{Type: clusterv1.ClusterClassVariablesReadyCondition, Status: metav1.ConditionTrue, Reason: "Ready"}}
}
