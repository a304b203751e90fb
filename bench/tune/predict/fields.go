package predict

import (
	"fmt"
	"math"
	"strconv"
)

// A Field is one of the settings.
type Field struct {
	Name, Title string                 // in YAML, and as people call it
	Amount      func(Settings) float64 // of what can be raised and lowered; nil: it can't be
	Text        func(Settings) string
}

// Fields are the settings in the order of tables: their name in YAML, as people
// call them, and as text.
var Fields = []Field{
	{"workers", "concurrent workers", func(s Settings) float64 { return float64(s.Workers) }, func(s Settings) string { return strconv.Itoa(s.Workers) }},
	{"qps", "client QPS", func(s Settings) float64 { return orEndless(s.QPS) }, func(s Settings) string {
		if s.QPS == 0 {
			return "no limit"
		}
		return Number(s.QPS)
	}},
	{"burst", "client burst", func(s Settings) float64 { return float64(s.Burst) }, func(s Settings) string {
		if s.QPS == 0 {
			return "no limit"
		}
		return strconv.Itoa(s.Burst)
	}},
	{"baseDelay", "base back-off", func(s Settings) float64 { return float64(s.BaseDelay) }, func(s Settings) string { return s.BaseDelay.String() }},
	{"maxDelay", "maximum back-off", func(s Settings) float64 { return float64(s.MaxDelay) }, func(s Settings) string { return s.MaxDelay.String() }},
	{"bucketRate", "retry bucket rate", func(s Settings) float64 { return orEndless(s.BucketRate) }, func(s Settings) string {
		if s.BucketRate == 0 {
			return "none"
		}
		return Number(s.BucketRate) + "/s"
	}},
	{"bucketBurst", "retry bucket burst", func(s Settings) float64 { return float64(s.BucketBurst) }, func(s Settings) string {
		if s.BucketRate == 0 {
			return "none"
		}
		return strconv.Itoa(s.BucketBurst)
	}},
	{"resync", "resync period", nil, func(s Settings) string {
		if s.Resync == 0 {
			return "none"
		}
		return s.Resync.String()
	}},
	{"batch", "informer batch", nil, func(s Settings) string { return strconv.Itoa(s.Batch) }},
	{"queue", "queue variant", nil, func(s Settings) string { return s.Queue }},
	{"priority", "priority queue", nil, func(s Settings) string { return onOff(s.Priority) }},
	{"split", "queue for each resource", nil, func(s Settings) string { return onOff(s.Split) }},
}

// Brief names settings by what matters most: workers, and the client's limit if there is one.
func (s Settings) Brief() string {
	text := fmt.Sprintf("%d workers", s.Workers)
	if s.Workers == 1 {
		text = "1 worker"
	}
	if s.QPS > 0 {
		text += fmt.Sprintf(" and a QPS of %s", Number(s.QPS))
	}
	return text
}

// orEndless is a limit of which 0 stands for none.
func orEndless(limit float64) float64 {
	if limit == 0 {
		return math.Inf(1)
	}
	return limit
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// Number prints up to three digits.
func Number(x float64) string {
	if x >= 100 && x < 1e15 {
		return strconv.FormatFloat(math.Round(x), 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
