package bench

import (
	"testing"

	"github.com/informerbench/informerbench/impl"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

type (
	fifoVariant  = impl.Variant[impl.NewFIFO]
	fifoQuestion = question[impl.NewFIFO]
)

func fifoCases() []Case {
	plain := component[impl.NewFIFO]{"fifo", "client-go", impl.FIFOs()}
	delta := component[impl.NewFIFO]{"delta-fifo", "client-go", impl.DeltaFIFOs()}
	inOrder := component[impl.NewFIFO]{"in-order-fifo", "client-go", impl.InOrderFIFOs()}

	replaced := impl.FIFOConfig{EmitReplaced: true}
	separate, atomic := impl.FIFOConfig{}, impl.FIFOConfig{Atomic: true}
	all := plain.cases(withNull(nullPlain,
		bursts("keys=distinct", impl.FIFOConfig{}, true, 10, true), bursts("keys=repeated", impl.FIFOConfig{}, false, 1, false),
		replace("", impl.FIFOConfig{}, 100_000))...)
	all = append(all, delta.cases(append(
		withNull(nullDeltas(1), bursts("keys=distinct", replaced, true, 10, true), replace("", replaced, 100_000), resync("", replaced, 100_000)),
		withNull(nullDeltas(10), bursts("keys=repeated", replaced, false, 10, false))...)...)...)
	return append(all, inOrder.cases(withNull(nullInOrder,
		bursts("keys=distinct/atomic=false", separate, true, 10, false), bursts("keys=repeated/atomic=false", separate, false, 10, false),
		bursts("keys=distinct/atomic=true", atomic, true, 10, true), bursts("keys=repeated/atomic=true", atomic, false, 10, false),
		backlogged("atomic=true", atomic, 10_000),
		replace("/atomic=false", separate, 100_000), replace("/atomic=true", atomic, 100_000),
		resync("/atomic=false", separate, 100_000),
		stored(10, 10_000, 1), stored(1_000, 100_000, 1))...)...)
}

// A consumer pops as an informer's loop does, in batches where the FIFO has
// them, and counts what it is given.
type consumer struct {
	objects int
	err     error
	one     cache.PopProcessFunc // single and many, bound once: not an allocation a pop
	batch   cache.ProcessBatchFunc
}

func newConsumer() *consumer {
	c := &consumer{}
	c.one, c.batch = c.single, c.many
	return c
}

func (c *consumer) single(obj any, _ bool) error {
	deltas, ok := obj.(cache.Deltas)
	if !ok { // a plain FIFO hands out the object
		c.objects++
		return nil
	}
	return c.many(deltas, false)
}

func (c *consumer) many(deltas []cache.Delta, _ bool) error {
	for i := range deltas {
		if all, ok := deltas[i].Object.(cache.ReplacedAllInfo); ok {
			c.objects += len(all.Objects)
		} else {
			c.objects++
		}
	}
	return nil
}

// pop pops until n objects were given.
func (c *consumer) pop(q cache.Queue, n int) {
	batched, _ := q.(cache.QueueWithBatch)
	for want := c.objects + n; c.objects < want && c.err == nil; {
		if batched != nil {
			c.err = batched.PopBatch(c.batch, c.one)
		} else {
			_, c.err = q.Pop(c.one)
		}
	}
}

// check fails b if q gave an error or more than sent objects in all.
func (c *consumer) check(b *testing.B, q cache.Queue, sent int) {
	for q.Close(); c.err == nil; {
		_, c.err = q.Pop(c.one)
	}
	if c.err != cache.ErrFIFOClosed {
		b.Fatal(c.err)
	}
	if c.objects != sent {
		b.Fatalf("%d objects popped, expected %d", c.objects, sent)
	}
}

// newFIFO makes a FIFO whose consumer's store holds known.
func newFIFO(v fifoVariant, config impl.FIFOConfig, known []*corev1.Pod) cache.Queue {
	if !config.Atomic {
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		for _, p := range known {
			_ = store.Add(p) // the key function knows pods
		}
		config.KnownObjects = store
	}
	return v.New(config)
}

// bursts are rounds of ten events and popping; popped is what a round gives.
func bursts(suffix string, config impl.FIFOConfig, distinct bool, popped int, quick bool) fifoQuestion {
	summary := "one object changes ten times, then all is popped"
	if distinct {
		summary = "ten objects are added or updated, then all are popped"
	}
	return fifoQuestion{
		name: "op=burst/" + suffix, summary: summary, unit: cpuTime, quick: quick,
		run: func(b *testing.B, v fifoVariant) {
			const burst, rounds = 10, 10
			list := pods(1000)
			q := newFIFO(v, config, list)
			c := newConsumer()
			next, sent := 0, 0
			measured(b, rounds*burst, false, func() {
				for range rounds {
					for i := range burst {
						p := list[next+i]
						if !distinct {
							p = list[next]
						}
						if i == 0 {
							_ = q.Add(p) // the key function knows pods, and check counts
						} else {
							_ = q.Update(p)
						}
					}
					next = (next + burst) % len(list)
					c.pop(q, popped)
					sent += popped
				}
			})
			c.check(b, q, sent)
		},
	}
}

// backlogged pops after many events have come, as after a pause of the consumer.
func backlogged(suffix string, config impl.FIFOConfig, n int) fifoQuestion {
	return fifoQuestion{
		name: "op=backlog/n=" + human(n) + "/" + suffix, unit: cpuTime,
		summary: "many events are queued before the first is popped",
		run: func(b *testing.B, v fifoVariant) {
			list := pods(n)
			q := newFIFO(v, config, list)
			c := newConsumer()
			sent := 0
			measured(b, n, false, func() {
				for _, p := range list {
					_ = q.Update(p) // the key function knows pods, and check counts
				}
				c.pop(q, n)
				sent += n
			})
			c.check(b, q, sent)
		},
	}
}

func replace(suffix string, config impl.FIFOConfig, n int) fifoQuestion {
	return fifoQuestion{
		name: "op=replace/n=" + human(n) + suffix, unit: cpuTime,
		summary: "a full list arrives and is popped",
		run: func(b *testing.B, v fifoVariant) {
			list := pods(n)
			objects := make([]any, n)
			for i, p := range list {
				objects[i] = p
			}
			q := newFIFO(v, config, list)
			c := newConsumer()
			sent := n
			before := liveHeap()
			if err := q.Replace(objects, "1"); err != nil {
				b.Fatal(err)
			}
			live := liveSince(before)
			c.pop(q, n)
			measured(b, n, false, func() {
				if err := q.Replace(objects, "1"); err != nil {
					b.Fatal(err)
				}
				c.pop(q, n)
				sent += n
			})
			c.check(b, q, sent)
			b.ReportMetric(float64(live)/float64(n), "live-B/item")
		},
	}
}

func resync(suffix string, config impl.FIFOConfig, n int) fifoQuestion {
	return fifoQuestion{
		name: "op=resync/n=" + human(n) + suffix, unit: cpuTime,
		summary: "every known object is queued again and popped",
		run: func(b *testing.B, v fifoVariant) {
			q := newFIFO(v, config, pods(n))
			c := newConsumer()
			sent := 0
			measured(b, n, false, func() {
				if err := q.Resync(); err != nil {
					b.Fatal(err)
				}
				c.pop(q, n)
				sent += n
			})
			c.check(b, q, sent)
		},
	}
}
