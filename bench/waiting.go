package bench

import (
	"bytes"
	"flag"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// A waiting measures how long goroutines wait for the component's locks, of
// whatever kind, by the runtime's profile of blocking events: metrics see sync's
// mutexes alone. To profile costs time at each event, so it is done beside what is
// timed, not in it.
type waiting struct{ before time.Duration }

// blockProfileRate is the mean time between two events that are recorded, in
// nanoseconds: shorter ones are recorded in proportion, and count for more.
const blockProfileRate = 1000

// watchWaiting starts a measurement.
func watchWaiting() waiting {
	if !profiled() {
		runtime.SetBlockProfileRate(blockProfileRate)
	}
	return waiting{waited()}
}

// stop ends it and returns the sum over all goroutines.
func (w waiting) stop() time.Duration {
	if !profiled() {
		runtime.SetBlockProfileRate(0)
	}
	return max(waited()-w.before, 0)
}

// profiled reports that somebody else profiles this process's blocking events.
func profiled() bool {
	f := flag.Lookup("test.blockprofile")
	return f != nil && f.Value.String() != ""
}

// waited is what the profile holds of waiting for locks.
func waited() time.Duration {
	var b bytes.Buffer
	if err := pprof.Lookup("block").WriteTo(&b, 0); err != nil {
		return 0 // a buffer takes all
	}
	p, err := profile.Parse(&b)
	if err != nil || len(p.SampleType) < 2 {
		return 0 // a program without a blocking event has an empty profile
	}
	var sum int64
	for _, s := range p.Sample {
		if forLock(stackOf(s)) {
			sum += s.Value[1]
		}
	}
	return time.Duration(sum)
}

// stackOf names the functions of a stack, innermost first.
func stackOf(s *profile.Sample) []string {
	var names []string
	for _, l := range s.Location {
		for _, line := range l.Line {
			names = append(names, line.Function.Name)
		}
	}
	return names
}

// forItems are the methods that wait until there is something to give out. Whoever
// blocks elsewhere in a component waits for others to leave it.
var forItems = []string{"Get", "GetWithPriority", "Pop", "PopBatch", "Run", "RunWithContext", "ShutDownWithDrain"}

// here begins the names of this package's functions.
const here = "github.com/informerbench/informerbench/bench."

// lockMethods are what a lock calls the methods that wait for it.
var lockMethods = []string{"Lock", "RLock", "lock", "rLock"}

// forLock tells from its stack whether a blocked goroutine waited for a component's
// lock: in a method of a lock, or in one of the component that does not wait for items.
func forLock(stack []string) bool {
	end := slices.IndexFunc(stack, func(name string) bool { return strings.HasPrefix(name, here) })
	inner := stack
	if end >= 0 { // a goroutine of the case's
		inner = stack[:end]
	}
	called := "" // the outermost that is no standard library's
	for _, name := range inner {
		if path, _, deep := strings.Cut(name, "/"); deep && strings.Contains(path, ".") {
			called = method(name)
		}
	}
	switch {
	case called == "": // the case waits for itself
		return false
	case slices.ContainsFunc(inner, func(name string) bool { return slices.Contains(lockMethods, method(name)) }):
		return true
	}
	return end >= 0 && !slices.Contains(forItems, called)
}

// method is the last part of a function's name, without type parameters.
func method(name string) string {
	name = strings.TrimSuffix(strings.ReplaceAll(name, "[...]", ""), "-fm")
	return name[strings.LastIndexByte(name, '.')+1:]
}
