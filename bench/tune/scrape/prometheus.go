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

// anyPrefix is what may be in front of the names of what is asked for.
const anyPrefix = "(.+_)?"

// queried are the metrics that are asked for, one after the other.
var queried = []string{
	anyPrefix + "workqueue_(adds_total|depth|retries_total|unfinished_work_seconds|longest_running_processor_seconds)",
	anyPrefix + "workqueue_queue_duration_seconds.*", anyPrefix + "workqueue_work_duration_seconds.*",
	anyPrefix + "rest_client_(requests_total|request_retries_total|rate_limiter_duration_seconds.*)",
	anyPrefix + "rest_client_request_duration_seconds.*",
	anyPrefix + "controller_runtime_(max_concurrent_reconciles|reconcile_total|reconcile_time_seconds.*)",
	"process_start_time_seconds",
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
	if matchers = strings.TrimSuffix(strings.TrimSpace(strings.Trim(matchers, "{}")), ","); matchers != "" {
		matchers = "," + matchers
	}
	step := ""
	if q.Step > 0 {
		step = ":" + model.Duration(q.Step).String()
	}
	var text strings.Builder
	for begin := q.Range; begin > 0; begin -= portion {
		span := min(begin, portion)
		for _, name := range queried {
			q.Progress(fmt.Sprintf("asking %s for %v of %s", shown, span, strings.TrimSuffix(strings.TrimPrefix(name, anyPrefix), ".*")))
			query := fmt.Sprintf(`{__name__=~"%s"%s}[%s%s]`, name, matchers, model.Duration(span), step)
			value, _, err := asked.Query(ctx, query, now.Add(span-begin))
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
	e, ok := errors.AsType[*v1.Error](err)
	if !ok {
		return err
	}
	text := e.Msg
	if e.Detail != "" && len(e.Detail) < 200 {
		text += ": " + e.Detail
	}
	return errors.New(strings.Join(strings.Fields(text), " "))
}

// write gives the samples of a series as OpenMetrics does.
func write(w *strings.Builder, series *model.SampleStream) {
	var labels []string
	for k, v := range series.Metric {
		if k != model.MetricNameLabel {
			labels = append(labels, fmt.Sprintf("%s=%q", k, string(v)))
		}
	}
	sample := func(suffix, label string, v float64, at model.Time) {
		set := strings.Join(append(labels[:len(labels):len(labels)], label), ",")
		fmt.Fprintf(w, "%s%s{%s} %v %d\n", series.Metric[model.MetricNameLabel], suffix, strings.TrimSuffix(set, ","), v, at)
	}
	for _, v := range series.Values {
		sample("", "", float64(v.Value), v.Timestamp)
	}
	for _, h := range series.Histograms {
		bucket := func(bound, n float64) { sample("_bucket", fmt.Sprintf(`le="%v"`, bound), n, h.Timestamp) }
		below, last := 0.0, 0.0
		for _, b := range h.Histogram.Buckets {
			low, high := max(0, float64(b.Lower)), float64(b.Upper)
			if math.IsInf(high, 1) {
				break
			}
			if low > last { // what lies between belongs to no bucket that is listed
				bucket(low, below)
			}
			last = high
			below += float64(b.Count)
			bucket(high, below)
		}
		bucket(math.Inf(1), float64(h.Histogram.Count))
		sample("_sum", "", float64(h.Histogram.Sum), h.Timestamp)
		sample("_count", "", float64(h.Histogram.Count), h.Timestamp)
	}
}
