package tune

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// A Snippet is ready to paste.
type Snippet struct {
	For  string `json:"for"`  // "kube-controller-manager", "controller-runtime" or "client-go"
	Kind string `json:"kind"` // "flags" or "go"
	Text string `json:"text"`
}

// paste writes the recommendation in the forms that the controller can take.
func paste(a Advice, kind flavour) []Snippet {
	s := a.Recommended
	if kind == controllerManager {
		return []Snippet{{string(controllerManager), "flags", workersFlag(a.Queue, s.Workers)}}
	}
	runtime := Snippet{string(controllerRuntime), "go", runtimeOptions(s)}
	client := Snippet{string(clientGo), "go", clientOptions(a.Queue, s)}
	if kind == controllerRuntime {
		return []Snippet{runtime, client}
	}
	return []Snippet{client, runtime}
}

func workersFlag(queue string, workers int) string {
	if known := syncFlags[queue]; known.flag != "" {
		return fmt.Sprintf("--%s=%d\n", known.flag, workers)
	}
	return fmt.Sprintf("# kube-controller-manager has no flag for the workers of %s\n", queue)
}

// managerPaste are kube-controller-manager's flags for all queues. Its limits
// are each controller's, but one flag sets them all, so the most that one needs
// counts, and none gets less than it has.
func managerPaste(queues []Advice) []Snippet {
	flags := map[string]int{}
	qps, burst := 0.0, 0
	limited, advised := true, false
	for _, a := range queues {
		s := a.Recommended
		if a.Refused == "" && a.Now != nil {
			advised = true
			if known := syncFlags[a.Queue]; known.flag != "" && s.Workers != known.workers {
				flags[known.flag] = max(flags[known.flag], s.Workers)
			}
			limited = limited && (s.QPS > 0 || a.Model.Calls == 0)
			qps, burst = max(qps, s.QPS), max(burst, s.Burst)
		}
		if a.Current.Told["qps"] != "estimated" {
			qps, burst = max(qps, a.Current.QPS), max(burst, a.Current.Burst)
		}
	}
	var b strings.Builder
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		fmt.Fprintf(&b, "--%s=%d\n", flag, flags[flag])
	}
	if advised && limited && qps > 0 {
		fmt.Fprintf(&b, "--kube-api-qps=%s\n--kube-api-burst=%d\n", number(qps), burst)
	}
	if b.Len() == 0 {
		return nil
	}
	return []Snippet{{string(controllerManager), "flags", b.String()}}
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
func limiter(s Settings, key string) string {
	return fmt.Sprintf(`workqueue.NewTypedMaxOfRateLimiter[%[1]s](
	workqueue.NewTypedItemExponentialFailureRateLimiter[%[1]s](%[2]s, %[3]s),
	&workqueue.TypedBucketRateLimiter[%[1]s]{Limiter: rate.NewLimiter(%[4]s, %[5]d)},
)`, key, goDuration(s.BaseDelay), goDuration(s.MaxDelay), number(s.BucketRate), s.BucketBurst)
}

func client(s Settings) string {
	if s.QPS == 0 {
		return "config.QPS = -1 // no client-side limit\n"
	}
	return fmt.Sprintf("config.QPS = %s\nconfig.Burst = %d\n", number(math.Ceil(s.QPS*100)/100), s.Burst)
}

func clientOptions(queue string, s Settings) string {
	return client(s) + fmt.Sprintf(`limiter := %s
queue := workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[string]{Name: %q})
for range %d { // workers
	go wait.UntilWithContext(ctx, worker, time.Second)
}
`, limiter(s, "string"), queue, s.Workers)
}

func runtimeOptions(s Settings) string {
	var b strings.Builder
	b.WriteString(client(s))
	if s.Resync > 0 {
		fmt.Fprintf(&b, "resync := %s\nmanagerOptions.Cache.SyncPeriod = &resync\n", goDuration(s.Resync))
	}
	fmt.Fprintf(&b, "managerOptions.Controller.UsePriorityQueue = ptr.To(%v)\n", s.Priority)
	fmt.Fprintf(&b, "options := controller.Options{\n\tMaxConcurrentReconciles: %d,\n\tRateLimiter: %s,\n}\n",
		s.Workers, strings.ReplaceAll(limiter(s, "reconcile.Request"), "\n", "\n\t"))
	return b.String()
}
