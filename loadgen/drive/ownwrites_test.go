package drive

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func TestOwnWritesOfADrive(t *testing.T) {
	c := Config{Workload: "x", Spec: updates(t, 10, 100, 10, "constant"), Speed: 1, OwnWrites: true}
	r := virtually(t, c)
	requireBalance(t, r)
	assert.EqualValues(t, 100, r.Latency(OwnWrite).Count)
	assert.Zero(t, r.Latency(OwnWrite).Max, "nothing is late in virtual time")
	assert.True(t, r.Setup.OwnWrites)
	c.OwnWrites = false
	assert.Zero(t, virtually(t, c).Latency(OwnWrite).Count)
}

// A write is readable when a handler was told of its version or a later one, as
// controller-runtime's client has it.
func TestOwnWriteWaitsForItsVersion(t *testing.T) {
	now := time.Duration(0)
	var all meters
	w := newOwnWrites(func() time.Duration { return now }, 0, all.add(OwnWrite))
	pods, nodes := &resource{name: "pods"}, &resource{name: "nodes"}
	object := func(rv string) any {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: rv}}
	}
	w.written(pods, "9", 1*time.Second)
	w.written(pods, "10", 2*time.Second)
	w.written(pods, "11", 3*time.Second)
	w.written(pods, "not a number", 3*time.Second)
	w.written(nodes, "12", 3*time.Second)
	now = 5 * time.Second
	w.handler(pods).OnDelete(cache.DeletedFinalStateUnknown{Key: "a"})
	assert.Zero(t, all.distribution(OwnWrite).Count)
	w.handler(pods).OnUpdate(object("7"), object("10"))
	d := all.distribution(OwnWrite)
	assert.EqualValues(t, 2, d.Count)
	assert.InEpsilon(t, 4*time.Second, d.Max, 0.002)
	w.handler(pods).OnDelete(object("13"))
	w.handler(nodes).OnAdd(object("11"), false)
	assert.EqualValues(t, 3, all.distribution(OwnWrite).Count, "a node's write waits for a node's version")
}

// Between the cache and the handler an event is in the handler's backlog.
func TestHandlerWait(t *testing.T) {
	now := time.Duration(0)
	var all meters
	l := newLedger(func() time.Duration { return now }, 0)
	l.handlerWait = all.add(HandlerWait)
	n := name{&resource{name: "pods"}, "default", "a"}
	unused := all.add("")
	for _, rv := range []string{"1", "2", "3"} {
		l.send(n, version{rv: rv}, 0)
	}
	now = time.Second
	l.mark(n, version{rv: "2"}, stored, unused)
	assert.EqualValues(t, 2, l.backlog.Load())
	now = 4 * time.Second
	l.mark(n, version{rv: "1"}, enqueued, unused)
	assert.EqualValues(t, 1, l.backlog.Load())
	d := all.distribution(HandlerWait)
	assert.EqualValues(t, 1, d.Count)
	assert.InEpsilon(t, 3*time.Second, d.Max, 0.002)

	upTo, _ := l.take(n, version{rv: "2"}, now, unused)
	l.end(n, upTo, settled, unused, unused)
	assert.Zero(t, l.backlog.Load(), "what a worker has settled waits no more")
	assert.EqualValues(t, 1, all.distribution(HandlerWait).Count)
}
