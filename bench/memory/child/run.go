package child

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/bench/memory/fields"
	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/loadgen/cputime"
)

// When a phase is over: the process has used less than idleShare of a processor
// for quiet, or most has passed.
const (
	quiet     = 60 * time.Millisecond
	idleShare = 0.1
	// longestBusy is how long it may take until it is.
	longestBusy = 30 * time.Second
)

// What the service phase does: rounds of changes to a part of the objects, until
// the collector has run so often, or there were so many rounds.
const (
	churnThousandths  = 300
	serviceCollection = 2
	mostRounds        = 10
)

// resyncEvery is how long informers that resync wait between.
const resyncEvery = 4 * time.Second

// A run is a job under way.
type run struct {
	job       Job
	control   *http.Client
	informers []cache.SharedIndexInformer
	synced    []cache.DoneChecker
	stored    []cache.DoneChecker
	gate      chan struct{} // closed when handlers may go on
	calls     atomic.Int64
	failure   atomic.Pointer[error]
}

// Run measures a job in this process, which should have done nothing before.
func Run(ctx context.Context, j Job) (Reading, error) {
	debug.SetGCPercent(100) // whatever the environment says
	if j.GOGC != 0 {
		debug.SetGCPercent(j.GOGC)
	}
	if j.Limit > 0 {
		debug.SetMemoryLimit(j.Limit)
	}
	r := &run{job: j, gate: make(chan struct{})}
	if !j.Blocked {
		close(r.gate)
	}
	var reading Reading
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := r.prepare(); err != nil {
		return reading, err
	}
	reading.BaseHeap = live()
	settle()
	now := newReader()
	reading.BaseResident, reading.BaseGo = now.status(resident), counted()
	now.close()

	var running sync.WaitGroup
	o := observe()
	for _, informer := range r.informers {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	wait := r.synced
	if j.Blocked {
		wait = r.stored
	}
	if err := r.wait(ctx, wait); err != nil {
		return reading, err
	}
	if err := r.idle(ctx); err != nil {
		return reading, err
	}
	reading.Start = o.finish()
	reading.Timeline = o.moments
	reading.Start.Events = r.calls.Load()
	reading.Live = live()
	if !j.StartOnly && !j.Blocked {
		if err := r.serve(ctx, &reading); err != nil {
			return reading, err
		}
	}
	if j.Blocked {
		close(r.gate)
	}
	var objects []any
	for _, informer := range r.informers {
		objects = append(objects, informer.GetStore().List()...)
	}
	reading.Objects = len(objects)
	cancel()
	running.Wait()
	r.informers, r.synced, r.stored = nil, nil, nil
	reading.Bare = live() - uint64(cap(objects)*16)
	runtime.KeepAlive(objects)
	return reading, nil
}

// prepare makes the informers, which do not run yet.
func (r *run) prepare() error {
	made, err := newClients(r.job)
	if err != nil {
		return err
	}
	if r.control, err = rest.HTTPClientFor(r.job.config()); err != nil {
		return err
	}
	variant, err := impl.Find(impl.Informers(), r.job.Informer)
	if err != nil {
		return fmt.Errorf("--informer: %w", err)
	}
	transform, err := r.job.transform()
	if err != nil {
		return err
	}
	for _, k := range r.job.Kinds {
		namespaces := k.Namespaces
		if len(namespaces) == 0 {
			namespaces = []string{metav1.NamespaceAll}
		}
		for _, namespace := range namespaces {
			s, err := made.source(k, namespace)
			if err != nil {
				return err
			}
			indexers, err := r.job.indexers()
			if err != nil {
				return err
			}
			options := cache.SharedIndexInformerOptions{Indexers: indexers}
			if r.job.Resync {
				options.ResyncPeriod = resyncEvery
			}
			if err := r.add(variant.New(s.listerWatcher(), s.example, options), transform); err != nil {
				return err
			}
		}
	}
	return nil
}

// add gives an informer its transform and its handlers.
func (r *run) add(informer cache.SharedIndexInformer, transform cache.TransformFunc) error {
	if transform != nil {
		if err := informer.SetTransform(transform); err != nil {
			return err
		}
	}
	err := informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		r.failure.Store(&err)
	})
	if err != nil {
		return err
	}
	handle := func() { r.calls.Add(1); <-r.gate }
	for range r.job.Handlers {
		registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { handle() }, UpdateFunc: func(any, any) { handle() }, DeleteFunc: func(any) { handle() },
		})
		if err != nil {
			return err
		}
		r.synced = append(r.synced, registration.HasSyncedChecker())
	}
	r.informers = append(r.informers, informer)
	r.stored = append(r.stored, informer.HasSyncedChecker())
	r.synced = append(r.synced, informer.HasSyncedChecker())
	return nil
}

// transform is what the job's informers are given, nil for nothing.
func (j Job) transform() (cache.TransformFunc, error) {
	paths, err := fields.ParseAll(j.Drop...)
	if err != nil {
		return nil, err
	}
	var interner *fields.Interner
	if j.Intern {
		interner = fields.NewInterner()
	}
	if interner == nil && paths == nil {
		return nil, nil
	}
	return func(object any) (any, error) {
		for _, p := range paths {
			p.Drop(object)
		}
		if interner != nil {
			return interner.Object(object)
		}
		return object, nil
	}, nil
}

// longest is how long a child waits for its lists.
const longest = 10 * time.Minute

func (r *run) wait(ctx context.Context, checkers []cache.DoneChecker) error {
	limited, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if cache.WaitFor(limited, "", checkers...) {
		return nil
	}
	if failure := r.failure.Load(); failure != nil {
		return fmt.Errorf("the lists did not come: %w", *failure)
	}
	return errors.New("the lists did not come in time")
}

// idle waits until the process does nothing any more. One whose memory limit is too low
// for what lives collects for ever.
func (r *run) idle(ctx context.Context) error {
	tick := time.NewTicker(quiet) // one, as what allocates may collect
	defer tick.Stop()
	<-tick.C
	for began := time.Now(); time.Since(began) < longestBusy; {
		before := cputime.Process()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if cputime.Process()-before < time.Duration(idleShare*float64(quiet)) {
			return nil
		}
	}
	limit := "without a memory limit"
	if r.job.Limit > 0 {
		limit = fmt.Sprintf("with a memory limit of %d bytes", r.job.Limit)
	}
	return fmt.Errorf("%s after all objects had come the process was still busy, %s, expected it to come to rest", longestBusy, limit)
}

// serve measures the service and the relist, and the resync where the job asks for it.
func (r *run) serve(ctx context.Context, reading *Reading) error {
	settle()
	o, collected, calls := observe(), collections(), r.calls.Load()
	for range mostRounds {
		if collections()-collected >= serviceCollection {
			break
		}
		if err := r.order(ctx, fmt.Sprintf("/churn?thousandths=%d", churnThousandths)); err != nil {
			return err
		}
		if err := r.idle(ctx); err != nil {
			return err
		}
	}
	reading.Service = o.finish()
	reading.Service.Events = r.calls.Load() - calls

	before := r.versions()
	live()
	settle()
	o = observe()
	if err := r.order(ctx, "/expire"); err != nil {
		return err
	}
	for i, informer := range r.informers {
		for informer.LastSyncResourceVersion() == before[i] {
			select {
			case <-time.After(quiet):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	if err := r.idle(ctx); err != nil {
		return err
	}
	reading.Relist = o.finish()
	if r.job.Resync {
		return r.resync(ctx, reading)
	}
	return nil
}

// resync measures one period of the informers, in which each resyncs once.
func (r *run) resync(ctx context.Context, reading *Reading) error {
	calls := r.calls.Load()
	live()
	settle()
	o := observe()
	select {
	case <-time.After(resyncEvery):
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := r.idle(ctx); err != nil {
		return err
	}
	reading.Resync = o.finish()
	reading.Resync.Events = r.calls.Load() - calls
	return nil
}

func (r *run) versions() (all []string) {
	for _, informer := range r.informers {
		all = append(all, informer.LastSyncResourceVersion())
	}
	return all
}

// order has the server do something.
func (r *run) order(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.job.Server+path, nil)
	if err != nil {
		return err
	}
	response, err := r.control.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
