package scrape

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"
)

var (
	// family matches the metrics that are read, with what programs put in front of their
	// names (cilium_operator_k8s_workqueue_depth) as a group of its own.
	family = regexp.MustCompile(`^((?:[a-zA-Z_:][a-zA-Z0-9_:]*?_)?)(` +
		`workqueue_(?:adds|depth|queue_duration_seconds|work_duration_seconds|retries|unfinished_work_seconds|longest_running_processor_seconds)|` +
		`rest_client_(?:requests|request_retries|rate_limiter_duration_seconds|request_duration_seconds)|` +
		`controller_runtime_(?:reconcile_time_seconds|max_concurrent_reconciles|reconcile)|` +
		`process_start_time_seconds)(_total|_bucket|_sum|_count|)$`)

	// serverFamily matches what only a program that answers requests for objects counts; any
	// that is built on the API server's library may declare it.
	serverFamily = regexp.MustCompile(`^(?:{\s*")?(apiserver_(?:request_(?:total|count|duration_seconds_(?:bucket|sum|count))|storage_objects|resource_objects))(?:["\s{]|$)`)

	labelSet = regexp.MustCompile(`^(\s*{(?:[^"}]|"(?:[^"\\]|\\.)*")*})(.*)$`)
	telling  = regexp.MustCompile(`[{,]\s*(name|namespace|pod|instance)="((?:[^"\\]|\\.)*)"`)
)

var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")

// A moment is a process and when it was scraped.
type moment struct {
	target string
	taken  int64 // milliseconds since 1970; 0: not said
}

func (m moment) compare(o moment) int {
	return cmp.Or(cmp.Compare(m.target, o.target), cmp.Compare(m.taken, o.taken))
}

// A sample is one line that is read.
type sample struct {
	moment
	series string // name and labels
	value  string
	line   int
}

// A text is what is read of a source.
type text struct {
	lines   int // in all
	samples []sample
	types   map[string]string    // of the families
	server  map[string]string    // the family by which a target is an API server
	prefix  map[[2]string]string // of the queue families of each target and queue
}

// maxText is the largest source that is read; a kube-controller-manager's scrape is 1 MB.
const maxText = 256 << 20

// longestLine is more than a series with all its labels has, in bytes.
const longestLine = 1 << 20

// plainText takes off what editors, shells and PowerShell put around a scrape: UTF-16 and a
// byte order mark.
func plainText(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxText {
		return nil, fmt.Errorf("found more than %d MB, expected the text of one scrape", maxText>>20)
	}
	decoder := unicode.UTF8BOM.NewDecoder()
	switch { // a metric's name or a comment begins with ASCII
	case len(b) < 2:
	case b[0] == 0:
		decoder = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	case b[1] == 0, b[0] == 0xff && b[1] == 0xfe, b[0] == 0xfe && b[1] == 0xff:
		decoder = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()
	}
	return decoder.Bytes(b)
}

// cut keeps the lines of the families that are read, so that a fault elsewhere does no harm.
func cut(r io.Reader) (*text, error) {
	b, err := plainText(r)
	if err != nil {
		return nil, err
	}
	t := &text{types: map[string]string{}, server: map[string]string{}, prefix: map[[2]string]string{}}
	in := bufio.NewScanner(bytes.NewReader(b))
	in.Buffer(nil, longestLine)
	for in.Scan() {
		t.lines++
		if err := t.add(strings.TrimSpace(in.Text())); err != nil {
			return nil, fmt.Errorf("line %d: %w", t.lines, err)
		}
	}
	if err := in.Err(); err != nil { // it reads from memory
		return nil, fmt.Errorf("line %d: found more than %d KiB, expected a series and its value", t.lines+1, longestLine>>10)
	}
	return t, nil
}

// add takes a line of a family that is read, without prefix and exemplar.
func (t *text) add(line string) error {
	if declared, ok := strings.CutPrefix(line, "# TYPE "); ok {
		name, kind, _ := strings.Cut(declared, " ")
		// Federation calls everything untyped, a histogram's parts too.
		if m := family.FindStringSubmatch(name); m != nil && kind != "untyped" && kind != "unknown" {
			t.types[m[2]+m[3]] = cmp.Or(t.types[m[2]+m[3]], kind)
		}
		return nil
	}
	if m := serverFamily.FindStringSubmatch(line); m != nil {
		t.server[targetOf(labelsOf(line))] = m[1]
		return nil
	}
	name := line
	if end := strings.IndexAny(line, " \t{"); end >= 0 {
		name = line[:end]
	}
	m := family.FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	set, value, taken := parts(line[len(name):])
	labels := labelsOf(set)
	target := targetOf(labels)
	prefix, base, suffix := m[1], m[2], m[3]
	if queue := labels["name"]; queue != "" && strings.HasPrefix(base, "workqueue_") {
		key := [2]string{target, unescape.Replace(queue)}
		if first, ok := t.prefix[key]; ok && first != prefix { // these are two queues
			return fmt.Errorf("queue %q: found %s%s beside %s%s, expected one prefix a file: keep the lines of one", queue, prefix, base, first, base)
		}
		t.prefix[key] = prefix
	}
	if suffix == "_bucket" {
		// As when only lines that begin with workqueue were kept.
		t.types[base] = cmp.Or(t.types[base], "histogram")
	}
	t.samples = append(t.samples, sample{moment{target, taken}, base + suffix + set, value, t.lines})
	return nil
}

// scrapes cuts the text by process and by time: where a series is there several times,
// with timestamps, the text is of several scrapes.
func (t *text) scrapes() map[moment][]sample {
	several := map[string]bool{} // targets
	latest := map[string]int64{}
	first := map[string]int64{} // of each series
	for _, x := range t.samples {
		latest[x.target] = max(latest[x.target], x.taken)
		if taken := first[x.series]; taken == 0 {
			first[x.series] = x.taken
		} else if taken != x.taken && x.taken != 0 {
			several[x.target] = true
		}
	}
	list := map[moment][]sample{}
	for _, x := range t.samples {
		if !several[x.target] {
			x.taken = latest[x.target]
		}
		list[x.moment] = append(list[x.moment], x)
	}
	return list
}

// parts are a sample's labels, its value, and when it was taken, which OpenMetrics tells in
// seconds. Of labels that don't end nothing is known.
func parts(rest string) (labels, value string, taken int64) {
	if m := labelSet.FindStringSubmatch(rest); m != nil {
		labels, rest = m[1], m[2]
	}
	value, _, _ = strings.Cut(rest, "#") // behind the labels a # begins an exemplar
	f := strings.Fields(value)
	if len(f) == 2 {
		if t, err := strconv.ParseFloat(f[1], 64); err == nil && t > 0 {
			if t < 1e11 { // in milliseconds that would be before March 1973
				t *= 1e3
			}
			return labels, f[0], int64(math.Round(t))
		}
	}
	return labels, strings.Join(f, " "), 0
}

// labelsOf are those that tell the process and the queue, still escaped.
func labelsOf(text string) map[string]string {
	found := map[string]string{}
	for _, m := range telling.FindAllStringSubmatch(text, -1) {
		found[m[1]] = m[2]
	}
	return found
}

// targetOf names the process by the labels that Prometheus gives what it scrapes: the pod,
// or the address where there is none. A scrape of /metrics has neither.
func targetOf(labels map[string]string) string {
	pod, namespace := labels["pod"], labels["namespace"]
	if pod != "" && namespace != "" {
		return namespace + "/" + pod
	}
	return cmp.Or(pod, labels["instance"])
}
