package scrape

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What files of metrics look like after they went through a shell, an editor, a chat or
// another program.
func TestForms(t *testing.T) {
	want := parse(t, histograms).Queues["a"]
	wide := func(order binary.AppendByteOrder, mark []byte) string {
		b := mark
		for _, u := range utf16.Encode([]rune(histograms)) {
			b = order.AppendUint16(b, u)
		}
		return string(b)
	}
	for name, text := range map[string]string{
		"CRLF":                               strings.ReplaceAll(histograms, "\n", "\r\n"),
		"a byte order mark":                  "\ufeff" + histograms,
		"UTF-16, little endian":              wide(binary.LittleEndian, []byte{0xff, 0xfe}),
		"UTF-16, big endian":                 wide(binary.BigEndian, []byte{0xfe, 0xff}),
		"UTF-16 without a mark":              wide(binary.LittleEndian, nil),
		"UTF-16, big endian, without a mark": wide(binary.BigEndian, nil),
		"a Markdown fence":                   "Here it is:\n```text\n" + histograms + "```\n",
		"indented":                           "    " + strings.ReplaceAll(histograms, "\n", "\n    "),
		"cilium":                             strings.ReplaceAll(histograms, "workqueue_", "cilium_operator_k8s_workqueue_"),
		"machine-controller":                 strings.ReplaceAll(histograms, "workqueue_", "mcm_workqueue_"),
		"karpenter":                          strings.ReplaceAll(histograms, "workqueue_", "karpenter_workqueue_"),
		"_created samples":                   histograms + "workqueue_adds_created{name=\"a\"} 1.7e9\nworkqueue_work_duration_seconds_created{name=\"a\"} 1.7e9\n",
		"exemplars":                          strings.ReplaceAll(histograms, "le=\"+Inf\"} 4", "le=\"+Inf\"} 4 # {trace_id=\"x_created\"} 0.5"),
		"untyped":                            strings.NewReplacer(" counter", " untyped", " histogram", " untyped").Replace(histograms),
	} {
		t.Run(name, func(t *testing.T) {
			prefix, _, _ := strings.Cut(regexp.MustCompile(`\w*workqueue`).FindString(text), "workqueue")
			want.Prefix = prefix
			assert.Equal(t, want, parse(t, text).Queues["a"])
		})
	}

	named := parse(t, strings.ReplaceAll(histograms, `"a"`, `"volume_created"`))
	assert.Equal(t, []string{"volume_created"}, named.Names())
	_, err := Parse("m", strings.NewReader(histograms+strings.ReplaceAll(histograms, "workqueue_", "mcm_workqueue_")))
	assert.ErrorContains(t, err, `m: line 14: queue "a": found mcm_workqueue_adds beside workqueue_adds, expected one prefix a file`)
	_, err = Parse("m", strings.NewReader(histograms+"apiserver_request_total{code=\"200\"} 7\n"))
	assert.ErrorContains(t, err, "m: found apiserver_request_total: these are an API server's metrics, which kubectl get --raw /metrics gives, expected a controller's; kube-controller-manager's are at port 10257")
	assert.NotContains(t, err.Error(), "\n")
	assert.NotEmpty(t, parse(t, "# TYPE apiserver_request_total counter\n"+histograms), "any program built on the API server's library declares it")
}

// stamped is the scrape at a time, of an instance, multiplied.
func stamped(instance string, at int64, times float64) string {
	var b strings.Builder
	for line := range strings.Lines(histograms) {
		if line[0] == '#' {
			continue
		}
		series, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		var v float64
		fmt.Sscan(value, &v)
		fmt.Fprintf(&b, "%s,instance=%q} %v %d\n", series, instance, v*times, at)
	}
	return b.String()
}

// Federation, and what promtool tsdb dump-openmetrics writes: of several processes and times.
func TestSeveralScrapes(t *testing.T) {
	const now = 1_764_100_000_000
	list, err := Parse("dump", strings.NewReader(stamped("b:1", now, 1)+stamped("a:1", now+60_000, 5)+stamped("a:1", now+30_000, 2)+stamped("a:1", now, 1)+"# EOF\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{"a:1", "b:1"}, Targets(list))
	d, err := Over(Of(list, "a:1"), 0)
	require.NoError(t, err)
	assert.Equal(t, time.Minute, d.Interval)
	q := d.Queues["a"]
	assert.Equal(t, 16.0, q.Adds)
	assert.Equal(t, []float64{8, 8}, q.Wait.Counts)
	assert.Equal(t, []Step{{0, 30, 4, 4, 0.2, 4, 3}, {30, 30, 12, 12, 0.6, 12, 9}}, q.Steps)
	_, err = Over(Of(list, "b:1"), 0)
	assert.ErrorContains(t, err, "found one scrape")

	twice := Of(list, "a:1")
	_, err = Over(append(twice, twice[2]), 0)
	assert.ErrorContains(t, err, "were taken at the same time, 2025-11-25T19:47:40Z")
}

// A restart costs one step, and what is missing is named.
func TestGaps(t *testing.T) {
	var series []*Snapshot
	for i, times := range []float64{3, 5, 9, 1, 2, 3, 4, 5, 6} {
		s := parse(t, stamped("a:1", 1_764_100_000_000+int64(i)*15_000, times))
		if i > 6 {
			s.Taken = s.Taken.Add(10 * time.Minute)
		}
		series = append(series, s)
	}
	d, err := Over(series, 0)
	require.NoError(t, err)
	assert.Len(t, d.Queues["a"].Steps, 7)
	assert.Equal(t, 4*11.0, d.Queues["a"].Adds)
	assert.Equal(t, 7*15*time.Second+10*time.Minute, d.Interval)
	assert.Equal(t, []string{
		"the process restarted, or was another, 30s after the first scrape: that step counts for nothing",
		"1 time no scrape came for more than twice the usual 15 s, at most for 615 s: what was counted there counts, but not when",
	}, d.Gaps)
	// Of one queue's counters the gap names one.
	var two []*Snapshot
	for i, times := range [][2]float64{{3, 3}, {1, 5}, {2, 6}} {
		at := 1_764_100_000_000 + int64(i)*15_000
		two = append(two, parse(t, stamped("a:1", at, times[0])+strings.ReplaceAll(stamped("a:1", at, times[1]), `name="a"`, `name="b"`)))
	}
	d, err = Over(two, 0)
	require.NoError(t, err)
	assert.Equal(t, []string{"counters don't go on (of a, workqueue_adds_total fell from 12 to 4), so the process restarted, or was another, 0s after the first scrape: that step counts for nothing"}, d.Gaps)

	for i := range series {
		series[i].Taken = time.Time{}
	}
	d, err = Over(series, 20*time.Second)
	require.NoError(t, err)
	assert.Equal(t, 140*time.Second, d.Interval)
	// One of them tells its time: the interval is what says where the steps lie.
	series[1].Taken = time.UnixMilli(1_764_100_000_000)
	timed, err := Over(series, 20*time.Second)
	require.NoError(t, err)
	assert.Equal(t, d.Queues, timed.Queues)
	series[1].Taken = time.Time{}
	_, err = Over(series, 0)
	assert.ErrorContains(t, err, "expected --interval")
}

func TestReplicas(t *testing.T) {
	of := func(instance string, times ...float64) *Delta {
		var series []*Snapshot
		for i, x := range times {
			series = append(series, parse(t, stamped(instance, 1_764_100_000_000+int64(i)*30_000, x)))
		}
		d, err := Over(series, 0)
		require.NoError(t, err)
		return d
	}
	leader, idle, next := of("a", 1, 2, 4, 4, 4), of("b", 0, 0, 0, 0, 0), of("c", 0, 0, 0, 3, 5)
	assert.Equal(t, []string{"a", "c"}, Active(map[string]*Delta{"a": leader, "b": idle, "c": next}))
	sum := Sum([]*Delta{leader, next})
	assert.Equal(t, 2*time.Minute, sum.Interval)
	assert.Equal(t, 32.0, sum.Queues["a"].Adds)
	var adds []float64
	for _, step := range sum.Queues["a"].Steps {
		adds = append(adds, step.Adds)
	}
	assert.Equal(t, []float64{4, 8, 12, 8}, adds)
}

func TestReadTellsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "metrics.txt")
	require.NoError(t, os.WriteFile(path, []byte("apiserver_request_total 1\n"), 0o666))
	_, err := Read(t.Context(), path)
	assert.ErrorContains(t, err, path+": found apiserver_request_total")
}
