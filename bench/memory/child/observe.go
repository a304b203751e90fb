package child

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/informerbench/informerbench/loadgen/cputime"
)

// How often the heap is read, and how many points a timeline keeps.
const (
	observeEvery = 2 * time.Millisecond
	mostPoints   = 240
)

// An observer reads heap and resident set until it is stopped.
type observer struct {
	began  time.Time
	cpu    time.Duration
	phase  Phase
	points []Point
	every  int // readings a point stands for
	n      int
	stop   chan struct{}
	ended  sync.WaitGroup
}

func observe() *observer {
	resetPeak()
	o := &observer{began: time.Now(), cpu: cputime.Process(), every: 1, stop: make(chan struct{})}
	o.ended.Go(func() {
		tick := time.NewTicker(observeEvery)
		defer tick.Stop()
		for {
			select {
			case <-o.stop:
				return
			case <-tick.C:
				o.read()
			}
		}
	})
	return o
}

func (o *observer) read() {
	p := Point{At: time.Since(o.began), Heap: heapObjects()}
	o.phase.Heap = max(o.phase.Heap, p.Heap)
	if o.n++; o.n%o.every != 0 {
		return
	}
	p.Resident = status("VmRSS")
	o.phase.Resident = max(o.phase.Resident, p.Resident)
	o.points = append(o.points, p)
	if len(o.points) >= mostPoints { // half as many, of twice the time each
		for i := range mostPoints / 2 {
			a, b := o.points[2*i], o.points[2*i+1]
			b.Heap, b.Resident = max(a.Heap, b.Heap), max(a.Resident, b.Resident)
			o.points[i] = b
		}
		o.points = o.points[:mostPoints/2]
		o.every *= 2
	}
}

// finish ends the phase that began with the observer.
func (o *observer) finish() Phase {
	close(o.stop)
	o.ended.Wait()
	o.read()
	o.phase.Took, o.phase.CPU = time.Since(o.began), cputime.Process()-o.cpu
	if peak := status("VmHWM"); peak > 0 {
		o.phase.Resident = max(o.phase.Resident, peak)
	}
	return o.phase
}

// heapObjects is what objects take, those that are dead but not swept included.
func heapObjects() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// live is what lives after a collection. The second one clears what finalizers
// and pools have kept through the first.
func live() uint64 {
	for range 2 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// counted is what Go's memory limit applies to.
func counted() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// settle returns memory to the system, so that a phase begins as if after a while.
func settle() { debug.FreeOSMemory() }

// collections is how many there were.
func collections() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/automatic:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// status reads a figure of this process in bytes; 0 where the system has none.
func status(name string) uint64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if rest, ok := strings.CutPrefix(string(line), name+":"); ok {
			n, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// resetPeak makes the peak of the resident set begin anew, where the system lets it.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) }
