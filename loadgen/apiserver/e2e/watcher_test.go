package e2e

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/impl"
)

// A connection is how one variant reaches the server: its own, so that variants
// do not share a watch's fate.
type connection struct {
	config *rest.Config
	http   *http.Client

	mu    sync.Mutex
	types map[string]bool // of the responses' contents
}

func connect(t *testing.T, base *rest.Config, address, contentType string) *connection {
	t.Helper()
	c := &connection{config: rest.CopyConfig(base), types: map[string]bool{}}
	c.config.Host = "https://" + address
	c.config.ContentType = contentType
	c.config.AcceptContentTypes = contentType
	c.config.Dial = (&net.Dialer{}).DialContext
	c.config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &observer{next, c} })
	var err error
	c.http, err = rest.HTTPClientFor(c.config)
	require.NoError(t, err)
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

// An observer notes the content types that the server answers with.
type observer struct {
	next http.RoundTripper
	c    *connection
}

func (o *observer) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := o.next.RoundTrip(request)
	if err == nil {
		contents, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
		o.c.mu.Lock()
		o.c.types[contents] = true
		o.c.mu.Unlock()
	}
	return response, err
}

func (o *observer) WrappedRoundTripper() http.RoundTripper { return o.next }

// contentTypes returns what the server has answered with, sorted.
func (c *connection) contentTypes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.types))
}

// A watcher is an informer of one variant on one kind, and what came of it.
type watcher struct {
	name     string // of variant, resource and content type
	kind     kind
	informer cache.SharedIndexInformer

	lists, watchLists, expired atomic.Int64
	streaming                  atomic.Bool // the current watch has sent something

	mu   sync.Mutex
	seen map[string]string // what the handler was told last: key to resource version
}

func newWatcher(t *testing.T, v impl.Variant[impl.NewInformer], c *connection, k kind) *watcher {
	t.Helper()
	client, err := restClient(c.config, c.http, k)
	require.NoError(t, err)
	w := &watcher{name: fmt.Sprintf("%s/%s as %s", v.Name, k.Resource, c.config.ContentType), kind: k, seen: map[string]string{}}
	source := cache.NewFilteredListWatchFromClient(client, k.Resource, metav1.NamespaceAll, func(o *metav1.ListOptions) {
		o.LabelSelector = ours
	})
	w.informer = v.New(&countingListerWatcher{source, w}, k.object, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	})
	_, err = w.informer.AddEventHandler(w)
	require.NoError(t, err)
	return w
}

func (w *watcher) OnAdd(object any, _ bool) { w.note(object, false) }
func (w *watcher) OnUpdate(_, object any)   { w.note(object, false) }
func (w *watcher) OnDelete(object any)      { w.note(object, true) }

// note keeps what the handler was told.
func (w *watcher) note(object any, gone bool) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		panic(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if gone {
		delete(w.seen, key)
	} else {
		w.seen[key] = version(object)
	}
}

// version returns an object's resource version.
func version(object any) string {
	m, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	return m.GetResourceVersion()
}

// behind says how the store and the handler differ from a fresh list, by key and
// resource version; it is empty when they do not.
func (w *watcher) behind(fresh map[string]runtime.Object) string {
	expected := map[string]string{}
	for key, object := range fresh {
		expected[key] = version(object)
	}
	stored := map[string]string{}
	for _, key := range w.informer.GetStore().ListKeys() {
		if object, ok, _ := w.informer.GetStore().GetByKey(key); ok {
			stored[key] = version(object)
		}
	}
	w.mu.Lock()
	seen := maps.Clone(w.seen)
	w.mu.Unlock()
	if d := difference(expected, stored); d != "" {
		return w.name + ": store: " + d
	}
	if d := difference(expected, seen); d != "" {
		return w.name + ": handler: " + d
	}
	return ""
}

func difference(expected, got map[string]string) string {
	var all []string
	for key, v := range expected {
		if got[key] != v {
			all = append(all, fmt.Sprintf("%s has version %q, expected %q", key, got[key], v))
		}
	}
	for key, v := range got {
		if _, ok := expected[key]; !ok {
			all = append(all, fmt.Sprintf("%s has version %q, expected none", key, v))
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return fmt.Sprintf("%d differ: %s", len(all), strings.Join(all[:min(3, len(all))], ", "))
}

// equal checks that the store and its index hold a fresh list, field by field.
func (w *watcher) equal(t *testing.T, fresh map[string]runtime.Object) {
	t.Helper()
	stored := w.informer.GetStore().List()
	require.Len(t, stored, len(fresh), w.name)
	inNamespace := map[string]int{}
	for _, object := range stored {
		key, err := cache.MetaNamespaceKeyFunc(object)
		require.NoError(t, err)
		if e, g := untyped(fresh[key]), untyped(object.(runtime.Object)); !apiequality.Semantic.DeepEqual(e, g) {
			require.Equal(t, e, g, w.name)
		}
		namespace, _, _ := cache.SplitMetaNamespaceKey(key)
		inNamespace[namespace]++
	}
	for namespace, n := range inNamespace {
		indexed, err := w.informer.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
		require.NoError(t, err)
		require.Len(t, indexed, n, "%s: index of namespace %q", w.name, namespace)
	}
}

// untyped returns a copy without kind and API version, which only some decoders set.
func untyped(object runtime.Object) runtime.Object {
	if object == nil {
		return nil
	}
	object = object.DeepCopyObject()
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return object
}

// A countingListerWatcher counts what an informer asks for, and the expiries that
// it is answered with.
type countingListerWatcher struct {
	*cache.ListWatch
	w *watcher
}

func (c *countingListerWatcher) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	c.w.lists.Add(1)
	return c.ListWatch.ListWithContext(ctx, options)
}

func (c *countingListerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		c.w.watchLists.Add(1)
	}
	stream, err := c.ListWatch.WatchWithContext(ctx, options)
	if err != nil {
		c.count(err)
		return nil, err
	}
	c.w.streaming.Store(false)
	counted := &countedWatch{Interface: stream, events: make(chan watch.Event), stopped: make(chan struct{})}
	go counted.pass(c)
	return counted, nil
}

// A countedWatch passes a watch on. (watch.Filter would not end when it is stopped
// with an event at hand.)
type countedWatch struct {
	watch.Interface
	events  chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

func (w *countedWatch) ResultChan() <-chan watch.Event { return w.events }

func (w *countedWatch) Stop() {
	w.once.Do(func() { close(w.stopped) })
	w.Interface.Stop()
}

func (w *countedWatch) pass(c *countingListerWatcher) {
	defer close(w.events)
	for e := range w.Interface.ResultChan() {
		if e.Type == watch.Error {
			c.count(apierrors.FromObject(e.Object))
		}
		c.w.streaming.Store(true)
		select {
		case w.events <- e:
		case <-w.stopped:
			return
		}
	}
}

func (c *countingListerWatcher) count(err error) {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		c.w.expired.Add(1)
	}
}
