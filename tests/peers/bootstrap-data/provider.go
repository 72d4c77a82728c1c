package bootstrapdata

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"sigs.k8s.io/cluster-api/controllers/clustercache"
)

// attempts are the looks at a config until its data is there: the first ones may only note what they have seen.
const attempts = 4

// uid is that of the config.
const uid = "00000000-0000-0000-0000-0000000000ff"

// provider is the manager of a release with everything in it, never started: its handlers and its reconciler are called from here.
type provider struct {
	scheme     *runtime.Scheme
	server     *apiServer
	management *current
	workload   *current
	reconciler reconcile.Reconciler
	decoder    runtime.Decoder
}

// current is the client of the case that is looked at.
type current struct {
	client.Client
	// config is the spec of the config as it was stored, in JSON.
	config []byte
}

// Get reads as from an API server, which keeps what the types leave out when they are written: empty lists.
func (c *current) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if err := c.Client.Get(ctx, key, into, options...); err != nil || into.GetUID() != uid {
		return err
	}
	return json.Unmarshal(c.config, into)
}

// catching is a manager that keeps the controller that is added to it.
type catching struct {
	manager.Manager
	client     client.Client
	controller reconcile.Reconciler
}

func (c *catching) GetClient() client.Client { return c.client }

func (c *catching) Add(runnable manager.Runnable) error {
	if found, is := runnable.(reconcile.Reconciler); is {
		c.controller = found
	}
	return nil
}

// clusters leads to the workload cluster of the case, whichever it is.
type clusters struct {
	clustercache.ClusterCache
	workload client.Client
}

func (c *clusters) GetClient(context.Context, client.ObjectKey) (client.Client, error) {
	return c.workload, nil
}

func newProvider(release Release, definition string) (*provider, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	release.AddToScheme(scheme)
	inner, err := manager.New(&rest.Config{Host: "http://127.0.0.1:1"}, manager.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return nil, err
	}
	if err := release.SetupWebhooks(inner); err != nil {
		return nil, err
	}
	server, err := newAPIServer(definition, inner.GetWebhookServer().WebhookMux())
	if err != nil {
		return nil, err
	}
	made := &provider{scheme: scheme, server: server, management: &current{}, workload: &current{}}
	made.decoder = serializer.NewCodecFactory(scheme).UniversalDecoder()
	mgr := &catching{Manager: inner, client: made.management}
	cache := &clusters{ClusterCache: clustercache.NewFakeClusterCache(made.workload, client.ObjectKey{}), workload: made.workload}
	if err := release.Reconciler(made.management, cache).SetupWithManager(context.Background(), mgr, controller.Options{}); err != nil {
		return nil, err
	}
	if made.reconciler = mgr.controller; made.reconciler == nil {
		return nil, fmt.Errorf("the release sets up no controller")
	}
	return made, nil
}

// process takes a case through the API server and then through the reconciler.
func (p *provider) process(one Case) (*Result, error) {
	var config map[string]interface{}
	objects := []client.Object{controlPlaneDefinition()}
	for _, text := range one.Objects {
		known, err := typeOf(text)
		if err != nil {
			return nil, err
		}
		if known.Kind == "KubeadmConfig" {
			// Kubernetes' own reading, which tells whole numbers from others.
			if err := utiljson.Unmarshal(text, &config); err != nil {
				return nil, err
			}
			continue
		}
		typed, err := p.typed(text)
		if err != nil {
			return nil, err
		}
		objects = append(objects, typed)
	}
	stored, rejected, err := p.server.create(config)
	if rejected != nil || err != nil {
		return rejected, err
	}
	if err := unstructured.SetNestedField(stored, uid, "metadata", "uid"); err != nil {
		return nil, err
	}
	text, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	typed, err := p.typed(text)
	if err != nil {
		return nil, err
	}
	if p.management.config, err = json.Marshal(map[string]interface{}{"spec": stored["spec"]}); err != nil {
		return nil, err
	}
	p.management.Client = p.storage().WithStatusSubresource(typed).WithObjects(append(objects, typed)...).Build()
	p.workload.Client = p.storage().Build()
	return p.reconcile(typed)
}

// storage is a fake client in the making; its own tracker would learn the types of all of Kubernetes anew each time.
func (p *provider) storage() *fake.ClientBuilder {
	return fake.NewClientBuilder().WithScheme(p.scheme).WithObjectTracker(testing.NewObjectTracker(p.scheme, p.decoder))
}

func (p *provider) reconcile(config client.Object) (*Result, error) {
	ctx, key := context.Background(), client.ObjectKeyFromObject(config)
	for attempt := 0; attempt < attempts; attempt++ {
		rand.Reader = &pinned{}
		_, err := p.reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: key})
		if err != nil {
			return &Result{RejectedBy: "reconciler", Reasons: []string{err.Error()}}, nil
		}
		secret := &corev1.Secret{}
		switch err := p.management.Get(ctx, key, secret); {
		case err == nil:
			return &Result{Format: string(secret.Data["format"]), Data: secret.Data["value"]}, nil
		case !apierrors.IsNotFound(err):
			return nil, err
		}
	}
	reasons, err := p.condition(ctx, config, key)
	return &Result{RejectedBy: "reconciler", Reasons: reasons}, err
}

// condition is what a config says of its data.
func (p *provider) condition(ctx context.Context, config client.Object, key types.NamespacedName) ([]string, error) {
	if err := p.management.Get(ctx, key, config); err != nil {
		return nil, err
	}
	read, err := runtime.DefaultUnstructuredConverter.ToUnstructured(config)
	if err != nil {
		return nil, err
	}
	conditions, _, err := unstructured.NestedSlice(read, "status", "conditions")
	var messages []string
	for _, condition := range conditions {
		fields := condition.(map[string]interface{})
		if message, _ := fields["message"].(string); message != "" && fields["type"] == "DataSecretAvailable" {
			messages = append(messages, message)
		}
	}
	return messages, err
}

// typed is an object in the type that the scheme has for it, or as it is when it has none.
func (p *provider) typed(text []byte) (client.Object, error) {
	known, err := typeOf(text)
	if err != nil {
		return nil, err
	}
	made, err := p.scheme.New(known)
	if runtime.IsNotRegisteredError(err) {
		made, err = &unstructured.Unstructured{}, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, made); err != nil {
		return nil, err
	}
	if secret, is := made.(*corev1.Secret); is {
		store(secret)
	}
	return made.(client.Object), nil
}

func typeOf(text []byte) (schema.GroupVersionKind, error) {
	var known metav1.TypeMeta
	err := json.Unmarshal(text, &known)
	return known.GroupVersionKind(), err
}

// store is what the API server does with texts.
func store(secret *corev1.Secret) {
	for key, value := range secret.StringData {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
}

// controlPlaneDefinition tells which versions a control plane has that a Cluster refers to.
func controlPlaneDefinition() client.Object {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name:   "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io",
		Labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1beta2"},
	}}
}

// pinned is a source of randomness from which every token is abcdef.0123456789abcdef.
type pinned struct{ drawn int }

func (p *pinned) Read(into []byte) (int, error) {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"
	const token = "abcdef0123456789abcdef"
	for index := range into {
		for value := range alphabet {
			if alphabet[value] == token[p.drawn%len(token)] {
				into[index] = byte(value)
			}
		}
		p.drawn++
	}
	return len(into), nil
}
