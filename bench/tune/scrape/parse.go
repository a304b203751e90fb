package scrape

import (
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

// serverQueues are of every API server, and of nothing else.
var serverQueues = []string{
	"APIServiceRegistrationController", "AvailableConditionController", "crdEstablishing", "crd_autoregistration_controller",
	"crd_finalizer", "crd_naming_condition_controller", "crd_openapi_controller", "crd_openapi_v3_controller",
}

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
	scrapes := t.scrapes()
	for _, at := range slices.SortedFunc(maps.Keys(scrapes), moment.compare) {
		if t.server[at.target] != "" {
			continue
		}
		s, err := t.parse(source, at, scrapes[at])
		if err != nil {
			return nil, err
		}
		found := s.Names()
		if i := slices.IndexFunc(found, func(name string) bool { return slices.Contains(serverQueues, name) }); i >= 0 {
			server = "the queue " + found[i]
			continue
		}
		if s.finish(t.prefix); len(s.Queues) > 0 {
			list = append(list, s)
		} else if len(found) > 0 {
			unusable = fmt.Errorf("%s: found neither adds nor durations of %s, expected workqueue_adds_total, workqueue_queue_duration_seconds and workqueue_work_duration_seconds", source, strings.Join(found, ", "))
		}
	}
	switch {
	case len(list) > 0:
		return list, nil
	case server != "":
		return nil, fmt.Errorf("%s: found %s: these are an API server's metrics, which kubectl get --raw /metrics gives, expected a controller's; kube-controller-manager's are at port 10257 of its pod: "+
			"kubectl get --raw /api/v1/namespaces/kube-system/pods/https:kube-controller-manager-NODE:10257/proxy/metrics", source, server)
	case unusable != nil:
		return nil, unusable
	case t.lines == 0:
		return nil, fmt.Errorf("%s is empty, expected a controller's metrics", source)
	}
	return nil, fmt.Errorf("%s: found no workqueue_… family in %s, expected the metrics of a controller built on client-go or controller-runtime", source, wording.Count(t.lines, "line"))
}

// parse reads one scrape; its queues are not looked at yet.
func (t *text) parse(source string, at moment, samples []sample) (*Snapshot, error) {
	var plain strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.types)) {
		fmt.Fprintf(&plain, "# TYPE %s %s\n", name, t.types[name])
	}
	for _, x := range samples {
		fmt.Fprintf(&plain, "%s %s\n", x.series, x.value)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	parsed, err := parser.TextToMetricFamilies(strings.NewReader(plain.String()))
	if fault, ok := errors.AsType[expfmt.ParseError](err); ok {
		line := 0 // of a type
		if i := fault.Line - len(t.types) - 1; i >= 0 {
			line = samples[min(i, len(samples)-1)].line
		}
		return nil, fmt.Errorf("%s:%d: %s", source, line, fault.Msg)
	}
	s := &Snapshot{Source: source, Target: at.target, Counts: Counts{Queues: map[string]Queue{}}}
	if at.taken > 0 {
		s.Taken = time.UnixMilli(at.taken)
	}
	if err == nil {
		err = s.fill(parsed)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return s, nil
}

// fill takes the families that were parsed.
func (s *Snapshot) fill(parsed map[string]*dto.MetricFamily) error {
	for _, family := range slices.Sorted(maps.Keys(parsed)) {
		metrics := parsed[family].Metric
		if strings.HasPrefix(family, "workqueue_") || strings.HasPrefix(family, "controller_runtime_") {
			if err := distinct(family, metrics); err != nil {
				return err
			}
		}
		seen := map[string]bool{}
		for _, m := range metrics {
			v := valueOf(parsed[family], m)
			if seen[v.series] {
				return v.fault("found it twice, expected each series once")
			}
			seen[v.series] = true
			if err := s.add(family, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// add merges a series into the snapshot.
func (s *Snapshot) add(family string, v value) error {
	switch c := &s.Client; family {
	case "process_start_time_seconds":
		started := 0.0
		err := v.number(&started)
		s.Started = time.UnixMilli(int64(started * 1e3))
		return err
	case "rest_client_requests_total":
		return v.numberBy("code", &c.Requests)
	case "rest_client_request_retries_total":
		return v.number(&c.Retries)
	case "rest_client_rate_limiter_duration_seconds":
		return v.histogram(&c.Limiter)
	case "rest_client_request_duration_seconds":
		return v.histogram(&c.Request)
	}
	name := label(v.Metric, "name")
	if strings.HasPrefix(family, "controller_runtime_") {
		name = label(v.Metric, "controller")
	}
	if name == "" {
		return nil // a queue without a name counts nothing in client-go
	}
	q := s.Queues[name]
	known, err := q.add(family, v)
	if known {
		q.Name = name
		s.Queues[name] = q
	}
	return err
}

// add merges a series into the queue, if it is of a family of queues.
func (q *Queue) add(family string, v value) (known bool, err error) {
	switch family {
	case "workqueue_adds_total":
		err = v.number(&q.Adds)
	case "workqueue_retries_total":
		err = v.number(&q.Retries)
	case "workqueue_depth":
		err = v.number(&q.Depth)
		if label(v.Metric, "priority") != "" {
			q.Kind = Prioritised
		}
		q.Kind = cmp.Or(q.Kind, Plain)
	case "workqueue_unfinished_work_seconds":
		err = v.number(&q.Unfinished)
	case "workqueue_longest_running_processor_seconds":
		longest := 0.0
		err = v.number(&longest)
		q.Longest = max(q.Longest, longest)
	case "workqueue_queue_duration_seconds":
		err = v.histogram(&q.Wait)
	case "workqueue_work_duration_seconds":
		err = v.histogram(&q.Work)
	case "controller_runtime_reconcile_time_seconds":
		err = v.histogram(&q.Reconcile)
	case "controller_runtime_max_concurrent_reconciles":
		err = v.number(&q.Workers)
	case "controller_runtime_reconcile_total":
		err = v.numberBy("result", &q.Results)
	default:
		return false, nil
	}
	if q.series == nil {
		q.series = map[string]int{}
	}
	q.series[family]++
	return true, err
}

// ownLabels are those by which one process tells its series of queues apart; others are
// added by who scrapes, as cluster, job and prometheus_replica.
var ownLabels = []string{"name", "controller", "priority", "result"}

// distinct refuses series of a queue that differ in another label: of two processes their
// sum is no controller's, and of one process it counts everything twice.
func distinct(family string, metrics []*dto.Metric) error {
	alike, names := map[string][]*dto.Metric{}, map[string]bool{}
	for _, m := range metrics {
		key := ""
		for _, name := range ownLabels {
			key += label(m, name) + "\xff"
		}
		alike[key] = append(alike[key], m)
		for _, l := range m.Label {
			names[l.GetName()] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(alike)) {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			var found []string
			for _, m := range alike[key] {
				found = append(found, fmt.Sprintf("%s=%q", name, label(m, name)))
			}
			slices.Sort(found)
			if found = slices.Compact(found); len(found) > 1 {
				queue := cmp.Or(label(alike[key][0], "name"), label(alike[key][0], "controller"))
				return fmt.Errorf("%s of queue %q: found series of %s, expected those of one: of a file keep the lines of one, of --prometheus name one in --selector, as in '{%s}'", family, queue, Described(found), found[len(found)-1])
			}
		}
	}
	return nil
}

// finish drops what is no queue and notes what is missing or merged.
func (s *Snapshot) finish(prefix map[[2]string]string) {
	for name, q := range s.Queues {
		if q.series["workqueue_adds_total"]+q.series["workqueue_work_duration_seconds"]+q.series["workqueue_queue_duration_seconds"] == 0 {
			delete(s.Queues, name)
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
		q.Prefix = prefix[[2]string{s.Target, name}]
		s.Queues[name] = q
	}
}
