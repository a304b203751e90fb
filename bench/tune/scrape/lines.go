package scrape

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"
)

// family matches the metrics that are read, with what programs put in front of their
// names (cilium_operator_k8s_workqueue_depth) as a group of its own.
var family = regexp.MustCompile(`^((?:[a-zA-Z_:][a-zA-Z0-9_:]*?_)?)(` +
	`workqueue_(?:adds|depth|queue_duration_seconds|work_duration_seconds|retries|unfinished_work_seconds|longest_running_processor_seconds)|` +
	`rest_client_(?:requests|request_retries|rate_limiter_duration_seconds|request_duration_seconds)|` +
	`controller_runtime_(?:reconcile_time_seconds|max_concurrent_reconciles|reconcile)|` +
	`process_start_time_seconds)(_total|_bucket|_sum|_count|_created|)$`)

// serverFamily matches what only a program that answers requests for objects counts; any
// that is built on the API server's library may declare it.
var (
	serverFamily = regexp.MustCompile(`^apiserver_(?:request_(?:total|count|duration_seconds_(?:bucket|sum|count))|storage_objects|resource_objects)$`)
	quotedName   = regexp.MustCompile(`^{\s*"(apiserver_request_total)"`)
)

// serverQueues are of every API server, and of nothing else.
var serverQueues = []string{
	"APIServiceRegistrationController", "AvailableConditionController", "crdEstablishing", "crd_autoregistration_controller",
	"crd_finalizer", "crd_naming_condition_controller", "crd_openapi_controller", "crd_openapi_v3_controller",
}

// A sample is one line that is read.
type sample struct {
	series string // name and labels
	value  string
	target string
	taken  int64 // milliseconds since 1970; 0: not said
	line   int
}

// A text is what is read of a source.
type text struct {
	lines   int // in all
	samples []sample
	types   []string          // TYPE lines
	server  map[string]string // the family by which a target is an API server
	prefix  map[string]string // of the queue families of each target and queue
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
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		decoder = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
	case len(b) > 1 && b[0] == 0: // a metric's name or a comment begins with ASCII
		decoder = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	case len(b) > 1 && b[1] == 0:
		decoder = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
	}
	return decoder.Bytes(b)
}

// cut keeps the lines of the families that are read, so that a fault elsewhere does no
// harm. Prefixes, exemplars and _created samples go, OpenMetrics' timestamps, in seconds,
// become milliseconds.
func cut(r io.Reader) (*text, error) {
	b, err := plainText(r)
	if err != nil {
		return nil, err
	}
	t := &text{server: map[string]string{}, prefix: map[string]string{}}
	typed := map[string]bool{}
	in := bufio.NewScanner(bytes.NewReader(b))
	in.Buffer(nil, longestLine)
	for in.Scan() {
		t.lines++
		line := strings.TrimSpace(in.Text())
		if declared, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(declared, " ")
			// Federation calls everything untyped, a histogram's parts too.
			if m := family.FindStringSubmatch(name); m != nil && kind != "untyped" && kind != "unknown" && !typed[m[2]+m[3]] {
				typed[m[2]+m[3]] = true
				t.types = append(t.types, fmt.Sprintf("# TYPE %s%s %s\n", m[2], m[3], kind))
			}
			continue
		}
		if quoted := quotedName.FindStringSubmatch(line); quoted != nil {
			t.server[targetOf(line)] = quoted[1]
			continue
		}
		name := line
		if end := strings.IndexAny(line, " \t{"); end >= 0 {
			name = line[:end]
		}
		m := family.FindStringSubmatch(name)
		if !serverFamily.MatchString(name) && (m == nil || m[3] == "_created") {
			continue
		}
		labels, value, taken := parts(line[len(name):])
		target := targetOf(labels)
		if m == nil {
			t.server[target] = name
			continue
		}
		if err := t.prefixed(target, m[2], labels, m[1]); err != nil {
			return nil, fmt.Errorf("line %d: %w", t.lines, err)
		}
		t.samples = append(t.samples, sample{m[2] + m[3] + labels, value, target, taken, t.lines})
	}
	if err := in.Err(); err != nil { // it reads from memory
		return nil, fmt.Errorf("line %d: found more than %d KiB, expected a series and its value", t.lines+1, longestLine>>10)
	}
	for _, f := range histogramFamilies {
		// As when only lines that begin with workqueue were kept.
		if !typed[f] && slices.ContainsFunc(t.samples, func(x sample) bool { return strings.HasPrefix(x.series, f+"_bucket") }) {
			t.types = append(t.types, "# TYPE "+f+" histogram\n")
		}
	}
	return t, nil
}

var histogramFamilies = []string{
	"workqueue_queue_duration_seconds", "workqueue_work_duration_seconds",
	"rest_client_rate_limiter_duration_seconds", "rest_client_request_duration_seconds", "controller_runtime_reconcile_time_seconds",
}

var queueName = regexp.MustCompile(`[{,]\s*name="((?:[^"\\]|\\.)*)"`)

var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")

// prefixed refuses a queue that families of two prefixes tell of: these are two queues.
func (t *text) prefixed(target, family, labels, prefix string) error {
	name := queueName.FindStringSubmatch(labels)
	if name == nil || !strings.HasPrefix(family, "workqueue_") {
		return nil
	}
	key := target + "\xff" + unescape.Replace(name[1])
	if first, ok := t.prefix[key]; ok && first != prefix {
		return fmt.Errorf("queue %q: found %s%s beside %s%s, expected one prefix a file: keep the lines of one", name[1], prefix, family, first, family)
	}
	t.prefix[key] = prefix
	return nil
}

// A reading is what one process told at one time, in the text format.
type reading struct {
	target  string
	taken   time.Time // zero: not said
	text    []byte
	numbers []int // of its lines in the source; 0: of none
}

// readings cuts the text by process and by time: where a series is there several times,
// with timestamps, the text is of several scrapes.
func (t *text) readings() []reading {
	type of struct {
		target string
		taken  int64
	}
	several := map[string]bool{} // targets
	latest := map[string]int64{}
	first := map[string]int64{} // of each series
	for _, x := range t.samples {
		latest[x.target] = max(latest[x.target], x.taken)
		if taken, ok := first[x.series]; !ok {
			first[x.series] = x.taken
		} else if taken != x.taken && taken != 0 && x.taken != 0 {
			several[x.target] = true
		}
	}
	var list []reading
	at := map[of]int{}
	for _, x := range t.samples {
		key := of{x.target, latest[x.target]}
		if several[x.target] {
			key.taken = x.taken
		}
		i, ok := at[key]
		if !ok {
			i = len(list)
			at[key] = i
			list = append(list, reading{target: x.target})
			if key.taken > 0 {
				list[i].taken = time.UnixMilli(key.taken)
			}
			for _, line := range t.types {
				list[i].text = append(list[i].text, line...)
				list[i].numbers = append(list[i].numbers, 0)
			}
		}
		list[i].text = fmt.Appendf(list[i].text, "%s %s\n", x.series, x.value)
		list[i].numbers = append(list[i].numbers, x.line)
	}
	slices.SortStableFunc(list, func(a, b reading) int { return cmp.Or(cmp.Compare(a.target, b.target), a.taken.Compare(b.taken)) })
	return list
}

// parts are a sample's labels, its value, and when it was taken.
func parts(rest string) (labels, value string, taken int64) {
	at := valueAt(rest)
	value, _, _ = strings.Cut(rest[at:], "#") // behind the labels a # begins an exemplar
	f := strings.Fields(value)
	if len(f) == 2 {
		if t, err := strconv.ParseFloat(f[1], 64); err == nil && t > 0 {
			if t < 1e11 { // in milliseconds that would be before March 1973
				t *= 1e3
			}
			return rest[:at], f[0], int64(math.Round(t))
		}
	}
	return rest[:at], strings.Join(f, " "), 0
}

// valueAt is where the value begins of what follows a sample's name.
func valueAt(rest string) int {
	labels := strings.TrimLeft(rest, " \t")
	if !strings.HasPrefix(labels, "{") {
		return 0
	}
	quoted := false
	for i := 0; i < len(labels); i++ {
		switch {
		case quoted && labels[i] == '\\':
			i++ // what is escaped ends no value
		case labels[i] == '"':
			quoted = !quoted
		case labels[i] == '}' && !quoted:
			return len(rest) - len(labels) + i + 1
		}
	}
	return len(rest)
}

var ofTarget = regexp.MustCompile(`[{,]\s*(namespace|pod|instance)="((?:[^"\\]|\\.)*)"`)

// targetOf names the process by the labels that Prometheus gives what it scrapes: the pod,
// or the address where there is none. A scrape of /metrics has neither.
func targetOf(labels string) string {
	if !strings.Contains(labels, "instance=") && !strings.Contains(labels, "pod=") {
		return ""
	}
	found := map[string]string{}
	for _, m := range ofTarget.FindAllStringSubmatch(labels, -1) {
		found[m[1]] = m[2]
	}
	switch {
	case found["pod"] != "" && found["namespace"] != "":
		return found["namespace"] + "/" + found["pod"]
	case found["pod"] != "":
		return found["pod"]
	}
	return found["instance"]
}
