// Package durations records how long things took and sums it up. Its steps, in
// order:
//
//  1. A [Histogram] counts durations, each to a few significant digits; those of
//     several goroutines or simulations are merged ([Histogram.Merge], [Pooled]).
//  2. It is asked for its mean, its quantiles, or the shares up to the bounds of
//     a Prometheus histogram.
//  3. [Histogram.Distribution] is its summary in result files: the points of a
//     curve.
package durations

import (
	"math"
	"math/bits"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// A Histogram is what was observed of a duration: exact in its count, mean and
// maximum, to some digits elsewhere. The zero value has observed nothing and tells three
// digits from 1 ns to a thousand hours. A copy is for reading; only one goroutine may
// use a histogram that is recorded in.
type Histogram struct {
	sum    float64
	max    time.Duration
	counts *hdr.Histogram // takes 340 KB in the zero value, so only once there is something
}

// longest is what the zero value still tells from longer durations.
const longest = 1000 * time.Hour

// New makes a histogram of that range, outside of which durations count as its
// ends, and that many significant digits, from 1 to 5. It allocates now, so that
// recording doesn't.
func New(from, to time.Duration, digits int) Histogram {
	return Histogram{counts: hdr.New(int64(from), int64(to), digits)}
}

// Record counts one duration.
func (h *Histogram) Record(d time.Duration) { h.RecordMany(d, 1) }

// RecordMany counts several equal ones.
func (h *Histogram) RecordMany(d time.Duration, count int64) {
	if h.counts == nil {
		*h = New(1, longest, 3)
	}
	d = min(max(d, 0), time.Duration(h.counts.HighestTrackableValue()))
	h.sum, h.max = h.sum+float64(d)*float64(count), max(h.max, d)
	_ = h.counts.RecordValues(int64(d), count) // in range, so there is no error
}

// Reset forgets what was recorded.
func (h *Histogram) Reset() {
	h.sum, h.max = 0, 0
	if h.Count() > 0 {
		h.counts.Reset()
	}
}

// Merge adds what another recorded.
func (h *Histogram) Merge(from Histogram) {
	if from.Count() == 0 {
		return
	}
	if h.counts == nil {
		*h = New(1, longest, 3)
	}
	h.sum, h.max = h.sum+from.sum, max(h.max, from.max)
	h.counts.Merge(from.counts)
}

// Pooled is what several observed together.
func Pooled(list []Histogram) Histogram {
	var all Histogram
	for _, h := range list {
		all.Merge(h)
	}
	return all
}

// Count is how many were recorded.
func (h Histogram) Count() int64 {
	if h.counts == nil {
		return 0
	}
	return h.counts.TotalCount()
}

// Mean is 0 if nothing was recorded, as Max and Quantile are.
func (h Histogram) Mean() time.Duration { return time.Duration(h.sum / float64(max(1, h.Count()))) }

// Max is the longest.
func (h Histogram) Max() time.Duration { return h.max }

// Quantile is the duration that the share q, from 0 to 1, does not exceed.
func (h Histogram) Quantile(q float64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return min(h.max, time.Duration(h.counts.ValueAtQuantile(100*q)))
}

// Below is the share of durations up to and with each of the bounds, which have
// to rise; as the buckets of a Prometheus histogram, divided by the count.
func (h Histogram) Below(bounds ...time.Duration) []float64 {
	shares := make([]float64, len(bounds))
	if h.Count() == 0 {
		return shares
	}
	// The counts alone: as bars with their ends they take ten times as long.
	x := h.counts.Export()
	width := bits.Len64(uint64(2*math.Pow10(int(x.SignificantFigures))) - 1)
	unit := bits.Len64(uint64(x.LowestTrackableValue)) - 1
	counted, below := 0, int64(0)
	for i, bound := range bounds {
		for end := min(indexOf(bound>>unit, width)+1, len(x.Counts)); counted < end; counted++ {
			below += x.Counts[counted]
		}
		shares[i] = float64(below) / float64(h.Count())
	}
	return shares
}

// indexOf is the place of a duration among the counts, of which the first 2^width
// are one unit wide, and then half as many for each doubling: three digits take a
// width of 11.
func indexOf(units time.Duration, width int) int {
	if units < 0 {
		return -1
	}
	doublings := max(0, bits.Len64(uint64(units))-width)
	return doublings<<(width-1) + int(units>>doublings)
}
