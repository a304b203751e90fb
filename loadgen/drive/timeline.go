package drive

import (
	"context"
	"time"

	"github.com/informerbench/informerbench/loadgen/durations"
)

// A timeline takes a Tick a second.
type timeline struct {
	ticks         []Tick
	wait, settled *durations.Histogram
	before        Tick // totals at the tick before
	beforeReading reading
	heapPeak      int64
}

// total reads the counters that only grow.
func (d *drive) total() Tick {
	return Tick{
		At: d.now(), Sent: int(d.ledger.sent.Load()), Enqueued: int(d.c.adds.Load()),
		Reconciles: int(d.c.reconciles.Load()), Retries: int(d.c.retried.Load()),
	}
}

// tick ends one second of the timeline.
func (d *drive) tick() Tick {
	t := &d.timeline
	if t.wait == nil {
		t.wait, t.settled = newTick(), newTick()
	}
	now, used := d.total(), read()
	d.meters.sinceTick(QueueWait, t.wait)
	d.meters.sinceTick(Settled, t.settled)
	tick := Tick{
		At: now.At, Sent: now.Sent - t.before.Sent, Enqueued: now.Enqueued - t.before.Enqueued,
		Reconciles: now.Reconciles - t.before.Reconciles, Retries: now.Retries - t.before.Retries,
		Depth: d.c.queue.Len(), Backlog: int(d.ledger.backlog.Load()), Unsettled: int(d.ledger.open.Load()), Busy: float64(d.c.busy.Load()),
		QueueWait: t.wait.Quantile(0.99), Settled50: t.settled.Quantile(0.5), Settled99: t.settled.Quantile(0.99),
		CPU:  (used.cpu - t.beforeReading.cpu).Seconds() / max(now.At-t.before.At, 1).Seconds(),
		Heap: int64(used.Heap),
	}
	if d.c.plain != nil {
		tick.Depth += d.c.plain.Len()
	}
	t.heapPeak = max(t.heapPeak, tick.Heap)
	t.before, t.beforeReading = now, used
	t.ticks = append(t.ticks, tick)
	return tick
}

// watchClock ticks every second of the load's time until ctx ends.
func (d *drive) watchClock(ctx context.Context) {
	for n := 1; ; n++ {
		timer := time.NewTimer(time.Duration(n)*time.Second - d.now())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			d.progress(d.tick())
		}
	}
}
