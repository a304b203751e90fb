package informer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/impl/informer"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func podsOf(c kubernetes.Interface) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return c.CoreV1().Pods("").List(ctx, o)
		},
		WatchFuncWithContext: c.CoreV1().Pods("").Watch,
	}, c)
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: "1"}}
}

// A client-go factory takes the constructor in InformerFor, before anyone asks
// it for that type: from then on its pod informer is this one.
func Example_clientGo() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	clientset := fake.NewClientset(pod("web-0"))

	factory := informers.NewSharedInformerFactory(clientset, time.Minute)
	pods := factory.InformerFor(&corev1.Pod{}, func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return informer.NewWithResync(podsOf(c), &corev1.Pod{}, resync, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	})
	told, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { fmt.Println("added", obj.(*corev1.Pod).Name) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	factory.StartWithContext(ctx)
	if !cache.WaitFor(ctx, "", told.HasSyncedChecker()) {
		return
	}
	list, err := factory.Core().V1().Pods().Lister().Pods("default").Get("web-0")
	fmt.Println("listed", list.Name, err)
	cancel()
	factory.Shutdown()
	// Output:
	// added web-0
	// listed web-0 <nil>
}

// Controllers built with controller-runtime set it in the manager's cache
// options: ctrl.Options{Cache: cache.Options{NewInformer: informer.NewWithResync}}.
func Example_controllerRuntime() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := httptest.NewServer(podServer())
	defer server.Close()

	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	pods, err := ctrlcache.New(&rest.Config{Host: server.URL}, ctrlcache.Options{
		Scheme:      scheme.Scheme,
		Mapper:      mapper,
		NewInformer: informer.NewWithResync,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- pods.Start(ctx) }()
	pods.WaitForCacheSync(ctx) // it has started
	var web corev1.Pod
	err = pods.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web-0"}, &web)
	fmt.Println(web.Name, err)
	cancel()
	fmt.Println(<-ended)
	// Output:
	// web-0 <nil>
	// <nil>
}

// podServer lists one pod and has watches that say nothing.
func podServer() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("sendInitialEvents") == "true" {
			http.Error(w, "this server streams no lists", http.StatusUnprocessableEntity)
			return
		}
		if r.URL.Query().Get("watch") == "true" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		_ = json.NewEncoder(w).Encode(&corev1.PodList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
			ListMeta: metav1.ListMeta{ResourceVersion: "1"},
			Items:    []corev1.Pod{*pod("web-0")},
		})
	})
}

// A Factory shares informers where there are no generated ones.
func ExampleFactory() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	clientset := fake.NewClientset(pod("web-0"))

	var factory informer.Factory
	pods := factory.For(&corev1.Pod{}, podsOf(clientset), cache.SharedIndexInformerOptions{})
	factory.Start(ctx)
	if err := factory.WaitForCacheSync(ctx).AsError(); err != nil {
		fmt.Println(err)
		return
	}
	web, err := corelisters.NewPodLister(pods.GetIndexer()).Pods("default").Get("web-0")
	fmt.Println(web.Name, err)
	cancel()
	factory.Shutdown()
	// Output: web-0 <nil>
}

// waiting is a gauge; a controller would take one of its metrics library.
type waiting struct{ atomic.Int64 }

func (w *waiting) Set(n float64) { w.Store(int64(n)) }

// A gauge for each handler tells how far it is behind: a handler that does more than
// adding a key to a queue holds up the notifications behind it.
func ExampleOptions() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	clientset := fake.NewClientset(pod("web-0"), pod("web-1"), pod("web-2"))

	var backlog waiting
	pods := informer.Options{
		Backlog: func(cache.InformerNameAndResource, string) cache.GaugeMetric { return &backlog },
	}.New(podsOf(clientset), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	called, goOn := make(chan struct{}), make(chan struct{})
	handler, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { called <- struct{}{}; <-goOn }})
	if err != nil {
		fmt.Println(err)
		return
	}
	go pods.RunWithContext(ctx)
	for range 3 {
		<-called
		fmt.Println("wait behind this one:", backlog.Load())
		goOn <- struct{}{}
	}
	fmt.Println(cache.WaitFor(ctx, "", handler.HasSyncedChecker()))
	// Output:
	// wait behind this one: 2
	// wait behind this one: 1
	// wait behind this one: 0
	// true
}
