package bench

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/loadgen/durations"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// A lightLoad is a controller with little to do: bursts of events are due at fixed
// times, whether or not the burst before was handled, and workers are idle. What
// counts is how long an event takes until a worker has it.
type lightLoad struct {
	burst    int
	every    time.Duration
	handlers int // each takes handlerTime; the first adds to the queue
}

// lightLoads are bursts and rates from a quiet controller's to a rolling update's.
var lightLoads = []lightLoad{
	{1, time.Millisecond, 1}, {20, 2 * time.Millisecond, 1}, {20, 2 * time.Millisecond, 10},
	{1000, 20 * time.Millisecond, 1}, {200, 20 * time.Millisecond, 10},
}

const (
	latency     = "late-p50-sec" // from when an event was due until a worker has it
	handlerTime = 2 * time.Microsecond
	waitWorkers = 5
	waitObjects = 10_000
	waitWindow  = 200 * time.Millisecond // of bursts, in an iteration
)

func (l lightLoad) name() string {
	return fmt.Sprintf("op=wait/burst=%s/gap=%s/handlers=%d", human(l.burst), l.every, l.handlers)
}

func (l lightLoad) summary() string {
	plural := func(n int, what string) string {
		if n == 1 {
			return "one " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
	return fmt.Sprintf("%s every %s, %s of 2µs, 5 idle workers: from when an event was due until a worker has it, median", plural(l.burst, "event"), l.every, plural(l.handlers, "handler"))
}

// waitQuestions are the cases of a kind of queue behind client-go's informer; of makes
// the queue, nil to have none.
func waitQuestions[New any](seed uint64, of func(impl.Variant[New]) workqueue.TypedInterface[string]) []question[New] {
	var all []question[New]
	for _, l := range lightLoads {
		if l.handlers == 1 {
			all = append(all, question[New]{
				name: l.name(), summary: l.summary(), unit: latency,
				run: func(b *testing.B, v impl.Variant[New]) {
					var q workqueue.TypedInterface[string]
					if v.Name != NullSink {
						q = of(v)
					}
					l.run(b, cache.NewSharedIndexInformerWithOptions, q, seed)
				},
			})
		}
	}
	return all
}

// informerWaitQuestions are the same for informers, before client-go's queue.
func informerWaitQuestions(seed uint64) []informerQuestion {
	var all []informerQuestion
	for _, l := range lightLoads {
		all = append(all, informerQuestion{
			name: l.name(), summary: l.summary(), unit: latency, quick: l.burst == 20 && l.handlers == 1, null: newNullInformer(waitObjects),
			run: func(b *testing.B, v informerVariant) {
				l.run(b, v.New, workqueue.NewTyped[string](), seed)
			},
		})
	}
	return all
}

// A recorder has the latencies that one goroutine saw.
type recorder struct{ late, queued durations.Histogram }

func newRecorder() *recorder {
	histogram := func() durations.Histogram { return durations.New(100, time.Minute, 3) }
	return &recorder{histogram(), histogram()}
}

// A wait is a light load under way. The arrays are by object, in nanoseconds since begun.
type wait struct {
	lightLoad
	source     *server
	queue      workqueue.TypedInterface[string]
	index      map[string]int
	begun      time.Time
	due, added []atomic.Int64
	handled    atomic.Int64
}

func (l lightLoad) run(b *testing.B, newInformer impl.NewInformer, q workqueue.TypedInterface[string], seed uint64) {
	s := newServer(waitObjects, seed)
	x := &wait{lightLoad: l, source: s, queue: q, index: map[string]int{}, begun: time.Now(), due: make([]atomic.Int64, waitObjects), added: make([]atomic.Int64, waitObjects)}
	for i, p := range s.list {
		x.index[p.Namespace+"/"+p.Name] = i
	}
	recorders := []*recorder{newRecorder()} // the handler's, where there is no queue
	var handlers []func(any)
	for i := range l.handlers {
		handlers = append(handlers, func(obj any) { x.handle(i, obj, recorders[0]) })
	}
	informer := s.serve(b, informerVariant{New: newInformer}, handlers)
	var workers sync.WaitGroup
	for range waitWorkers {
		if q == nil {
			break
		}
		r := newRecorder()
		recorders = append(recorders, r)
		workers.Go(func() { x.work(r) })
	}
	var w stopwatch
	sent := 0
	for b.Loop() {
		w.start()
		n := x.send()
		w.stop(n)
		sent += n
	}
	if q != nil {
		q.ShutDown()
	}
	workers.Wait()
	all := newRecorder()
	for _, r := range recorders {
		all.late.Merge(r.late)
		all.queued.Merge(r.queued)
	}
	if n := all.late.Count(); n != int64(sent) {
		b.Fatalf("%d events reached a worker, expected %d", n, sent)
	}
	s.check(b, informer.GetStore())
	w.report(b, true)
	b.ReportMetric(float64(all.late.Quantile(0.5)), "late-p50-ns")
	b.ReportMetric(float64(all.late.Quantile(0.99)), "late-p99-ns")
	if q != nil {
		b.ReportMetric(float64(all.queued.Quantile(0.5)), "queue-wait-p50-ns")
		b.ReportMetric(float64(all.queued.Quantile(0.99)), "queue-wait-p99-ns")
	}
}

// send sends the bursts of a window when they are due and waits for the workers.
func (x *wait) send() (sent int) {
	x.handled.Store(0)
	first := time.Now().Add(time.Millisecond)
	for n := range int(shortened(waitWindow) / x.every) {
		due := first.Add(time.Duration(n) * x.every)
		if early := time.Until(due); early > 0 {
			time.Sleep(early)
			due = time.Now() // by how much a timer is late is no matter of the component's
		}
		for range x.burst {
			x.due[x.source.order[x.source.at]].Store(int64(due.Sub(x.begun)))
			x.source.send()
			sent++
		}
	}
	for x.handled.Load() < int64(sent) {
		time.Sleep(100 * time.Microsecond)
	}
	return sent
}

func (x *wait) handle(handler int, obj any, r *recorder) {
	begun := time.Now()
	for time.Since(begun) < handlerTime {
	}
	if handler > 0 {
		return
	}
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return // the events are counted
	}
	if x.queue == nil {
		x.arrive(key, r)
		return
	}
	x.added[x.index[key]].Store(int64(time.Since(x.begun)))
	x.queue.Add(key)
}

func (x *wait) work(r *recorder) {
	for {
		key, shutdown := x.queue.Get()
		if shutdown {
			return
		}
		x.arrive(key, r)
		x.queue.Done(key)
	}
}

func (x *wait) arrive(key string, r *recorder) {
	i, now := x.index[key], time.Since(x.begun)
	r.late.Record(now - time.Duration(x.due[i].Load()))
	r.queued.Record(now - time.Duration(x.added[i].Load()))
	x.handled.Add(1)
}
