package scrape

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/wording"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Parse reads every scrape that a text holds, in the Prometheus text format or
// OpenMetrics: by process, and of each the earliest first.
func Parse(source string, r io.Reader) ([]*Snapshot, error) {
	t, err := cut(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	var list []*Snapshot
	var unusable error
	server := "" // by what one was recognised
	for _, name := range t.server {
		server = name
	}
	for _, x := range t.readings() {
		if t.server[x.target] != "" {
			continue
		}
		s, err := x.parse(source)
		if err != nil {
			return nil, err
		}
		if len(s.Queues) == 0 {
			continue
		}
		found := s.Names()
		if i := slices.IndexFunc(found, func(name string) bool { return slices.Contains(serverQueues, name) }); i >= 0 {
			server = "the queue " + found[i]
			continue
		}
		if (builder{s: s}).finish(); len(s.Queues) == 0 {
			unusable = fmt.Errorf("%s: found neither adds nor durations of %s, expected workqueue_adds_total, workqueue_queue_duration_seconds and workqueue_work_duration_seconds", source, strings.Join(found, ", "))
			continue
		}
		for name, q := range s.Queues {
			q.Prefix = t.prefix[x.target+"\xff"+name]
			s.Queues[name] = q
		}
		list = append(list, s)
	}
	switch {
	case len(list) > 0:
		return list, nil
	case server != "":
		return nil, fmt.Errorf("%s: found %s: these are an API server's metrics, which kubectl get --raw /metrics gives, expected a controller's; %s", source, server, Elsewhere)
	case unusable != nil:
		return nil, unusable
	case t.lines == 0:
		return nil, fmt.Errorf("%s is empty, expected a controller's metrics", source)
	}
	return nil, fmt.Errorf("%s: found no workqueue_… family in %s, expected the metrics of a controller built on client-go or controller-runtime", source, wording.Count(t.lines, "line"))
}

// Elsewhere says where kube-controller-manager's own metrics are.
const Elsewhere = "kube-controller-manager's are at port 10257 of its pod: kubectl get --raw /api/v1/namespaces/kube-system/pods/https:kube-controller-manager-NODE:10257/proxy/metrics"

// parse reads one scrape; its queues are not looked at yet.
func (x reading) parse(source string) (*Snapshot, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	parsed, err := parser.TextToMetricFamilies(bytes.NewReader(x.text))
	if err != nil {
		var at expfmt.ParseError
		if errors.As(err, &at) {
			return nil, fmt.Errorf("%s:%d: %s", source, x.numbers[min(max(at.Line, 1), len(x.numbers))-1], at.Msg)
		}
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	s := &Snapshot{Source: source, Target: x.target, Taken: x.taken, Counts: Counts{Queues: map[string]Queue{}}}
	b := builder{s: s}
	for _, name := range slices.Sorted(maps.Keys(parsed)) {
		if err := distinct(name, parsed[name].Metric); err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
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
	return s, nil
}

// ownLabels are those by which one process tells its series of queues apart; others are
// added by who scrapes, as cluster, job and prometheus_replica.
var ownLabels = []string{"name", "controller", "priority", "result"}

// distinct refuses series of a queue that differ in another label: of two processes their
// sum is no controller's, and of one process it counts everything twice.
func distinct(family string, metrics []*dto.Metric) error {
	if !strings.HasPrefix(family, "workqueue_") && !strings.HasPrefix(family, "controller_runtime_") {
		return nil
	}
	alike := map[string][]*dto.Metric{}
	for _, m := range metrics {
		key := ""
		for _, name := range ownLabels {
			key += label(m, name) + "\xff"
		}
		alike[key] = append(alike[key], m)
	}
	for _, key := range slices.Sorted(maps.Keys(alike)) {
		values := map[string]map[string]bool{}
		for _, m := range alike[key] {
			for _, l := range m.Label {
				values[l.GetName()] = map[string]bool{}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			for _, m := range alike[key] {
				values[name][fmt.Sprintf("%s=%q", name, label(m, name))] = true
			}
			if found := slices.Sorted(maps.Keys(values[name])); len(found) > 1 {
				return fmt.Errorf("%s of queue %q: found series of %s, expected those of one: of a file keep the lines of one, of --prometheus name one in --selector, as in '{%s}'", family, cmp.Or(label(alike[key][0], "name"), label(alike[key][0], "controller")), Described(found), found[len(found)-1])
			}
		}
	}
	return nil
}

// A builder merges series into a snapshot.
type builder struct{ s *Snapshot }

func (b builder) add(family string, kind dto.MetricType, m *dto.Metric) error {
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
