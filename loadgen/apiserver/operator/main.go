// Command operator is a small controller-runtime operator with a big cached list: it
// keeps in each config map how many of its app's pods are ready. Whoever wants to
// know what a queue or a cache brings in a real program swaps it in this one:
//
//	scripts/swap-operator.sh
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// appLabel says which app, a config map of that name beside it, a pod belongs to.
const appLabel = "app"

func main() {
	metrics := flag.String("metrics", "127.0.0.1:0", "where metrics are served; 0 for nowhere")
	workers := flag.Int("workers", 10, "how many apps are reconciled at once")
	index := flag.Bool("index", false, "find an app's pods by an index rather than among all of its namespace")
	flag.Parse() // controller-runtime adds --kubeconfig
	if err := run(signals.SetupSignalHandler(), *metrics, *workers, *index); err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, metrics string, workers int, index bool) error {
	ctrl.SetLogger(klog.Background())
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1 // the API server's fairness is the limit
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: metrics},
		Cache:   ctrlcache.Options{DefaultTransform: ctrlcache.TransformStripManagedFields()},
	})
	if err != nil {
		return err
	}
	r := counter{manager.GetClient(), func(app string) client.ListOption { return client.MatchingLabels{appLabel: app} }}
	if index {
		byApp := func(o client.Object) []string { return []string{o.GetLabels()[appLabel]} }
		if err := manager.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, appLabel, byApp); err != nil {
			return err
		}
		r.of = func(app string) client.ListOption { return client.MatchingFields{appLabel: app} }
	}
	appOf := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, pod client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: pod.GetNamespace(), Name: pod.GetLabels()[appLabel]}}}
	})
	err = ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Watches(&corev1.Pod{}, appOf).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).Complete(r)
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

// A counter writes down how many pods of an app are ready.
type counter struct {
	client.Client
	of func(app string) client.ListOption
}

// Reconcile counts the pods of one app.
func (r counter) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var app corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &app); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(request.Namespace), r.of(request.Name)); err != nil {
		return reconcile.Result{}, err
	}
	ready := 0
	for _, pod := range pods.Items {
		if pod.Status.Phase == corev1.PodRunning {
			ready++
		}
	}
	if text := strconv.Itoa(ready); app.Data["ready"] != text {
		app.Data = map[string]string{"ready": text}
		return reconcile.Result{}, r.Update(ctx, &app)
	}
	return reconcile.Result{}, nil
}
