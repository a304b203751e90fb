package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	clientGo          = "client-go"
	controllerRuntime = "controller-runtime"
)

// programKinds are the programs, with what they ask the server for by themselves.
var programKinds = []struct{ name, encoding string }{{clientGo, "protobuf"}, {controllerRuntime, "protobuf"}}

// changeNames are those of benchrun's what-ifs that are made to a real program.
var changeNames = []string{"strip managedFields", "strip spec", "strip data", "metadata only", "encoding json"}

// A program is a controller as people write it.
type program struct {
	Kind, Mix, Change string
	Percent           int // of the objects that it watches
}

// afterStart is how long a program is left alone.
const afterStart = 500 * time.Millisecond

// run is the program: it reads itself before its informers start, at their peak and
// when they are done.
func (p program) run(ctx context.Context) error {
	m, err := findMix(p.Mix)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS = -1
	prepare := p.informers
	if p.Kind == controllerRuntime {
		prepare = p.manager
	}
	start, count, err := prepare(config, m)
	if err != nil {
		return err
	}
	var r reading
	r.BaseHeap = live()
	debug.FreeOSMemory()
	r.BaseResident = status("VmRSS")
	r.BaseGroup, _ = group()
	if err := start(ctx); err != nil {
		return err
	}
	time.Sleep(afterStart)
	_, r.Group = group()
	r.Percent, r.Start, r.Live, r.Objects = p.Percent, status("VmHWM"), live(), count()
	if r.Objects == 0 {
		return errors.New("the stores are empty")
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// choose has a list bring the program's part of the objects.
func (p program) choose(o *metav1.ListOptions) {
	if p.Percent < 100 {
		o.LabelSelector = fmt.Sprintf("%s<%d", percentileLabel, p.Percent)
	}
}

// transform is a change's, nil for none.
func (p program) transform() cache.TransformFunc {
	switch p.Change {
	case "strip managedFields":
		return func(object any) (any, error) {
			if m, err := meta.Accessor(object); err == nil {
				m.SetManagedFields(nil)
			}
			return object, nil
		}
	case "strip spec":
		return func(object any) (any, error) {
			switch o := object.(type) {
			case *corev1.Pod:
				o.Spec = corev1.PodSpec{}
			case *coordinationv1.Lease:
				o.Spec = coordinationv1.LeaseSpec{}
			case *appsv1.Deployment:
				o.Spec = appsv1.DeploymentSpec{}
			case *batchv1.Job:
				o.Spec = batchv1.JobSpec{}
			}
			return object, nil
		}
	case "strip data":
		return func(object any) (any, error) {
			if o, ok := object.(*corev1.ConfigMap); ok {
				o.Data = nil
			}
			return object, nil
		}
	}
	return nil
}

// informers are client-go's, one of each kind.
func (p program) informers(config *rest.Config, m mix) (start func(context.Context) error, count func() int, err error) {
	if p.Change == "encoding json" {
		config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	}
	var all []cache.SharedIndexInformer
	if p.Change == "metadata only" {
		c, err := metadata.NewForConfig(config)
		if err != nil {
			return nil, nil, err
		}
		factory := metadatainformer.NewFilteredSharedInformerFactory(c, 0, m.namespace(), p.choose)
		for _, k := range m.kinds {
			all = append(all, factory.ForResource(k.GroupVersionResource).Informer())
		}
	} else {
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, nil, err
		}
		factory := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithNamespace(m.namespace()),
			informers.WithTransform(p.transform()), informers.WithTweakListOptions(p.choose))
		for _, k := range m.kinds {
			generic, err := factory.ForResource(k.GroupVersionResource)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, generic.Informer())
		}
	}
	var synced []cache.InformerSynced
	for _, i := range all {
		registration, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		if err != nil {
			return nil, nil, err
		}
		synced = append(synced, registration.HasSynced)
	}
	start = func(ctx context.Context) error {
		for _, i := range all {
			go i.RunWithContext(ctx)
		}
		if !cache.WaitForCacheSync(ctx.Done(), synced...) {
			return ctx.Err()
		}
		return nil
	}
	return start, func() (n int) {
		for _, i := range all {
			n += len(i.GetStore().ListKeys())
		}
		return n
	}, nil
}

// manager is controller-runtime's, with a controller of each kind.
func (p program) manager(config *rest.Config, m mix) (start func(context.Context) error, count func() int, err error) {
	ctrl.SetLogger(logr.Discard())
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme.Scheme, Metrics: server.Options{BindAddress: "0"},
		Cache: ctrlcache.Options{DefaultNamespaces: map[string]ctrlcache.Config{m.namespace(): {}}},
	})
	if err != nil {
		return nil, nil, err
	}
	var objects []client.Object
	for _, k := range m.kinds {
		object, err := newObject(mgr.GetRESTMapper(), k)
		if err != nil {
			return nil, nil, err
		}
		objects = append(objects, object)
		// Asked for before the start, so that the cache has not synced without it.
		if _, err := mgr.GetCache().GetInformer(context.Background(), object, ctrlcache.BlockUntilSynced(false)); err != nil {
			return nil, nil, err
		}
		err = ctrl.NewControllerManagedBy(mgr).For(object).Named(k.Resource).
			Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil }))
		if err != nil {
			return nil, nil, err
		}
	}
	start = func(ctx context.Context) error {
		go mgr.Start(ctx)
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches did not fill")
		}
		return nil
	}
	return start, func() (n int) {
		for _, object := range objects {
			n += cached(mgr.GetCache(), object)
		}
		return n
	}, nil
}

// cached is how many objects of one kind a cache holds, 0 if it can't tell.
func cached(from ctrlcache.Cache, object client.Object) int {
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		return 0
	}
	made, err := scheme.Scheme.New(kinds[0].GroupVersion().WithKind(kinds[0].Kind + "List"))
	if err != nil {
		return 0
	}
	list, ok := made.(client.ObjectList)
	if !ok || from.List(context.Background(), list) != nil {
		return 0
	}
	return meta.LenList(list)
}

func newObject(mapper meta.RESTMapper, k kind) (client.Object, error) {
	gvk, err := mapper.KindFor(k.GroupVersionResource)
	if err != nil {
		return nil, err
	}
	made, err := scheme.Scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	object, ok := made.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%v is no object", gvk)
	}
	return object, nil
}

// live is what lives after a collection.
func live() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// status reads a figure of this process.
func status(name string) uint64 {
	b, _ := os.ReadFile("/proc/self/status") // the readings are zero without it, which the page shows
	for line := range bytes.Lines(b) {
		if rest, ok := strings.CutPrefix(string(line), name+":"); ok {
			n, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}
