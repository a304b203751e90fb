package drive

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/informer"
)

// controller-runtime's client with EnableReadYourWritesConsistency reads from every
// informer what it wrote itself, and waits as an own write of a drive does: until the
// informer has told of the write.
func TestClientReadsItsOwnWrites(t *testing.T) {
	for _, v := range impl.Informers() {
		t.Run(v.Name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { readOwnWrites(t, v.New) }) })
	}
}

func readOwnWrites(t *testing.T, newInformer impl.NewInformer) {
	api := newConfigMapAPI()
	c := newConsistentClient(t, api, newInformer)
	key := client.ObjectKey{Namespace: "default", Name: "a"}
	read := make(chan error)
	var got corev1.ConfigMap
	get := func() { go func() { read <- c.Get(t.Context(), key, &got) }() }

	get()
	require.NoError(t, <-read)
	for i := range 3 {
		got.Data = map[string]string{"written": strconv.Itoa(i)}
		require.NoError(t, c.Update(t.Context(), &got))
		get()
		assertWaits(t, read)
		require.NoError(t, api.tell())
		require.NoError(t, <-read)
		assert.Equal(t, strconv.Itoa(i), got.Data["written"])
	}

	require.NoError(t, c.Delete(t.Context(), &got))
	get()
	assertWaits(t, read)
	require.NoError(t, api.tell())
	assert.True(t, apierrors.IsNotFound(<-read))
}

// A reconciler reads what it wrote a moment ago: with the option, a Get through the
// cache waits until the informer has told of the client's own write. (In a manager:
// ctrl.Options{Cache: cache.Options{NewInformer: informer.NewWithResync}, Client:
// client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &yes}}}.)
func Example_readYourOwnWrites() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	api := newConfigMapAPI() // a program has a cluster's
	config, mapper := api.config()
	objects, err := ctrlcache.New(config, ctrlcache.Options{Scheme: scheme.Scheme, Mapper: mapper, NewInformer: informer.NewWithResync})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- objects.Start(ctx) }()
	yes := true
	c, err := client.New(config, client.Options{Scheme: scheme.Scheme, Mapper: mapper,
		Cache: &client.CacheOptions{Reader: objects, EnableReadYourWritesConsistency: &yes}})
	if err != nil {
		fmt.Println(err)
		return
	}

	key := client.ObjectKey{Namespace: "default", Name: "a"}
	var read corev1.ConfigMap
	err = c.Get(ctx, key, &read)
	fmt.Println("at first:", read.Data["leader"], err)
	read.Data = map[string]string{"leader": "web-0"}
	fmt.Println("write:", c.Update(ctx, &read))
	go func() { _ = api.tell() }() // the watch event comes after the answer
	err = c.Get(ctx, key, &read)
	fmt.Println("then:", read.Data["leader"], err)
	stop()
	fmt.Println(<-ended)
	// Output:
	// at first:  <nil>
	// write: <nil>
	// then: web-0 <nil>
	// <nil>
}

func assertWaits(t *testing.T, read <-chan error) {
	synctest.Wait()
	select {
	case err := <-read:
		t.Fatalf("a read that the informer can't answer yet returned %v, expected it to wait", err)
	default:
	}
}

// newConsistentClient makes a client and its cache, which ends with the test.
func newConsistentClient(t *testing.T, api *configMapAPI, newInformer impl.NewInformer) client.Client {
	config, mapper := api.config()
	objects, err := ctrlcache.New(config, ctrlcache.Options{
		Scheme: scheme.Scheme, Mapper: mapper,
		NewInformer: func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
			return newInformer(lw, example, cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers})
		},
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- objects.Start(ctx) }()
	t.Cleanup(func() { stop(); assert.NoError(t, <-ended) })
	consistent := true
	c, err := client.New(config, client.Options{Scheme: scheme.Scheme, Mapper: mapper,
		Cache: &client.CacheOptions{Reader: objects, EnableReadYourWritesConsistency: &consistent}})
	require.NoError(t, err)
	return c
}

// A configMapAPI is an API server that has one config map, and tells its watch of what
// was written when it is asked to.
type configMapAPI struct {
	watched chan struct{} // closed by the first watch
	mu      sync.Mutex
	version int
	stored  corev1.ConfigMap
	held    []metav1.WatchEvent
	watch   *io.PipeWriter
}

func newConfigMapAPI() *configMapAPI {
	return &configMapAPI{watched: make(chan struct{}), version: 1,
		stored: corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", UID: "u", ResourceVersion: "1"}}}
}

func (a *configMapAPI) config() (*rest.Config, meta.RESTMapper) {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	return &rest.Config{Host: "http://api", Transport: a, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, mapper
}

func (a *configMapAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	query := r.URL.Query()
	switch {
	case query.Get("sendInitialEvents") == "true":
		return answer(http.StatusUnprocessableEntity, metav1.Status{Message: "this server streams no lists"}), nil
	case query.Get("watch") == "true":
		body, events := io.Pipe()
		if a.watch == nil {
			close(a.watched)
		}
		a.watch = events
		context.AfterFunc(r.Context(), func() { _ = events.CloseWithError(io.EOF) })
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}, nil
	case r.Method == http.MethodPut:
		if err := json.NewDecoder(r.Body).Decode(&a.stored); err != nil {
			return nil, err
		}
		a.wrote(watch.Modified)
		return answer(http.StatusOK, a.stored), nil
	case r.Method == http.MethodDelete:
		a.wrote(watch.Deleted)
		return answer(http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess}), nil
	case r.Method == http.MethodGet:
		return answer(http.StatusOK, corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"},
			ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(a.version)}, Items: []corev1.ConfigMap{a.stored}}), nil
	}
	return nil, fmt.Errorf("unexpected request %s %s", r.Method, r.URL)
}

func (a *configMapAPI) wrote(as watch.EventType) {
	a.version++
	a.stored.ResourceVersion = strconv.Itoa(a.version)
	a.stored.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	event := metav1.WatchEvent{Type: string(as)}
	event.Object.Raw, _ = json.Marshal(a.stored)
	a.held = append(a.held, event)
}

// tell lets the watch have what was written, once there is one.
func (a *configMapAPI) tell() error {
	<-a.watched
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, event := range a.held {
		if err := json.NewEncoder(a.watch).Encode(event); err != nil {
			return err
		}
	}
	a.held = nil
	return nil
}

func answer(code int, body any) *http.Response {
	text, _ := json.Marshal(body)
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text))}
}
