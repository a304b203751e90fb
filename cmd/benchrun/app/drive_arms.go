package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/loadgen/drive"
)

// A driveArm is one combination of the variants that were named.
type driveArm struct {
	experiment.Arm
	parts drive.Parts
}

// part is one position of a controller.
type part struct {
	set   func(*drive.Parts, string)
	names []string
	about func(name string) (impl.Variant[any], bool)
}

func (p partFlags) list() []part {
	return []part{
		{func(to *drive.Parts, name string) { to.Informer = name }, p.informer, aboutIn(impl.Informers())},
		{func(to *drive.Parts, name string) { to.Indexer = name }, p.indexer, aboutIn(impl.Indexers())},
		{func(to *drive.Parts, name string) { to.FIFO = name }, p.fifo, aboutFIFO},
		{func(to *drive.Parts, name string) { to.RateLimitingQueue = name }, p.rateLimitingQueue, aboutIn(drive.RateLimitingQueues())},
		{func(to *drive.Parts, name string) { to.DelayingQueue = name }, p.delayingQueue, aboutIn(impl.DelayingQueues[string]())},
		{func(to *drive.Parts, name string) { to.Queue = name }, p.queue, aboutIn(impl.Queues[string]())},
		{func(to *drive.Parts, name string) { to.RateLimiter = name }, p.rateLimiter, aboutIn(impl.RateLimiters[string]())},
	}
}

func aboutIn[New any](variants []impl.Variant[New]) func(string) (impl.Variant[any], bool) {
	return func(name string) (impl.Variant[any], bool) {
		v, err := impl.Find(variants, name)
		return impl.Variant[any]{Name: v.Name, Summary: v.Summary, Peer: v.Peer, Relaxes: v.Relaxes}, err == nil
	}
}

// aboutFIFO finds a FIFO in order, or a DeltaFIFO by its longer name.
func aboutFIFO(name string) (impl.Variant[any], bool) {
	if rest, ok := strings.CutPrefix(name, "delta-"); ok {
		return aboutIn(impl.DeltaFIFOs())(rest)
	}
	return aboutIn(impl.InOrderFIFOs())(name)
}

// arms are all combinations of the variants named, in the order in which they
// were named; without any, it is client-go's controller. An arm's name joins the
// parts in which the arms differ.
func (p partFlags) arms() ([]driveArm, error) {
	arms := []driveArm{{}}
	arms[0].Peer = true
	for _, part := range p.list() {
		if len(part.names) == 0 {
			continue
		}
		var more []driveArm
		for _, arm := range arms {
			for _, name := range part.names {
				more = append(more, arm.with(part, name))
			}
		}
		arms = more
	}
	if len(arms) == 1 {
		p.nameAlone(&arms[0])
	}
	for i := range arms {
		complete, err := arms[i].parts.Complete()
		if err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
		arms[i].parts = complete
		arms[i].Variant = arms[i].Name
		if slices.ContainsFunc(arms[:i], func(a driveArm) bool { return a.Name == arms[i].Name }) {
			return nil, fmt.Errorf("%s was named twice, expected different variants", arms[i].Name)
		}
	}
	return arms, nil
}

// with is the arm with one more part. Only parts of which several variants were
// named show in its name.
func (a driveArm) with(p part, name string) driveArm {
	p.set(&a.parts, name)
	v, _ := p.about(name)
	a.Peer = a.Peer && v.Peer
	a.Relaxes = slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.Relaxes, v.Relaxes))))
	if len(p.names) > 1 {
		a.Name = join(a.Name, name, "+")
		a.Summary = join(a.Summary, name+": "+v.Summary, "; ")
	}
	return a
}

// nameAlone names an arm that has nothing to differ from after all that was
// said of it.
func (p partFlags) nameAlone(a *driveArm) {
	for _, part := range p.list() {
		for _, name := range part.names {
			v, _ := part.about(name)
			a.Name = join(a.Name, name, "+")
			a.Summary = join(a.Summary, name+": "+v.Summary, "; ")
		}
	}
	if a.Name == "" {
		a.Name, a.Summary = "client-go", "client-go's informer, rate limiting queue and limiter"
	}
}

func join(a, b, by string) string {
	if a == "" {
		return b
	}
	return a + by + b
}

// verdictUnits are what a comparison's verdict is taken on, by the name on the command
// line; the first by default.
var verdictUnits = []struct{ name, unit string }{
	{"cpu", "cpu-sec/op"},                // an event's, service times left out
	{"queue-wait", "queue-wait-p99-sec"}, // from Add to Get
	{"settled", "settled-p99-sec"},       // from an event's time to its successful reconcile
	{"store", "store-p99-sec"},           // from an event's time to the cache
	{"staleness", "staleness-p99-sec"},   // the age of what readers of the cache see
}

func verdictNames() []string {
	var names []string
	for _, v := range verdictUnits {
		names = append(names, v.name)
	}
	return names
}

func verdictUnit(name string) (string, error) {
	for _, v := range verdictUnits {
		if v.name == name {
			return v.unit, nil
		}
	}
	return "", fmt.Errorf("--by: found %q, expected one of %s", name, strings.Join(verdictNames(), ", "))
}

const driveComponent = "drive"

func driveCaseName(workload string) string {
	return "workload=" + bench.Value(workload)
}

// driveCase is the comparison that a drive is in plans, raw.txt and reports.
func driveCase(workload, by string, arms []driveArm) (experiment.PlannedCase, error) {
	unit, err := verdictUnit(by)
	if err != nil {
		return experiment.PlannedCase{}, err
	}
	c := experiment.PlannedCase{
		Component: driveComponent, Name: driveCaseName(workload), Unit: unit, Baseline: arms[0].Name,
		Summary: "the standard controller under " + workload,
	}
	for _, a := range arms {
		c.Arms = append(c.Arms, a.Arm)
	}
	control := arms[0].Arm
	control.Name, control.Control = control.Name+experiment.ControlSuffix, true
	c.Arms = append(c.Arms, control)
	return c, nil
}
