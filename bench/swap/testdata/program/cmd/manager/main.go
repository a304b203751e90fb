// Command manager is a controller on a source within the process. A named pipe
// tells it how many events come.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"example.com/program/keys"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

type podKey string

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func run() error {
	// The source can't stream its first list.
	if err := os.Setenv("KUBE_FEATURE_WatchListClient", "false"); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	source := watch.NewFake()
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
			return &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
		},
		WatchFunc: func(metav1.ListOptions) (watch.Interface, error) { return source, nil },
	}, &v1.Pod{}, 0, cache.Indexers{})
	if _, err := informer.AddEventHandler(handler()); err != nil {
		return err
	}
	go informer.Run(ctx.Done())
	if path := os.Getenv("PROGRAM_EVENTS"); path != "" {
		events, err := os.OpenFile(path, os.O_RDWR, 0) // so that it never ends
		if err != nil {
			return err
		}
		go feed(source, events)
	}
	<-ctx.Done()
	return nil
}

// handler adds each object to queues of every kind.
func handler() cache.ResourceEventHandler {
	pods, own := keys.Named[string]("pods"), keys.Named[podKey]("own")
	private := keys.New()
	addLocal, workLocal := keys.Local()
	later := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[types.NamespacedName]{Name: "later"})
	plain := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{})
	old := workqueue.NewNamedRateLimitingQueue(workqueue.DefaultControllerRateLimiter(), "old")
	for _, work := range []func(){
		func() { keys.Drain[string](pods) }, func() { keys.Drain[podKey](own) }, private.Work, workLocal,
		func() { keys.Drain[types.NamespacedName](later) }, func() { keys.Drain[string](plain) }, func() { keys.Drain[any](old) },
	} {
		go work()
	}
	add := func(obj any) {
		name, err := cache.MetaNamespaceKeyFunc(obj)
		if err != nil {
			return
		}
		pods.Add(name)
		pods.Add(name + "-again")
		own.Add(podKey(name))
		private.Add(name)
		addLocal(name)
		later.AddAfter(types.NamespacedName{Name: name}, time.Millisecond)
		plain.Add(name)
		old.Add(name)
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}
}

// feed makes as many events as each line says.
func feed(source *watch.FakeWatcher, events *os.File) {
	sent := 0
	for lines := bufio.NewScanner(events); lines.Scan(); {
		n, _ := strconv.Atoi(lines.Text())
		for i := range n {
			sent++
			pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("pod-", i%50), ResourceVersion: fmt.Sprint(sent + 1)}}
			if sent <= 50 {
				source.Add(pod)
			} else {
				source.Modify(pod)
			}
		}
	}
}
