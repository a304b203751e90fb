package bench

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// A lightLoad is bursts of events with a gap between them in which all workers fall
// asleep. Each handler adds to a queue of its own, which has five workers.
type lightLoad struct {
	burst    int           // events in a row
	gap      time.Duration // from the begin of one burst to that of the next
	handlers int
	call     time.Duration // what a call of a handler takes beside the add
}

const (
	waitPods    = 10_000
	waitWorkers = 5
)

// waitQuestions ask how long an event waits until a worker has it.
func waitQuestions() []informerQuestion {
	var questions []informerQuestion
	for _, l := range []lightLoad{
		{1, time.Millisecond, 1, 2 * time.Microsecond},
		{20, 2 * time.Millisecond, 1, 2 * time.Microsecond},
		{20, 2 * time.Millisecond, 10, 2 * time.Microsecond},
		{1000, 20 * time.Millisecond, 1, 2 * time.Microsecond},
	} {
		questions = append(questions, informerQuestion{
			name: fmt.Sprintf("op=wait/burst=%s/gap=%s/handlers=%d", human(l.burst), l.gap, l.handlers),
			unit: wallTime, quick: l.burst == 20 && l.handlers == 1, null: newNullInformer(waitPods),
			summary: fmt.Sprintf("from an event to one of five idle workers behind client-go's queue, the median: bursts of %d every %s, calls of %s, a queue each of %d handlers",
				l.burst, l.gap, l.call, l.handlers),
			run: func(b *testing.B, v informerVariant) {
				l.measure(b, v, func() workqueue.TypedInterface[string] {
					return workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{})
				})
			},
		})
	}
	return questions
}

// A timedKey is when a key was sent, and when it was added to the queue. No key is
// on its way to a worker twice, so nobody else has it.
type timedKey struct{ sent, added time.Time }

// A queued handler is one with its queue and workers.
type queuedHandler struct {
	queue          workqueue.TypedInterface[string]
	keys           map[string]*timedKey
	mu             sync.Mutex
	events, queued []time.Duration // from sent and from added to a worker
}

func newQueuedHandler(pods []*corev1.Pod, q workqueue.TypedInterface[string]) *queuedHandler {
	h := &queuedHandler{queue: q, keys: make(map[string]*timedKey, len(pods))}
	for _, p := range pods {
		h.keys[cache.MetaObjectToName(p).String()] = &timedKey{}
	}
	return h
}

// work takes keys until the queue is shut down.
func (h *queuedHandler) work(arrived func()) {
	var events, queued []time.Duration
	for key, down := h.queue.Get(); !down; key, down = h.queue.Get() {
		now, k := time.Now(), h.keys[key]
		events, queued = append(events, now.Sub(k.sent)), append(queued, now.Sub(k.added))
		h.queue.Done(key)
		arrived()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events, h.queued = append(h.events, events...), append(h.queued, queued...)
}

// measure reports medians and 99th percentiles of the time from an event to a worker,
// and of what of it was spent in the queue.
func (l lightLoad) measure(b *testing.B, v informerVariant, newQueue func() workqueue.TypedInterface[string]) {
	s := newServer(waitPods, 1)
	var handlers []*queuedHandler
	var calls []func(any)
	var workers, underWay sync.WaitGroup
	for range l.handlers {
		h := newQueuedHandler(s.list, newQueue())
		handlers = append(handlers, h)
		calls = append(calls, func(obj any) {
			busy(l.call)
			key, _ := cache.MetaNamespaceKeyFunc(obj) // of a pod
			h.keys[key].added = time.Now()
			h.queue.Add(key)
		})
		for range waitWorkers {
			workers.Go(func() { h.work(underWay.Done) })
		}
	}
	s.serve(b, v, calls)
	var w stopwatch
	sent := 0
	for b.Loop() {
		w.start()
		begun, before := time.Now(), sent
		for time.Since(begun) < 100*time.Millisecond {
			next := time.Now().Add(l.gap)
			underWay.Add(l.burst * l.handlers)
			for range l.burst {
				key := cache.MetaObjectToName(s.list[s.order[s.at]]).String()
				for _, h := range handlers {
					h.keys[key].sent = time.Now()
				}
				s.send()
			}
			sent += l.burst
			underWay.Wait()
			time.Sleep(time.Until(next))
		}
		w.stop(sent - before)
	}
	w.report(b, true)
	var events, queued []time.Duration
	for _, h := range handlers {
		h.queue.ShutDown()
	}
	workers.Wait()
	for _, h := range handlers {
		events, queued = append(events, h.events...), append(queued, h.queued...)
	}
	if len(events) != sent*l.handlers {
		b.Fatalf("%d keys reached the workers, expected %d: each key that was sent, once a handler", len(events), sent*l.handlers)
	}
	b.ReportMetric(percentile(events, 50), "ns/op")
	b.ReportMetric(percentile(events, 99), "event-p99-ns")
	b.ReportMetric(percentile(queued, 50), "queue-p50-ns")
	b.ReportMetric(percentile(queued, 99), "queue-p99-ns")
}

func percentile(all []time.Duration, percent int) float64 {
	slices.Sort(all)
	return float64(all[min(len(all)*percent/100, len(all)-1)])
}

// busy keeps a processor for a while.
func busy(d time.Duration) {
	for begun := time.Now(); time.Since(begun) < d; {
	}
}
