package trace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

const auditGroup = "audit.k8s.io/"

// An auditEvent is what is used of an entry of an audit log.
type auditEvent struct {
	ID         string    `json:"auditID"`
	Stage      string    `json:"stage"`
	Verb       string    `json:"verb"`
	RequestURI string    `json:"requestURI"`
	Received   time.Time `json:"requestReceivedTimestamp"`
	Time       time.Time `json:"stageTimestamp"`
	User       struct {
		Name string `json:"username"`
	} `json:"user"`
	Ref struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Group       string `json:"apiGroup"`
		Version     string `json:"apiVersion"`
	} `json:"objectRef"`
	Status struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Request  json.RawMessage `json:"requestObject,omitempty"`
	Response json.RawMessage `json:"responseObject,omitempty"`

	// Where it was found, by names that no shipper of logs adds.
	Input    int `json:"benchrunInput"`
	Document int `json:"benchrunDocument"`
	Line     int `json:"benchrunLine"`
}

// resource is the resource's name with group and, if the log has it, version.
func (e *auditEvent) resource() string {
	if e.Ref.Version == "" {
		return schema.GroupResource{Group: e.Ref.Group, Resource: e.Ref.Resource}.String()
	}
	return e.Ref.Resource + "." + e.Ref.Version + "." + e.Ref.Group
}

// body is the response if it is the request's one object.
func (e *auditEvent) body() (jsondoc.Entry, bool) {
	if !slices.Contains(auditBodies, e.Ref.Subresource) || e.Verb == "deletecollection" {
		return jsondoc.Entry{}, false
	}
	return objectOf(e.Response)
}

// objectOf is a response if it is an object.
func objectOf(response json.RawMessage) (jsondoc.Entry, bool) {
	body, err := jsondoc.NewReader(nil).Describe(response)
	return body, err == nil && body.Kind != "Status" && body.Name != "" && body.APIVersion != ""
}

func (e *auditEvent) place() place { return place{document: e.Document, line: e.Line} }

var (
	auditWrites = []string{"create", "update", "patch", "delete", "deletecollection"}
	// Requests to these are questions or credentials.
	auditVirtual = []string{"bindings", "componentstatuses", "localsubjectaccessreviews", "selfsubjectaccessreviews",
		"selfsubjectreviews", "selfsubjectrulesreviews", "subjectaccessreviews", "tokenreviews"}
	// Requests to other subresources (exec, log, token) change no object.
	auditSubresources = []string{"", "approval", "binding", "ephemeralcontainers", "eviction", "finalize", "resize", "scale", "status"}
	// Only these are answered with the object itself.
	auditBodies = []string{"", "approval", "ephemeralcontainers", "finalize", "resize", "status"}
)

// reasonToSkip says why an entry is no event; "" if it is one, or tells that an
// object is gone.
func (e *auditEvent) reasonToSkip() string {
	switch {
	case e.Stage != "ResponseComplete":
		return "stages before the response"
	case e.Verb == "get" || e.Verb == "list" || e.Verb == "watch":
		return "reads"
	case !slices.Contains(auditWrites, e.Verb) || e.Ref.Resource == "":
		return "requests for no object"
	case e.Status.Code == http.StatusNotFound && e.Verb != "create" && e.Ref.Name != "" && e.Ref.Subresource != "scale":
		return ""
	case e.Status.Code < 200 || e.Status.Code > 299:
		return "failed requests"
	case strings.Contains(e.RequestURI, "dryRun=") || e.dryBody():
		return "dry runs"
	case slices.Contains(auditVirtual, e.Ref.Resource) || !slices.Contains(auditSubresources, e.Ref.Subresource):
		return "requests that change no object"
	}
	return ""
}

// dryBody reports a request whose body says that it is a dry run: a delete's is its
// options, an eviction's holds them.
func (e *auditEvent) dryBody() bool {
	type options struct {
		DryRun []string `json:"dryRun"`
	}
	var body struct {
		options
		Delete options `json:"deleteOptions"`
	}
	if json.Unmarshal(e.Request, &body) != nil {
		return false
	}
	if e.Ref.Subresource == "eviction" {
		return len(body.Delete.DryRun) > 0
	}
	return (e.Verb == "delete" || e.Verb == "deletecollection") && len(body.DryRun) > 0
}

// parseAudit reads an entry of an audit log, and drops what is not needed of it.
func parseAudit(entry jsondoc.Entry) (auditEvent, error) {
	e := auditEvent{}
	if err := json.Unmarshal(entry.Raw, &e); err != nil {
		if problem, _ := syntaxProblem(entry.Raw); problem != "" {
			return e, errors.New(problem)
		}
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			expected, ok := map[reflect.Kind]string{reflect.String: "string", reflect.Int: "number"}[wrong.Type.Kind()]
			if !ok {
				expected = "object"
			}
			return e, fmt.Errorf("not an audit event: %s: found %s, expected %s", wrong.Field, wrong.Value, expected)
		}
		var times struct {
			Received json.RawMessage `json:"requestReceivedTimestamp"`
			Time     json.RawMessage `json:"stageTimestamp"`
		}
		_ = json.Unmarshal(entry.Raw, &times) // it is JSON
		for _, f := range [...]struct {
			name string
			text json.RawMessage
		}{{"requestReceivedTimestamp", times.Received}, {"stageTimestamp", times.Time}} {
			if f.text != nil && json.Unmarshal(f.text, new(time.Time)) != nil {
				return e, fmt.Errorf("not an audit event: %s: found %.60s, expected a time such as 2006-01-02T15:04:05.999999Z", f.name, f.text)
			}
		}
		return e, fmt.Errorf("not an audit event: %s", oneLine(err))
	}
	e.Document, e.Line = entry.Document, entry.Line
	return e, nil
}

// check refuses times that can't be told, and forgets the request.
func (e *auditEvent) check() (err error) {
	e.Request = nil
	if e.Time.IsZero() {
		return errors.New("stageTimestamp: missing, expected a time such as 2006-01-02T15:04:05.999999Z")
	}
	if e.Time, err = inRange(e.Time); err != nil {
		return fmt.Errorf("stageTimestamp: %w", err)
	}
	return nil
}

// earlier orders entries by when they were done.
func (e *auditEvent) earlier(than *auditEvent) int {
	return cmp.Or(e.Time.Compare(than.Time), e.Received.Compare(than.Received))
}

// A moment's entries are the same if all of this is: programs choose IDs too.
type auditIdentity struct {
	id, stage, verb, uri, namespace, name string
	received                              time.Time
}

func (e *auditEvent) identity() auditIdentity {
	return auditIdentity{e.ID, e.Stage, e.Verb, e.RequestURI, e.Ref.Namespace, e.Ref.Name, e.Received.UTC()}
}

// fate is what the response says about whether the object is still there.
func (e *auditEvent) fate(deletes bool) fate {
	if e.Verb == "delete" && e.Status.Code == http.StatusAccepted {
		return alive // dependents go first
	}
	if e.Ref.Subresource == "eviction" || e.Ref.Subresource == "scale" || e.Ref.Subresource == "binding" {
		return unsure // the response is of another kind
	}
	return e.fateOf(e.Response, deletes)
}

// fateOf is the fate of an object that a request was answered with.
func (e *auditEvent) fateOf(response json.RawMessage, deletes bool) fate {
	var object struct {
		Kind     string `json:"kind"`
		Status   any    `json:"status"`
		Metadata struct {
			Name       string   `json:"name"`
			Deletion   *string  `json:"deletionTimestamp"`
			Grace      int64    `json:"deletionGracePeriodSeconds"`
			Finalizers []string `json:"finalizers"`
		} `json:"metadata"`
		Spec json.RawMessage `json:"spec"`
	}
	if json.Unmarshal(response, &object) != nil {
		return unsure
	}
	if object.Kind == "Status" {
		if deletes && object.Status == "Success" {
			return removed
		}
		return unsure
	}
	m := object.Metadata
	var namespace struct {
		Finalizers []string `json:"finalizers"`
	}
	if e.Ref.Resource == "namespaces" && e.Ref.Group == "" {
		_ = json.Unmarshal(object.Spec, &namespace) // without a spec it has none
	}
	switch {
	case m.Name == "":
		return unsure
	case len(m.Finalizers)+len(namespace.Finalizers) > 0 || m.Grace > 0 || !deletes && m.Deletion == nil:
		return alive
	}
	return removed
}

// listed are the objects of a deletecollection's response, nil if it has no list.
func (e *auditEvent) listed() []json.RawMessage {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(e.Response, &list) != nil {
		return nil
	}
	return list.Items
}
