package scrape

import (
	"bytes"
	"compress/gzip"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, source string) *Snapshot {
	t.Helper()
	list, err := Read(t.Context(), source)
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

func parse(t *testing.T, text string) *Snapshot {
	t.Helper()
	list, err := Parse("metrics.txt", strings.NewReader(text))
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

// A kube-controller-manager's scrapes, 150 seconds apart, while 30 deployments rolled.
func TestBetweenRealScrapes(t *testing.T) {
	d, err := Between(read(t, "testdata/begin.txt"), read(t, "testdata/end.txt"), 150*time.Second)
	require.NoError(t, err)
	assert.Equal(t, []string{"deployment", "endpoint", "garbage_collector_graph_changes", "replicaset"}, d.Names())
	q := d.Queues["replicaset"]
	assert.Equal(t, 862.0, q.Adds)
	assert.Equal(t, 5.0, q.Retries)
	assert.Equal(t, 862.0, q.Work.Count())
	assert.InDelta(t, 0.2163, q.Work.Mean(), 1e-4)
	assert.InDelta(t, 2.2262, q.Wait.Mean(), 1e-4)
	low, high := q.Wait.Quantile(0.99)
	assert.Equal(t, [2]float64{1, 10}, [2]float64{low, high})
	assert.InDelta(t, 10, q.Work.Precision(), 1e-9)
	assert.False(t, q.Reset)
	assert.Greater(t, d.Client.Calls(), 1000.0)
	assert.Greater(t, d.Client.Request.Sum, d.Client.Limiter.Sum, "a request's duration includes the limiter's wait")
}

func TestReadTakesGzipAndURLs(t *testing.T) {
	text, err := os.ReadFile("testdata/end.txt")
	require.NoError(t, err)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err = z.Write(text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	path := filepath.Join(t.TempDir(), "end.txt.gz")
	require.NoError(t, os.WriteFile(path, zipped.Bytes(), 0o666))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			_, _ = w.Write(text)
			return
		}
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer server.Close()

	want := read(t, "testdata/end.txt")
	assert.Equal(t, want.Queues, read(t, path).Queues)
	asked := read(t, server.URL+"/metrics")
	assert.Equal(t, want.Queues, asked.Queues)
	assert.False(t, asked.Taken.IsZero(), "a URL is scraped now")
	_, err = Read(t.Context(), server.URL+"/other")
	assert.ErrorContains(t, err, "403 Forbidden")
	_, err = Read(t.Context(), strings.Replace(server.URL, "://", "://me:secret@", 1)+"/other")
	assert.ErrorContains(t, err, "me:xxxxx@")
	assert.NotContains(t, err.Error(), "secret")
	require.NoError(t, os.WriteFile(path, zipped.Bytes()[:zipped.Len()/2], 0o666))
	_, err = Read(t.Context(), path)
	assert.ErrorContains(t, err, "unexpected EOF: the gzip data is cut short, expected a whole scrape")
}

const histograms = `# TYPE workqueue_adds_total counter
workqueue_adds_total{name="a"} 4
# TYPE workqueue_queue_duration_seconds histogram
workqueue_queue_duration_seconds_bucket{name="a",le="0.1"} 2
workqueue_queue_duration_seconds_bucket{name="a",le="+Inf"} 4
workqueue_queue_duration_seconds_sum{name="a"} 3
workqueue_queue_duration_seconds_count{name="a"} 4
# TYPE workqueue_work_duration_seconds histogram
workqueue_work_duration_seconds_bucket{name="a",le="0.1"} 4
workqueue_work_duration_seconds_bucket{name="a",le="+Inf"} 4
workqueue_work_duration_seconds_sum{name="a"} 0.2
workqueue_work_duration_seconds_count{name="a"} 4
`

func TestParseForms(t *testing.T) {
	want := parse(t, histograms).Queues["a"]
	assert.Equal(t, []float64{2, 2}, want.Wait.Counts)
	assert.Equal(t, []string{"workqueue_retries_total is missing"}, want.Doubts)

	t.Run("without comments", func(t *testing.T) {
		var bare []string
		for line := range strings.Lines(histograms) {
			if line[0] != '#' {
				bare = append(bare, line)
			}
		}
		assert.Equal(t, want, parse(t, strings.Join(bare, "")).Queues["a"])
		_, err := Parse("m", strings.NewReader(strings.Join(bare, "")+"workqueue_depth{name=\"a\"} x\n"))
		assert.ErrorContains(t, err, "m:10: ")
	})
	t.Run("OpenMetrics", func(t *testing.T) {
		s := parse(t, strings.NewReplacer(
			"# TYPE workqueue_adds_total", "# TYPE workqueue_adds",
			"workqueue_adds_total{name=\"a\"} 4", "workqueue_adds_total{name=\"a\"} 4 1700000000.250 # {trace_id=\"x\"} 1 1700000000.0",
		).Replace(histograms)+"workqueue_adds_created{name=\"a\"} 1.7e9\n# EOF\n")
		assert.Equal(t, want, s.Queues["a"])
		assert.Equal(t, int64(1_700_000_000_250), s.Taken.UnixMilli())
	})
	t.Run("OpenMetrics with whole seconds", func(t *testing.T) {
		s := parse(t, strings.Replace(histograms, "} 4", "} 4 1700000000", 1))
		assert.Equal(t, int64(1_700_000_000_000), s.Taken.UnixMilli())
	})
	t.Run("a value without labels is no timestamp", func(t *testing.T) {
		for text, taken := range map[string]int64{"1.7e+09": 0, "1.7e+09 1700003600000": 1_700_003_600_000, "1.7e+09 1700003600.5": 1_700_003_600_500} {
			s := parse(t, histograms+"process_start_time_seconds "+text+"\n")
			assert.Equal(t, int64(1_700_000_000_000), s.Started.UnixMilli(), text)
			assert.Equal(t, taken, max(0, s.Taken.UnixMilli()), text)
		}
	})
	t.Run("a label that looks like an exemplar", func(t *testing.T) {
		s := parse(t, strings.ReplaceAll(histograms, `name="a"`, `pod="p # {\"x\"} 1.5 2.5",name="a"`))
		assert.Equal(t, want, s.Queues["a"])
	})
	t.Run("a fault elsewhere", func(t *testing.T) {
		assert.Equal(t, want, parse(t, "my_metric{ nonsense\n"+histograms).Queues["a"])
	})
	t.Run("buckets in any order", func(t *testing.T) {
		lines := strings.SplitAfter(histograms, "\n")
		lines[3], lines[4] = lines[4], lines[3]
		assert.Equal(t, want, parse(t, strings.Join(lines, "")).Queues["a"])
	})
	t.Run("other labels", func(t *testing.T) {
		s := parse(t, strings.ReplaceAll(histograms, "workqueue_adds_total{name=\"a\"} 4", "workqueue_adds_total{name=\"a\",controller=\"x\"} 4\nworkqueue_adds_total{name=\"a\",controller=\"y\"} 3"))
		assert.Equal(t, 7.0, s.Queues["a"].Adds)
		assert.Contains(t, s.Queues["a"].Doubts, "workqueue_adds_total: 2 series of other labels were added up")
	})
	t.Run("controller-runtime", func(t *testing.T) {
		s := parse(t, histograms+`# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="a",result="error"} 1
controller_runtime_reconcile_total{controller="a",result="success"} 3
controller_runtime_reconcile_total{controller="other",result="success"} 3
# TYPE controller_runtime_max_concurrent_reconciles gauge
controller_runtime_max_concurrent_reconciles{controller="a"} 7
`)
		assert.Equal(t, []string{"a"}, s.Names(), "a controller without a queue is none")
		assert.Equal(t, map[string]float64{"error": 1, "success": 3}, s.Queues["a"].Results)
		assert.Equal(t, 7.0, s.Queues["a"].Workers)
	})
}

func TestParseErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", "metrics.txt is empty, expected a controller's metrics"},
		"unrelated":        {"# TYPE up gauge\nup 1\n", "found no workqueue_… family in 2 lines"},
		"unrelated line":   {"up 1\n", "found no workqueue_… family in 1 line,"},
		"cut":              {histograms + "workqueue_depth{name=\"a\"", "metrics.txt:13: "},
		"not a number":     {histograms + "workqueue_depth{name=\"a\"} NaN\n", `workqueue_depth{name="a"}: found NaN, expected a number of 0 or more`},
		"negative":         {strings.Replace(histograms, "} 4", "} -4", 1), `workqueue_adds_total{name="a"}: found -4`},
		"falling buckets":  {strings.Replace(histograms, `le="+Inf"} 4`, `le="+Inf"} 1`, 1), "expected counts that rise"},
		"count and bucket": {strings.Replace(histograms, "queue_duration_seconds_count{name=\"a\"} 4", "queue_duration_seconds_count{name=\"a\"} 9", 1), "found a count of 9"},
		"summary": {"# TYPE workqueue_work_duration_seconds summary\nworkqueue_work_duration_seconds_sum{name=\"a\"} 1\nworkqueue_work_duration_seconds_count{name=\"a\"} 1\n",
			"found a summary, expected a histogram"},
		"twice":                 {histograms + "workqueue_adds_total{name=\"a\"} 9\n", `workqueue_adds_total{name="a"}: found it twice, expected each series once`},
		"twice, labels swapped": {histograms + "workqueue_adds_total{name=\"c\",x=\"1\"} 9\nworkqueue_adds_total{x=\"1\",name=\"c\"} 9\n", `{name="c",x="1"}: found it twice`},
		"duplicates": {stamped("a", 1, 1) + strings.ReplaceAll(stamped("a", 1, 1), "}", `,prometheus_replica="p-1"}`),
			`workqueue_adds_total of queue "a": found series of prometheus_replica="", prometheus_replica="p-1", expected those of one: of a file keep the lines of one, of --prometheus name one in --selector, as in '{prometheus_replica="p-1"}'`},
		"two clusters": {strings.ReplaceAll(stamped("a", 1, 1), "}", `,cluster="eu"}`) + strings.ReplaceAll(stamped("a", 1, 1), "}", `,cluster="us"}`),
			`found series of cluster="eu", cluster="us", expected those of one`},
		"an infinite sum":            {strings.Replace(histograms, " 0.2", " +Inf", 1), `workqueue_work_duration_seconds{name="a"}: found a count of 4, a sum of +Inf`},
		"a sum that no bucket holds": {strings.Replace(histograms, " 0.2", " 1e308", 1), `found a sum of 1e+308 s, expected less than 1e+15`},
		"an API server's queues":     {strings.ReplaceAll(histograms, `"a"`, `"APIServiceRegistrationController"`), "found the queue APIServiceRegistrationController: these are an API server's metrics, which kubectl get --raw /metrics gives, expected a controller's; kube-controller-manager's are at port 10257"},
		"an API server of 1.13":      {histograms + "apiserver_request_count{verb=\"GET\"} 5\n", "found apiserver_request_count: these are an API server's"},
		"an API server's durations":  {histograms + "apiserver_request_duration_seconds_count 5\n", "found apiserver_request_duration_seconds_count: these are an API server's"},
		"an API server, quoted":      {histograms + "{\"apiserver_request_total\",verb=\"GET\"} 5\n", "found apiserver_request_total: these are an API server's"},
		"buckets twice":              {strings.Repeat(regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(histograms, ""), 2), "twice, expected each series once"},
		"depth alone":                {"# TYPE workqueue_depth gauge\nworkqueue_depth{name=\"a\"} 4\n", "metrics.txt: found neither adds nor durations of a, expected workqueue_adds_total, "},
		"an endless line":            {histograms + "workqueue_depth{name=\"" + strings.Repeat("x", longestLine) + "\"} 1\n", "metrics.txt: line 13: found more than 1024 KiB, expected a series and its value"},
		"binary":                     {"\x00\x01\x02workqueue_", "found no workqueue_… family"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("metrics.txt", strings.NewReader(c.text))
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestBetweenFaults(t *testing.T) {
	begin, end := read(t, "testdata/begin.txt"), read(t, "testdata/end.txt")
	shifted := func(s *Snapshot, by time.Duration) *Snapshot {
		c := *s
		c.Started = c.Started.Add(by)
		return &c
	}
	at := func(s *Snapshot, taken time.Time) *Snapshot {
		c := *s
		c.Taken = taken
		return &c
	}
	now := time.Unix(1_700_000_000, 0)
	for name, c := range map[string]struct {
		begin, end *Snapshot
		interval   time.Duration
		want       string
	}{
		"swapped":            {end, begin, time.Minute, "begin and end are swapped"},
		"swapped, with time": {at(begin, now), at(end, now.Add(-time.Minute)), 0, "begin and end are swapped"},
		"restarted":          {begin, shifted(end, time.Minute), time.Minute, "started 1m0s after"},
		"another replica":    {at(begin, begin.Started.Add(time.Hour)), at(shifted(end, time.Minute), begin.Started.Add(2*time.Hour)), 0, "started 1m0s after"},
		"other process":      {begin, shifted(end, -time.Minute), time.Minute, "started later"},
		"no interval":        {begin, end, 0, "expected --interval"},
		"other interval":     {at(begin, now), at(end, now.Add(time.Hour)), time.Minute, "taken 1h0m0s apart"},
		"no time apart":      {at(begin, now), at(end, now), time.Minute, "taken 0s apart"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Between(c.begin, c.end, c.interval)
			assert.ErrorContains(t, err, c.want)
		})
	}
	d, err := Between(at(begin, now), at(end, now.Add(150*time.Second)), 0)
	require.NoError(t, err)
	assert.Equal(t, 150*time.Second, d.Interval)

	// A restart in between leaves what was counted since.
	at1, at2 := begin.Started.Add(time.Hour), begin.Started.Add(3*time.Hour)
	for _, c := range []struct {
		begin, end *Snapshot
		interval   time.Duration
	}{{at(begin, at1), at(end, at2), 0}, {at(begin, at1), end, 2 * time.Hour}, {begin, at(end, at2), 2 * time.Hour}} {
		d, err := Between(c.begin, shifted(c.end, 2*time.Hour), c.interval)
		require.NoError(t, err)
		assert.Equal(t, time.Hour, d.Interval)
		for name, q := range d.Queues {
			assert.Equal(t, end.Queues[name].Adds, q.Adds)
			assert.False(t, q.Reset)
			assert.Contains(t, strings.Join(q.Doubts, " "), "the process restarted: only the 1h0m0s since then count")
			assert.NotContains(t, strings.Join(end.Queues[name].Doubts, " "), "restarted", "of a copy")
		}
	}

	samples := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(histograms, "")
	one := parse(t, samples+strings.ReplaceAll(samples, `"a"`, `"b"`))
	fell := parse(t, strings.Replace(samples, "} 4", "} 1", 1)+strings.NewReplacer(`"a"`, `"b"`, "} 4", "} 9", " 0.2", " 9").Replace(samples))
	d, err = Between(one, fell, time.Minute)
	require.NoError(t, err)
	assert.True(t, d.Queues["a"].Reset)
	assert.Contains(t, strings.Join(d.Queues["a"].Doubts, " "), "workqueue_adds_total fell from 4 to 1")
	assert.False(t, d.Queues["b"].Reset)
	_, err = Between(parse(t, histograms), parse(t, strings.NewReplacer("} 4", "} 1", "} 2", "} 0").Replace(histograms)), time.Minute)
	assert.ErrorContains(t, err, "swapped")

	// One counter that fell is not every one.
	retries := "# TYPE workqueue_retries_total counter\nworkqueue_retries_total{name=\"a\"} "
	_, err = Between(parse(t, histograms+retries+"50\n"), parse(t, strings.ReplaceAll(histograms, "} 4", "} 9")+retries+"3\n"), time.Minute)
	assert.ErrorContains(t, err, "counters of every queue that worked fell since metrics.txt (of a, workqueue_retries_total fell from 50 to 3)")

	// A queue that comes later is of the interval alone only if it began in it.
	d, err = Between(parse(t, samples), one, time.Minute)
	require.NoError(t, err)
	assert.Contains(t, strings.Join(d.Queues["b"].Doubts, " "), "the queue is missing at the begin")
	assert.NotContains(t, strings.Join(d.Queues["a"].Doubts, " "), "missing at the begin")

	// Of another controller, and of one that lost a family.
	_, err = Between(parse(t, histograms), parse(t, strings.ReplaceAll(histograms, `"a"`, `"b"`)), time.Minute)
	assert.ErrorContains(t, err, "have no queue in common (a, and b)")
	lost := parse(t, strings.ReplaceAll(strings.ReplaceAll(histograms, "workqueue_queue_duration", "lost"), "} 4", "} 9"))
	d, err = Between(parse(t, histograms), lost, time.Minute)
	require.NoError(t, err)
	assert.False(t, d.Queues["a"].Reset)
	assert.Empty(t, d.Queues["a"].Wait.Counts)
}

// A counter that the second scrape doesn't hold has not fallen.
func TestCutScrape(t *testing.T) {
	retries := "# TYPE workqueue_retries_total counter\nworkqueue_retries_total{name=\"a\"} 16\n"
	d, err := Between(parse(t, histograms+retries), parse(t, strings.ReplaceAll(histograms, "} 4", "} 9")), time.Minute)
	require.NoError(t, err)
	assert.False(t, d.Queues["a"].Reset)
	assert.Zero(t, d.Queues["a"].Retries)
	assert.Contains(t, d.Queues["a"].Doubts, "workqueue_retries_total is missing")
}

func TestSince(t *testing.T) {
	s := read(t, "testdata/end.txt")
	_, err := Since(s, 0)
	assert.ErrorContains(t, err, "expected --duration")
	s.Taken = s.Started.Add(time.Hour)
	d, err := Since(s, 0)
	require.NoError(t, err)
	assert.Equal(t, time.Hour, d.Interval)
	d, err = Since(s, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, time.Minute, d.Interval)
}

func TestHistogramMerge(t *testing.T) {
	a := Histogram{Bounds: []float64{1, 2, 4}, Counts: []float64{1, 2, 3, 4}, Sum: 10}
	b := Histogram{Bounds: []float64{1, 4}, Counts: []float64{1, 1, 1}, Sum: 5}
	assert.Equal(t, Histogram{Bounds: []float64{1, 4}, Counts: []float64{2, 6, 5}, Sum: 15}, a.plus(b))
	low, high := a.Quantile(1)
	assert.Equal(t, 4.0, low)
	assert.True(t, math.IsInf(high, 1))
}

func FuzzParse(f *testing.F) {
	f.Add(histograms)
	f.Add("# EOF\nworkqueue_adds_total{name=\"a\"} 1 1.5 # {} 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("m", strings.NewReader(text))
		if (len(s) == 0) == (err == nil) {
			t.Fatalf("found %v and %v, expected a snapshot or an error", s, err)
		}
	})
}

// controller-runtime's own times stand for work durations that are missing, and
// for coarser ones of the same reconciles.
func TestReconcileTimes(t *testing.T) {
	const own = `controller_runtime_reconcile_time_seconds_bucket{controller="c",le="0.2"} 3
controller_runtime_reconcile_time_seconds_bucket{controller="c",le="0.3"} 5
controller_runtime_reconcile_time_seconds_bucket{controller="c",le="+Inf"} 5
controller_runtime_reconcile_time_seconds_sum{controller="c"} 1.1
controller_runtime_reconcile_time_seconds_count{controller="c"} 5
workqueue_adds_total{name="c"} 5
`
	work := func(n string) string {
		return strings.NewReplacer("controller_runtime_reconcile_time", "workqueue_work_duration", "controller=", "name=", "} 3", "} "+n, "} 5", "} "+n).Replace(own[:strings.Index(own, "workqueue")])
	}
	for text, buckets := range map[string]int{own: 2, own + work("5"): 2, own + work("9"): 1} {
		d, err := Since(parse(t, text), time.Minute)
		require.NoError(t, err)
		assert.Equal(t, buckets, d.Queues["c"].Work.Buckets(), text)
	}
	half := parse(t, strings.NewReplacer("} 3", "} 1", "} 5", "} 2", "1.1", "0.4").Replace(own))
	d, err := Between(half, parse(t, own), time.Minute)
	require.NoError(t, err)
	assert.Equal(t, []float64{2, 1, 0}, d.Queues["c"].Work.Counts)
}

// controller-runtime counts the keys of its priority queue by priority, those of
// another queue without one.
func TestKindOfQueue(t *testing.T) {
	s := parse(t, histograms+`workqueue_depth{controller="a",name="a",priority="0"} 2
workqueue_depth{controller="a",name="a",priority="-100"} 3
workqueue_adds_total{name="b"} 1
workqueue_depth{controller="b",name="b",priority=""} 7
workqueue_adds_total{name="c"} 1
`)
	for name, want := range map[string]Queue{"a": {Kind: Prioritised, Depth: 5}, "b": {Kind: Plain, Depth: 7}, "c": {Kind: Untold}} {
		assert.Equal(t, want, Queue{Kind: s.Queues[name].Kind, Depth: s.Queues[name].Depth}, name)
	}
}

// A process whose series have neither a pod nor an instance has words too.
func TestDescribed(t *testing.T) {
	assert.Equal(t, "one without a pod or instance, b", Described([]string{"", "b"}))
	assert.Equal(t, "a, b, c, d, e and 1 more", Described([]string{"a", "b", "c", "d", "e", "f"}))
}

// The sum tells how far the longest reach into their bucket.
func TestLongest(t *testing.T) {
	h := Histogram{Bounds: []float64{0.1, 1, 10}, Counts: []float64{900, 0, 98, 2}}
	h.Sum = 98*3 + 2*3 // evenly from 1 to 5
	assert.InDelta(t, 5, h.Longest(), 1e-9)
	h.Sum = 100 * 20
	assert.Equal(t, 10.0, h.Longest(), "not beyond the bucket")
	h.Sum = 0.1
	assert.Equal(t, 1.0, h.Longest(), "nor before it")
}
