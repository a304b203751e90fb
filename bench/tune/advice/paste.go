package advice

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
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

// paste writes the recommendation in the forms that the controller can take, its own first.
func (a *Advice) paste(kind defaults.Flavour) {
	if kind == defaults.ControllerManager {
		a.Paste = []Snippet{{string(kind), "flags", workersFlag(a.Queue, a.Recommended.Workers)}}
		return
	}
	a.Paste = []Snippet{{string(defaults.ClientGo), "go", clientOptions(a)}, {string(defaults.ControllerRuntime), "go", runtimeOptions(a)}}
	if kind == defaults.ControllerRuntime {
		slices.Reverse(a.Paste)
	}
}

func workersFlag(queue string, workers int) string {
	if flag, _ := defaults.SyncFlag(queue); flag != "" {
		return fmt.Sprintf("--%s=%d\n", flag, workers)
	}
	return fmt.Sprintf("# kube-controller-manager has no flag for the workers of %q\n", queue)
}

// ManagerFlags are kube-controller-manager's for all queues, but for those flags of
// which nothing says that they are not, or should not be, as by default. Its limits
// are each controller's, but one flag sets them all, so the most that one needs
// counts, and none gets less than it has.
func ManagerFlags(queues []Advice) []Snippet {
	type limit struct {
		qps   float64
		burst int
	}
	usual, most := limit{defaults.ManagerQPS, defaults.ManagerBurst}, limit{}
	atLeast := func(s predict.Settings) { most = limit{max(most.qps, s.QPS), max(most.burst, s.Burst)} }
	flags := map[string]int{}
	advised, unlimited, unusual := false, false, false
	for _, a := range queues {
		s := a.Recommended
		if a.Refused == "" && a.Now != nil && (a.Then == nil || a.Then.Stable) {
			advised = true
			if flag, workers := defaults.SyncFlag(a.Queue); flag != "" && (s.Workers != workers || s.Workers != a.Current.Workers) {
				flags[flag] = max(flags[flag], s.Workers)
			}
			unlimited = unlimited || s.QPS == 0 && a.Model.Calling()
			atLeast(s)
		}
		if a.Current.Told["qps"] != "estimated" {
			unusual = unusual || limit{a.Current.QPS, a.Current.Burst} != usual
			atLeast(a.Current.Settings)
		}
	}
	text := ""
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		text += fmt.Sprintf("--%s=%d\n", flag, flags[flag])
	}
	if advised && !unlimited && most.qps > 0 && (unusual || most != usual) {
		text += fmt.Sprintf("--kube-api-qps=%s\n--kube-api-burst=%d\n", predict.Number(most.qps), most.burst)
	}
	if text == "" {
		return nil
	}
	return []Snippet{{string(defaults.ControllerManager), "flags", text}}
}

// goDuration is a duration as a Go expression.
func goDuration(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"}, {time.Microsecond, "Microsecond"}} {
		if d%unit.size == 0 && d != 0 {
			return fmt.Sprintf("%d*time.%s", d/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("time.Duration(%d)", d)
}

// limiter is the rate limiter of a queue of keys of the given type.
func limiter(s predict.Settings, key string) string {
	backOff := fmt.Sprintf("workqueue.NewTypedItemExponentialFailureRateLimiter[%s](%s, %s)", key, goDuration(s.BaseDelay), goDuration(s.MaxDelay))
	if s.BucketRate == 0 {
		return backOff
	}
	return fmt.Sprintf(`workqueue.NewTypedMaxOfRateLimiter[%[1]s](
	%[2]s,
	&workqueue.TypedBucketRateLimiter[%[1]s]{Limiter: rate.NewLimiter(%[3]s, %[4]d)},
)`, key, backOff, predict.Number(s.BucketRate), s.BucketBurst)
}

// client sets the client's limit, of which nothing is known without calls, and the resync
// period by the given lines.
func (a *Advice) client(resync string) (text string) {
	s := a.Recommended
	switch {
	case !a.Model.Calling():
	case s.QPS == 0:
		text = "config.QPS = -1 // no client-side limit\n"
	default:
		text = fmt.Sprintf("config.QPS = %s\nconfig.Burst = %d\n", predict.Number(math.Ceil(s.QPS*100)/100), s.Burst)
	}
	if s.Resync > 0 {
		text += fmt.Sprintf(resync, goDuration(s.Resync))
	}
	return text
}

// constructors are those of the queues, by variant.
var constructors = map[string]string{
	"client-go":          "workqueue.NewTypedRateLimitingQueueWithConfig",
	"heap":               "ratelimit.NewHeapQueue",
	"heap4":              "ratelimit.NewHeap4Queue",
	"fused":              "ratelimit.NewFusedQueue",
	"controller-runtime": "priorityqueue.New",
	"levels":             "priority.New",
}

// newQueue is a Go expression that makes the queue of keys of the given type,
// with a limiter and a name that is an expression, too.
func newQueue(s predict.Settings, key, name string) string {
	switch s.Queue {
	case "controller-runtime", "levels":
		return fmt.Sprintf("%s(%s, func(o *priorityqueue.Opts[%s]) { o.RateLimiter = limiter })", constructors[s.Queue], name, key)
	}
	return fmt.Sprintf("%s(limiter, workqueue.TypedRateLimitingQueueConfig[%s]{Name: %s})", cmp.Or(constructors[s.Queue], "/* the constructor of "+s.Queue+" */"), key, name)
}

// split says, in a comment, how the workers are shared out.
func (a *Advice) split() string {
	if !a.Recommended.Split {
		return ""
	}
	var shares []string
	for _, q := range a.Model.Split(a.Recommended.Workers) {
		shares = append(shares, fmt.Sprintf(" %d for %s", q.Workers, q.Name))
	}
	return "// A queue for each resource, with workers of its own:" + strings.Join(shares, ",") + ".\n"
}

func clientOptions(a *Advice) string {
	s := a.Recommended
	return a.client("factory := informers.NewSharedInformerFactory(clientset, %s) // resync\n") + fmt.Sprintf(`limiter := %s
%squeue := %s
for range %d { // workers
	go wait.UntilWithContext(ctx, worker, time.Second)
}
`, limiter(s, "string"), a.split(), newQueue(s, "string", fmt.Sprintf("%q", a.Queue)), s.Workers)
}

func runtimeOptions(a *Advice) string {
	s, queue := a.Recommended, ""
	text := a.client("resync := %s\nmanagerOptions.Cache.SyncPeriod = &resync\n") + a.split()
	if s.Queue == s.PeersQueue() {
		text += fmt.Sprintf("managerOptions.Controller.UsePriorityQueue = ptr.To(%v)\n", s.Priority)
	} else {
		queue = fmt.Sprintf(`	NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return %s
	},
`, newQueue(s, "reconcile.Request", "name"))
	}
	return text + fmt.Sprintf("options := controller.Options{\n\tMaxConcurrentReconciles: %d,\n\tRateLimiter: %s,\n%s}\n",
		s.Workers, strings.ReplaceAll(limiter(s, "reconcile.Request"), "\n", "\n\t"), queue)
}
