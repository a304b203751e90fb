package impltest

import (
	"strings"
	"testing"

	"github.com/informerbench/informerbench/impl/fifo"
	"k8s.io/client-go/tools/cache"
)

// The fuzz tests read their input as calls and compare the variants with
// upstream's type.

func FuzzFIFO(f *testing.F) {
	fuzzFIFO(f, plainFIFO, func(c fifo.Config) cache.Queue { return fifo.NewSliceFIFO(c) },
		func(c fifo.Config) cache.Queue { return fifo.NewRingFIFO(c) })
}

func FuzzDeltaFIFO(f *testing.F) {
	fuzzFIFO(f, deltaFIFO, func(c fifo.Config) cache.Queue { return fifo.NewSliceDeltaFIFO(c) },
		func(c fifo.Config) cache.Queue { return fifo.NewRingDeltaFIFO(c) })
}

func FuzzInOrderFIFO(f *testing.F) {
	fuzzFIFO(f, inOrderFIFO, func(c fifo.Config) cache.Queue { return fifo.NewSliceInOrder(c) },
		func(c fifo.Config) cache.Queue { return fifo.NewRingInOrder(c) })
}

func fuzzFIFO(f *testing.F, kind fifoKind, variants ...newFIFO) {
	// Replace with and without a store, a key deleted twice, batches across the
	// initial list, errors of key, transformer and handler.
	f.Add([]byte("\x49\x07\x07\x02\x01\x05\x01\x05\x04\x08\x00\x0d\x01\x0a\x01\x07\x02\x0a\x00"))
	f.Add([]byte("\x62\x07\x03\x09\x00\x00\x01\x02\x02\x0a\x01\x08\x00\x0a\x08\x0d\x08"))
	f.Add([]byte("\xe4\x00\xfa\x00\xfe\x17\x05\x27\x03\x05\x00\x05\x04\x05\x08\x0d\x00"))
	f.Fuzz(func(t *testing.T, calls []byte) {
		if len(calls) > 1000 {
			return
		}
		for _, new := range variants {
			tr := &trial{}
			<-tr.Go(func() { compareFIFOs(tr, new, kind, calls) })
			if tr.Failed() {
				t.Fatal(strings.Join(tr.failures, "\n"))
			}
		}
	})
}
