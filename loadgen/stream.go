package loadgen

import (
	"errors"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// An Object is any Kubernetes API object.
type Object interface {
	runtime.Object
	metav1.Object
}

// An Event is one watch event with the time at which it is due, counted from
// the begin of its stream. Bookmarks carry an Object whose resource version
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

// Contents reads the stream to its end and returns what a cache that saw all
// of it holds: the resource version by key (cache.MetaNamespaceKeyFunc). A
// benchmark compares its result with it. A stream that holds several kinds is
// an error, because their keys are not unique in one cache.
func Contents(s Stream) (map[string]string, error) {
	contents := map[string]string{}
	var kind schema.GroupVersionKind
	for {
		event, err := s.Next()
		if errors.Is(err, io.EOF) {
			return contents, nil
		}
		if err != nil {
			return nil, err
		}
		if event.Type == watch.Bookmark {
			continue
		}
		switch k := event.Object.GetObjectKind().GroupVersionKind(); {
		case kind.Empty():
			kind = k
		case kind != k:
			return nil, fmt.Errorf("the stream holds %s and %s, expected one kind", kind.Kind, k.Kind)
		}
		key := cache.MetaObjectToName(event.Object).String()
		if event.Type == watch.Deleted {
			delete(contents, key)
		} else {
			contents[key] = event.Object.GetResourceVersion()
		}
	}
}
