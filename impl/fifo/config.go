package fifo

import "k8s.io/client-go/tools/cache"

// Config is what a FIFO of any kind is made from. The zero value is a FIFO
// over cache.MetaNamespaceKeyFunc.
type Config struct {
	// Name says in logs what the FIFO holds, "*v1.Pod" say; "" leaves its kind alone.
	Name string
	// KeyFunc names objects; nil means cache.MetaNamespaceKeyFunc.
	KeyFunc cache.KeyFunc
	// KnownObjects is the store that the consumer keeps; Replace and Resync ask
	// it which keys are missing; nil means that nothing is known. FIFO and an
	// atomic in-order FIFO ignore it.
	KnownObjects cache.KeyListerGetter
	// Transformer runs once on each object before it is queued; nil means none.
	// FIFO ignores it, as upstream's does.
	Transformer cache.TransformFunc
	// EmitReplaced makes a DeltaFIFO's Replace emit Replaced instead of Sync.
	EmitReplaced bool
	// Atomic makes an in-order FIFO emit one ReplacedAll, SyncAll or Bookmark
	// delta for a Replace, Resync or Bookmark.
	Atomic bool
	// Batch is the most deltas that an in-order FIFO's PopBatch takes; 0 means
	// 1,000, which upstream always has.
	Batch int
	// Queued is told the number of deltas that an in-order FIFO holds when it changes;
	// nil means that nobody wants to know. The other kinds ignore it, as upstream's
	// DeltaFIFO does.
	Queued cache.GaugeMetric
}

// tell tells Queued.
func (c *Config) tell(queued int) {
	if c.Queued != nil {
		c.Queued.Set(float64(queued))
	}
}

func (c Config) batch() int {
	if c.Batch > 0 {
		return c.Batch
	}
	return defaultBatch
}
