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

// Effects lists what settings come to, the settings first.
func Effects(a Advice) []Effect {
	rows := a.figures(a.Current, a.Before)
	for i, after := range a.figures(a.Recommended, a.After) {
		rows[i].Then = after.Now
	}
	for _, r := range a.BeyondSkew {
		two := fmt.Sprintf("%d of %d", r.Overlaps, r.Config.Runs)
		if r.Overlaps > 0 {
			two += fmt.Sprintf(", for up to %.1f s", r.LongestBoth.Seconds())
		}
		rows = append(rows, Effect{Figure: fmt.Sprintf("the same, partitions with a clock %.2f times as fast", r.Config.Rates[1]), Then: two})
	}
	return rows
}

// figures are those of some settings, in the place of the current ones.
func (a *Advice) figures(s failover.Settings, list []failover.Result) []Effect {
	all, two := byScenario(list), "-"
	of := func(scenario failover.Scenario, show func(failover.Result) string) string {
		if r, ok := all[scenario]; ok {
			return show(r)
		}
		return "-"
	}
	if len(list) > 0 {
		n := 0
		for _, r := range list {
			n += r.Overlaps
		}
		two = fmt.Sprint(n)
	}
	return []Effect{
		{Figure: "lease / renew / retry", Now: s.String()},
		{Figure: "first leader, p50 / p99 / max", Now: of(failover.Start, times)},
		{Figure: "failover after a clean end", Now: of(failover.Release, times)},
		{Figure: "failover after a crash", Now: of(failover.Crash, times)},
		{Figure: "failover after a partition", Now: of(failover.Partition, times)},
		{Figure: "API calls a second: leader, each other", Now: of(failover.Steady, func(r failover.Result) string {
			return fmt.Sprintf("%.2f, %.2f", r.LeaderCalls, r.StandbyCalls)
		})},
		{Figure: "leadership lost for nothing, an hour", Now: of(failover.Steady, func(r failover.Result) string { return fmt.Sprintf("%.3g", r.Losses) })},
		{Figure: "leader kept though API calls take 3s, for one renew deadline", Now: of(failover.SlowAPI, func(r failover.Result) string {
			return wording.Percent(float64(r.Kept) / float64(max(1, r.Config.Runs)))
		})},
		{Figure: "API outage survived for sure", Now: a.Outage(s).String()},
		{Figure: "clock rates may differ by", Now: fmt.Sprintf("%.2f", float64(s.LeaseDuration)/float64(s.RenewDeadline))},
		{Figure: "runs in which two led at once", Now: two},
	}
}

func byScenario(list []failover.Result) map[failover.Scenario]failover.Result {
	all := map[failover.Scenario]failover.Result{}
	for _, r := range list {
		all[r.Config.Scenario] = r
	}
	return all
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
	s, c, begin, more := a.Recommended, a.chosen(), "Lease", ""
	if s == a.Current {
		begin = "Keep lease"
	}
	if c.Calls > 1.05*a.Objectives.Calls {
		more = fmt.Sprintf(" (more than the %.2g wanted, as calls that fail are sent again)", a.Objectives.Calls)
	}
	return fmt.Sprintf("%s duration %v, renew deadline %v, retry period %v: after a crash another leads within %.1f s in 99 of 100 cases, for %.2g API calls a second%s, and a leader survives an API outage of %v.",
		begin, s.LeaseDuration, s.RenewDeadline, s.RetryPeriod, c.Failover.Seconds(), c.Calls, more, c.Outage)
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
