package election

import "sync"

// reportLeader tells OnNewLeader of a holder that it was not told of last.
func (e *LeaderElector) reportLeader() {
	if report := e.config.Callbacks.OnNewLeader; report != nil {
		e.news.tell(e.GetLeader(), report)
	}
}

// news calls OnNewLeader in a goroutine, so that it holds up no renewal, and in
// order, so that the last call names the last leader.
type news struct {
	mu      sync.Mutex
	last    string
	queue   []string
	running bool
}

func (n *news) tell(leader string, report func(string)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if leader == n.last {
		return
	}
	n.last = leader
	n.queue = append(n.queue, leader)
	if !n.running {
		n.running = true
		go n.deliver(report)
	}
}

func (n *news) deliver(report func(string)) {
	for {
		leader, more := n.next()
		if !more {
			return
		}
		report(leader) // unlocked, so that a panic of it stays one
	}
}

func (n *news) next() (leader string, more bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) == 0 {
		n.running = false
		return "", false
	}
	leader, n.queue = n.queue[0], n.queue[1:]
	return leader, true
}
