package memory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informerbench/informerbench/bench/memory/child"
	"github.com/informerbench/informerbench/bench/memory/feed"
	paths "github.com/informerbench/informerbench/bench/memory/fields"
	"github.com/informerbench/informerbench/bench/memory/input"
)

// A Sampler runs a job in a fresh process.
type Sampler func(ctx context.Context, j child.Job) (child.Reading, error)

// How much is run.
const (
	pilotObjects   = 400 // of the run that tells how much the others take
	leastObjects   = 300 // of the smallest size
	memoryShare    = 0.5 // of the free memory that a run may take
	peakOverLive   = 4   // at most, as far as was seen
	DefaultMost    = 10_000
	DefaultRepeats = 3
	timesAsItIs    = 3 // in a round, as all what-ifs are compared with it
)

func typed(k *input.Kind) bool { return scheme.Scheme.Recognizes(k.GroupVersionKind) }

var errTooEarly = errors.New("interrupted before every arm was measured once: nothing is predicted")

// Measure finds out. Once there was a round, an interrupted measurement concludes from
// the rounds that it has.
func Measure(ctx context.Context, p Problem) (Result, error) {
	began := time.Now()
	if p.Objects == 0 {
		p.Objects = p.Set.Objects()
	}
	if err := p.check(); err != nil {
		return Result{}, err
	}
	m := &measurement{Problem: p, random: rand.New(rand.NewPCG(p.Seed, 0x3e3)), spoilt: map[string]string{}}
	m.warnings = slices.Clone(p.Set.Warnings)
	if p.Repeats == 1 {
		m.warnings = append(m.warnings, "one round doesn't tell a saving from chance; --repeats 3 does")
	}
	if err := m.plan(ctx); ctx.Err() != nil {
		return Result{}, errTooEarly
	} else if err != nil {
		return Result{}, err
	}
	stopped := "done"
	for round := range p.Repeats {
		if err := m.round(ctx, round, m.arms); err != nil {
			if ctx.Err() == nil {
				return Result{}, err
			}
			stopped = "interrupted"
			break
		}
		m.rounds++
	}
	if m.rounds == 0 {
		return Result{}, errTooEarly
	}
	r, err := m.conclude()
	if err != nil {
		return r, err
	}
	if stopped == "done" {
		if err := m.together(ctx, &r); err != nil && ctx.Err() == nil {
			return r, err
		}
	}
	r.Took, r.Stopped = time.Since(began), stopped
	return r, nil
}

func (p Problem) check() error {
	switch {
	case p.Objects < 1:
		return fmt.Errorf("--objects: found %d, expected at least 1", p.Objects)
	case p.Measured < leastObjects:
		return fmt.Errorf("--measured: found %d, expected at least %d", p.Measured, leastObjects)
	case p.Repeats < 1:
		return fmt.Errorf("--repeats: found %d, expected at least 1", p.Repeats)
	case p.Load.Handlers < 0 || p.Load.Handlers > 1000:
		return fmt.Errorf("--handlers: found %d, expected 0 to 1000", p.Load.Handlers)
	}
	for _, path := range p.Drop {
		if _, err := paths.Parse(path); err != nil {
			return fmt.Errorf("--drop: %w", err)
		}
	}
	if _, err := labels.Parse(p.Selector); err != nil {
		return fmt.Errorf("--selector: found %q, expected labels as in app=web,tier!=test", p.Selector)
	}
	if _, err := fields.ParseSelector(p.Field); err != nil {
		return fmt.Errorf("--field-selector: found %q, expected fields as in status.phase=Running", p.Field)
	}
	if p.Load.Form != child.Metadata {
		if err := p.Set.Whole(); err != nil {
			return err
		}
	}
	return p.job().Check()
}

type measurement struct {
	Problem
	random   *rand.Rand
	sizes    []int
	base     []*arm // at each size
	asItIs   []*arm // what what-ifs are compared with
	arms     []*arm
	warnings []string
	spoilt   map[string]string // arms that failed, and why
	cache    feed.Cache
	rounds   int
	done, of int
}

// plan runs a few objects and decides how many the others have.
func (m *measurement) plan(ctx context.Context) error {
	pilot := m.arm(min(pilotObjects, max(m.Objects, leastObjects)), "pilot")
	pilot.job.StartOnly = true
	m.of = 1
	reading, err := m.sample(ctx, pilot, 1)
	if err != nil {
		return err
	}
	each := float64(reading.Live-min(reading.Live, reading.BaseHeap)) / float64(max(1, reading.Objects))
	top := max(leastObjects, min(m.Objects, m.Measured))
	if free := freeMemory(); free > 0 && each > 0 {
		if fits := int(memoryShare * free / (peakOverLive * each)); fits < top {
			top = max(leastObjects, fits)
			m.warnings = append(m.warnings, fmt.Sprintf("%d objects would need more memory than this machine has free: what is beyond %d is extrapolated", m.Objects, top))
		}
	}
	top = inStep(m.Objects, top)
	m.sizes = []int{max(leastObjects/3, top/4), max(leastObjects/2, top/2), top}
	for _, n := range m.sizes {
		m.base = append(m.base, m.arm(n, fmt.Sprintf("%d objects", n)))
	}
	for range timesAsItIs {
		m.asItIs = append(m.asItIs, m.arm(top, "as it is"))
	}
	changes, err := m.changes(top)
	if err != nil {
		return err
	}
	m.arms = slices.Concat(m.base, m.asItIs, m.parts(top), changes, m.settings(top, float64(reading.BaseGo), each))
	m.of += len(m.arms) * m.Repeats
	for _, k := range m.Set.Kinds {
		if m.Load.Form == child.Typed && !typed(k) {
			m.warnings = append(m.warnings, fmt.Sprintf("%s is no kind that client-go has a type for: it is held unstructured and sent as JSON", k.Name()))
		}
	}
	return nil
}

// inStep is at most the most that may be measured, and a half, a quarter and so on of
// the objects that are predicted for. The collector runs whenever the heap has doubled,
// so that a peak depends on how much of a doubling the last objects fill: that is the
// same for a half of them, but not for a third.
func inStep(objects, most int) int {
	n := objects
	for n > most {
		n = (n + 1) / 2
	}
	return max(n, min(most, leastObjects))
}

// part is how many of its objects an arm of a what-if has in a round. How much of a
// doubling of the heap the last objects fill is chance, and it is another for each what-if:
// over the rounds they go through half of a doubling, so that a saving at the peak is that
// of any number of objects and not of one.
func (m *measurement) part(a *arm, round int) float64 {
	if slices.Contains(m.base, a) {
		return 1
	}
	return math.Exp2(-float64(round) / float64(m.Repeats))
}

// round measures each arm once.
func (m *measurement) round(ctx context.Context, round int, arms []*arm) error {
	for _, i := range m.random.Perm(len(arms)) {
		a := arms[i]
		if m.spoilt[a.name] != "" {
			m.done++
			continue
		}
		reading, err := m.sample(ctx, a, m.part(a, round))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && (slices.Contains(m.base, a) || slices.Contains(m.asItIs, a)):
			return fmt.Errorf("%s: %w", a.name, err)
		case err != nil:
			m.spoilt[a.name] = err.Error()
			m.warnings = append(m.warnings, fmt.Sprintf("%s could not be measured: %v", a.name, err))
		default:
			a.readings[round] = reading
		}
	}
	return nil
}

// sample serves a part of an arm's objects and runs its job.
func (m *measurement) sample(ctx context.Context, a *arm, part float64) (child.Reading, error) {
	if m.Progress != nil {
		m.Progress(a.name, m.done, m.of)
	}
	m.done++
	options := a.feed
	options.Cache = &m.cache
	kinds, expected := slices.Clone(a.kinds), 0
	for i := range kinds {
		kinds[i].Count = int(math.Ceil(part * float64(kinds[i].Count)))
		expected += kinds[i].Count
	}
	server, err := feed.New(kinds, options)
	if err != nil {
		return child.Reading{}, err
	}
	defer server.Close()
	defer server.CloseClientConnections()
	job := a.job
	job.Server = server.URL
	if a.limit != nil {
		job.Limit = a.limit(float64(expected))
	}
	reading, err := m.Sample(ctx, job)
	if served := server.Err(); served != nil {
		return reading, served
	}
	if err != nil {
		return reading, err
	}
	if reading.Objects != expected {
		return reading, fmt.Errorf("the informers hold %d objects, expected %d", reading.Objects, expected)
	}
	return reading, nil
}

// together measures the advised changes at once, where there are two.
func (m *measurement) together(ctx context.Context, r *Result) error {
	both := m.arm(m.sizes[2], "")
	var names []string
	for _, c := range r.Changes {
		if !c.Advised {
			continue
		}
		names = append(names, c.Name)
		a := m.arms[slices.IndexFunc(m.arms, func(a *arm) bool { return a.change && a.name == c.Name })]
		both.job.Drop = append(both.job.Drop, a.job.Drop...)
		both.job.Intern = both.job.Intern || a.job.Intern
		both.feed.Remove = append(both.feed.Remove, a.feed.Remove...)
		if a.job.Encoding != m.Load.Encoding {
			both.job.Encoding = a.job.Encoding
		}
		if a.job.Informer != m.Load.Informer {
			both.job.Informer = a.job.Informer
		}
		if a.job.List != m.Load.List {
			both.job.List, both.feed.Paged = a.job.List, false
		}
	}
	if len(names) < 2 {
		return nil
	}
	both.name, both.how, both.change = strings.Join(names, " + "), "both at once", true
	m.of += m.rounds
	for round := range m.rounds {
		if err := m.round(ctx, round, []*arm{both}); err != nil {
			return err
		}
	}
	if len(both.readings) > 0 {
		c := m.compared(both)
		c.Advised = true
		r.Changes = append([]Saving{c}, r.Changes...)
		r.Summary = summary(*r)
	}
	return nil
}

// freeMemory is what the machine has free, in bytes; 0 if it does not say.
func freeMemory() float64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib float64
		if n, _ := fmt.Sscanf(lines.Text(), "MemAvailable: %f kB", &kib); n == 1 {
			return kib * 1024
		}
	}
	return 0
}
