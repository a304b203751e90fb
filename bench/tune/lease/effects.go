package lease

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/sim/failover"
)

// An Effect is a figure of the current and of the recommended settings, as text; "-" was
// not simulated.
type Effect struct {
	Figure, Now, Then string
}

// results are of settings, by scenario.
type results map[failover.Scenario]failover.Result

func byScenario(all []failover.Result) results {
	m := results{}
	for _, r := range all {
		m[r.Config.Scenario] = r
	}
	return m
}

// Effects lists what settings come to, the settings first.
func Effects(a Advice) []Effect {
	var rows []Effect
	before, after := byScenario(a.Before), byScenario(a.After)
	row := func(name string, of func(failover.Settings, results) string) {
		rows = append(rows, Effect{name, of(a.Current, before), of(a.Recommended, after)})
	}
	simulated := func(scenario failover.Scenario, show func(failover.Result) string) func(failover.Settings, results) string {
		return func(_ failover.Settings, all results) string {
			if r, ok := all[scenario]; ok {
				return show(r)
			}
			return "-"
		}
	}
	row("lease / renew / retry", func(s failover.Settings, _ results) string { return s.String() })
	row("first leader, p50 / p99 / max", simulated(failover.Start, times))
	row("failover after a clean end", simulated(failover.Release, times))
	row("failover after a crash", simulated(failover.Crash, times))
	row("failover after a partition", simulated(failover.Partition, times))
	row("API calls a second: leader, each other", simulated(failover.Steady, func(r failover.Result) string {
		return fmt.Sprintf("%.2f, %.2f", r.LeaderCalls, r.StandbyCalls)
	}))
	row("leadership lost for nothing, an hour", simulated(failover.Steady, func(r failover.Result) string { return fmt.Sprintf("%.3g", r.Losses) }))
	row("leader kept though API calls take 3s, for one renew deadline", simulated(failover.SlowAPI, func(r failover.Result) string {
		return wording.Percent(float64(r.Kept) / float64(max(1, r.Config.Runs)))
	}))
	row("API outage survived for sure", func(s failover.Settings, _ results) string { return a.Outage(s).String() })
	row("clock rates may differ by", func(s failover.Settings, _ results) string {
		return fmt.Sprintf("%.2f", float64(s.LeaseDuration)/float64(s.RenewDeadline))
	})
	row("runs in which two led at once", func(_ failover.Settings, all results) string {
		if len(all) == 0 {
			return "-"
		}
		n := 0
		for _, r := range all {
			n += r.Overlaps
		}
		return fmt.Sprint(n)
	})
	for _, r := range a.BeyondSkew {
		two := fmt.Sprintf("%d of %d", r.Overlaps, r.Config.Runs)
		if r.Overlaps > 0 {
			two += fmt.Sprintf(", for up to %.1f s", r.LongestBoth.Seconds())
		}
		rows = append(rows, Effect{Figure: fmt.Sprintf("the same, partitions with a clock %.2f times as fast", r.Config.Rates[1]), Then: two})
	}
	return rows
}

// times are a failover's p50, p99 and most, of the runs in which another led.
func times(r failover.Result) string {
	text := "-"
	if x := r.Failover; x.Count > 0 {
		text = fmt.Sprintf("%.1f / %.1f / %.1f s", x.At(0.5).Seconds(), x.At(0.99).Seconds(), x.Max.Seconds())
	}
	if r.Unrecovered > 0 {
		text += fmt.Sprintf(", in %d of %d runs nobody led in time", r.Unrecovered, r.Config.Runs)
	}
	return text
}

// Summary is the first thing to know.
func (a *Advice) Summary() string {
	s := a.Recommended
	text := fmt.Sprintf("Lease duration %v, renew deadline %v, retry period %v", s.LeaseDuration, s.RenewDeadline, s.RetryPeriod)
	if s == a.Current {
		text = "Keep l" + text[1:]
	}
	for _, c := range a.Choices {
		if c.Settings == s {
			more := ""
			if c.Calls > 1.05*a.Objectives.Calls {
				more = fmt.Sprintf(" (more than the %.2g wanted, as calls that fail are sent again)", a.Objectives.Calls)
			}
			return fmt.Sprintf("%s: after a crash another leads within %.1f s in 99 of 100 cases, for %.2g API calls a second%s, and a leader survives an API outage of %v.", text, c.Failover.Seconds(), c.Calls, more, c.Outage)
		}
	}
	return text + "."
}

// A Snippet is ready to paste.
type Snippet struct{ For, Text string }

// Paste writes settings in the forms that programs take.
func Paste(s failover.Settings) []Snippet {
	inSource := func(d time.Duration) string {
		if d%time.Second == 0 {
			return fmt.Sprintf("%d * time.Second", d/time.Second)
		}
		return fmt.Sprintf("%d * time.Millisecond", d.Milliseconds())
	}
	lease, renew, retry := inSource(s.LeaseDuration), inSource(s.RenewDeadline), inSource(s.RetryPeriod)
	return []Snippet{
		{"Kubernetes' components", fmt.Sprintf("--leader-elect-lease-duration=%v\n--leader-elect-renew-deadline=%v\n--leader-elect-retry-period=%v\n", s.LeaseDuration, s.RenewDeadline, s.RetryPeriod)},
		{"controller-runtime's manager.Options (k8s.io/utils/ptr)", fmt.Sprintf("LeaseDuration: ptr.To(%s),\nRenewDeadline: ptr.To(%s),\nRetryPeriod:   ptr.To(%s),\n", lease, renew, retry)},
		{"client-go's leaderelection.LeaderElectionConfig", fmt.Sprintf("LeaseDuration: %s,\nRenewDeadline: %s,\nRetryPeriod:   %s,\n", lease, renew, retry)},
	}
}
