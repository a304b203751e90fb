package app

import (
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// reconcileFlags are what a command line says of the reconciles; of them the
// flags that are given count.
type reconcileFlags struct{ loadgen.Reconcile }

func (r *reconcileFlags) addTo(f *pflag.FlagSet) {
	f.IntVar(&r.Workers, "workers", 0, "concurrent reconciles (default the workload's, else 5)")
	f.Var(distFlag{&r.Service}, "service", "time of a reconcile's own work: 5ms, 'exp(10ms)', 'lognormal(5ms, 80ms)' (median, p99), … (default the workload's)")
	f.Var(distFlag{&r.Calls}, "calls", "API calls of a reconcile (default the workload's)")
	f.Var(distFlag{&r.CallLatency}, "call-latency", "time of a call once it is sent (default the workload's)")
	f.Float64Var(&r.QPS, "qps", 0, "client-side limit of API calls a second, 0 for none (default the workload's)")
	f.IntVar(&r.Burst, "burst", 0, "calls that the limit lets through at once (default the workload's, else the QPS)")
	f.Float64Var(&r.Failure, "failure", 0, "share of reconciles that fail, 0 to 1 (default the workload's)")
	f.IntVar(&r.Retries, "retries", 0, "failures in a row until a key is given up, 0 for never (default the workload's)")
	f.DurationVar(&r.Resync, "resync", 0, "how often every object is queued again, 0 for never (default the workload's)")
}

// over puts the flags that were given into what the workload says. It refuses a
// burst of 0 beside a limit, which would silently mean the default.
func (r *reconcileFlags) over(cmd *cobra.Command, to loadgen.Reconcile) (loadgen.Reconcile, error) {
	for _, flag := range []struct {
		name string
		set  func()
	}{
		{"workers", func() { to.Workers = r.Workers }},
		{"service", func() { to.Service = r.Service }},
		{"calls", func() { to.Calls = r.Calls }},
		{"call-latency", func() { to.CallLatency = r.CallLatency }},
		{"qps", func() { to.QPS, to.Burst = r.QPS, 0 }},
		{"burst", func() { to.Burst = r.Burst }},
		{"failure", func() { to.Failure = r.Failure }},
		{"retries", func() { to.Retries = r.Retries }},
		{"base-delay", func() { to.Limiter.BaseDelay = r.Limiter.BaseDelay }},
		{"max-delay", func() { to.Limiter.MaxDelay = r.Limiter.MaxDelay }},
		{"retry-rate", func() { to.Limiter.Rate = r.Limiter.Rate }},
		{"retry-burst", func() { to.Limiter.Burst = r.Limiter.Burst }},
		{"resync", func() { to.Resync = r.Resync }},
		{"batch", func() { to.Batch = r.Batch }},
	} {
		if cmd.Flags().Changed(flag.name) { // a command without the flag has not
			flag.set()
		}
	}
	if cmd.Flags().Changed("burst") && to.Burst == 0 && to.QPS > 0 {
		return to, fmt.Errorf("--burst: found 0, expected at least 1 beside a QPS of %g", to.QPS)
	}
	return to, nil
}

// flagOf are the flags that take the place of fields: of a workload, a simulation or
// tune's settings.
var flagOf = map[string]string{
	"reconcile.workers": "workers", "reconcile.service": "service", "reconcile.calls": "calls", "reconcile.callLatency": "call-latency",
	"reconcile.qps": "qps", "reconcile.burst": "burst", "reconcile.failure": "failure", "reconcile.retries": "retries",
	"reconcile.limiter.baseDelay": "base-delay", "reconcile.limiter.maxDelay": "max-delay",
	"reconcile.limiter.rate": "retry-rate", "reconcile.limiter.burst": "retry-burst",
	"reconcile.resync": "resync", "reconcile.batch": "batch",
	"duration": "duration", "warmup": "warmup", "queue": "queue", "replicas": "replicas",
	"workers": "workers", "qps": "qps", "burst": "burst", "baseDelay": "base-delay", "maxDelay": "max-delay", "bucketRate": "retry-rate", "bucketBurst": "retry-burst",
}

// byFlag is an error that begins with a field, by the flag that was given for it; nil
// if none was.
func byFlag(cmd *cobra.Command, err error) error {
	field, problem, _ := strings.Cut(strings.TrimPrefix(err.Error(), "sim: "), ": ")
	flag := flagOf[field]
	switch {
	case flag != "" && cmd.Flags().Changed(flag):
		return fmt.Errorf("--%s: %s", flag, problem)
	case flag == "max-delay" && cmd.Flags().Changed("base-delay"): // the longest delay is good for any other
		longest, _, _ := strings.Cut(strings.TrimPrefix(problem, "found "), ",")
		return fmt.Errorf("--base-delay: found %v, expected at most the maximum delay, %s", cmd.Flags().Lookup("base-delay").Value, longest)
	}
	return nil
}
