package fakeapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/loadgen"
)

// A ListerWatcher lists and watches one resource of a server.
type ListerWatcher struct {
	server     *Server
	collection *collection
}

var _ cache.ListerWatcherWithContext = ListerWatcher{}

// ListerWatcher returns what an informer of that resource is given. The index
// is that of Config.Types.
func (s *Server) ListerWatcher(resource int) ListerWatcher {
	return ListerWatcher{s, s.collections[resource]}
}

// IsWatchListSemanticsUnSupported tells a reflector beforehand whether streamed
// lists work.
func (l ListerWatcher) IsWatchListSemanticsUnSupported() bool { return l.server.config.NoWatchList }

// List implements cache.ListerWatcher.
func (l ListerWatcher) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), o)
}

// ListWithContext implements cache.ListerWatcherWithContext: a *metav1.List, a
// page of it where a limit is set and the resource version is not 0.
func (l ListerWatcher) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if o.Continue == "" {
		l.server.counters.lists.Add(1)
		if err := sleep(ctx, l.server.config.Faults.SlowList); err != nil {
			return nil, err
		}
	}
	objects, version, err := l.snapshot(o.Continue)
	if err != nil {
		return nil, err
	}
	list := &metav1.List{TypeMeta: metav1.TypeMeta{Kind: "List", APIVersion: "v1"}}
	list.ResourceVersion = strconv.FormatUint(version, 10)
	if limit := int(o.Limit); limit > 0 && limit < len(objects) && o.ResourceVersion != "0" {
		if o.Continue == "" {
			l.collection.page(version, objects)
		}
		list.Continue = fmt.Sprintf("%d/%d", version, len(objects)-limit)
		left := int64(len(objects) - limit)
		list.RemainingItemCount = &left
		objects = objects[:limit]
	}
	list.Items = make([]runtime.RawExtension, len(objects))
	for i, object := range objects {
		list.Items[i].Object = object
	}
	return list, nil
}

// snapshot returns the objects of a list, or those that a continued one still
// has to return: it goes on in what the first page saw.
func (l ListerWatcher) snapshot(token string) ([]loadgen.Object, uint64, error) {
	c := l.collection
	c.mu.Lock()
	defer c.mu.Unlock()
	if token == "" {
		return slices.Clone(c.objects), c.version, nil
	}
	version, left, _ := strings.Cut(token, "/")
	v, err1 := strconv.ParseUint(version, 10, 64)
	n, err2 := strconv.Atoi(left)
	if err1 != nil || err2 != nil || n < 0 {
		return nil, 0, apierrors.NewBadRequest(fmt.Sprintf("continue: found %q, expected a token of an earlier page", token))
	}
	paged, known := c.paged[v]
	if v < c.floor || !known || n > len(paged) {
		l.server.counters.gone.Add(1)
		return nil, 0, gone()
	}
	return paged[len(paged)-n:], v, nil
}

// Watch implements cache.ListerWatcher.
func (l ListerWatcher) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), o)
}

// WatchWithContext implements cache.ListerWatcherWithContext.
func (l ListerWatcher) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	streamed := o.SendInitialEvents != nil && *o.SendInitialEvents
	if streamed && l.server.config.NoWatchList {
		return nil, apierrors.NewBadRequest("sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
	}
	w := &watcher{
		server: l.server, collection: l.collection,
		result: make(chan watch.Event, buffered), stopped: make(chan struct{}), cut: make(chan struct{}),
		bookmarks: o.AllowWatchBookmarks,
	}
	if err := l.join(w, o.ResourceVersion, streamed); err != nil {
		return nil, err
	}
	l.server.counters.watches.Add(1)
	var timeout time.Duration
	if o.TimeoutSeconds != nil {
		timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	go w.run(timeout)
	return w, nil
}

// join gives a watch its position in the history and, where it asks for them,
// the objects of this moment.
func (l ListerWatcher) join(w *watcher, version string, streamed bool) error {
	c := l.collection
	c.mu.Lock()
	defer c.mu.Unlock()
	w.position = c.history.end
	if streamed || version == "" || version == "0" {
		for _, object := range c.objects {
			w.initial = append(w.initial, watch.Event{Type: watch.Added, Object: object})
		}
		if streamed && w.bookmarks {
			w.initialDelay = l.server.config.Faults.SlowList
			l.server.counters.lists.Add(1)
			if !l.server.config.Faults.NoListEnd {
				last := c.bookmark()
				last.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
				w.initial = append(w.initial, watch.Event{Type: watch.Bookmark, Object: last})
			}
		}
	} else {
		v, err := strconv.ParseUint(version, 10, 64)
		if err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("resourceVersion: found %q, expected a number", version))
		}
		position, ok := c.at(v)
		if !ok {
			l.server.counters.gone.Add(1)
			return gone()
		}
		w.position = position
	}
	c.watches[w] = struct{}{}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
