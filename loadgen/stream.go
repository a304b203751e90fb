package loadgen

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// An Object is any Kubernetes API object.
type Object interface {
	runtime.Object
	metav1.Object
}

// An Event is one watch event with the time at which it is due, counted from
// the start of its stream. Bookmarks carry an Object whose resource version
// alone is set.
//
// Objects are read-only, as those of an informer's cache are: versions of a
// generated object share what did not change between them.
type Event struct {
	At       time.Duration
	Type     watch.EventType
	Resource int // index in Spec.Resources; recordings have 0 only
	Object   Object
}

// A Stream yields watch events in order. Next returns io.EOF after the last
// event, any other error once and for good.
type Stream interface {
	Next() (Event, error)
}
