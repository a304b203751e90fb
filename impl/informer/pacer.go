package informer

import "time"

// A pacer lets the goroutines run that a handler's calls have woken, workers above
// all. Go runs a goroutine that was woken when the one that woke it blocks, or
// when an idle processor takes it over, which takes tens of microseconds even if
// there is one. A handler that goes through a batch without blocking would make
// every worker wait for the end of the batch.
//
// So a second goroutine, the pacer's, is asked before some calls and answers after
// them, and the handler waits for the answer: the pacer was woken before those whom
// the calls woke, so they all get the processor before the handler goes on.
//
// That takes two switches of goroutines. Calls that take long get one wait each;
// short ones share a wait, as many as fit into stretch.
type pacer struct {
	ask, answer chan struct{}
	calls       int // of a stretch
	left        int // of this stretch
	begun       time.Time
}

const (
	// stretch is for how long calls are made between two waits, about. A worker waits
	// for half of it. Shorter ones would have the informer's handlers, which go on
	// while one waits, delay each other.
	stretch = 8 * time.Microsecond
	// maxCalls bounds a stretch of calls that do nothing.
	maxCalls = 256
)

func newPacer() *pacer {
	// With room for an answer the pacer's goroutine waits for the next question even
	// if an idle processor took it over and it has answered early.
	return &pacer{ask: make(chan struct{}), answer: make(chan struct{}, 1), calls: 1}
}

// run answers until end.
func (p *pacer) run() {
	for range p.ask {
		p.answer <- struct{}{}
	}
}

// end ends run.
func (p *pacer) end() {
	p.rest()
	close(p.ask)
}

// before is called before each call.
func (p *pacer) before() {
	if p.left == 0 {
		p.rest()
		p.ask <- struct{}{}
		p.begun, p.left = time.Now(), p.calls
	}
	p.left--
}

// rest ends a stretch: it waits for the answer.
func (p *pacer) rest() {
	if p.begun.IsZero() {
		return
	}
	switch took := time.Since(p.begun); {
	case took > stretch:
		p.calls = max(1, p.calls/2)
	case took < stretch/2 && p.left == 0:
		p.calls = min(maxCalls, 2*p.calls)
	}
	p.begun, p.left = time.Time{}, 0
	<-p.answer
}
