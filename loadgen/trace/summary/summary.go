// Package summary says what is in a recording. Its steps, in order:
//
//  1. A [Counter] takes records and counts them, for all and by resource
//     (counter.go): rates, sizes, how often each object changes, how long it
//     lives.
//  2. [Counter.Summary] computes the figures (this file): mix, skew,
//     burstiness, life cycles.
package summary

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/loadgen/trace"
)

// A Summary is what is in a recording.
type Summary struct {
	Begin     time.Time     `json:"begin,omitzero"` // of the first event; zero if there are no times
	Duration  time.Duration `json:"durationNanoseconds"`
	All       Traffic       `json:"all"`
	Resources []Traffic     `json:"resources"` // by name
	Oddities  []Oddity      `json:"oddities"`  // what was irregular and how often
}

// Traffic is what happened to one resource, or to all. Bookmarks do not count
// as events.
type Traffic struct {
	Resource  string  `json:"resource"` // "pods", "leases.coordination.k8s.io"
	Kind      string  `json:"kind"`     // "Pod"; "PartialObjectMetadata" where only the metadata is known
	Events    int     `json:"events"`
	Rate      float64 `json:"eventsPerSecond"` // 0 without times
	Added     int     `json:"added"`           // as recorded, not as delivered to a cache
	Modified  int     `json:"modified"`
	Deleted   int     `json:"deleted"`
	Bookmarks int     `json:"bookmarks"`
	Existing  int     `json:"existing"` // objects that existed before, of those that had an event
	Objects   int     `json:"objects"`  // that had an event
	Spaces    int     `json:"namespaces"`
	Bytes     int64   `json:"bytes"` // of all objects as JSON
	Size      Spread  `json:"size"`  // bytes of an object as JSON
	Managed   float64 `json:"managedFieldsShare"`
	Skew      Skew    `json:"skew"`
	Bursts    Bursts  `json:"bursts"`
	Lives     Lives   `json:"lives"`
}

// A Spread is a distribution, to three digits.
type Spread struct {
	Count  int64   `json:"count"`
	Mean   float64 `json:"mean"`
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// Skew says how unequally the events fall on the objects that had any.
type Skew struct {
	Top1Percent float64 `json:"top1PercentShare"` // share of the events that the busiest 1% of the objects take, rounded down to whole objects, at least one
	ZipfS       float64 `json:"zipfS"`            // exponent of the Zipf law that fits best; 0 is uniform
	Busiest     int     `json:"busiest"`          // events of the busiest object
}

// Bursts says how unequally the events fall on the seconds.
type Bursts struct {
	Peak       int     `json:"peakPerSecond"`     // events in the busiest second of the clock
	Dispersion float64 `json:"indexOfDispersion"` // variance by mean of the events in a second; 1 for a Poisson process
	Busy       float64 `json:"busySeconds"`       // share of the seconds with more events than the mean
	On         float64 `json:"meanBurstSeconds"`  // how long they last in a row
}

// Lives are the objects that were both added and deleted in the recording.
type Lives struct {
	Whole         int     `json:"whole"`
	Modifications Spread  `json:"modifications"`
	Usual         int     `json:"usualModifications"` // the most frequent number of modifications ...
	UsualShare    float64 `json:"usualShare"`         // ... and the share of the lives that have it
	Seconds       Spread  `json:"seconds"`            // from added to deleted
	Idle          Spread  `json:"secondsIdle"`        // the longest time without an event in each life ...
	Steps         Spread  `json:"secondsStep"`        // ... and the mean of its other times from event to event
	Between       Spread  `json:"secondsBetween"`     // from an object's event to its next, of all objects, whole lives or not
}

// An Oddity is something irregular in a recording that was put right or left
// out, and counted.
type Oddity struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Oddities lists what was irregular in recordings, the frequent first.
func Oddities(stats ...trace.Stats) []Oddity {
	counts := map[string]int{}
	for _, s := range stats {
		counts["changes of objects that existed before, taken as additions"] += s.ImpliedAdds
		counts["additions of objects that exist, taken as changes"] += s.RepeatedAdds
		counts["deletes of unknown objects"] += s.UnknownDeletes
		counts["events that repeat the version their object has"] += s.Repeated
		counts["changes without an event type, taken as modifications: whether some were deletions can't be told"] += s.Untyped
		for resource, n := range s.Guessed {
			counts["events of "+resource+", a name guessed from the kind"] += n
		}
		counts["times before their predecessor's, raised to it"] += s.Backwards
		counts["events without a time, due with their predecessor"] += s.Untimed
		counts["events of other resources, left out"] += s.Unselected
		for reason, n := range s.Skipped {
			counts["skipped: "+reason] += n
		}
	}
	var all []Oddity
	for what, n := range counts {
		if n > 0 {
			all = append(all, Oddity{what, n})
		}
	}
	slices.SortFunc(all, func(a, b Oddity) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.What, b.What)
	})
	return all
}

func skew(counts []int) Skew {
	if len(counts) == 0 {
		return Skew{}
	}
	slices.SortFunc(counts, func(a, b int) int { return b - a })
	total, top := 0, 0
	for i, n := range counts {
		total += n
		if i < max(1, len(counts)/100) {
			top += n
		}
	}
	return Skew{Top1Percent: float64(top) / float64(total), ZipfS: zipfS(counts, total), Busiest: counts[0]}
}

// zipfS is the exponent of greatest likelihood for counts in falling order: the
// s at which the mean logarithm of the rank is as observed, found by halving.
func zipfS(counts []int, total int) float64 {
	if len(counts) < 2 {
		return 0
	}
	observed := 0.0
	logs := make([]float64, len(counts))
	for i, n := range counts {
		logs[i] = math.Log(float64(i + 1))
		observed += float64(n) * logs[i]
	}
	observed /= float64(total)
	low, high := 0.0, 10.0
	for range 30 {
		s := (low + high) / 2
		sum, weighted := 0.0, 0.0
		for _, l := range logs {
			w := math.Exp(-s * l)
			sum += w
			weighted += w * l
		}
		if weighted/sum > observed {
			low = s
		} else {
			high = s
		}
	}
	return math.Round((low+high)/2*1000) / 1000
}

// bursts looks at the events by second, from the first to the last.
func bursts(seconds map[int64]int, first, last int64) Bursts {
	n := float64(last - first + 1)
	if len(seconds) == 0 || n <= 0 {
		return Bursts{}
	}
	var b Bursts
	sum, squares := 0.0, 0.0
	for _, c := range seconds {
		b.Peak = max(b.Peak, c)
		sum += float64(c)
		squares += float64(c) * float64(c)
	}
	mean := sum / n
	if n > 1 {
		b.Dispersion = (squares - n*mean*mean) / (n - 1) / mean
	}
	busy, runs := 0, 0
	for second, c := range seconds {
		if float64(c) > mean {
			busy++
			if float64(seconds[second-1]) <= mean {
				runs++
			}
		}
	}
	b.Busy = float64(busy) / n
	if runs > 0 {
		b.On = float64(busy) / float64(runs)
	}
	return b
}
