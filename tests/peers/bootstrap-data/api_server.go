package bootstrapdata

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

const group = "bootstrap.cluster.x-k8s.io"

// apiServer does with a config what the API server does before it stores it.
type apiServer struct {
	versions map[string]*version
	storage  string
	webhooks *http.ServeMux
}

// version is a served version of the definition.
type version struct {
	schema    *structuralschema.Structural
	validator validation.SchemaValidator
	rules     *cel.Validator
}

func newAPIServer(file string, webhooks *http.ServeMux) (*apiServer, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, definition); err != nil {
		return nil, err
	}
	server := &apiServer{versions: map[string]*version{}, webhooks: webhooks}
	for _, served := range definition.Spec.Versions {
		if served.Storage {
			server.storage = served.Name
		}
		if !served.Served {
			continue
		}
		if server.versions[served.Name], err = newVersion(served.Schema.OpenAPIV3Schema); err != nil {
			return nil, err
		}
	}
	return server, nil
}

func newVersion(openAPI *apiextensionsv1.JSONSchemaProps) (*version, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(openAPI, internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return nil, err
	}
	return &version{schema: structural, validator: validator, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// create is a request that creates the config: the object as it is stored, or who rejects it.
func (s *apiServer) create(config map[string]interface{}) (map[string]interface{}, *Result, error) {
	_, asked, _ := strings.Cut(config["apiVersion"].(string), "/")
	served := s.versions[asked]
	if served == nil {
		return nil, nil, fmt.Errorf("the release does not serve %s", asked)
	}
	if unknown := served.complete(config); len(unknown) != 0 {
		return nil, &Result{RejectedBy: "decoding", Reasons: unknown, Fields: unknown}, nil
	}
	config, rejected, err := s.mutate(config)
	if rejected != nil || err != nil {
		return nil, rejected, err
	}
	if rejected := served.validate(config); rejected != nil {
		return nil, rejected, nil
	}
	stored, rejected, err := s.convert(config, asked)
	if rejected != nil || err != nil {
		return nil, rejected, err
	}
	if _, rejected, err = s.admit("validate", stored); rejected != nil || err != nil {
		return nil, rejected, err
	}
	s.versions[s.storage].complete(stored)
	return stored, nil, nil
}

// complete takes away what the schema does not know, which is not taken where fields are validated strictly, and adds its defaults.
func (v *version) complete(config map[string]interface{}) []string {
	unknown := pruning.PruneWithOptions(config, v.schema, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(config, v.schema)
	defaulting.Default(config, v.schema)
	return unknown
}

// validate is the schema, and the rules in it where that alone finds nothing.
func (v *version) validate(config map[string]interface{}) *Result {
	faults := validation.ValidateCustomResource(nil, config, v.validator)
	faults = append(faults, listtype.ValidateListSetsAndMaps(nil, v.schema, config)...)
	if rejected := rejectedBy("schema", config, faults); rejected != nil {
		return rejected
	}
	faults, _ = v.rules.Validate(context.Background(), nil, v.schema, config, nil, celconfig.RuntimeCELCostBudget)
	return rejectedBy("rules", config, faults)
}

func rejectedBy(who string, config map[string]interface{}, faults field.ErrorList) *Result {
	if len(faults) == 0 {
		return nil
	}
	name, _, _ := unstructured.NestedString(config, "metadata", "name")
	rejection := apierrors.NewInvalid(schema.GroupKind{Group: group, Kind: "KubeadmConfig"}, name, faults)
	return &Result{RejectedBy: who, Reasons: []string{rejection.Error()}, Fields: fields(&rejection.ErrStatus)}
}

// fields are those that a rejection names.
func fields(status *metav1.Status) []string {
	var named []string
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			named = append(named, cause.Field)
		}
	}
	return named
}

// mutate is the defaulting webhook, where the release has one.
func (s *apiServer) mutate(config map[string]interface{}) (map[string]interface{}, *Result, error) {
	answer, rejected, err := s.admit("mutate", config)
	if answer == nil || len(answer.Patch) == 0 || rejected != nil || err != nil {
		return config, rejected, err
	}
	patch, err := jsonpatch.DecodePatch(answer.Patch)
	if err != nil {
		return nil, nil, err
	}
	before, err := json.Marshal(config)
	if err != nil {
		return nil, nil, err
	}
	after, err := patch.Apply(before)
	if err != nil {
		return nil, nil, err
	}
	changed := &unstructured.Unstructured{}
	return changed.Object, nil, changed.UnmarshalJSON(after)
}

// admit asks a webhook; without an answer there is none.
func (s *apiServer) admit(verb string, config map[string]interface{}) (*admissionv1.AdmissionResponse, *Result, error) {
	_, version, _ := strings.Cut(config["apiVersion"].(string), "/")
	path := fmt.Sprintf("/%s-%s-%s-kubeadmconfig", verb, strings.ReplaceAll(group, ".", "-"), version)
	object, err := json.Marshal(config)
	if err != nil {
		return nil, nil, err
	}
	review := &admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID:       "1",
		Kind:      metav1.GroupVersionKind{Group: group, Version: version, Kind: "KubeadmConfig"},
		Resource:  metav1.GroupVersionResource{Group: group, Version: version, Resource: "kubeadmconfigs"},
		Operation: admissionv1.Create,
		Object:    runtime.RawExtension{Raw: object},
	}}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	found, err := s.call(path, review, review)
	if !found || err != nil {
		return nil, nil, err
	}
	answer := review.Response
	if answer.Allowed {
		return answer, nil, nil
	}
	return nil, &Result{RejectedBy: "webhook", Reasons: []string{answer.Result.Message}, Fields: fields(answer.Result)}, nil
}

// convert brings a config to the version that is stored.
func (s *apiServer) convert(config map[string]interface{}, from string) (map[string]interface{}, *Result, error) {
	if from == s.storage {
		return config, nil, nil
	}
	object, err := json.Marshal(config)
	if err != nil {
		return nil, nil, err
	}
	review := &apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{
		UID: "1", DesiredAPIVersion: group + "/" + s.storage, Objects: []runtime.RawExtension{{Raw: object}},
	}}
	review.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview"))
	found, err := s.call("/convert", review, review)
	if !found || err != nil {
		return nil, nil, fmt.Errorf("conversion: answered: %t, %w", found, err)
	}
	if answer := review.Response; answer.Result.Status != metav1.StatusSuccess {
		return nil, &Result{RejectedBy: "conversion", Reasons: []string{answer.Result.Message}}, nil
	}
	converted := &unstructured.Unstructured{}
	return converted.Object, nil, converted.UnmarshalJSON(review.Response.ConvertedObjects[0].Raw)
}

// call posts to a webhook, if it is there.
func (s *apiServer) call(path string, question, answer interface{}) (bool, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return false, err
	}
	request := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	handler, pattern := s.webhooks.Handler(request)
	if pattern == "" {
		return false, nil
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	if recorder.Code != http.StatusOK {
		return true, fmt.Errorf("%s answers %d: %s", path, recorder.Code, recorder.Body)
	}
	return true, json.Unmarshal(recorder.Body.Bytes(), answer)
}
