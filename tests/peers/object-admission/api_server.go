package objectadmission

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	structuralobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// apiServer does with an object what the API server does before it stores it.
type apiServer struct {
	kinds    map[string]*kind
	webhooks *http.ServeMux
}

// kind is a CustomResourceDefinition.
type kind struct {
	group    string
	name     string
	plural   string
	versions map[string]*version
	storage  string
}

// version is a served version of the definition.
type version struct {
	schema    *structuralschema.Structural
	validator validation.SchemaValidator
	rules     *cel.Validator
}

func newKind(definition *apiextensionsv1.CustomResourceDefinition) (*kind, error) {
	spec := &definition.Spec
	made := &kind{group: spec.Group, name: spec.Names.Kind, plural: spec.Names.Plural, versions: map[string]*version{}}
	for _, served := range spec.Versions {
		if served.Storage {
			made.storage = served.Name
		}
		if !served.Served {
			continue
		}
		var err error
		if made.versions[served.Name], err = newVersion(served.Schema.OpenAPIV3Schema); err != nil {
			return nil, err
		}
	}
	return made, nil
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

// create is a request that creates the object, with strict validation of fields.
func (s *apiServer) create(text []byte) (*Result, error) {
	var object map[string]interface{}
	// Kubernetes' own reading, which tells whole numbers from others.
	if err := utiljson.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	name, _ := object["kind"].(string)
	kind := s.kinds[name]
	if kind == nil {
		return nil, fmt.Errorf("no definition of kind %q", name)
	}
	_, asked, _ := strings.Cut(object["apiVersion"].(string), "/")
	served := kind.versions[asked]
	if served == nil {
		return nil, fmt.Errorf("%s is not served in %s", name, asked)
	}
	// A server reads the metadata into its type before anything else, and then checks it.
	if _, _, err := structuralobjectmeta.GetObjectMeta(object, false); err != nil {
		return &Result{RejectedBy: "decoding", Message: err.Error(), Causes: []Cause{{Field: "metadata", Detail: err.Error()}}}, nil
	}
	if unknown := served.complete(object); len(unknown) != 0 {
		result := &Result{RejectedBy: "decoding", Message: "unknown fields: " + strings.Join(unknown, ", ")}
		for _, path := range unknown {
			result.Causes = append(result.Causes, Cause{Field: path, Detail: "unknown field"})
		}
		return result, nil
	}
	object, rejected, err := s.mutate(kind, served, object, asked)
	if rejected != nil || err != nil {
		return rejected, err
	}
	if rejected := kind.validate(served, object); rejected != nil {
		return rejected, nil
	}
	stored, rejected, err := s.convert(kind, object, kind.storage)
	if rejected != nil || err != nil {
		return rejected, err
	}
	_, rejected, err = s.admit("validate", kind, stored)
	if rejected == nil {
		rejected = &Result{}
	}
	return rejected, err
}

// complete removes what the schema does not know, which strict validation rejects, and adds its defaults.
func (v *version) complete(object map[string]interface{}) []string {
	unknown := pruning.PruneWithOptions(object, v.schema, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, v.schema)
	defaulting.Default(object, v.schema)
	return unknown
}

// validate runs the schema, and the rules in it where that alone finds nothing.
func (k *kind) validate(served *version, object map[string]interface{}) *Result {
	meta, _, err := structuralobjectmeta.GetObjectMeta(object, false)
	if err != nil {
		return &Result{RejectedBy: "decoding", Message: err.Error()}
	}
	faults := apivalidation.ValidateObjectMeta(meta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	faults = append(faults, validation.ValidateCustomResource(nil, object, served.validator)...)
	faults = append(faults, listtype.ValidateListSetsAndMaps(nil, served.schema, object)...)
	if rejected := k.rejected("schema", object, faults); rejected != nil {
		return rejected
	}
	faults, _ = served.rules.Validate(context.Background(), nil, served.schema, object, nil, celconfig.RuntimeCELCostBudget)
	return k.rejected("rules", object, faults)
}

func (k *kind) rejected(who string, object map[string]interface{}, faults field.ErrorList) *Result {
	if len(faults) == 0 {
		return nil
	}
	name, _, _ := unstructured.NestedString(object, "metadata", "name")
	rejection := apierrors.NewInvalid(schema.GroupKind{Group: k.group, Kind: k.name}, name, faults)
	return &Result{RejectedBy: who, Message: rejection.Error(), Causes: causes(&rejection.ErrStatus)}
}

func causes(status *metav1.Status) []Cause {
	var named []Cause
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			named = append(named, Cause{Field: cause.Field, Detail: cause.Message})
		}
	}
	return named
}

// mutate runs the defaulting webhook, which works on the stored version: an object in another one is converted there and back.
func (s *apiServer) mutate(kind *kind, served *version, object map[string]interface{}, asked string) (map[string]interface{}, *Result, error) {
	if !s.exists("mutate", kind) {
		return object, nil, nil
	}
	stored, rejected, err := s.convert(kind, object, kind.storage)
	if rejected != nil || err != nil {
		return nil, rejected, err
	}
	answer, rejected, err := s.admit("mutate", kind, stored)
	if rejected != nil {
		rejected.RejectedBy = "mutation"
	}
	if answer == nil || len(answer.Patch) == 0 || rejected != nil || err != nil {
		return object, rejected, err
	}
	patch, err := jsonpatch.DecodePatch(answer.Patch)
	if err != nil {
		return nil, nil, err
	}
	before, err := json.Marshal(stored)
	if err != nil {
		return nil, nil, err
	}
	after, err := patch.Apply(before)
	if err != nil {
		return nil, nil, err
	}
	changed := map[string]interface{}{}
	if err := utiljson.Unmarshal(after, &changed); err != nil {
		return nil, nil, err
	}
	defaulting.Default(changed, kind.versions[kind.storage].schema)
	back, rejected, err := s.convert(kind, changed, asked)
	if rejected != nil || err != nil {
		return nil, rejected, err
	}
	defaulting.Default(back, served.schema)
	return back, nil, nil
}

func (s *apiServer) path(verb string, kind *kind) string {
	return fmt.Sprintf("/%s-%s-%s-%s", verb, strings.ReplaceAll(kind.group, ".", "-"), kind.storage, strings.ToLower(kind.name))
}

func (s *apiServer) exists(verb string, kind *kind) bool {
	_, pattern := s.webhooks.Handler(httptest.NewRequest(http.MethodPost, s.path(verb, kind), nil))
	return pattern != ""
}

// admit asks a webhook; without an answer there is none.
func (s *apiServer) admit(verb string, kind *kind, object map[string]interface{}) (*admissionv1.AdmissionResponse, *Result, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, nil, err
	}
	namespace, _, _ := unstructured.NestedString(object, "metadata", "namespace")
	name, _, _ := unstructured.NestedString(object, "metadata", "name")
	review := &admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID:       "1",
		Kind:      metav1.GroupVersionKind{Group: kind.group, Version: kind.storage, Kind: kind.name},
		Resource:  metav1.GroupVersionResource{Group: kind.group, Version: kind.storage, Resource: kind.plural},
		Name:      name,
		Namespace: namespace,
		Operation: admissionv1.Create,
		Object:    runtime.RawExtension{Raw: text},
	}}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	found, err := s.call(s.path(verb, kind), review, review)
	if !found || err != nil {
		return nil, nil, err
	}
	answer := review.Response
	if answer.Allowed {
		return answer, nil, nil
	}
	return nil, &Result{RejectedBy: "webhook", Message: answer.Result.Message, Causes: causes(answer.Result)}, nil
}

// convert brings an object to a version.
func (s *apiServer) convert(kind *kind, object map[string]interface{}, to string) (map[string]interface{}, *Result, error) {
	wanted := kind.group + "/" + to
	if object["apiVersion"] == wanted {
		return object, nil, nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, nil, err
	}
	review := &apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{
		UID: "1", DesiredAPIVersion: wanted, Objects: []runtime.RawExtension{{Raw: text}},
	}}
	review.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview"))
	found, err := s.call("/convert", review, review)
	if !found || err != nil {
		return nil, nil, fmt.Errorf("conversion: answered: %t, %w", found, err)
	}
	if answer := review.Response; answer.Result.Status != metav1.StatusSuccess {
		return nil, &Result{RejectedBy: "conversion", Message: answer.Result.Message}, nil
	}
	converted := map[string]interface{}{}
	if err := utiljson.Unmarshal(review.Response.ConvertedObjects[0].Raw, &converted); err != nil {
		return nil, nil, err
	}
	// A server removes what the schema does not know, and what is null.
	kind.versions[to].complete(converted)
	return converted, nil, nil
}

// call posts to a webhook, if it exists.
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
