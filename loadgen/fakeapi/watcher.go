package fakeapi

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen"
)

// A watcher sends one watch its events.
type watcher struct {
	server     *Server
	collection *collection
	result     chan watch.Event
	stopped    chan struct{} // closed by the client
	stop       sync.Once
	cut        chan struct{} // closed by the server
	bookmarks  bool          // asked for

	// Guarded by the collection's mutex.
	position      uint64
	end           end
	bookmarkDue   bool
	bookmarkTimer *time.Timer

	initial      []watch.Event // to be sent first ...
	initialDelay time.Duration // ... after that time

	begin time.Time // of throttling
	sent  int
}

// An end is why a watch is over.
type end uint8

const (
	endNone end = iota
	endStopped
	endCut
	endGone
)

// buffered is how many events wait between the server and the client, as in a
// connection's buffers.
const buffered = 100

// ResultChan implements watch.Interface.
func (w *watcher) ResultChan() <-chan watch.Event { return w.result }

// Stop implements watch.Interface.
func (w *watcher) Stop() {
	w.stop.Do(func() {
		close(w.stopped)
		w.finish(endStopped)
	})
}

// finish marks the watch as ended and wakes it up.
func (w *watcher) finish(why end) {
	c := w.collection
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.end == endNone {
		w.end = why
		delete(c.watches, w)
		c.changed.Broadcast()
	}
}

// run sends until the watch ends. A timeout of 0 is none.
func (w *watcher) run(timeout time.Duration) {
	defer close(w.result)
	f := &w.server.config.Faults
	cutAfter := func(d time.Duration, count bool) *time.Timer {
		return time.AfterFunc(d, func() {
			if count {
				w.server.counters.disconnects.Add(1)
			}
			w.finish(endCut)
			close(w.cut)
		})
	}
	switch {
	case f.Disconnect > 0 && (timeout == 0 || f.Disconnect < timeout):
		defer cutAfter(f.Disconnect, true).Stop()
	case timeout > 0:
		defer cutAfter(timeout, false).Stop()
	}
	if w.bookmarks && f.Bookmarks > 0 {
		defer w.armBookmarks(f.Bookmarks).Stop()
	}
	w.begin = time.Now()
	if !w.sendInitial() {
		return
	}
	batch := make([]watch.Event, 0, 1000)
	for {
		batch = w.next(batch[:0])
		if len(batch) == 0 {
			break
		}
		for _, event := range batch {
			if !w.send(event) {
				return
			}
		}
	}
	if w.end == endGone { // written before the last call of next returned
		w.server.counters.gone.Add(1)
		status := gone().Status()
		w.send(watch.Event{Type: watch.Error, Object: &status})
	}
}

// armBookmarks lets a bookmark become due, and another each time that one was sent.
func (w *watcher) armBookmarks(every time.Duration) *time.Timer {
	c := w.collection
	c.mu.Lock()
	defer c.mu.Unlock()
	w.bookmarkTimer = time.AfterFunc(every, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		w.bookmarkDue = true
		c.changed.Broadcast()
	})
	return w.bookmarkTimer
}

// next waits for events and takes some; none once the watch is over.
func (w *watcher) next(batch []watch.Event) []watch.Event {
	c := w.collection
	c.mu.Lock()
	defer c.mu.Unlock()
	for w.end == endNone {
		if w.position < c.history.end {
			full := c.history.len() >= 2*remembered
			for ; w.position < c.history.end && len(batch) < cap(batch); w.position++ {
				batch = append(batch, c.history.at(w.position).event)
			}
			if full { // Run may be waiting for room
				c.changed.Broadcast()
			}
			return batch
		}
		if w.bookmarkDue {
			w.bookmarkDue = false
			w.bookmarkTimer.Reset(w.server.config.Faults.Bookmarks)
			w.server.counters.bookmarks.Add(1)
			return append(batch, watch.Event{Type: watch.Bookmark, Object: c.bookmark()})
		}
		c.changed.Wait()
	}
	return nil
}

func (w *watcher) sendInitial() bool {
	if w.initialDelay > 0 && !w.pause(w.initialDelay) {
		return false
	}
	for _, event := range w.initial {
		if !w.send(event) {
			return false
		}
	}
	w.initial = nil
	return true
}

// pause waits; false if the watch is over before.
func (w *watcher) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-w.stopped:
	case <-w.cut:
	}
	return false
}

// send waits until the event fits into the connection and its rate; false if
// the watch is over.
func (w *watcher) send(event watch.Event) bool {
	if rate := w.server.config.Faults.Throttle; rate > 0 {
		due := w.begin.Add(time.Duration(float64(w.sent) / rate * float64(time.Second)))
		left := time.Until(due)
		if left < -time.Second { // what was not used is not saved up
			w.begin, w.sent = time.Now(), 0
		}
		w.sent++
		if left > time.Millisecond && !w.pause(left) {
			return false
		}
	}
	select {
	case w.result <- event:
		return true
	default:
	}
	select {
	case w.result <- event:
		return true
	case <-w.stopped:
		return false
	case <-w.cut:
		return false
	}
}

// bookmark returns an object of the collection's type that holds its resource
// version alone.
func (c *collection) bookmark() loadgen.Object {
	object := c.empty.DeepCopyObject().(loadgen.Object)
	object.SetResourceVersion(strconv.FormatUint(c.version, 10))
	return object
}

func gone() *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
		Message: "too old resource version",
	}}
}
