// Package bootstrapdata says of a config what a release of Cluster API's kubeadm bootstrap provider makes of it: the provider's own code
// runs, its webhooks behind their handlers and its reconciler as its manager would call it, and the API server's own validation before
// them. What stands in is storage alone: a fake client in place of an API server.
//
// The programs are the packages in release; tests/peers/build builds each from the modules of one release.
package bootstrapdata

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/feature"
)

// Release is what has another path or name from release to release.
type Release struct {
	// AddToScheme adds the types that the provider works on.
	AddToScheme func(*runtime.Scheme)
	// SetupWebhooks registers the webhooks of KubeadmConfig.
	SetupWebhooks func(ctrl.Manager) error
	// Reconciler is that of KubeadmConfig.
	Reconciler func(client.Client, clustercache.ClusterCache) Reconciler
}

// Reconciler is what the provider's manager sets up.
type Reconciler interface {
	SetupWithManager(context.Context, ctrl.Manager, controller.Options) error
}

// Case is a config among the objects around it.
type Case struct {
	Name    string            `json:"name"`
	Objects []json.RawMessage `json:"objects"`
}

// Result is what came of a case: data, or who rejected it and why.
type Result struct {
	Name   string `json:"name"`
	Format string `json:"format,omitempty"`
	// In base64.
	Data []byte `json:"data,omitempty"`
	// RejectedBy is decoding, conversion, schema, rules, webhook or reconciler.
	RejectedBy string `json:"rejectedBy,omitempty"`
	// Reasons are what a user would read.
	Reasons []string `json:"reasons,omitempty"`
	// Fields are those that the reasons are about, where that is said.
	Fields []string `json:"fields,omitempty"`
}

// Main reads a case a line and writes a result a line. The arguments are the file of the release's CustomResourceDefinition and that of
// the cases.
func Main(release Release) {
	if err := run(release); err != nil {
		fmt.Fprintln(os.Stderr, "bootstrap-data:", err)
		os.Exit(1)
	}
}

func run(release Release) error {
	// Short and many objects: collecting them less often is a quarter of the time.
	debug.SetGCPercent(800)
	if len(os.Args) != 3 {
		return errors.New("usage: bootstrap-data CRD.yaml CASES.jsonl")
	}
	ctrl.SetLogger(logr.Discard())
	if err := setGates(); err != nil {
		return err
	}
	provider, err := newProvider(release, os.Args[1])
	if err != nil {
		return err
	}
	file, err := os.Open(os.Args[2])
	if err != nil {
		return err
	}
	cases, results := json.NewDecoder(bufio.NewReader(file)), json.NewEncoder(os.Stdout)
	for cases.More() {
		var one Case
		if err := cases.Decode(&one); err != nil {
			return err
		}
		result, err := provider.process(one)
		if err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
		result.Name = one.Name
		if err := results.Encode(result); err != nil {
			return err
		}
	}
	return nil
}

// setGates opens what is rendered only behind a gate; a limit of the rate would put off the second look at a config.
func setGates() error {
	gates := map[string]bool{"KubeadmBootstrapFormatIgnition": true, "MachinePool": true}
	for gate := range feature.MutableGates.GetAll() {
		if gate == "ReconcilerRateLimiting" {
			gates["ReconcilerRateLimiting"] = false
		}
	}
	return feature.MutableGates.SetFromMap(gates)
}
