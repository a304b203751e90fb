package tune

import (
	"context"
	"errors"
	"fmt"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/sim"
)

// Workload advises on a spec: its load, and the controller that it describes.
func Workload(ctx context.Context, spec *loadgen.Spec, o Options) (*Result, error) {
	return synthetic(ctx, spec, nil, o)
}

// Recording advises on recorded arrivals, which take the place of the spec's
// events; each call of arrivals gives them from the begin. The spec's reconcile
// says what the controller does.
func Recording(ctx context.Context, arrivals func(seed uint64) sim.Arrivals, spec *loadgen.Spec, o Options) (*Result, error) {
	return synthetic(ctx, spec, arrivals, o)
}

// ofWorkload is where a setting is known from that a spec tells.
const ofWorkload = "workload"

func synthetic(ctx context.Context, spec *loadgen.Spec, arrivals func(uint64) sim.Arrivals, o Options) (*Result, error) {
	t := newTimer(&o)
	complete := spec
	var err error
	if arrivals == nil {
		if complete, err = spec.Complete(); err != nil {
			return nil, err
		}
	}
	if complete.Reconcile.Service.IsZero() && complete.Reconcile.Calls.IsZero() {
		return nil, errors.New("reconcile.service: missing, expected how long a reconcile takes: nothing else in a workload or recording tells it")
	}
	current := Current{Settings: o.Current.Settings, Told: o.Current.Told}
	if current.Told == nil {
		current.Told = map[string]string{}
	}
	if arrivals == nil {
		current.fill(settingsOf(complete.Reconcile), ofWorkload)
	} else {
		base := defaultSettings()
		base.Workers = max(1, spec.Reconcile.Workers) // nothing ran yet, so nothing is made up
		current.fill(base, "default of client-go")
	}
	if err := current.check(o); err != nil {
		return nil, err
	}
	m := &Model{Spec: complete, arrivals: arrivals, several: len(complete.Resources) > 1, priority: current.Priority, queues: o.Queues}
	r := &Result{Schema: SchemaVersion, Flavour: string(clientGo), Seed: o.Seed, Objectives: o.Objectives, Stopped: "complete"}
	a := Advice{Queue: complete.Name, Current: current, Recommended: current.Settings, Model: m}
	part, cancel := t.part(ctx, 1)
	defer cancel()
	err = m.measure(part, current.Settings, o.Seed)
	if err == nil {
		err = search1(part, &a, o, clientGo, t.tell(a.Queue))
	} else {
		a.cutOff(o.Objectives, nil)
	}
	if err != nil && !interrupted(err) {
		return nil, err
	}
	r.stopped(ctx, err)
	a.explain(clientGo)
	r.Queues = []Advice{a}
	return r, nil
}

// measure takes a spec's rates from a simulation of it.
func (m *Model) measure(ctx context.Context, s Settings, seed uint64) error {
	results, err := m.simulate(ctx, s, effort{replicas: 1}, seed)
	if err != nil {
		return err
	}
	x := results[0]
	span := x.Load.Seconds()
	if !(span > 0) || x.Reconciles == 0 {
		return fmt.Errorf("%s: its events take no time or cause no reconcile, so there is nothing to tune; expected a rate", m.Spec.Name)
	}
	m.Interval, m.Told = span, "simulation"
	m.RawRate, m.AddRate = float64(x.Arrivals)/span, float64(x.Adds)/span
	m.Coalesced = float64(x.Coalesced) / float64(max(1, x.Arrivals+x.Listed+x.Retries))
	m.Work, m.Utilisation, m.CallRate, m.Depth = x.Work.Mean().Seconds(), x.Utilisation, x.CallRate, x.Depth
	m.Throttle, m.Failure = x.Throttle.Mean().Seconds(), m.Spec.Reconcile.Failure
	m.Service, m.CallLatency = m.Spec.Reconcile.Service.Mean(), m.Spec.Reconcile.CallLatency.Mean()
	m.Calls = m.Spec.Reconcile.Calls.Mean()
	m.Busy = m.Service + m.Calls*m.CallLatency
	m.Bursts = "as the workload says"
	if !m.several {
		return nil
	}
	// How much each resource adds shows when each has a queue.
	m.shares = make([]float64, len(m.Spec.Resources))
	s.Split, s.Workers = true, max(s.Workers, len(m.shares))
	if results, err = m.simulate(ctx, s, effort{replicas: 1}, seed); err != nil {
		return err
	}
	for i, q := range results[0].Queues {
		m.shares[i] = float64(q.Adds) / float64(max(1, results[0].Adds))
	}
	return nil
}
