package tune

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/require"
)

var workBounds = []float64{1e-8, 1e-7, 1e-6, 9.999999999999999e-06, 9.999999999999999e-05, 0.001, 0.01, 0.1, 1, 10}

var restBounds = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}

func histogram(w *strings.Builder, family, labels string, bounds, values []float64) {
	counts := make([]int, len(bounds)+1)
	sum := 0.0
	for _, v := range values {
		at, _ := slices.BinarySearch(bounds, v)
		counts[at]++
		sum += v
	}
	n := 0
	for i, b := range bounds {
		n += counts[i]
		fmt.Fprintf(w, "%s_bucket{%s,le=\"%v\"} %d\n", family, labels, b, n)
	}
	fmt.Fprintf(w, "%s_bucket{%s,le=\"+Inf\"} %d\n%s_sum{%s} %v\n%s_count{%s} %d\n", family, labels, len(values), family, labels, sum, family, labels, len(values))
}

var runtimeBounds = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60}

// runtime writes controller-runtime's families.
func (x observed) runtime(name string) string {
	var w strings.Builder
	label := fmt.Sprintf("controller=%q", name)
	fmt.Fprintf(&w, "workqueue_depth{%[1]s,name=%[2]q,priority=\"0\"} 0\nworkqueue_depth{%[1]s,name=%[2]q,priority=\"-100\"} 0\n", label, name)
	fmt.Fprintf(&w, "controller_runtime_max_concurrent_reconciles{%[1]s} %[2]d\ncontroller_runtime_active_workers{%[1]s} 1\n", label, x.workers)
	fmt.Fprintf(&w, "controller_runtime_reconcile_total{%[1]s,result=\"error\"} %[2]v\ncontroller_runtime_reconcile_total{%[1]s,result=\"success\"} %[3]v\n", label, x.failures, float64(len(x.work))-x.failures)
	histogram(&w, "controller_runtime_reconcile_time_seconds", label, runtimeBounds, x.work)
	return w.String()
}

// text writes a scrape of one or several systems of a process.
func text(names []string, seen []observed) string {
	var w strings.Builder
	for i, x := range seen {
		label := fmt.Sprintf("name=%q", names[i])
		fmt.Fprintf(&w, "workqueue_adds_total{%s} %v\nworkqueue_retries_total{%s} %v\n", label, x.adds, label, x.retries)
		if x.workers > 0 {
			w.WriteString(x.runtime(names[i]))
		}
	}
	w.WriteString("# TYPE workqueue_queue_duration_seconds histogram\n")
	for i, x := range seen {
		histogram(&w, "workqueue_queue_duration_seconds", fmt.Sprintf("name=%q", names[i]), x.bounds, x.wait)
	}
	w.WriteString("# TYPE workqueue_work_duration_seconds histogram\n")
	for i, x := range seen {
		if x.workers > 0 {
			continue
		}
		histogram(&w, "workqueue_work_duration_seconds", fmt.Sprintf("name=%q", names[i]), x.bounds, x.work)
	}
	var limiter, request []float64
	for _, x := range seen {
		limiter, request = append(limiter, x.limiter...), append(request, x.request...)
	}
	if len(request) > 0 {
		histogram(&w, "rest_client_rate_limiter_duration_seconds", `host="api",verb="PUT"`, restBounds, limiter)
		histogram(&w, "rest_client_request_duration_seconds", `host="api",verb="PUT"`, restBounds, request)
	}
	return w.String()
}

func (x observed) delta(t *testing.T) *scrape.Delta {
	t.Helper()
	s, err := scrape.Parse("metrics", strings.NewReader(text([]string{"q"}, []observed{x})))
	require.NoError(t, err)
	d, err := scrape.Since(s[0], time.Duration(x.span*1e9))
	require.NoError(t, err)
	return d
}
