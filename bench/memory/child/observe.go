package child

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/informerbench/informerbench/loadgen/cputime"
)

// How often the heap is read, and how many moments a timeline keeps.
const (
	observeEvery = 2 * time.Millisecond
	mostMoments  = 240
)

// An observer reads heap and resident set until it is stopped.
type observer struct {
	began   time.Time
	cpu     time.Duration
	phase   Phase
	moments []Moment
	every   int // readings a moment stands for
	n       int
	reader  *reader
	stop    chan struct{}
	ended   sync.WaitGroup
}

func observe() *observer {
	resetPeak()
	o := &observer{began: time.Now(), cpu: cputime.Process(), every: 1, stop: make(chan struct{}),
		moments: make([]Moment, 0, mostMoments), reader: newReader()}
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
	m := Moment{At: time.Since(o.began), Heap: o.reader.heapObjects()}
	o.phase.Heap = max(o.phase.Heap, m.Heap)
	if o.n++; o.n%o.every != 0 {
		return
	}
	m.Resident = o.reader.status(resident)
	o.phase.Resident = max(o.phase.Resident, m.Resident)
	o.moments = append(o.moments, m)
	if len(o.moments) >= mostMoments { // half as many, of twice the time each
		for i := range mostMoments / 2 {
			a, b := o.moments[2*i], o.moments[2*i+1]
			b.Heap, b.Resident = max(a.Heap, b.Heap), max(a.Resident, b.Resident)
			o.moments[i] = b
		}
		o.moments = o.moments[:mostMoments/2]
		o.every *= 2
	}
}

// finish ends the phase that began with the observer.
func (o *observer) finish() Phase {
	close(o.stop)
	o.ended.Wait()
	o.read()
	o.phase.Took, o.phase.CPU = time.Since(o.began), cputime.Process()-o.cpu
	o.phase.Resident = max(o.phase.Resident, o.reader.status(residentPeak))
	o.reader.close()
	return o.phase
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

// A reader reads figures of this process without allocating: near a memory limit each
// allocation may begin a collection, and reading every few milliseconds would be what
// keeps the process busy.
type reader struct {
	sample [1]metrics.Sample
	text   [4096]byte
	file   *os.File // /proc/self/status, nil where the system has none
}

func newReader() *reader {
	r := &reader{sample: [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}}
	r.file, _ = os.Open("/proc/self/status")
	return r
}

// heapObjects is what objects take, those that are dead but not swept included.
func (r *reader) heapObjects() uint64 {
	metrics.Read(r.sample[:])
	return r.sample[0].Value.Uint64()
}

var resident, residentPeak = []byte("VmRSS:"), []byte("VmHWM:")

// status reads a figure of this process in bytes; 0 where the system has none.
func (r *reader) status(name []byte) (figure uint64) {
	n, _ := r.file.ReadAt(r.text[:], 0) // of no file, none
	_, rest, _ := bytes.Cut(r.text[:n], name)
	for _, c := range bytes.TrimLeft(rest, " \t") {
		if c < '0' || c > '9' {
			break
		}
		figure = 10*figure + uint64(c-'0')
	}
	return figure << 10
}

func (r *reader) close() { _ = r.file.Close() }

// resetPeak makes the peak of the resident set begin anew, where the system lets it.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) }
