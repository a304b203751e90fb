package scrape

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
)

// A Query asks a Prometheus server for what it scraped.
type Query struct {
	URL      string
	Config   string        // file of promtool's --http.config.file: authorization, basic_auth, tls_config; "": none
	Selector string        // of the process, as in {job="kube-controller-manager"}
	Range    time.Duration // up to now
	Step     time.Duration // between the samples that are read; 0: all that there are
	Progress func(doing string)
}

// queried are the metrics that are asked for, whatever is in front of their names.
var queried = []string{
	"workqueue_(adds_total|depth|retries_total|unfinished_work_seconds|longest_running_processor_seconds)",
	"workqueue_queue_duration_seconds.*", "workqueue_work_duration_seconds.*",
	"rest_client_(requests_total|request_retries_total|rate_limiter_duration_seconds.*)", "rest_client_request_duration_seconds.*",
	"controller_runtime_(max_concurrent_reconciles|reconcile_total|reconcile_time_seconds.*)",
}

// portion is how much of the range is asked for at once, so that no answer is too large.
const portion = time.Hour

// Run asks for everything; the answer is read like a file of OpenMetrics with timestamps.
func (q Query) Run(ctx context.Context, now time.Time) ([]*Snapshot, error) {
	shown := Redacted(q.URL)
	asked, err := q.client()
	if err != nil {
		return nil, err
	}
	matchers := strings.TrimSpace(q.Selector)
	if !strings.HasPrefix(matchers, "{") || !strings.HasSuffix(matchers, "}") {
		return nil, fmt.Errorf("--selector: found %q, expected matchers as in {job=\"kube-controller-manager\"}", q.Selector)
	}
	matchers = strings.TrimSuffix(strings.TrimSpace(strings.Trim(matchers, "{}")), ",")
	var text strings.Builder
	names := append([]string{}, queried...)
	names = append(names, "process_start_time_seconds")
	for begin := q.Range; begin > 0; begin -= portion {
		for _, name := range names {
			q.Progress(fmt.Sprintf("asking %s for %v of %s", shown, min(begin, portion), strings.TrimSuffix(name, ".*")))
			prefix := "(.+_)?"
			if name == "process_start_time_seconds" {
				prefix = ""
			}
			step := ""
			if q.Step > 0 {
				step = ":" + model.Duration(q.Step).String()
			}
			query := fmt.Sprintf(`{__name__=~"%s%s",%s}[%s%s]`, prefix, name, matchers, model.Duration(min(begin, portion)), step)
			value, _, err := asked.Query(ctx, strings.ReplaceAll(query, ",}", "}"), now.Add(-begin+min(begin, portion)))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", shown, plain(err))
			}
			matrix, ok := value.(model.Matrix)
			if !ok {
				return nil, fmt.Errorf("%s: found a %s, expected a matrix", shown, value.Type())
			}
			for _, series := range matrix {
				write(&text, series)
			}
		}
	}
	if text.Len() == 0 {
		return nil, fmt.Errorf("%s: found no workqueue_… series for --selector %s in the last %v, expected those of a controller", shown, q.Selector, q.Range)
	}
	return Parse(shown, strings.NewReader(text.String()))
}

func (q Query) client() (v1.API, error) {
	transport := http.RoundTripper(api.DefaultRoundTripper)
	if q.Config != "" {
		c, _, err := config.LoadHTTPConfigFile(q.Config)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.Config, err)
		}
		if transport, err = config.NewRoundTripperFromConfig(*c, "benchrun"); err != nil {
			return nil, fmt.Errorf("%s: %w", q.Config, err)
		}
	}
	client, err := api.NewClient(api.Config{Address: q.URL, RoundTripper: transport})
	if err != nil {
		return nil, err // which url.Error redacts
	}
	return v1.NewAPI(client), nil
}

// plain is what a server answered, on one line.
func plain(err error) error {
	var e *v1.Error
	if errors.As(err, &e) {
		text := e.Msg
		if e.Detail != "" && len(e.Detail) < 200 {
			text += ": " + e.Detail
		}
		return errors.New(strings.Join(strings.Fields(text), " "))
	}
	return err
}

// write gives the samples of a series as OpenMetrics does.
func write(w *strings.Builder, series *model.SampleStream) {
	name := string(series.Metric[model.MetricNameLabel])
	var labels []string
	for k, v := range series.Metric {
		if k != model.MetricNameLabel {
			labels = append(labels, fmt.Sprintf("%s=%q", k, string(v)))
		}
	}
	set := strings.Join(labels, ",")
	for _, v := range series.Values {
		fmt.Fprintf(w, "%s{%s} %v %d\n", name, set, float64(v.Value), int64(v.Timestamp))
	}
	if set != "" {
		set += ","
	}
	for _, h := range series.Histograms {
		at := int64(h.Timestamp)
		below, last := 0.0, 0.0
		for _, b := range h.Histogram.Buckets {
			low, high := max(0, float64(b.Lower)), float64(b.Upper)
			if math.IsInf(high, 1) {
				break
			}
			if low > last { // what lies between belongs to no bucket that is listed
				fmt.Fprintf(w, "%s_bucket{%sle=%q} %v %d\n", name, set, fmt.Sprint(low), below, at)
			}
			last = high
			below += float64(b.Count)
			fmt.Fprintf(w, "%s_bucket{%sle=%q} %v %d\n", name, set, fmt.Sprint(high), below, at)
		}
		fmt.Fprintf(w, "%s_bucket{%sle=\"+Inf\"} %v %d\n", name, set, float64(h.Histogram.Count), at)
		fmt.Fprintf(w, "%s_sum{%s} %v %d\n", name, strings.TrimSuffix(set, ","), float64(h.Histogram.Sum), at)
		fmt.Fprintf(w, "%s_count{%s} %v %d\n", name, strings.TrimSuffix(set, ","), float64(h.Histogram.Count), at)
	}
}
