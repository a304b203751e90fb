package trace

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// A decoder turns JSON into typed objects. It is what client-go's decoder does
// for JSON, minus a second scan for the kind, which the entry has.
type decoder struct {
	kinds map[kindName]kindInfo
}

type kindName struct{ apiVersion, kind string }

type kindInfo struct {
	gvk   schema.GroupVersionKind
	typed bool
}

func (d decoder) object(entry jsondoc.Entry) (loadgen.Object, schema.GroupVersionKind, error) {
	fail := func(problem string, offset int) (loadgen.Object, schema.GroupVersionKind, error) {
		line := entry.Line + bytes.Count(entry.Raw[:min(len(entry.Raw), max(0, offset))], []byte("\n"))
		return nil, schema.GroupVersionKind{}, &jsondoc.Error{Document: entry.Document, Line: line, Problem: problem}
	}
	info, err := d.kind(kindName{entry.APIVersion, entry.Kind})
	if err != nil {
		if problem, offset := syntaxProblem(entry.Raw); problem != "" {
			return fail(problem, offset)
		}
		return fail(err.Error(), 0)
	}
	var object loadgen.Object
	if info.typed {
		typed, err := scheme.Scheme.New(info.gvk)
		if err != nil {
			return fail(err.Error(), 0)
		}
		var ok bool
		if object, ok = typed.(loadgen.Object); !ok {
			return fail("found a "+entry.Kind+", expected an object with metadata", 0)
		}
		err = json.Unmarshal(entry.Raw, object)
		if err == nil {
			object.GetObjectKind().SetGroupVersionKind(info.gvk)
			return object, info.gvk, nil
		}
		if problem, offset := syntaxProblem(entry.Raw); problem != "" {
			return fail(problem, offset)
		}
		return fail("not a "+entry.Kind+": "+oneLine(err), 0)
	}
	content := map[string]any{}
	if err := json.Unmarshal(entry.Raw, &content); err != nil {
		problem, offset := syntaxProblem(entry.Raw)
		if problem == "" {
			problem = oneLine(err)
		}
		return fail(problem, offset)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(info.gvk)
	return u, info.gvk, nil
}

// kind looks a type up once.
func (d decoder) kind(name kindName) (kindInfo, error) {
	if info, ok := d.kinds[name]; ok {
		return info, nil
	}
	switch {
	case name.kind == "":
		return kindInfo{}, errors.New("an object without kind")
	case name.apiVersion == "":
		return kindInfo{}, errors.New(name.kind + " without apiVersion")
	case strings.HasPrefix(name.apiVersion, "audit.k8s.io/"):
		return kindInfo{}, errors.New("found an API server's audit log, expected watch events")
	}
	gv, err := schema.ParseGroupVersion(name.apiVersion)
	if err != nil {
		return kindInfo{}, err
	}
	info := kindInfo{gvk: gv.WithKind(name.kind)}
	info.typed = scheme.Scheme.Recognizes(info.gvk)
	d.kinds[name] = info
	return info, nil
}

// syntaxProblem says what is wrong with text that is not JSON, and where.
func syntaxProblem(raw []byte) (problem string, offset int) {
	var any stdjson.RawMessage
	var syntax *stdjson.SyntaxError
	if err := stdjson.Unmarshal(raw, &any); errors.As(err, &syntax) {
		return "invalid JSON: " + oneLine(err), int(syntax.Offset)
	}
	return "", 0
}

func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}

// statusMessage returns what a metav1.Status says.
func statusMessage(raw []byte) string {
	var status metav1.Status
	if err := json.Unmarshal(raw, &status); err != nil {
		return "not a Status: " + oneLine(err)
	}
	if status.Reason == "" {
		return status.Message
	}
	return status.Message + " (" + string(status.Reason) + ")"
}
