package scrape

import (
	"fmt"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

func label(m *dto.Metric, name string) string {
	for _, l := range m.Label {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// where names a series in an error.
func where(family string, m *dto.Metric) string {
	var labels []string
	for _, l := range m.Label {
		labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	slices.Sort(labels)
	if len(labels) == 0 {
		return family
	}
	return family + "{" + strings.Join(labels, ",") + "}"
}

func checked(family string, m *dto.Metric, kind dto.MetricType) (float64, error) {
	var v float64
	switch kind {
	case dto.MetricType_COUNTER:
		v = m.GetCounter().GetValue()
	case dto.MetricType_GAUGE:
		v = m.GetGauge().GetValue()
	case dto.MetricType_UNTYPED:
		v = m.GetUntyped().GetValue()
	default:
		return 0, fmt.Errorf("%s: found a %s, expected a counter or gauge", where(family, m), strings.ToLower(kind.String()))
	}
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, fmt.Errorf("%s: found %v, expected a number of 0 or more", where(family, m), v)
	}
	return v, nil
}

// longestSum is more than all workers of a process can have spent, in seconds: a million of
// them for thirty years.
const longestSum = 1e15

func addHistogram(to *Histogram, family string, kind dto.MetricType, m *dto.Metric) error {
	if kind != dto.MetricType_HISTOGRAM {
		return fmt.Errorf("%s: found a %s, expected a histogram (client-go writes one since v0.12)", where(family, m), strings.ToLower(kind.String()))
	}
	var h Histogram
	before, sum := 0.0, m.GetHistogram().GetSampleSum()
	// The samples of a family may come in any order, so their buckets may too.
	buckets := slices.Clone(m.GetHistogram().GetBucket())
	slices.SortFunc(buckets, func(a, b *dto.Bucket) int {
		if a.GetUpperBound() < b.GetUpperBound() {
			return -1
		}
		return 1
	})
	for i, bucket := range buckets {
		if i > 0 && bucket.GetUpperBound() == buckets[i-1].GetUpperBound() {
			return fmt.Errorf("%s: found the bucket le=%q twice, expected each series once", where(family, m), fmt.Sprint(bucket.GetUpperBound()))
		}
		bound, n := bucket.GetUpperBound(), float64(bucket.GetCumulativeCount())
		if math.IsNaN(bound) || n < before {
			return fmt.Errorf("%s: found a bucket le=%q of %v after %v, expected counts that rise", where(family, m), fmt.Sprint(bound), n, before)
		}
		h.Counts = append(h.Counts, n-before)
		before = n
		if !math.IsInf(bound, 1) {
			h.Bounds = append(h.Bounds, bound)
		}
	}
	total := float64(m.GetHistogram().GetSampleCount())
	if len(h.Counts) == len(h.Bounds) {
		h.Counts = append(h.Counts, total-before)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) || sum < 0 || h.Count() != total || h.Counts[len(h.Counts)-1] < 0 {
		return fmt.Errorf("%s: found a count of %v, a sum of %v and %v in the buckets, expected them to agree", where(family, m), total, sum, h.Count())
	}
	if sum > longestSum {
		return fmt.Errorf("%s: found a sum of %v s, expected less than %v", where(family, m), sum, longestSum)
	}
	h.Sum = sum
	*to = to.plus(h)
	return nil
}
