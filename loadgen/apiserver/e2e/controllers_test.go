package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informerbench/informerbench/impl/election"
	"github.com/informerbench/informerbench/impl/informer"
	"github.com/informerbench/informerbench/impl/priority"
	"github.com/informerbench/informerbench/impl/ratelimit"
)

const (
	reconciledObjects = 50
	reconciledLabel   = "reconciled"
)

// TestControllers runs real controllers on the library's parts, put in as their package
// pages say: each labels every config map of its namespace.
func TestControllers(t *testing.T) {
	server := serve(t)
	config, err := clientcmd.BuildConfigFromFlags("", server.Kubeconfig())
	require.NoError(t, err)
	config.QPS = -1
	clientset, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)

	t.Run("client-go", func(t *testing.T) {
		newConfigMaps(t, clientset, "client-go")
		ctx, stop := context.WithCancel(t.Context())
		elector := newElector(t, clientset, "client-go", func(ctx context.Context) {
			if err := labelWithClientGo(ctx, clientset, "client-go"); err != nil {
				t.Error(err)
			}
		})
		ended := make(chan struct{})
		go func() { defer close(ended); elector.Run(ctx) }()
		assertLabelled(t, clientset, "client-go")
		stop()
		<-ended
		lease, err := clientset.CoordinationV1().Leases("client-go").Get(t.Context(), "controller", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Empty(t, *lease.Spec.HolderIdentity, "holder once the controller has ended")
	})

	t.Run("controller-runtime", func(t *testing.T) {
		newConfigMaps(t, clientset, "controller-runtime")
		manager, err := ctrl.NewManager(config, ctrl.Options{
			Cache: ctrlcache.Options{
				NewInformer:       informer.NewWithResync,
				DefaultNamespaces: map[string]ctrlcache.Config{"controller-runtime": {}},
			},
			Metrics: metricsserver.Options{BindAddress: "0"},
		})
		require.NoError(t, err)
		require.NoError(t, ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).
			WithOptions(controller.Options{
				MaxConcurrentReconciles: 4,
				NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
					return priority.NewWithConfig(priority.Config[reconcile.Request]{Name: name, RateLimiter: limiter})
				},
			}).
			Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
				var object corev1.ConfigMap
				if err := manager.GetClient().Get(ctx, request.NamespacedName, &object); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				if object.Labels[reconciledLabel] != "" {
					return reconcile.Result{}, nil
				}
				object.Labels = map[string]string{reconciledLabel: "yes"}
				return reconcile.Result{}, manager.GetClient().Update(ctx, &object)
			})))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- manager.Start(ctx) }()
		assertLabelled(t, clientset, "controller-runtime")
		stop()
		require.NoError(t, <-ended)
	})
}

// labelWithClientGo is a controller as client-go's own examples write them.
func labelWithClientGo(ctx context.Context, clientset kubernetes.Interface, namespace string) error {
	factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(namespace))
	configMaps := factory.InformerFor(&corev1.ConfigMap{}, func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		source := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return c.CoreV1().ConfigMaps(namespace).List(ctx, o)
			},
			WatchFuncWithContext: c.CoreV1().ConfigMaps(namespace).Watch,
		}, c)
		return informer.NewWithResync(source, &corev1.ConfigMap{}, resync, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	})
	queue := ratelimit.NewFusedQueue(ratelimit.NewDefault[string](), workqueue.TypedRateLimitingQueueConfig[string]{})
	enqueue := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			queue.Add(key)
		}
	}
	if _, err := configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) }, DeleteFunc: enqueue,
	}); err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	factory.WaitForCacheSync(ctx.Done())

	lister := corelisters.NewConfigMapLister(configMaps.GetIndexer())
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for {
				key, shutdown := queue.Get()
				if shutdown {
					return
				}
				if err := label(ctx, clientset, lister, key); err != nil {
					queue.AddRateLimited(key)
				} else {
					queue.Forget(key)
				}
				queue.Done(key)
			}
		})
	}
	<-ctx.Done()
	queue.ShutDown()
	workers.Wait()
	return nil
}

// label is the reconcile: it reads the cache and writes to the API server.
func label(ctx context.Context, clientset kubernetes.Interface, lister corelisters.ConfigMapLister, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil
	}
	object, err := lister.ConfigMaps(namespace).Get(name)
	if err != nil || object.Labels[reconciledLabel] != "" {
		return nil // gone, or done
	}
	object = object.DeepCopy()
	object.Labels = map[string]string{reconciledLabel: "yes"}
	_, err = clientset.CoreV1().ConfigMaps(namespace).Update(ctx, object, metav1.UpdateOptions{})
	return err
}

// newElector makes a candidate on a Lease that gives it back once work has returned.
func newElector(t *testing.T, clientset kubernetes.Interface, namespace string, work func(context.Context)) *election.LeaderElector {
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, namespace, "controller",
		clientset.CoreV1(), clientset.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: "controller-0"})
	require.NoError(t, err)
	elector, err := election.NewWithOptions(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks:       leaderelection.LeaderCallbacks{OnStartedLeading: work, OnStoppedLeading: func() {}},
	}, election.Options{WaitForWork: time.Minute, CallTimeout: 4 * time.Second})
	require.NoError(t, err)
	return elector
}

func newConfigMaps(t *testing.T, clientset kubernetes.Interface, namespace string) {
	_, err := clientset.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	for i := range reconciledObjects {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("object-%d", i)}}
		_, err := clientset.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

func assertLabelled(t *testing.T, clientset kubernetes.Interface, namespace string) {
	t.Helper()
	found := 0
	err := poll(t, func(ctx context.Context) (bool, error) {
		list, err := clientset.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{LabelSelector: reconciledLabel})
		if err != nil {
			return false, err
		}
		found = len(list.Items)
		return found == reconciledObjects, nil
	})
	require.NoError(t, err, "%d of %d objects were reconciled", found, reconciledObjects)
}
