package trace

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// A Record is one event as it was recorded. Its object is not decoded.
type Record struct {
	Time     time.Time       // of receipt; zero if none was recorded
	At       time.Duration   // when it is due, from the first record on
	Recorded watch.EventType // "" for an object that came without an event
	Type     watch.EventType // as a cache sees it: the first event of an object is ADDED
	Resource string          // as recorded: "pods", "deployments.v1.apps", "" if it was not

	GroupResource string                  // "pods", "deployments.apps", whatever was recorded
	Of            schema.GroupVersionKind // what the object is, or is the metadata of

	APIVersion, Kind, Namespace, Name, ResourceVersion string

	// Object is the object's JSON, valid until the next call. Where only the
	// metadata is known it is a PartialObjectMetadata and Resource says of what.
	Object []byte

	place place
}

// A place is where a record was found, for errors.
type place struct {
	document, line int    // of JSON, from 1
	part           string // of other formats: "block 3"
}

// A source yields the records of one format. It sets Time, Recorded, Resource,
// Object, what the object says of itself, and the place.
type source interface {
	// next returns io.EOF after the last record, *jsondoc.Error or *partError
	// for a fault of the file, or the input's own error.
	next() (Record, error)
	// skipped counts what the source left out, by reason; nil for nothing.
	skipped() map[string]int
}

// A partError is a fault of a format that has no lines.
type partError struct{ part, problem string }

func (e *partError) Error() string { return e.part + ": " + e.problem }
