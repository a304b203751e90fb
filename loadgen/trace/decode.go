package trace

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// A decoder turns JSON into typed objects. It is what client-go's decoder does
// for JSON, minus a second scan for the kind, which the record has.
type decoder struct {
	kinds map[kindName]kindInfo
	first map[schema.GroupResource]schema.GroupVersionKind // of objects that came with their resource
}

func (d decoder) object(record Record, info kindInfo) (loadgen.Object, error) {
	fail := func(err error) error {
		problem, offset := syntaxProblem(record.Object)
		if problem == "" {
			problem = fmt.Sprintf("not a %s: %s", info.gvk.Kind, oneLine(err))
		}
		return record.fault(offset, "%s", problem)
	}
	var object loadgen.Object
	switch {
	case info.slim:
		object = &metav1.PartialObjectMetadata{}
	case info.typed:
		typed, err := scheme.Scheme.New(info.gvk)
		if err != nil {
			return nil, record.fault(0, "%v", err)
		}
		var ok bool
		if object, ok = typed.(loadgen.Object); !ok {
			return nil, record.fault(0, "found a %s, expected an object with metadata", info.gvk.Kind)
		}
	default:
		content := map[string]any{}
		if err := json.Unmarshal(record.Object, &content); err != nil {
			return nil, fail(err)
		}
		u := &unstructured.Unstructured{Object: content}
		u.SetGroupVersionKind(info.gvk)
		return u, nil
	}
	if err := json.Unmarshal(record.Object, object); err != nil {
		return nil, fail(err)
	}
	object.GetObjectKind().SetGroupVersionKind(info.gvk)
	return object, nil
}

// fault is an error at an offset of the record's object.
func (r Record) fault(offset int, format string, args ...any) error {
	problem := fmt.Sprintf(format, args...)
	if r.place.part != "" {
		return &partError{r.place.part, problem}
	}
	line := r.place.line + bytes.Count(r.Object[:min(len(r.Object), max(0, offset))], []byte("\n"))
	return &jsondoc.Error{Document: r.place.document, Line: line, Problem: problem}
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

// invalidUTF8 is where text stops being UTF-8.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
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
		return oneLine(errors.New(status.Message))
	}
	return oneLine(errors.New(status.Message + " (" + string(status.Reason) + ")"))
}
