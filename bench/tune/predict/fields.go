package predict

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Field is one of the settings.
type Field struct {
	Name, Title string // in YAML, and as people call it
	of          func(Settings) any
	least, most float64 // of a number: what is more is a slip of the finger, and takes for ever to simulate
}

const longest = float64(10_000 * time.Hour)

// Fields are the settings in the order of tables.
var Fields = []Field{
	{"workers", "concurrent workers", func(s Settings) any { return s.Workers }, 1, MaxWorkers},
	{"qps", "client QPS", func(s Settings) any { return s.QPS }, 0, 1e9},
	{"burst", "client burst", func(s Settings) any { return s.Burst }, 0, 1e9},
	{"baseDelay", "base back-off", func(s Settings) any { return s.BaseDelay }, 1, longest},
	{"maxDelay", "maximum back-off", func(s Settings) any { return s.MaxDelay }, 1, longest},
	{"bucketRate", "retry bucket rate", func(s Settings) any { return s.BucketRate }, 0, 1e9},
	{"bucketBurst", "retry bucket burst", func(s Settings) any { return s.BucketBurst }, 0, 1e9},
	{"resync", "resync period", func(s Settings) any { return s.Resync }, 0, longest},
	{"batch", "informer batch", func(s Settings) any { return s.Batch }, 1, 1e6},
	{"queue", "queue variant", func(s Settings) any { return s.Queue }, 0, 0},
	{"priority", "priority queue", func(s Settings) any { return s.Priority }, 0, 0},
	{"split", "queue for each resource", func(s Settings) any { return s.Split }, 0, 0},
}

// Text is its value as people read it.
func (f Field) Text(s Settings) string {
	switch {
	case s.QPS == 0 && (f.Name == "qps" || f.Name == "burst"):
		return "no limit"
	case s.BucketRate == 0 && strings.HasPrefix(f.Name, "bucket"), s.Resync == 0 && f.Name == "resync":
		return "none"
	case f.Name == "bucketRate":
		return Number(s.BucketRate) + "/s"
	}
	switch x := f.of(s).(type) {
	case float64:
		return Number(x)
	case bool:
		return onOff(x)
	default:
		return fmt.Sprint(x)
	}
}

// number is its value; not a number if it is none.
func (f Field) number(s Settings) float64 {
	switch x := f.of(s).(type) {
	case int:
		return float64(x)
	case float64:
		return x
	case time.Duration:
		return float64(x)
	}
	return math.NaN()
}

// Amount is its value if it can be raised and lowered, else not a number. A limit of 0 stands for
// none.
func (f Field) Amount(s Settings) float64 {
	x := f.number(s)
	switch {
	case f.Name == "resync" || f.Name == "batch":
		return math.NaN()
	case x == 0 && (f.Name == "qps" || f.Name == "bucketRate"):
		return math.Inf(1)
	}
	return x
}

// CheckRange reports the first of the named settings, or of all if none is named, that
// no controller can have, whatever the others are.
func (s Settings) CheckRange(names ...string) error {
	for _, f := range Fields {
		text := func(x float64) string {
			if _, ok := f.of(s).(time.Duration); ok {
				return time.Duration(x).String()
			}
			return strconv.FormatFloat(x, 'f', -1, 64)
		}
		named := len(names) == 0 || slices.Contains(names, f.Name)
		if x := f.number(s); named && f.most > 0 && !(x >= f.least && x <= f.most) {
			return fmt.Errorf("%s: found %s, expected %s to %s", f.Name, text(x), text(f.least), text(f.most))
		}
	}
	return nil
}

// Brief names settings by what matters most: workers, and the client's limit if there is one.
func (s Settings) Brief() string {
	text := fmt.Sprintf("%d workers", s.Workers)
	if s.Workers == 1 {
		text = "1 worker"
	}
	if s.QPS > 0 {
		text += " and a QPS of " + Number(s.QPS)
	}
	return text
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
