package impl_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/informerbench/informerbench/impl/delay"
	"github.com/informerbench/informerbench/impl/priority"
	"github.com/informerbench/informerbench/impl/ratelimit"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// A controller written against client-go changes one constructor.
func Example_clientGo() {
	queue := ratelimit.NewFusedQueue(
		ratelimit.NewDefault[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "pods"},
	)
	queue.Add("default/web-0")
	key, _ := queue.Get()
	fmt.Println("reconcile", key)
	queue.AddRateLimited(key) // it failed: once more in 5 ms
	queue.Done(key)

	key, _ = queue.Get()
	fmt.Println("reconcile", key, "after", queue.NumRequeues(key), "failure")
	queue.Forget(key)
	queue.Done(key)
	queue.ShutDownWithDrain()
	// Output:
	// reconcile default/web-0
	// reconcile default/web-0 after 1 failure
}

// Only the delays: client-go's own rate limiting queue over our delaying queue.
func Example_delayingQueue() {
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{
			DelayingQueue: delay.NewHeap4(workqueue.TypedDelayingQueueConfig[string]{Name: "nodes"}),
		},
	)
	queue.AddAfter("node-1", 300*time.Millisecond)
	queue.AddAfter("node-2", time.Millisecond)
	for range 2 {
		key, _ := queue.Get()
		fmt.Println("reconcile", key)
		queue.Done(key)
	}
	queue.ShutDown()
	// Output:
	// reconcile node-2
	// reconcile node-1
}

// A named queue reports to the provider of its configuration, here one that serves
// metrics under upstream's names to Prometheus: see newPrometheusProvider.
func Example_metrics() {
	registry := prometheus.NewRegistry()
	queue := ratelimit.NewFusedQueue(
		ratelimit.NewDefault[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "orders", MetricsProvider: newPrometheusProvider(registry)},
	)
	defer queue.ShutDown()
	queue.Add("order-1")
	queue.Add("order-2")
	key, _ := queue.Get()
	queue.AddAfter(key, time.Hour) // counts as a retry
	queue.Done(key)

	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if !slices.ContainsFunc(metric.GetLabel(), func(l *dto.LabelPair) bool { return l.GetValue() == "orders" && l.GetName() == "name" }) {
				continue
			}
			switch {
			case metric.GetCounter() != nil:
				fmt.Println(family.GetName(), metric.GetCounter().GetValue())
			case metric.GetHistogram() != nil:
				fmt.Println(family.GetName(), "observed", metric.GetHistogram().GetSampleCount())
			default:
				fmt.Println(family.GetName(), metric.GetGauge().GetValue())
			}
		}
	}
	// Output:
	// workqueue_adds_total 2
	// workqueue_depth 1
	// workqueue_longest_running_processor_seconds 0
	// workqueue_queue_duration_seconds observed 1
	// workqueue_retries_total 1
	// workqueue_unfinished_work_seconds 0
	// workqueue_work_duration_seconds observed 1
}

// A controller built with controller-runtime passes the constructor as NewQueue:
// of a priority queue, as its own is, unless its options say UsePriorityQueue: false.
func Example_controllerRuntime() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}}
	cluster := fake.NewClientBuilder().WithObjects(pod).Build()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	reconcilePod := func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		var pod corev1.Pod
		if err := cluster.Get(ctx, request.NamespacedName, &pod); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		if pod.Labels["seen"] == "" {
			pod.Labels = map[string]string{"seen": "once"}
			return reconcile.Result{RequeueAfter: time.Millisecond}, cluster.Update(ctx, &pod)
		}
		fmt.Println("reconciled", request.NamespacedName, "with label", pod.Labels["seen"])
		cancel()
		return reconcile.Result{}, nil
	}

	c, err := controller.NewUnmanaged("pods", controller.Options{
		Reconciler: reconcile.Func(reconcilePod),
		NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
			return priority.NewWithConfig(priority.Config[reconcile.Request]{Name: name, RateLimiter: limiter})
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	events := make(chan event.GenericEvent, 1)
	events <- event.GenericEvent{Object: pod}
	if err := c.Watch(source.Channel(events, &handler.EnqueueRequestForObject{})); err != nil {
		fmt.Println(err)
		return
	}
	if err := c.Start(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: reconciled default/web-0 with label once
}
