package search

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// An Objective is a bound that the recommended settings have to keep.
type Objective struct {
	Text   string  `json:"text"`
	Figure string  `json:"figure"` // "wait", "settle", "work", "depth", "utilisation", "api qps" or "workers"
	P      float64 `json:"p"`      // the quantile of a duration: 0.99; -1: the mean
	Bound  float64 `json:"bound"`  // seconds, items, a share, calls a second or workers
	Strict bool    `json:"strict"` // less than, not equal
}

// objectiveForms are the left sides that are understood.
const objectiveForms = `'p99 queue wait < 1s', 'p99 settle < 5s', 'mean work < 1s', 'depth < 100', 'utilisation < 80%', 'api qps <= 50' or 'max workers 32'`

var (
	objectiveText = regexp.MustCompile(`^(.*?)\s*(<=|<|≤)\s*(.+)$`)
	limitText     = regexp.MustCompile(`^max(?:imum)?\s+(.+?)\s+(\S+)$`)
	quantileText  = regexp.MustCompile(`^(?:p([0-9.]+)|median|mean|average)\s+(?:of\s+(?:the\s+)?)?(.+)$`)
)

// figureNames are what people call the figures.
var figureNames = map[string]string{
	"queue wait": "wait", "wait": "wait", "queue latency": "wait", "queue duration": "wait",
	"settle": "settle", "settle time": "settle", "latency": "settle", "reconcile latency": "settle",
	"work": "work", "work duration": "work", "reconcile": "work", "reconcile time": "work",
	"depth": "depth", "queue depth": "depth",
	"utilisation": "utilisation", "utilization": "utilisation",
	"api qps": "api qps", "qps": "api qps", "api calls": "api qps", "client qps": "api qps",
	"workers": "workers", "concurrent workers": "workers", "concurrency": "workers",
}

// ParseObjective reads a bound on a figure, as in 'p99 queue wait < 1s',
// 'api qps <= 50' or 'max workers 32'. It fails on what it doesn't understand, and says what
// it expected.
func ParseObjective(text string) (Objective, error) {
	fail := func(found, expected string) (Objective, error) {
		return Objective{}, fmt.Errorf("objective %q: found %s, expected %s", text, found, expected)
	}
	line := strings.ToLower(strings.Join(strings.Fields(text), " "))
	o := Objective{Text: strings.Join(strings.Fields(text), " "), P: -1}
	var left, bound string
	if m := objectiveText.FindStringSubmatch(line); m != nil {
		left, o.Strict, bound = m[1], m[2] == "<", m[3]
	} else if m := limitText.FindStringSubmatch(line); m != nil {
		left, bound = m[1], m[2]
	} else if strings.ContainsAny(line, ">≥=") {
		return fail("no upper bound", "one, such as "+objectiveForms)
	} else {
		return fail("no bound", "one, such as "+objectiveForms)
	}
	m := quantileText.FindStringSubmatch(left)
	if m != nil {
		left = m[2]
		if m[1] != "" {
			p, err := strconv.ParseFloat(m[1], 64)
			if err != nil || !(p > 0 && p < 100) {
				return fail("p"+m[1], "a percentile above 0 and below 100")
			}
			o.P = p / 100
		} else if strings.HasPrefix(line, "median") {
			o.P = 0.5
		}
	}
	if o.Figure = figureNames[strings.TrimSpace(strings.TrimPrefix(left, "max "))]; o.Figure == "" {
		return fail(strconv.Quote(left), "a figure, as in "+objectiveForms)
	}
	if o.duration() && m == nil {
		return fail("no quantile of "+left, "one, as in 'p99 "+left+" < 1s' or 'mean "+left+" < 1s'")
	}
	if m != nil && !o.duration() {
		return fail("a quantile of "+left, left+" without one")
	}
	var expected string
	if o.Bound, expected = o.parseBound(bound); expected != "" {
		return fail(fmt.Sprintf("the bound %q", bound), expected)
	}
	return o, nil
}

// parseBound reads the right side; if it can't, it says what it expected.
func (o Objective) parseBound(text string) (x float64, expected string) {
	if o.duration() {
		d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		if err != nil || d <= 0 {
			return 0, "a duration above 0, as in 500ms or 2s"
		}
		return d.Seconds(), ""
	}
	plain, percent := strings.CutSuffix(strings.TrimSuffix(text, "/s"), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(plain), 64)
	if percent {
		x /= 100
	}
	switch {
	case err != nil || !(x > 0) || math.IsInf(x, 0) || percent && o.Figure != "utilisation":
		return 0, "a number above 0"
	case o.Figure == "utilisation" && x > 1:
		return 0, "a share up to 100%"
	case o.Figure == "workers" && (x < 1 || x != math.Trunc(x) || x > predict.MaxWorkers):
		return 0, fmt.Sprintf("a whole number of workers up to %d", predict.MaxWorkers)
	}
	return x, ""
}

// duration tells whether it bounds one.
func (o Objective) duration() bool {
	return o.Figure == "wait" || o.Figure == "settle" || o.Figure == "work"
}

// ofTime tells whether it bounds a duration, or the depth that goes with it.
func (o Objective) ofTime() bool { return o.duration() || o.Figure == "depth" }

// of is the figure of a prediction.
func (o Objective) of(f predict.Figures) float64 {
	switch o.Figure {
	case "wait":
		return f.Wait.At(o.P)
	case "settle":
		return f.Settle.At(o.P)
	case "work":
		return f.Work.At(o.P)
	case "depth":
		return f.Depth.Mean
	case "utilisation":
		return f.Utilisation.Mean
	case "workers":
		return float64(f.Settings.Workers)
	}
	// What the limit allows for ever is what the API server has to bear.
	if f.Settings.QPS > 0 && f.CallRate.Mean > 0 {
		return f.Settings.QPS
	}
	return f.CallRate.Mean
}

// met tells whether a prediction keeps the bound.
func (o Objective) met(f predict.Figures) bool {
	x := o.of(f)
	return x < o.Bound || !o.Strict && x == o.Bound
}

// text prints a value of the figure.
func (o Objective) text(x float64) string {
	switch {
	case o.duration():
		return durations.Seconds(x)
	case o.Figure == "utilisation":
		return fmt.Sprintf("%.0f%%", 100*x)
	}
	return predict.Number(x)
}
