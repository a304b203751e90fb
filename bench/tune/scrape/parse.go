package scrape

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// families are the prefixes of what is read; the rest of a scrape is passed over.
var families = []string{"workqueue_", "rest_client_", "controller_runtime_", "process_start_time_seconds"}

// maxText is the largest scrape that is read; a kube-controller-manager's is 1 MB.
const maxText = 256 << 20

// Parse reads a scrape in the Prometheus text format or OpenMetrics.
func Parse(source string, r io.Reader) (*Snapshot, error) {
	text, lines, err := filter(io.LimitReader(r, maxText+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	types := untold(text)
	parsed, err := parser.TextToMetricFamilies(io.MultiReader(bytes.NewReader(types), bytes.NewReader(text)))
	if err != nil {
		var at expfmt.ParseError
		if errors.As(err, &at) {
			return nil, fmt.Errorf("%s:%d: %s", source, max(1, at.Line-bytes.Count(types, []byte("\n"))), at.Msg)
		}
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	s := &Snapshot{Source: source, Counts: Counts{Queues: map[string]Queue{}}}
	b := builder{s: s}
	for _, name := range slices.Sorted(keysOf(parsed)) {
		seen := map[string]bool{}
		for _, m := range parsed[name].Metric {
			series := where(name, m)
			if seen[series] {
				return nil, fmt.Errorf("%s: %s: found it twice, expected each series once", source, series)
			}
			seen[series] = true
			if err := b.add(name, parsed[name].GetType(), m); err != nil {
				return nil, fmt.Errorf("%s: %w", source, err)
			}
		}
	}
	if len(s.Queues) == 0 {
		if lines == 0 {
			return nil, fmt.Errorf("%s is empty, expected a controller's metrics", source)
		}
		return nil, fmt.Errorf("%s: found no workqueue_… family in %d lines, expected the metrics of a controller built on client-go or controller-runtime", source, lines)
	}
	found := s.Names()
	if b.finish(); len(s.Queues) == 0 {
		return nil, fmt.Errorf("%s: found neither adds nor durations of %s, expected workqueue_adds_total, workqueue_queue_duration_seconds and workqueue_work_duration_seconds", source, strings.Join(found, ", "))
	}
	return s, nil
}

func keysOf[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// filter keeps the lines of the families that are read and leaves the others
// blank, so that a fault elsewhere does no harm and lines keep their numbers.
// OpenMetrics' exemplars go and its timestamps, in seconds, become milliseconds.
func filter(r io.Reader) (text []byte, lines int, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	var out bytes.Buffer
	size := 0
	for in.Scan() {
		line := in.Text()
		lines++
		if size += len(line) + 1; size > maxText {
			return nil, 0, fmt.Errorf("found more than %d MB, expected the text of one scrape", maxText>>20)
		}
		sample := strings.TrimLeft(line, " \t")
		if typed, ok := strings.CutPrefix(sample, "# TYPE "); ok {
			sample = typed
		}
		if slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(sample, f) }) && !strings.Contains(sample, "_created") {
			out.WriteString(plainSample(line))
		}
		out.WriteByte('\n')
	}
	if err := in.Err(); err != nil {
		return nil, 0, fmt.Errorf("line %d: %w", lines+1, err)
	}
	return out.Bytes(), lines, nil
}

// untold gives the TYPE lines of the histograms that have none, as when only
// lines that begin with workqueue were kept.
func untold(text []byte) []byte {
	var types []byte
	for _, family := range []string{
		"workqueue_queue_duration_seconds", "workqueue_work_duration_seconds",
		"rest_client_rate_limiter_duration_seconds", "rest_client_request_duration_seconds", "controller_runtime_reconcile_time_seconds",
	} {
		if bytes.Contains(text, []byte(family+"_bucket")) && !bytes.Contains(text, []byte("# TYPE "+family+" ")) {
			types = append(types, "# TYPE "+family+" histogram\n"...)
		}
	}
	return types
}

// plainSample writes a sample line as the text format has it.
func plainSample(line string) string {
	if line[0] == '#' {
		return line
	}
	at := valueAt(line)
	// Behind the labels a # begins an exemplar.
	value, _, _ := strings.Cut(line[at:], "#")
	f := strings.Fields(value)
	if len(f) == 2 {
		// In milliseconds that would be before March 1973.
		if t, err := strconv.ParseFloat(f[1], 64); err == nil && t > 0 && t < 1e11 {
			f[1] = strconv.FormatInt(int64(math.Round(t*1e3)), 10)
		}
	}
	return line[:at] + " " + strings.Join(f, " ")
}

// valueAt is where the value of a sample line begins: behind its labels, or behind
// its name if it has none.
func valueAt(line string) int {
	name := len(line) - len(strings.TrimLeft(line, " \t"))
	end := strings.IndexAny(line[name:], " \t{")
	if end < 0 {
		return len(line)
	}
	end += name
	labels := strings.TrimLeft(line[end:], " \t")
	if !strings.HasPrefix(labels, "{") {
		return end
	}
	quoted := false
	for i := 0; i < len(labels); i++ {
		switch {
		case quoted && labels[i] == '\\':
			i++ // what is escaped ends no value
		case labels[i] == '"':
			quoted = !quoted
		case labels[i] == '}' && !quoted:
			return len(line) - len(labels) + i + 1
		}
	}
	return len(line)
}

// A builder merges series into a snapshot.
type builder struct{ s *Snapshot }

func (b builder) add(family string, kind dto.MetricType, m *dto.Metric) error {
	if ms := m.GetTimestampMs(); ms > 0 {
		if at := time.UnixMilli(ms); at.After(b.s.Taken) {
			b.s.Taken = at
		}
	}
	value := func() (float64, error) { return checked(family, m, kind) }
	switch family {
	case "process_start_time_seconds":
		v, err := value()
		if err == nil {
			b.s.Started = time.UnixMilli(int64(v * 1e3))
		}
		return err
	case "rest_client_requests_total", "rest_client_request_retries_total":
		v, err := value()
		if err != nil {
			return err
		}
		if family == "rest_client_request_retries_total" {
			b.s.Client.Retries += v
			return nil
		}
		if b.s.Client.Requests == nil {
			b.s.Client.Requests = map[string]float64{}
		}
		b.s.Client.Requests[label(m, "code")] += v
		return nil
	case "rest_client_rate_limiter_duration_seconds":
		return addHistogram(&b.s.Client.Limiter, family, kind, m)
	case "rest_client_request_duration_seconds":
		return addHistogram(&b.s.Client.Request, family, kind, m)
	}
	name := label(m, "name")
	if strings.HasPrefix(family, "controller_runtime_") {
		name = label(m, "controller")
	} else if !strings.HasPrefix(family, "workqueue_") {
		return nil
	}
	if name == "" {
		return nil // a queue without a name counts nothing in client-go
	}
	return b.queue(name, family, kind, m)
}

func (b builder) queue(name, family string, kind dto.MetricType, m *dto.Metric) error {
	q := b.s.Queues[name]
	q.Name = name
	if q.series == nil {
		q.series = map[string]int{}
	}
	var err error
	to := func(field *float64) {
		var v float64
		if v, err = checked(family, m, kind); err == nil {
			*field += v
		}
	}
	switch family {
	case "workqueue_adds_total":
		to(&q.Adds)
	case "workqueue_retries_total":
		to(&q.Retries)
	case "workqueue_depth":
		to(&q.Depth)
		if q.Kind == Untold {
			q.Kind = Plain
		}
		if label(m, "priority") != "" {
			q.Kind = Prioritised
		}
	case "workqueue_unfinished_work_seconds":
		to(&q.Unfinished)
	case "workqueue_longest_running_processor_seconds":
		longest := 0.0
		to(&longest)
		q.Longest = max(q.Longest, longest)
	case "workqueue_queue_duration_seconds":
		err = addHistogram(&q.Wait, family, kind, m)
	case "workqueue_work_duration_seconds":
		err = addHistogram(&q.Work, family, kind, m)
	case "controller_runtime_reconcile_time_seconds":
		err = addHistogram(&q.Reconcile, family, kind, m)
	case "controller_runtime_max_concurrent_reconciles":
		to(&q.Workers)
	case "controller_runtime_reconcile_total":
		n := 0.0
		to(&n)
		if q.Results == nil {
			q.Results = map[string]float64{}
		}
		q.Results[label(m, "result")] += n
	default:
		return nil
	}
	q.series[family]++
	b.s.Queues[name] = q
	return err
}

// finish drops what is no queue and notes what is missing or merged.
func (b builder) finish() {
	for name, q := range b.s.Queues {
		if q.series["workqueue_adds_total"]+q.series["workqueue_work_duration_seconds"]+q.series["workqueue_queue_duration_seconds"] == 0 {
			delete(b.s.Queues, name)
			continue
		}
		for _, family := range []string{"workqueue_adds_total", "workqueue_queue_duration_seconds", "workqueue_work_duration_seconds", "workqueue_retries_total"} {
			switch n := q.series[family]; {
			case n == 0:
				q.Doubts = append(q.Doubts, family+" is missing")
			case n > 1:
				q.Doubts = append(q.Doubts, fmt.Sprintf("%s: %d series of other labels were added up", family, n))
			}
		}
		b.s.Queues[name] = q
	}
}
