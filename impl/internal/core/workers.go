package core

import (
	"sync"
	"sync/atomic"
)

// Workers is the lock of a work queue with those who wait at it: workers for an
// item, and callers of ShutDownWithDrain for the last Done. Init it first.
//
// Workers are woken one by one: a push wakes a worker only if none is on its
// way, and a worker that took an item wakes the next if there is more. So a
// burst does not wake workers that will find the queue empty, and when no worker
// sleeps nobody pays for waking one.
//
// The Meter, which is nil without metrics, calls the user's code, which may
// panic: so it is called when the invariant holds, by Count.
//
// Invariant: if an item is queued while the lock is free, a woken worker is on
// its way or no worker sleeps.
type Workers struct {
	Turns
	Closed atomic.Bool // shutdown began; set under the lock
	Meter  *Meter

	ready      sync.Cond // workers; signalled after the lock is released
	idle       sync.Cond // drainers
	sleeping   int       // workers in ready that nobody has woken yet
	woken      int       // workers that were woken and do not hold the lock yet
	processing int       // items handed out and not done
	drain      bool
	counting   bool // the meter is called
	stopMeter  sync.Once
}

// Init makes the zero Workers usable.
func (w *Workers) Init(m *Meter) {
	w.ready.L, w.idle.L = w, w
	w.Meter = m
}

// Alone reports whether no worker sleeps: then Unlock does for Leave, and is no call.
func (w *Workers) Alone() bool { return w.sleeping == 0 }

// Leave releases the lock and, if items are queued, sees to it that a worker
// comes. Every operation that may have changed the queue ends with it.
func (w *Workers) Leave(queued int) {
	if queued == 0 || w.sleeping == 0 || w.woken > 0 {
		w.Unlock()
		return
	}
	w.sleeping--
	w.woken++
	w.Unlock()
	w.ready.Signal()
}

// Sleep waits until this worker is woken.
func (w *Workers) Sleep() {
	w.sleeping++
	w.ready.Wait()
	w.woken--
}

// Handed counts an item into processing.
func (w *Workers) Handed() { w.processing++ }

// Finished counts an item out of processing and releases the drainers.
func (w *Workers) Finished() {
	w.processing--
	if w.processing == 0 && w.drain {
		w.idle.Broadcast()
	}
}

// Processing is the number of items handed out and not done.
func (w *Workers) Processing() int { return w.processing }

// Count calls the meter under the lock.
func (w *Workers) Count(queued int, call func()) {
	w.counting = true
	defer w.counted(queued)
	call()
	w.counting = false
}

// counted, deferred, ends an operation whose call of the meter panicked with Leave:
// so one without metrics needs no deferred unlock.
func (w *Workers) counted(queued int) {
	if w.counting {
		w.counting = false
		w.Leave(queued)
	}
}

// ShutDown makes the queue ignore further items and wakes every Get.
func (w *Workers) ShutDown() { w.shutDown(false) }

// ShutDownWithDrain is ShutDown and waits until no item is in processing, or
// until a later ShutDown.
func (w *Workers) ShutDownWithDrain() { w.shutDown(true) }

func (w *Workers) shutDown(drain bool) {
	if w.Meter != nil {
		w.stopMeter.Do(w.Meter.Stop)
		defer w.Meter.Wait()
	}
	w.Lock()
	defer w.Unlock()
	w.Closed.Store(true)
	w.drain = drain
	w.woken += w.sleeping
	w.sleeping = 0
	w.ready.Broadcast()
	w.idle.Broadcast()
	for w.drain && w.processing > 0 {
		w.idle.Wait()
	}
}

// ShuttingDown reports whether the queue was shut down. It takes no lock: who
// is told so and locks finds the queue closed.
func (w *Workers) ShuttingDown() bool { return w.Closed.Load() }
