package drive

import (
	"time"

	"github.com/informerbench/informerbench/loadgen/counters"
	"github.com/informerbench/informerbench/loadgen/cputime"
)

// A reading is what the process has used so far.
type reading struct {
	counters.Counters
	cpu   time.Duration
	sched *counters.Latencies
}

func read() reading {
	return reading{counters.Read(), cputime.Process(), counters.ReadLatencies()}
}

// since is what was used between two readings.
func (r reading) since(before reading) Usage {
	return Usage{
		CPU:       r.cpu - before.cpu,
		GCCPU:     r.GC - before.GC,
		Allocated: int64(r.Bytes - before.Bytes),
		Allocs:    int64(r.Objects - before.Objects),
		MutexWait: r.MutexWait - before.MutexWait,
		Sched99:   counters.P99(before.sched, r.sched),
	}
}
