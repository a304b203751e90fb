package impltest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// A source is an API server of one kind of object: it lists, in pages if asked,
// and watches from a resource version or, if streaming, with the initial events
// first. Its events are in the watchers' channels before a call returns.
type source struct {
	streaming bool // it serves watch-lists

	mu       sync.Mutex
	version  int
	objs     map[string]*metav1.PartialObjectMetadata
	log      []logged
	oldest   int // watches from before it are gone
	watchers []*sourceWatch
	lists    []metav1.ListOptions
	watches  []metav1.ListOptions
	failing  []error // what the next lists answer
	refusing []error // what the next watches answer
}

// A logged event is one that a watch can start before.
type logged struct {
	version int
	apiwatch.Event
}

// A sourceWatch is a watch on a source.
type sourceWatch struct {
	events    chan apiwatch.Event
	bookmarks bool // it asked for them
}

func (w *sourceWatch) ResultChan() <-chan apiwatch.Event { return w.events }
func (w *sourceWatch) Stop()                             {}

// watchRoom is more events than a clause sends.
const watchRoom = 1 << 14

func newSource(names ...string) *source {
	s := &source{objs: map[string]*metav1.PartialObjectMetadata{}, version: 10}
	for _, name := range names {
		s.set(name)
	}
	return s
}

// IsWatchListSemanticsUnSupported tells the Reflector to list.
func (s *source) IsWatchListSemanticsUnSupported() bool { return !s.streaming }

func (s *source) List(o metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists = append(s.lists, o)
	if len(s.failing) > 0 {
		err := s.failing[0]
		if s.failing = s.failing[1:]; err != nil {
			return nil, err
		}
	}
	list := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(s.version)}}
	names := slices.Sorted(maps.Keys(s.objs))
	from, _ := strconv.Atoi(o.Continue)
	names = names[from:]
	if o.Limit > 0 && int(o.Limit) < len(names) {
		names = names[:o.Limit]
		list.Continue = fmt.Sprint(from + len(names))
	}
	for _, name := range names {
		list.Items = append(list.Items, *s.objs[name])
	}
	return list, nil
}

func (s *source) Watch(o metav1.ListOptions) (apiwatch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches = append(s.watches, o)
	if len(s.refusing) > 0 {
		err := s.refusing[0]
		if s.refusing = s.refusing[1:]; err != nil {
			return nil, err
		}
	}
	w := &sourceWatch{events: make(chan apiwatch.Event, watchRoom), bookmarks: o.AllowWatchBookmarks}
	from, _ := strconv.Atoi(o.ResourceVersion)
	switch {
	case o.SendInitialEvents != nil && *o.SendInitialEvents:
		for _, name := range slices.Sorted(maps.Keys(s.objs)) {
			w.events <- apiwatch.Event{Type: apiwatch.Added, Object: s.objs[name]}
		}
		end := &metav1.PartialObjectMetadata{}
		end.ResourceVersion, end.Annotations = fmt.Sprint(s.version), map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		w.events <- apiwatch.Event{Type: apiwatch.Bookmark, Object: end}
	case from < s.oldest:
		w.events <- apiwatch.Event{Type: apiwatch.Error, Object: &goneError().ErrStatus}
		return w, nil
	default:
		for _, e := range s.log {
			if e.version > from {
				w.events <- e.Event
			}
		}
	}
	s.watchers = append(s.watchers, w)
	return w, nil
}

func goneError() *apierrors.StatusError { return apierrors.NewResourceExpired("too old") }

func tooLargeError() error {
	err := apierrors.NewTimeoutError("Too large resource version", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	return err
}

func throttledError() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusTooManyRequests, Reason: metav1.StatusReasonTooManyRequests}}
}

// set writes the next version of an object.
func (s *source) set(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.version++
		kind := apiwatch.Added
		if s.objs[name] != nil {
			kind = apiwatch.Modified
		}
		s.objs[name] = object(name, s.version)
		s.emit(kind, s.objs[name])
	}
}

// unset deletes objects.
func (s *source) unset(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if s.objs[name] == nil {
			continue
		}
		s.version++
		delete(s.objs, name)
		s.emit(apiwatch.Deleted, object(name, s.version))
	}
}

func (s *source) emit(kind apiwatch.EventType, o *metav1.PartialObjectMetadata) {
	e := apiwatch.Event{Type: kind, Object: o}
	s.log = append(s.log, logged{s.version, e})
	s.broadcast(e)
}

// inject sends an event that the source's state knows nothing of.
func (s *source) inject(kind apiwatch.EventType, o runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broadcast(apiwatch.Event{Type: kind, Object: o})
}

func (s *source) broadcast(e apiwatch.Event) {
	for _, w := range s.watchers {
		if e.Type != apiwatch.Bookmark || w.bookmarks {
			w.events <- e
		}
	}
}

// bookmark tells the watchers the version.
func (s *source) bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.broadcast(apiwatch.Event{Type: apiwatch.Bookmark, Object: object("", s.version)})
}

// disconnect closes the watches.
func (s *source) disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watchers {
		close(w.events)
	}
	s.watchers = nil
}

// compact ends the watches with 410 Gone; a watch from before now gets it too.
func (s *source) compact() {
	s.inject(apiwatch.Error, &goneError().ErrStatus)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.oldest, s.watchers, s.log = s.version, nil, nil
}

// fail makes the next lists and watches answer errors.
func (s *source) fail(lists, watches []error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing, s.refusing = append(s.failing, lists...), append(s.refusing, watches...)
}

// truth is the labels of what the source holds.
func (s *source) truth() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var objs []any
	for _, o := range s.objs {
		objs = append(objs, o)
	}
	return labels(objs)
}

// asked is the lists and watches so far.
func (s *source) asked() (lists, watches []metav1.ListOptions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lists), slices.Clone(s.watches)
}
