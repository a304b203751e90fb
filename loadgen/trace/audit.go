package trace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

const auditGroup = "audit.k8s.io/"

// An auditLog turns the entries of an API server's audit log into the events
// that a watch would have seen, in order and at the time of the response.
//
// At level Metadata the log knows who was changed but not how: the objects
// carry their metadata's names alone and count up their resource versions. At
// level RequestResponse the response is the object. Where the log leaves more
// than one reading, these hold:
//
//   - a delete of a pod marks it (MODIFIED), a second one removes it (MODIFIED
//     and DELETED in the same instant, as the API server does): the first waits
//     for the grace period, the second is the kubelet's;
//   - what else is deleted is gone at once, and changes after that (finalizers)
//     are skipped;
//   - a create with generateName logs no name: the object is "unnamed-1" and so
//     on, and takes over the next name of its namespace that turns up unknown
//     (a pod's when it is bound to a node);
//   - deletecollection removes what is known of the resource in the namespace,
//     unless it had a selector: then nothing is known, and it is skipped;
//   - an update that changed nothing is an event here and none in a watch.
type auditLog struct {
	queue   []Record
	version uint64
	objects map[auditKey]*auditObject
	unnamed map[auditKey][]*auditObject // by resource and namespace, oldest first
	created int
	gone    recent
	skips   skips
}

type auditKey struct{ resource, namespace, name string }

type auditObject struct {
	name        string // as delivered; differs from the log's for an unnamed one
	terminating bool
}

func (a *auditLog) pop() (Record, bool) {
	if len(a.queue) == 0 {
		return Record{}, false
	}
	record := a.queue[0]
	a.queue = a.queue[1:]
	return record, true
}

type auditEvent struct {
	Stage      string    `json:"stage"`
	Verb       string    `json:"verb"`
	RequestURI string    `json:"requestURI"`
	Time       time.Time `json:"stageTimestamp"`
	Ref        struct {
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
	Response json.RawMessage `json:"responseObject"`
}

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

// reasonToSkip says why an entry is no event; "" if it is one.
func (e *auditEvent) reasonToSkip() string {
	switch {
	case e.Stage != "ResponseComplete":
		return "stages before the response"
	case e.Verb == "get" || e.Verb == "list" || e.Verb == "watch":
		return "reads"
	case !slices.Contains(auditWrites, e.Verb) || e.Ref.Resource == "":
		return "requests for no object"
	case e.Status.Code < 200 || e.Status.Code > 299:
		return "failed requests"
	case strings.Contains(e.RequestURI, "dryRun="):
		return "dry runs"
	case slices.Contains(auditVirtual, e.Ref.Resource) || !slices.Contains(auditSubresources, e.Ref.Subresource):
		return "requests that change no object"
	}
	return ""
}

// push takes an entry and queues the events that it stands for.
func (a *auditLog) push(entry jsondoc.Entry) error {
	if a.objects == nil {
		a.objects, a.unnamed = map[auditKey]*auditObject{}, map[auditKey][]*auditObject{}
	}
	e := auditEvent{}
	if err := json.Unmarshal(entry.Raw, &e); err != nil {
		if problem, _ := syntaxProblem(entry.Raw); problem != "" {
			return errors.New(problem)
		}
		return fmt.Errorf("not an audit event: %s", oneLine(err))
	}
	if reason := e.reasonToSkip(); reason != "" {
		a.skips.add(reason)
		return nil
	}
	ts, err := inRange(e.Time)
	if err != nil {
		return fmt.Errorf("stageTimestamp: %w", err)
	}
	gvr := schema.GroupVersionResource{Group: e.Ref.Group, Version: e.Ref.Version, Resource: e.Ref.Resource}
	change := auditChange{
		key:      auditKey{gvr.GroupResource().String(), e.Ref.Namespace, e.Ref.Name},
		resource: gvr.Resource + "." + gvr.Version + "." + gvr.Group,
		record:   Record{Time: ts, place: place{document: entry.Document, line: entry.Line}},
	}
	if gvr.Resource == "namespaces" && gvr.Group == "" {
		change.key.namespace = "" // the log repeats the name there
	}
	if slices.Contains(auditBodies, e.Ref.Subresource) {
		change.setBody(e.Response)
	}
	switch {
	case e.Verb == "deletecollection":
		a.deleteAll(change, e.RequestURI)
	case e.Verb == "create" && e.Ref.Subresource == "":
		a.create(change)
	case change.key.name == "":
		a.skips.add("requests for no object")
	case e.Verb == "delete" || e.Ref.Subresource == "eviction":
		a.delete(change)
	case e.Ref.Subresource == "" && e.Status.Code == 201: // server-side apply
		a.create(change)
	default:
		a.update(change, e.Ref.Subresource == "binding")
	}
	return nil
}

// An auditChange is one request that succeeded.
type auditChange struct {
	key      auditKey
	resource string // with version and group, for slim objects
	record   Record // its time and place, and the object where the log has it
}

// setBody takes the response if it is the object.
func (c *auditChange) setBody(response json.RawMessage) {
	body, err := jsondoc.NewReader(nil).Describe(response)
	if err != nil || body.Kind == "Status" || body.Name == "" || body.APIVersion == "" {
		return
	}
	place, ts := c.record.place, c.record.Time
	c.record = describe(body)
	c.record.place, c.record.Time = place, ts
	c.key.name = body.Name
}

// emit queues an event of an object.
func (a *auditLog) emit(c auditChange, recorded watch.EventType, object *auditObject) {
	record := c.record
	record.Recorded = recorded
	if record.Object == nil || object.name != c.key.name {
		a.version++
		record.APIVersion, record.Kind, record.Namespace, record.Name = slim.GroupVersion().String(), slim.Kind, c.key.namespace, object.name
		record.Resource = c.resource
		record.Object = slimObject(c.key.namespace, object.name, a.version)
	}
	a.queue = append(a.queue, record)
}

func slimObject(namespace, name string, version uint64) []byte {
	object := []byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":`)
	object = appendJSON(object, name)
	if namespace != "" {
		object = appendJSON(append(object, `,"namespace":`...), namespace)
	}
	return fmt.Appendf(object, `,"resourceVersion":"%d"}}`, version)
}

func appendJSON(to []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil { // strings can always be written
		return append(to, `""`...)
	}
	return append(to, quoted...)
}

func (a *auditLog) create(c auditChange) {
	object := &auditObject{name: c.key.name}
	if c.key.name == "" {
		a.created++
		object.name = "unnamed-" + strconv.Itoa(a.created)
		group := auditKey{c.key.resource, c.key.namespace, ""}
		a.unnamed[group] = append(a.unnamed[group], object)
	} else {
		a.objects[c.key] = object
		a.gone.forget(c.key)
	}
	a.emit(c, watch.Added, object)
}

func (a *auditLog) update(c auditChange, binding bool) {
	object := a.objects[c.key]
	if object == nil && a.gone.has(c.key) {
		a.skips.add("changes after the delete")
		return
	}
	group := auditKey{c.key.resource, c.key.namespace, ""}
	if waiting := a.unnamed[group]; object == nil && len(waiting) > 0 && (binding || c.key.resource != "pods") {
		object = waiting[0]
		if a.unnamed[group] = waiting[1:]; len(waiting) == 1 {
			delete(a.unnamed, group)
		}
	}
	if object == nil {
		object = &auditObject{name: c.key.name}
	}
	a.objects[c.key] = object
	a.emit(c, watch.Modified, object)
}

func (a *auditLog) delete(c auditChange) {
	object := a.objects[c.key]
	if object == nil {
		if a.gone.has(c.key) {
			a.skips.add("changes after the delete")
			return
		}
		object = &auditObject{name: c.key.name}
	}
	if c.key.resource == "pods" {
		a.emit(c, watch.Modified, object)
		if !object.terminating {
			object.terminating = true
			a.objects[c.key] = object
			return
		}
	}
	a.emit(c, watch.Deleted, object)
	delete(a.objects, c.key)
	a.gone.add(c.key)
}

func (a *auditLog) deleteAll(c auditChange, uri string) {
	if strings.Contains(uri, "Selector=") {
		a.skips.add("deletecollection with a selector")
		return
	}
	var keys []auditKey
	for key, object := range a.objects {
		if key.resource == c.key.resource && (c.key.namespace == "" || key.namespace == c.key.namespace) && !object.terminating {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(x, y auditKey) int {
		return cmp.Or(strings.Compare(x.namespace, y.namespace), strings.Compare(x.name, y.name))
	})
	for _, key := range keys {
		a.delete(auditChange{key, c.resource, Record{Time: c.record.Time, place: c.record.place}})
	}
}

// A recent set remembers the last keys added, at least recentSize of them.
type recent struct{ young, old map[auditKey]struct{} }

const recentSize = 10_000

func (r *recent) add(key auditKey) {
	if len(r.young) >= recentSize || r.young == nil {
		r.young, r.old = map[auditKey]struct{}{}, r.young
	}
	r.young[key] = struct{}{}
}

func (r *recent) has(key auditKey) bool {
	_, young := r.young[key]
	_, old := r.old[key]
	return young || old
}

func (r *recent) forget(key auditKey) {
	delete(r.young, key)
	delete(r.old, key)
}
