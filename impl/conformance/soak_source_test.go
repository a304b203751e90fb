package conformance

import (
	"fmt"
	"math/rand/v2"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// A soakSource is a server with one watcher. It remembers no events, so a watch
// from any version but the last is gone, and the Reflector lists again.
type soakSource struct {
	mu      sync.Mutex
	version int
	objects map[string]*metav1.PartialObjectMetadata
	watcher chan watch.Event
	watched *sync.Cond // there is a watcher
	missed  int        // events since there was one
}

const (
	soakBacklog = 100  // events that may wait in a watch
	soakMissed  = 1000 // events that a broken watch may miss
)

func newSoakSource() *soakSource {
	s := &soakSource{objects: map[string]*metav1.PartialObjectMetadata{}}
	s.watched = sync.NewCond(&s.mu)
	return s
}

func (*soakSource) IsWatchListSemanticsUnSupported() bool { return true }

func (s *soakSource) List(metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(s.version)}}
	for _, o := range s.objects {
		list.Items = append(list.Items, *o)
	}
	return list, nil
}

func (s *soakSource) Watch(o metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.ResourceVersion != fmt.Sprint(s.version) {
		return nil, apierrors.NewResourceExpired("too old")
	}
	s.watcher = make(chan watch.Event, soakBacklog)
	s.watched.Signal()
	return soakWatch(s.watcher), nil
}

type soakWatch chan watch.Event

func (w soakWatch) ResultChan() <-chan watch.Event { return w }
func (soakWatch) Stop()                            {}

// change writes or deletes an object. Once in a while it breaks the watch, and
// goes on for as long as the Reflector may miss events before it waits for it.
func (s *soakSource) change(r *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.watcher == nil && s.missed == soakMissed {
		s.watched.Wait()
	}
	name := fmt.Sprintf("object-%d", r.IntN(soakObjects))
	s.version++
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: name, ResourceVersion: fmt.Sprint(s.version), Labels: map[string]string{"group": fmt.Sprint(r.IntN(soakGroups))},
	}}
	kind := watch.Modified
	switch _, exists := s.objects[name]; {
	case !exists:
		kind = watch.Added
		s.objects[name] = o
	case r.IntN(4) == 0:
		kind = watch.Deleted
		delete(s.objects, name)
	default:
		s.objects[name] = o
	}
	switch {
	case s.watcher == nil:
		s.missed++
	case s.version%50_000 == soakMissed:
		close(s.watcher)
		s.watcher, s.missed = nil, 1
	default:
		s.watcher <- watch.Event{Type: kind, Object: o}
	}
}

func (s *soakSource) truth() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	versions := map[string]int{}
	for name, o := range s.objects {
		versions[name] = version(o)
	}
	return versions
}
