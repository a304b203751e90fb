package drive

import (
	"sync"
	"time"
)

// needless counts the runs that an earlier add had made needless: a key comes
// back from AddAfter or AddRateLimited with nothing new to see, and since it was
// put there another run of it has succeeded.
type needless struct {
	mu      sync.Mutex
	waiting map[string]*delayedAdd
	runs    int
}

// A delayedAdd is the first of the delayed adds that a key waits for.
type delayedAdd struct {
	due     time.Duration // unknown of a rate limiter's: 0
	covered bool          // a run has succeeded since
}

// added notes a delayed add. An earlier one that is still due stays, as in the
// queue.
func (n *needless) added(key string, due time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting == nil {
		n.waiting = map[string]*delayedAdd{}
	}
	if n.waiting[key] == nil {
		n.waiting[key] = &delayedAdd{due: due}
	}
}

// ran notes a run that began at a time, before what it adds itself.
func (n *needless) ran(key string, begin time.Duration, news, succeeded bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.waiting[key]
	switch {
	case d == nil:
	case begin < d.due || news && d.due == 0: // not yet the delayed add's
		d.covered = d.covered || succeeded
	default:
		if d.covered && !news {
			n.runs++
		}
		delete(n.waiting, key)
	}
}

func (n *needless) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.runs
}
