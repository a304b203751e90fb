package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// An auditLog turns the entries of an API server's audit log, in the order of
// time, into the events that a watch would have seen.
//
// At level Metadata the log says who was changed but not how: the objects
// carry their metadata's names alone and count up their resource versions. At
// level RequestResponse the response is the object. Where the log leaves more
// than one reading, these hold:
//
//   - whether a delete removed its object, the response tells, if the log has it:
//     an object with finalizers or a grace period is still there;
//   - without a response, what follows tells: an object ends with the last
//     request that may remove it (a delete, an eviction, a change of its
//     metadata once it is being deleted) if for patience no other one succeeds. A
//     running pod's is the kubelet's delete after the grace period, a completed,
//     unbound or force-deleted pod's is the only one, and where finalizers hold
//     an object it is the change that drops the last of them;
//   - where the log ends before that, the object is gone;
//   - a pod that is removed was MODIFIED in the same instant, as the API server
//     does, since its grace period was set to 0;
//   - a create with generateName logs no name: the object is "unnamed-1" and so
//     on, and takes over the next name of its namespace that turns up unknown
//     (a pod's when it is bound to a node, or found unschedulable);
//   - deletecollection removes what is known of the resource in the namespace,
//     unless it had a selector: then nothing is known, and it is skipped, unless
//     the response lists what was removed;
//   - an update that changed nothing is an event here and none in a watch.
type auditLog struct {
	queue   []*heldEvent
	bytes   int       // of the queue's objects
	second  *Record   // what follows the record that was popped last
	now     time.Time // of the last entry
	ended   bool
	version uint64
	objects map[auditKey]*auditObject
	unnamed map[auditKey][]*auditObject // by resource and namespace, oldest first
	created int
	gone    recent
	skips   skips
}

// The queue waits for the fate of its first event: for so much of the log's time,
// twice the usual grace period, and for so much memory.
const (
	patience  = time.Minute
	mostHeld  = 50_000
	mostBytes = 64 << 20
)

// A heldEvent is an event of which it may not be known yet whether it removes
// its object.
type heldEvent struct {
	record Record // without an object where the log has none
	key    auditKey
	object *auditObject
	fate   fate
	both   bool // if it removes the object, it modified it too

	resource string // with version and group, for slim objects
}

// A fate says whether an object is there after an event.
type fate int

const (
	alive fate = iota
	unsure
	removed
)

type auditKey struct{ resource, namespace, name string }

type auditObject struct {
	name        string // as delivered; differs from the log's for an unnamed one
	terminating bool
	last        *heldEvent // what may have removed it; nil if nothing did
}

// pop returns the next event whose fate is known.
func (a *auditLog) pop() (Record, bool) {
	if second := a.second; second != nil {
		a.second = nil
		return *second, true
	}
	if len(a.queue) == 0 {
		return Record{}, false
	}
	h := a.queue[0]
	if h.fate == unsure {
		if !a.ended && a.now.Sub(h.record.Time) < patience && len(a.queue) < mostHeld && a.bytes < mostBytes {
			return Record{}, false
		}
		a.bury(h)
	}
	a.queue = a.queue[1:]
	a.bytes -= len(h.record.Object)
	if h.fate == removed && h.both {
		modified, deleted := a.finished(h, watch.Modified), a.finished(h, watch.Deleted)
		a.second = &deleted
		return modified, true
	}
	if h.fate == removed {
		return a.finished(h, watch.Deleted), true
	}
	return a.finished(h, h.record.Recorded), true
}

// finished is an event's record, with an object.
func (a *auditLog) finished(h *heldEvent, recorded watch.EventType) Record {
	record := h.record
	record.Recorded = recorded
	if record.Object == nil || h.object.name != h.key.name {
		a.version++
		record.APIVersion, record.Kind, record.Namespace, record.Name = slim.GroupVersion().String(), slim.Kind, h.key.namespace, h.object.name
		record.Resource, record.ResourceVersion = h.resource, strconv.FormatUint(a.version, 10)
		record.Object = slimObject(h.key.namespace, h.object.name, a.version)
	}
	return record
}

// bury removes an object with an event of it.
func (a *auditLog) bury(h *heldEvent) {
	h.fate, h.object.last = removed, nil
	if a.objects[h.key] == h.object {
		delete(a.objects, h.key)
	}
	a.gone.add(h.key)
}

// push takes a request that succeeded, or found that its object is gone, and
// queues the events that it stands for.
func (a *auditLog) push(e auditEvent) {
	a.now = e.Time
	name := schema.GroupResource{Group: e.Ref.Group, Resource: e.Ref.Resource}
	change := auditChange{
		key:      auditKey{name.String(), e.Ref.Namespace, e.Ref.Name},
		resource: e.resource(),
		record:   Record{Time: e.Time, place: e.place()},
		received: e.Received,
	}
	if name.Resource == "namespaces" && name.Group == "" {
		change.key.namespace = "" // the log repeats the name there
	}
	deletes := e.Verb == "delete" || e.Ref.Subresource == "eviction"
	change.fate = e.fate(deletes)
	if body, ok := e.body(); ok {
		change.setBody(body)
	}
	switch {
	case e.Status.Code == http.StatusNotFound:
		a.missed(change)
	case e.Verb == "deletecollection":
		a.deleteAll(change, e)
	case e.Verb == "create" && e.Ref.Subresource == "":
		a.create(change)
	case change.key.name == "":
		a.skips.add("requests for no object")
	case deletes:
		a.delete(change)
	case e.Ref.Subresource == "" && e.Status.Code == http.StatusCreated: // server-side apply
		a.create(change)
	default:
		status := e.Ref.Subresource == "status"
		names := e.Ref.Subresource == "binding" || status && e.User.Name == "system:kube-scheduler"
		a.update(change, names, status)
	}
}

// An auditChange is one request.
type auditChange struct {
	key      auditKey
	resource string // with version and group
	record   Record // its time and place, and the object where the log has it
	received time.Time
	fate     fate // of the object, if it was being deleted
}

// setBody takes the response, which may have been asked for as metadata alone: only the
// request says of what.
func (c *auditChange) setBody(body jsondoc.Entry) {
	place, ts := c.record.place, c.record.Time
	c.record = describe(body)
	c.record.place, c.record.Time, c.record.Resource = place, ts, c.resource
	c.key.name = body.Name
}

// hold queues an event of an object.
func (a *auditLog) hold(c auditChange, recorded watch.EventType, object *auditObject, f fate, both bool) {
	h := &heldEvent{record: c.record, key: c.key, object: object, fate: f, both: both, resource: c.resource}
	h.record.Recorded = recorded
	if f == unsure {
		object.last = h
	}
	if f == removed {
		a.bury(h)
	}
	a.queue = append(a.queue, h)
	a.bytes += len(h.record.Object)
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
	if old := a.objects[c.key]; old != nil && c.key.name != "" {
		a.end(old, c) // or it could not have been created
	}
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
	a.hold(c, watch.Added, object, alive, false)
}

// end removes an object that was being deleted and is now known to be gone.
func (a *auditLog) end(object *auditObject, c auditChange) {
	if object.last != nil {
		a.bury(object.last)
	} else if object.terminating {
		c.record = Record{Time: c.record.Time, place: c.record.place}
		a.hold(c, watch.Deleted, object, removed, false)
	}
}

// missed takes a request that did not find its object. What removed it may still
// be under way.
func (a *auditLog) missed(c auditChange) {
	a.skips.add("failed requests")
	if object := a.objects[c.key]; object != nil && object.last == nil {
		a.end(object, c)
	}
}

// update takes a change; names says that it is one of those that follow a pod's
// create.
func (a *auditLog) update(c auditChange, names, status bool) {
	object := a.objects[c.key]
	if object == nil && a.gone.has(c.key) {
		a.skips.add("changes after the delete")
		return
	}
	group := auditKey{c.key.resource, c.key.namespace, ""}
	if waiting := a.unnamed[group]; object == nil && len(waiting) > 0 && (names || c.key.resource != "pods") {
		object = waiting[0]
		if a.unnamed[group] = waiting[1:]; len(waiting) == 1 {
			delete(a.unnamed, group)
		}
	}
	if object == nil {
		object = &auditObject{name: c.key.name}
	}
	a.objects[c.key] = object
	if !object.terminating {
		if c.fate == unsure {
			c.fate = alive
		}
		a.hold(c, watch.Modified, object, c.fate, false)
		return
	}
	both := false
	if last := object.last; last != nil {
		last.fate, object.last = alive, nil
		// Of two requests at once the log does not tell which came first.
		if both = !c.received.After(last.record.Time); both {
			status = false
		}
	}
	if status && c.fate == unsure {
		c.fate = alive // and what drops a finalizer or the grace period comes later
	}
	a.hold(c, watch.Modified, object, c.fate, both)
}

func (a *auditLog) delete(c auditChange) {
	object := a.objects[c.key]
	if object == nil {
		if a.gone.has(c.key) {
			a.skips.add("changes after the delete")
			return
		}
		object = &auditObject{name: c.key.name}
		a.objects[c.key] = object
	}
	if object.last != nil {
		object.last.fate, object.last = alive, nil
	}
	object.terminating = true
	a.hold(c, watch.Modified, object, c.fate, c.key.resource == "pods")
}

func (a *auditLog) deleteAll(c auditChange, e auditEvent) {
	if listed := e.listed(); listed != nil {
		for _, item := range listed {
			body, err := jsondoc.NewReader(nil).Describe(item)
			if err != nil || body.Name == "" {
				continue
			}
			one := c
			one.fate = e.fateOf(item, true)
			if whole, ok := objectOf(item); ok {
				one.setBody(whole)
			}
			one.key.namespace, one.key.name = body.Namespace, body.Name
			a.delete(one)
		}
		return
	}
	if strings.Contains(e.RequestURI, "Selector=") {
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
		c.key = key
		a.delete(c)
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
