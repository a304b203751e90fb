// Package fit finds the workload that resembles a recording. Its steps, in
// order:
//
//  1. [Workload] turns the figures of a recording into a spec: for each
//     resource a pattern, arrivals, skew, sizes and lives. [Nearest] tries a mix
//     of events for those that a pattern leaves far off.
//  2. [Measure] counts what that workload does, as a recording is counted.
//  3. [Compare] says how far the two are apart, figure by figure.
//
// A workload keeps the figures and not the story: it does not know which pod
// belongs to which deployment, or why a burst came when it did.
package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/trace/summary"
)

// Workload returns a spec whose events resemble what was counted, with a
// resource for each that had events, named by its plural.
func Workload(s summary.Summary, name string) (*loadgen.Spec, error) {
	return workload(s, name, nil)
}

// Nearest is the Workload, or what resembles the recording in more figures: a short
// recording cuts off the lives that its pattern is told by, so resources that are
// far off are tried as a mix of events. The distances are the spec's.
func Nearest(ctx context.Context, s summary.Summary, name string) (*loadgen.Spec, []Distance, error) {
	spec, distances, err := measured(ctx, s, name, nil)
	if err != nil || countFar(distances) == 0 {
		return spec, distances, err
	}
	mixed := map[string]bool{}
	for _, d := range distances {
		mixed[d.Resource] = mixed[d.Resource] || d.Far
	}
	if resources := busy(s); len(resources) == 1 {
		mixed[resources[0].Resource] = true
	}
	other, others, err := measured(ctx, s, name, mixed)
	if err == nil && countFar(others) < countFar(distances) {
		return other, others, nil
	}
	return spec, distances, err
}

func countFar(distances []Distance) (far int) {
	for _, d := range distances {
		if d.Far {
			far++
		}
	}
	return far
}

func measured(ctx context.Context, s summary.Summary, name string, mixed map[string]bool) (*loadgen.Spec, []Distance, error) {
	spec, err := workload(s, name, mixed)
	if err != nil {
		return nil, nil, err
	}
	counted, err := Measure(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	return spec, Compare(s, spec, counted), nil
}

// workload makes a mix of the named resources.
func workload(s summary.Summary, name string, mixed map[string]bool) (*loadgen.Spec, error) {
	resources := busy(s)
	switch {
	case len(resources) == 0:
		return nil, errors.New("found no events but bookmarks, expected some")
	case s.Begin.IsZero() && s.Duration == 0:
		return nil, errors.New("found events without times, expected a recording that has them, as benchrun trace record makes")
	case s.Duration < time.Second:
		return nil, fmt.Errorf("found events of %v in all, expected them of a second or more", s.Duration)
	}
	spec := &loadgen.Spec{
		Name:        name,
		Description: fmt.Sprintf("Resembles a recording of %d events in %s.", s.All.Events, s.Duration.Round(time.Second)),
		Seed:        1,
		Duration:    s.Duration.Round(time.Millisecond),
	}
	for _, t := range resources {
		r, err := resource(t, s.Duration, mixed[t.Resource])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Resource, err)
		}
		if slices.ContainsFunc(spec.Resources, func(other loadgen.Resource) bool { return other.Name == r.Name }) {
			r.Name = strings.ReplaceAll(t.Resource, ".", "-")
		}
		spec.Resources = append(spec.Resources, r)
	}
	_, err := spec.Complete()
	return spec, err
}

// busy returns the resources that had events, pods first.
func busy(s summary.Summary) []summary.Traffic {
	all := slices.DeleteFunc(slices.Clone(s.Resources), func(t summary.Traffic) bool { return t.Events == 0 })
	slices.SortStableFunc(all, func(a, b summary.Traffic) int {
		switch {
		case (a.Kind == "Pod") == (b.Kind == "Pod"):
			return 0
		case a.Kind == "Pod":
			return -1
		}
		return 1
	})
	return all
}

// kinds of client-go that workloads have models of.
var kinds = map[string]string{"Pod": "pod", "Node": "node", "Lease": "lease", "EndpointSlice": "endpointslice", "PartialObjectMetadata": "metadata"}

func resource(t summary.Traffic, length time.Duration, mixed bool) (r loadgen.Resource, err error) {
	r.Name, _, _ = strings.Cut(t.Resource, ".")
	if r.Kind = kinds[t.Kind]; r.Kind == "" {
		r.Kind = "custom"
	}
	r.Count = max(1, t.Existing) // a workload begins with something
	if r.Kind != "node" && r.Kind != "lease" {
		r.Namespaces = t.Spaces
	}
	r.ManagedFields = t.Managed > 0.05
	if r.Kind != "metadata" {
		if r.Size, err = quantiles(t.Size); err != nil {
			return r, err
		}
	}
	e := &r.Events
	births := float64(t.Added) / length.Seconds()
	if e.Arrivals, err = arrivals(t, t.Rate, length); err != nil {
		return r, err
	}
	switch {
	case mixed:
	case r.Kind == "pod" && rolls(t):
		// The size of the deployments is not known: the default, all at once.
		e.Pattern, e.Parallel, e.Count = "rollout", max(1, t.Added/20), t.Events
		return r, nil
	case t.Added > 0 && t.Modified+t.Deleted >= t.Added && t.Modified+t.Added >= t.Events/2 && grows(t):
		e.Pattern = "lifecycle"
		e.Arrivals.Rate = round(births)
		return r, life(t, &e.Life)
	case t.Added+t.Deleted == 0 && beats(t):
		e.Pattern = "heartbeat"
		return r, nil
	}
	e.Pattern = "mix"
	e.Mix = loadgen.Mix{Add: float64(t.Added), Update: float64(t.Modified), Delete: float64(t.Deleted)}
	if t.Added == 0 && t.Deleted > 0 {
		e.Mix.Add = 0.01 // a spec has no deletes without adds: one in a hundred recordings as long
	}
	if t.Skew.ZipfS >= 0.15 {
		r.Skew = loadgen.Skew{Kind: "zipf", S: round(t.Skew.ZipfS)}
	}
	return r, nil
}

// rolls reports a roll-out: as many pods go as come, and those that go are old.
func rolls(t summary.Traffic) bool {
	return t.Added > 0 && math.Abs(float64(t.Added-t.Deleted)) <= 0.2*float64(t.Added) && t.Lives.Whole < t.Deleted/2
}

// grows reports that the changes are those of new objects.
func grows(t summary.Traffic) bool { return t.Existing < t.Added }

// beats reports that all objects change alike and often.
func beats(t summary.Traffic) bool {
	mean := float64(t.Events) / float64(t.Objects)
	return mean >= 3 && float64(t.Skew.Busiest) <= 1.3*mean+1
}

func life(t summary.Traffic, l *loadgen.Life) (err error) {
	if t.Lives.Whole < 10 { // they go on living
		if l.Modifications, err = constant(float64(t.Modified) / float64(t.Added)); err == nil && t.Lives.Between.Median > 0 {
			l.Between, err = quantiles(t.Lives.Between)
		}
		return err
	}
	if l.Modifications, err = quantiles(t.Lives.Modifications); err != nil {
		return err
	}
	if l.Age, err = quantiles(t.Lives.Idle); err != nil {
		return err
	}
	if t.Lives.Steps.Max > 0 {
		l.Between, err = quantiles(t.Lives.Steps)
	}
	return err
}

// arrivals chooses the process by the index of dispersion of events a second: 1
// is at random. Bursts are as long as the recording's, but so short that a
// workload of the same length has ten of them: one that has few would have the
// wrong rate.
func arrivals(t summary.Traffic, rate float64, length time.Duration) (a loadgen.Arrivals, err error) {
	a = loadgen.Arrivals{Kind: "poisson", Rate: round(rate)}
	switch b := t.Bursts; {
	case b.Dispersion < 0.5:
		a.Kind = "constant"
	case b.Dispersion > 2:
		a.Kind = "onoff"
		share := t.Rate / (t.Rate + b.Dispersion - 1)
		cycle := min(max(1, b.On)/share, length.Seconds()/10)
		off := (1 - share) * cycle
		if length.Seconds() >= 5*shortest { // fewer seconds hardly tell how they differ
			cycle = max(shortest, cycle)
			off = pause(cycle, (b.Dispersion-1)/t.Rate)
		}
		if a.On, err = constant(cycle - off); err == nil {
			a.Off, err = constant(off)
		}
	}
	return a, err
}

// shortest is the shortest cycle in seconds: with pauses in every second, no
// second would have more events than the next.
const shortest = 2

// pause is how long each cycle has to be without events for the index of
// dispersion to be 1 + excess·rate. A pause of w seconds takes w(1-w/3) seconds
// off the square of the seconds that it falls into, where it is shorter than they
// are, and 1-1/(3w) of them where it is longer: it may begin at any moment.
func pause(cycle, excess float64) float64 {
	low, high := 0.0, 0.9*cycle
	for range 50 {
		w := (low + high) / 2
		squares := w * w * (1 - w/3)
		if w > 1 {
			squares = w - 1.0/3
		}
		idle := w / cycle
		if (squares/cycle-idle*idle)/((1-idle)*(1-idle)) < excess {
			low = w
		} else {
			high = w
		}
	}
	return low
}

func constant(value float64) (randvar.Dist, error) {
	return randvar.Parse(fmt.Sprintf("constant(%g)", round(value)))
}

// quantiles is the distribution through the points that are known.
func quantiles(s summary.Spread) (randvar.Dist, error) {
	if s.Min == s.Max {
		return constant(s.Min)
	}
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return randvar.Parse(fmt.Sprintf("quantiles(0=%s, 0.5=%s, 0.9=%s, 0.99=%s, 1=%s)", text(s.Min),
		text(s.Median), text(max(s.Median, s.P90)), text(max(s.P90, s.P99)), text(max(s.P99, s.Max))))
}

// round keeps three digits, enough for what is an estimate.
func round(f float64) float64 {
	if f == 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(f))))
	return math.Round(f*scale) / scale
}
