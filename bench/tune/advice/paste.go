package advice

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
)

// A Snippet is ready to paste.
type Snippet struct {
	For  string `json:"for"`  // "kube-controller-manager", "controller-runtime" or "client-go"
	Kind string `json:"kind"` // "flags" or "go"
	Text string `json:"text"`
}

// paste writes the recommendation in the forms that the controller can take.
func paste(a Advice, kind defaults.Flavour) []Snippet {
	s := a.Recommended
	if kind == defaults.ControllerManager {
		return []Snippet{{string(defaults.ControllerManager), "flags", workersFlag(a.Queue, s.Workers)}}
	}
	runtime := Snippet{string(defaults.ControllerRuntime), "go", runtimeOptions(a.Model, s)}
	client := Snippet{string(defaults.ClientGo), "go", clientOptions(a.Model, a.Queue, s)}
	if kind == defaults.ControllerRuntime {
		return []Snippet{runtime, client}
	}
	return []Snippet{client, runtime}
}

func workersFlag(queue string, workers int) string {
	if flag, _ := defaults.SyncFlag(queue); flag != "" {
		return fmt.Sprintf("--%s=%d\n", flag, workers)
	}
	return fmt.Sprintf("# kube-controller-manager has no flag for the workers of %q\n", queue)
}

// PasteFlags writes what is recommended for all queues of kube-controller-manager into Paste.
func (r *Result) PasteFlags() { r.Paste = managerPaste(r.Queues) }

// managerPaste are kube-controller-manager's flags for all queues, but for those of
// which nothing says that they are not, or should not be, as by default. Its limits
// are each controller's, but one flag sets them all, so the most that one needs
// counts, and none gets less than it has.
func managerPaste(queues []Advice) []Snippet {
	flags := map[string]int{}
	type limit struct {
		qps   float64
		burst int
	}
	usual := limit{defaults.ManagerQPS, defaults.ManagerBurst}
	most, change := limit{}, false
	limited, advised := true, false
	atLeast := func(s predict.Settings) {
		most = limit{max(most.qps, s.QPS), max(most.burst, s.Burst)}
	}
	for _, a := range queues {
		s := a.Recommended
		if a.Refused == "" && a.Now != nil && (a.Then == nil || a.Then.Stable) {
			advised = true
			if flag, workers := defaults.SyncFlag(a.Queue); flag != "" && (s.Workers != workers || s.Workers != a.Current.Workers) {
				flags[flag] = max(flags[flag], s.Workers)
			}
			limited = limited && (s.QPS > 0 || !a.Model.Calling())
			atLeast(s)
		}
		if a.Current.Told["qps"] != "estimated" {
			atLeast(a.Current.Settings)
			change = change || limit{a.Current.QPS, a.Current.Burst} != usual
		}
	}
	var b strings.Builder
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		fmt.Fprintf(&b, "--%s=%d\n", flag, flags[flag])
	}
	if advised && limited && most.qps > 0 && (change || most != usual) {
		fmt.Fprintf(&b, "--kube-api-qps=%s\n--kube-api-burst=%d\n", predict.Number(most.qps), most.burst)
	}
	if b.Len() == 0 {
		return nil
	}
	return []Snippet{{string(defaults.ControllerManager), "flags", b.String()}}
}

// goDuration is a duration as a Go expression.
func goDuration(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "time.Hour"}, {time.Minute, "time.Minute"}, {time.Second, "time.Second"}, {time.Millisecond, "time.Millisecond"}, {time.Microsecond, "time.Microsecond"}} {
		if d%unit.size == 0 && d != 0 {
			return fmt.Sprintf("%d*%s", d/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("time.Duration(%d)", d)
}

// limiter is the rate limiter of a queue of keys of the given type.
func limiter(s predict.Settings, key string) string {
	if s.BucketRate == 0 {
		return fmt.Sprintf("workqueue.NewTypedItemExponentialFailureRateLimiter[%s](%s, %s)", key, goDuration(s.BaseDelay), goDuration(s.MaxDelay))
	}
	return fmt.Sprintf(`workqueue.NewTypedMaxOfRateLimiter[%[1]s](
	workqueue.NewTypedItemExponentialFailureRateLimiter[%[1]s](%[2]s, %[3]s),
	&workqueue.TypedBucketRateLimiter[%[1]s]{Limiter: rate.NewLimiter(%[4]s, %[5]d)},
)`, key, goDuration(s.BaseDelay), goDuration(s.MaxDelay), predict.Number(s.BucketRate), s.BucketBurst)
}

// client sets the client's limit, of which nothing is known without calls.
func client(m *predict.Model, s predict.Settings) string {
	if m != nil && !m.Calling() {
		return ""
	}
	if s.QPS == 0 {
		return "config.QPS = -1 // no client-side limit\n"
	}
	return fmt.Sprintf("config.QPS = %s\nconfig.Burst = %d\n", predict.Number(math.Ceil(s.QPS*100)/100), s.Burst)
}

// newQueue is a Go expression that makes the queue of keys of the given type,
// with a limiter and a name that are expressions, too.
func newQueue(s predict.Settings, key, limiter, name string) string {
	config := fmt.Sprintf("workqueue.TypedRateLimitingQueueConfig[%s]{Name: %s}", key, name)
	prioritised := fmt.Sprintf("(%s, func(o *priorityqueue.Opts[%s]) { o.RateLimiter = %s })", name, key, limiter)
	switch s.Queue {
	case "client-go":
		return fmt.Sprintf("workqueue.NewTypedRateLimitingQueueWithConfig(%s, %s)", limiter, config)
	case "heap":
		return fmt.Sprintf("ratelimit.NewHeapQueue(%s, %s)", limiter, config)
	case "heap4":
		return fmt.Sprintf("ratelimit.NewHeap4Queue(%s, %s)", limiter, config)
	case "fused":
		return fmt.Sprintf("ratelimit.NewFusedQueue(%s, %s)", limiter, config)
	case "controller-runtime":
		return "priorityqueue.New" + prioritised
	case "levels":
		return "priority.New" + prioritised
	}
	return fmt.Sprintf("%s(%s, %s)", "/* the constructor of "+s.Queue+" */", limiter, config)
}

// splitComment says, in a comment, how the workers are shared out.
func splitComment(m *predict.Model, s predict.Settings) string {
	if !s.Split || m == nil {
		return ""
	}
	text := "// A queue for each resource, with workers of its own:"
	for i, q := range m.Split(s.Workers) {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %d for %s", q.Workers, q.Name)
	}
	return text + ".\n"
}

func clientOptions(m *predict.Model, queue string, s predict.Settings) string {
	var b strings.Builder
	b.WriteString(client(m, s))
	if s.Resync > 0 {
		fmt.Fprintf(&b, "factory := informers.NewSharedInformerFactory(clientset, %s) // resync\n", goDuration(s.Resync))
	}
	fmt.Fprintf(&b, "limiter := %s\n%squeue := %s\n", limiter(s, "string"), splitComment(m, s), newQueue(s, "string", "limiter", strconv.Quote(queue)))
	fmt.Fprintf(&b, "for range %d { // workers\n\tgo wait.UntilWithContext(ctx, worker, time.Second)\n}\n", s.Workers)
	return b.String()
}

func runtimeOptions(m *predict.Model, s predict.Settings) string {
	var b strings.Builder
	b.WriteString(client(m, s))
	if s.Resync > 0 {
		fmt.Fprintf(&b, "resync := %s\nmanagerOptions.Cache.SyncPeriod = &resync\n", goDuration(s.Resync))
	}
	b.WriteString(splitComment(m, s))
	newer := ""
	if s.Queue != s.PeersQueue() {
		newer = fmt.Sprintf(`	NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return %s
	},
`, newQueue(s, "reconcile.Request", "limiter", "name"))
	} else {
		fmt.Fprintf(&b, "managerOptions.Controller.UsePriorityQueue = ptr.To(%v)\n", s.Priority)
	}
	fmt.Fprintf(&b, "options := controller.Options{\n\tMaxConcurrentReconciles: %d,\n\tRateLimiter: %s,\n%s}\n",
		s.Workers, strings.ReplaceAll(limiter(s, "reconcile.Request"), "\n", "\n\t"), newer)
	return b.String()
}
