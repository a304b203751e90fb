package informer

import (
	"sync"
	"sync/atomic"
)

// A kind says which method of a handler a notification calls.
type kind uint8

const (
	added kind = iota
	initialAdd
	updated
	resynced // an update by a list or a resync that changed nothing
	repeated // an update by the watch that changed nothing
	deleted
)

// A notification is one call of each handler.
type notification struct {
	old, new any
	kind     kind
}

// A batch is what one pop of the queue has to tell. The handlers share it; the
// last one to finish with it puts it back.
type batch struct {
	notifications []notification
	unfinished    atomic.Int32
}

// pooledBatch is the largest batch that is kept for reuse.
const pooledBatch = 1024

var batches = sync.Pool{New: func() any { return new(batch) }}

func newBatch() *batch { return batches.Get().(*batch) }

func (b *batch) add(n ...notification) { b.notifications = append(b.notifications, n...) }

// finished is called once for each handler that was given b.
func (b *batch) finished() {
	if b.unfinished.Add(-1) == 0 {
		b.recycle()
	}
}

func (b *batch) recycle() {
	if cap(b.notifications) <= pooledBatch {
		clear(b.notifications) // the pool must keep no object alive
		b.notifications = b.notifications[:0]
		batches.Put(b)
	}
}
