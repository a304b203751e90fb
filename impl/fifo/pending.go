package fifo

import "k8s.io/client-go/tools/cache"

// A pending is what happened to a key since it was last popped.
type pending struct {
	replace uint32 // the last Replace that listed the key
	oldest  change
	newer   *[]change // the buffer is kept for the slot's next key; nil is empty
}

// A change is a delta in little space, which counts when 100,000 are queued.
type change struct {
	kind kind
	obj  any
}

// keptNewer is the largest buffer of changes that a slot keeps.
const keptNewer = 16

func (p *pending) newest() *change {
	if p.newer != nil && len(*p.newer) > 0 {
		return &(*p.newer)[len(*p.newer)-1]
	}
	return &p.oldest
}

func (p *pending) add(c change) {
	newest := p.newest()
	switch {
	case newest.kind != deleted || c.kind != deleted:
		if p.newer == nil {
			p.newer = new([]change)
		}
		*p.newer = append(*p.newer, c)
	case supersedes(newest.obj):
		*newest = c
	}
}

// take returns the cache.Deltas in a slice of their own, for the handler to keep,
// and clears p.
func (p *pending) take() any {
	if p.newer == nil || len(*p.newer) == 0 {
		deltas := cache.Deltas{p.oldest.delta()}
		p.oldest = change{}
		return deltas
	}
	deltas := make(cache.Deltas, 1+len(*p.newer))
	deltas[0] = p.oldest.delta()
	for i, c := range *p.newer {
		deltas[1+i] = c.delta()
	}
	p.oldest = change{}
	clear(*p.newer)
	if *p.newer = (*p.newer)[:0]; cap(*p.newer) > keptNewer {
		p.newer = nil
	}
	return deltas
}

// A kind is a delta type.
type kind uint8

const (
	added kind = iota
	updated
	deleted
	replaced
	synced
)

var kinds = [...]cache.DeltaType{added: cache.Added, updated: cache.Updated, deleted: cache.Deleted, replaced: cache.Replaced, synced: cache.Sync}

func (c change) delta() cache.Delta { return cache.Delta{Type: kinds[c.kind], Object: c.obj} }
