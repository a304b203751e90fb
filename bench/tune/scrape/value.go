package scrape

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// A value is what a series holds.
type value struct {
	series string // its name and labels
	kind   string
	*dto.Metric
}

func valueOf(family *dto.MetricFamily, m *dto.Metric) value {
	var labels []string
	for _, l := range m.Label {
		labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	v := value{family.GetName(), strings.ToLower(family.GetType().String()), m}
	if len(labels) > 0 {
		slices.Sort(labels)
		v.series += "{" + strings.Join(labels, ",") + "}"
	}
	return v
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.Label {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

func (v value) fault(format string, args ...any) error {
	return fmt.Errorf("%s: %s", v.series, fmt.Sprintf(format, args...))
}

func usable(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }

// number adds the value to one that counts.
func (v value) number(to *float64) error {
	if v.Counter == nil && v.Gauge == nil && v.Untyped == nil {
		return v.fault("found a %s, expected a counter or gauge", v.kind)
	}
	x := v.GetCounter().GetValue() + v.GetGauge().GetValue() + v.GetUntyped().GetValue() // of which there is one
	if !usable(x) {
		return v.fault("found %v, expected a number of 0 or more", x)
	}
	*to += x
	return nil
}

// numberBy adds the value to those that count by a label.
func (v value) numberBy(name string, to *map[string]float64) error {
	x := 0.0
	err := v.number(&x)
	*to = added(*to, map[string]float64{label(v.Metric, name): x})
	return err
}

// longestSum is more than all workers of a process can have spent, in seconds: a million of
// them for thirty years.
const longestSum = 1e15

// histogram adds the value to one of durations.
func (v value) histogram(to *Histogram) error {
	if v.Histogram == nil {
		return v.fault("found a %s, expected a histogram (client-go writes one since v0.12)", v.kind)
	}
	// The samples of a family may come in any order, so their buckets may too.
	buckets := slices.SortedFunc(slices.Values(v.Histogram.Bucket), func(a, b *dto.Bucket) int {
		return cmp.Compare(a.GetUpperBound(), b.GetUpperBound())
	})
	h := Histogram{Sum: v.Histogram.GetSampleSum()}
	before := 0.0
	for i, bucket := range buckets {
		bound, n := bucket.GetUpperBound(), float64(bucket.GetCumulativeCount())
		switch {
		case i > 0 && bound == buckets[i-1].GetUpperBound():
			return v.fault("found the bucket le=%q twice, expected each series once", fmt.Sprint(bound))
		case math.IsNaN(bound) || n < before:
			return v.fault("found a bucket le=%q of %v after %v, expected counts that rise", fmt.Sprint(bound), n, before)
		}
		h.Counts = append(h.Counts, n-before)
		before = n
		if !math.IsInf(bound, 1) {
			h.Bounds = append(h.Bounds, bound)
		}
	}
	total := float64(v.Histogram.GetSampleCount())
	if len(h.Counts) == len(h.Bounds) {
		h.Counts = append(h.Counts, total-before)
	}
	switch {
	case !usable(h.Sum) || h.Count() != total || h.Counts[len(h.Counts)-1] < 0:
		return v.fault("found a count of %v, a sum of %v and %v in the buckets, expected them to agree", total, h.Sum, h.Count())
	case h.Sum > longestSum:
		return v.fault("found a sum of %v s, expected less than %v", h.Sum, longestSum)
	}
	*to = to.plus(h)
	return nil
}
